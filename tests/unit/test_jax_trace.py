"""Times of instructions from events, by hand."""

import pytest

from ridgepoint.profiling.operators.xla.trace import Event, run_of

NS = 1e-9


def test_a_loop_has_the_time_that_its_instructions_leave():
    """Of 100 ns, 30 and 40 are in two rounds of a kernel, and 30 in neither."""
    events = [Event("while", 0, 100), Event("dot", 10, 40), Event("dot", 50, 90)]

    run = run_of(events, 1.0, {"while"})

    assert run.time_s["dot"] == pytest.approx(70 * NS)
    assert run.time_s["while"] == pytest.approx(30 * NS)
    assert run.times == {"while": 1, "dot": 2}
    assert run.busy_s == pytest.approx(70 * NS)


def test_loops_in_loops_share_out_all_the_time():
    """The outer loop, two rounds of the inner one, and their kernels add up to the whole."""
    events = [
        Event("outer", 0, 100),
        Event("inner", 10, 40),
        Event("a", 20, 30),
        Event("inner", 50, 90),
        Event("a", 50, 60),
        Event("b", 92, 97),
    ]

    run = run_of(events, 1.0, {"outer", "inner"})

    assert run.time_s["inner"] == pytest.approx(50 * NS)
    assert run.time_s["a"] == pytest.approx(20 * NS)
    assert run.time_s["outer"] == pytest.approx(25 * NS)
    assert sum(run.time_s.values()) == pytest.approx(100 * NS)


def test_kernels_at_the_same_time_have_their_own_time_each():
    """Two kernels on two threads: 60 and 50 ns, in 80 ns together."""
    run = run_of([Event("a", 0, 60), Event("b", 30, 80)], 1.0, ())

    assert run.time_s == {"a": pytest.approx(60 * NS), "b": pytest.approx(50 * NS)}
    assert run.busy_s == pytest.approx(80 * NS)


def test_a_run_without_events_has_none():
    """Nothing was seen."""
    assert run_of([], 1.0, ()).busy_s == 0
