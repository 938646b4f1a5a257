"""Miss curves from one pass, against a cache of each capacity and against numbers by hand."""

import ctypes
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from native_code import FLAGS, library

GLUE = """
#include "reuse.h"
void *make(uint32_t most_lines) { return reuse_new(most_lines, take, give_back); }
void run(Reuse *reuse, const uint64_t *lines, const uint8_t *writes, size_t n) {
    for (size_t i = 0; i < n; i++) reuse_access(reuse, lines[i], writes[i]);
}
"""
ALL_ROWS = 62 * 8


class Curve:
    """The C code, driven as the engine drives it; counting is on from the start."""

    def __init__(self, c: ctypes.CDLL, most_lines: int = 4096) -> None:
        self.c = c
        c.make.restype = ctypes.c_void_p
        c.reuse_curve.restype = ctypes.c_size_t
        self.reuse = ctypes.c_void_p(c.make(most_lines))
        if self.reuse:
            self.count(True)

    def count(self, on: bool) -> None:
        """Count from now on, or no longer."""
        self.c.reuse_count(self.reuse, ctypes.c_bool(on))

    def run(self, lines, writes=False) -> None:
        """Access the lines."""
        lines = np.ascontiguousarray(lines, np.uint64)
        writes = np.ascontiguousarray(np.broadcast_to(writes, lines.shape), np.uint8)
        at = [ctypes.c_void_p(array.ctypes.data) for array in (lines, writes)]
        self.c.run(self.reuse, *at, ctypes.c_size_t(len(lines)))

    def rows(self) -> dict[int, tuple[int, int, int]]:
        """Return lines read, written and pending by capacity."""
        table, summary = np.zeros((ALL_ROWS, 4), np.uint64), np.zeros(3, np.uint64)
        at = [ctypes.c_void_p(array.ctypes.data) for array in (table, summary)]
        n = self.c.reuse_curve(self.reuse, at[0], ctypes.c_size_t(ALL_ROWS), at[1])
        self.sampled, self.denominator, self.accesses = summary.tolist()
        return {capacity: tuple(row) for capacity, *row in table[:n].tolist()}


@pytest.fixture(params=FLAGS)
def c(request: pytest.FixtureRequest) -> Iterator[ctypes.CDLL]:
    """Return the compiled reuse distances."""
    loaded = library(request.param, ("caches/reuse.c",), GLUE)
    yield loaded
    loaded.give_all_back()


def one_cache(capacity: int, accesses) -> tuple[int, int, int]:
    """Return lines read, written and pending by one fully associative cache, by brute force."""
    held: list[int] = []  # the line used last comes last
    dirty: set[int] = set()
    read = written = 0
    for line, write in accesses:
        if line in held:
            held.remove(line)
        else:
            read += 1
            if len(held) == capacity:
                leaving = held.pop(0)
                written += leaving in dirty
                dirty.discard(leaving)
        held.append(line)
        if write:
            dirty.add(line)
    return read, written, len(dirty)


def agrees(curve: Curve, accesses) -> None:
    """Check every row against a cache of its capacity."""
    rows = curve.rows()

    assert rows == {capacity: one_cache(capacity, accesses) for capacity in rows}
    assert curve.denominator == 1
    assert curve.sampled == len({line for line, _ in accesses})
    assert curve.accesses == len(accesses)


# ---- exact ----


@pytest.mark.parametrize("flavour", FLAGS)
@given(accesses=st.lists(st.tuples(st.integers(0, 60), st.booleans()), max_size=300))
def test_every_capacity_counts_as_a_cache_of_that_size_does(flavour, accesses):
    """Misses, write-backs and what is pending, for every row of one pass."""
    c = library(flavour, ("caches/reuse.c",), GLUE)
    curve = Curve(c, 64)
    curve.run([line for line, _ in accesses], [write for _, write in accesses])
    agrees(curve, accesses)
    c.give_all_back()


@pytest.mark.parametrize("share_written", [0.0, 0.1, 0.9])
def test_long_runs_agree_with_a_cache_of_each_size(c, share_written):
    """Times are numbered anew many times; lines are near and far, some alike in low bits."""
    random = np.random.default_rng(round(10 * share_written))
    lines = np.where(
        random.random(6000) < 0.7, random.geometric(0.05, 6000), random.integers(0, 250, 6000) << 40
    )
    writes = random.random(6000) < share_written
    curve = Curve(c, 512)
    curve.run(lines, writes)

    agrees(curve, list(zip(lines.tolist(), writes.tolist(), strict=True)))


def test_a_cycle_over_more_lines_than_fit_always_misses(c):
    """A scan of 1000 lines, 10 times: all of 10000 miss below 1000 lines, and 1000 from there."""
    curve = Curve(c)
    curve.run(np.tile(np.arange(1000), 10))
    rows = curve.rows()

    assert {read for capacity, (read, _, _) in rows.items() if capacity < 1000} == {10000}
    assert {read for capacity, (read, _, _) in rows.items() if capacity >= 1000} == {1000}
    assert max(rows) >= 1000


def test_a_cycle_of_stores_is_written_back_or_pending(c):
    """Each of 5 passes over 256 lines writes all: each store is one write-back where none fit."""
    curve = Curve(c)
    curve.run(np.tile(np.arange(256), 5), writes=True)
    rows = curve.rows()

    assert rows[64] == (1280, 1280 - 64, 64)
    assert rows[224] == (1280, 1280 - 224, 224)
    assert rows[256] == (256, 0, 256)


def test_capacities_come_at_eight_to_the_octave(c):
    """One by one up to 16 lines, then in steps of an eighth of the octave, beyond the footprint."""
    curve = Curve(c)
    curve.run(np.arange(100))

    capacities = [*range(1, 17), *range(18, 33, 2), *range(36, 65, 4), *range(72, 105, 8)]
    assert list(curve.rows()) == capacities


def test_the_same_line_again_costs_nothing_and_may_make_it_dirty(c):
    """Load, load, store of one line: one read, and it is pending for every capacity."""
    curve = Curve(c)
    curve.run([7, 7, 7], [False, False, True])

    assert curve.rows() == {1: (1, 0, 1)}
    assert curve.accesses == 3


def test_only_what_happens_while_counting_is_counted(c):
    """Lines touched before are near, not new; what is written meanwhile counts when it leaves."""
    curve = Curve(c)
    curve.count(False)
    curve.run(np.arange(8), writes=True)
    curve.count(True)
    curve.run(np.arange(8))
    curve.run(np.arange(4), writes=True)
    curve.count(False)
    curve.run(np.arange(100, 200))
    rows = curve.rows()

    assert curve.accesses == 12
    assert rows[8] == (0, 4, 0)
    assert rows[4] == (12, 4, 0)
    assert rows[104] == (0, 0, 4)


def test_forgetting_counts_keeps_what_is_near(c):
    """Afterwards a line touched before is no new one, and no old store is written back."""
    curve = Curve(c)
    curve.run(np.arange(8), writes=True)
    curve.c.reuse_forget_counts(curve.reuse)
    curve.run(np.arange(8))
    rows = curve.rows()

    assert curve.accesses == 8
    assert rows[8] == (0, 0, 0)
    assert rows[7] == (8, 0, 0)


@pytest.mark.parametrize("most_lines", [0, 15, 2**28 + 1, 2**32 - 1])
def test_a_number_of_lines_out_of_range_is_refused(c, most_lines):
    """There would be no sample, or times would not fit their type."""
    assert Curve(c, most_lines).reuse.value is None


# ---- sampled ----


def exact_and_sampled(c, lines, writes, most_lines):
    """Return the rows of all lines and of a sample, and the sampled curve."""
    exact, sampled = Curve(c, 1 << 17), Curve(c, most_lines)
    for curve in (exact, sampled):
        curve.run(lines, writes)
    whole, part = exact.rows(), sampled.rows()

    assert exact.denominator == 1
    assert sampled.denominator > 1
    assert sampled.sampled <= most_lines
    assert sampled.accesses == len(lines)
    return whole, part, sampled


def test_a_sample_of_a_cycle_finds_where_it_fits(c):
    """Four scans of 100000 lines with 8192 followed: within 5% away from the capacity itself."""
    n = 100_000
    whole, part, sampled = exact_and_sampled(c, np.tile(np.arange(n), 4), True, 8192)
    near = [capacity for capacity in whole if capacity in part and not 0.8 < capacity / n < 1.25]

    assert sampled.denominator in (16, 32)
    assert max(near) > 0.1 * n
    for capacity in near:
        read, written, pending = part[capacity]
        assert read == pytest.approx(whole[capacity][0], rel=0.05)
        assert written + pending == pytest.approx(sum(whole[capacity][1:]), rel=0.05)


def test_a_sample_of_random_accesses_is_close_for_large_capacities(c):
    """Two working sets, of 4000 and of 90000 lines, a third of the accesses stores."""
    random = np.random.default_rng(1)
    n = 600_000
    small, large = random.integers(0, 4000, n), random.integers(10_000, 100_000, n)
    lines = np.where(random.random(n) < 0.5, small, large)
    whole, part, _ = exact_and_sampled(c, lines, random.random(n) < 1 / 3, 16384)
    large_ones = [capacity for capacity in whole if capacity > 2000 and capacity in part]

    assert len(large_ones) > 30
    for capacity in large_ones:
        assert part[capacity] == pytest.approx(whole[capacity], rel=0.05, abs=0.01 * n)


def test_larger_caches_never_miss_more(c):
    """LRU includes: misses and write-backs fall with the capacity, sampled or not."""
    random = np.random.default_rng(2)
    lines = random.zipf(1.2, 100_000) % (1 << 30)
    curve = Curve(c, 1000)
    curve.run(lines, random.random(100_000) < 0.3)
    rows = list(curve.rows().values())

    assert all(smaller[0] >= larger[0] for smaller, larger in pairwise(rows))
    assert all(smaller[1] >= larger[1] for smaller, larger in pairwise(rows))
