"""A ceiling taken apart, for the terminal: what its kernel executes, and its samples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling
from ridgepoint.show import draw_text
from ridgepoint.show.charts.samples import samples_chart
from ridgepoint.show.tables.layout import caution_list
from ridgepoint.show.words import (
    printable,
    relative_interval,
    shown_amount,
    shown_name,
    shown_pattern,
    shown_place,
)

_COLUMNS, _ROWS = 78, 13
"""Of the plot of samples."""

_LONGEST_PERIOD = 12
_LEAST_TURNS = 3
# What differs from turn to turn: numbers, in names of values and registers too.
_NUMBER = re.compile(r"(?<![\w<])[0-9][0-9A-Fa-f]*h?\b|(?<=[A-Za-z_%])\d+(?:_\d+)*")


def code(title: str, pseudo_code: str, ir: str, loop: Sequence[str]) -> RenderableType:
    """Return what a kernel executes: in words, as LLVM's IR, and its innermost loop as it runs."""
    return Group(
        Text(title, style="bold"),
        _section("what one repeat executes", pseudo_code.splitlines()),
        _section("LLVM IR", folded(ir.splitlines())),
        _section("the innermost loop, disassembled", folded(loop)),
    )


def _section(title: str, lines: Sequence[str]) -> RenderableType:
    body = Text("\n".join(map(printable, lines or ["(no disassembler is available for it)"])))
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
    interval = relative_interval(rate, decimals=1)
    return (
        f"{shown_amount(rate, unit.replace('byte', 'B'))}, 95 % interval {interval}, n = {rate.n}"
    )


def folded(lines: Sequence[str]) -> list[str]:
    """Return lines, each run of turns that differ in numbers only as one turn and a count.

    Examples
    --------
    >>> folded(["add x1, y", "add x2, y", "add x3, y", "add x4, y", "ret"])
    ['add x1, y', '... 3 more like it', 'ret']
    """
    shapes = [_shape(line) for line in lines]
    shown: list[str] = []
    at = 0
    while at < len(lines):
        period, turns = _run(shapes, at)
        shown += lines[at : at + period]
        if turns > 1:
            like = "it" if period == 1 else f"these {period}"
            shown.append(f"... {turns - 1} more like {like}")
        at += period * turns
    return shown


def _shape(line: str) -> str:
    return _NUMBER.sub("#", line)


def _run(shapes: Sequence[str], at: int) -> tuple[int, int]:
    """Return period and number of turns of the run that begins here; (1, 1): there is none."""
    best = (1, 1)
    for period in range(1, _LONGEST_PERIOD + 1):
        turns = 1
        while shapes[at : at + period] == shapes[at + turns * period : at + (turns + 1) * period]:
            turns += 1
            if at + turns * period >= len(shapes):
                break
        if turns >= _LEAST_TURNS and period * turns > best[0] * best[1]:
            best = (period, turns)
    return best
