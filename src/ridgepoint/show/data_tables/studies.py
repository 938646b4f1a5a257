"""The results of the suites as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch

from ridgepoint.core.columns import CAUTIONS, count, flag, number, text
from ridgepoint.core.documents import fields_of
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.table import Table
from ridgepoint.models.analysis import place
from ridgepoint.models.gains import Gain
from ridgepoint.models.placement import Placement
from ridgepoint.published.recomputed import RecomputedPaper
from ridgepoint.show.data_tables.part import MEASURED, Row, done, placed, times
from ridgepoint.suites.datacenter.hosts import DatacenterHosts, common_cases
from ridgepoint.suites.datacenter.mpi_results import MpiStudy
from ridgepoint.suites.datacenter.results import DatacenterResult, DatacenterStudy
from ridgepoint.suites.datacenter.stacks import StackStudy
from ridgepoint.suites.distributed.results import DistributedStudy
from ridgepoint.suites.imaging.measuring import ImagingStudy
from ridgepoint.suites.kernels.results import KernelStudy

_FAILURE = text("failure", "Why it could not be measured; empty: it was.")
_GAIN = (
    *number("gain", "How many times as fast.").ends(),
    text("verdict", "gain, loss, no difference seen, or unknown."),
)


@singledispatch
def study_tables(study: object) -> Sequence[Table]:
    """Return every table of the results of a suite, that of the cases first."""
    raise TypeError(f"there is no table of a {type(study).__name__}")


_KERNEL_CASES = (
    text("workload", "family.implementation."),
    count("n", "Size."),
    text("state", "Of the caches: warm or cold."),
    count("threads", "Threads."),
    count("expected_flop", "Work that a call must have.", unit="flop"),
    count("expected_read_bytes", "Bytes that a cold call must read.", unit="byte"),
    count("expected_write_bytes", "Bytes that a cold call must write.", unit="byte"),
    *MEASURED,
    _FAILURE,
)


@study_tables.register
def _(study: KernelStudy) -> Sequence[Table]:
    places = {id(result): placement for result, _, placement in study.placed}
    rows = (
        {
            **fields_of(result.case, "workload", "n", "state", "threads"),
            "expected_flop": result.expected.work_flop,
            "expected_read_bytes": result.expected.read_bytes,
            "expected_write_bytes": result.expected.write_bytes,
            **_measured(result.measurement, places.get(id(result))),
            "failure": result.failure,
        }
        for result in study.results
    )
    return (Table.of("cases", _KERNEL_CASES, rows),)


_DATACENTER_CASE = (
    text("workload", "Name of the workload."),
    text("title", "Its name in the paper."),
    text("step", "original, ILP, prefetch or SIMD."),
    text("variant", "How it was compiled."),
    text("form", "Implementation of the task."),
    count("size", "Size of the data, in the row's size_unit."),
    text("size_unit", "Unit of the size."),
    count("threads", "Threads."),
)
_CASE_KEYS = tuple(column.key for column in _DATACENTER_CASE)
_DATACENTER_CASES = (
    *_DATACENTER_CASE,
    count("source_bop", "Basic operations that its source defines.", unit="BOP"),
    *MEASURED,
    _FAILURE,
)
_STEP_GAINS = (
    text("title", "Name of the workload in the paper."),
    text("before", "Step that is compared with."),
    text("after", "Step that is compared."),
    *_GAIN,
)


@study_tables.register
def _(study: DatacenterStudy) -> Sequence[Table]:
    gains = ({**fields_of(gain, "title", "before", "after"), **_gain(gain.time)}
             for gain in study.gains)  # fmt: skip
    return (
        Table.of("cases", _DATACENTER_CASES, _datacenter_rows(study)),
        Table.of("gains", _STEP_GAINS, gains),
    )


def _datacenter_rows(study: DatacenterStudy) -> Iterable[Row]:
    for result in study.results:
        yield {
            **fields_of(result.case, *_CASE_KEYS),
            "source_bop": None if result.source is None else result.source.total,
            **_measured(result.measurement, _bop_place(study, result)),
            "failure": "; ".join(result.failures),
        }


def _bop_place(study: DatacenterStudy, result: DatacenterResult) -> Placement | None:
    if result.measurement is None:
        return None
    return place(result.measurement, study.machine, metric="bop")


_HOST = text("host", "Name of the host's file.")
_HOST_GAINS = (text("case", "Workload and step."), _HOST, *_GAIN)


@study_tables.register
def _(study: DatacenterHosts) -> Sequence[Table]:
    cases = (
        {"host": host.name, **row}
        for host in study.hosts
        for row in _datacenter_rows(host.study)
    )  # fmt: skip
    others = study.hosts[1:]
    gains = (
        {"case": case.name, "host": host.name, **_gain(gain)}
        for case in common_cases(study.hosts)
        for host, gain in zip(others, case.gains, strict=True)
    )
    return (
        Table.of("cases", (_HOST, *_DATACENTER_CASES), cases),
        Table.of("gains", _HOST_GAINS, gains),
    )


_MPI_CASES = (
    text("workload", "Name of the workload."),
    text("title", "Its name in the paper."),
    count("size", "Size of the data, in the row's size_unit."),
    text("size_unit", "Unit of the size."),
    count("ranks", "Ranks of MPI."),
    *number("time_s", "Time, median.", "T", unit="s").ends(),
    count("source_bop", "Basic operations that its source defines.", unit="BOP"),
    _FAILURE,
)


@study_tables.register
def _(study: MpiStudy) -> Sequence[Table]:
    keys = ("workload", "title", "size", "size_unit", "ranks", "time_s", "failure")
    rows: list[Row] = [
        {**fields_of(result, *keys), "source_bop": result.bops} for result in study.results
    ]
    rows += [{"title": title, "failure": why} for title, why in study.failures.items()]
    return (Table.of("cases", _MPI_CASES, rows),)


_STACK_CASES = (
    *_DATACENTER_CASE,
    text("stack", "Software that ran it, with its version."),
    *number("own_s", "Time of our own program, median.", unit="s").ends(),
    *number("stack_s", "Time in the stack, median.", unit="s").ends(),
    number("started_s", "Time until the stack had started.", unit="s"),
    *_GAIN,
    _FAILURE,
)


@study_tables.register
def _(study: StackStudy) -> Sequence[Table]:
    rows = (
        {
            **fields_of(result.case, *_CASE_KEYS),
            **fields_of(result, "stack", "own_s", "stack_s", "started_s", "failure"),
            **_gain(result.gain),
        }
        for result in study.results
    )
    return (Table.of("cases", _STACK_CASES, rows),)


_RECOMPUTED = (
    text("table_number", "Table of the paper."),
    text("table_title", "Title of the table."),
    text("row", "Row of the table."),
    text("column", "Column of the table."),
    text("printed", "As the paper has it."),
    text("recomputed", "From the paper's other numbers."),
    flag("agrees", "Whether both may be the same, rounded as they are."),
)


@study_tables.register
def _(study: RecomputedPaper) -> Sequence[Table]:
    rows = (
        {
            "table_number": table.number,
            "table_title": table.title,
            "row": row,
            "column": column,
            **fields_of(cell, "printed", "recomputed", "agrees"),
        }
        for table in study.tables
        for row, cells in table.rows
        for column, cell in zip(table.columns, cells, strict=True)
    )
    return (Table.of("cases", _RECOMPUTED, rows),)


_RUNS = (
    text("program", "Name of the program."),
    count("ranks", "Ranks of MPI."),
    text("hosts", "Hosts of the ranks, separated by ' '."),
    count("threads", "BLAS threads on each rank."),
    *number("step_s", "Time of one step on the slowest rank, median.", unit="s").ends(),
    text("precision", "Precision of most of the work."),
    count("work", "Operations of one step, over all ranks and precisions."),
    count("dram_bytes", "Least bytes moved at DRAM in one step, all ranks.", unit="byte"),
    count("exchanged_bytes", "Bytes exchanged in one step, all ranks.", unit="byte"),
    flag("passed", "Whether the check of its result passed."),
    _FAILURE,
)
_STEP_PARTS = (
    text("program", "Name of the program."),
    text("part", "compute, network, ..."),
    *number("time_s", "Time of the part in one step, median.", unit="s").ends(),
)


@study_tables.register
def _(study: DistributedStudy) -> Sequence[Table]:
    rows: list[Row] = [
        {
            **fields_of(run, "program", "ranks", "threads", "step_s", "dram_bytes"),
            **fields_of(run, "exchanged_bytes"),
            "hosts": " ".join(dict.fromkeys(run.hosts)),
            "precision": max(run.work, key=lambda name: run.work[name], default=None),
            "work": sum(run.work.values()),
            "passed": None if run.check is None else run.check.passed,
        }
        for run in study.results
    ]
    rows += [{"program": name, "failure": why} for name, why in study.failures.items()]
    parts = (
        {"program": run.program, "part": part, "time_s": run.part_s(part)}
        for run in study.results
        for part in run.parts_s
    )
    return (Table.of("cases", _RUNS, rows), Table.of("parts", _STEP_PARTS, parts))


_STAGES = (
    text("name", "Name of the stage."),
    text("summary", "What it does."),
    text("state", "Of the caches: warm or cold."),
    count("threads", "Threads."),
    count("visibilities", "Number of visibilities."),
    count("gridded", "Visibilities that were gridded to measure it."),
    *number("runtime_s", "Wall-clock time, median.", "T", unit="s").ends(),
    number("work_flop", "Counted work.", "W", unit="flop"),
    number("expected_flop", "Work by formula.", unit="flop"),
    number("dram_bytes", "Bytes moved both ways at DRAM.", unit="byte"),
    number("expected_bytes", "Bytes at DRAM by formula.", unit="byte"),
    number("visibilities_per_s", "Throughput, visibilities per second."),
    _FAILURE,
)
_STAGE_CAUTIONS = (text("stage", "Name of the stage."), *CAUTIONS[:-1])


@study_tables.register
def _(study: ImagingStudy) -> Sequence[Table]:
    rows = (
        {
            **fields_of(stage, "name", "summary", "state", "threads", "visibilities", "gridded"),
            **fields_of(stage, "runtime_s", "work_flop", "expected_flop", "expected_bytes"),
            **fields_of(stage, "visibilities_per_s", "failure"),
            "dram_bytes": stage.moved_bytes,
        }
        for stage in study.results
    )
    cautions = (
        {"stage": stage.name, **fields_of(caution, "code", "seen", "remedy")}
        for stage in study.results
        for caution in stage.cautions
    )
    return (Table.of("cases", _STAGES, rows), Table.of("cautions", _STAGE_CAUTIONS, cautions))


def _measured(measurement: Measurement | None, placement: Placement | None) -> Row:
    """Return what was measured of a case and how near its roof it is, by key."""
    if measurement is None:
        return {}
    counted = measurement.counted
    return {
        **times(measurement),
        **done(counted.counts, counted.traffic),
        **placed(placement),
    }


def _gain(gain: Gain | None) -> Row:
    if gain is None:
        return {}
    return {
        "gain": gain.ratio,
        "gain_low": gain.low,
        "gain_high": gain.high,
        "verdict": gain.verdict,
    }


COLUMNS = {
    "kernels": {"cases": _KERNEL_CASES},
    "datacenter": {"cases": _DATACENTER_CASES, "gains": _STEP_GAINS},
    "datacenter --from, several files": {
        "cases": (_HOST, *_DATACENTER_CASES),
        "gains": _HOST_GAINS,
    },
    "datacenter --mpi": {"cases": _MPI_CASES},
    "datacenter --spark": {"cases": _STACK_CASES},
    "datacenter --published": {"cases": _RECOMPUTED},
    "distributed": {"cases": _RUNS, "parts": _STEP_PARTS},
    "imaging": {"cases": _STAGES, "cautions": _STAGE_CAUTIONS},
}
"""Of each table, by the suite and the table's name."""
