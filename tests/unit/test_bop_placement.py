"""Programs placed by their basic operations, on round machines and on the paper's Xeon E5645."""

from dataclasses import replace

import pytest
from chart_reading import marks_of, rates_of
from core_inputs import COUNTS, MACHINE, ceiling, machine_of, measured
from rich.console import Console

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.counts import Counts, FunctionCounts, Traffic
from ridgepoint.models.advice import TRY_BOPS
from ridgepoint.models.analysis import analyse, place
from ridgepoint.models.work import bop_source
from ridgepoint.published.machines import load
from ridgepoint.show.charts.roofline import roofline_chart
from ridgepoint.show.report import report
from ridgepoint.show.tables.run_table import run

# One core: 20 GBOP/s and 5 GB/s.
BENCH = machine_of(ceiling("bop", 20e9), ceiling("fp64", 10e9), ceiling("dram", 5e9))
INTEGERS = replace(
    COUNTS,
    branches=500_000_000,
    loads=700_000_000,
    stores=300_000_000,
    flop=(),
    basic_operations=BasicOperations(
        arithmetic=1_000_000_000, compare=400_000_000, addressing=600_000_000
    ),
)
BY_EQUATION = replace(INTEGERS, basic_operations=None)  # 3 G - 1.5 G = 1.5 GBOP


def in_bops(counts, machine=BENCH, **options):
    """Return a quarter of a second in which 1 GB moved, placed by basic operations."""
    return place(measured(counts=counts, **options), machine, metric="bop")


def by_operations(machine):
    """Return the analysis of a program without floating point."""
    return analyse(measured(counts=INTEGERS), machine, metric="bop")


def shown(measurement, machine, metric="flop"):
    """Return the report as text."""
    console = Console(width=120, color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(run(analyse(measurement, machine, metric=metric)))
    return captured.get()


def test_refined_operations_are_bounded_by_their_own_roof():
    """2 GBOP take 0.1 s, 1 GB takes 0.2 s: of a quarter of a second that is 80 %."""
    placed = in_bops(INTEGERS)

    assert placed.bound.times_s == {"compute": pytest.approx(0.1), "dram": pytest.approx(0.2)}
    assert placed.intensity == pytest.approx(2.0)
    assert placed.performance_per_s.median == pytest.approx(8e9)
    assert placed.attainable_per_s == pytest.approx(10e9)
    assert placed.efficiency == pytest.approx(0.8)


def test_eq_3_stands_in_where_nothing_finer_is_known():
    """1.5 GBOP in a quarter of a second."""
    placed = in_bops(BY_EQUATION)

    assert bop_source(BY_EQUATION) == "eq3"
    assert placed.performance_per_s.median == pytest.approx(6e9)
    assert placed.intensity == pytest.approx(1.5)


def test_flop_are_never_mixed_with_basic_operations():
    """They are among them: the demand of one has nothing of the other."""
    counts = replace(COUNTS, basic_operations=BasicOperations(fp_arithmetic=1_000_000_000))

    assert set(in_bops(counts).demand.amounts) == {"bop", "dram_read", "dram_write"}
    assert "bop" not in place(measured(counts=counts), BENCH).demand.amounts


@pytest.mark.parametrize(
    ("counts", "seen"),
    [
        (replace(BY_EQUATION, loads=None), "Eq. (3)"),
        (replace(BY_EQUATION, loads=3_000_000_000), "gives -800000000"),
    ],
    ids=["unknown", "negative"],
)
def test_operations_that_are_not_known_are_said_to_be_so(counts, seen):
    """Never 0, and what to do is said."""
    placed = in_bops(counts)
    (caution,) = [one for one in placed.cautions if one.code == "no-bops"]

    assert seen in caution.seen
    assert "--meter engine" in caution.remedy
    assert (placed.intensity, placed.performance_per_s) == (None, None)
    assert (
        report(analyse(measured(counts=counts), BENCH, metric="bop"))["performance_bop_per_s"]
        is None
    )


def test_a_machine_without_such_a_roof_says_what_to_do():
    """What is left bounds it: 1 GB at 5 GB/s."""
    placed = in_bops(INTEGERS, MACHINE)
    (caution,) = [one for one in placed.cautions if one.code == "no-ceiling"]

    assert "no bop ceiling" in caution.seen
    assert "ridgepoint machine" in caution.remedy
    assert "--machine e5645" in caution.remedy
    assert float(placed.bound.time_s) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("intensity", "attainable"),
    [(11.7, 86.4e9), (1.2, 15.84e9), (3.2, 42.24e9), (51.0, 86.4e9)],
    ids=["Sort", "Grep", "WordCount", "Bayes"],
)
def test_workloads_of_the_paper_attain_its_bounds(intensity, attainable):
    """Table 12: the smaller of 86.4 GBOP/s and 13.2 GB/s times the intensity, six cores busy."""
    counts = replace(
        INTEGERS, basic_operations=BasicOperations(arithmetic=round(intensity * 1_000_000_000))
    )
    moved = (Traffic(level="dram", read_bytes=1_000_000_000, write_bytes=0),)
    placed = place(measured(counts=counts, traffic=moved), load("e5645"), cores=6.0, metric="bop")

    assert placed.attainable_per_s == pytest.approx(attainable)


def test_the_report_says_which_count_it_is():
    """Refined with its classes and Eq. (3) beside it; or Eq. (3) alone."""
    refined, by_equation = measured(counts=INTEGERS), measured(counts=BY_EQUATION)
    text = shown(refined, BENCH, "bop")
    other = shown(by_equation, BENCH, "bop")

    assert "2 GBOP refined: 50 % arithmetic, 30 % addressing, 20 % compare" in text
    assert "by Eq. (3)    1.5 GBOP" in text
    assert "DRAM 2 BOP/byte" in text
    assert "8 GBOP/s (n = 1)" in text
    assert "flop" not in text
    assert "1.5 GBOP by Eq. (3)" in other


def test_the_document_holds_both_counts_and_the_place():
    """As `--json` prints them."""
    document = report(analyse(measured(counts=INTEGERS), BENCH, metric="bop"))

    assert document["bops"] == {
        "refined": {
            "arithmetic": 1_000_000_000,
            "fp_arithmetic": 0,
            "logic": 0,
            "compare": 400_000_000,
            "fp_compare": 0,
            "addressing": 600_000_000,
            "total": 2_000_000_000,
        },
        "eq3": 1_500_000_000,
    }
    assert document["work_is"] == {"metric": "bop", "counted": "refined"}
    assert document["intensity_bop_per_byte"] == pytest.approx(2.0)
    assert document["intensity_flop_per_byte"] is None
    assert document["performance_bop_per_s"] == pytest.approx(8e9)
    assert document["bound"]["attainable_bop_per_s"] == pytest.approx(10e9)
    assert document["bound"]["attainable_flop_per_s"] is None
    assert document["functions"][0]["bops"]["eq3"] == 1_500_000_000


def test_the_figure_is_in_basic_operations():
    """The point, its roof and the axes."""
    figure = roofline_chart(BENCH, [by_operations(BENCH)])

    assert (figure.x.label, figure.y.label) == (
        "Operational intensity [BOP/byte]",
        "Performance [BOP/s]",
    )
    assert list(rates_of(figure, "roof")) == ["BOP", "DRAM"]
    assert marks_of(figure, "A")[0].at == (pytest.approx(2.0), pytest.approx(8e9))
    assert figure.key[1].text.endswith(": 8 GBOP/s, 2 BOP/byte, 80 % of DRAM roof")


def test_a_figure_without_the_roof_says_so():
    """The point is drawn all the same."""
    figure = roofline_chart(MACHINE, [by_operations(MACHINE)])

    assert "this machine has no BOP peak: that roof is missing" in figure.notes
    assert marks_of(figure, "A")


def test_a_figure_of_two_metrics_is_refused():
    """Neither axis would be of both."""
    one = measured(counts=INTEGERS)
    both = [analyse(one, BENCH), analyse(one, BENCH, metric="bop")]

    with pytest.raises(ValueError, match="one metric"):
        roofline_chart(BENCH, both)


def test_a_program_without_floating_point_is_told_of_basic_operations():
    """In flop, where nothing else can be said of its work; not in BOP, nor with flop."""
    integers = measured(counts=INTEGERS)
    codes = [one.code for one in analyse(integers, BENCH).advice]
    in_bops_codes = [one.code for one in analyse(integers, BENCH, metric="bop").advice]
    floating = measured(counts=COUNTS)

    assert codes[-1] == TRY_BOPS
    assert TRY_BOPS not in in_bops_codes
    assert all(one.code != TRY_BOPS for one in analyse(floating, BENCH).advice)


def test_nothing_is_said_of_basic_operations_that_are_not_known():
    """Hardware counters that tell no loads."""
    unknown = measured(counts=replace(BY_EQUATION, loads=None))

    assert all(one.code != TRY_BOPS for one in analyse(unknown, BENCH).advice)


def test_functions_are_compared_by_their_basic_operations():
    """One computes, another moves: 90 % and 10 %."""
    parts = [
        FunctionCounts(
            name=name,
            object="/prog",
            counts=Counts(
                instructions=100,
                branches=0,
                loads=0,
                stores=0,
                load_bytes=0,
                store_bytes=0,
                basic_operations=BasicOperations(arithmetic=bops),
            ),
        )
        for name, bops in (("compute", 90), ("move", 10))
    ]
    whole = Counts.total(part.counts for part in parts)
    one = measured(counts=whole)
    one = replace(one, counted=replace(one.counted, functions=tuple(parts)))
    text = shown(one, BENCH, "bop")

    assert [line.split()[2:4] for line in text.splitlines() if "prog  " in line] == [
        ["90", "%"],
        ["10", "%"],
    ]


def test_ridge_points_of_basic_operations_have_their_unit():
    """20 GBOP/s over 5 GB/s."""
    figure = roofline_chart(BENCH, [by_operations(BENCH)])

    assert figure.notes == ("ridge points [BOP/byte]: DRAM 4",)
