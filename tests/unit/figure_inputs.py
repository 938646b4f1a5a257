"""A literal machine and literal programs for the tests of figures and tables."""

from dataclasses import replace

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import Counts, FlopCount, FunctionCounts, RegionCounts, Traffic
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Cache, Ceiling, Host, Machine
from ridgepoint.core.measurement import Context, Measurement
from ridgepoint.core.timed import Timed, TimedRegion

# Relative deviations of 15 samples; their median is 0.
NOISE = (0, -4, 3, 7, -9, 1, -1, 5, -6, 2, -2, 10, -12, 4, -3)


def estimate(median, noise=NOISE):
    """Return samples around a median, about 1 % apart."""
    return Estimate(median * (1 + deviation / 1000) for deviation in noise)


def peak(resource, name, threads, rate):
    """Return a compute ceiling."""
    return Ceiling(
        resource=resource, name=name, threads=threads, unit="flop/s", rate=estimate(rate)
    )


def stream(level, name, threads, rate, read, write):
    """Return a memory ceiling."""
    return Ceiling(
        resource=level,
        name=name,
        threads=threads,
        unit="byte/s",
        rate=estimate(rate),
        read_share=read,
        write_share=write,
    )


PEAKS = {"add scalar": 7.3e9, "fma scalar": 14.7e9, "fma 128-bit": 29.4e9, "fma 512-bit": 58.8e9}
STREAMS = (
    ("l1", "load", 232e9, 464e9, 1, 0),
    ("l1", "store", 117e9, 234e9, 0, 1),
    ("l1", "copy", 231e9, 462e9, 0.5, 0.5),
    ("l2", "load", 110e9, 220e9, 1, 0),
    ("l3", "load", 70e9, 126e9, 1, 0),
    ("dram", "load", 32e9, 45e9, 1, 0),
    ("dram", "store", 26.5e9, 34e9, 1, 1),
    ("dram", "copy", 30e9, 42e9, 1, 0.5),
)
CACHES = (
    Cache(level=1, kind="data", size_bytes=32 << 10, line_bytes=64, ways=8),
    Cache(level=1, kind="instruction", size_bytes=32 << 10, line_bytes=64, ways=8),
    Cache(level=2, kind="unified", size_bytes=1 << 20, line_bytes=64, ways=8),
    Cache(level=3, kind="unified", size_bytes=32 << 20, line_bytes=64, ways=None, cores=2),
)
MACHINE = Machine(
    name="vm",
    host=Host(
        cpu="AMD EPYC 9R14 96-Core Processor",
        microarchitecture="znver4",
        cores=2,
        frequency_hz=3.676e9,
        virtualized=True,
        memory_bytes=None,
    ),
    caches=CACHES,
    ceilings=(
        *(
            peak(precision, name, threads, rate * factor * threads)
            for precision, factor in (("fp64", 1), ("fp32", 2))
            for name, rate in PEAKS.items()
            for threads in (1, 2)
        ),
        *(
            stream(level, name, threads, rate, read, write)
            for level, name, one, two, read, write in STREAMS
            for threads, rate in ((1, one), (2, two))
        ),
    ),
    cautions=(Caution("virtualized", "the machine is virtual", "neighbours may take part of it"),),
    created="2026-11-21T02:00:00Z",
    elapsed_s=41.5,
)

CONTEXT = Context(
    started="2026-11-21T03:00:00Z",
    hostname="node",
    cpu="AMD EPYC 9R14 96-Core Processor",
    kernel="6.1.0",
    affinity=(0, 1),
    directory="/home/me",
)


def flop(precision, count, *, width=256, fma=True, masked=0):
    """Return flop of one kind, with the instructions that they take."""
    lanes = max(width // {"fp64": 64, "fp32": 32}.get(precision, 64), 1)
    return FlopCount(
        precision=precision,
        width_bits=width,
        fma=fma,
        flop=count,
        masked_flop=masked,
        instructions=count // (lanes * (2 if fma else 1)),
    )


def counts(*kinds, instructions=50_000_000, undecoded=0):
    """Return counts with the given flop."""
    return Counts(
        instructions=instructions,
        branches=instructions // 10,
        loads=instructions // 4,
        stores=instructions // 8,
        load_bytes=instructions * 8,
        store_bytes=instructions * 4,
        undecoded=undecoded,
        flop=kinds,
    )


def traffic(level, read, write, pending=None):
    """Return traffic at a level."""
    return Traffic(level=level, read_bytes=read, write_bytes=write, pending_write_bytes=pending)


def measurement(
    *kinds,
    command=("/opt/bin/triad", "1000000"),
    dram=(160_000_000, 80_000_000, 1_000_000),
    runtime_s=0.010,
    cores=1.0,
    spread=NOISE,
    functions=(),
    levels=True,
    instructions=50_000_000,
    undecoded=0,
    cautions=(),
):
    """Return a measured program; `dram` is (read, write, pending) or None, `runtime_s` or None."""
    parts = []
    if levels:
        parts += [
            traffic("l1", 320_000_000, 160_000_000),
            traffic("l2", 170_000_000, 90_000_000),
            traffic("l3", 165_000_000, 85_000_000),
        ]
    if dram is not None:
        parts.append(traffic("dram", *dram))
    timed = None
    if runtime_s is not None:
        runs = estimate(runtime_s, spread)
        timed = Timed(runtime_s=runs, cpu_s=runs.map(lambda seconds: seconds * cores))
    return Measurement(
        command=command,
        counted=Counted(
            meter="flopgrind (Valgrind 3.24.0)",
            counts=counts(*kinds, instructions=instructions, undecoded=undecoded),
            traffic=tuple(parts),
            functions=functions,
            cautions=cautions,
        ),
        timed=timed,
        context=CONTEXT,
    )


TRIAD = measurement(flop("fp64", 20_000_000))
TRIAD_2_CORES = measurement(flop("fp64", 20_000_000), runtime_s=0.006, cores=2.0)
MATMUL = measurement(
    flop("fp64", 2_000_000_000),
    flop("fp64", 4_000_000, width=0, fma=False),
    command=("./matmul", "1000"),
    dram=(24_000_000, 8_000_000, 500_000),
    runtime_s=0.041,
)
SINGLE = measurement(
    flop("fp32", 400_000_000), command=("./sgemv",), dram=(180_000_000, 400_000), runtime_s=0.0079
)
MIXED = measurement(
    flop("fp64", 60_000_000), flop("fp32", 40_000_000), command=("./mixed",), runtime_s=0.012
)
SORT = measurement(command=("./sort", "-n"), runtime_s=0.6)
CACHED = measurement(flop("fp64", 50_000_000), command=("./tiny",), dram=(0, 0, 0), runtime_s=0.004)
READS_ONLY = measurement(
    flop("fp64", 20_000_000), command=("./stream",), dram=(160_000_000, None), runtime_s=0.012
)
UNTIMED = measurement(flop("fp64", 20_000_000), command=("./counted",), runtime_s=None)
SLOW = measurement(
    flop("fp64", 4_000),
    command=("/usr/bin/python3", "-c", "import json; print(json.dumps({}))"),
    dram=(4_000_000, 900_000),
    runtime_s=0.08,
    instructions=10_000_000,
)
# 4 flop in 50 M instructions.
FEW = measurement(
    flop("fp64", 4, width=0, fma=False), command=("./sort", "-n", "nums"), runtime_s=0.6
)
FUNCTIONS = tuple(
    FunctionCounts(
        name=name,
        object="/opt/bin/triad",
        counts=counts(*([flop("fp64", work)] if work else []), instructions=instructions),
        traffic=(traffic("dram", read, write),),
    )
    for name, work, instructions, read, write in (
        ("triad", 16_000_000, 30_000_000, 150_000_000, 75_000_000),
        (
            "std::vector<double>::resize(unsigned long, double const&) [clone .isra.0]",
            4_000_000,
            10_000_000,
            9_000_000,
            5_000_000,
        ),
        ("main", 0, 10_000_000, 1_000_000, 0),
    )
)
PROFILED = measurement(flop("fp64", 20_000_000), functions=FUNCTIONS)


def with_counted(program, **changes):
    """Return a measured program with other counts, caches, regions, ..."""
    return replace(program, counted=replace(program.counted, **changes))


def region(name, *inside, work=0, instructions=0, moved=(0, 0)):
    """Return a region; its work is fp64."""
    return RegionCounts(
        name=name,
        inside=inside,
        counts=counts(*([flop("fp64", work)] if work else []), instructions=instructions),
        traffic=(traffic("dram", *moved),),
    )


def timed(name, runtime_s, busy_s=None):
    """Return the times of a region."""
    return TimedRegion(
        name=name,
        entries=1,
        runtime_s=None if runtime_s is None else estimate(runtime_s),
        busy_s=estimate(busy_s or runtime_s or 1.0),
    )


# Of the triad, which does 20 Mflop in 50 M instructions and moves 240 MB.
SOLVE = region("solve", work=16_000_000, instructions=40_000_000, moved=(128_000_000, 64_000_000))
INNER = region("sweep", "solve", work=8_000_000, instructions=20_000_000, moved=(0, 0))
SETUP = region("setup", instructions=5_000_000, moved=(20_000_000, 12_000_000))
MARKED = with_counted(TRIAD, regions=(SETUP, SOLVE, INNER))
# Ten with work, in one corner of the plane, and one without; each takes longer than the next.
CROWDED = replace(
    with_counted(
        TRIAD,
        regions=(
            SETUP,
            *(
                region(
                    f"stage {n} of the solver",
                    work=4_000_000,
                    instructions=1_000_000,
                    moved=(20_000_000 + 500_000 * n, 20_000_000),
                )
                for n in range(10)
            ),
        ),
    ),
    timed_regions=tuple(timed(f"stage {n} of the solver", 0.002 - 0.0001 * n) for n in range(10)),
)
