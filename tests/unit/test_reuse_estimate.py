"""Estimates from bursts, against a cache that sees everything."""

import numpy as np
import pytest

from ridgepoint.models.reuse_estimate import Burst, Interval, Sets, estimate

N = 60_000
CACHE = Sets(n_sets=16, ways=4)


def moved(lines, writes, cache=CACHE):
    """Return lines read and written by a cache, one access after the other."""
    sets: dict[int, dict[int, bool]] = {}
    read = written = 0
    for line, write in zip(lines.tolist(), writes.tolist(), strict=True):
        held = sets.setdefault(line % cache.n_sets, {})
        dirty = held.pop(line, None)
        if dirty is None:
            read += 1
            if len(held) == cache.ways:
                written += held.pop(next(iter(held)))
        held[line] = bool(dirty) or write
    return read, written


def estimated(lines, writes, *, n_bursts=30, length=1000, cache=CACHE, most_lines=None, seed=1):
    """Return the estimate from bursts at random places."""
    begins = np.random.default_rng(seed).integers(0, len(lines) - length, n_bursts)
    bursts = [
        Burst(lines=lines[at : at + length], writes=writes[at : at + length])
        for at in begins.tolist()
    ]
    (found,) = estimate(bursts, accesses=len(lines), caches=[cache], most_lines=most_lines)
    return found


def written(n=N, share=0.3, seed=2):
    """Return which accesses write."""
    return np.random.default_rng(seed).random(n) < share


RNG = np.random.default_rng(0)
TRACES = {
    "anywhere": RNG.integers(0, 200, N),
    "mostly near": RNG.geometric(0.03, N),
    "in cycles": np.arange(N) % 100,
    "line by line": np.arange(N) // 8 % 150,
    "crowded": 16 * RNG.integers(0, 6, N),
    "one thing, then another": np.where(
        np.arange(N) // 150 % 2, np.arange(N) % 7, 500 + RNG.integers(0, 300, N)
    ),
}


@pytest.mark.parametrize("name", TRACES)
def test_what_a_cache_moves_is_in_the_interval(name):
    """Within 10 % of it, which so many bursts give."""
    lines, writes = TRACES[name], written()
    read, back = moved(lines, writes)
    found = estimated(lines, writes)

    assert found.unknown < 0.01
    for interval, truth in ((found.read_lines, read), (found.write_lines, back)):
        assert interval.low * 0.98 <= truth <= interval.high * 1.02
        assert interval.middle == pytest.approx(truth, rel=0.1)


def test_what_fits_is_read_once():
    """The bursts see no miss; what was new may have been missed before any of them."""
    lines, writes = np.arange(N) % 40, written()
    read, back = moved(lines, writes)
    found = estimated(lines, writes, most_lines=64)

    assert (read, back) == (40, 0)
    assert found.read_lines.holds(read)
    assert found.read_lines.high < 0.01 * N
    assert found.write_lines.holds(back)


def test_bursts_that_are_too_short_say_so():
    """A hundred touches of a cycle of 5000 tell nothing of a cache of 4096 lines."""
    lines, writes, cache = np.arange(N) % 5000, written(), Sets(n_sets=256, ways=16)
    read, back = moved(lines, writes, cache)
    found = estimated(lines, writes, length=100, cache=cache)

    assert found.unknown > 0.5
    assert found.read_lines.holds(read)
    assert found.write_lines.holds(back)
    assert not found.read_lines.is_known


def test_intervals_hold_what_they_say_nineteen_times_of_twenty():
    """Of a program that does many things for a while each: bursts differ."""
    rng = np.random.default_rng(3)
    pieces = [rng.integers(0, rng.integers(30, 400), 300) for _ in range(N // 300)]
    lines, writes = np.concatenate(pieces), written()
    read, _ = moved(lines, writes)
    found = [estimated(lines, writes, n_bursts=20, length=600, seed=n) for n in range(40)]

    assert sum(one.read_lines.holds(read) for one in found) >= 36


def test_an_interval_is_known_within_a_tenth():
    """Of its middle, to both sides."""
    assert Interval(low=90, high=110).is_known
    assert not Interval(low=89, high=111).is_known
    assert Interval(low=0, high=0).is_known


def test_few_bursts_are_refused():
    """They say nothing of how much they differ."""
    burst = Burst(lines=np.arange(10), writes=np.zeros(10, np.bool_))
    with pytest.raises(ValueError, match="at least 8 bursts are needed, got 7"):
        estimate([burst] * 7, accesses=100, caches=[CACHE])
