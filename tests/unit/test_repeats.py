"""When a program is run once more."""

import pytest

from ridgepoint.host.run import Run
from ridgepoint.profiling.repeats import repeated, wants_another
from ridgepoint.profiling.timing import _kernel_caution


@pytest.mark.parametrize(
    ("samples", "elapsed_s", "repeat", "expected"),
    [
        ([], 20.0, None, True),  # one sample there must be
        ([1.0] * 9, 10.0, None, True),  # fewer than ten
        ([1.0] * 10, 11.0, None, False),  # ten alike: the interval has no width
        ([1.0, 1.1] * 5, 12.0, None, True),  # ten that differ by 10 %
        ([1.0, 1.1] * 15, 20.0, None, False),  # thirty are enough
        ([4.0] * 6, 28.0, None, False),  # the next would end after 30 s
        ([40.0], 40.0, None, False),  # a long program is run once
        ([1.0] * 10, 11.0, 12, True),  # asked for twelve
        ([1.0] * 12, 13.0, 12, False),
        ([40.0], 40.0, 2, True),  # asked for two, however long
    ],
)
def test_runs_end_when_the_interval_is_tight_or_time_is_up(samples, elapsed_s, repeat, expected):
    """Ten to thirty runs within 30 s, or as many as were asked for."""
    assert wants_another(samples, elapsed_s=elapsed_s, repeat=repeat) is expected


@pytest.mark.parametrize(
    ("time_s", "repeat", "counting"),
    [
        (11.0, None, ["first"]),  # there is no time for two more
        (9.0, None, ["again"] * 2),  # a fourth run would end at 36 s
        (9.0, 1, ["first"]),
        (20.0, 2, ["first"]),
        (1.0, 2, ["again"] * 2),
        (1.0, None, ["again"] * 10),  # all alike
    ],
)
def test_the_first_run_counts_only_where_there_is_no_time_for_others(
    monkeypatch, time_s, repeat, counting
):
    """It finds cold files."""
    clock = [0.0]
    monkeypatch.setattr("ridgepoint.profiling.repeats.monotonic", lambda: clock[0])

    def run(name):
        clock[0] += time_s
        return name

    first, runs = repeated(
        lambda: run("first"),
        lambda: run("again"),
        time_s=lambda name: time_s,
        repeat=repeat,
        report=lambda what, shows: None,
    )

    assert (first, runs) == ("first", counting)


@pytest.mark.parametrize(
    ("cpu_s", "system_s", "codes"),
    [
        (1.0, 0.5, ["kernel-time"]),  # half of it in the kernel
        (1.0, 0.1, []),
        (0.004, 0.003, []),  # starting a process is mostly the kernel's work
    ],
)
def test_much_time_in_the_kernel_is_doubted(cpu_s, system_s, codes):
    """What the kernel does for a program is not in its counts."""
    runs = [Run(exit_status=0, wall_s=1.0, cpu_s=cpu_s, system_s=system_s)] * 3

    assert [caution.code for caution in _kernel_caution(runs)] == codes
