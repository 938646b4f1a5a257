"""Charts of a ceiling's samples, in the order in which they were taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling
from ridgepoint.core.units import format_si
from ridgepoint.show.axes import linear_ticks, with_prefix
from ridgepoint.show.chart import Axis, Chart, Entry, Interval, Line, Mark, Page
from ridgepoint.show.words import shown_name, shown_pattern, shown_place

_MARGIN = 0.08
_HEIGHT = 0.25
_KEPT = Entry(text="sample", shape="circle", glyph="o", is_abreast=True)
_LEFT_OUT = Entry(text="left out", shape="cross", ink="alarm", glyph="x", is_abreast=True)


def samples_page(ceilings: Iterable[tuple[Ceiling, Sequence[float]]]) -> Page:
    """Return the samples of ceilings with all their rates, one chart below the other."""
    return Page(charts=tuple(samples_chart(ceiling, rates) for ceiling, rates in ceilings))


def samples_chart(ceiling: Ceiling, rates: Sequence[float]) -> Chart:
    """Return the chart of all samples of a ceiling.

    Parameters
    ----------
    ceiling : Ceiling
        A ceiling with a rate.
    rates : sequence of float
        Rates of all samples, in the order in which they were taken, in the ceiling's unit.
    """
    assert ceiling.rate is not None
    unit, theory = ceiling.unit.replace("byte", "B"), ceiling.theoretical
    x_limits = (0.5, len(rates) + 0.5)
    y_limits = _limits([*rates, ceiling.rate.median, *((theory,) if theory else ())])
    kept = _kept(ceiling, rates)
    lines = [_median(ceiling.rate, unit, x_limits)]
    if theory is not None:
        name = f"theory {format_si(theory, unit)}"
        lines.append(Line(kind="limit", places=_across(theory, x_limits), name=name))
    return Chart(
        title=f"{shown_name(ceiling.resource)} {shown_pattern(ceiling.name)} "
        f"on {shown_place(ceiling.threads, ceiling.part)}",
        subtitle="",
        x=Axis(
            label="Sample, in the order taken",
            limits=x_limits,
            ticks=linear_ticks(x_limits, lambda number: f"{number:g}"),
            scale="linear",
        ),
        y=Axis(
            label=f"Rate [{unit}]",
            limits=y_limits,
            ticks=linear_ticks(y_limits, with_prefix, most=5),
            scale="linear",
        ),
        lines=tuple(lines),
        marks=tuple(_marks(rates, kept, unit)),
        key=(
            _KEPT,
            *((_LEFT_OUT,) if not all(kept) else ()),
            *(
                Entry(
                    text=line.name,
                    line=line.kind,
                    ink=line.ink,
                    has_band=bool(line.low),
                    is_abreast=True,
                )
                for line in lines
            ),
        ),
        height=_HEIGHT,
    )


def _median(rate: Estimate, unit: str, x_limits: Interval) -> Line:
    """Return the median from edge to edge, and its interval if it is known."""
    name = f"median {format_si(rate.median, unit)}"
    line = Line(kind="curve", places=_across(rate.median, x_limits), ink=0, name=name)
    if rate.low is None or rate.high is None:
        return line
    return replace(line, low=(rate.low,) * 2, high=(rate.high,) * 2, name=f"{name}, 95 % interval")


def _marks(rates: Sequence[float], kept: Sequence[bool], unit: str) -> Iterator[Mark]:
    """Yield every sample, with its number from 1."""
    for number, (rate, is_kept) in enumerate(zip(rates, kept, strict=True), start=1):
        yield Mark(
            at=(number, rate),
            shape="circle" if is_kept else "cross",
            ink="ink" if is_kept else "alarm",
            size=0.8,
            name=f"sample {number}{'' if is_kept else ', left out as disturbed'}",
            summary=format_si(rate, unit),
            glyph="o" if is_kept else "x",
        )


def _kept(ceiling: Ceiling, rates: Sequence[float]) -> list[bool]:
    """Return for each sample whether it counts, or was left out as disturbed."""
    left_out = list(ceiling.disturbed)
    kept = []
    for rate in rates:
        kept.append(rate not in left_out)
        if not kept[-1]:
            left_out.remove(rate)
    return kept


def _limits(rates: Sequence[float]) -> Interval:
    """Return the limits of the rates' axis: all rates drawn, with a margin."""
    low, high = min(rates), max(rates)
    margin = _MARGIN * (high - low) or _MARGIN * high
    return max(low - margin, 0.0), high + margin


def _across(rate: float, x_limits: Interval) -> tuple[tuple[float, float], tuple[float, float]]:
    return (x_limits[0], rate), (x_limits[1], rate)
