"""Time per function by samples, of programs whose functions take a time that they decide."""

import pytest

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import Timed
from ridgepoint.host.run import run
from ridgepoint.host.standard_input import own_standard_input
from ridgepoint.meters.sampling import Sampler
from ridgepoint.profiling.program import measure_program

pytestmark = [pytest.mark.hardware, pytest.mark.usefixtures("_can_sample")]

HEAVY_S, LIGHT_S = 0.8, 0.4


@pytest.fixture
def sampled():
    """Sample a program once; return what was found, of the CPU time that it took then."""

    def sample(*command, functions=()):
        sampler = Sampler(cpu_s=1.0)
        command = [str(part) for part in command]
        with own_standard_input() as stdin:
            sampler.sample(lambda: run(command, stdin=stdin, output="discard"))
        (done,) = sampler.runs
        assert done.exit_status == 0
        timed = Timed(runtime_s=Estimate([done.wall_s]), cpu_s=Estimate([done.cpu_s]))
        return sampler.sampled(functions, timed)

    return sample


def cpu_s(found, name):
    """Return the CPU time of the functions of one name, in any object."""
    return sum(one.cpu_s for one in found.functions if one.name == name)


@pytest.mark.parametrize(
    ("how", "options"),
    [
        ("two", ("-pie",)),
        ("two", ("-no-pie",)),
        ("two", ("-static",)),
        ("threads", ("-pie",)),
        ("family", ("-pie",)),
        ("family", ("-static",)),
    ],
)
def test_functions_take_the_cpu_time_that_they_decide(compiled, sampled, how, options):
    """Within 5 % of 1.2 s. The kernel's account by ticks may differ, and is no judge of that."""
    found = sampled(compiled("spin.c", "-O1", *options), how, HEAVY_S, LIGHT_S)

    assert cpu_s(found, "heavy") == pytest.approx(HEAVY_S, abs=0.06)
    assert cpu_s(found, "light") == pytest.approx(LIGHT_S, abs=0.06)
    assert found.samples * found.period_s == pytest.approx(HEAVY_S + LIGHT_S, abs=0.06)
    assert {caution.code for caution in found.cautions} <= {"samples-missing"}


def test_a_library_that_was_opened_later_is_found(compiled, sampled):
    """By its own symbols."""
    library = compiled("spin.c", "-O1", "-shared", "-fPIC", "-DLIBRARY")
    found = sampled(compiled("spin.c", "-O1"), "library", HEAVY_S, LIGHT_S, library)
    (plugin,) = [one for one in found.functions if one.name == "plugin"]

    assert plugin.object == library
    assert plugin.cpu_s == pytest.approx(LIGHT_S, abs=0.06)


def test_a_stripped_program_is_one_whole_without_a_counted_run(compiled, sampled):
    """Its object is known, its functions are not."""
    program = compiled("spin.c", "-O1", "-s")
    found = sampled(program, "two", HEAVY_S, LIGHT_S)

    assert (found.functions[0].name, found.functions[0].object) == (None, program)
    assert found.functions[0].cpu_s == pytest.approx(HEAVY_S + LIGHT_S, abs=0.06)


@pytest.mark.valgrind
@pytest.mark.parametrize("options", [(), ("-s",)])
def test_time_meets_the_counts_of_the_same_function(compiled, options):
    """By symbol, and by address where there is none: as long as they say, with their additions."""
    program = compiled("spin.c", "-O1", *options)
    seen = measure_program(
        [program, "two", str(HEAVY_S), str(LIGHT_S)], functions=True, repeat=1, output="discard"
    )
    counted = {(one.object, one.name): one for one in seen.counted.functions}
    heavy, light = seen.sampled.functions[:2]

    # Of the CPU time of the run that was not sampled, where the kernel served others differently.
    assert [heavy.cpu_s, light.cpu_s] == pytest.approx([HEAVY_S, LIGHT_S], abs=0.1)
    assert all(counted[program, one.name].counts.work_flop > 1e6 for one in (heavy, light))


def test_nothing_of_this_process_is_sampled(compiled, sampled, monkeypatch):
    """Only what the program maps; nor the watchdog, which the first run of a process starts."""
    monkeypatch.setattr("ridgepoint.host.watchdog._OWN", [])
    program = compiled("spin.c", "-O1")
    found = sampled(program, "two", 0.1, 0.1)

    assert not [one for one in found.functions if one.object and "python" in one.object]
