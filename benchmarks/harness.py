"""What measuring itself takes: per call of a warm loop, and per entry of a region.

    python benchmarks/harness.py [SAMPLES]

Each sample is the mean of so many calls that it takes 1e8 cycles. A call is one of an empty
function in the loop of `ridgepoint.measure`, in Python, or in a loop that the function brings
(here one in C, by ctypes, compiled for this). An entry is an empty `with` block of
`ridgepoint.region` outside of any measurement, and of `ridgepoint.measuring`; of the latter also
what it adds to its own samples. The goal is 1 us per region, without what is in it.
"""

from __future__ import annotations

import ctypes
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import ridgepoint
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.units import format_si
from ridgepoint.host import System
from ridgepoint.profiling.calls.loops import Loop, least_sample_s, loop_over, time_loop
from ridgepoint.profiling.calls.watch import Watch

SAMPLES = 20
GOAL_S = 1e-6
NATIVE = """
static __attribute__((noipa)) void empty(double *x) { (void)x; }
void loop(long rounds, double *x) { for (long i = 0; i < rounds; i++) empty(x); }
"""


def nothing(*_: object) -> None:
    """Do nothing."""


class Native:
    """An empty function in C with its loop."""

    def __init__(self, folder: Path) -> None:
        source, library = folder / "loop.c", folder / "loop.so"
        source.write_text(NATIVE)
        command = ["gcc", "-O2", "-shared", "-fPIC", "-o", library, source]
        subprocess.run(command, check=True)
        self._loop = ctypes.CDLL(str(library)).loop
        self._loop.argtypes = (ctypes.c_long, ctypes.c_void_p)

    def __call__(self, *arguments: object) -> None:
        """Call it once."""
        self._loop(1, None)

    def loop(self, replicas: object) -> Loop:
        """Return the loop."""
        return lambda rounds: self._loop(rounds, None)


def entries(region: AbstractContextManager[object]) -> Loop:
    """Return a loop of empty entries."""

    def loop(rounds: int) -> None:
        for _ in range(rounds):
            with region:
                pass

    return loop


def timed(loop: Loop, samples: int) -> Estimate:
    """Return what one round takes, s."""
    threshold_s = least_sample_s(System().reported_frequency_hz)
    times = time_loop(loop, replicas=1, repetitions=samples, threshold_s=threshold_s, limit_s=60)
    return Estimate(times.wall_s)


def rows(samples: int, folder: Path) -> Iterator[tuple[str, Callable[[], Estimate]]]:
    """Yield what is measured, and how."""
    yield "a call, Python loop, no argument", lambda: timed(loop_over(nothing, [()]), samples)
    yield (
        "a call, Python loop, 3 arguments",
        lambda: timed(loop_over(nothing, [(1, 2, 3)]), samples),
    )
    if shutil.which("gcc") is not None:
        yield "a call, native loop", lambda: timed(loop_over(Native(folder), [()]), samples)
    yield "with region, not measured", lambda: timed(entries(ridgepoint.region("a")), samples)
    watch = Watch("b")
    yield "with measuring", lambda: timed(entries(watch), samples)

    def inside() -> Estimate:
        last = watch._clock.wall_ns[-1000 * samples :]
        parts = (last[i * 1000 : (i + 1) * 1000] for i in range(samples))
        return Estimate(statistics.median(part) / 1e9 for part in parts)

    yield "   of which in its samples", inside


def main() -> int:
    """Print the table; return 1 where a goal is missed."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES
    print(f"{'what':36}{'median':>12}{'quartiles':>28}{'n':>5}")
    missed = False
    with tempfile.TemporaryDirectory(prefix="ridgepoint-") as name:
        for what, find in rows(samples, Path(name)):
            found = find()
            low, median, high = (format_si(v, "s") for v in (found.q1, found.median, found.q3))
            is_missed = found.median > GOAL_S
            missed |= is_missed
            note = f"  above the goal of {format_si(GOAL_S, 's')}" if is_missed else ""
            print(f"{what:36}{median:>12}{f'{low} to {high}':>28}{found.n:>5}{note}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
