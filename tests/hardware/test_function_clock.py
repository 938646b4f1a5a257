"""The time in a function, by breakpoints, against the clock that a program reads around it."""

import subprocess

import pytest

from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.host.run import run
from ridgepoint.host.standard_input import own_standard_input
from ridgepoint.meters.engine import EngineMeter
from ridgepoint.meters.sampling.function_clock import FunctionClock, fixed_addresses
from ridgepoint.profiling.program import measure_program

pytestmark = [pytest.mark.hardware, pytest.mark.usefixtures("_can_stop")]

BEYOND_S = 2e-3  # of a call: two stops, and reading the clock


@pytest.fixture(scope="module")
def _can_stop(compiled):
    """Skip where the processor or the kernel lets no program be stopped at."""
    clock = FunctionClock(pattern="work")
    with own_standard_input() as stdin:
        command = (compiled("stays.c", "-O1"), "plain", "1")
        try:
            clock.prepare(lambda: run(command, stdin=stdin, output="discard"))
        except MeterUnavailable as error:
            pytest.skip(f"{error.reason}; {error.remedy}")


def stay(pattern, *command):
    """Return how long one run was in a function, and what the program itself says of that run."""
    clock = FunctionClock(pattern=pattern)
    said = []

    def launch():
        # The harness throws a program's output away: this run keeps it.
        said.append(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
        return run(("/bin/true",), stdin=stdin, output="discard")

    with own_standard_input() as stdin:
        clock.prepare(launch)
        measured = clock.time(launch)
    return measured, float(said[-1])


@pytest.mark.parametrize("options", [("-pie",), ("-no-pie",), ("-static",)])
@pytest.mark.parametrize(("how", "entries"), [("plain", 7), ("recursive", 7)])
def test_the_time_inside_is_what_the_program_itself_says(compiled, how, entries, options):
    """Both clocks are of the same run; where the CPU is taken away between them, another tells."""
    command = (compiled("stays.c", "-O1", *options), how, str(entries))
    runs = [stay("work", *command) for _ in range(3)]

    assert {measured.entries for measured, _ in runs} == {entries}
    assert all(measured.wall_s <= own_s for measured, own_s in runs)
    assert min(own_s - measured.wall_s for measured, own_s in runs) <= entries * BEYOND_S


def test_a_thread_is_followed_into_the_function(compiled):
    """A busy machine lets it wait before it begins: that is outside."""
    measured, own_s = stay("work", compiled("stays.c", "-O1"), "thread", "4")

    assert measured.entries == 4
    assert 0 < measured.wall_s < own_s


def test_main_is_a_part_too_and_holds_what_it_calls(compiled):
    """It is longer than the calls that it times itself."""
    measured, own_s = stay("main", compiled("stays.c", "-O1"), "plain", "3")

    assert measured.entries == 1
    assert measured.wall_s > own_s


def test_a_function_that_is_left_by_longjmp_is_refused(compiled):
    """It never comes to the instruction behind its call: nothing tells when it was left."""
    with pytest.raises(MeterUnavailable, match="did not return to its caller"):
        stay("work", compiled("stays.c", "-O1"), "jump", "9")


@pytest.mark.parametrize(
    ("pattern", "said"), [("nothing", "no function of that name"), (".*", "functions match it")]
)
def test_what_cannot_be_timed_is_said(compiled, pattern, said):
    """One that is not there, and all of the C library."""
    with pytest.raises(MeterUnavailable, match=said):
        stay(pattern, compiled("stays.c", "-O1"), "plain", "1")


def test_addresses_are_random_again_afterwards():
    """Where the stack of a child lies, twice."""
    command = ["grep", "stack", "/proc/self/maps"]
    with fixed_addresses():
        fixed = {subprocess.check_output(command) for _ in range(3)}
    with open("/proc/sys/kernel/randomize_va_space", encoding="ascii") as file:
        is_random = file.read().strip() != "0"

    assert len(fixed) == 1
    assert not is_random or len({subprocess.check_output(command) for _ in range(3)}) > 1


@pytest.mark.valgrind
def test_a_function_has_a_place_of_its_own(compiled):
    """Work and time of `work` alone: 2 flop each of a million times, five times."""
    told = measure_program(
        (compiled("stays.c", "-O1", "-ffp-contract=off"), "plain", "5"),
        meter=EngineMeter(simulate=False, function="work"),
        repeat=2,
        output="discard",
    )

    assert told.counted.counts.work_flop == 10_000_000
    assert told.timed.entries == 5
    assert 0 < told.timed.runtime_s.median < told.whole.runtime_s.median
    assert "time-unknown" not in {caution.code for caution in told.all_cautions}


@pytest.mark.valgrind
def test_a_function_that_cannot_be_stopped_at_is_timed_by_samples(compiled):
    """It leaves by longjmp; its time is that of `inner` inside, 9 of 15 million steps."""
    told = measure_program(
        (compiled("stays.c", "-O1"), "jump", "9"),
        meter=EngineMeter(simulate=False, function="work"),
        output="discard",
    )

    assert "function-sampled" in {caution.code for caution in told.all_cautions}
    low, high = told.timed.runtime_s.low, told.timed.runtime_s.high
    assert low < told.timed.runtime_s.median < high
    assert told.timed.cpu_s.median == pytest.approx(told.whole.cpu_s.median * 9 / 15, rel=0.3)
