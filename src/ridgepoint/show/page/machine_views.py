"""Views of machines and clusters: latency over size, samples of ceilings, the network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling, Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.presenting import amount
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si, format_size
from ridgepoint.models.roofs import known_levels, known_precisions
from ridgepoint.show.chart import Chart
from ridgepoint.show.charts.latency import latency_chart
from ridgepoint.show.charts.network import network_page
from ridgepoint.show.charts.samples import samples_chart
from ridgepoint.show.latency_text import curve_name, shown_latency
from ridgepoint.show.page.document import Cell, Column, Row, Table, View
from ridgepoint.show.page.pictures import picture_view
from ridgepoint.show.page.subjects import machine_subject
from ridgepoint.show.words import (
    UNKNOWN,
    place_of,
    printable,
    shown_amount,
    shown_name,
    shown_pattern,
    shown_place,
)


def machine_views(number: int, machine: Machine, *, is_alone: bool) -> Iterator[View]:
    """Yield what was measured of a machine beside its roofs.

    Parameters
    ----------
    number : int
        Of the machine on the page.
    machine : Machine
    is_alone : bool
        Whether there is no other machine, so that titles need not name it.
    """
    of_machine = "" if is_alone else f": {printable(machine.name)}"
    if machine.latency_curves:
        yield picture_view(
            latency_chart(machine),
            key=f"latency/{number}",
            kind="latency",
            title=f"Latency over size{of_machine}",
            table=_latencies(machine),
        )
    yield from _samples(number, machine, of_machine)


def _latencies(machine: Machine) -> Table:
    """Return the time per access of every working set."""
    curves = machine.latency_curves
    times = [dict(zip(curve.sizes_bytes, curve.latency_s, strict=True)) for curve in curves]
    sizes = sorted({size for curve in curves for size in curve.sizes_bytes})
    return Table(
        name="latencies",
        columns=(
            Column(key="size_bytes", title="working set of each core", unit="B", kind="number"),
            *(
                Column(key=f"latency_{curve.threads}_s", title=curve_name(curve), unit="s",
                       kind="number", help="Time per access, the median of all rounds.")
                for curve in curves
            ),
        ),
        rows=tuple(
            Row(
                cells=(
                    Cell(text=format_size(size), value=size),
                    *(_latency(each.get(size)) for each in times),
                )
            )
            for size in sizes
        ),
    )  # fmt: skip


def _latency(seconds: float | None) -> Cell:
    return Cell(text=UNKNOWN if seconds is None else shown_latency(seconds), value=seconds)


def _samples(number: int, machine: Machine, of_machine: str) -> Iterator[View]:
    """Yield the samples of the ceilings that are roofs, with all ceilings as a table."""
    key = f"ceilings/{number}"
    named = machine_subject(key, machine)
    charts = tuple(
        _chart(ceiling, ceiling.rate)
        for ceiling in _roofs(machine)
        if ceiling.rate is not None and ceiling.rate.n > 1
    )
    if not machine.ceilings:
        return
    yield View(
        key=key,
        kind="samples",
        title=f"Ceilings{of_machine}",
        charts=charts,
        table=_ceilings(machine, key),
        subjects=(named,),
    )


def _chart(ceiling: Ceiling, rate: Estimate) -> Chart:
    """Return the samples that count; when those left out were taken is not kept."""
    chart = samples_chart(ceiling, rate.samples)
    if not ceiling.disturbed:
        return chart
    left_out = amount(len(ceiling.disturbed), "sample")
    return replace(chart, notes=(f"{left_out} left out as disturbed: see the cautions",))


def _roofs(machine: Machine) -> Iterator[Ceiling]:
    """Yield the ceilings that are a machine's roofs with all its cores."""
    for resource in (*known_precisions(machine), *known_levels(machine)):
        best = machine.best(resource, threads=machine.cores)
        if best is not None:
            yield best


def _ceilings(machine: Machine, key: str) -> Table:
    return Table(
        name="ceilings",
        columns=(
            Column(key="resource", title="resource"),
            Column(key="pattern", title="pattern", help="What ran."),
            Column(key="cores", title="cores", kind="text"),
            Column(key="rate", title="rate", kind="number", help="The median."),
            Column(key="low", title="from", kind="number", help="95 % interval of the median."),
            Column(key="high", title="to", kind="number", help="95 % interval of the median."),
            Column(key="n", title="n", kind="number", help="Number of samples."),
            Column(key="theory", title="in theory", kind="number"),
        ),
        rows=tuple(
            Row(cells=_ceiling(ceiling, number), subject=key)
            for number, ceiling in enumerate(machine.ceilings)
        ),
    )


def _ceiling(ceiling: Ceiling, number: int) -> tuple[Cell, ...]:
    unit = RESOURCES[ceiling.resource].rate_unit
    rate, fact = ceiling.rate, f"ceiling-{number}"
    ends = (None, None) if rate is None else (rate.low, rate.high)
    return (
        Cell(text=shown_name(ceiling.resource)),
        Cell(text=printable(shown_pattern(ceiling.name))),
        Cell(text=shown_place(ceiling.threads, ceiling.part), value=ceiling.threads),
        Cell(text=shown_amount(rate, unit), value=None if rate is None else rate.median,
             fact=fact),
        *(Cell(text=shown_amount(end, unit), value=end, fact=fact) for end in ends),
        Cell(text=UNKNOWN if rate is None else str(rate.n), value=None if rate is None else rate.n),
        Cell(text=shown_amount(ceiling.theoretical, unit), value=ceiling.theoretical, fact=fact),
    )  # fmt: skip


def network_view(key: str, cluster: MeasuredCluster) -> View | None:
    """Return what the ranks of a cluster exchange; None: there was one rank."""
    if not cluster.network:
        return None
    return picture_view(
        network_page(cluster),
        key=f"network/{key}",
        kind="network",
        title=f"Network: {printable(cluster.name)}",
        table=Table(
            name="exchanges",
            columns=(
                Column(key="pattern", title="pattern"),
                Column(key="where", title="where"),
                Column(key="ranks", title="ranks", kind="number"),
                Column(key="size_bytes", title="size", unit="B", kind="number"),
                Column(key="time_s", title="time", unit="s", kind="number", help="The median."),
                Column(key="low_s", title="from", unit="s", kind="number",
                       help="95 % interval of the median."),
                Column(key="high_s", title="to", unit="s", kind="number",
                       help="95 % interval of the median."),
                Column(key="bus_bytes_per_s", title="bus bandwidth", unit="B/s", kind="number"),
            ),
            rows=tuple(_exchanges(cluster)),
        ),
    )  # fmt: skip


def _exchanges(cluster: MeasuredCluster) -> Iterator[Row]:
    for exchange in cluster.network:
        time, bus = exchange.time_s, exchange.bus_bytes_per_s
        yield Row(
            cells=(
                Cell(text=exchange.pattern),
                Cell(text=place_of(exchange)),
                Cell(text=str(exchange.ranks), value=exchange.ranks),
                Cell(text=format_size(exchange.size_bytes), value=exchange.size_bytes),
                Cell(text=format_si(time.median, "s"), value=time.median),
                *(Cell(text=shown_amount(end, "s"), value=end) for end in (time.low, time.high)),
                Cell(text=shown_amount(bus, "B/s"), value=None if bus is None else bus.median),
            )
        )
