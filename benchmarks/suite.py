"""How long the reference suite takes as a user runs it, and how right its counts are.

usage: python benchmarks/suite.py [NAME ...]
"""

from __future__ import annotations

import sys
import time

from rich.console import Console

from ridgepoint.host import usable_cpus
from ridgepoint.show.tables.suite_table import validation
from ridgepoint.suites.kernels import all_workloads, find
from ridgepoint.suites.kernels.measuring import cases, run_suite
from ridgepoint.suites.kernels.validation import validate


def main(names: list[str]) -> None:
    """Run it, and print the seconds and measured over expected."""
    chosen = [find(name) for name in names] or all_workloads()
    threads = sorted({1, len(usable_cpus())})
    every = cases(chosen, states=("cold", "warm"), threads=threads)
    started = time.perf_counter()
    marks: list[tuple[float, str]] = []
    results = run_suite(every, report=lambda what: marks.append((time.perf_counter(), what)))
    ended = time.perf_counter()
    counting_s = ended - next(when for when, what in marks if what.startswith("counting"))
    failed = [result for result in results if result.measurement is None]
    Console(width=100).print(validation(validate(results)))
    print(
        f"{len(every)} cases on {threads[-1]} cores: {ended - started:.0f} s, of which counting "
        f"{counting_s:.0f} s; {len(failed)} failed"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
