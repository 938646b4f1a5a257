"""A ceiling's samples in the order in which they were taken: a figure, as text and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ridgepoint.core.machine import Ceiling
from ridgepoint.core.units import format_si
from ridgepoint.show.canvas import Canvas
from ridgepoint.show.charts.sheet import INK
from ridgepoint.show.words import shown_name, shown_pattern, shown_place

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TICK_COLUMNS = 10
_MARGIN = 0.08
_KEPT, _LEFT_OUT = "o", "x"


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplesFigure:
    """What is drawn of a ceiling's samples.

    Parameters
    ----------
    title : str
    unit : str
    rates : tuple of float
        In the order in which they were taken.
    kept : tuple of bool
        Whether each counts, rather than having been left out as disturbed.
    median : float
    low, high : float or None
        The median's 95 % interval.
    theoretical : float or None
    """

    title: str
    unit: str
    rates: tuple[float, ...]
    kept: tuple[bool, ...]
    median: float
    low: float | None
    high: float | None
    theoretical: float | None

    @property
    def limits(self) -> tuple[float, float]:
        """Of the rates' axis: all that is drawn, and a margin."""
        drawn = [*self.rates, self.median, *((self.theoretical,) if self.theoretical else ())]
        margin = _MARGIN * (max(drawn) - min(drawn)) or _MARGIN * max(drawn)
        return max(min(drawn) - margin, 0.0), max(drawn) + margin


def samples_figure(ceiling: Ceiling, rates: Sequence[float]) -> SamplesFigure:
    """Return the figure of a ceiling with a rate, and of all its samples in their order."""
    assert ceiling.rate is not None
    left_out = list(ceiling.disturbed)
    kept = []
    for rate in rates:
        kept.append(rate not in left_out)
        if not kept[-1]:
            left_out.remove(rate)
    where = shown_place(ceiling.threads, ceiling.part)
    return SamplesFigure(
        title=f"{shown_name(ceiling.resource)} {shown_pattern(ceiling.name)} on {where}",
        unit=ceiling.unit.replace("byte", "B"),
        rates=tuple(rates),
        kept=tuple(kept),
        median=ceiling.rate.median,
        low=ceiling.rate.low,
        high=ceiling.rate.high,
        theoretical=ceiling.theoretical,
    )


def render(figure: SamplesFigure, *, width: int = 78, height: int = 10) -> str:
    """Return the samples as text: ``o`` counts, ``x`` was left out, ``-`` median, ``.`` theory."""
    canvas = Canvas(columns=width - _TICK_COLUMNS - 1, rows=height, ascii=True)
    low, high = figure.limits

    def level(rate: float) -> float:
        return (rate - low) / (high - low)

    ticks = {canvas.cell((0.0, level(figure.median)))[0]: figure.median}
    canvas.line((0, level(figure.median)), (1, level(figure.median)), dashed=False)
    if figure.theoretical is not None:
        at = level(figure.theoretical)
        canvas.line((0, at), (1, at), dashed=True)
        ticks.setdefault(canvas.cell((0.0, at))[0], figure.theoretical)
    for row, rate in ((0, high), (height - 1, low)):
        ticks.setdefault(row, rate)
    n = len(figure.rates)
    for index, (rate, kept) in enumerate(zip(figure.rates, figure.kept, strict=True)):
        row, column = canvas.cell(((index + 0.5) / n, level(rate)))
        canvas.write(row, column, _KEPT if kept else _LEFT_OUT)
    rows = canvas.lines(color=False)
    marks = [
        f"{format_si(ticks[row], '').strip() if row in ticks else '':>{_TICK_COLUMNS}}"
        for row in range(height)
    ]
    lines = [f"{mark}|{text}".rstrip() for mark, text in zip(marks, rows, strict=True)]
    key = f"{_KEPT} sample   - median"
    key += f"   {_LEFT_OUT} left out" * (not all(figure.kept))
    key += "   . theory" * (figure.theoretical is not None)
    return "\n".join([f"{figure.title} [{figure.unit}]", *lines, " " * _TICK_COLUMNS + f" {key}"])


def draw(figure: SamplesFigure, ax: Axes) -> None:
    """Draw the samples on matplotlib axes; nothing is shown or saved."""
    order = range(1, len(figure.rates) + 1)
    for kept, marker, colour, label in (
        (True, "o", INK, "sample"),
        (False, "x", "#B03030", "left out"),
    ):
        chosen = [
            (i, r) for i, r, k in zip(order, figure.rates, figure.kept, strict=True) if k is kept
        ]
        if chosen:
            ax.plot(*zip(*chosen, strict=True), linestyle="none", marker=marker, markersize=4,
                    color=colour, label=label)  # fmt: skip
    ax.axhline(figure.median, color="#2060A0", linewidth=1.2, label="median")
    if figure.low is not None and figure.high is not None:
        ax.axhspan(figure.low, figure.high, color="#2060A0", alpha=0.15, linewidth=0,
                   label="95 % interval")  # fmt: skip
    if figure.theoretical is not None:
        ax.axhline(figure.theoretical, color="#777777", linewidth=1, linestyle=(0, (4, 2)),
                   label="theory")  # fmt: skip
    ax.set_ylim(*figure.limits)
    ax.set_title(figure.title, fontsize=10)
    ax.set_xlabel("sample, in the order taken")
    ax.set_ylabel(figure.unit)
    ax.yaxis.set_major_formatter(lambda value, _: format_si(value, "").strip())
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
