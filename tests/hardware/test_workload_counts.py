"""Work and traffic of workloads as the counting engine sees them, against their formulas."""

import sys

import pytest

from ridgepoint.core.geometry import parse_geometry
from ridgepoint.suites.kernels import all_workloads, find
from ridgepoint.suites.kernels.measuring import run_suite
from ridgepoint.suites.kernels.results import Case

pytestmark = pytest.mark.valgrind

# Each argument: name, n, calls before the region, calls in it. Each call has data of its own, so
# that its data are cold; what is written back of earlier ones stands for what stays in the caches.
PROGRAM = """
import sys
from ridgepoint import region
from ridgepoint.profiling.calls.loops import loop_over
from ridgepoint.suites.kernels import find
for argument in sys.argv[1:]:
    name, *numbers = argument.split(":")
    workload, (n, before, inside) = find(name), map(int, numbers)
    replicas = [workload.make(n, seed) for seed in range(before + inside)]
    measured = loop_over(workload.prepare(n), replicas[before:])
    loop_over(workload.prepare(n), replicas[:before])(1)
    with region(argument):
        measured(1)
"""

# Vectors have 2 to 8 lanes and are unrolled four times: with and without remainders.
SIZES = {
    "daxpy": (1, 64, 1003),
    "stream": (1, 64, 1003),
    "dgemv": (1, 32, 103),
    "dgemm": (1, 50, 63),
    "fft": (2, 64, 1024),
    "stencil": (3, 34, 61),
    "spmv": (1, 16, 1003),
}
WORK = [
    f"{workload.name}:{n}:0:1"
    for workload in all_workloads()
    if workload.is_handwritten
    for n in SIZES[workload.family]
]
TRAFFIC = [
    "daxpy.llvm:16000:12:24",
    "stream.copy:16000:12:24",
    "stream.scale:16000:12:24",
    "stream.add:16000:12:24",
    "stream.triad:16000:12:24",
    "dgemv.llvm:200:12:24",
    "dgemm.naive:100:8:12",
    "dgemm.blocked:100:8:12",
    "fft.radix2:8192:8:12",
    "stencil.5point:150:12:24",
    "spmv.csr:1500:12:24",
]


def taken_apart(argument):
    """Return the workload, its size, and the number of calls of an argument."""
    name, n, _, inside = argument.split(":")
    return find(name), int(n), int(inside)


@pytest.fixture(scope="module")
def worked(counted):
    """Count all hand-written workloads in one run; flop by argument."""
    result = counted(sys.executable, "-c", PROGRAM, *WORK)
    return {region.name: dict(region.counts.work) for region in result.regions}


@pytest.mark.parametrize("argument", WORK)
def test_handwritten_workloads_do_exactly_the_work_of_their_formula(argument, worked):
    """Not one flop more or less, and all of it in fp64."""
    workload, n, _ = taken_apart(argument)
    expected = workload.expected(n).work_flop

    assert worked[argument] == ({"fp64": expected} if expected else {})


@pytest.fixture(scope="module")
def moved(counted, small_caches):
    """Simulate the caches in one run; bytes read and written at DRAM by argument."""
    result = counted(sys.executable, "-c", PROGRAM, *TRAFFIC, caches=small_caches)
    at_dram = {
        region.name: next(one for one in region.traffic if one.level == "dram")
        for region in result.regions
    }
    return {name: (one.read_bytes, one.write_bytes) for name, one in at_dram.items()}


@pytest.mark.slow
@pytest.mark.parametrize("argument", TRAFFIC)
def test_cold_traffic_is_the_compulsory_one(argument, moved):
    """Within 5 % where the data fit the last cache, which has 512 KiB here."""
    workload, n, calls = taken_apart(argument)
    expected = workload.expected(n)
    read, written = moved[argument]

    assert workload.data_bytes(n) < 512 << 10
    assert read / calls == pytest.approx(expected.read_bytes, rel=0.05)
    # Lines of the interpreter's own: 2 KiB or so in each call.
    assert written / calls == pytest.approx(expected.write_bytes, rel=0.05, abs=2048)
    total = expected.read_bytes + expected.write_bytes
    assert (read + written) / calls == pytest.approx(total, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("geometry", ["l1=8k:8,l2=64k:8", "l1=32k:8,l2=2m:16"])
def test_some_rows_of_a_product_tell_what_all_of_them_do(geometry, monkeypatch):
    """Work to the flop; traffic within three per cent, whether a matrix fits or not."""
    case = Case(workload="dgemm.naive", n=408, state="cold", threads=1)

    def counted():
        (result,) = run_suite([case], repetitions=1, caches=parse_geometry(geometry))
        return result.measurement.counted

    part = counted()
    monkeypatch.setattr("ridgepoint.suites.kernels.measuring._parts", lambda *_: None)
    whole = counted()
    moved = {traffic.level: traffic.total_bytes for traffic in whole.traffic}

    assert part.estimate.share < 0.5
    assert part.counts.work_flop == whole.counts.work_flop == 2 * 408**3
    assert {traffic.level: traffic.total_bytes for traffic in part.traffic} == {
        level: pytest.approx(amount, rel=0.03) for level, amount in moved.items()
    }
