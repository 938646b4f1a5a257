"""Distributed programs for the terminal: measured steps beside what the model says of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.units import format_si
from ridgepoint.show.tables.layout import not_measured, plain_table
from ridgepoint.show.words import UNKNOWN, WITHIN, printable, shown_within
from ridgepoint.suites.distributed import (
    PROGRAMS,
    DistributedRun,
    DistributedStudy,
    StepBounds,
    own_bounds,
)

_KEY = (
    f"{WITHIN}\n"
    "model: compute, memory and network one after the other, as in the programs; least: all of\n"
    "them at once; off: the measured step against the model"
)


def programs() -> RenderableType:
    """Return a table of the programs there are."""
    table = plain_table("program", "does", "size", "counts", "checked", right=("size",))
    for program in PROGRAMS.values():
        table.add_row(
            program.name,
            program.summary,
            f"{program.default_size:,}",
            program.size_unit,
            program.checks,
        )
    return table


def distributed(study: DistributedStudy) -> RenderableType:
    """Return a table of runs, each with its own ceilings; below it, what could not be run.

    Parameters
    ----------
    study : DistributedStudy
    """
    runs = study.results
    if not runs:
        return Group(*not_measured(study))
    right = ("step", "compute", "network", "model", "least", "off")
    table = plain_table("program", "size", *right, "check", right=right)
    parts: list[RenderableType] = [Text(_where(runs[0])), table, Text(_KEY)]
    for run in runs:
        bounds = own_bounds(run)
        table.add_row(*map(Text, _row(run, bounds)))
        parts += [Text(line) for line in (_ceilings(run), _too_fast(run, bounds)) if line]
    parts += not_measured(study)
    return Group(*parts)


def _row(run: DistributedRun, bounds: StepBounds | None) -> tuple[str, ...]:
    step = run.step_s
    least = (bounds.sequential, bounds.overlapped) if bounds else (None, None)
    return (
        run.program,
        _size(run),
        shown_within(step, "s"),
        *(_time(run.part_s(name).median) for name in ("compute", "network")),
        *(UNKNOWN if bound is None else _time(float(bound.time_s)) for bound in least),
        UNKNOWN if bounds is None else f"{step.median / float(bounds.sequential.time_s) - 1:+.0%}",
        UNKNOWN if run.check is None else "passed" if run.check.passed else "wrong",
    )


def _size(run: DistributedRun) -> str:
    sizes = dict(run.sizes)
    if "batch" in sizes:
        return f"batch {sizes['batch']:,}"
    grid = "" if "grid" not in sizes else " on " + "x".join(map(str, sizes["grid"]))
    return f"{sizes['size']:,}{grid}"


def _where(run: DistributedRun) -> str:
    hosts = Counter(run.hosts)
    named = ", ".join(f"{printable(host)} ({count})" for host, count in hosts.items())
    ranks = "1 rank" if run.ranks == 1 else f"{run.ranks} ranks"
    threads = "1 thread" if run.threads == 1 else f"{run.threads} threads"
    return f"{ranks} of {threads} on {named}"


def _ceilings(run: DistributedRun) -> str:
    if run.ceilings is None:
        return ""
    ceilings = run.ceilings
    rates = [
        f"BLAS {_rate(ceilings.flop_per_s, 'flop/s')} in {ceilings.precision}",
        f"memory {_rate(ceilings.memory_bytes_per_s, 'B/s')}",
    ]
    if ceilings.link_bytes_per_s:
        rates.append(f"network {_rate(ceilings.link_bytes_per_s, 'B/s')} each way")
    return f"a rank of {run.program} reaches, all at once: {', '.join(rates)}"


def _too_fast(run: DistributedRun, bounds: StepBounds | None) -> str:
    if bounds is None or not bounds.is_exceeded_by(run):
        return ""
    return (
        f"{run.program} is faster than its ceilings allow: its data stay in caches, or other "
        "programs\nslowed the measurement of the ceilings"
    )


def _rate(samples: Sequence[float], unit: str) -> str:
    return format_si(Estimate(samples).median, unit, digits=3)


def _time(seconds: float) -> str:
    return format_si(seconds, "s", digits=3)
