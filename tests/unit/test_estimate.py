import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.estimate import Estimate

samples = st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("n", "rank"),
    # The ranks of the tables for the sign test's interval of a median, 95 %.
    [(6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (15, 4), (17, 5), (20, 6), (25, 8), (30, 10)],
)
def test_the_interval_has_the_ranks_of_the_tables(n, rank):
    """The ends of the interval are the order statistics that the statistical tables give."""
    estimate = Estimate(range(1, n + 1))

    assert (estimate.low, estimate.high) == (rank, n + 1 - rank)


@pytest.mark.parametrize("n", [6, 9, 12])
def test_the_interval_covers_the_median_in_95_percent_of_all_outcomes(n):
    """Every way in which n samples can fall below or above the true median 0, counted out."""
    outcomes = [Estimate(signs) for signs in itertools.product((-1.0, 1.0), repeat=n)]
    covering = sum(estimate.low <= 0 <= estimate.high for estimate in outcomes)

    assert 0.95 <= covering / 2**n < 0.98


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_samples_have_no_interval(n):
    """Fewer than six samples cannot hold the median with 95 %: the ends are unknown, not equal."""
    estimate = Estimate(range(n))

    assert (estimate.low, estimate.high, estimate.relative_spread) == (None, None, None)


@given(samples)
def test_the_statistics_are_numpys(values):
    """Median and quartiles are those of another implementation."""
    estimate = Estimate(values)
    q1, median, q3 = np.percentile(values, [25, 50, 75])

    assert [estimate.q1, estimate.median, estimate.q3] == pytest.approx(
        [q1, median, q3], rel=1e-12, abs=1e-9
    )


@given(samples)
def test_the_statistics_are_in_order(values):
    """The interval and the quartiles hold the median, and the samples hold all of them."""
    estimate = Estimate(values)
    low = min(values) if estimate.low is None else estimate.low
    high = max(values) if estimate.high is None else estimate.high

    assert min(values) <= low <= estimate.median <= high <= max(values)
    assert min(values) <= estimate.q1 <= estimate.q3 <= max(values)


def test_the_spread_is_the_interval_over_the_median():
    """Ten samples 1 to 10: the interval is 2 to 9 and the median 5.5."""
    assert Estimate(range(1, 11)).relative_spread == pytest.approx(7 / 5.5)


def test_samples_keep_their_order_and_are_mapped_one_by_one():
    """Raw samples are kept as they were taken."""
    estimate = Estimate([4.0, 1.0, 2.0])

    assert estimate.map(lambda t: 8 / t).samples == (2.0, 8.0, 4.0)


def test_an_estimate_is_a_value():
    """It compares and hashes by its samples, cannot be set, and survives pickling."""
    estimate = Estimate([1.0, 2.0])

    assert estimate == Estimate([1, 2])
    assert hash(estimate) == hash(Estimate([1, 2]))
    assert pickle.loads(pickle.dumps(estimate)) == estimate
    with pytest.raises(AttributeError):
        estimate.samples = (3.0,)


@pytest.mark.parametrize("values", [[], [float("nan")], [1.0, float("inf")]])
def test_nothing_and_non_numbers_are_refused(values):
    """No sample, NaN and infinity are no measurement."""
    with pytest.raises(ValueError, match="samples must"):
        Estimate(values)


def test_interval_of_batches_shows_a_drift_that_samples_hide():
    """Twenty-four samples that rise from 1 to 24: six batches of four, medians 2.5, 6.5 ... 22.5.

    Taken as independent, the 7th and the 18th of 24 hold the median.
    """
    rising = [float(i) for i in range(1, 25)]
    batched = Estimate(rising, batches=6)

    assert (batched.low, batched.high) == (2.5, 22.5)
    assert (Estimate(rising).low, Estimate(rising).high) == (7.0, 18.0)
    assert batched.median == Estimate(rising).median == 12.5
    assert batched.map(lambda value: 2 * value) == Estimate([2 * r for r in rising], batches=6)


def test_fewer_samples_than_batches_are_a_batch_each():
    """Six of eight: least and greatest. Five: none."""
    few = Estimate([3.0, 1.0, 2.0, 6.0, 5.0, 4.0], batches=8)

    assert (few.low, few.high) == (1.0, 6.0)
    assert Estimate([1.0] * 5, batches=8).low is None


def test_batches_are_whole():
    """No batch is no interval."""
    with pytest.raises(ValueError, match="batches"):
        Estimate([1.0], batches=0)


def test_stated_interval_stands_for_more_than_the_samples():
    """It is kept through functions, falling ones too, and must hold the median."""
    stated = Estimate([4.0, 5.0, 6.0], interval=(2.0, 10.0))

    assert (stated.low, stated.high) == (2.0, 10.0)
    assert stated.map(lambda value: 20 / value).interval == (2.0, 10.0)
    assert stated != Estimate([4.0, 5.0, 6.0])
    assert pickle.loads(pickle.dumps(stated)) == stated
    with pytest.raises(ValueError, match="hold the median"):
        Estimate([4.0, 5.0, 6.0], interval=(5.5, 6.0))
