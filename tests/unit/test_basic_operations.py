"""Sums of basic operations."""

from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.basic_operations import BasicOperations

SOME = st.builds(
    BasicOperations,
    arithmetic=st.integers(0, 10**18),
    fp_arithmetic=st.integers(0, 10**18),
    logic=st.integers(0, 10**18),
    compare=st.integers(0, 10**18),
    fp_compare=st.integers(0, 10**18),
    addressing=st.integers(0, 10**18),
)


def test_every_class_counts_one():
    """100 additions, 100 comparisons and 100 elements, as in the paper's sample."""
    sample = BasicOperations(arithmetic=1, compare=1, addressing=1) * 100

    assert sample.total == 300
    assert sample.fp == 0


@given(SOME, SOME, st.integers(0, 1000))
def test_totals_add_up(one, other, times):
    """Class by class, and of all."""
    assert (one + other).total == one.total + other.total
    assert (one * times).total == one.total * times
    assert (one + other).fp == one.fp + other.fp
    assert (one + other) - other == one
