"""A ceiling taken apart: which one is meant, code folded, samples drawn."""

import mmap
from dataclasses import replace

import pytest
from core_inputs import ceiling
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.ceilings.explain import named_task
from ridgepoint.ceilings.places import Place
from ridgepoint.ceilings.plan import plan
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Cache
from ridgepoint.kernels.isa import Isa
from ridgepoint.show.charts.samples import samples_chart
from ridgepoint.show.draw_text import render
from ridgepoint.show.tables.explanation import folded

L1 = Cache(level=1, kind="data", size_bytes=32768, line_bytes=64, ways=8)
L1_COPY = ceiling("l1", 1.0, name="copy")
TASKS = plan(
    {1: L1},
    [Place(cpus=(0,), cores=1, siblings=1)],
    isa=Isa(architecture="x86_64", has=lambda feature: True),
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("fp64 fma 512-bit", ("fp64", "fma 512-bit")),
        ("FP64  FMA 512-bit", ("fp64", "fma 512-bit")),
        ("l1/copy", ("l1", "copy")),
        ("dram tr", ("dram", "triad")),
        ("dram chase", ("dram", "chase")),  # another begins so
    ],
)
def test_ceiling_is_found_by_its_name_or_its_beginning(text, found):
    """In any case of letters, with a slash or a space."""
    assert named_task(text, TASKS) == found


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("fp64 fma", "fp64 fma 256-bit"),  # several begin so
        ("l1 cpy", "l1 copy"),  # a slip
        ("dram ch", f"dram chase {mmap.PAGESIZE // 1024} KiB pages"),  # as it is written
        ("", "fp64 add scalar"),  # nothing: all are listed
    ],
)
def test_name_of_none_or_of_several_is_refused_with_names_to_take(text, named):
    """One line, with what the user may have meant."""
    with pytest.raises(RidgepointError) as raised:
        named_task(text, TASKS)

    assert named in raised.value.remedy


def test_turns_that_differ_in_numbers_are_folded():
    """Pairs of an address and a load, six times; what stands before and after stays."""
    code = ["entry:"]
    for u in range(6):
        code += [f"%a{u} = getelementptr i8, ptr %p, i64 {64 * u}", f"%x{u} = load ptr %a{u}"]

    assert folded([*code, "ret void"]) == [
        "entry:",
        "%a0 = getelementptr i8, ptr %p, i64 0",
        "%x0 = load ptr %a0",
        "... 5 more like these 2",
        "ret void",
    ]


def test_other_instructions_are_not_alike():
    """Widths and mnemonics are no numbers of a register."""
    code = ["vaddpd zmm0,zmm1,zmm2", "vmulpd zmm0,zmm1,zmm2", "mov [rdi+40h],rax"]

    assert folded(code) == code


@given(st.lists(st.sampled_from(["add x1", "add x2", "mul x1", "nop", "jne 20h"]), max_size=40))
def test_folding_keeps_count(code):
    """Lines shown, and lines counted, are all that there were."""
    total = 0
    period = 0
    for line in folded(code):
        if line.startswith("... "):
            turns = int(line.split()[1])
            period = 1 if line.endswith(" it") else int(line.split()[-1])
            total += turns * period
        else:
            total += 1

    assert total == len(code)


def test_samples_are_drawn_in_their_order_with_those_left_out():
    """Eight samples, the third of them preempted; theory above."""
    rates = [100e9, 101e9, 40e9, 99e9, 100e9, 100e9, 100.5e9, 99.5e9]
    kept = [rate for rate in rates if rate != 40e9]
    chart = samples_chart(
        replace(L1_COPY, rate=Estimate(kept), disturbed=(40e9,), theoretical=128e9),
        rates,
    )
    median, theory = chart.lines
    text = render(chart, width=60, height=12, color=False, ascii=True)
    lines = text.splitlines()
    plane = [line.partition("|")[2] for line in lines if "|" in line or "+" in line]

    assert [mark.at[1] for mark in chart.marks] == rates
    assert [mark.shape for mark in chart.marks].index("cross") == 2
    assert (median.places[0][1], theory.places[0][1]) == (100e9, 128e9)
    assert lines[:2] == ["L1 copy on 1 core", "Rate [B/s]"]
    assert sum(line.count("x") for line in plane) == 1
    assert max(map(len, lines)) <= 60


def test_samples_that_are_all_alike_have_an_axis():
    """No spread is no division by 0."""
    chart = samples_chart(replace(L1_COPY, rate=Estimate([5.0] * 6)), [5.0] * 6)

    assert chart.y.limits[0] < 5.0 < chart.y.limits[1]
    assert render(chart, color=False)
