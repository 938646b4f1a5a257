"""Parts of a loop in place of the whole: the line through their amounts, and which rows they do."""

from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import Counts, FlopCount, Traffic
from ridgepoint.models.caches.partial_loop import of_whole_loop
from ridgepoint.profiling.calls.in_parts import Parts, whole
from ridgepoint.suites.kernels import find

# ---- the line ----


@given(
    first=st.integers(0, 10**9),
    each=st.integers(0, 10**6),
    length=st.floats(30, 3000),
)
def test_amounts_on_a_line_are_continued_exactly(first, each, length):
    """What only the first round does counts once, what each round does counts for each."""
    rounds = (2, 4, 6, 8, 10)
    found = of_whole_loop(rounds, [first + each * number for number in rounds], length)

    assert found.value == pytest.approx(first + each * length, rel=1e-9, abs=1e-6)
    assert found.high - found.low <= 1e-6 * max(found.value, 1)


def test_the_interval_is_that_of_a_regression_by_hand():
    """At x = 1, 2, 3 and y = 1, 3, 2: y = 1 + x/2, residuals -1/2, 1, -1/2; s² = 3/2."""
    found = of_whole_loop([1, 2, 3], [1, 3, 2], 4)

    # At 4: 3, and 12.7062 (t of 1 degree) times the root of 3/2 (1/3 + 4/2).
    assert found.value == pytest.approx(3)
    assert found.high == pytest.approx(3 + 12.7062 * (1.5 * (1 / 3 + 2)) ** 0.5, rel=1e-5)
    assert found.low == 0


def test_two_calls_do_not_show_a_line():
    """Any two points lie on one."""
    with pytest.raises(ValueError, match="3 calls or more are needed"):
        of_whole_loop([1, 2], [1, 2], 10)


def counted_part(rounds):
    """Return what a call of some rounds did: 100 flop and 64 bytes read each, 640 bytes once."""
    return Counted(
        meter="by hand",
        counts=Counts(
            instructions=7 + 10 * rounds,
            branches=rounds,
            loads=None,
            stores=rounds,
            load_bytes=None,
            store_bytes=8 * rounds,
            flop=(
                FlopCount(
                    precision="fp64", width_bits=0, fma=True, flop=100 * rounds,
                    instructions=50 * rounds,
                ),
            ),
        ),
        traffic=(Traffic(level="dram", read_bytes=640 + 64 * rounds, write_bytes=8 * rounds),),
    )  # fmt: skip


def test_the_counts_of_a_whole_call_follow_from_those_of_its_parts():
    """By hand; what no part knew stays unknown."""
    parts = Parts(length=12.5, rounds=(1, 2, 3), functions=(b"", b"", b""))
    found = whole([counted_part(rounds) for rounds in parts.rounds], parts)

    assert found.counts.work_flop == 1250
    assert (found.counts.instructions, found.counts.loads) == (132, None)
    assert (found.traffic[0].read_bytes, found.traffic[0].write_bytes) == (1440, 100)
    assert found.estimate.share == pytest.approx(6 / 12.5)
    assert found.estimate.at("dram").total_bytes == pytest.approx((1540, 1540), abs=1)


# ---- the rows ----


def rows_done(name, n, rounds):
    """Return the rows of C that a call of some rounds changes."""
    a, b, c = find(name).make(n)
    before = c.copy()
    find(name).prepare(n, rounds=rounds)(a, b, c)
    changed = np.flatnonzero(np.any(c != before, axis=1))
    np.testing.assert_allclose(c[changed], (before + a @ b)[changed], rtol=1e-12)
    return changed.tolist()


@pytest.mark.parametrize(
    ("name", "n", "rounds", "rows"),
    [
        ("dgemm.naive", 40, 4, [0, 10, 20, 30]),
        ("dgemm.naive", 44, 2, [0, 1, 22, 23]),  # two rows of 44 numbers are eleven lines
        ("dgemm.naive", 41, 2, [*range(8), *range(16, 24)]),
        ("dgemm.blocked", 160, 2, [*range(50), *range(50, 100)]),
        ("dgemm.blocked", 160, 1, [*range(50)]),
    ],
)
def test_a_part_does_rows_of_whole_lines_evenly_apart(name, n, rounds, rows):
    """And does them rightly: the product by NumPy."""
    assert rows_done(name, n, rounds) == rows


@pytest.mark.parametrize("name", ["dgemm.naive", "dgemm.blocked"])
def test_small_products_are_counted_whole_and_large_ones_by_less_than_half(name):
    """The rounds of all parts together save time."""
    outer = find(name).outer

    assert outer.parts(400) == ()
    assert 0 < sum(outer.parts(1000)) <= outer.length(1000) / 2


def test_what_is_not_a_loop_has_no_rounds():
    """A vector is done whole."""
    with pytest.raises(ValueError, match="only done whole"):
        find("daxpy.llvm").prepare(100, rounds=2)


# ---- the traffic: caches simulated from the rules alone ----


class Lru:
    """A cache of one level: sets of lines, the one used longest ago first; it starts empty."""

    def __init__(self, n_sets, ways):
        self.sets = [OrderedDict() for _ in range(n_sets)]
        self.ways, self.read, self.written = ways, 0, 0

    def access(self, line, *, stores=False):
        """Read or write a line; one that is written back leaves."""
        lines = self.sets[line % len(self.sets)]
        if line not in lines:
            self.read += 1
            if len(lines) == self.ways:
                _, is_dirty = lines.popitem(last=False)
                self.written += is_dirty
        lines[line] = lines.pop(line, False) or stores

    def moved(self):
        """Return the lines read and written, all that is dirty included."""
        dirty = sum(value for lines in self.sets for value in lines.values())
        return self.read, self.written + dirty


def simulated(n, rows, cache):
    """Return the lines that rows of a product by three loops move, arrays one after the other."""
    lines = n * n // 8
    for i in rows:
        for j in range(n):
            cache.access(2 * lines + (i * n + j) // 8)
            for k in range(n):
                cache.access((i * n + k) // 8)
                cache.access(lines + (k * n + j) // 8)
            cache.access(2 * lines + (i * n + j) // 8, stores=True)
    return cache.moved()


@pytest.mark.parametrize(
    ("n_sets", "ways"),
    [
        pytest.param(8, 4, id="far-too-small"),
        pytest.param(32, 8, id="half-of-b"),
        pytest.param(64, 8, id="about-b"),
        pytest.param(128, 8, id="b-and-rows"),
        pytest.param(256, 8, id="all"),
    ],
)
def test_parts_of_a_product_tell_the_traffic_of_the_whole(n_sets, ways):
    """B is 648 lines; wherever it fits or not, the interval holds the truth, to a thousandth."""
    n, rounds = 72, (2, 4, 6, 8, 10)
    truth = simulated(n, range(n), Lru(n_sets, ways))
    parts = [
        simulated(n, rows_done("dgemm.naive", n, number), Lru(n_sets, ways)) for number in rounds
    ]
    for amounts, whole_amount in zip(zip(*parts, strict=True), truth, strict=True):
        found = of_whole_loop(rounds, amounts, n)

        assert found.value == pytest.approx(whole_amount, rel=0.02)
        assert 0.999 * found.low <= whole_amount <= 1.001 * found.high
