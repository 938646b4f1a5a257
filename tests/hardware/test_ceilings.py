"""The machine at hand, measured: what must hold on any machine, whatever its speed."""

import errno
import os
import platform

import pytest

from ridgepoint.ceilings import characterize
from ridgepoint.ceilings.pool import Pool
from ridgepoint.ceilings.worker import Job
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.host import System
from ridgepoint.kernels.clock import clock
from ridgepoint.kernels.jit import Compiler
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


def clock_job(compiler, *, repeats, extent_bytes=WORKING_BYTES):
    """Return a job that runs the clock's chain so often."""
    kernel = clock()
    return Job(
        function=compiler.compile(kernel.ir, ENTRY), size_bytes=0, extent_bytes=extent_bytes,
        repeats=repeats, operands=kernel.operands,
    )  # fmt: skip


def others_than(codes, ceilings):
    """Return the ceilings without any of some cautions, by name, with what they say instead."""
    return [
        (one.resource, one.name, one.threads, one.cautions)
        for one in ceilings
        if not codes & {caution.code for caution in one.cautions}
    ]


def test_every_ceiling_is_known_with_its_samples_and_an_interval(machine):
    """No kernel was refused, and none is a single number.

    Neighbours may leave so little of a shared cache that nothing fits between it and the next.
    """
    unknown = [c for c in machine.ceilings if c.rate is None]
    assert others_than({"no-room"}, unknown) == []
    assert {c.resource for c in unknown} <= {"l2", "l3"}
    known = [c for c in machine.ceilings if c.rate is not None]
    assert all(c.rate.n + len(c.disturbed) >= 8 for c in known)
    settled = [c for c in known if c.rate.n >= 6]
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


def test_a_chain_does_one_basic_operation_a_cycle_and_independent_ones_more(machine):
    """An addition or exclusive-or waits a cycle for the one before, on any x86-64 core.

    Twelve a cycle is more than any core starts, loads and operations together.
    """
    chain = rate(machine, "bop", "dependent scalar")

    assert 0.6 < chain / machine.host.frequency_hz < 1.1
    assert 1.5 * chain < rate(machine, "bop", "mixed scalar") < 12 * machine.host.frequency_hz


def test_basic_operations_are_those_of_64_bit_integers(machine):
    """The same kernel in another unit: what differs is the moment at which it ran."""
    ratio = rate(machine, "bop", "add scalar") / rate(machine, "int64", "add scalar")

    assert 0.5 < ratio < 2


def test_memory_is_slower_than_the_first_cache(machine):
    """The buffers do lie in the levels that they are named for."""
    assert rate(machine, "l1", "load") > 1.5 * rate(machine, "dram", "load")


def test_thread_that_may_not_choose_its_cpu_runs_where_it_may(monkeypatch):
    """A sandbox that forbids it costs precision, not the measurement."""

    def refuse(_pid, _cpus):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    compiler = Compiler()
    job = clock_job(compiler, repeats=1000)
    cpus = sorted(os.sched_getaffinity(0))
    with Pool(cpus, compiler) as pool:
        timing = pool.run(job, cpus=cpus)

        assert timing.seconds > 0
        assert not pool.is_pinned


def test_no_memory_for_a_buffer_is_an_error_not_a_hang():
    """A buffer larger than any machine has."""
    compiler = Compiler()
    job = clock_job(compiler, repeats=10, extent_bytes=1 << 60)
    cpu = min(os.sched_getaffinity(0))
    with Pool([cpu], compiler) as pool, pytest.raises(CannotMeasure, match="memory"):
        pool.run(job, cpus=[cpu])


def test_quick_measurement_is_a_part_of_the_whole(machine):
    """Fewer ceilings of the same names, and it says so; it takes no thorough one's place."""
    quick = characterize(quick=True)
    keys = {(c.resource, c.name, c.threads) for c in machine.ceilings}

    assert {(c.resource, c.name, c.threads) for c in quick.ceilings} < keys
    assert {"fp64", "fp32", "bop", "dram"} <= {c.resource for c in quick.ceilings}
    assert "quick" in {caution.code for caution in quick.cautions}
    assert quick.fingerprint != machine.fingerprint
    # A busy machine has fewer samples, and says which ceilings had none.
    unknown = [c for c in quick.ceilings if c.rate is None]
    assert others_than({"no-time", "no-room"}, unknown) == []
    assert any(c.rate is not None and c.resource == "dram" for c in quick.ceilings)


def test_clock_of_the_same_chain_is_the_same_on_every_core():
    """Threads start together: two cores need as long as one, not twice, nor half as long."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("there is one CPU")
    compiler = Compiler()
    job = clock_job(compiler, repeats=100_000)
    one, two = [], []
    with Pool(cpus[:2], compiler) as pool:
        for _ in range(100):  # at a time when others leave both cores alone
            one.append(pool.run(job, cpus=cpus[:1]))
            two.append(pool.run(job, cpus=cpus[:2]))
            ratio = min(t.seconds for t in two) / min(t.seconds for t in one)
            if len(two) >= 9 and 0.6 < ratio < 1.9:
                break

    assert 0.6 < ratio < 1.9
    # The kernel is a clock itself: both ways to the frequency must agree, but for what a neighbour
    # takes from one of them. A wrong count of cycles would be wrong by a factor of two at least.
    cycles = 100_000 * clock().work_per_repeat
    seconds = min(timing.seconds for timing in one)
    frequency_hz = max((t.frequency_hz for t in one if t.frequency_hz is not None), default=None)
    if frequency_hz is not None:  # how long an addition takes was clear
        assert 0.6 < cycles / seconds / frequency_hz < 1.7


def test_cpu_that_may_not_be_used_is_an_error_not_a_hang():
    """A CPU that does not exist cannot be pinned to; the other threads do not wait for it."""
    compiler = Compiler()
    job = clock_job(compiler, repeats=10)
    nonexistent = 8191
    with (
        Pool([min(os.sched_getaffinity(0)), nonexistent], compiler) as pool,
        pytest.raises(CannotMeasure, match="CPU affinity"),
    ):
        pool.run(job, cpus=[min(os.sched_getaffinity(0)), nonexistent])
