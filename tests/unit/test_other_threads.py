"""What is said of threads that work while another one is in a region."""

from dataclasses import replace
from types import SimpleNamespace

import click
import pytest
from figure_inputs import MARKED

from ridgepoint.cli.counting import meter_for
from ridgepoint.cli.run_options import RunOptions
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import TimedRegion
from ridgepoint.host.run import Run
from ridgepoint.meters import Selection
from ridgepoint.meters.engine import EngineMeter
from ridgepoint.meters.region_times import RegionTime
from ridgepoint.profiling.native_times import with_time_of
from ridgepoint.profiling.timing import time_program

# Main is inside for 2 s while it and others use 5 s of CPU time.
SOLVE = TimedRegion(
    name="solve",
    entries=1,
    runtime_s=Estimate([2.0]),
    busy_s=Estimate([2.0]),
    cpu_s=Estimate([5.0]),
)


def time(busy_s, cpu_s, *, entries=1):
    """Return the times of a region that one thread was in."""
    return RegionTime(
        entries=entries, busy_s=busy_s, wall_low_s=busy_s, wall_high_s=busy_s, cpu_s=cpu_s
    )


def region_of(*runs, name="solve", all_threads=False):
    """Return the region of a program whose native runs take such times."""
    times = iter([runs[0], *runs])  # the first run is not timed

    def once(output="discard"):
        return Run(exit_status=0, wall_s=1.0, cpu_s=1.0), {name: next(times)}

    native = SimpleNamespace(
        report=lambda what, output_is_shown: None,
        output="discard",
        repeat=len(runs),
        once=once,
        again=once,
    )
    selection = Selection(kind="region", name=name, all_threads=True) if all_threads else None
    _, (region,) = time_program(native, selection=selection)
    return region


@pytest.mark.parametrize(
    ("runs", "is_doubted"),
    [
        ([time(2.0, 5.0)] * 2, True),
        ([time(2.0, 2.3)] * 2, True),
        ([time(2.0, 2.1)] * 2, False),  # 5 % may be a tick of the scheduler
        ([time(2.0, 0.5)] * 2, False),  # it slept
        ([time(2.0, 2.0), time(2.0, 5.0), time(2.0, 5.0)], True),  # the median run
        ([time(2.0, 2.0), time(2.0, 2.0), time(2.0, 5.0)], False),
        ([time(2.0, None), time(2.0, 5.0)], False),  # an end is unknown, and so is that time
        ([time(0.004, 0.006, entries=1000)] * 2, False),  # 2 us per entry: the clock's own
        ([time(0.004, 0.016, entries=1000)] * 2, True),  # 12 us
    ],
)
def test_a_region_is_doubted_where_others_worked_a_tenth_of_its_time(runs, is_doubted):
    """They are not counted in it, so its work per time would be wrong."""
    codes = [caution.code for caution in region_of(*runs).cautions]

    assert ("region-other-threads" in codes) is is_doubted


def test_the_doubt_says_how_much_and_what_to_do():
    """A name with a space is quoted as a shell wants it."""
    (caution,) = region_of(time(2.0, 5.0), time(2.0, 5.0), name="time step").cautions

    assert "at least 3 s of CPU time while region 'time step' was active" in caution.seen
    assert "in addition to the 2 s of the threads inside" in caution.seen
    assert caution.remedy.endswith("--region 'time step' --all-threads")


def test_there_is_no_doubt_where_all_threads_are_counted():
    """The times are the same."""
    region = region_of(time(2.0, 5.0), time(2.0, 5.0), all_threads=True)

    assert [caution.code for caution in region.cautions] == ["few-samples"]
    assert (region.busy_s.median, region.cpu_s.median) == (2.0, 5.0)


@pytest.mark.parametrize(("all_threads", "cores_busy"), [(False, 1.0), (True, 2.5)])
def test_cores_busy_are_those_of_the_threads_that_are_counted(all_threads, cores_busy):
    """Roofs of all threads bound what all threads did."""
    selection = Selection(kind="region", name="solve", all_threads=all_threads)
    alone = with_time_of(selection, replace(MARKED, timed_regions=(SOLVE,)))

    assert alone.timed.runtime_s.median == 2.0
    assert alone.timed.cores_busy == cores_busy


def test_selection_says_that_it_is_of_all_threads():
    """It stands in reports as it stands here."""
    meters = [EngineMeter(region="a b", all_threads=True), EngineMeter(function="f")]

    assert [str(meter.selection) for meter in meters] == [
        "region 'a b' (all threads)",
        "function 'f'",
    ]


def test_all_threads_without_a_selection_is_a_mistake():
    """In Python and on the command line."""
    with pytest.raises(
        ValueError, match="all_threads can only be used with a region or a function"
    ):
        EngineMeter(all_threads=True)
    with pytest.raises(click.BadParameter, match="needs --region or --function"):
        meter_for(RunOptions(all_threads=True), cpus=1, report=print)
