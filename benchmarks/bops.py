"""What counting basic operations from source costs, and that counts are the same in every run.

    python benchmarks/bops.py [NAME ...]

Each program is compiled by clang with and without counters, and both are run in turn; the ratio is
that of their CPU times, which are sums over threads. There are small programs, and the datacenter
workloads with two threads. Below each kind: the geometric mean, and the ratio of all times
together. A count that differs from run to run is given by its least and how far it goes: where
threads race for work (breadth-first search), what they do differs.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.host.run import Run, run
from ridgepoint.host.standard_input import StandardInput, own_standard_input
from ridgepoint.meters.source import built, count
from ridgepoint.suites.datacenter.build import compile_flags
from ridgepoint.suites.datacenter.programs import WORKLOADS, arguments

LEVELS = ("-O0", "-O2", "-O3")
PAIRS = 7
THREADS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A source, and how it is compiled and run."""

    source: Path
    arguments: tuple[str, ...]
    flags: tuple[str, ...] = ("-pthread",)

    @property
    def name(self) -> str:
        """Of its file."""
        return self.source.name


def small_programs() -> tuple[Program, ...]:
    """Return one program for each kind of code that counters may slow down."""
    folder = Path(__file__).parents[1] / "tests" / "programs" / "bops"
    sizes = {
        "sorting.c": "2000000",
        "words.c": "1500000",
        "matrix.c": "12",
        "graph.cpp": "200000",
        "crowd.c": "600000",
    }
    return tuple(Program(source=folder / name, arguments=(sizes[name],)) for name in sizes)


def datacenter_programs() -> tuple[Program, ...]:
    """Return the datacenter workloads in their default sizes."""
    return tuple(
        Program(
            source=one.source,
            arguments=tuple(arguments(one.name, threads=THREADS)),
            flags=compile_flags(one.name, marked=False),
        )
        for one in WORKLOADS.values()
    )


def one_run(
    command: Sequence[str], stdin: StandardInput, variables: dict[str, str] | None = None
) -> Run:
    """Run a program whose output nobody reads."""
    return run(command, stdin=stdin, output="discard", environment=variables)


def counted_run(command: Sequence[str], stdin: StandardInput) -> tuple[Run, int]:
    """Run a program that counts, and return its total too."""
    runs: list[Run] = []

    def launch(line: Sequence[str], variables: dict[str, str]) -> Run:
        runs.append(one_run(line, stdin, variables))
        return runs[-1]

    total = count(command, launch=launch).operations.total
    return runs[0], total


def cpu_times(program: Program, level: str) -> tuple[float, float, set[int]]:
    """Return median CPU seconds with and without counters, and the totals that were counted."""
    with_counters, without, totals = [], [], set()
    flags = [*program.flags, level]  # the last level counts
    made = built([str(program.source)], flags, say=print)
    with made as (counting, plain), own_standard_input() as stdin:
        for _ in range(PAIRS):
            done, total = counted_run([str(counting), *program.arguments], stdin)
            totals.add(total)
            with_counters.append(done.cpu_s)
            without.append(one_run([str(plain), *program.arguments], stdin).cpu_s)
    return statistics.median(with_counters), statistics.median(without), totals


def table(title: str, programs: Sequence[Program]) -> None:
    """Build, run and print one kind of programs."""
    print(f"{title:14}{'BOPs':>20}" + "".join(f"{level:>8}" for level in LEVELS))
    times: dict[str, list[tuple[float, float]]] = {level: [] for level in LEVELS}
    for program in programs:
        seen: set[int] = set()
        for level in LEVELS:
            with_counters, without, totals = cpu_times(program, level)
            times[level].append((with_counters, without))
            seen |= totals
        counted = f"{min(seen):,}"
        if len(seen) > 1:
            counted += f" … +{max(seen) - min(seen):,}"
        row = "".join(f"{slower / plain:7.2f}x" for slower, plain in (times[n][-1] for n in LEVELS))
        print(f"{program.name:14}{counted:>20}{row}", flush=True)
    means = [statistics.geometric_mean(a / b for a, b in times[level]) for level in LEVELS]
    totals = [sum(a for a, _ in times[n]) / sum(b for _, b in times[n]) for n in LEVELS]
    for what, values in (("geometric mean", means), ("all together", totals)):
        print(f"{what:34}" + "".join(f"{value:7.2f}x" for value in values))
    print()


def main(names: Sequence[str]) -> None:
    """Print a table for each kind of programs."""
    kinds = {"small": small_programs(), f"{THREADS} threads": datacenter_programs()}
    for title, programs in kinds.items():
        chosen = [one for one in programs if not names or one.name in names]
        if chosen:
            table(title, chosen)


if __name__ == "__main__":
    main(sys.argv[1:])
