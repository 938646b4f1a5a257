"""Faults and signals: what did not run is not counted; the sums are in tests/programs/faults.c."""

import pytest

pytestmark = pytest.mark.valgrind

TIMES = 1000
BOTH = pytest.mark.parametrize("simulated", [False, True], ids=["counts", "caches"])


@pytest.fixture
def faults(compiled, counted, small_caches):
    """Count tests/programs/faults.c in a mode."""

    def count(mode, n=TIMES, *, simulated, options=("-O2",)):
        caches = small_caches if simulated else None
        return counted(compiled("faults.c", *options), mode, n, caches=caches)

    return count


@BOTH
@pytest.mark.parametrize("options", [("-O2",), ("-O2", "-static"), ("-O2", "-g")], ids=" ".join)
@pytest.mark.parametrize("mode", ["load", "store", "misaligned", "divide"])
def test_what_follows_a_fault_is_not_counted(mode, simulated, options, faults, of_function):
    """Of 3 additions, a fault and 5 multiplications only the additions ran."""
    result = of_function(faults(mode, simulated=simulated, options=options), mode)

    assert result.counts.work == {"fp64": 3 * TIMES}
    assert (result.counts.loads, result.counts.stores) == (0, 0)


@BOTH
def test_code_that_is_entered_in_two_places_counts_from_each(simulated, faults):
    """Half of the entries skip two of the three additions."""
    result = faults("late", simulated=simulated)

    assert result.counts.work == {"fp64": TIMES // 2 * 3 + TIMES // 2 * 1}


@BOTH
def test_a_handler_that_goes_on_loses_nothing(simulated, faults, of_function):
    """Before and after the fault everything ran once."""
    result = of_function(faults("resume", simulated=simulated), "load")

    assert result.counts.work == {"fp64": (3 + 5) * TIMES}


@BOTH
@pytest.mark.parametrize(("mode", "instructions", "stored"), [("copy", 4, 16), ("scan", 5, 0)])
def test_a_repeated_instruction_that_fails_counts_once_and_the_bytes_that_it_had_done(
    mode, instructions, stored, simulated, faults, of_function
):
    """16 of 64 bytes are there."""
    result = of_function(faults(mode, simulated=simulated), mode).counts

    assert result.work == {"fp64": 3 * TIMES}
    assert result.instructions == instructions * TIMES
    assert (result.load_bytes, result.store_bytes) == (16 * TIMES, stored * TIMES)


@BOTH
def test_raised_faults_take_nothing_away(simulated, faults, of_function):
    """A signal that the program sends itself interrupts no instruction."""
    result = of_function(faults("raise", 100, simulated=simulated), "busy")

    assert result.counts.work == {"fp64": (3 + 5) * 100}


@BOTH
def test_overflows_of_the_stack_end_in_a_handler_on_its_own(simulated, faults):
    """The program survives them, and so do the counts."""
    assert faults("overflow", 3, simulated=simulated).partial is None


@BOTH
def test_a_storm_of_timer_signals_counts_exactly(
    simulated, printed, compiled, small_caches, of_function
):
    """7 additions per signal, however many come; the interrupted work is as without them."""
    caches = small_caches if simulated else None
    said, result = printed(compiled("faults.c", "-O2"), "alarms", 3_000_000, caches=caches)

    assert int(said) > 0
    assert of_function(result, "count_alarm").counts.work == {"fp64": 7 * int(said)}
    assert of_function(result, "busy").counts.work == {"fp64": 3_000_000}
