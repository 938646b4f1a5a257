"""Charts as pictures by matplotlib, which is imported only when one is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ridgepoint.show import theme
from ridgepoint.show.chart import Area, Axis, Bar, Chart, Line, Mark, Page
from ridgepoint.show.draw_key import draw_key, draw_notes, draw_title
from ridgepoint.show.naming import Naming, Placed
from ridgepoint.show.pictures import write
from ridgepoint.show.sheet import MARKERS, Sheet, faced, stroke_of
from ridgepoint.show.text_size import text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_USUAL_IN, _USUAL_ABREAST_IN = 7.0, 9.2
_LEAST_CELL_IN = 3.0
_EDGES = {"left": "<", "right": ">", "top": "^", "bottom": "v"}
_SLANT = 35
_TICK = 4.5
"""Points that a tick and the gap to its text take."""
_LARGE = 1.5
"""Marks larger than this have a pale rim, since they may lie on each other."""
_BAR_HEIGHT = 0.62


def draw(chart: Chart, ax: Axes | None = None, *, width_in: float = _USUAL_IN) -> Axes:
    """Draw a chart; nothing is shown or saved.

    Parameters
    ----------
    chart : Chart
    ax : matplotlib.axes.Axes or None
        Of its final size: labels are placed for it, and the key needs room below. None: new
        axes, in a picture that is as high as it needs.
    width_in : float
        Of new axes with all that stands around them, inches.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.
    """
    if ax is None:
        return drawn(chart, width_in=width_in).axes[0]
    cell = _Cell.on(ax, chart)
    cell.say(cell.left_out)
    return ax


def save(picture: Chart | Page, path: str | Path, *, width_in: float | None = None) -> None:
    """Write a chart or a page of them to a file; a file of that name is replaced.

    Parameters
    ----------
    picture : Chart or Page
    path : str or Path
        Its ending chooses the format: ``.svg``, ``.png`` or ``.pdf``.
    width_in : float or None
        Width in inches; the height follows. 3.5 suits a column of a paper, 8 a slide. None: 7,
        or 9.2 for charts side by side.

    Raises
    ------
    RidgepointError
        If the ending is another one, or the file cannot be written.

    Notes
    -----
    The same chart makes the same bytes, whatever the user's matplotlib settings are.
    """
    write(lambda: drawn(picture, width_in=width_in), path)


def drawn(picture: Chart | Page, *, width_in: float | None = None) -> Figure:
    """Return a chart or a page of them drawn, as high as it needs."""
    from ridgepoint.show.picture import Picture

    page = picture if isinstance(picture, Page) else Page(charts=(picture,))
    columns = min(page.columns, len(page.charts))
    usual = _USUAL_IN if columns == 1 else _USUAL_ABREAST_IN
    width_in = usual if width_in is None else width_in
    columns = max(min(columns, int(width_in / _LEAST_CELL_IN)), 1)
    cell_in = width_in / columns
    left, right = _margins(page.charts, cell_in)
    across = cell_in - left - right
    figure = Picture(figsize=(width_in, cell_in))
    cells = []
    for index, chart in enumerate(page.charts):
        column = index % columns
        # The axes have their final size now; where they are follows once all heights are known.
        place = (column * cell_in + left) / width_in, 0.0
        size = across / width_in, across * chart.height / cell_in
        axes = figure.add_axes((*place, *size), label=str(index))
        cells.append(_Cell.on(axes, chart))
    _arrange(page, figure, cells, columns)
    return figure


def _margins(charts: Sequence[Chart], cell_in: float) -> tuple[float, float]:
    """Return the inches left and right of all axes, so that they are equally wide."""
    font = theme.font_for(0.87 * cell_in * theme.POINTS_PER_INCH)
    left = max(_beside(chart.y, font) for chart in charts)
    right = max(
        _beside(chart.right, font)
        if chart.right is not None
        else _width_of_last(chart.x, font) / 2 + 3
        for chart in charts
    )
    return left / theme.POINTS_PER_INCH, max(right / theme.POINTS_PER_INCH, 0.16)


def _beside(axis: Axis, font: float) -> float:
    """Return the points that the ticks and the label of an upright axis need."""
    widest = max((text_width(text, font) for _, text in axis.ticks), default=0.0)
    return widest + _TICK + (font * 2.2 if axis.label else font * 0.8)


def _width_of_last(axis: Axis, font: float) -> float:
    return text_width(axis.ticks[-1][1], font) if axis.ticks and not axis.is_slanted else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    """A chart drawn on axes of their final size, which may still be moved.

    Parameters
    ----------
    chart : Chart
    sheet : Sheet
    left_out : list of str
        Labels for which there was no room.
    """

    chart: Chart
    sheet: Sheet
    left_out: list[str]

    @classmethod
    def on(cls, axes: Axes, chart: Chart) -> _Cell:
        """Draw a chart, without what stands around it."""
        sheet = Sheet.of(axes)
        _set_up(chart, sheet)
        for area in chart.areas:
            _draw_area(area, sheet)
        for bar in chart.bars:
            _draw_bar(bar, sheet)
        for line in chart.lines:
            _draw_line(line, sheet)
        for mark in chart.marks:
            _draw_mark(mark, sheet)
        naming = Naming(chart=chart, sheet=sheet)
        naming.place_all()
        for label in naming.placed:
            _draw_label(label, sheet)
        return cls(chart=chart, sheet=sheet, left_out=naming.left_out)

    def say(self, left_out: list[str]) -> tuple[float, float]:
        """Write title, key and notes; return the points that they need above and below."""
        chart, sheet = self.chart, self.sheet
        above = draw_title(chart.title, chart.subtitle, sheet)
        end = sheet.font * (3.2 if chart.x.label else 1.9)
        if chart.x.is_slanted:
            longest = max(text_width(text, sheet.font) for _, text in chart.x.ticks)
            end += longest * math.sin(math.radians(_SLANT))
        notes = (*chart.notes, *chart.drawing_notes)
        if not (chart.key or notes or left_out):
            return above, end
        below = draw_key(chart.key, sheet, below=end + sheet.font * 1.1)
        below = draw_notes(notes, left_out, sheet, below=below)
        return above, below - sheet.font * 0.6


def _arrange(page: Page, figure: Figure, cells: list[_Cell], columns: int) -> None:
    """Write what stands around the axes; give them their places, and the picture its height."""
    width_in, _ = figure.get_size_inches()
    is_alone = len(cells) == 1
    around = [cell.say(cell.left_out if is_alone else []) for cell in cells]
    rows = [range(at, min(at + columns, len(cells))) for at in range(0, len(cells), columns)]
    font = cells[0].sheet.font
    left_out = [] if is_alone else [text for cell in cells for text in cell.left_out]
    # Texts of all begin where the first axes do.
    left_in = cells[0].sheet.axes.get_position().x0 * width_in
    head = foot = None
    if page.title:
        head = Sheet.across(figure, "head", font, left_in=left_in)
    if page.key or page.notes or left_out:
        foot = Sheet.across(figure, "foot", font, left_in=left_in)
    top, bottom = font * 0.3, font * 0.4
    if head is not None:
        top = draw_title(page.title, page.subtitle, head, scale=1.3)
    if foot is not None:
        bottom = draw_key(page.key, foot, below=font * 0.9)
        bottom = draw_notes(page.notes, left_out, foot, below=bottom) - font * 0.2
    heights = [
        [max(around[at][0] for at in row), max(cells[at].sheet.height for at in row),
         max(around[at][1] for at in row)]
        for row in rows
    ]  # fmt: skip
    total = top + sum(map(sum, heights)) + bottom
    down = top
    for row, (above, height, below) in zip(rows, heights, strict=True):
        for at in row:
            axes, own = cells[at].sheet.axes, cells[at].sheet.height
            box = axes.get_position()
            place = box.x0, 1 - (down + above + own) / total
            axes.set_position((*place, box.width, own / total))
        down += above + height + below
    # What stands above a strip begins at its upper end, what stands below it at its lower end.
    for strip, begin in ((head, total - top), (foot, bottom)):
        if strip is not None:
            box, down = strip.axes.get_position(), strip.height if strip is head else 0.0
            strip.axes.set_position(
                (box.x0, (begin - down) / total, box.width, strip.height / total)
            )
    figure.set_size_inches(width_in, total / theme.POINTS_PER_INCH)


def _set_up(chart: Chart, sheet: Sheet) -> None:
    """Set up the axes: scales, limits, ticks, grid."""
    axes = sheet.axes
    for name, axis in (("x", chart.x), ("y", chart.y)):
        axes.set(**{f"{name}scale": "log" if axis.scale == "log" else "linear"})
        axes.set(**{f"{name}lim": axis.limits})
        _set_ticks(getattr(axes, f"{name}axis"), axis)
    axes.autoscale(False)
    axes.tick_params(labelsize=sheet.font, length=2.5, width=0.6, pad=2)
    axes.set_xlabel(chart.x.label, fontsize=sheet.font, labelpad=2, parse_math=False)
    axes.set_ylabel(chart.y.label, fontsize=sheet.font, labelpad=2, parse_math=False)
    has_rows = chart.y.scale == "rows"
    axes.grid(True, which="major", axis="x" if has_rows else "both", color=theme.GRID,
              linewidth=0.5)  # fmt: skip
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_linewidth(0.6)
        spine.set_visible(not has_rows or side in ("left", "bottom"))
    if chart.x.is_slanted:
        for text in axes.get_xticklabels():
            text.set(rotation=_SLANT, ha="right", rotation_mode="anchor")
    if chart.right is not None:
        _set_up_right(chart.right, sheet)


def _set_ticks(axis: Any, ticked: Axis) -> None:
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    axis.set_major_locator(FixedLocator([value for value, _ in ticked.ticks]))
    axis.set_major_formatter(FixedFormatter([text for _, text in ticked.ticks]))
    axis.set_minor_locator(NullLocator())
    for text in axis.get_ticklabels():
        text.set_parse_math(False)


def _set_up_right(axis: Axis, sheet: Sheet) -> None:
    """Draw the axis of other units at the right."""
    right = sheet.axes.twinx()
    right.set(yscale="log" if axis.scale == "log" else "linear", ylim=axis.limits)
    _set_ticks(right.yaxis, axis)
    # Away from the marks of points beyond the frame.
    right.tick_params(labelsize=sheet.font, length=2.5, width=0.6, pad=sheet.marker * 0.6)
    right.set_ylabel(axis.label, fontsize=sheet.font, labelpad=2)
    for spine in right.spines.values():
        spine.set_visible(False)


def _draw_area(area: Area, sheet: Sheet) -> None:
    """Colour an area; one without an ink stays white."""
    if area.ink is not None:
        x, y = zip(*area.corners, strict=True)
        pale = theme.pale(theme.hex_of(area.ink))
        sheet.axes.fill(x, y, color=pale, linewidth=0, zorder=0.1)


def _draw_bar(bar: Bar, sheet: Sheet) -> None:
    look = faced(bar.face, theme.hex_of(bar.ink))
    if bar.face == "full":
        look["edgecolor"] = "white"
    sheet.axes.barh(bar.row, bar.end - bar.begin, left=bar.begin, height=_BAR_HEIGHT,
                    linewidth=0.8, **look)  # fmt: skip


def _draw_line(line: Line, sheet: Sheet) -> None:
    style = stroke_of(line.kind, line.ink)
    x, y = zip(*line.places, strict=True)
    if line.low:
        sheet.axes.fill_between(x, line.low, line.high, color=style["color"], linewidth=0,
                                alpha=theme.BAND_ALPHA, zorder=style["zorder"] - 1)  # fmt: skip
    if line.kind == "change":
        for before, after in pairwise(line.places):
            _draw_arrow(before, after, style["color"], sheet)
        return
    if line.shape is not None:
        style |= {"marker": MARKERS[line.shape], "markersize": sheet.marker * 0.75}
    sheet.axes.plot(x, y, **style)


def _draw_arrow(before: Any, after: Any, colour: str, sheet: Sheet) -> None:
    look = {
        "arrowstyle": "-|>", "color": colour, "linewidth": 0.8,
        "mutation_scale": sheet.font * 0.8,
        "shrinkA": sheet.marker * 0.4, "shrinkB": sheet.marker * 0.4,
    }  # fmt: skip
    sheet.axes.annotate("", xy=after, xytext=before, arrowprops=look,
                        zorder=theme.STROKES["change"].order)  # fmt: skip


def _draw_mark(mark: Mark, sheet: Sheet) -> None:
    """Draw a mark and its intervals."""
    colour, size = theme.hex_of(mark.ink), sheet.marker * mark.size
    errors: dict[str, Any] = {
        f"{name}err": [[middle - ends[0]], [ends[1] - middle]]
        for name, middle, ends in (
            ("x", mark.at[0], mark.x_interval), ("y", mark.at[1], mark.y_interval),
        )
        if ends is not None
    }  # fmt: skip
    if errors:
        sheet.axes.errorbar(*mark.at, **errors, fmt="none", ecolor=colour, elinewidth=0.9,
                            capsize=min(size, sheet.marker) * 0.35, zorder=5)  # fmt: skip
    if mark.shape == "none":
        return
    look = faced(mark.face, colour)
    if mark.is_alarming:
        look["edgecolor"] = theme.ALARM
    elif mark.face == "full" and mark.size > _LARGE:
        look["edgecolor"] = "white"
    shape = MARKERS[mark.shape] if mark.edge is None else _EDGES[mark.edge]
    is_cap = mark.shape == "cap"
    if is_cap:
        look = {"color": look["edgecolor"]}
    sheet.axes.scatter([mark.at[0]], [mark.at[1]], marker=shape,
                       s=(size * (1.6 if is_cap else 1.0)) ** 2,
                       linewidth=1.7 if is_cap or mark.is_alarming else 0.9, zorder=5.1,
                       clip_on=False, **look)  # fmt: skip


def _draw_label(label: Placed, sheet: Sheet) -> None:
    """Write a label in its place, and the line that joins it to its point."""
    colour = theme.hex_of(label.ink)
    sheet.label(
        label.text,
        label.box,
        colour=colour,
        paper=None if label.is_on_bar else theme.paper_of(label.area),
        size=label.size,
        is_bold=label.is_bold,
    )
    if label.lead is not None:
        across, up = zip(*((x / sheet.width, y / sheet.height) for x, y in label.lead), strict=True)
        sheet.axes.plot(across, up, color=colour, linewidth=0.5, zorder=2.6,
                        transform=sheet.axes.transAxes)  # fmt: skip
