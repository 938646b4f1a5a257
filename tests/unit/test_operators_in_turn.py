"""Plain runs of a program of this process, and runs with timed operators, in turn."""

import time

import pytest

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.profiling.operators.options import Options
from ridgepoint.profiling.operators.repeating import timed_in_turn, warm_up


def test_each_sample_of_plain_runs_is_followed_by_a_run_with_timed_operators():
    """So that a machine that becomes slower meanwhile slows both down."""
    log = []

    def run():
        log.append("p")
        time.sleep(0.05)

    def attached():
        log.append("a")
        return log.count("a")

    timed = timed_in_turn(run, attached, Options(name="f", repetitions=3))

    assert "".join(log) == "p" + "pa" * 3  # the first tells how long a sample is
    assert timed.runtime_s.n == 3


def test_runs_that_did_not_count_are_made_up_for():
    """As where the first ones were timed in a way that failed."""
    made = []

    def attached():
        made.append(1)
        return max(len(made) - 2, 0)

    timed_in_turn(lambda: time.sleep(0.05), attached, Options(name="f", repetitions=3))

    assert len(made) == 5


def test_three_runs_with_timed_operators_are_made_whatever_the_time_limit():
    """And no more, where one takes longer than all of them may."""
    made = []

    def attached():
        time.sleep(0.05)
        made.append(1)
        return len(made)

    options = Options(name="f", repetitions=6, limit_s=0.1)
    timed_in_turn(lambda: time.sleep(0.001), attached, options)

    assert len(made) == 3


def test_a_program_that_fails_only_with_timed_operators_is_refused():
    """The message names its exception."""

    def attached():
        raise MemoryError("no")

    with pytest.raises(CannotMeasure, match="MemoryError: no; use a smaller batch"):
        timed_in_turn(lambda: None, attached, Options(name="f", repetitions=2))


def test_a_run_that_takes_longer_than_the_limit_is_refused():
    """Before any run counts."""
    with pytest.raises(CannotMeasure, match=r"all runs together may take 0\.01 s"):
        warm_up(lambda: time.sleep(0.02), Options(name="f", limit_s=0.01))
