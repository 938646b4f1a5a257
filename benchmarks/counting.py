"""What counting costs, how much of the time it covers, and how exact it is.

    python benchmarks/counting.py [--quick] [--pairs N] [--beside] [--start] [NAME ...]

Each program of `counted_programs` is run natively and under the copying engine in turn, so that
what neighbours do meets both of a pair; the cost is the median of the pairs' ratios of CPU time, of
whole runs with start-up and end, and the largest. Where the work is known by hand it is compared;
where the program's output differs, that is said.

--beside adds Valgrind's engine and callgrind, and both engines with caches: per repetition, without
start-up. "moved" is what the copying engine says of traffic to memory over what Valgrind's says,
with simulated caches so small (1 MiB) that there is some; Valgrind shows programs no AVX-512, so
those that have it are not compared.

--start tells what a start costs with copies that are kept and without, and how fast they are made.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from counted_programs import Program, build, programs
from ridgepoint.core.counted import Counted
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.machine import Cache
from ridgepoint.host import usable_cpus
from ridgepoint.host.run import Run
from ridgepoint.meters import Meter
from ridgepoint.meters.building import CACHE_VARIABLE
from ridgepoint.meters.callgrind import CallgrindMeter
from ridgepoint.meters.engine import EngineMeter
from ridgepoint.meters.native import NativeMeter
from ridgepoint.meters.native.build import native_engine

QUICKER = 10
LIMIT_S = 900
LIBRARIES = ("libc.so.6", "libstdc++.so.6", "libgfortran.so.5")


def cache(level: int, kib: int, ways: int, kind: str = "data") -> Cache:
    """Return a cache with lines of 64 byte."""
    return Cache(level=level, kind=kind, size_bytes=kib << 10, line_bytes=64, ways=ways, cores=1)


SMALL = (cache(1, 32, 8), cache(1, 32, 8, "instruction"), cache(2, 256, 8), cache(3, 1024, 16))


# ---- one run ----


@dataclass(frozen=True)
class Seen:
    """A run: its CPU time, what it printed, how it ended, and what was counted."""

    cpu_s: float
    output: bytes
    status: int
    counted: Counted | None = None


def natively(command: Sequence[str]) -> Seen:
    """Run a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, check=False, timeout=LIMIT_S)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Seen(cpu_s, done.stdout, done.returncode)


def counting(meter: Meter, command: Sequence[str], caches: Sequence[Cache] = ()) -> Seen:
    """Count a command once."""
    runs: list[Seen] = []

    def launch(wrapped: Sequence[str]) -> Run:
        began_s = time.perf_counter()
        runs.append(natively(wrapped))
        wall_s = time.perf_counter() - began_s
        return Run(exit_status=runs[-1].status, wall_s=wall_s, cpu_s=runs[-1].cpu_s)

    counted = meter.count(command, launch=launch, caches=caches)
    return Seen(runs[-1].cpu_s, runs[-1].output, runs[-1].status, counted)


# ---- whole programs ----


def exactness(program: Program, counted: Counted, repetitions: int) -> str:
    """Return what was counted beyond what is known by hand; useful flop, where there are masks."""
    if program.flop is None:
        return ""
    known = program.flop * repetitions
    beyond = counted.counts.work_flop - known
    if beyond == 0:
        return "exact"
    return "useful exact" if counted.counts.useful_flop == known else f"{beyond:+,}"


def whole(program: Program, pairs: int, quicker: int) -> list[float]:
    """Print what counting a program costs, and return the ratios of all pairs."""
    repetitions = max(1, program.repetitions // quicker)
    command = program.command(repetitions)
    counting(NativeMeter(), command)  # from now on the copies are there
    native: list[float] = []
    ratios: list[float] = []
    same = True
    for _ in range(pairs):
        plain, seen = natively(command), counting(NativeMeter(), command)
        native.append(plain.cpu_s)
        ratios.append(seen.cpu_s / plain.cpu_s)
        same &= (plain.output, plain.status) == (seen.output, seen.status)
    counted = seen.counted
    assert counted is not None
    covered = "" if counted.coverage is None else f"{counted.coverage.share:.2%}"
    print(
        f"{program.title:20}{statistics.median(native):8.2f} s{statistics.median(ratios):8.2f}x"
        f"{max(ratios):8.2f}x{covered:>10}{counted.counts.work_flop:>20,}  "
        f"{exactness(program, counted, repetitions):16}{'' if same else 'OUTPUT DIFFERS'}",
        flush=True,
    )
    return ratios


def table_of_whole_programs(chosen: Sequence[Program], pairs: int, quicker: int) -> None:
    """Print what the copying engine costs, and the median and the worst over the programs."""
    print(f"{'':20}{'natively':>10}{'median':>9}{'worst':>9}{'covered':>10}{'flop':>20}")
    medians = [statistics.median(whole(program, pairs, quicker)) for program in chosen]
    if medians:
        print(f"over the programs: median {statistics.median(medians):.2f}x, ", end="")
        print(f"worst {max(medians):.2f}x")


# ---- beside other ways of counting ----


def repetition_s(program: Program, meter: Meter, caches: Sequence[Cache], n: int) -> Seen:
    """Return the last of two runs, with the CPU time of one repetition."""
    if not program.repeats:
        return counting(meter, program.command(1), caches)
    none, some = (counting(meter, program.command(k), caches) for k in (0, n))
    return Seen((some.cpu_s - none.cpu_s) / n, some.output, some.status, some.counted)


def moved(counted: Counted | None) -> float:
    """Return the bytes to and from memory; nan: not known."""
    totals = [one.total_bytes for one in counted.traffic if one.level == "dram"] if counted else []
    return float("nan") if not totals or totals[0] is None else float(totals[0])


def beside(program: Program, quicker: int) -> None:
    """Print what each way of counting costs for a program that all of them can run."""
    cpus = len(usable_cpus())
    n = max(1, program.few // quicker)
    many = max(n, program.repetitions // quicker)
    native_s = natively(program.command(many)).cpu_s
    if program.repeats:
        native_s = (native_s - natively(program.command(0)).cpu_s) / many
    seen: dict[str, Seen] = {}
    for name, meter in (
        ("native", NativeMeter(cpus=cpus)),
        ("engine", EngineMeter(cpus=cpus, simulate=False)),
        ("native, caches", NativeMeter(cpus=cpus, simulate=True)),
        ("engine, caches", EngineMeter(cpus=cpus)),
        ("callgrind", CallgrindMeter()),
    ):
        repetitions = many if name == "native" else n
        try:
            seen[name] = repetition_s(program, meter, SMALL, repetitions)
        except RidgepointError as error:
            print(f"{program.title}: {name}: {error}", file=sys.stderr)
    ratios = "".join(
        f"{seen[name].cpu_s / native_s:15.1f}x" if name in seen else f"{'-':>16}"
        for name in ("native", "engine", "native, caches", "engine, caches", "callgrind")
    )
    here, there = (seen[f"{name}, caches"].counted for name in ("native", "engine"))
    alike = here and there and here.counts.work == there.counts.work
    print(
        f"{program.title:20}{ratios}{moved(here) / (moved(there) or 1):8.3f}  "
        f"{'equal' if alike else 'other code'}",
        flush=True,
    )


def table_beside(chosen: Sequence[Program], quicker: int) -> None:
    """Print how many times as long as natively each way of counting takes."""
    print(f"\n{'':20}{'native':>16}{'engine':>16}{'native, caches':>16}", end="")
    print(f"{'engine, caches':>16}{'callgrind':>16}{'moved':>8}  flop")
    for program in chosen:
        if program.few:
            beside(program, quicker)


# ---- starts ----


@contextmanager
def no_copies() -> Iterator[None]:
    """Count with the engine that is built, but with none of the copies that are kept."""
    built, before = native_engine().library.parents[1], os.environ.get(CACHE_VARIABLE)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "native").symlink_to(built)
        os.environ[CACHE_VARIABLE] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ[CACHE_VARIABLE]
            else:
                os.environ[CACHE_VARIABLE] = before


def table_of_starts(folder: str, pairs: int) -> None:
    """Print what a start costs, and how fast copies are made."""
    print(f"\n{'CPU time of a start':28}{'natively':>10}{'counted':>10}{'first time':>12}")
    for title, command in (
        ("a program that does nothing", (f"{folder}/kernels", "qsort", "1", "0")),
        ("python -c 'import numpy'", (sys.executable, "-c", "import numpy")),
    ):
        with no_copies():
            first_s = counting(NativeMeter(), command).cpu_s
        counting(NativeMeter(), command)
        native_s = statistics.median(natively(command).cpu_s for _ in range(pairs))
        counted_s = statistics.median(counting(NativeMeter(), command).cpu_s for _ in range(pairs))
        print(f"{title:28}{native_s:8.3f} s{counted_s:8.3f} s{first_s:10.2f} s", flush=True)
    built = native_engine()
    print(f"\n{'copies':28}{'instructions':>14}{'CPU time':>10}{'per million':>13}")
    for name in LIBRARIES:
        path = Path("/usr/lib/x86_64-linux-gnu", name).resolve()
        if path.is_file():
            line = (str(built.copier), str(path), f"{folder}/copy", "--statistics")
            seen = natively(line)
            n = instructions(seen.output)
            rate = f"{1e6 * seen.cpu_s / n:11.2f} s" if n else ""
            print(f"{path.name:28}{n:14,}{seen.cpu_s:8.2f} s{rate}", flush=True)


def instructions(said: bytes) -> int:
    """Return how many the copier's statistics tell."""
    return int(said.split()[0]) if said else 0  # "332199 instructions, 3710 functions, ..."


def main() -> None:
    """Build, run, count, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, and one pair")
    parser.add_argument("--pairs", type=int, help="how many of each program (5)")
    parser.add_argument("--beside", action="store_true", help="Valgrind's engine and callgrind too")
    parser.add_argument("--start", action="store_true", help="starts, and making copies")
    parser.add_argument("names", nargs="*", metavar="NAME")
    asked = parser.parse_args()
    # One thread in OpenBLAS, whose idle threads spin; and the same Python in every run.
    os.environ.update(OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="0", ONEDNN_JIT_PROFILE="2")
    quicker = QUICKER if asked.quick else 1
    pairs = asked.pairs or (1 if asked.quick else 5)
    with tempfile.TemporaryDirectory() as folder:
        build(folder)
        chosen = [p for p in programs(folder) if not asked.names or p.title in asked.names]
        table_of_whole_programs(chosen, pairs, quicker)
        if asked.beside:
            table_beside(chosen, quicker)
        if asked.start:
            table_of_starts(folder, pairs)


if __name__ == "__main__":
    main()
