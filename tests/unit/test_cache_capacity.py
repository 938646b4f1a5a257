import itertools
import random
from collections import OrderedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgepoint.core.cache_capacity import Capacity, LatencyCurve
from ridgepoint.core.machine import Cache
from ridgepoint.models.caches.capacity import caches_here, capacity_ends, contradictions
from ridgepoint.models.caches.capacity_fit import expected_latency, fit_capacities

KIB, MIB = 1 << 10, 1 << 20


def cache(level, size_bytes, *, ways=16, cores=1):
    """Return a data cache."""
    kind = "data" if level == 1 else "unified"
    return Cache(
        level=level, kind=kind, size_bytes=size_bytes, line_bytes=64, ways=ways, cores=cores
    )


def capacity(level, size_bytes, *, low=None, high=None, threads=1):
    """Return a measured capacity."""
    return Capacity(
        level=level,
        threads=threads,
        size_bytes=size_bytes,
        low_bytes=low or size_bytes,
        high_bytes=high or size_bytes,
        latency_s=1e-9,
    )


class Lru:
    """A fully associative cache that replaces what was not used for longest."""

    def __init__(self, lines):
        self._lines, self._held = lines, OrderedDict()

    def access(self, line):
        """Return whether it is held, and what had to go for it."""
        if line in self._held:
            self._held.move_to_end(line)
            return True, None
        self._held[line] = True
        return False, self._held.popitem(last=False)[0] if len(self._held) > self._lines else None


class AtRandom:
    """A fully associative cache that replaces any line."""

    def __init__(self, lines, rng):
        self._lines, self._rng = lines, rng
        self._held, self._order = {}, []

    def access(self, line):
        """Return whether it is held, and what had to go for it."""
        if line in self._held:
            return True, None
        if len(self._order) < self._lines:
            self._held[line] = len(self._order)
            self._order.append(line)
            return False, None
        at = self._rng.randrange(self._lines)
        gone = self._order[at]
        del self._held[gone]
        self._held[line], self._order[at] = at, line
        return False, gone

    def remove(self, line):
        """Take a line out, if it is held; return whether it was."""
        at = self._held.pop(line, None)
        if at is None:
            return False
        last = self._order.pop()
        if last != line:
            self._order[at] = last
            self._held[last] = at
        return True

    def insert(self, line):
        """Put a line in."""
        self.access(line)


def simulated_curve(policy, sizes, *, rng):
    """Return the time per access of two levels of 64 and 512 lines over sets of these lines.

    1 ns, 5 ns and 50 ns: one access after the other, each to any line of the set.
    """
    times = []
    for lines in sizes:
        small = AtRandom(64, rng) if policy != "lru" else Lru(64)
        large = AtRandom(512, rng) if policy != "lru" else Lru(512)
        total, counted = 0.0, 0
        for number in range(12_000):
            line = rng.randrange(lines)
            time = one_access(policy, small, large, line)
            if number >= 4_000:
                total, counted = total + time, counted + 1
        times.append(total / counted * 1e-9)
    return times


def one_access(policy, small, large, line):
    """Return the time of one access [ns]."""
    hit, gone = small.access(line)
    if hit:
        return 1.0
    if policy == "victim":
        # What leaves the small one goes to the large one; what is found there moves back.
        found = large.remove(line)
        if gone is not None:
            large.insert(gone)
        return 5.0 if found else 50.0
    return 5.0 if large.access(line)[0] else 50.0


@pytest.mark.parametrize(
    ("policy", "knees"), [("lru", (64, 512)), ("random", (64, 512)), ("victim", (64, 576))]
)
def test_capacities_are_those_of_simulated_caches_whatever_they_replace(policy, knees):
    """A victim cache adds to what the level within it holds: 64 and 512 lines are 576."""
    rng = random.Random(7)
    sizes = [round(32 * 2 ** (step / 4)) for step in range(33)]
    rounds = [simulated_curve(policy, sizes, rng=rng) for _ in range(2)]
    curve = LatencyCurve(
        threads=1,
        sizes_bytes=tuple(64 * size for size in sizes),
        rounds_s=tuple(map(tuple, rounds)),
    )

    found = fit_capacities(curve, stated=[cache(1, 4 * KIB), cache(2, 32 * KIB)], sharers={})

    assert [each.size_bytes / 64 for each in found] == pytest.approx(knees, rel=0.12)
    assert [each.latency_s for each in found] == pytest.approx([1e-9, 5e-9], rel=0.15)


def test_latency_of_a_set_by_hand():
    """3 MiB over caches of 1 MiB (1 ns) and 2 MiB in all (4 ns), memory 10 ns: (1 + 4 + 10)/3."""
    found = expected_latency(
        [512 * KIB, 3 * MIB], capacities_bytes=[MIB, 2 * MIB], latencies_s=[1e-9, 4e-9, 10e-9]
    )

    assert list(found) == pytest.approx([1e-9, 5e-9])


SIZES = tuple(int(16 * KIB * 2 ** (step / 4)) for step in range(60))


@given(
    l1=st.floats(24 * KIB, 64 * KIB),
    l2=st.floats(512 * KIB, 2 * MIB),
    l3=st.floats(4 * MIB, 128 * MIB),
    noise=st.integers(0, 2**31),
)
@settings(max_examples=10, deadline=None)
def test_knees_of_a_noisy_curve_are_found_wherever_they_are(l1, l2, l3, noise):
    """With 3 % of noise, where the system says 48 KiB, 2 MiB and 480 MiB."""
    rng = random.Random(noise)
    clean = expected_latency(
        SIZES, capacities_bytes=[l1, l2, l3], latencies_s=[1.5e-9, 5e-9, 40e-9, 150e-9]
    )
    rounds = [tuple(t * rng.uniform(0.97, 1.03) for t in clean) for _ in range(5)]
    curve = LatencyCurve(threads=1, sizes_bytes=SIZES, rounds_s=tuple(rounds))

    found = fit_capacities(
        curve, stated=[cache(1, 48 * KIB), cache(2, 2 * MIB), cache(3, 480 * MIB)], sharers={3: 2}
    )

    assert [each.level for each in found] == [1, 2, 3]
    assert [each.each_bytes for each in found] == pytest.approx([l1, l2, l3], rel=0.1)
    assert found[2].size_bytes == pytest.approx(2 * l3, rel=0.1)
    assert found[2].low_bytes <= 2 * l3 * 1.03
    assert found[2].high_bytes >= 2 * l3 * 0.97


def test_levels_are_found_where_nothing_is_stated():
    """Two caches, told by their knees alone."""
    clean = expected_latency(
        SIZES, capacities_bytes=[32 * KIB, 8 * MIB], latencies_s=[1e-9, 8e-9, 90e-9]
    )
    rounds = tuple(tuple(t * f for t in clean) for f in (1.0, 1.01, 0.99))
    curve = LatencyCurve(threads=1, sizes_bytes=SIZES, rounds_s=rounds)

    caches, cautions = caches_here((), fit_capacities(curve, stated=(), sharers={}))

    assert [c.size_bytes for c in caches] == pytest.approx([32 * KIB, 8 * MIB], rel=0.05)
    assert [c.code for c in cautions] == ["caches-measured"]


def test_cache_whose_end_is_not_reached_holds_what_was_looked_at_or_more():
    """All of 256 MiB is in a cache of 480 MiB: the stated size is not contradicted."""
    sizes = tuple(size for size in SIZES if size <= 256 * MIB)
    clean = expected_latency(
        sizes,
        capacities_bytes=[48 * KIB, 2 * MIB, 480 * MIB],
        latencies_s=[1e-9, 5e-9, 40e-9, 150e-9],
    )
    curve = LatencyCurve(threads=1, sizes_bytes=sizes, rounds_s=(tuple(clean),) * 3)
    stated = [cache(1, 48 * KIB), cache(2, 2 * MIB), cache(3, 480 * MIB)]

    found = fit_capacities(curve, stated=stated, sharers={})

    assert all(each.size_bytes is not None for each in found if each.level < 3)
    assert all(each.size_bytes is None for each in found if each.level == 3)
    assert caches_here(stated, found) == (tuple(stated), ())


STATED = (cache(1, 48 * KIB, ways=12), cache(2, 2 * MIB), cache(3, 480 * MIB, ways=15, cores=60))


@pytest.mark.parametrize(
    ("measured", "counts"),
    [
        (10 * MIB, 10 * MIB),  # a share of a socket's
        (330 * MIB, 480 * MIB),  # near enough: a factor of 1.45
        (300 * MIB, 300 * MIB),  # 1.6
        (520 * MIB, 480 * MIB),  # exclusive of what is within
        (900 * MIB, 900 * MIB),
    ],
)
def test_measured_capacity_counts_where_it_differs_by_more_than_half(measured, counts):
    """With the same ways and lines, in whole sets; and a caution with both numbers."""
    caches, cautions = caches_here(STATED, [capacity(3, measured)])

    assert caches[:2] == STATED[:2]
    assert caches[2].size_bytes == pytest.approx(counts, rel=0.017)
    assert caches[2].size_bytes % (15 * 64) == 0
    assert (caches[2].ways, caches[2].cores) == (15, 60)
    assert [c.code for c in cautions] == ["cache-capacity"] * (counts != 480 * MIB)
    assert all("480 MiB of L3" in c.seen for c in cautions)


def test_half_of_a_core_s_own_cache_is_its_other_thread_s():
    """What a neighbour takes for a while does not make an L2 of 2 MiB one of 0.9."""
    assert caches_here(STATED, [capacity(2, 900 * KIB)])[0] == STATED
    assert caches_here(STATED, [capacity(2, 600 * KIB, high=700 * KIB)])[0] == STATED
    assert caches_here(STATED, [capacity(2, 600 * KIB)])[0][1].size_bytes == 608 * KIB


def test_share_that_changes_while_it_is_measured_is_said():
    """From 6 to 40 MiB: both ends are in the caution, and both are simulated."""
    measured = [capacity(3, 20 * MIB, low=6 * MIB, high=40 * MIB)]
    caches, cautions = caches_here(STATED, measured)
    least, most = capacity_ends(caches, STATED, measured)

    assert [c.code for c in cautions] == ["cache-capacity", "cache-varied"]
    assert "from 6 MiB to 40 MiB" in cautions[1].seen
    assert least[2].size_bytes < 7 * MIB < 39 * MIB < most[2].size_bytes


def test_what_a_user_gives_stays_and_is_contradicted():
    """--cache decides; the caution has both numbers, and there is no interval of it."""
    given = (*STATED[:2], cache(3, 8 * MIB))
    measured = [capacity(3, 60 * MIB, low=40 * MIB, high=70 * MIB)]

    (caution,) = contradictions(given, measured)

    assert caution.code == "cache-contradicted"
    assert "--cache says 8 MiB of L3; a program here gets 60 MiB (40 MiB to 70 MiB)" in caution.seen
    assert capacity_ends(given, STATED, measured) is None


def test_ends_reach_over_one_core_and_all():
    """From the least that either saw to the most."""
    measured = [
        capacity(3, 10 * MIB, low=8 * MIB, high=12 * MIB),
        capacity(3, 7 * MIB, low=6 * MIB, high=9 * MIB, threads=2),
    ]
    caches, _ = caches_here(STATED, measured)

    least, most = capacity_ends(caches, STATED, measured)

    assert least[2].size_bytes == pytest.approx(6 * MIB, rel=0.017)
    assert most[2].size_bytes == pytest.approx(12 * MIB, rel=0.017)
    assert least[:2] == most[:2] == STATED[:2]


def test_nothing_varies_of_caches_that_are_as_stated():
    """Nor where nothing was measured."""
    alike = [capacity(3, 470 * MIB, low=300 * MIB, high=480 * MIB)]

    assert capacity_ends(STATED, STATED, alike) is None
    assert capacity_ends(STATED, None, ()) is None


@given(st.lists(st.integers(64 * KIB, 1 << 40), min_size=1, max_size=3))
def test_ends_always_hold_what_is_simulated(sizes):
    """Whatever was measured: each level's least is no more than it, its most no less."""
    measured = [
        capacity(3, size, low=max(size // 3, 1), high=size * 2, threads=threads)
        for threads, size in zip(itertools.count(1), sizes, strict=False)
    ]
    caches, _ = caches_here(STATED, measured)
    ends = capacity_ends(caches, STATED, measured)

    if ends is not None:
        for least, here, most in zip(ends[0], caches, ends[1], strict=True):
            assert least.size_bytes <= here.size_bytes <= most.size_bytes
        assert ends[0][2].size_bytes > ends[0][1].size_bytes


@pytest.mark.parametrize(
    "wrong",
    [
        {"sizes_bytes": (2, 1), "rounds_s": ((1.0, 1.0),)},
        {"sizes_bytes": (1, 2), "rounds_s": ((1.0,),)},
        {"sizes_bytes": (1,), "rounds_s": ((0.0,),)},
        {"sizes_bytes": (1,), "rounds_s": ()},
    ],
)
def test_impossible_curves_are_refused(wrong):
    """Sizes that do not ascend, times that are missing or no times."""
    with pytest.raises(ValueError, match=r"must|needs"):
        LatencyCurve(threads=1, **wrong)
