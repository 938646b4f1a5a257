"""How far the traffic that a miss curve foretells for other caches is from that of a simulation.

By hand::

    python benchmarks/fleet.py [NAME ...]

Each program is run once: all of its accesses go through the caches of three machines, sets and ways
as they are, and through the stack that the miss curve comes from. The table says, for each of these
caches and levels, the traffic by the curve over the traffic by the simulation.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from counted_programs import SOURCES, Program, build
from ridgepoint.core.counts import traffic_at
from ridgepoint.core.measurement import Measurement
from ridgepoint.kept.archive import Archive
from ridgepoint.models.caches.elsewhere import traffic_of_curve

CACHES = (
    "l1=48k:12,l2=2m:16,l3=8m:16",
    "l1=32k:8,l2=256k:8,l3=12m:16",
    "l1=32k:8,l2=512k:8,l3=32m:16",
)
"""A server's, an old server's and a desktop's."""

_LITTLE = 1e6
"""Bytes: less traffic than that is start-up, and its ratio says nothing."""


def programs(folder: str) -> Iterator[Program]:
    """Yield programs whose data fit in some of these caches."""
    arrays = (sys.executable, str(SOURCES / "arrays.py"))
    sizes: dict[str, tuple[tuple[str, ...], tuple[int, ...], int]] = {
        "daxpy": ((f"{folder}/wide3",), (20_000, 300_000), 20),
        "spmv": ((f"{folder}/blas",), (25_000, 200_000), 5),
        "stencil": ((f"{folder}/blas",), (300, 1000), 5),
        "qsort": ((f"{folder}/kernels",), (100_000, 800_000), 2),
        "sort": (arrays, (200_000,), 2),
        "fft": (arrays, (32_768,), 5),
        "matmul": (arrays, (256,), 2),
    }
    for name, (start, numbers, times) in sizes.items():
        for n in numbers:
            yield Program(f"{name} {n}", (*start, name, str(n)), times)


def measured(program: Program, folder: str) -> Measurement:
    """Return a program's counts with its miss curve and the traffic on all caches."""
    archive = Path(folder) / "archive.sqlite3"
    first, *others = CACHES
    words = [part for caches in others for part in ("--what-if", caches)]
    subprocess.run(
        [
            *(sys.executable, "-m", "ridgepoint", "run", "--counts-only", "--miss-curve"),
            *("--cache", first, *words, "--archive", str(archive), "--name", "last", "--"),
            *program.command(program.repetitions),
        ],
        check=True,
        capture_output=True,
    )
    with Archive(archive) as opened:
        return opened.measurement(opened.require("last").id)


def ratios(measurement: Measurement) -> Iterator[tuple[str, str, float, float]]:
    """Yield caches, level, bytes by the simulation, and those by the curve over these."""
    counted = measurement.counted
    assert counted.miss_curve is not None  # it was asked for
    each = [(counted.caches, counted.traffic)]
    each += [(other.caches, other.traffic) for other in counted.alternatives]
    for name, (caches, simulated) in zip(CACHES, each, strict=True):
        for part in traffic_of_curve(counted.miss_curve, caches):
            own = traffic_at(simulated, part.level)
            if own is not None and own.known_bytes > _LITTLE:
                yield name, part.level, own.known_bytes, part.known_bytes / own.known_bytes


def main() -> None:
    """Print the table, and between what most of the ratios lie."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="programs to run; none: all")
    wanted = parser.parse_args().names
    every = []
    with tempfile.TemporaryDirectory() as folder:
        build(folder)
        for program in programs(folder):
            if wanted and program.title.split()[0] not in wanted:
                continue
            for caches, level, simulated, ratio in ratios(measured(program, folder)):
                print(f"{program.title:16} {caches:30} {level:5} {simulated:12.4g} B {ratio:6.3f}")
                every.append(ratio)
    every.sort()
    if every:
        tenth = len(every) // 10
        print(
            f"{len(every)} ratios: the middle is {every[len(every) // 2]:.3f}, four of five lie "
            f"between {every[tenth]:.3f} and {every[-1 - tenth]:.3f}, all between "
            f"{every[0]:.3f} and {every[-1]:.3f}"
        )


if __name__ == "__main__":
    main()
