"""How far apart three ways to count basic operations lie, on the same programs.

    python benchmarks/bop_levels.py [NAME ...]

By Eq. (3), refined, and, with clang, from the source: each counts one function, compiled by gcc in
several ways. Ratios are over the source, whose count no compiler changes; without clang over the
refined count at -O0.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ridgepoint.core.counts import Counts
from ridgepoint.core.errors import RidgepointError
from ridgepoint.host.run import Run
from ridgepoint.meters.engine import EngineMeter
from ridgepoint.meters.source import compile_as, count

ROOT = Path(__file__).parents[1]
LEVELS = ROOT / "benchmarks" / "programs" / "levels.c"
BLAS = ROOT / "tests" / "programs" / "blas.c"
PROGRAMS = {
    **{
        name: (LEVELS, (name,))
        for name in (
            *("clear", "dot", "hash", "histogram", "search", "words", "sort", "stencil", "axpy"),
        )
    },
    "dgemm": (BLAS, ("dgemm", "100")),
    "spmv": (BLAS, ("spmv", "10000")),
}
OPTIONS = (("-O0",), ("-O2", "-fno-tree-vectorize"), ("-O3", "-mavx2", "-mfma"))


def launch(command: Sequence[str], variables: Mapping[str, str] | None = None) -> Run:
    """Run a command to its end."""
    environment = {**os.environ, **(variables or {})}
    done = subprocess.run(command, check=False, env=environment, capture_output=True)
    return Run(exit_status=done.returncode, wall_s=1.0, cpu_s=1.0)


def from_source(source: Path, arguments: Sequence[str], name: str, folder: str) -> int | None:
    """Return the basic operations that the source of a function asks for; None: no clang."""
    program = f"{folder}/{name}-source"
    try:
        if compile_as([str(source), "-w", "-lm", "-lpthread", "-o", program], cxx=False, say=print):
            return None
        counts = count([program, *arguments], launch=launch)
    except RidgepointError as error:
        print(error, file=sys.stderr)
        return None
    return sum(one.operations.total for one in counts.functions if one.symbol == name)


def from_instructions(
    source: Path, arguments: Sequence[str], name: str, options: Sequence[str], folder: str
) -> Counts:
    """Return what a function's instructions do."""
    program = f"{folder}/{name}{''.join(options)}"
    command = ["gcc", *options, str(source), "-pthread", "-lm", "-o", program]
    subprocess.run(command, check=True)
    counted = EngineMeter(simulate=False).count([program, *arguments], launch=launch, caches=())
    # The compiler may have cut a function into pieces.
    return Counts.total(
        one.counts for one in counted.functions if one.name.partition(".")[0] == name
    )


def main(names: Sequence[str]) -> None:
    """Print a row for each program and way to compile it."""
    print(
        f"{'function':<10} {'compiled by gcc':<24} {'source':>10} {'refined':>10} {'Eq. (3)':>10} "
        f"{'refined':>8} {'Eq. (3)':>8}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name in names or PROGRAMS:
            source, arguments = PROGRAMS[name]
            asked = from_source(source, arguments, name, folder)
            for options in OPTIONS:
                counts = from_instructions(source, arguments, name, options, folder)
                assert counts.basic_operations is not None
                assert counts.eq3_bop is not None
                refined, by_equation = counts.basic_operations.total, counts.eq3_bop
                base = asked or refined
                print(
                    f"{name:<10} {' '.join(options):<24} {'-' if asked is None else asked:>10} "
                    f"{refined:>10} {by_equation:>10} {refined / base:>8.2f} "
                    f"{by_equation / base:>8.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main(sys.argv[1:])
