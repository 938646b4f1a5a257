"""The paper's tables of measured workloads, and their points, from results made by hand."""

from dataclasses import replace
from io import StringIO

import pytest
from figure_inputs import MACHINE, measurement
from rich.console import Console

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.documents import decode, encode, to_fields
from ridgepoint.core.estimate import Estimate
from ridgepoint.models.gains import Gain
from ridgepoint.published.machines import load
from ridgepoint.show.tables.datacenter_tables import datacenter
from ridgepoint.suites.datacenter.points import datacenter_points
from ridgepoint.suites.datacenter.results import DatacenterCase, DatacenterResult, DatacenterStudy

SORT = DatacenterCase(
    workload="sort",
    title="Sort",
    is_traditional=False,
    step="original",
    variant="baseline",
    form="original",
    size=1000,
    size_unit="records",
    threads=6,
)


def result(
    step="original", *, runtime_s=1.0, bop=2_000_000_000, dram=(600_000_000, 400_000_000, 0)
):
    """Return a case whose source defines so many BOPs; None: its source could not be counted."""
    measured = measurement(dram=dram, runtime_s=runtime_s)
    unknown = replace(measured.counted.counts, loads=None)  # and so Eq. (3) is
    measured = replace(measured, counted=replace(measured.counted, counts=unknown))
    return DatacenterResult(
        case=replace(SORT, step=step),
        measurement=measured,
        source=None if bop is None else BasicOperations(arithmetic=bop),
    )


def shown(*results, machine=None):
    """Return the tables as text, blanks as one."""
    console = Console(width=160, file=StringIO())
    console.print(datacenter(DatacenterStudy(machine=machine or load("e5645"), results=results)))
    return [" ".join(line.split()) for line in console.file.getvalue().splitlines()]


def test_dc_roofline_of_a_published_machine_is_eq_7():
    """2 GBOP over 1 GB: 13.2 GB/s times 2 BOP/byte, less than 86.4 GBOPS."""
    lines = shown(result())

    assert "Sort 2 G 2 26.4 G memory access" in lines


def test_gains_are_of_rate_and_of_time():
    """Half the time for three quarters of the BOPs: x 1.5 in BOPS, x 2 for who waits."""
    lines = shown(result(), result("ILP", runtime_s=0.5, bop=1_500_000_000))

    # Each time is known to half a percent.
    assert "Sort, ILP 3 G 1.5 2 G x 1.50 (1.49 to 1.51) x 2.00 (1.99 to 2.01)" in lines
    assert "Sort, original 2 G 2 1 G - -" in lines


def test_noise_is_not_called_a_gain():
    """Steps of equal time: the ratio of two medians is not printed as if it were one."""
    lines = shown(result(), result("ILP", runtime_s=1.003))

    assert any(line.endswith("no difference seen (0.99 to 1.00)") for line in lines)


def test_runs_in_turn_are_compared_pair_by_pair():
    """The machine slows down threefold while both are measured: each pair still says x 2."""
    drift = [1, 1.5, 2, 2, 2.5, 2.5, 3, 3]
    steps = [
        replace(
            one,
            is_in_turn=True,
            measurement=replace(
                one.measurement,
                timed=replace(one.measurement.timed, runtime_s=Estimate(t * one_s for t in drift)),
            ),
        )
        for one, one_s in ((result(), 1.0), (result("ILP"), 0.5))
    ]
    study = DatacenterStudy(machine=MACHINE, results=tuple(steps))
    apart = replace(study, results=tuple(replace(step, is_in_turn=False) for step in steps))

    assert [one.time for one in study.gains] == [Gain(ratio=2.0, low=2.0, high=2.0)]
    assert [one.time.verdict for one in apart.gains] == ["no difference seen"]


def test_the_document_holds_the_gains():
    """Other programs need not calculate them."""
    fields = to_fields(DatacenterStudy(machine=MACHINE, results=(result(), result("ILP"))))

    assert [(one["after"], one["time"]["verdict"]) for one in fields["gains"]] == [
        ("ILP", "no difference seen")
    ]


def test_nothing_moved_is_calculation_and_unknown_is_unknown():
    """No traffic: no intensity. No count: no rate."""
    assert "Sort 2 G unknown 86.4 G calculation" in shown(result(dram=(0, 0, 0)))
    assert "Sort unknown unknown unknown unknown" in shown(result(bop=None))


def test_bounds_are_of_the_cores_that_work():
    """One core of six."""
    one = replace(result(dram=(0, 0, 0)), case=replace(SORT, threads=1))

    assert "Sort 2 G unknown 14.4 G calculation" in shown(one)


def test_machine_without_a_ceiling_bounds_nothing():
    """One that was measured before BOPs were."""
    assert "Sort 2 G 2 unknown unknown" in shown(result(), machine=MACHINE)


def test_failures_are_said_once():
    """The two steps share their source."""
    failed = replace(result(bop=None), failures=("no clang; install it",))
    lines = shown(failed, replace(failed, case=replace(SORT, step="ILP")))

    assert lines.count("no clang; install it") == 1
    assert "their instructions" in lines[0]


def test_every_step_is_a_point():
    """In the order in which they were measured; of one that is there twice, the first."""
    steps = [result(), *(result(step, runtime_s=t) for step, t in (("ILP", 0.6), ("SIMD", 0.2)))]
    points = datacenter_points([*steps, result("ILP", runtime_s=0.5)])

    assert [point.form for point in points] == ["original", "ILP", "SIMD"]
    assert (points[0].bop, points[0].dram_bytes) == (2e9, 1e9)
    assert points[1].runtime_s.median == pytest.approx(0.6, rel=1e-2)


def test_traditional_workloads_are_no_points():
    """They are for comparison."""
    assert datacenter_points([replace(result(), case=replace(SORT, is_traditional=True))]) == ()


def test_results_are_kept_and_read_back():
    """As a document of their own kind."""
    run = DatacenterStudy(machine=MACHINE, results=(result(), result(bop=None)))

    assert decode(encode(run), DatacenterStudy, origin="a test") == run
    assert isinstance(run.results[0].measurement.timed.runtime_s, Estimate)
