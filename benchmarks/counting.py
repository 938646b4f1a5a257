"""What counting costs and how exact it is, over programs whose work is known by hand.

    python benchmarks/counting.py

Each program is timed natively and counted once; the table gives the flop that its source does
(tests/programs/blas.c), the flop counted in its kernel, and the counted run's time over the native.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RIDGEPOINT = (sys.executable, "-m", "ridgepoint")
SOURCE = Path(__file__).parents[1] / "tests" / "programs" / "blas.c"

# Kernel, its arguments, and its flop worked out by hand.
PROGRAMS = (
    ("daxpy", (1_000_000, 20), 2 * 1_000_000 * 20),
    ("saxpy", (1_000_000, 20), 2 * 1_000_000 * 20),
    ("mixed", (1_000_000, 20), 3 * 1_000_000 * 20),
    ("dgemv", (1000, 20), 2 * 1000**2 * 20),
    ("dgemm", (300, 5), 2 * 300**3 * 5),
    ("stencil", (1000, 20), 5 * 998**2 * 20),
    ("spmv", (300_000, 20), 2 * (3 * 300_000 - 2) * 20),
    ("sort", (5_000, 1), 0),
)


def native_s(command: list[str]) -> float:
    """Return the median seconds of seven native runs after one that is not counted."""
    times = []
    for _ in range(8):
        started = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:])


def main() -> None:
    """Build, time, count, and print the table."""
    print(f"{'':9}{'expected flop':>15}{'counted flop':>15}{'native':>10}{'counted':>10}  ratio")
    with tempfile.TemporaryDirectory() as folder:
        program, archive = f"{folder}/blas", f"{folder}/archive.sqlite3"
        subprocess.run(["gcc", "-O3", "-march=x86-64-v3", "-o", program, str(SOURCE)], check=True)
        for name, arguments, expected in PROGRAMS:
            command = [program, name, *map(str, arguments)]
            native = native_s(command)
            started = time.perf_counter()
            done = subprocess.run(
                [*RIDGEPOINT, "run", "--counts-only", "--json", "--machine", "xsb",
                 "--archive", archive, "--", *command],
                capture_output=True, check=True,
            )  # fmt: skip
            seconds = time.perf_counter() - started
            functions = json.loads(done.stdout)["functions"]
            counted = sum(f["work_flop"] for f in functions if f["name"].startswith(name))
            print(
                f"{name:9}{expected:15,}{counted:15,}{native * 1e3:8.1f}ms{seconds:9.2f}s"
                f"  {seconds / native:.0f}"
            )


if __name__ == "__main__":
    main()
