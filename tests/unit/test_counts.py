from dataclasses import replace

import pytest
from core_inputs import COUNTS
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.counts import Counts, FlopCount, Traffic

amounts = st.integers(0, 10**15)
flop_counts = st.builds(
    FlopCount,
    precision=st.sampled_from(["fp64", "fp32", "bf16"]),
    width_bits=st.sampled_from([0, 128, 512]),
    fma=st.booleans(),
    flop=amounts,
    masked_flop=amounts,
    instructions=amounts,
)
# Each kind of instruction stands once in a count, as a meter writes it.
counts = st.builds(
    Counts,
    instructions=amounts,
    branches=amounts,
    loads=amounts,
    stores=amounts,
    load_bytes=amounts,
    store_bytes=amounts,
    non_temporal_store_bytes=amounts,
    undecoded=amounts,
    flop=st.lists(
        flop_counts, max_size=4, unique_by=lambda f: (f.precision, f.width_bits, f.fma)
    ).map(tuple),
)


def flop(precision, amount, **changes):
    """Flop of scalar instructions."""
    kind = FlopCount(precision=precision, width_bits=0, fma=False, flop=amount, instructions=amount)
    return replace(kind, **changes)


@given(counts, counts)
def test_totals_commute(one, other):
    """The order of processes or functions changes nothing."""
    assert Counts.total([one, other]) == Counts.total([other, one])


@given(counts, counts, counts)
def test_totals_associate(one, two, three):
    """A total of totals is the total of the parts."""
    assert Counts.total([Counts.total([one, two]), three]) == Counts.total([one, two, three])


@given(counts, counts)
def test_work_of_a_total_is_the_total_of_work(one, other):
    """No flop is lost or counted twice when kinds are merged."""
    total = Counts.total([one, other])

    assert total.work_flop == one.work_flop + other.work_flop == sum(total.work.values())
    assert total.masked_flop == one.masked_flop + other.masked_flop
    assert total.undecoded == one.undecoded + other.undecoded


def test_the_total_of_nothing_is_zero():
    """Nothing was executed: that is known, and 0."""
    nothing = Counts.total([])

    assert (nothing.instructions, nothing.work, nothing.work_flop) == (0, {}, 0)


def test_precisions_are_kept_apart():
    """Widths of one precision add up; precisions do not, and those without work are not named."""
    mixed = replace(
        COUNTS,
        flop=(
            flop("fp32", 7),
            flop("fp64", 5),
            flop("fp64", 6, width_bits=256, fma=True),
            flop("bf16", 0),
        ),
    )

    assert list(mixed.work.items()) == [("fp64", 11), ("fp32", 7)]
    assert mixed.work_flop == 18


def test_unknown_traffic_stays_unknown_in_a_sum():
    """What one process did not measure is not 0 in the total of both."""
    known = Traffic(level="dram", read_bytes=10, write_bytes=5, pending_write_bytes=1)
    unknown = Traffic(level="dram", read_bytes=3, write_bytes=None)
    l1 = Traffic(level="l1", read_bytes=1, write_bytes=1)

    total = Traffic.total([known, l1, unknown, l1])

    assert total == (
        Traffic(level="l1", read_bytes=2, write_bytes=2),
        Traffic(level="dram", read_bytes=13, write_bytes=None),
    )
    assert [part.total_bytes for part in total] == [4, None]


@pytest.mark.parametrize("name", ["instructions", "loads", "store_bytes", "undecoded"])
def test_negative_counts_are_refused(name):
    """A count below zero is a fault of the meter."""
    with pytest.raises(ValueError, match=f"{name} must be >= 0, got -1"):
        replace(COUNTS, **{name: -1})


def test_impossible_flop_and_traffic_are_refused():
    """Precisions and levels are known names, amounts are not negative."""
    with pytest.raises(ValueError, match="precision must be one of"):
        flop("fp8", 1)
    with pytest.raises(ValueError, match="counts must be >= 0"):
        flop("fp64", -1)
    with pytest.raises(ValueError, match="level must be one of"):
        Traffic(level="l4", read_bytes=0, write_bytes=0)
    with pytest.raises(ValueError, match="traffic must be >= 0"):
        Traffic(level="l2", read_bytes=0, write_bytes=-1)
