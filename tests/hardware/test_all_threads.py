"""What all threads do while one is inside; the steps are in tests/programs/workers.c."""

import subprocess
from contextlib import suppress

import pytest

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.host.run import Run
from ridgepoint.meters.engine import EngineMeter
from ridgepoint.meters.first_choice import first_choice
from ridgepoint.meters.native import NativeMeter
from ridgepoint.profiling.program import measure_program

pytestmark = pytest.mark.valgrind

N_WORKERS = 4
MAIN, WORKER = 10, 7
STEP = MAIN + N_WORKERS * WORKER
OUTSIDE = 2 * (1000 + N_WORKERS * 100)
LINES = N_WORKERS * 512
LINE_BYTES = 64
TRIALS = 9


def launch(command):
    """Run a command to its end."""
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return Run(exit_status=0, wall_s=1.0, cpu_s=1.0)


@pytest.fixture(params=["counted", "natively"])
def workers(request, compiled):
    """Count tests/programs/workers.c with each engine."""
    counted = request.getfixturevalue(request.param)

    def count(mode, **options):
        for _ in range(TRIALS):
            # Steps take microseconds: who was on its way to a barrier was late for much of one.
            with suppress(CannotMeasure):
                return counted(compiled("workers.c", "-O2"), mode, **options)
        return counted(compiled("workers.c", "-O2"), mode, **options)

    return count


def flop_of(result):
    """Return the fp64 flop of each region."""
    return {region.name: region.counts.work.get("fp64", 0) for region in result.regions}


@pytest.mark.parametrize(
    ("mode", "own", "all_threads"),
    [
        ("pool", MAIN, STEP),
        ("nested", 2 * MAIN, 2 * STEP),  # main leaves the inner one of two, and stays inside
        ("ends", MAIN, STEP),  # whoever is inside leaves by its end
        ("fork", MAIN + 50, STEP + 50),  # of a worker's child nobody is inside
        ("two", MAIN + 2 * WORKER, 2 * STEP),  # the last one to leave counts
    ],
)
def test_what_all_threads_do_meanwhile_counts(mode, own, all_threads, workers):
    """To the flop; without the option those of the threads inside."""
    apart = workers(mode, region="solve")
    together = workers(mode, region="solve", all_threads=True)

    assert apart.counts.work == {"fp64": own}
    assert together.counts.work == {"fp64": all_threads}
    assert apart.selected == "region 'solve'"
    assert together.selected == "region 'solve' (all threads)"


def test_threads_that_spin_are_left_to_the_other_engine(compiled):
    """Without a system call of its own, a thread does not see that another one came in."""
    program = [compiled("workers.c", "-O2"), "spins"]
    asked = {"region": "solve", "all_threads": True, "simulate": False}
    with pytest.raises(CannotMeasure, match="no system call"):
        NativeMeter(**asked).count(program, launch=launch, caches=())
    counted = first_choice(**asked).count(program, launch=launch, caches=())

    assert counted.counts.work == {"fp64": WORKER}
    assert counted.meter.startswith("engine")
    assert "other-engine" in {caution.code for caution in counted.cautions}


def test_functions_count_all_threads_as_regions_do(workers):
    """Their own regions have no names to be seen."""
    assert workers("function", function="solve").counts.work == {"fp64": MAIN}

    together = workers("function", function="sol.e", all_threads=True)
    assert together.counts.work == {"fp64": STEP}
    assert together.regions == ()


def test_regions_of_other_threads_lie_within(workers):
    """What workers do while main is in "solve" is in "solve", and in what that lies in."""
    result = workers("nested", region="solve", all_threads=True)

    assert flop_of(result) == {
        "outer": 2 * STEP,
        "solve": 2 * STEP,
        "chunk": 2 * N_WORKERS * WORKER,
    }
    assert {region.name: region.inside for region in result.regions} == {
        "outer": (),
        "solve": ("outer",),
        "chunk": ("outer", "solve"),
    }


def test_without_a_selection_threads_are_apart(workers):
    """A table of regions has what their own threads did, and the whole has all."""
    result = workers("pool")

    assert flop_of(result) == {"solve": MAIN}
    assert result.counts.work == {"fp64": OUTSIDE + STEP}


@pytest.mark.parametrize(("cold", "least", "most"), [(False, 0, 400), (True, LINES, LINES + 800)])
def test_caches_are_emptied_by_the_first_thread_in(cold, least, most, workers, small_caches):
    """Workers read their lines before, within, and again when a second thread came in."""
    result = workers("lines", region="solve", all_threads=True, cold=cold, caches=small_caches)
    (dram,) = [one for one in result.traffic if one.level == "dram"]

    assert least <= dram.read_bytes / LINE_BYTES <= most


def test_the_miss_curve_is_that_of_all_threads(workers, small_caches):
    """The smallest cache misses all lines twice; of one worker alone, once."""

    def lines_missed(**options):
        result = workers("lines", region="solve", miss_curve=True, caches=small_caches, **options)
        return result.miss_curve.read_bytes[0] / LINE_BYTES

    assert lines_missed() < 2 * LINES <= lines_missed(all_threads=True)


@pytest.mark.parametrize("all_threads", [False, True])
def test_time_of_the_region_is_that_of_the_threads_counted(all_threads, compiled):
    """Each of five threads takes 2 ms of CPU time inside; main alone is in the region."""
    meter = EngineMeter(region="solve", all_threads=all_threads, simulate=False)
    program = compiled("workers.c", "-O2")
    seen = measure_program([program, "cpu"], meter=meter, repeat=2, output="discard")

    assert seen.counted.counts.work == {"fp64": STEP if all_threads else MAIN}
    if all_threads:
        assert min(seen.timed.cpu_s.samples) >= (1 + N_WORKERS) * 0.002
        assert "region-other-threads" not in {caution.code for caution in seen.all_cautions}
    else:
        assert seen.timed.cpu_s == seen.timed.runtime_s
