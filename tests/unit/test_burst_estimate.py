"""Estimates from bursts: means, intervals, and what is not known."""

import numpy as np
import pytest

from ridgepoint.models.caches.burst_estimate import Interval, Moved, estimate

PARTS = 8
WORDS = 800.0


def burst(rate, *, too_many=0.0, too_few=0.0, until=PARTS):
    """Return a burst that moves so many lines per word, with doubts up to one of its parts."""
    words = np.linspace(0.0, WORDS, PARTS + 1)
    doubted = np.minimum(words, WORDS * until / PARTS)
    return Moved(
        words=words, lines=rate * words, too_many=too_many * doubted, too_few=too_few * doubted
    )


def estimated(bursts, *, words=1e6, weights=None, **options):
    """Return the estimate; all bursts weigh the same unless something else is said."""
    return estimate(bursts, weights=weights or [1.0] * len(bursts), words=words, **options)


def test_what_always_happens_is_known():
    """All bursts say the same, so the interval has no width."""
    found = estimated([burst(0.25)] * 6, before=100.0)

    assert found.value == pytest.approx(250_100)
    assert (found.low, found.high) == pytest.approx((250_100, 250_100))


def test_few_bursts_say_nothing():
    """Of fewer than five nobody knows how much they differ; of none nothing."""
    assert estimated([burst(0.25)] * 4) is None
    assert estimated([]) is None


def test_what_was_seen_completely_is_as_it_was():
    """A program that ended in its first burst."""
    assert estimated([], words=0.0, before=7.0) == Interval(value=7.0, low=7.0, high=7.0)


def test_bursts_weigh_what_they_stand_for():
    """Some stand for twice as much; those of unknown weight for as much as others."""
    bursts = [burst(0.1)] * 3 + [burst(0.4)] * 3
    found = estimated(bursts, weights=[1.0] * 3 + [2.0] * 3)

    assert found.value == pytest.approx(0.3e6)
    alike = estimated([burst(0.1), burst(0.4)] * 3, weights=[2.0, 0.0] * 3)
    assert alike.value == pytest.approx(0.25e6)


def test_what_may_not_have_happened_is_the_interval():
    """At one end all doubtful lines were there, at the other none; those missed add to it."""
    found = estimated([burst(0.3, too_many=0.1, too_few=0.2)] * 6)

    assert found.value == pytest.approx(0.3e6)
    assert (found.low, found.high) == pytest.approx((0.2e6, 0.5e6))


def test_doubts_that_end_are_left_behind():
    """From the part on in which everything is known, the rest of a burst tells."""
    found = estimated([burst(0.3, too_many=0.3, until=2)] * 6)

    assert (found.low, found.high) == pytest.approx((0.3e6, 0.3e6))


def test_what_cannot_be_exceeded_cuts_the_interval():
    """Of data that fit into a cache each line is read once."""
    found = estimated([burst(0.3, too_few=0.3)] * 6, most=1000.0)

    assert (found.value, found.high) == (1000.0, 1000.0)


def test_what_nobody_saw_may_have_moved():
    """Memory that may have been touched for the first time between bursts."""
    found = estimated([burst(0.0)] * 6, unseen=5000.0)

    assert (found.value, found.low, found.high) == (0.0, 0.0, 5000.0)


@pytest.mark.parametrize("n", [5, 8, 20])
def test_intervals_hold_as_often_as_they_say(n):
    """Bursts of rates that differ: 95 of 100 intervals hold the true mean, but for a few."""
    generator = np.random.default_rng(n)
    held = 0
    for trial in range(200):
        bursts = [burst(rate) for rate in generator.normal(0.5, 0.1, n)]
        held += estimated(bursts, seed=trial).holds(0.5e6)

    assert held >= 180
