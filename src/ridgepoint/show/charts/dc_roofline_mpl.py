"""The DC-Roofline beside the roofline in flop as a picture, by matplotlib."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from ridgepoint.show.charts.dc_plane import DCFigure, DCPanel, Mark, Workload
from ridgepoint.show.charts.key import colour, draw_notes, draw_title
from ridgepoint.show.charts.mpl import set_up
from ridgepoint.show.charts.roofs_mpl import draw_roofs, name_roofs
from ridgepoint.show.charts.sheet import Sheet
from ridgepoint.show.labels import Box, Room, around
from ridgepoint.show.pictures import write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINTS_PER_INCH = 72
_HEIGHT_OVER_WIDTH = 0.85
_LEAST_ABREAST_IN = 6.0
_RIGHT_IN = 0.16
_KEY_IN = 0.1
"""Height of what the key hangs from: it is as wide as the picture, and shows nothing itself."""
# Rows of ticks and of a label below a panel, in letters.
_BELOW = 4.0
_JOIN_COST = 1
_BOLD = 1.14
_BEYOND = ">"
# Each workload has a shape of its own, for readers who see no colours.
_SHAPES = ("o", "s", "^", "D", "v", "P", "X")


def draw(panel: DCPanel, ax: Axes) -> list[str]:
    """Draw one panel on axes of their final size; nothing is shown or saved.

    Returns
    -------
    list of str
        Labels for which there was no room.
    """
    sheet = Sheet.of(ax)
    set_up(panel, sheet)
    middle = (sheet.width / 2, sheet.height / 2)
    room = Room(frame=Box(centre=middle, width=sheet.width, height=sheet.height))
    draw_roofs(panel.roofs, sheet, room)
    for index, workload in enumerate(panel.workloads):
        _draw_workload(workload, index, sheet, room)
    left_out = name_roofs(panel.roofs, panel.ridges, sheet, room)
    for index, workload in enumerate(panel.workloads):
        _name_workload(workload, colour(index), sheet, room)
    return left_out


def save(figure: DCFigure, path: str | Path, *, width_in: float = 8.0) -> None:
    """Write both panels to a file; as `ridgepoint.show.charts.mpl.save`.

    Parameters
    ----------
    figure : DCFigure
    path : str or Path
    width_in : float
        Inches; from 6 on, the panels stand side by side, below that one under the other.
    """
    write(lambda: _drawn(figure, width_in=width_in), path)


def _drawn(figure: DCFigure, *, width_in: float) -> Figure:
    """Return both panels with their key, in a picture that is as high as they need."""
    from matplotlib.figure import Figure

    abreast = width_in >= _LEAST_ABREAST_IN
    cell_in = width_in / 2 if abreast else width_in
    left_in = 0.3 + 0.07 * cell_in
    across, up = cell_in - left_in - _RIGHT_IN, (cell_in - left_in) * _HEIGHT_OVER_WIDTH
    drawn = Figure(figsize=(width_in, up))
    panels = (figure.bop, figure.flop)
    begins = [left_in + (cell_in * index if abreast else 0.0) for index in range(2)]
    axes = [
        # Labels tell axes at one place apart.
        drawn.add_axes((begin / width_in, 0.0, across / width_in, 1.0), label=str(index))
        for index, begin in enumerate(begins)
    ]
    left_out = [name for ax, panel in zip(axes, panels, strict=True) for name in draw(panel, ax)]
    sheets = [Sheet.of(ax) for ax in axes]
    tops = [
        draw_title(panel, sheet) / _POINTS_PER_INCH
        for panel, sheet in zip(panels, sheets, strict=True)
    ]
    below = sheets[0].font * _BELOW / _POINTS_PER_INCH
    margin = 0.1
    key = drawn.add_axes(
        (margin / width_in, 0.0, (width_in - 2 * margin) / width_in, _KEY_IN / up), label="key"
    )
    key.set_axis_off()
    key_in = _draw_key(figure, Sheet.of(key), sheets[0].font, left_out) / _POINTS_PER_INCH
    # Heights from the top of the picture to the bottom of each panel.
    down = [max(tops) + up] * 2 if abreast else [tops[0] + up, tops[0] + below + tops[1] + 2 * up]
    total = down[1] + below + key_in
    drawn.set_size_inches(width_in, total)
    for ax, begin, far in zip(axes, begins, down, strict=True):
        ax.set_position((begin / width_in, 1 - far / total, across / width_in, up / total))
    key.set_position(
        (margin / width_in, key_in / total, 1 - 2 * margin / width_in, _KEY_IN / total)
    )
    return drawn


def _draw_workload(workload: Workload, index: int, sheet: Sheet, room: Room) -> None:
    """Draw a workload's marks, and an arrow from the original to the optimised."""
    ink, shape = colour(index), _SHAPES[index % len(_SHAPES)]
    for before, after in pairwise(workload.marks):
        sheet.axes.annotate(
            "",
            xy=after.at,
            xytext=before.at,
            arrowprops={
                "arrowstyle": "-|>",
                "color": ink,
                "linewidth": 0.8,
                "mutation_scale": sheet.font * 0.8,
                "shrinkA": sheet.marker * 0.4,
                "shrinkB": sheet.marker * 0.4,
            },
            zorder=2.6,
        )
        room.lines.append(((sheet.at(before.at), sheet.at(after.at)), _JOIN_COST))
    for mark in workload.marks:
        _draw_mark(mark, shape, ink, sheet, room)


def _draw_mark(mark: Mark, shape: str, ink: str, sheet: Sheet, room: Room) -> None:
    size = sheet.marker * 0.9
    sheet.axes.errorbar(
        *mark.at,
        yerr=[[mark.at[1] - mark.low], [mark.high - mark.at[1]]],
        fmt=_BEYOND if mark.is_beyond else shape,
        color=ink,
        markerfacecolor=ink if mark.form == "optimised" else "white",
        markersize=size,
        markeredgewidth=0.9,
        elinewidth=0.8,
        capsize=size * 0.35,
        zorder=5,
        clip_on=False,
    )
    room.taken.append(Box(centre=sheet.at(mark.at), width=size * 1.2, height=size * 1.2))


def _name_workload(workload: Workload, ink: str, sheet: Sheet, room: Room) -> None:
    """Write a workload's name beside one of its marks, the last first."""
    width, height = sheet.text_width(workload.name, sheet.small) * _BOLD + 2, sheet.small * 1.1
    box = room.place(
        Box(centre=place, width=width, height=height)
        for mark in reversed(workload.marks)
        for place in around(sheet.at(mark.at), width, height, marker=sheet.marker)
    )
    if box is not None:
        sheet.label(workload.name, box, colour=ink, size=sheet.small, weight="bold")


def _draw_key(figure: DCFigure, sheet: Sheet, font: float, left_out: list[str]) -> float:
    """Write what is known of each workload, and notes; return the points that they need."""
    small = Sheet(axes=sheet.axes, width=sheet.width, height=sheet.height, font=font)
    offset, indent = small.font * 1.2, small.font * 1.2
    of_flop = {workload.name: workload.summary for workload in figure.flop.workloads}
    for index, workload in enumerate(figure.bop.workloads):
        shape = _SHAPES[index % len(_SHAPES)]
        small.sample(shape, below=offset, indent=0.0, colour=colour(index), filled=True)
        flop = of_flop.get(workload.name, "none")
        text = f"{workload.name}: {workload.summary}; in flop: {flop}"
        for line in small.wrapped(text, indent=indent, size=small.font):
            small.row(line, below=offset, indent=indent)
            offset += small.font * 1.4
    return draw_notes(figure.notes, (), small, offset, left_out=list(dict.fromkeys(left_out)))
