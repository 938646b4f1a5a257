"""The copying engine's own memory, bytes and sorting do what NumPy's do."""

import ctypes

import numpy as np
import pytest
from copying_code import array, items, library

RANDOM = np.random.default_rng(20260722)


def address(numbers, offset=0):
    """Return the address of an array's bytes as C takes it."""
    return ctypes.c_void_p(numbers.ctypes.data + offset)


@pytest.mark.parametrize("below", [3, 1000, 1 << 40, (1 << 63) - 1])
@pytest.mark.parametrize("n", [0, 1, 2, 32, 33, 1000, 50_000])
def test_numbers_are_sorted_and_single(n, below):
    """Sorting leaves every number once, in order."""
    numbers = RANDOM.integers(0, below, n, dtype=np.uint64)
    sorted_here = numbers.copy()

    kept = library().sort_unique_u64(address(sorted_here), ctypes.c_size_t(n))

    np.testing.assert_array_equal(sorted_here[:kept], np.unique(numbers))


@pytest.mark.parametrize("words", [2, 3, 5])
@pytest.mark.parametrize("n", [1, 32, 33, 20_000])
def test_records_with_the_same_key_keep_their_order(n, words):
    """Records are sorted by their first number, and stably."""
    records = RANDOM.integers(0, n // 2 + 1, (n, words), dtype=np.uint64)
    sorted_here = records.copy()

    library().sort_records(address(sorted_here), ctypes.c_size_t(n), ctypes.c_size_t(words))

    expected = records[np.argsort(records[:, 0], kind="stable")]
    np.testing.assert_array_equal(sorted_here, expected)


@pytest.mark.parametrize("n", [*range(40), 63, 64, 65, 500])
def test_bytes_are_moved_where_ranges_overlap(n):
    """Moving bytes up or down by any distance is as if they were copied away first."""
    for to, start in [(0, 0), (1, 0), (0, 1), (5, 12), (12, 5), (300, 0), (0, 300)]:
        moved = RANDOM.integers(0, 256, 1024, dtype=np.uint8)
        expected = moved.copy()
        expected[to : to + n] = expected[start : start + n].copy()
        library().memmove(address(moved, to), address(moved, start), ctypes.c_size_t(n))

        np.testing.assert_array_equal(moved, expected)


def test_an_array_keeps_its_items_while_it_grows():
    """What was added stays, and what is added is zero, even where bytes were given up."""
    with array(4) as numbers:
        add = library().array_add
        add.restype = ctypes.c_void_p
        for value in range(1, 5000):
            at = add(ctypes.byref(numbers), ctypes.c_size_t(value % 3))
            if value % 3:
                ctypes.memmove(at, value.to_bytes(4, "little"), 4)
        grown = items(numbers, "u4").tolist()
        numbers.n = 0
        add(ctypes.byref(numbers), ctypes.c_size_t(100))

        assert [value for value in grown if value] == [v for v in range(5000) if v % 3]
        assert not items(numbers, "u4").any()
