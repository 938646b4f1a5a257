"""The mix of instructions and of integer operations, from counts made by hand."""

from dataclasses import replace
from io import StringIO

import pytest
from figure_inputs import measurement
from rich.console import Console

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.counts import Counts, FlopCount
from ridgepoint.show.charts.instruction_mix import mix_page
from ridgepoint.show.tables.mix_table import mix_tables
from ridgepoint.suites.datacenter.measuring import cases
from ridgepoint.suites.datacenter.mix import mean_mix, mixes, published_mix
from ridgepoint.suites.datacenter.results import DatacenterResult
from ridgepoint.suites.datacenter.work import measured_cases

# 100 instructions: 30 load, 10 store, 20 branch, 15 do floating point, and 25 do none of these.
COUNTS = Counts(
    instructions=100,
    branches=20,
    loads=30,
    stores=10,
    load_bytes=240,
    store_bytes=80,
    flop=(FlopCount(precision="fp64", width_bits=0, fma=False, flop=15, instructions=15),),
)
SOURCE = BasicOperations(
    arithmetic=20, fp_arithmetic=9, logic=10, compare=22, fp_compare=1, addressing=48
)


def measured(name="sort", step="original", counts=COUNTS, source=SOURCE):
    """Return a measured case with these counts."""
    (case,) = (case for case in cases([name]) if case.step == step)
    whole = measurement()
    whole = replace(whole, counted=replace(whole.counted, counts=counts))
    (found,) = measured_cases([DatacenterResult(case=case, measurement=whole, source=source)])
    return found


def test_shares_are_those_of_the_counts():
    """30, 10, 20, 15 and 25 of 100; 48, 22 and 30 of 100 integer operations, and 10 others."""
    (mix,) = mixes([measured()])

    assert list(mix.instructions.values()) == pytest.approx([0.3, 0.1, 0.2, 0.15, 0.25])
    assert list(mix.classes.values()) == pytest.approx([0.48, 0.22, 0.30])
    assert mix.integers_per_fp == pytest.approx(10.0)


def test_what_the_compiler_made_is_preferred():
    """The mix of unoptimised code is mostly loads and stores of variables."""
    other = replace(COUNTS, branches=40)
    (mix,) = mixes([measured(), measured(step="ILP", counts=other)])

    assert mix.instructions["branches"] == pytest.approx(0.4)


def test_unknown_is_unknown():
    """A meter that counts no branches; a source that was not counted; a mean with one of them."""
    (mix,) = mixes([measured(counts=replace(COUNTS, branches=None), source=None)])

    assert (mix.instructions, mix.classes, mix.integers_per_fp) == (None, None, None)
    mean = mean_mix("mean", [mix, *mixes([measured()])])
    assert (mean.instructions, mean.classes, mean.integer_share) == (None, None, None)


def test_without_floating_point_there_are_infinitely_many_integer_operations():
    """And the table says so in words."""
    lone = measured(source=BasicOperations(compare=1))
    text = StringIO()
    console = Console(width=100, file=text)
    for part in mix_tables([lone]):
        console.print(part)

    assert "no floating point" in text.getvalue()
    assert "62 %" not in text.getvalue()


def test_the_paper_s_shares_are_those_that_it_prints():
    """47, 22 and 30 per cent of integer operations, 38 of which come on one of floating point."""
    mix = published_mix()

    assert list(mix.classes.values()) == pytest.approx([0.47, 0.22, 0.30])
    assert mix.integers_per_fp == pytest.approx(38.0)


def test_bars_lie_end_to_end():
    """And a class without instructions has no bar."""
    none = replace(COUNTS, stores=0)
    first, second = mix_page(mixes([measured(counts=none)]), where="here").charts

    assert [(bar.begin, bar.end) for bar in first.bars] == [
        pytest.approx(ends) for ends in ((0, 30), (30, 50), (50, 65), (65, 100))
    ]
    assert [bar.end for bar in second.bars] == [pytest.approx(end) for end in (48, 70, 100)]


def test_nothing_known_is_no_picture():
    """Instead of empty axes."""
    assert (
        mix_page(mixes([measured(counts=replace(COUNTS, loads=None), source=None)]), where="")
        is None
    )
