"""What counting basic operations from source costs, and that counts are the same in every run.

    python benchmarks/bops.py [NAME ...]

Each program is compiled by clang with and without counters, and both are run in turn; the ratio is
that of their CPU times, which are sums over threads. The last row is the geometric mean.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from ridgepoint.meters import Run
from ridgepoint.meters.process import run
from ridgepoint.meters.source import built, count
from ridgepoint.meters.standard_input import StandardInput, own_standard_input

PROGRAMS = Path(__file__).parents[1] / "tests" / "programs" / "bops"
LEVELS = ("-O0", "-O2", "-O3")
PAIRS = 7
SIZES = {
    "sorting.c": "2000000",
    "words.c": "1500000",
    "matrix.c": "12",
    "graph.cpp": "200000",
    "crowd.c": "600000",
}


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


def ratio(name: str, level: str) -> tuple[float, set[int]]:
    """Return the median ratio of CPU times, and the totals that were counted."""
    ratios, totals = [], set()
    made = built([str(PROGRAMS / name)], [level, "-pthread"], say=print)
    with made as (counting, plain), own_standard_input() as stdin:
        for _ in range(PAIRS):
            with_counters, total = counted_run([str(counting), SIZES[name]], stdin)
            without = one_run([str(plain), SIZES[name]], stdin)
            totals.add(total)
            ratios.append(with_counters.cpu_s / without.cpu_s)
    return statistics.median(ratios), totals


def main(names: Sequence[str]) -> None:
    """Build, run and print the table."""
    print(f"{'':12}{'BOPs':>18}" + "".join(f"{level:>8}" for level in LEVELS))
    columns: dict[str, list[float]] = {level: [] for level in LEVELS}
    for name in names or SIZES:
        seen: set[int] = set()
        for level in LEVELS:
            found, totals = ratio(name, level)
            columns[level].append(found)
            seen |= totals
        counted = " / ".join(f"{total:,}" for total in sorted(seen))
        row = "".join(f"{columns[level][-1]:7.2f}x" for level in LEVELS)
        print(f"{name:12}{counted:>18}{row}", flush=True)
    means = "".join(f"{statistics.geometric_mean(columns[level]):7.2f}x" for level in LEVELS)
    print(f"{'all':12}{'':>18}{means}")


if __name__ == "__main__":
    main(sys.argv[1:])
