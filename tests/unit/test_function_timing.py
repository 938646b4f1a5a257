"""CPU time inside of a function, from one sampled run and others that are timed."""

import pytest

from ridgepoint.host.run import Run
from ridgepoint.meters.sampling.function_clock import Stay
from ridgepoint.profiling.function_timing import _cpu_of


def stay(*, wall_s, cpu_s, system_s=0.0, user_s=None):
    """Return a run of which three quarters of the wall-clock time were inside."""
    run = Run(exit_status=0, wall_s=wall_s, cpu_s=cpu_s, system_s=system_s)
    return Stay(run=run, wall_s=0.75 * wall_s, entries=1, user_s=user_s)


def test_cpu_time_inside_does_not_depend_on_how_long_neighbours_made_it_wait():
    """0.6 of 0.8 s in user mode are inside: so are 0.75 of 1 s, 0.2 of which is the kernel's."""
    sampled = stay(wall_s=4.0, cpu_s=1.0, system_s=0.2, user_s=0.6)
    quiet = [stay(wall_s=1.0, cpu_s=1.0, system_s=0.2)]
    busy = [stay(wall_s=9.0, cpu_s=1.0, system_s=0.2)]

    assert _cpu_of(sampled, quiet) == pytest.approx((0.75, 0.15))
    assert _cpu_of(sampled, busy) == pytest.approx((0.75, 0.15))


def test_a_run_too_short_for_a_sample_has_no_cpu_time_inside():
    """And none that the kernel accounted."""
    sampled = stay(wall_s=0.001, cpu_s=0.0, user_s=0.0)

    assert _cpu_of(sampled, [stay(wall_s=0.001, cpu_s=0.0)]) == (0.0, 0.0)
