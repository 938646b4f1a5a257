"""A pipeline's figures as pictures, by matplotlib."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ridgepoint.core.units import format_si
from ridgepoint.show.charts.key import colour, pale
from ridgepoint.show.charts.pipeline_plane import (
    BarsFigure,
    PipelineFigure,
    PipelineRoofline,
    StageDot,
    TimeBar,
    TimeFigure,
)
from ridgepoint.show.charts.sheet import INK
from ridgepoint.show.pictures import write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH_IN = 7.0
_SAME_PLACE = 0.005  # of the axis: two marks there are one
_FONT = 8.5
_GREY = "#666666"
_HOST = "#BBBBBB"
_COLOURS = 6
_POINTS_PER_INCH = 72
_LEAST_AREA, _MOST_AREA = 26.0, 900.0
"""Of discs, square points: of a share of nothing, and of all."""
_NEAR = 16.0
"""Points: what is nearer shares a label."""
_WIDE_ENOUGH = 0.028
"""Of the axis: a narrower piece has no room for its number."""


def save(figure: PipelineFigure, path: str | Path) -> None:
    """Write the roofline and the time below it to a file; as `ridgepoint.show.charts.mpl.save`."""

    def make() -> Figure:
        rows = len(figure.roofline.stages) + len(_notes(figure.roofline))
        drawn = _new(7.6 + 0.17 * rows)
        above, below = drawn.subplots(2, 1, height_ratios=(5.0, 1.35))
        draw_roofline(figure.roofline, above)
        draw_time(figure.time, below)
        return drawn

    write(make, path)


def save_roofline(figure: PipelineRoofline, path: str | Path) -> None:
    """Write the roofline alone."""
    rows = len(figure.stages) + len(_notes(figure))
    _save(lambda ax: draw_roofline(figure, ax), 5.3 + 0.17 * rows, path)


def save_time(figure: TimeFigure, path: str | Path) -> None:
    """Write the bars of time alone."""
    _save(lambda ax: draw_time(figure, ax), 2.3, path)


def save_bars(figure: BarsFigure, path: str | Path) -> None:
    """Write numbers beside each other."""
    _save(lambda ax: draw_bars(figure, ax), 1.6 + 0.3 * len(figure.bars), path)


def _save(draw: Callable[[Axes], None], height_in: float, path: str | Path) -> None:
    def make() -> Figure:
        drawn = _new(height_in)
        draw(drawn.add_subplot())
        return drawn

    write(make, path)


def _new(height_in: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(_WIDTH_IN, height_in), layout="constrained")


def draw_roofline(figure: PipelineRoofline, ax: Axes) -> None:
    """Draw the roof, the stages and the composites; the key stands below."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    ax.set(xscale="log", yscale="log", xlim=figure.x_limits, ylim=figure.y_limits)
    for axis, ticks in ((ax.xaxis, figure.x_ticks), (ax.yaxis, figure.y_ticks)):
        axis.set_major_locator(FixedLocator([value for value, _ in ticks]))
        axis.set_major_formatter(FixedFormatter([text for _, text in ticks]))
        axis.set_minor_locator(NullLocator())
    ax.set_xlabel(figure.x_label, fontsize=_FONT)
    ax.set_ylabel(figure.y_label, fontsize=_FONT)
    ax.tick_params(labelsize=_FONT)
    ax.grid(True, which="major", color="#E6E6E6", linewidth=0.5)
    ax.set_axisbelow(True)
    ridge = figure.peak / figure.bandwidth
    left, right = figure.x_limits
    ax.plot((left, ridge, right), (left * figure.bandwidth, figure.peak, figure.peak), color=INK,
            linewidth=1.5, zorder=2)  # fmt: skip
    # The largest first, so that small discs lie on them.
    for dot in sorted(figure.stages, key=lambda one: -one.share):
        _draw_dot(dot, ax)
    _name_dots(figure.stages, ax)
    ax.plot(*figure.whole, "*", color=INK, markersize=11, markeredgecolor="white", zorder=7)
    _draw_composites(figure, ax)
    ax.set_title(figure.title, fontsize=_FONT + 2, fontweight="bold", loc="left", pad=20,
                 parse_math=False)  # fmt: skip
    ax.text(0, 1.015, figure.subtitle, transform=ax.transAxes, fontsize=_FONT, va="bottom",
            parse_math=False)  # fmt: skip
    _draw_key(figure, ax)


def _style(number: int) -> dict[str, Any]:
    """Return the look of a stage: beyond the palette, colours come again hatched."""
    ink = colour(number - 1)
    return {
        "facecolor": pale(ink) if number > _COLOURS else ink,
        "edgecolor": ink if number > _COLOURS else "white",
        "hatch": "////" if number > _COLOURS else None,
    }


def _area(share: float) -> float:
    return _LEAST_AREA + (_MOST_AREA - _LEAST_AREA) * share


def _draw_dot(dot: StageDot, ax: Axes) -> None:
    if dot.at is None:
        return
    x, y = dot.at
    ax.plot((x, x), (y, dot.attainable), color=colour(dot.number - 1), linewidth=0.9,
            linestyle=(0, (1, 1.5)), zorder=2.5, clip_on=False)  # fmt: skip
    ax.scatter([x], [y], s=_area(dot.share), marker=">" if dot.is_infinite else "o", zorder=5,
               linewidth=0.9, clip_on=False, alpha=0.92, **_style(dot.number))  # fmt: skip


def _name_dots(dots: tuple[StageDot, ...], ax: Axes) -> None:
    """Write the numbers of the stages beside them; discs on each other share a label."""
    drawn = ax.get_figure(root=True)
    if drawn is None:
        raise ValueError("ax must belong to a figure")
    drawn.draw_without_rendering()
    scale = _POINTS_PER_INCH / drawn.dpi
    groups: list[tuple[float, float, list[StageDot]]] = []
    for dot in dots:
        if dot.at is None:
            continue
        x, y = (float(one) * scale for one in ax.transData.transform(dot.at))
        near = next((g for g in groups if math.dist(g[:2], (x, y)) < _NEAR), None)
        if near is None:
            groups.append((x, y, [dot]))
        else:
            near[2].append(dot)
    for _, _, group in groups:
        largest = max(group, key=lambda one: one.share)
        assert largest.at is not None  # only those with a place are grouped
        beside = math.sqrt(_area(largest.share) / math.pi) + 3
        ax.annotate(
            ", ".join(str(one.number) for one in group), largest.at, xytext=(beside, 0),
            textcoords="offset points", va="center", fontsize=_FONT, fontweight="bold", zorder=8,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.3, "alpha": 0.75},
        )  # fmt: skip


def _draw_composites(figure: PipelineRoofline, ax: Axes) -> None:
    """Draw the composites on the roof, each with its name above, in steps where they are near."""
    row, last = 0, -math.inf
    places: dict[float, tuple[tuple[float, float], list[str]]] = {}
    for mark in sorted(figure.composites, key=lambda one: one.at[0]):
        place = float(ax.transAxes.inverted().transform(ax.transData.transform(mark.at))[0])
        same = next((one for one in places if abs(one - place) < _SAME_PLACE), place)
        places.setdefault(same, (mark.at, []))[1].append(mark.label)
    for place, (at, labels) in places.items():
        x, y = at
        ax.plot(x, y, "D", color=INK, markerfacecolor="white", markersize=5, markeredgewidth=1.1,
                zorder=6, clip_on=False)  # fmt: skip
        row = row + 1 if place - last < 0.1 else 0
        last = place
        ax.annotate(
            ", ".join(labels), at, xytext=(-14 - 5 * row, 11 + 11 * row),
            textcoords="offset points",
            fontsize=_FONT - 0.5, ha="right", va="center", color=INK, zorder=7,
            arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": _GREY, "shrinkB": 3},
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.2, "alpha": 0.8},
        )  # fmt: skip


def _notes(figure: PipelineRoofline) -> list[str]:
    return [line for note in figure.notes for line in textwrap.wrap(note, 92)]


def _draw_key(figure: PipelineRoofline, ax: Axes) -> None:
    """Write one row for each stage, and the notes, below the axes."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    rows: list[Any] = [
        Patch(label=f"{dot.number} {dot.name}: {dot.summary}", **_style(dot.number))
        for dot in figure.stages
    ]
    rows += [Line2D([], [], linestyle="none", label=line) for line in _notes(figure)]
    key = ax.legend(handles=rows, loc="upper left", bbox_to_anchor=(-0.02, -0.1), frameon=False,
                    fontsize=_FONT, borderaxespad=0, labelspacing=0.25,
                    handlelength=1.2)  # fmt: skip
    for text in key.get_texts():
        text.set_parse_math(False)


def draw_time(figure: TimeFigure, ax: Axes) -> None:
    """Draw stacked bars, one above the other."""
    longest = max(bar.seconds for bar in figure.bars)
    for row, bar in enumerate(figure.bars):
        _draw_bar(bar, -row, longest, ax)
    ax.set_yticks([-row for row in range(len(figure.bars))], [bar.label for bar in figure.bars])
    ax.set_xlim(0, longest * 1.12)
    ax.set_xlabel("Time [s]", fontsize=_FONT)
    ax.tick_params(labelsize=_FONT)
    ax.set_title(figure.title, fontsize=_FONT + 1, fontweight="bold", loc="left")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _draw_bar(bar: TimeBar, at: float, longest: float, ax: Axes) -> None:
    begin = 0.0
    for piece in bar.pieces:
        look = _style(piece.number) if piece.number else {"facecolor": _HOST, "edgecolor": "white"}
        ax.barh(at, piece.seconds, left=begin, height=0.62, linewidth=0.8, **look)
        if piece.seconds > _WIDE_ENOUGH * longest:
            is_dark = 0 < piece.number <= _COLOURS
            ax.text(begin + piece.seconds / 2, at, str(piece.number) if piece.number else "host",
                    ha="center", va="center", fontsize=_FONT, fontweight="bold",
                    color="white" if is_dark else INK)  # fmt: skip
        begin += piece.seconds
    ax.text(begin + longest * 0.01, at, format_si(bar.seconds, "s", digits=3), va="center",
            fontsize=_FONT)  # fmt: skip


def draw_bars(figure: BarsFigure, ax: Axes) -> None:
    """Draw numbers as bars, with their intervals and marks."""
    highest = max(bar.high if bar.high is not None else bar.value for bar in figure.bars)
    width = highest - figure.origin or 1.0
    for row, bar in enumerate(figure.bars):
        ax.barh(-row, bar.value - figure.origin, left=figure.origin, height=0.6,
                color=pale(colour(0)), edgecolor=colour(0), linewidth=0.8)  # fmt: skip
        end = bar.value
        if bar.low is not None and bar.high is not None:
            ax.errorbar(bar.value, -row, xerr=[[bar.value - bar.low], [bar.high - bar.value]],
                        color=INK, capsize=3, elinewidth=1.0, fmt="none")  # fmt: skip
            end = bar.high
        if bar.least is not None:
            ax.plot(bar.least, -row, "D", color=INK, markerfacecolor="white", markersize=5)
        ax.text(end + width * 0.012, -row, bar.text, va="center", fontsize=_FONT)
    labels = [textwrap.shorten(bar.label, 52, placeholder="…") for bar in figure.bars]
    ax.set_yticks([-row for row in range(len(figure.bars))], labels)
    for text in ax.get_yticklabels():
        text.set_parse_math(False)
    ax.set_xlim(figure.origin, highest + width * 0.14)
    ax.set_xlabel(figure.x_label, fontsize=_FONT, parse_math=False)
    ax.tick_params(labelsize=_FONT)
    notes = (
        ["error bars: 95 % intervals"] if any(bar.low is not None for bar in figure.bars) else []
    )
    notes += [f"diamonds: {figure.mark_label}"] if figure.mark_label else []
    lines = [figure.subtitle, *(["; ".join(notes)] if notes else [])]
    ax.set_title(figure.title, fontsize=_FONT + 1, fontweight="bold", loc="left",
                 pad=8 + 11 * len(lines))  # fmt: skip
    ax.annotate("\n".join(lines), (0, 1), xytext=(0, 4), xycoords="axes fraction", va="bottom",
                textcoords="offset points", fontsize=_FONT - 1, parse_math=False,
                annotation_clip=False).set_in_layout(False)  # fmt: skip
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
