"""A ceiling taken apart, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling
from ridgepoint.core.units import format_si
from ridgepoint.show import draw_text
from ridgepoint.show.charts.samples import samples_chart
from ridgepoint.show.folded import folded
from ridgepoint.show.tables.layout import caution_list
from ridgepoint.show.words import UNKNOWN, printable, shown_name, shown_pattern, shown_place

_COLUMNS, _ROWS = 78, 13
"""Of the plot of samples."""


def code(title: str, pseudo_code: str, ir: str, loop: Sequence[str]) -> RenderableType:
    """Return what a kernel executes: in words, as LLVM's IR, and its innermost loop as it runs."""
    return Group(
        Text(title, style="bold"),
        _section("what one repeat executes", pseudo_code.splitlines()),
        _section("LLVM IR", folded(ir.splitlines())),
        _section("the innermost loop, disassembled", folded(loop)),
    )


def _section(title: str, lines: Sequence[str]) -> RenderableType:
    body = Text("\n".join(map(printable, lines or ["(nothing here disassembles it)"])))
    return Group(Text(f"\n{title}", style="bold"), Padding(body, (0, 0, 0, 2)))


def place(ceiling: Ceiling, rates: Sequence[float], remarks: Sequence[str]) -> RenderableType:
    """Return one ceiling's value, its samples as a plot, and why it is what it is.

    Parameters
    ----------
    ceiling : Ceiling
        With a rate.
    rates : sequence of float
        Of all samples, in the order in which they were taken.
    remarks : sequence of str
    """
    assert ceiling.rate is not None
    where = shown_place(ceiling.threads, ceiling.part)
    name = f"{shown_name(ceiling.resource)} {shown_pattern(ceiling.name)}"
    # What it is of stands above it.
    chart = replace(samples_chart(ceiling, rates), title="")
    parts: list[RenderableType] = [
        Text(f"\n{name} on {where}: {_rate(ceiling.rate, ceiling.unit)}", style="bold"),
        Text(draw_text.render(chart, width=_COLUMNS, height=_ROWS, color=False, ascii=True)),
        *(Padding(Text(f"- {printable(remark)}"), (0, 0, 0, 2)) for remark in remarks),
    ]
    if ceiling.cautions:
        parts.append(caution_list(ceiling.cautions))
    return Group(*parts)


def _rate(rate: Estimate, unit: str) -> str:
    median = format_si(rate.median, unit.replace("byte", "B"))
    if rate.low is None or rate.high is None:
        return f"{median}, interval {UNKNOWN} (n = {rate.n})"
    below, above = (abs(end / rate.median - 1) for end in (rate.low, rate.high))
    return f"{median}, 95 % interval -{below:.1%} +{above:.1%}, n = {rate.n}"
