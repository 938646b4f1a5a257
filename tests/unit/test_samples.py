"""Which samples say what a machine can do."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.ceilings.cautions import of_clock
from ridgepoint.ceilings.samples import Sample, judge


def samples(*rates, waited=0.0):
    """Return samples of these rates."""
    return [Sample(rate=rate, waited=waited) for rate in rates]


QUIET = samples(100, 101, 99, 100, 100.5, 99.5, 100, 101, 99, 100, 100, 99.7, 100.2, 100.1)


def test_planted_outlier_does_not_move_the_result_and_is_reported():
    """One sample at 40 % among fourteen near 100."""
    judged = judge([*QUIET[:7], Sample(rate=40.0), *QUIET[7:]])

    assert judged.undisturbed == judge(QUIET).undisturbed
    assert judged.disturbed == (40.0,)
    (caution,) = judged.cautions
    assert caution.code == "disturbed"
    assert "1 of 15 samples" in caution.seen
    assert "40%" in caution.seen


def test_quiet_samples_are_all_kept_and_settle_the_ceiling():
    """Fourteen within 2 %: nothing to doubt."""
    judged = judge(QUIET)

    assert judged.undisturbed.samples == tuple(sample.rate for sample in QUIET)
    assert judged.cautions == ()
    assert judged.is_settled


def test_one_sample_that_is_too_fast_does_not_raise_the_ceiling():
    """A clock that jumps makes one of fifteen samples half as long, not the machine faster."""
    judged = judge([*QUIET, Sample(rate=200.0)])

    assert judged.undisturbed == judge(QUIET).undisturbed
    assert judged.disturbed == (200.0,)


def test_preempted_samples_are_left_out_however_fast():
    """A thread that did not run for 2 % of the time says nothing."""
    judged = judge([*QUIET, Sample(rate=100.0, waited=0.02)])

    assert judged.interrupted == 1
    assert judged.disturbed == (100.0,)


def test_most_samples_may_be_disturbed_and_the_rest_still_count():
    """A neighbour halves two thirds of the samples: what was reached is what counts."""
    judged = judge(samples(*[50.0] * 10, *[100.0] * 5))

    assert judged.undisturbed.median == 100.0
    assert not judged.is_settled  # five are too few to settle it
    assert {caution.code for caution in judged.cautions} == {"disturbed", "unstable"}


def test_samples_that_were_all_preempted_are_all_that_is_known():
    """A loaded machine has a rate too; that it was preempted is not a reason to have none."""
    judged = judge(samples(10.0, 10.1, 9.9, waited=0.5))

    assert judged.undisturbed.n == 3
    assert judged.disturbed == ()


def test_wide_interval_is_unstable():
    """Rates that spread over 9 % without an outlier."""
    judged = judge(samples(*[100.0 - i for i in range(10)]))

    assert [caution.code for caution in judged.cautions] == ["unstable"]
    assert not judged.is_settled


@given(st.lists(st.floats(1.0, 1e12), min_size=1, max_size=40))
def test_no_sample_is_lost_or_made_up(rates):
    """Those that count and those that do not are all that there were."""
    judged = judge(samples(*rates))

    assert sorted([*judged.undisturbed.samples, *judged.disturbed]) == sorted(rates)


@pytest.mark.parametrize("rate", [1.0, 1e12])
def test_single_sample_counts(rate):
    """There is nothing to compare it with."""
    assert judge(samples(rate)).undisturbed.samples == (rate,)


def test_clock_of_which_one_sample_was_undisturbed_is_no_error():
    """On a loaded machine there may be no more; two that differ by a third are doubted."""
    assert list(of_clock([3e9])) == []
    assert [caution.code for caution in of_clock([3e9, 4e9])] == ["frequency-moved"]


def test_sample_of_another_clock_is_left_out_and_said():
    """One of fifteen ran at 3.0 instead of 3.6 GHz, and 17 % slower for it."""
    steady = [replace(sample, frequency_hz=3.6e9) for sample in QUIET]
    judged = judge([*steady[:5], Sample(rate=95.0, frequency_hz=3.0e9), *steady[5:]])

    assert judged.disturbed == (95.0,)
    assert (judged.interrupted, judged.moved) == (0, 1)
    assert judged.frequency_hz == 3.6e9
    assert "1 with another core clock" in judged.cautions[0].seen


def test_sample_of_a_thread_that_moved_to_another_cpu_is_left_out():
    """Its caches were cold."""
    judged = judge([*QUIET, Sample(rate=100.0, migrated=True)])

    assert (judged.interrupted, judged.disturbed) == (1, (100.0,))


def test_shared_cores_do_not_count_where_sharing_slows_down():
    """Of twenty-five samples nineteen had a neighbour on the core's other hardware thread."""
    alone = [Sample(rate=rate, issue=1.0) for rate in (100, 101, 99, 100, 100.5, 99.5)]
    shared = [Sample(rate=65.0 + i / 10, issue=0.7) for i in range(19)]
    judged = judge([*shared[:10], *alone, *shared[10:]])

    assert judged.undisturbed.samples == tuple(sample.rate for sample in alone)
    assert (judged.shared, judged.alone) == (19, 6)
    assert "19 on a shared core" in judged.cautions[0].seen
    assert not judged.is_settled  # six are too few


def test_shared_cores_count_where_sharing_does_no_harm():
    """Main memory is no faster for a core of one's own."""
    mixed = [Sample(rate=sample.rate, issue=0.7 + 0.3 * (i % 2)) for i, sample in enumerate(QUIET)]
    judged = judge(mixed)

    assert judged.undisturbed == judge(QUIET).undisturbed
    assert (judged.disturbed, judged.shared, judged.alone) == ((), 0, 7)
    assert judged.is_settled


def test_ceiling_that_never_had_its_cores_to_itself_says_so():
    """All samples alike: nothing else would show it."""
    judged = judge([Sample(rate=sample.rate, issue=0.7) for sample in QUIET])

    assert [caution.code for caution in judged.cautions] == ["shared-core"]
    assert "0 of 14 samples" in judged.cautions[0].seen
    assert not judged.is_settled


def test_what_reaches_theory_is_held_up_by_nobody():
    """100 of 3.6 GHz x 28 = 100.8 a second, on cores that were always shared."""
    samples = [Sample(rate=s.rate, issue=0.7, frequency_hz=3.6) for s in QUIET]

    assert judge(samples, per_cycle=28).attained == pytest.approx(0.992, abs=1e-3)
    assert judge(samples, per_cycle=28).is_settled
    assert judge(samples, per_cycle=28).cautions == ()
    assert not judge(samples, per_cycle=56).is_settled
    assert judge(samples).attained is None


def test_interval_reaches_over_what_was_left_out_where_that_is_much():
    """Six of sixteen at 100, ten at 60: the machine may give either for long."""
    slow = samples(*[60.0 + i / 10 for i in range(10)])
    rate = judge([*slow[:5], *QUIET[:6], *slow[5:]]).undisturbed

    assert rate.median == pytest.approx(100, abs=1)
    assert rate.low == 60.1  # one of the sixteen is slower
    assert rate.high == 101  # of those that count, too
    assert judge([*slow[:2], *QUIET]).undisturbed == judge(QUIET).undisturbed


def test_interrupted_samples_are_no_reason_for_a_wide_interval():
    """That they were left out is no riddle."""
    rate = judge([*samples(*[60.0] * 20, waited=0.5), *QUIET]).undisturbed

    assert rate == judge(QUIET).undisturbed
