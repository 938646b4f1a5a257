"""The machine at hand, measured: what must hold on any machine, whatever its speed."""

import os
import platform

import pytest

from ridgepoint.ceilings import characterize
from ridgepoint.ceilings.pool import Job, Pool
from ridgepoint.errors import CannotMeasure
from ridgepoint.host import System
from ridgepoint.jit import Compiler
from ridgepoint.kernels.clock import clock
from ridgepoint.kernels.kernel import ENTRY
from ridgepoint.kernels.peak import WORKING_BYTES

pytestmark = [
    pytest.mark.hardware,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="kernels are checked on x86-64"),
    pytest.mark.skipif(not System().caches, reason="/sys does not describe the caches here"),
]


@pytest.fixture(scope="module")
def machine():
    """Measure this machine once."""
    return characterize()


def rate(machine, resource, name, threads=1):
    """Return the median of one ceiling."""
    (found,) = [
        c.rate.median
        for c in machine.ceilings
        if (c.resource, c.name, c.threads) == (resource, name, threads)
    ]
    return found


def test_every_ceiling_is_known_with_its_samples_and_an_interval(machine):
    """No kernel was refused, and none is a single number."""
    assert all(c.rate is not None for c in machine.ceilings)
    assert all(c.rate.n + len(c.disturbed) >= 15 for c in machine.ceilings)
    settled = [c for c in machine.ceilings if c.rate.n >= 6]
    assert all(c.rate.low <= c.rate.median <= c.rate.high for c in settled)
    assert machine.fingerprint
    assert machine.elapsed_s > 0


def test_no_core_does_more_per_cycle_than_any_core_can(machine):
    """No x86-64 core adds more than 4 scalars, or fuses 2 x 8 fp64 lanes and adds 2 x 8 more."""
    clock_hz = machine.host.frequency_hz

    assert 0.5e9 < clock_hz < 8e9
    assert rate(machine, "fp64", "add scalar") < 4.2 * clock_hz
    assert all(c.rate.median < 50 * clock_hz for c in machine.ceilings
               if c.resource == "fp64" and c.threads == 1)  # fmt: skip


def test_scalar_rates_are_alike_in_both_precisions(machine):
    """A scalar addition takes a pipe for a cycle, be it fp64 or fp32."""
    ratio = rate(machine, "fp32", "add scalar") / rate(machine, "fp64", "add scalar")

    assert 0.5 < ratio < 2


def test_memory_is_slower_than_the_first_cache(machine):
    """The buffers do lie in the levels that they are named for."""
    assert rate(machine, "l1", "load") > 1.5 * rate(machine, "dram", "load")


def test_clock_of_the_same_chain_is_the_same_on_every_core():
    """Threads start together: two cores need as long as one, not twice, nor half as long."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("there is one CPU")
    compiler = Compiler()
    kernel = clock()
    job = Job(
        function=compiler.compile(kernel.ir, ENTRY), size_bytes=0, extent_bytes=WORKING_BYTES,
        repeats=100_000, operands=kernel.operands,
    )  # fmt: skip
    with Pool(cpus[:2], compiler) as pool:
        one = min(pool.run(job, threads=1).seconds for _ in range(9))
        two = min(pool.run(job, threads=2).seconds for _ in range(9))

    assert 0.6 < two / one < 1.9


def test_cpu_that_may_not_be_used_is_an_error_not_a_hang():
    """A CPU that does not exist cannot be pinned to; the other threads do not wait for it."""
    compiler = Compiler()
    kernel = clock()
    job = Job(
        function=compiler.compile(kernel.ir, ENTRY), size_bytes=0, extent_bytes=WORKING_BYTES,
        repeats=10, operands=kernel.operands,
    )  # fmt: skip
    nonexistent = 8191
    with (
        Pool([min(os.sched_getaffinity(0)), nonexistent], compiler) as pool,
        pytest.raises(CannotMeasure, match="CPU affinity"),
    ):
        pool.run(job, threads=2)
