"""How much `ridgepoint machine` repeats itself: the same machine measured again and again.

    python benchmarks/stability.py [RUNS] [--quick]

Per ceiling: the median over the runs, the spread of the runs' medians, and in which share of two
runs in a row the 95 % intervals overlap. Then the share over all ceilings, the worst ten, the time
that a run takes, and how long a user waits for --help. A ceiling without an interval (too few
undisturbed samples) counts as not overlapping, and is named as such.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

GOAL = 0.95
WORST = 10

Key = tuple[str, str, int]
"""Resource, name and threads of a ceiling."""
Run = dict[Key, dict | None]
"""Of each ceiling its rate, None where it could not be measured."""


@dataclass
class Row:
    """What several runs say about one ceiling."""

    key: Key
    median: float
    spread: float
    together: int
    pairs: int
    without: int

    @property
    def share(self) -> float:
        """Return the share of pairs of runs in a row whose intervals overlap."""
        return self.together / self.pairs if self.pairs else 1.0

    def line(self) -> str:
        """Return the row as it is printed."""
        resource, name, threads = self.key
        without = f"  no interval in {self.without}" if self.without else ""
        return (
            f"{resource:6}{name:16}{threads:3}{self.median / 1e9:12.2f}{self.spread:9.1%}"
            f"{self.share:9.0%}{without}"
        )


def measure(arguments: list[str]) -> tuple[Run, float]:
    """Return the rates of one `ridgepoint machine`, and the seconds that it took in all."""
    with tempfile.TemporaryDirectory() as folder:
        archive = ["--archive", str(Path(folder) / "archive.sqlite3")]
        command = [sys.executable, "-m", "ridgepoint", "machine", "--json", *archive, *arguments]
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        elapsed_s = time.perf_counter() - started
    if done.returncode:
        sys.exit(done.stderr)
    ceilings = json.loads(done.stdout)["ceilings"]
    return {(c["resource"], c["name"], c["threads"]): c["rate"] for c in ceilings}, elapsed_s


def overlap(first: dict | None, second: dict | None) -> bool:
    """Return whether two rates have intervals with a point in common."""
    if not first or not second or first["low"] is None or second["low"] is None:
        return False
    return first["low"] <= second["high"] and second["low"] <= first["high"]


def row(key: Key, runs: list[Run]) -> Row | None:
    """Return what the runs say about a ceiling, None if none could measure it."""
    rates = [run.get(key) for run in runs]
    medians = [rate["median"] for rate in rates if rate]
    if not medians:
        return None
    median = statistics.median(medians)
    return Row(
        key=key,
        median=median,
        spread=(max(medians) - min(medians)) / median,
        together=sum(overlap(a, b) for a, b in itertools.pairwise(rates)),
        pairs=len(runs) - 1,
        without=sum(rate is None or rate["low"] is None for rate in rates),
    )


def print_stability(runs: list[Run], elapsed_s: list[float]) -> None:
    """Print every ceiling, the summary and the worst."""
    keys = dict.fromkeys(key for run in runs for key in run)
    rows = [found for key in keys if (found := row(key, runs))]
    heads = f"{'ceiling':22}{'thr':>3}{'Gflop, GB/s':>12}{'spread':>9}{'overlap':>9}"
    print(heads)
    for found in rows:
        print(found.line())
    pairs = sum(found.pairs for found in rows)
    if pairs:
        share = sum(found.together for found in rows) / pairs
        print(
            f"\n{share:.1%} of {pairs} pairs (a ceiling in two runs in a row) overlap in their "
            f"95 % intervals; the goal is {GOAL:.0%}."
        )
        for number, (first, second) in enumerate(itertools.pairwise(runs), start=1):
            together = sum(overlap(first.get(key), second.get(key)) for key in keys)
            print(f"  runs {number} and {number + 1}: {together} of {len(keys)}")
    spreads = [found.spread for found in rows]
    print(f"Spread, (max - min) / median: median {statistics.median(spreads):.1%}.")
    print(f"\nThe worst {WORST}, by overlap, then by spread:\n{heads}")
    for found in sorted(rows, key=lambda found: (found.share, -found.spread))[:WORST]:
        print(found.line())
    times = ", ".join(f"{seconds:.1f}" for seconds in elapsed_s)
    print(f"\nEach run took {statistics.median(elapsed_s):.1f} s (median of {times}).")


def print_startup() -> None:
    """Print how long the interpreter, the import and --help take."""
    for arguments in (["-c", "pass"], ["-c", "import ridgepoint"], ["-m", "ridgepoint", "--help"]):
        times = []
        for _ in range(11):
            started = time.perf_counter()
            subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
            times.append(time.perf_counter() - started)
        print(f"python {' '.join(arguments)}: {statistics.median(times) * 1e3:.0f} ms")


def main() -> None:
    """Run the command several times and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", type=int, nargs="?", default=10)
    parser.add_argument("--quick", action="store_true", help="of `ridgepoint machine --quick`")
    asked = parser.parse_args()
    runs, elapsed_s = [], []
    for number in range(asked.runs):
        print(f"run {number + 1} of {asked.runs}", file=sys.stderr)
        rates, seconds = measure(["--quick"] if asked.quick else [])
        runs.append(rates)
        elapsed_s.append(seconds)
    print_stability(runs, elapsed_s)
    print_startup()


if __name__ == "__main__":
    main()
