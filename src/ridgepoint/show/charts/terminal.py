"""Figures as text, for a terminal at the far end of ssh."""

from __future__ import annotations

from ridgepoint.show.charts.axes_text import (
    CAP,
    REGION,
    REGION_ABOVE,
    UNTIMED_REGION,
    canvas_for,
    fractions,
    framed,
    page,
    wrapped,
)
from ridgepoint.show.charts.canvas import Canvas, Cell
from ridgepoint.show.charts.key import ridge_note
from ridgepoint.show.charts.plane import Coordinates, Program, RegionPoint, RoofLine, RooflineFigure
from ridgepoint.show.words import shown_name

_SMALLEST = (40, 12)
_STYLES = {"outer": "\x1b[1m", "own": "", "lower": "\x1b[2m", "beside": "\x1b[2m"}
_INKS = tuple(f"\x1b[1;{code}m" for code in (34, 31, 32, 35, 33, 36))
# After the letter of a program whose time is unknown, on its roof.
_NO_TIME = "?"
_RESET = "\x1b[0m"


def render(
    figure: RooflineFigure, *, width: int = 80, height: int = 24, color: bool, ascii: bool = False
) -> str:
    """Return a roofline as text.

    Parameters
    ----------
    figure : RooflineFigure
    width, height : int
        Columns, and rows of the plane with its axes; titles, key and notes come on top. At
        least 40 and 12 are used.
    color : bool
        Whether to colour with ANSI escapes.
    ascii : bool
        Whether to use ASCII only, for encodings without braille.

    Returns
    -------
    str
        Lines of at most `width` columns; a newline at the end.
    """
    width, height = max(width, _SMALLEST[0]), max(height, _SMALLEST[1])
    canvas = canvas_for(width=width, height=height, ascii=ascii)
    for roof in figure.roofs:
        ends = fractions(figure, roof.start), fractions(figure, roof.end)
        canvas.line(*ends, dashed=roof.role != "outer", style=_STYLES[roof.role])
    for index, program in enumerate(figure.programs):
        for at in _stems(program):
            x, y = fractions(figure, at)
            canvas.line((x, 0.0), (x, y), dashed=True, style=_INKS[index % len(_INKS)])
    hidden = _put_points(figure, canvas)
    _put_caps(figure, canvas)
    nameless = _name_regions(figure, canvas, hidden)
    for roof in figure.roofs:
        if roof.role != "beside":
            _label(roof, figure, canvas)
    lines = [
        *wrapped(figure.title, width),
        *wrapped(figure.subtitle, width),
        f"{figure.y_label}",
        *framed(figure, canvas, color=color),
        *_key(figure, hidden, nameless, width, color),
    ]
    return page(lines, ascii=ascii)


def _stems(program: Program) -> list[Coordinates]:
    """Return the places of what has no known time, which a line joins to the axis."""
    regions = [region.point.at for region in program.regions if not region.is_timed]
    mark = program.attainable
    return [*([mark.at] if mark is not None and mark.is_alone else []), *regions]


def _put_points(figure: RooflineFigure, canvas: Canvas) -> dict[str, str]:
    """Write every program's letter at each of its points, small for the caches, and its regions.

    Return what lies under others, by letter or name, and what hides it.
    """
    owners: dict[Cell, str] = {}
    hidden: dict[str, str] = {}
    # A cell belongs to the first that claims it: points at DRAM, regions, points at caches.
    marks: list[tuple[int, int, str, str, Coordinates]] = []
    for index, program in enumerate(figure.programs):
        letter = program.letter
        for point in program.points:
            is_cache = point.level != "dram"
            mark = letter.lower() if is_cache else letter
            marks.append((2 if is_cache else 0, index, letter, mark, point.at))
        for region in program.regions:
            mark = _mark(region)
            name = figure.region_label(program, region)
            marks.append((1, index, name, mark, region.point.at))
    for rank, index, name, mark, at in sorted(marks, key=lambda mark: mark[:2]):
        row, column = canvas.cell(fractions(figure, at))
        cell = (row, min(column, canvas.columns - len(mark)))
        owner = owners.setdefault(cell, name)
        if owner == name and canvas.is_bare(*cell, mark):
            canvas.write(*cell, mark, style=_INKS[index % len(_INKS)])
        elif owner != name and rank < 2:
            hidden[name] = owner
    return hidden


def _name_regions(figure: RooflineFigure, canvas: Canvas, hidden: dict[str, str]) -> list[str]:
    """Write the name of every region beside its mark; return those for which there is no room."""
    left_out = []
    for index, program in enumerate(figure.programs):
        for region in program.regions:
            name = figure.region_label(program, region)
            if name in hidden:
                continue
            text = name if region.is_timed else f"{name}{_NO_TIME}"
            place = _beside(canvas.cell(fractions(figure, region.point.at)), text, canvas)
            if place is None:
                left_out.append(name)
            else:
                canvas.write(*place, text, style=_INKS[index % len(_INKS)])
    return left_out


def _beside(cell: Cell, text: str, canvas: Canvas) -> Cell | None:
    """Return where a text next to a mark hides least; None: there is no room."""
    row, column = cell
    middle = column - len(text) // 2
    beside = [(row, column + 2), (row, column - len(text) - 1)]
    aslant = [
        (near, at) for near in (row - 1, row + 1) for at in (middle, column, column - len(text) + 1)
    ]
    # Two names in one row stand two columns apart, lest they read as one.
    free = [at for at in beside if canvas.is_free(*at, text)]
    free += [(y, x) for y, x in aslant if canvas.is_free(y, x - 1, f" {text} ")]
    if not free:
        return None
    return min(free, key=lambda at: canvas.strokes_under(at[0], at[1], text))


def _put_caps(figure: RooflineFigure, canvas: Canvas) -> None:
    """Mark what bounds every program, where no letter stands; with its letter if it is alone."""
    for index, program in enumerate(figure.programs):
        if program.attainable is None:
            continue
        mark = f"{program.letter}{_NO_TIME}" if program.attainable.is_alone else CAP
        row, column = canvas.cell(fractions(figure, program.attainable.at))
        column = min(column, canvas.columns - len(mark))
        if canvas.is_bare(row, column, mark):
            canvas.write(row, column, mark, style=_INKS[index % len(_INKS)])


def _label(roof: RoofLine, figure: RooflineFigure, canvas: Canvas) -> None:
    """Write a roof's label where it fits: horizontal ones at the right, others on the line."""
    left, right = (
        canvas.cell(fractions(figure, roof.start)),
        canvas.cell(fractions(figure, roof.end)),
    )
    places: list[Cell]
    if roof.is_diagonal:
        text = shown_name(roof.resource)
        places = _along(left, right, len(text))
    else:
        text = roof.label
        at = canvas.columns - len(text)
        places = [(left[0] - 1, at), (left[0], at), (left[0] + 1, at)]
    free = [place for place in places if canvas.is_free(*place, text)]
    if free:
        best = min(free, key=lambda place: canvas.strokes_under(place[0], place[1], text))
        chosen = free[0] if roof.is_diagonal else best
        canvas.write(*chosen, text, style=_STYLES[roof.role])


def _along(left: Cell, right: Cell, length: int) -> list[Cell]:
    """Return places centred on a rising line, from its lower end."""
    rise, run = left[0] - right[0], max(right[1] - left[1], 1)
    return [
        (round(left[0] - rise * step / run), left[1] + step - length // 2)
        for step in range(length, run)
    ]


def _key(
    figure: RooflineFigure,
    hidden: dict[str, str],
    nameless: list[str],
    width: int,
    color: bool,
) -> list[str]:
    """Return the key: roofs on diagonals, programs by letter, notes."""
    slopes = [roof.label for roof in figure.roofs if roof.is_diagonal and roof.role == "outer"]
    beside = [roof.label for roof in figure.roofs if roof.role == "beside"]
    lines = wrapped("; ".join(slopes), width, "  ")
    if beside:
        lines += wrapped(f"dotted beside: {'; '.join(beside)}", width, "  ")
    for index, program in enumerate(figure.programs):
        ink = _INKS[index % len(_INKS)] if color else ""
        lines += _program_rows(program, width, ink)
    if figure.attainable_note is not None:
        lines += wrapped(f"{CAP}  {figure.attainable_note}", width, "   ")
    levels = [shown_name(level) for level in figure.levels if level != "dram"]
    if levels:
        capital = "capital: intensity over DRAM traffic; " if "dram" in figure.levels else ""
        lines += wrapped(f"{capital}small: over {', '.join(levels)} traffic", width, "  ")
    for owner in dict.fromkeys(hidden.values()):
        names = [name for name, over in hidden.items() if over == owner]
        verb = "their points lie" if len(names) > 1 else "its point lies"
        lines += wrapped(f"{', '.join(names)}: {verb} under {owner}", width, "  ")
    if nameless:
        lines += wrapped(f"not named for want of room: {'; '.join(nameless)}", width, "  ")
    for note in (*figure.notes, *([ridge_note(figure.ridges)] if figure.ridges else [])):
        lines += wrapped(note, width, "  ")
    return lines


def _program_rows(program: Program, width: int, ink: str) -> list[str]:
    text = f"{program.name}: {program.summary}" if program.summary else program.name
    rows = wrapped(f"{program.letter}  {text}", width, "   ")
    if ink:
        rows[0] = f"{ink}{program.letter}{_RESET}{rows[0][len(program.letter) :]}"
    for region in program.regions:
        rows += _region_rows(region, width, ink)
    return rows


def _mark(region: RegionPoint) -> str:
    if region.roof is not None:
        return REGION_ABOVE
    return REGION if region.is_timed else UNTIMED_REGION


def _region_rows(region: RegionPoint, width: int, ink: str) -> list[str]:
    mark = _mark(region)
    rows = [
        f"   {row}" for row in wrapped(f"{mark} {region.name}: {region.summary}", width - 3, "  ")
    ]
    if ink:
        rows[0] = rows[0].replace(mark, f"{ink}{mark}{_RESET}", 1)
    return rows
