"""The datacenter workloads in C++ and in another software stack."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.estimate import Estimate
from ridgepoint.show.tables.layout import not_measured, plain_table
from ridgepoint.show.words import UNKNOWN, machine_title, printable, shown_amount, shown_gain
from ridgepoint.suites.datacenter.stacks import StackStudy

_UNKNOWN_WORK = """\
BOPs in Spark are unknown. By source they would be those of Spark, of the JVM and of all code that
its compiler makes. By instructions, the copying engine leaves alone what a JVM rewrites while it
runs, and Valgrind's would count the JVM's start and its compiler too, a hundred times as slowly."""


def stack_table(study: StackStudy) -> RenderableType:
    """Return the times, whether the results are the same, and what is not known."""
    stacks = dict.fromkeys(result.stack for result in study.results if result.stack is not None)
    table = plain_table(
        "workload", "data", "C++", "Spark", "times as fast in C++", "start", "results",
        right=("data", "C++", "Spark", "times as fast in C++", "start"),
    )  # fmt: skip
    for result in study.results:
        if result.failure is None:
            case = result.case
            table.add_row(
                case.title,
                f"{shown_amount(case.size)} {case.size_unit}",
                _time(result.own_s),
                _time(result.stack_s),
                shown_gain(result.gain),
                shown_amount(result.started_s, "s", digits=2),
                "differ" if result.differing else "the same",
            )
    threads = max((result.case.threads for result in study.results), default=1)
    head = f"{machine_title(study.machine)}; {', '.join(stacks) or UNKNOWN}; threads: {threads}"
    return Group(Text(printable(head)), "", table, *not_measured(study), "", Text(_UNKNOWN_WORK))


def _time(estimate: Estimate | None) -> str:
    return shown_amount(None if estimate is None else estimate.median, "s", digits=3)
