"""How many visibilities a second each stage of the imaging pipeline takes, and the whole of it.

usage: python benchmarks/imaging.py [SIZE ...]

Stages are called bare, warm, on one thread: the best of a few. The rate is the visibilities of the
observation over the time of one call, whether it touches them or not. The last row of a size says
what it costs to measure one stage, the start of the counting process included.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from ridgepoint.suites.imaging.continuum import image
from ridgepoint.suites.imaging.measuring import measure_stages
from ridgepoint.suites.imaging.stages import Scene, scene, stages

SIZES = (128, 256)
REPETITIONS = 5


def best_s(call: Callable[[], object], repetitions: int = REPETITIONS) -> float:
    """Return the shortest time of a few calls."""
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def row(name: str, seconds: float, seen: Scene, note: str = "") -> None:
    """Print what a part takes."""
    rate = seen.observation.visibilities / seconds
    print(f"{seen.geometry.size:>6} {name:<10} {seconds * 1e3:>10.2f} {rate / 1e6:>10.3f}  {note}")


def main(sizes: list[int]) -> None:
    """Print a row for each stage and size."""
    print(f"{'pixels':>6} {'part':<10} {'ms':>10} {'Mvis/s':>10}")
    for size in sizes:
        seen = scene(size)
        every = stages(seen)
        for each in every:
            row(each.name, best_s(lambda one=each: one.function(*one.arguments)), seen)
        begin = time.perf_counter()
        found = image(
            seen.visibilities, seen.observation, seen.geometry, seen.plan, weights=seen.weights
        )
        row("pipeline", time.perf_counter() - begin, seen, f"{found.minor_cycles} minor cycles")
        bare = every[0]
        begin = time.perf_counter()
        measure_stages([bare], states=["warm"], repetitions=1, limit_s=1)
        seconds = time.perf_counter() - begin
        print(f"{size:>6} timing and counting {bare.name!r} takes {seconds:.1f} s")


if __name__ == "__main__":
    main([int(one) for one in sys.argv[1:]] or list(SIZES))
