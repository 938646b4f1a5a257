"""The DC-Roofline paper's tables, of this machine and its measured workloads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.machine import Machine
from ridgepoint.core.units import format_si
from ridgepoint.models.dc_roofline import by_design
from ridgepoint.models.work import WORK_UNITS, Metric
from ridgepoint.show.tables.layout import caution_list, one_of_each_kind, plain_table, titled
from ridgepoint.show.tables.mix_table import mix_tables
from ridgepoint.show.words import (
    UNKNOWN,
    WITHIN,
    machine_title,
    printable,
    shown_amount,
    shown_gain,
    shown_ratio,
    shown_share,
    shown_within,
)
from ridgepoint.suites.datacenter.results import DatacenterCase, DatacenterStudy, Step, StepGain
from ridgepoint.suites.datacenter.work import (
    TOOLS,
    MeasuredCase,
    efficiency,
    instructions_per_cycle,
    measured_cases,
    tools,
)

_NONE = "-"
_INTERVALS = " (95 % interval)"
_WHY_THEY_DIFFER = """\
Eq. (4) has the ports that compute. What was measured takes operands from memory besides, whose
addresses come from ports of their own in the same cycles: it may be more than 100 %."""


def datacenter(study: DatacenterStudy) -> RenderableType:
    """Return the tables that there are results for, and what is doubtful about them.

    Parameters
    ----------
    study : DatacenterStudy
    """
    cases = measured_cases(study.results)
    modern = [measured for measured in cases if not measured.case.is_traditional]
    traditional = [measured for measured in cases if measured.case.is_traditional]
    tables = [
        _bounds("Table 2: the roofline in flop", _first(modern), study.machine, "flop"),
        _before_and_after(modern),
        _tools(modern),
        _efficiency(modern, study.machine),
        _traditional(traditional, study.machine),
        _bounds("Table 12: the DC-Roofline", _first(modern), study.machine, "bop"),
        _gains(
            f"Table 13: what the compiler's optimisation gains{_INTERVALS}",
            modern,
            [step for step in study.gains if step.before == "original"],
        ),
        _gains(
            f"Table 14: what software prefetches gain{_INTERVALS}",
            modern,
            [step for step in study.gains if step.after == "prefetch"],
        ),
    ]
    failures = dict.fromkeys(why for result in study.results for why in result.failures)
    cautions = [caution for measured in cases for caution in measured.measurement.all_cautions]
    return Group(
        *_head(study),
        *(part for table in tables if table is not None for part in table),
        *mix_tables(cases),
        *(_levels(cases) or []),
        *_ceilings(study.machine),
        *(Text(printable(why)) for why in failures),
        *([caution_list(one_of_each_kind(cautions))] if cautions else []),
    )


def _levels(cases: Iterable[MeasuredCase]) -> list[RenderableType] | None:
    """Return how far counts of instructions lie from what the source defines."""
    rows = [
        (
            str(measured.case),
            _amount(measured.source.total),
            shown_ratio(measured.refined_over_source),
            shown_ratio(measured.eq3_over_source),
        )
        for measured in cases
        if measured.source is not None
    ]
    columns = ("workload", "source", "refined / source", "Eq. (3) / source")
    return _table("BOPs at three levels", columns, rows)


def _ceilings(machine: Machine) -> Iterator[RenderableType]:
    """Return the machine's ceilings by the paper's equations and measured, where it has any."""
    if any(ceiling.measured is not None for ceiling in by_design(machine)):
        yield from titled("Ceilings", ceilings(machine))


def ceilings(machine: Machine) -> RenderableType:
    """Return a machine's ceilings by the paper's equations beside those measured."""
    table = plain_table("ceiling", "design", "measured", "of design", "how", right=("design",))
    for row in by_design(machine):
        table.add_row(
            row.name,
            shown_amount(row.design, "BOP/s", digits=3),
            shown_amount(row.measured, "BOP/s", digits=3),
            shown_share(row.share),
            f"{row.equation} | {row.pattern}",
        )
    return Group(Text(machine_title(machine), style="bold"), table, Text(_WHY_THEY_DIFFER))


def _head(study: DatacenterStudy) -> Iterator[RenderableType]:
    sources = [result for result in study.results if result.source is not None]
    how = "their sources" if len(sources) == len(study.results) else "their instructions"
    if sources and len(sources) < len(study.results):
        how = "their sources where these could be counted, else their instructions"
    yield Text(
        printable(f"{machine_title(study.machine)}; BOPs of {how}; traffic of emptied caches")
    )
    yield Text(WITHIN)


def _first(cases: Iterable[MeasuredCase]) -> list[MeasuredCase]:
    return [measured for measured in cases if measured.case.step == "original"]


def _table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]
) -> list[RenderableType] | None:
    """Return a table below its title; None: it would be empty."""
    rows = list(rows)
    if not rows:
        return None
    table = plain_table(*columns, right=columns[1:])
    for row in rows:
        table.add_row(*map(Text, row))
    return [*titled(title, table)]


def _bounds(
    title: str, cases: Iterable[MeasuredCase], machine: Machine, metric: Metric
) -> list[RenderableType] | None:
    unit = WORK_UNITS[metric]
    rows = []
    for measured in cases:
        bound, bottleneck = measured.bound(machine, metric)
        label = "no such work" if measured.work(metric) == 0 else bottleneck or UNKNOWN
        rate, intensity = measured.rate(metric), measured.intensity(metric)
        rows.append((measured.case.title, _rate(rate), shown_ratio(intensity), _rate(bound), label))
    return _table(title, ("workload", f"{unit}/s", f"{unit}/byte", "bound", "bottleneck"), rows)


def _before_and_after(cases: Sequence[MeasuredCase]) -> list[RenderableType] | None:
    rows = []
    for name in dict.fromkeys(measured.case.title for measured in cases):
        steps = [measured for measured in cases if measured.case.title == name]
        best = min(steps, key=lambda measured: measured.runtime_s or float("inf"))
        for measured in steps[:1] if best is steps[0] else (steps[0], best):
            rows.append(
                (
                    f"{name}, {measured.case.step}",
                    _rate(measured.rate("bop")),
                    shown_ratio(measured.intensity("bop")),
                    _rate(measured.rate("flop")),
                    shown_ratio(measured.intensity("flop")),
                    shown_within(measured.time_s, "s"),
                )
            )
    columns = ("workload", "BOP/s", "BOP/byte", "flop/s", "flop/byte", "time")
    return _table("Table 3: before and after optimisation", columns, rows)


def _tools(cases: Iterable[MeasuredCase]) -> list[RenderableType] | None:
    rows = [
        (
            measured.case.title,
            _amount(measured.work("bop")),
            shown_scale(measured.case),
            _amount(measured.measurement.counted.counts.eq3_bop),
            shown_within(measured.time_s, "s"),
        )
        for measured in _first(cases)
        if measured.case.workload in TOOLS
    ]
    return _table("Table 7: measuring tools", ("tool", "BOPs", "scale", "by Eq. (3)", "time"), rows)


def _efficiency(cases: Iterable[MeasuredCase], machine: Machine) -> list[RenderableType] | None:
    measured = tools(cases)
    if not measured:
        return None
    rows = []
    metrics: tuple[Metric, ...] = ("bop", "flop")
    for metric in metrics:
        reached = efficiency(measured, machine, metric)
        shown = _rate(reached.peak), _rate(reached.reached), shown_share(reached.share)
        rows.append((f"{WORK_UNITS[metric]}/s", *shown))
    rows.append(("IPC", UNKNOWN, shown_ratio(instructions_per_cycle(measured, machine)), UNKNOWN))
    return _table("Table 9: BOPS, FLOPS and IPC", ("", "peak", "real", "efficiency"), rows)


def _traditional(cases: Iterable[MeasuredCase], machine: Machine) -> list[RenderableType] | None:
    rows = [
        (
            measured.case.title,
            _rate(measured.rate("flop")),
            shown_share(measured.share_of_peak(machine, "flop")),
            _rate(measured.rate("bop")),
            shown_share(measured.share_of_peak(machine, "bop")),
        )
        for measured in cases
        if measured.case.step == "ILP"
    ]
    columns = ("workload", "flop/s", "of peak", "BOP/s", "of peak BOP/s")
    return _table("Table 10: traditional workloads", columns, rows)


def _gains(
    title: str, cases: Iterable[MeasuredCase], gains: Sequence[StepGain]
) -> list[RenderableType] | None:
    """Return what each step gains in BOP/s, and in time: it is the time that users wait for."""
    by_step = {(measured.case.title, measured.case.step): measured for measured in cases}
    rows: dict[tuple[str, Step], tuple[str, str]] = {}
    for step in gains:
        if (step.title, step.before) in by_step and (step.title, step.after) in by_step:
            rows.setdefault((step.title, step.before), (_NONE, _NONE))
            rows[step.title, step.after] = shown_gain(step.bop_rate), shown_gain(step.time)
    columns = ("workload", "BOP/s", "BOP/byte", "byte/s", "BOP/s gain", "time gain")
    return _table(title, columns, (_gain_row(by_step[key], cells) for key, cells in rows.items()))


def _gain_row(measured: MeasuredCase, cells: tuple[str, str]) -> tuple[str, ...]:
    return (
        str(measured.case),
        _rate(measured.rate("bop")),
        shown_ratio(measured.intensity("bop")),
        _rate(measured.bytes_per_s),
        *cells,
    )


def shown_scale(case: DatacenterCase) -> str:
    """Return the size of a case with its unit."""
    if case.size_unit == "bytes":
        return format_si(case.size, "B")
    return f"{format_si(case.size, '').strip()} {case.size_unit}"


def _rate(value: float | None) -> str:
    return shown_amount(value, digits=3)


def _amount(value: float | None) -> str:
    return shown_amount(value)
