"""A program below the ceilings of the DC-Roofline: Eqs. (4) to (8), with the paper's numbers."""

from dataclasses import replace

import pytest
from chart_reading import names_of
from core_inputs import COUNTS, ceiling, machine_of, measured
from rich.console import Console

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.counts import Traffic
from ridgepoint.models.analysis import analyse
from ridgepoint.models.dc_ceilings import dc_ceilings, dc_place
from ridgepoint.published.machines import load
from ridgepoint.show.charts.roofline import roofline_chart
from ridgepoint.show.report import report
from ridgepoint.show.tables.run_table import run

E5645 = load("e5645")
BOP = 529 * 10**9  # Table 7: Sort, 40 s on six cores (section 4.3.1), OI 11.7 (Table 12)


MOVED = round(BOP / 11.7)


def program(bop=BOP, runtime_s=40.0, moved=MOVED, machine=E5645, cores=6.0):
    """Return the analysis of a program of some basic operations, runtime and traffic."""
    counts = replace(COUNTS, flop=(), basic_operations=BasicOperations(arithmetic=bop))
    traffic = () if moved is None else (Traffic(level="dram", read_bytes=moved, write_bytes=0),)
    wall_s = None if runtime_s is None else (runtime_s,)
    whole = measured(counts=counts, traffic=traffic, wall_s=wall_s)
    return analyse(whole, machine, cores=cores, metric="bop")


def place(**options):
    """Return its place on the DC-Roofline."""
    return dc_place(program(**options).placement)


def test_sort_of_the_paper():
    """13.2 GBOPS of 86.4 are 15 %; the ceilings are 43.2 with SIMD and 21.6 without."""
    found = place()

    assert found.intensity == pytest.approx(11.7)
    assert found.peak_share == pytest.approx(529 / 40 / 86.4)
    assert {one.ceiling.name: one.attained for one in found.below} == {
        "peak": pytest.approx(86.4e9),
        "with SIMD": pytest.approx(43.2e9),
        "with ILP, no SIMD": pytest.approx(21.6e9),
    }
    assert {one.bottleneck for one in found.below} == {"calculation"}
    assert found.next.ceiling.name == "with ILP, no SIMD"


@pytest.mark.parametrize(
    ("runtime_s", "ceiling"), [(40.0, "with ILP, no SIMD"), (20.0, "with SIMD"), (8.0, "peak")]
)
def test_the_next_ceiling_is_the_lowest_that_is_not_passed(runtime_s, ceiling):
    """13.2, 26.5 and 66 GBOP/s below 21.6, 43.2 and 86.4."""
    assert place(runtime_s=runtime_s).next.ceiling.name == ceiling


def test_memory_bounds_what_moves_much():
    """Grep of Table 12: 13.2 GB/s x 1.2 BOP/byte = 15.84 GBOP/s, below every ceiling."""
    found = place(moved=round(BOP / 1.2))

    assert {round(one.attained / 1e7) for one in found.below} == {1584}
    assert {one.bottleneck for one in found.below} == {"memory access"}


def test_by_design_ceilings_are_those_of_the_busy_cores():
    """Eq. (4) is proportional to the cores: a sixth of 86.4, 43.2 and 21.6 GBOP/s."""
    rates = {one.name: one.rate for one in dc_ceilings(E5645, cores=1.0)}

    assert rates == {
        "peak": pytest.approx(14.4e9),
        "with SIMD": pytest.approx(7.2e9),
        "with ILP, no SIMD": pytest.approx(3.6e9),
    }


MEASURED = machine_of(
    ceiling("bop", 80e9, name="mixed 512-bit"),
    ceiling("bop", 20e9, name="mixed scalar"),
    ceiling("bop", 3e9, name="dependent scalar"),
    ceiling("bop", 25e9, name="dependent 512-bit"),
    ceiling("dram", 30e9, name="load"),
    ceiling("dram", 2e9, name="gather"),
)


def test_measured_ceilings_have_the_names_of_what_they_lack():
    """Lines in random order stand for a memory without prefetching."""
    found = place(machine=MEASURED, cores=1.0, moved=BOP)

    assert [(one.ceiling.name, one.ceiling.value) for one in found.below] == [
        ("peak", 80e9),
        ("no ILP", 25e9),
        ("no SIMD", 20e9),
        ("no SIMD, no ILP", 3e9),
        ("no prefetching", 2e9),
    ]
    assert [round(one.attained / 1e9) for one in found.below] == [30, 25, 20, 3, 2]


def test_the_figure_draws_them_by_these_names():
    """Below the roof, with the lower bandwidth."""
    lower = names_of(roofline_chart(MEASURED, [program(machine=MEASURED, cores=1.0)]), "lower")

    assert lower == [
        "BOP no ILP 25 GBOP/s",
        "BOP no SIMD 20 GBOP/s",
        "BOP no SIMD, no ILP 3 GBOP/s",
        "DRAM no prefetching 2 GB/s",
    ]


@pytest.mark.parametrize("missing", ["runtime_s", "moved"])
def test_what_is_unknown_stays_so(missing):
    """Without time no share is known, and without traffic no bound."""
    found = place(**{missing: None})

    assert found.next is None
    assert all(one.share is None for one in found.below)


def test_a_program_that_moves_nothing_is_bound_by_calculation():
    """Its intensity is infinite."""
    assert {one.bottleneck for one in place(moved=0).below} == {"calculation"}


def test_programs_in_flop_and_machines_without_bop_have_no_such_place():
    """The table and the document leave it out."""
    in_flop = analyse(program().measurement, E5645, metric="flop")
    flop_only = machine_of(ceiling("fp64", 10e9), ceiling("dram", 5e9))

    assert dc_place(in_flop.placement) is None
    assert report(in_flop)["dc_roofline"] is None
    assert place(machine=flop_only, cores=1.0) is None


def test_the_report_and_the_document_say_it():
    """Eqs. (5) and (6), and what leads beyond the next ceiling."""
    console = Console(width=100, color_system=None)
    with console.capture() as captured:
        console.print(run(program()))
    text, document = " ".join(captured.get().split()), report(program())["dc_roofline"]

    assert "OI 11.7 BOP/byte by Eq. (6); efficiency 15 % of the peak by Eq. (5)." in text
    assert "'with ILP, no SIMD', which allows 21.6 GBOP/s; beyond it lead vector" in text
    assert document["next_ceiling"] == "with ILP, no SIMD"
    assert document["ceilings"][0]["attained"] == pytest.approx(86.4e9)
