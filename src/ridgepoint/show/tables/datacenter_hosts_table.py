"""The datacenter workloads on several hosts, a column for each host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.models.work import WORK_UNITS, Metric
from ridgepoint.show.tables.layout import plain_table, titled
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
from ridgepoint.suites.datacenter.hosts import DatacenterHosts, Host, HostsCase, common_cases
from ridgepoint.suites.datacenter.work import (
    MeasuredCase,
    efficiency,
    instructions_per_cycle,
    measured_cases,
    over,
    together,
    tools,
)

_TOGETHER = "together"
_NOT_THERE = "-"
_METRICS: tuple[Metric, ...] = ("bop", "flop")
Rows = Iterable[tuple[str, Sequence[str]]]


def datacenter_hosts(hosts: DatacenterHosts) -> RenderableType:
    """Return the paper's Tables 9, 10 and 15 with a column for each host, and the times."""
    several = hosts.hosts
    names = [printable(host.name) for host in several]
    cases = common_cases(several)
    modern = [case for case in cases if not _any(case).case.is_traditional]
    traditional = [
        case for case in cases if _any(case).case.is_traditional and _any(case).case.step == "ILP"
    ]
    tables = [
        _table("Table 9: BOPS, FLOPS and IPC", (*names, _TOGETHER), _efficiencies(several)),
        _table("Table 10: traditional workloads", names, _traditional(traditional, several)),
        _table("BOP/s", names, _each(modern, lambda measured: _amount(measured.rate("bop")))),
        _table("Table 15: BOP/byte, and what bounds", names, _bounds(modern, several)),
        _table(
            f"Time ({WITHIN})",
            names,
            _each(cases, lambda measured: shown_within(measured.time_s, "s")),
        ),
        _table(
            f"Times as fast as {names[0]} (95 % interval)",
            names[1:],
            [(case.name, [shown_gain(gain) for gain in case.gains]) for case in cases],
        ),
    ]
    return Group(*_heads(several), *(part for table in tables for part in table))


def _heads(hosts: Sequence[Host]) -> list[RenderableType]:
    lines = [f"{host.name}: {machine_title(host.study.machine)}" for host in hosts]
    failed = [
        f"{host.name}: {why}"
        for host in hosts
        for why in dict.fromkeys(host.study.unmeasured.values())
    ]
    return [Text(printable(line)) for line in (*lines, *failed)]


def _table(title: str, columns: Sequence[str], rows: Rows) -> list[RenderableType]:
    rows = list(rows)
    if not rows:
        return []
    table = plain_table("", *columns, right=columns)
    for name, cells in rows:
        table.add_row(Text(name), *map(Text, cells))
    return [*titled(title, table)]


def _efficiencies(hosts: Sequence[Host]) -> Rows:
    """Yield the rows of Table 9; hosts that work side by side do what they do together."""
    measured = [tools(measured_cases(host.study.results)) for host in hosts]
    if not any(measured):
        return
    for metric in _METRICS:
        unit = WORK_UNITS[metric]
        of_hosts = [
            efficiency(cases, host.study.machine, metric)
            for cases, host in zip(measured, hosts, strict=True)
        ]
        of_hosts.append(together(of_hosts))
        yield f"peak {unit}/s", [_amount(host.peak) for host in of_hosts]
        yield f"real {unit}/s", [_amount(host.reached) for host in of_hosts]
        yield f"{unit}/s efficiency", [shown_share(host.share) for host in of_hosts]
    per_cycle = [
        instructions_per_cycle(cases, host.study.machine)
        for cases, host in zip(measured, hosts, strict=True)
    ]
    yield "real IPC", [*map(shown_ratio, per_cycle), _NOT_THERE]


def _traditional(cases: Sequence[HostsCase], hosts: Sequence[Host]) -> Rows:
    for case in cases:
        title = _any(case).case.title
        for metric in _METRICS:
            unit = WORK_UNITS[metric]
            rates = [
                None if measured is None else measured.rate(metric) for measured in case.of_hosts
            ]
            peaks = [
                None if measured is None else measured.peak(host.study.machine, metric)
                for measured, host in zip(case.of_hosts, hosts, strict=True)
            ]
            yield f"{title}, {unit}/s", [_amount(rate) for rate in rates]
            shares = (over(rate, peak) for rate, peak in zip(rates, peaks, strict=True))
            yield f"{title}, of the peak", [shown_share(share) for share in shares]


def _each(cases: Sequence[HostsCase], shown: Callable[[MeasuredCase], str]) -> Rows:
    for case in cases:
        yield (
            case.name,
            [_NOT_THERE if measured is None else shown(measured) for measured in case.of_hosts],
        )


def _bounds(cases: Sequence[HostsCase], hosts: Sequence[Host]) -> Rows:
    for case in cases:
        cells = []
        for measured, host in zip(case.of_hosts, hosts, strict=True):
            if measured is None:
                cells.append(_NOT_THERE)
                continue
            _, bottleneck = measured.bound(host.study.machine, "bop")
            cells.append(f"{shown_ratio(measured.intensity('bop'))}, {bottleneck or UNKNOWN}")
        yield case.name, cells


def _any(case: HostsCase) -> MeasuredCase:
    return next(measured for measured in case.of_hosts if measured is not None)


def _amount(value: float | None, unit: str = "") -> str:
    return shown_amount(value, unit, digits=3)
