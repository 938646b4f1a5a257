"""Times of a pattern over sizes of messages: how often, how many samples, when to stop.

All ends decide alike without a word: each decision follows from times that all have agreed on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ridgepoint.cluster.channel import Floats, Messages
from ridgepoint.cluster.patterns import Operation

_GROWTH = 16
_MOST_REPEATS = 1 << 16

_CHANCES = 2
_LATENCY_BYTES = 1 << 15

_FEWEST_AT_ALL = 3
_OVERDRAWN = 2.0
"""Times the budget from which on so few samples do."""

_FEWEST_QUIET = 6
"""Samples without which a median has no interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long a pattern is measured.

    Parameters
    ----------
    sample_s : float
        Time of one sample, at least: a pattern is repeated as often as that takes.
    fewest, most : int
        Samples of each size: one in every round through all sizes.
    budget_s : float
        For all sizes together; where `fewest` samples of a size would take longer, it and all
        larger ones are left out.
    """

    sample_s: float
    fewest: int
    most: int
    budget_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Times of one operation, s.

    Parameters
    ----------
    times_s : tuple of float
        Those that count.
    disturbed_s : tuple of float
        Left out, since another process took a rank's core meanwhile.
    """

    times_s: tuple[float, ...]
    disturbed_s: tuple[float, ...] = ()


@dataclass(slots=True, kw_only=True)
class Trial:
    """One size under way."""

    size: int
    operate: Operation
    count: int
    took_s: float


def sweep(
    channel: Messages,
    make: Callable[[int], Operation],
    sizes: Sequence[int],
    effort: Effort,
) -> dict[int, Samples]:
    """Return the times of one operation for each size: those of the slowest end.

    Parameters
    ----------
    channel : Messages
        Channel whose ends all call this function at once.
    make : callable
        Returns the pattern for a size.
    sizes : sequence of int
        Byte, ascending.
    effort : Effort
    """
    trials: list[Trial] = []
    spent_s = 0.0
    for size in sizes:
        if trials and (spent_s + _expected_s(trials, size)) * effort.fewest > effort.budget_s:
            break
        trial = calibrated(channel, make(size), size, sample_s=effort.sample_s)
        trials.append(trial)
        spent_s += trial.took_s
    rounds: list[Floats] = []
    spent_s = 0.0
    while len(rounds) < effort.most and not _is_enough(len(rounds), spent_s, effort):
        # From small to large: what a shaper of traffic lets pass at once after a pause is used up
        # before the sizes come that are to show what it lets pass in the long run.
        own = [timed(channel, trial.operate, trial.count, len(rounds)) for trial in trials]
        agreed = channel.most(np.array(own).ravel()).reshape(len(trials), 2)
        spent_s += float(agreed[:, 0].sum())
        rounds.append(agreed / np.array([[trial.count, 1] for trial in trials]))
    return {
        trial.size: parted([(float(time_s), bool(held)) for time_s, held in of_size])
        for trial, of_size in zip(trials, np.array(rounds).transpose(1, 0, 2), strict=True)
    }


def _expected_s(trials: Sequence[Trial], size: int) -> float:
    """Return what one message of a size will take by those of smaller sizes, s."""
    last = trials[-1]
    last_s, growth = last.took_s / last.count, size / max(last.size, 1)
    if last.size >= _LATENCY_BYTES:
        return last_s * growth
    # Of a small message, what is above the fastest may be for its size, the rest is latency. Ranks
    # that share a core have milliseconds of it.
    latency_s = min(trial.took_s / trial.count for trial in trials)
    return latency_s + (last_s - latency_s) * growth


def parted(samples: Sequence[tuple[float, bool]]) -> Samples:
    """Return samples, and apart those during which another process took a rank's core.

    Parameters
    ----------
    samples : sequence of (float, bool)
        Time, and whether that happened. Where it hardly ever did not, it is what this host is
        like, and all count.
    """
    quiet = tuple(time_s for time_s, held in samples if not held)
    if len(quiet) < _FEWEST_QUIET:
        return Samples(times_s=tuple(time_s for time_s, _ in samples))
    return Samples(times_s=quiet, disturbed_s=tuple(time_s for time_s, held in samples if held))


def _is_enough(rounds: int, spent_s: float, effort: Effort) -> bool:
    """Return whether samples of so many rounds do: on a busy host they take far longer."""
    if rounds >= effort.fewest:
        return spent_s >= effort.budget_s
    return rounds >= _FEWEST_AT_ALL and spent_s >= _OVERDRAWN * effort.budget_s


def calibrated(channel: Messages, operate: Operation, size: int, *, sample_s: float) -> Trial:
    """Return how often a pattern must be repeated to last as long as a sample should.

    What is done the first time, connections above all, is not timed.
    """
    operate(1, 0)
    count = 1
    while True:
        took_s = _once(channel, operate, count)
        for _ in range(_CHANCES):
            if took_s >= sample_s:  # an interrupt may have made it long
                took_s = min(took_s, _once(channel, operate, count))
        if took_s >= sample_s or count >= _MOST_REPEATS:
            return Trial(size=size, operate=operate, count=count, took_s=took_s)
        wanted = int(count * sample_s / took_s * 1.2) + 1
        count = min(max(wanted, 2 * count), _GROWTH * count, _MOST_REPEATS)


def _once(channel: Messages, operate: Operation, count: int) -> float:
    """Return the time that the slowest end needs once, s."""
    return float(channel.most(np.array(timed(channel, operate, count, 0)))[0])


def timed(channel: Messages, operate: Operation, count: int, number: int) -> tuple[float, float]:
    """Return the time of one sample at this end, s, and how often its core was taken from it."""
    channel.barrier()
    before = channel.interruptions()
    begin_s = channel.now()
    operate(count, number)
    took_s = channel.now() - begin_s
    return max(
        took_s, 1e-9
    ), channel.interruptions() - before  # a clock's tick, so that rates are finite
