"""Where a program's time may go, and what to do next: sections of its report."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ridgepoint.core.resources import LEVELS
from ridgepoint.core.timed import Timed
from ridgepoint.core.units import format_si
from ridgepoint.models.advice import Advice
from ridgepoint.models.explanations import (
    CHAINED,
    DIVIDE,
    KERNEL,
    MISSES,
    START,
    WAITING,
    WALKS,
    Explained,
    Explanation,
    Sense,
)
from ridgepoint.models.own_roofs import COMPUTE, ISSUE
from ridgepoint.models.work import Metric
from ridgepoint.show.words import percent, printable, shown_name

_MOST = 7
_TWO_DIGITS = 99.5
SENSES: dict[Sense, str] = {"took": "", "least": "at least", "most": "at most"}
_WHAT = {
    KERNEL: "in the kernel: pages touched for the first time, input and output, system calls",
    START: "before its main part begins: the loader, imports, preparation (by samples)",
    WAITING: "waiting: for input, a disk, a lock, or a core that others use",
    DIVIDE: "divisions and square roots, at the rate of the divider",
    ISSUE: "all instructions, at the rate at which a core starts them",
    MISSES: "cache misses, if each waits for the previous one",
    WALKS: "page walks, if each miss to main memory needs one and waits for it",
    CHAINED: "additions, divisions and square roots, if each waits for the previous one",
    "network": "bytes over the network, at full bandwidth",
}


def time_parts(explained: Explained, metric: Metric) -> RenderableType | None:
    """Return what explains a part of the time, with seconds; None: nothing that is known does.

    Parameters
    ----------
    explained : Explained
    metric : {"flop", "bop"}
        What the work is counted in.
    """
    if not explained.parts:
        return None
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(no_wrap=True, justify="right")
    table.add_column(overflow="fold")
    for part in explained.parts[:_MOST]:
        seconds = format_si(part.seconds, "s", digits=3)
        table.add_row(
            f"  {SENSES[part.sense]}", percent(part.share), seconds, Text(what(part, metric))
        )
    return Group(Text("where its time may go (parts overlap)", style="bold"), table)


def what(part: Explanation, metric: Metric) -> str:
    """Return what takes a part of the time, in words."""
    if part.code in LEVELS:
        return f"traffic at {shown_name(part.code)}, at full bandwidth"
    if part.code == COMPUTE:
        if metric == "bop":
            return "basic operations, at the peak rate"
        return "floating-point instructions, at the rate of their kinds"
    return _WHAT.get(part.code, part.code)


def part_of(part: Timed, whole: Timed) -> str:
    """Return how much of the program a part of it is."""
    times = "" if part.entries is None else f"entered {_times(part.entries)}, "
    return (
        f"{times}{percent(part.runtime_s.median / whole.runtime_s.median)} of the program's "
        f"{format_si(whole.runtime_s.median, 's')}"
    )


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def advice_list(advised: Sequence[Advice]) -> RenderableType:
    """Return each advice with its largest gain, what it is about, what was seen, what to do.

    Parameters
    ----------
    advised : sequence of Advice
        At least one.
    """
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for advice in advised:
        text = Text(f"{printable(advice.about)}: ", style="bold")
        text.append(printable(f"{advice.seen}; {advice.what}"), style="not bold")
        table.add_row(f"  {shown_gain_of(advice)}", text)
    return Group(Text("what next", style="bold"), table)


def shown_gain_of(advice: Advice) -> str:
    """Return a gain in words, to two digits below a hundred."""
    if advice.gain is None:
        return "unknown gain"
    return f"at most {f'{advice.gain:.2g}' if advice.gain < _TWO_DIGITS else f'{advice.gain:.0f}'}x"
