"""Cautions by what they could change in a verdict.

The program of `core_inputs` needs 0.1 s for its work and 0.2 s for its bytes at DRAM, and took
0.25 s: 80 % of the roof, bound by DRAM.
"""

import io
import json
from dataclasses import replace

import pytest
from core_inputs import COUNTS, MACHINE, MEASUREMENT, ceiling, machine_of, measured
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import FlopCount
from ridgepoint.core.documents import decode, render
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.models.analysis import analyse, place
from ridgepoint.models.ranking import cautions_that_matter, matters
from ridgepoint.show.report import machine_fields, report
from ridgepoint.show.tables import machine_table, run_table

PLACED = place(MEASUREMENT, MACHINE, cores=1)
# 0.8 % of the roof: none explains its time.
FAR = place(measured(wall_s=(25.0,)), MACHINE, cores=1)
UNTIMED = place(measured(wall_s=None), MACHINE, cores=1)


def doubt(effect, on=None, code="a"):
    """Return a caution of so much."""
    return Caution(code, "seen", "do", effect=effect, on=on)


def text(renderable):
    """Return what a pipe of 100 columns gets, as one line."""
    console = Console(file=io.StringIO(), width=100, force_terminal=False)
    console.print(renderable)
    return " ".join(console.file.getvalue().split())


@pytest.mark.parametrize(
    ("effect", "on", "placement", "expected"),
    [
        (None, "dram", PLACED, True),  # how much is not known
        (0.0, None, PLACED, False),
        (0.05, "dram", PLACED, False),  # 76 to 84 %
        (0.07, "dram", PLACED, True),  # 74.4 to 85.6 %
        (0.9, "compute", PLACED, False),  # 0.19 s: DRAM is still slower
        (1.1, "compute", PLACED, True),  # 0.21 s: the limiter
        (5.0, "l3", PLACED, False),  # it is in no bound
        (0.05, "time", PLACED, False),
        (0.10, "time", PLACED, True),
        (0.05, None, PLACED, False),
        (0.10, None, PLACED, True),
        (1.0, "dram", FAR, False),  # 0 to 1.6 %
        (1.1, "compute", FAR, False),  # another limiter of what none explains
        (9.0, "dram", FAR, True),  # 8 %: of a verdict that was 0.8 %
        (0.2, "time", FAR, False),
        (0.3, "time", FAR, True),  # a runtime is a result by itself
        (0.6, "dram", UNTIMED, True),  # 0.08 s: compute bounds it then
        (0.4, "dram", UNTIMED, False),
        (0.04, "dram", None, False),
        (0.06, "dram", None, True),
    ],
)
def test_a_caution_matters_if_it_could_change_limiter_or_efficiency(
    effect, on, placement, expected
):
    """By 5 points of the roof, or to another limiter."""
    assert matters(doubt(effect, on), placement) is expected


@given(
    st.floats(0, 10),
    st.floats(0, 10),
    st.sampled_from(["time", "dram", "compute", "l3", None]),
    st.sampled_from([PLACED, FAR, UNTIMED, None]),
)
def test_what_may_be_off_by_more_matters_no_less(first, second, on, placement):
    """Monotonic in the effect."""
    less, more = sorted((first, second))

    assert matters(doubt(less, on), placement) <= matters(doubt(more, on), placement)


def with_fp80(flop):
    """Return the program with some flop of a precision that the machine has no ceiling for."""
    kind = FlopCount(precision="fp80", width_bits=0, fma=False, flop=flop, instructions=flop)
    return measured(counts=replace(COUNTS, flop=(*COUNTS.flop, kind)))


def test_a_few_flop_without_a_ceiling_are_minor():
    """10 of 1 000 000 010 cannot change the verdict; 100 million of slow ones could."""
    few, many = (place(with_fp80(flop), MACHINE, cores=1) for flop in (10, 100_000_000))

    assert [matters(one, few) for one in few.cautions if one.code == "no-ceiling"] == [False]
    assert [matters(one, many) for one in many.cautions if one.code == "no-ceiling"] == [True]


def test_minor_cautions_are_one_line_in_the_report_and_whole_in_json():
    """The others are told in full."""
    doubted = replace(
        with_fp80(10),
        cautions=(doubt(None, code="large"), doubt(0.0, code="small"), doubt(0.01, code="small")),
    )
    analysis = analyse(doubted, MACHINE, cores=1)
    said = text(run_table.run(analysis))
    in_full = text(run_table.run(analysis, every_caution=True))
    fields = report(analysis)["cautions"]

    assert "large: seen; do" in said
    assert "small: seen" not in said
    assert "3 minor cautions, which could not change the verdict: small (2), no-ceiling (" in said
    assert "small: seen; do" in in_full
    assert "minor" not in in_full
    assert [(one["code"], one["matters"]) for one in fields] == [
        ("large", True),
        ("small", False),
        ("small", False),
        ("no-ceiling", False),
    ]


# --- of ceilings --------------------------------------------------------------------------------

UNSTABLE = Caution("unstable", "the 95 % interval is wide (n = 9)", "measure again")
SHARED = Caution("shared-core", "0 of 9 samples had their cores to themselves", "be alone")


def noisy(resource, rate, error, *, name="pattern", cautions=(UNSTABLE,), theoretical=None):
    """Return a ceiling that is known within some share."""
    interval = (rate * (1 - error), rate * (1 + error))
    return replace(
        ceiling(resource, rate, name=name),
        rate=Estimate([rate], interval=interval),
        cautions=cautions,
        theoretical=theoretical,
    )


def marked(*ceilings):
    """Return the resources and names of ceilings with cautions that matter."""
    return {key[:2] for key in cautions_that_matter(machine_of(*ceilings))}


def test_only_ceilings_that_bound_programs_have_cautions_that_matter():
    """The best of each resource: what a slower pattern gives bounds nothing."""
    assert marked(
        noisy("fp64", 10e9, 0.2, name="fma"),
        noisy("fp64", 5e9, 0.2, name="add"),
        noisy("dram", 5e9, 0.2, name="load"),
    ) == {("fp64", "fma"), ("dram", "load")}


def test_a_ceiling_that_is_known_well_has_no_doubt_that_matters():
    """4 % cannot move a verdict by 5 points; 6 % can."""
    assert marked(noisy("fp64", 10e9, 0.04)) == set()
    assert marked(noisy("fp64", 10e9, 0.06)) == {("fp64", "pattern")}


def test_a_shared_core_matters_unless_theory_says_that_nothing_is_lost():
    """Of 10 Gflop/s in theory 9.8 were reached, or 8; without theory nobody knows."""
    near, far, unknown = (
        noisy("fp64", rate, 0.01, cautions=(SHARED,), theoretical=theory)
        for rate, theory in ((9.8e9, 10e9), (8e9, 10e9), (8e9, None))
    )

    assert marked(near) == set()
    assert marked(far) == marked(unknown) == {("fp64", "pattern")}


def test_a_best_ceiling_of_a_direction_bounds_programs_too():
    """A copy writes most, though loads are faster."""
    load, copy = (
        replace(noisy("dram", rate, 0.2, name=name), read_share=read, write_share=write)
        for name, rate, read, write in (("load", 20e9, 1.0, 0.0), ("copy", 10e9, 0.5, 0.5))
    )

    assert marked(load, copy) == {("dram", "load"), ("dram", "copy")}


def test_the_table_marks_what_matters_and_counts_the_rest_in_one_line():
    """A mark on every row says nothing."""
    bench = machine_of(
        noisy("fp64", 10e9, 0.2, name="fma"),
        noisy("fp64", 5e9, 0.2, name="add"),
        noisy("fp64", 4e9, 0.2, name="mul", cautions=(UNSTABLE, SHARED)),
    )
    said, in_full = (
        text(machine_table.machine(bench)),
        text(machine_table.machine(bench, every_caution=True)),
    )

    assert said.count("~") == 1
    assert "FMA ~10 G" in said
    assert "2 of 3 ceilings have only minor cautions" in said
    assert "unstable (2), shared-core ('ridgepoint show --cautions' or --json)" in said
    assert in_full.count("~10 G") == in_full.count("~5 G") == in_full.count("~4 G") == 1


def test_json_says_of_each_caution_of_a_ceiling_whether_it_matters():
    """And the document is still that of a machine."""
    bench = machine_of(noisy("fp64", 10e9, 0.2, name="fma"), noisy("fp64", 5e9, 0.2, name="add"))
    document = render(machine_fields(bench))
    ceilings = json.loads(document)["ceilings"]

    assert [one["cautions"][0]["matters"] for one in ceilings] == [True, False]
    assert decode(document, Machine, origin="here") == bench
