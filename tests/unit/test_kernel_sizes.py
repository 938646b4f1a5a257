"""Which sizes of the kernels are measured: by the caches, from what they hold to beyond."""

import pytest

from ridgepoint.core.geometry import parse_geometry
from ridgepoint.suites.kernels import find
from ridgepoint.suites.kernels.sizes import around, evenly, of_figures, quick

SMALL = parse_geometry("l1=32k:8,l2=256k:8")
"""Holds a matrix of 181 by 181 numbers."""


@pytest.mark.parametrize("name", ["dgemm.naive", "dgemm.blocked"])
def test_loops_go_on_beyond_the_matrix_that_the_last_cache_holds(name):
    """8 n² bytes over 256 KiB: some below 1, some above; a row is an odd number of lines."""
    sizes = around(SMALL)(find(name))
    shares = [8 * n * n / 262144 for n in sizes]

    assert sizes == tuple(sorted(set(sizes)))
    assert (min(shares) < 0.1, max(shares) > 2) == (True, True)
    assert all(n % 16 == 8 for n in sizes)


def test_other_workloads_keep_to_their_series():
    """A sixteenth to four times the last cache: 160 kB, 640 kB and no 2 MB of daxpy."""
    assert around(SMALL)(find("daxpy.llvm")) == (10_000, 40_000)


def test_a_cache_beyond_all_sizes_leaves_the_quick_ones():
    """So does a cache that nobody knows."""
    huge = parse_geometry("l1=32k:8,l2=1m:8,l3=64g:16")

    assert around(huge)(find("stencil.5point")) == find("stencil.5point").quick_sizes
    assert around(())(find("dgemm.naive")) == quick(find("dgemm.naive"))


def test_products_that_take_minutes_are_not_chosen():
    """However large the cache is."""
    huge = parse_geometry("l1=32k:8,l2=1m:8,l3=1g:16")

    assert max(around(huge)(find("dgemm.naive"))) <= 1304


def test_figures_follow_the_caches_where_the_loops_do():
    """The others have five of their own series."""
    chosen = of_figures(SMALL)

    assert chosen(find("dgemm.naive")) == around(SMALL)(find("dgemm.naive"))
    assert chosen(find("stencil.5point")) == (64, 128, 256, 1024, 2048)


def test_few_are_taken_evenly():
    """From the first to the last."""
    assert evenly(range(10), 4) == (0, 3, 6, 9)
    assert evenly([1, 2], 5) == (1, 2)


def test_figures_leave_out_data_too_small_for_cold_caches():
    """A transform of 32 points has 1 KiB."""
    chosen = of_figures(SMALL, least_bytes=8000)

    assert chosen(find("fft.radix2"))[0] == 256
