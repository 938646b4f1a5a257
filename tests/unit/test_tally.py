"""Sums over many instructions against the same sums done one by one with Python's integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.counts import FlopCount
from ridgepoint.meters.decode import decode
from ridgepoint.meters.tally import Executed, Masked, distinct, grouped_sums, tally

ADDSD = decode(bytes.fromhex("f20f58c1"))  # addsd %xmm1,%xmm0
FMA = decode(bytes.fromhex("c4e2f5b810"))  # vfmadd231pd (%rax),%ymm1,%ymm2
MASKED = decode(bytes.fromhex("62f1ed4958d9"))  # vaddpd %zmm1,%zmm2,%zmm3{%k1}
STREAM = decode(bytes.fromhex("c5fd2b08"))  # vmovntpd %ymm1,(%rax)
JUMP = decode(bytes.fromhex("75fe"))  # jne .
TILE = decode(bytes.fromhex("c4e2725cda"))  # tdpbf16ps: its flop is not to be told
STOSB = decode(bytes.fromhex("f3aa"))  # rep stosb


def rows(operations, executions, iterations=None):
    """Return rows of one operation each."""
    executions = np.array(executions, dtype=np.int64)
    return Executed(
        operations=operations,
        operation=np.arange(len(operations)),
        executions=executions,
        iterations=executions if iterations is None else np.array(iterations, dtype=np.int64),
    )


def test_each_group_gets_what_its_instructions_did():
    """Worked out by hand: 10 additions and 5 jumps here, 3 FMAs and 2 streaming stores there."""
    first, second = tally(
        rows([ADDSD, FMA, JUMP, STREAM], [10, 3, 5, 2]),
        groups=np.array([0, 1, 0, 1]),
        n_groups=2,
    )

    assert (first.instructions, first.branches, first.loads, first.stores) == (15, 5, 0, 0)
    assert first.flop == (
        FlopCount(
            precision="fp64", width_bits=0, fma=False, flop=10, instructions=10, operation="add"
        ),
    )
    assert (second.instructions, second.loads, second.load_bytes) == (5, 3, 96)
    assert (second.stores, second.store_bytes, second.non_temporal_store_bytes) == (2, 64, 64)
    assert second.flop == (
        FlopCount(
            precision="fp64", width_bits=256, fma=True, flop=24, instructions=3, operation="fma"
        ),
    )


def test_what_cannot_be_counted_is_undecoded():
    """Bytes that are no instruction, and instructions whose flop are not to be told."""
    (counts,) = tally(rows([None, TILE], [7, 4]), groups=np.zeros(2, np.int64), n_groups=1)

    assert (counts.instructions, counts.undecoded, counts.flop) == (11, 11, ())


def test_masked_lanes_count_and_are_told():
    """Eight lanes, three times, all of them under a mask."""
    (counts,) = tally(rows([MASKED], [3]), groups=np.zeros(1, np.int64), n_groups=1)

    assert (counts.work_flop, counts.masked_flop) == (24, 24)


def test_bytes_follow_iterations_and_all_else_executions():
    """Two REP STOSB that store 300 bytes together are two instructions and two stores."""
    (counts,) = tally(rows([STOSB], [2], [300]), groups=np.zeros(1, np.int64), n_groups=1)

    assert (counts.instructions, counts.stores, counts.store_bytes) == (2, 2, 300)


def test_a_group_without_instructions_did_nothing():
    """It is there, and all its counts are 0."""
    empty, _, last = tally(rows([JUMP], [1]), groups=np.array([2]), n_groups=3)

    assert (empty.instructions, empty.flop, last.branches) == (0, (), 1)


def test_nothing_is_tallied_to_nothing():
    """No instruction and no group."""
    assert tally(rows([], []), groups=np.zeros(0, np.int64), n_groups=0) == []


@given(
    st.lists(st.tuples(st.integers(0, 2**62), st.integers(0, 576), st.integers(0, 3)), max_size=20)
)
def test_sums_are_exact_beyond_64_bits(values):
    """Python's integers have no end; floats would lose the last digits above 2**53."""
    amounts, each, groups = (np.array(part, dtype=np.int64) for part in ([], [], []))
    if values:
        amounts, each, groups = (np.array(part) for part in zip(*values, strict=True))

    assert grouped_sums(amounts, groups, 4, each=each) == [
        sum(amount * times for amount, times, group in values if group == wanted)
        for wanted in range(4)
    ]


@pytest.mark.parametrize("executions", [2**53 + 1, 2**62 + 1])
def test_flop_are_exact_however_many(executions):
    """Eight flop each; the last digit survives."""
    (counts,) = tally(rows([FMA], [executions]), groups=np.zeros(1, np.int64), n_groups=1)

    assert counts.work_flop == 8 * executions
    assert counts.load_bytes == 32 * executions


def test_repeated_operations_are_kept_once():
    """Each place leads to what stood there."""
    given_ = [ADDSD, None, ADDSD, JUMP, None]
    kept, places = distinct(given_)

    assert kept == [ADDSD, None, JUMP]
    assert [kept[place] for place in places] == given_


def test_useful_flop_are_those_of_lanes_that_masks_left_on():
    """8 lanes, executed 10 times with 33 bits on in all, beside 5 unmasked: 33 + 40 of 120 flop."""
    unmasked = decode(bytes.fromhex("62f1ed4858d9"))  # vaddpd %zmm1,%zmm2,%zmm3
    operations = [MASKED, unmasked]
    masked = Masked(
        operations=operations,
        operation=np.array([0]),
        executions=np.array([10]),
        lanes=np.array([8]),
        lanes_on=np.array([33]),
    )
    (counts,) = tally(
        rows(operations, [10, 5]),
        groups=np.zeros(2, np.int64),
        n_groups=1,
        masked=masked,
        masked_groups=np.zeros(1, np.int64),
    )

    assert (counts.work_flop, counts.masked_flop, counts.useful_flop) == (120, 80, 73)


def test_useful_flop_are_unknown_where_a_mask_was_not_seen():
    """One of two masked instructions was looked at: what the other left on is not known."""
    operations = [MASKED]
    executed = Executed(
        operations=operations,
        operation=np.array([0, 0]),
        executions=np.array([10, 10]),
        iterations=np.array([10, 10]),
    )
    masked = Masked(
        operations=operations,
        operation=np.array([0]),
        executions=np.array([10]),
        lanes=np.array([8]),
        lanes_on=np.array([33]),
    )
    groups = np.array([0, 0])
    (one,) = tally(
        executed, groups=groups, n_groups=1, masked=masked, masked_groups=np.zeros(1, np.int64)
    )
    (none,) = tally(executed, groups=groups, n_groups=1)

    assert one.useful_flop is None
    assert none.useful_flop is None
    assert (none.work_flop, none.masked_flop) == (160, 160)
