"""How well `ridgepoint scale --jobs` says what two jobs on one node cost each other.

    python benchmarks/sharing.py [SECONDS]

A polynomial of degree n is evaluated for 2^24 numbers, 2n flop and 24 byte each (with the line that
a store reads before): low degrees wait for memory, high ones compute. Each degree runs alone on one
core, then every pair on two cores at once for so many seconds (3), which are the middle of what
both run. The prediction knows the times alone, and the bandwidth that two jobs of the lowest degree
reach together: no ceiling, so it is a test of how the bandwidth is divided, not of the machine's.
Needs gcc and two CPUs with nothing else on them; the load is printed.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from ridgepoint.core.units import format_si
from ridgepoint.models.scaling.sharing import fair_division

DEGREES = (2, 16, 64)
SECONDS = 3.0
MOVED = 24 * 2**24
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
enum { N = 1 << 24, MOST = 128 };
static double c[MOST + 1];
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 2;
    const double end = argc > 2 ? atof(argv[2]) : 0;
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    for (int k = 0; k <= MOST; k++) c[k] = 1.0 / (k + 1);
    for (long i = 0; i < N; i++) x[i] = (double)i / N, y[i] = 0;
    while (now() < end) {
        const double begin = now();
        for (long i = 0; i < N; i += 32) {
            double s[32];
            for (int j = 0; j < 32; j++) s[j] = c[n];
            for (int k = n; k-- > 0;)
                for (int j = 0; j < 32; j++) s[j] = s[j] * x[i + j] + c[k];
            for (int j = 0; j < 32; j++) y[i + j] = s[j];
        }
        printf("%.9f %.9f\n", begin, now());
    }
    return y[N / 2] < 0;
}
"""


def times_together(program: Path, degrees: Sequence[int], seconds: float) -> list[float]:
    """Return the median time of a pass of each job while all of them run, in seconds."""
    begin = time.monotonic() + 1.0  # their data are there by then
    end = begin + seconds
    cpus = sorted(os.sched_getaffinity(0))
    jobs = [
        subprocess.Popen(
            ["taskset", "-c", str(cpu), program, str(degree), repr(end)],
            stdout=subprocess.PIPE, text=True,
        )
        for cpu, degree in zip(cpus, degrees, strict=False)
    ]  # fmt: skip
    found = []
    for job in jobs:
        passes = [tuple(map(float, line.split())) for line in job.communicate()[0].splitlines()]
        found.append(
            statistics.median(
                last - first for first, last in passes if begin < first and last < end
            )
        )
    return found


def main(seconds: float) -> None:
    """Print each pair, measured and predicted."""
    with tempfile.TemporaryDirectory() as folder:
        program, source = Path(folder) / "job", Path(folder) / "job.c"
        source.write_text(SOURCE)
        subprocess.run(
            ["gcc", "-O3", "-march=native", "-o", program, source], check=True, timeout=120
        )
        alone = {degree: times_together(program, [degree], seconds)[0] for degree in DEGREES}
        lowest = times_together(program, [DEGREES[0]] * 2, seconds)
        capacity = sum(MOVED / time_s for time_s in lowest)
        print(f"two jobs of degree {DEGREES[0]} move {format_si(capacity, 'B/s')} together")
        for degree, time_s in alone.items():
            print(f"degree {degree:3} alone: {format_si(time_s, 's')}, "
                  f"{format_si(MOVED / time_s, 'B/s')}")  # fmt: skip
        print("pair       measured slowdowns  predicted")
        for index, first in enumerate(DEGREES):
            for second in DEGREES[index:]:
                pair = (first, second)
                times = times_together(program, pair, seconds)
                uses = [{"memory": MOVED / alone[degree]} for degree in pair]
                paces = fair_division(uses, {"memory": capacity}).paces
                measured = [time_s / alone[d] for time_s, d in zip(times, pair, strict=True)]
                print(f"{first:3}, {second:3}   {measured[0]:8.2f} {measured[1]:9.2f}"
                      f"  {1 / paces[0]:8.2f} {1 / paces[1]:8.2f}")  # fmt: skip
    print(f"load of {os.cpu_count()} CPUs: {os.getloadavg()[0]:.1f}, its own included")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS)
