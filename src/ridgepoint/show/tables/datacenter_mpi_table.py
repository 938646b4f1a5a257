"""The datacenter workloads under MPI for the terminal: what several ranks gain over one."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.units import format_si
from ridgepoint.show.tables.layout import not_measured, plain_table, sections
from ridgepoint.show.words import UNKNOWN, printable, relative_interval, shown_gain
from ridgepoint.suites.datacenter.mpi_results import MpiStudy
from ridgepoint.suites.datacenter.programs import WORKLOADS

_KEY = (
    "time of the first rank, which waits for all others; BOPs of all ranks, from the source, "
    "without\nthose of the MPI library; results were checked, and are the same on any number of "
    "ranks"
)


def datacenter_mpi(study: MpiStudy) -> RenderableType:
    """Return a study of workloads on one rank and on several as text."""
    if not study.results:
        return Group(*not_measured(study))
    gains = {(gain.workload, gain.ranks): gain.time for gain in study.gains}
    right = ("ranks", "time", "95 %", "BOPs", "BOP/s")
    table = plain_table("workload", *right, "over one rank", right=right)
    for result in study.results:
        time = gains.get((result.workload, result.ranks))
        table.add_row(
            result.title,
            str(result.ranks),
            format_si(result.time_s.median, "s"),
            relative_interval(result.time_s, decimals=0),
            UNKNOWN if result.bops is None else format_si(result.bops, "").strip(),
            UNKNOWN if result.bop_per_s is None else format_si(result.bop_per_s, "").strip(),
            "" if result.ranks == 1 else shown_gain(time),
        )
    outcomes = dict.fromkeys(
        f"{result.title}: {result.size:,} {result.size_unit}; "
        f"{WORKLOADS[result.workload].result} {printable(result.result)}"
        for result in study.results
    )
    failures = dict.fromkeys(result.failure for result in study.results if result.failure)
    lines = [Text(line) for line in (*outcomes, _KEY, *map(printable, failures))]
    return sections(
        Text(f"{study.headline}; {printable(study.launcher)}"),
        table,
        Group(*lines, *not_measured(study)),
    )
