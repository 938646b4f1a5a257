"""Measured over expected, against numbers found by hand; and the suite's document and tables."""

import io
from dataclasses import replace

import pytest
from core_inputs import COUNTS, MACHINE, measured
from rich.console import Console

from ridgepoint.core.counts import FlopCount, Traffic
from ridgepoint.core.documents import decode, encode
from ridgepoint.core.machine import Cache
from ridgepoint.core.measurement import Protocol
from ridgepoint.show.tables.suite_table import suite, validation
from ridgepoint.suites.kernels.results import Case, Expected, KernelStudy, Result
from ridgepoint.suites.kernels.validation import Ratio, validate

LLC = Cache(level=3, kind="unified", size_bytes=1 << 20, line_bytes=64, ways=16)


def result(n, *, flop, read, written, state="cold", data_bytes=1 << 19, expected=None):
    """Return the result of a case of dgemv.llvm, which must do 100 flop and move 80 and 20 byte."""
    kind = FlopCount(precision="fp64", width_bits=256, fma=True, flop=flop, instructions=1)
    seen = measured(
        traffic=(Traffic(level="dram", read_bytes=read, write_bytes=written),),
        counts=replace(COUNTS, flop=(kind,)),
    )
    protocol = Protocol(
        state=state, calls=10, replicas=4, data_bytes=data_bytes, overhead_s=1e-9, counted_calls=2
    )
    return Result(
        case=Case(workload="dgemv.llvm", n=n, state=state, threads=1),
        expected=expected or Expected(work_flop=100, read_bytes=80, write_bytes=20),
        measurement=replace(seen, counted=replace(seen.counted, caches=(LLC,)), protocol=protocol),
    )


RESULTS = (
    result(1, flop=100, read=80, written=20),
    result(2, flop=100, read=88, written=30),
    result(3, flop=110, read=96, written=24),
)


def test_median_and_extremes_are_those_of_all_sizes():
    """Q is (80 + 20, 88 + 30, 96 + 24) over 100."""
    (found,) = validate(RESULTS)

    assert (found.workload, found.threads, found.sizes) == ("dgemv.llvm", 1, (1, 2, 3))
    assert found.ratios == {
        "W": Ratio(median=1.0, minimum=1.0, maximum=1.1),
        "Q_r": Ratio(median=1.1, minimum=1.0, maximum=1.2),
        "Q_w": Ratio(median=1.2, minimum=1.0, maximum=1.5),
        "Q": Ratio(median=1.18, minimum=1.0, maximum=1.2),
    }


@pytest.mark.parametrize(
    "other",
    [
        result(9, flop=900, read=900, written=900, state="warm"),
        result(9, flop=900, read=900, written=900, data_bytes=1 << 21),
        replace(RESULTS[0], measurement=None, failure="it would not"),
    ],
    ids=["warm", "larger than the last cache", "failed"],
)
def test_what_says_nothing_of_compulsory_traffic_is_left_out(other):
    """It has traffic of its own, or none."""
    assert validate([*RESULTS, other]) == validate(RESULTS)


def test_what_is_expected_to_be_nothing_has_no_ratio():
    """STREAM's copy does no flop; a reduction writes nothing."""
    nothing = Expected(work_flop=0, read_bytes=80, write_bytes=0)
    (found,) = validate([result(1, flop=0, read=80, written=0, expected=nothing)])

    assert (found.ratios["W"], found.ratios["Q_w"]) == (None, None)
    assert found.ratios["Q"] == Ratio(median=1.0, minimum=1.0, maximum=1.0)


def test_results_come_back_from_their_document():
    """With failures, and all that was measured."""
    failed = replace(RESULTS[0], measurement=None, failure="it would not")
    run = KernelStudy(machine=MACHINE, results=(*RESULTS, failed))

    assert decode(encode(run), KernelStudy, origin="here") == run


def shown(renderable):
    """Return what a terminal of 100 columns shows."""
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(renderable)
    return console.export_text()


def test_tables_show_ratios_failures_and_each_kind_of_doubt_once():
    """100 flop in 0.25 s are 400 flop/s."""
    failed = replace(RESULTS[0], measurement=None, failure="it would not")
    text = shown(suite(KernelStudy(machine=MACHINE, results=(*RESULTS, failed))))
    ratios = shown(validation(validate(RESULTS)))

    assert "dgemv.llvm" in text
    assert "400" in text
    assert "dgemv.llvm n = 1, cold, 1 thread: it would not" in text
    assert "1.000 (1.100)  1.100 (1.200)  1.200 (1.500)  1.180 (1.200)" in ratios
