"""The DC-Roofline paper's tables, of this machine and its measured workloads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.reference import DatacenterResult, DatacenterRun, Step
from ridgepoint.core.units import format_si
from ridgepoint.models.dc_roofline import DCRoofline
from ridgepoint.models.work import WORK_UNITS, Metric, work_total
from ridgepoint.show.tables.dc_ceilings import by_design, ceilings
from ridgepoint.show.tables.layout import caution_list, one_of_each_kind, plain_table
from ridgepoint.show.words import UNKNOWN, machine_title, percent, printable
from ridgepoint.suites.datacenter.work import basic_operations_of

_NONE = "-"
_TOOLS = ("sort", "grep", "wordcount")  # what the paper takes for measuring tools


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is known of one case; None where it is not.

    Parameters
    ----------
    result : DatacenterResult
    measurement : Measurement
    """

    result: DatacenterResult
    measurement: Measurement

    @property
    def title(self) -> str:
        return self.result.case.title

    @property
    def step(self) -> Step:
        return self.result.case.step

    @property
    def runtime_s(self) -> float | None:
        timed = self.measurement.timed
        return None if timed is None else timed.runtime_s.median

    @property
    def dram_bytes(self) -> int | None:
        traffic = self.measurement.traffic_at("dram")
        return None if traffic is None else traffic.total_bytes

    def work(self, metric: Metric) -> int | None:
        """Return the work: BOPs of the source where it could be counted, else of instructions."""
        if metric == "bop":
            return basic_operations_of(self.result)
        return work_total(self.measurement.counted.counts, metric)

    def rate(self, metric: Metric) -> float | None:
        return _over(self.work(metric), self.runtime_s)

    def intensity(self, metric: Metric) -> float | None:
        return _over(self.work(metric), self.dram_bytes)

    @property
    def bandwidth(self) -> float | None:
        return _over(self.dram_bytes, self.runtime_s)

    @property
    def instructions_per_s(self) -> float | None:
        return _over(self.measurement.counted.counts.instructions, self.runtime_s)


def _over(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def datacenter(run: DatacenterRun) -> RenderableType:
    """Return the tables that there are results for, and what is doubtful about them.

    Parameters
    ----------
    run : DatacenterRun
    """
    seen = [_Seen(one, one.measurement) for one in run.results if one.measurement is not None]
    modern = [one for one in seen if not one.result.case.is_traditional]
    traditional = [one for one in seen if one.result.case.is_traditional]
    tables = [
        _bounds("Table 2: the roofline in flop", _first(modern), run.machine, "flop"),
        _before_and_after(modern),
        _tools(modern),
        _efficiency(modern, run.machine),
        _traditional(traditional, run.machine),
        _bounds("Table 12: the DC-Roofline", _first(modern), run.machine, "bop"),
        _gains(
            "Table 13: what the compiler's optimisation gains", modern, "original", ("ILP", "SIMD")
        ),
        _gains("Table 14: what software prefetches gain", modern, "ILP", ("prefetch",)),
    ]
    failures = dict.fromkeys(why for one in run.results for why in one.failures)
    cautions = [caution for one in seen for caution in one.measurement.all_cautions]
    return Group(
        *_head(run),
        *(part for table in tables if table is not None for part in table),
        *(_levels(seen) or []),
        *_ceilings(run.machine),
        *(Text(printable(why)) for why in failures),
        *([caution_list(one_of_each_kind(cautions))] if cautions else []),
    )


def _levels(seen: Iterable[_Seen]) -> list[RenderableType] | None:
    """Return how far counts of instructions lie from what the source defines."""
    rows = []
    for one in seen:
        counts, source = one.measurement.counted.counts, one.result.source
        if source is not None:
            refined = None if counts.basic_operations is None else counts.basic_operations.total
            ways = (_over(amount, source.total) for amount in (refined, counts.eq3_bop))
            rows.append((str(one.result.case), _amount(source.total), *map(_ratio, ways)))
    columns = ("workload", "source", "refined / source", "Eq. (3) / source")
    return _table("BOPs at three levels", columns, rows)


def _ceilings(machine: Machine) -> Iterator[RenderableType]:
    """Return the machine's ceilings by the paper's equations and measured, where it has any."""
    if any(one.measured is not None for one in by_design(machine)):
        yield Padding(Text("Ceilings", style="bold"), (1, 0, 0, 0))
        yield ceilings(machine)


def _head(run: DatacenterRun) -> Iterator[RenderableType]:
    sources = [one for one in run.results if one.source is not None]
    how = "their sources" if len(sources) == len(run.results) else "their instructions"
    if sources and len(sources) < len(run.results):
        how = "their sources where these could be counted, else their instructions"
    yield Text(printable(f"{machine_title(run.machine)}; BOPs of {how}; traffic of emptied caches"))


def _first(seen: Iterable[_Seen]) -> list[_Seen]:
    return [one for one in seen if one.step == "original"]


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
    return [Padding(Text(title, style="bold"), (1, 0, 0, 0)), table]


def _bounds(
    title: str, seen: Iterable[_Seen], machine: Machine, metric: Metric
) -> list[RenderableType] | None:
    unit = WORK_UNITS[metric]
    rows = []
    for one in seen:
        rate, intensity = one.rate(metric), one.intensity(metric)
        bound, label = _bound(machine, metric, one)
        rows.append((one.title, _rate(rate), _ratio(intensity), _rate(bound), label))
    return _table(title, ("workload", f"{unit}/s", f"{unit}/byte", "bound", "bottleneck"), rows)


def _bound(machine: Machine, metric: Metric, one: _Seen) -> tuple[float | None, str]:
    """Return Eq. (7), of as many cores as it has threads, and its label."""
    work, intensity = one.work(metric), one.intensity(metric)
    if work == 0:
        return None, "no such work"
    try:
        roofline = _roofline(machine, metric, one)
        if work and one.dram_bytes == 0:
            return roofline.peak, "calculation"
        if intensity is None:
            return None, UNKNOWN
        return float(roofline.attainable(intensity)), str(roofline.bottleneck(intensity))
    except UnknownCeiling:
        return None, UNKNOWN


def _roofline(machine: Machine, metric: Metric, one: _Seen) -> DCRoofline:
    cores = float(min(one.result.case.threads, machine.cores))
    return DCRoofline(machine=machine, work="fp64" if metric == "flop" else "bop", cores=cores)


def _before_and_after(seen: Sequence[_Seen]) -> list[RenderableType] | None:
    rows = []
    for name in dict.fromkeys(one.title for one in seen):
        own = [one for one in seen if one.title == name]
        best = min(own, key=lambda one: one.runtime_s or float("inf"))
        for one in own[:1] if best is own[0] else (own[0], best):
            rows.append(
                (
                    f"{name}, {one.step}",
                    _rate(one.rate("bop")),
                    _ratio(one.intensity("bop")),
                    _rate(one.rate("flop")),
                    _ratio(one.intensity("flop")),
                    _seconds(one.runtime_s),
                )
            )
    columns = ("workload", "BOP/s", "BOP/byte", "flop/s", "flop/byte", "time")
    return _table("Table 3: before and after optimisation", columns, rows)


def _tools(seen: Iterable[_Seen]) -> list[RenderableType] | None:
    rows = [
        (
            one.title,
            _amount(one.work("bop")),
            f"{one.result.case.size} {one.result.case.size_unit}",
            _amount(one.measurement.counted.counts.eq3_bop),
            _seconds(one.runtime_s),
        )
        for one in _first(seen)
        if one.result.case.workload in _TOOLS
    ]
    return _table("Table 7: measuring tools", ("tool", "BOPs", "scale", "by Eq. (3)", "time"), rows)


def _efficiency(seen: Iterable[_Seen], machine: Machine) -> list[RenderableType] | None:
    """Return means over the tools, as optimised by the compiler: the paper does not say how."""
    tools = [o for o in seen if o.result.case.workload in _TOOLS and o.step == "ILP"]
    if not tools:
        return None
    rows = []
    metrics: tuple[Metric, ...] = ("bop", "flop")
    for metric in metrics:
        rates = [one.rate(metric) for one in tools]
        known = [rate for rate in rates if rate is not None]
        mean = sum(known) / len(known) if len(known) == len(rates) else None
        peak = _peak(machine, metric, tools[0])
        rows.append(
            (f"{WORK_UNITS[metric]}/s", _rate(peak), _rate(mean), _share(_over(mean, peak)))
        )
    clock_hz = machine.host.frequency_hz
    per_s = [one.instructions_per_s for one in tools]
    ipc = [_over(rate, clock_hz) for rate in per_s]
    known_ipc = [one for one in ipc if one is not None]
    mean_ipc = sum(known_ipc) / len(known_ipc) if known_ipc and len(known_ipc) == len(ipc) else None
    rows.append(("IPC", UNKNOWN, _ratio(mean_ipc), UNKNOWN))
    return _table("Table 9: BOPS, FLOPS and IPC", ("", "peak", "real", "efficiency"), rows)


def _traditional(seen: Iterable[_Seen], machine: Machine) -> list[RenderableType] | None:
    rows = [
        (
            one.title,
            _rate(one.rate("flop")),
            _share(_over(one.rate("flop"), _peak(machine, "flop", one))),
            _rate(one.rate("bop")),
            _share(_over(one.rate("bop"), _peak(machine, "bop", one))),
        )
        for one in seen
        if one.step == "ILP"
    ]
    columns = ("workload", "flop/s", "of peak", "BOP/s", "of peak BOP/s")
    return _table("Table 10: traditional workloads", columns, rows)


def _gains(
    title: str, seen: Iterable[_Seen], before: Step, after: Sequence[Step]
) -> list[RenderableType] | None:
    """Return what each step gains in BOP/s, and in time: it is the time that users wait for."""
    by_title: dict[str, dict[Step, _Seen]] = {}
    for one in seen:
        by_title.setdefault(one.title, {})[one.step] = one
    rows = []
    for steps in by_title.values():
        base = steps.get(before)
        later = [steps[step] for step in after if step in steps]
        if base is None or not later:
            continue
        for one in (base, *later):
            gain = _over(one.rate("bop"), base.rate("bop")), _over(base.runtime_s, one.runtime_s)
            rows.append(
                (
                    f"{one.title}, {one.step}",
                    _rate(one.rate("bop")),
                    _ratio(one.intensity("bop")),
                    _rate(one.bandwidth),
                    *((_NONE, _NONE) if one is base else map(_times, gain)),
                )
            )
    columns = ("workload", "BOP/s", "BOP/byte", "byte/s", "BOP/s gain", "time gain")
    return _table(title, columns, rows)


def _peak(machine: Machine, metric: Metric, one: _Seen) -> float | None:
    try:
        return _roofline(machine, metric, one).peak
    except UnknownCeiling:
        return None


def _shown(write: Callable[[float], str]) -> Callable[[float | None], str]:
    return lambda value: UNKNOWN if value is None else write(value)


_rate = _shown(lambda value: format_si(value, "", digits=3))
_amount = _shown(lambda value: format_si(value, "", digits=4))
_seconds = _shown(lambda value: format_si(value, "s", digits=3))
_ratio = _shown(lambda value: f"{value:.3g}")
_times = _shown(lambda value: f"x {value:.2f}")
_share = _shown(percent)
