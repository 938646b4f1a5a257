"""The page of some records: every view that they have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import ridgepoint
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.presenting import first_of
from ridgepoint.models.analysis import Analysis, analyse
from ridgepoint.models.operators import OperatorAnalysis
from ridgepoint.models.work import Metric, hardly_any
from ridgepoint.show.page.document import PageDocument, View
from ridgepoint.show.page.machine_views import machine_views, network_view
from ridgepoint.show.page.operators_view import operator_views
from ridgepoint.show.page.program_views import program_views, runs_view
from ridgepoint.show.page.records import ShownRecord, page_record
from ridgepoint.show.page.roofline import roofline_view
from ridgepoint.show.page.scaling_view import measured_views

Placed = tuple[ShownRecord, Analysis]


def page_of(
    records: Sequence[ShownRecord], *, title: str | None = None, views: Sequence[View] = ()
) -> PageDocument:
    """Return the page of records.

    Parameters
    ----------
    records : sequence of ShownRecord
    title : str or None
        None: the names of the records.
    views : sequence of View
        Further views, which come first.
    """
    return PageDocument(
        version=ridgepoint.__version__,
        title=title or _title(records, views),
        records=tuple(page_record(record) for record in records),
        views=(*views, *_views(records)),
    )


def _title(records: Sequence[ShownRecord], views: Sequence[View]) -> str:
    return first_of([record.name for record in records] or [view.title for view in views[:1]], 3)


def _views(records: Sequence[ShownRecord]) -> Iterator[View]:
    profiled = [(r, r.value) for r in records if isinstance(r.value, OperatorAnalysis)]
    for record, operators in profiled:
        yield from operator_views(record.key, record.name, operators, is_alone=len(profiled) == 1)
    measured = [(each, each.value) for each in records if isinstance(each.value, Analysis)]
    machines = _machines(records)
    yield from _rooflines(measured, machines)
    yield from measured_views(measured)
    for record, analysis in measured:
        yield from program_views(record, analysis, is_alone=len(measured) == 1)
    timed = [
        (record, value.timed.runtime_s)
        for record in records
        if (value := _measured(record)) is not None and value.timed is not None
    ]
    if timed:
        yield runs_view(timed)
    for number, machine in enumerate(machines):
        yield from machine_views(number, machine, is_alone=len(machines) == 1)
    for record in records:
        if isinstance(record.value, MeasuredCluster):
            network = network_view(record.key, record.value)
            if network is not None:
                yield network


def _measured(record: ShownRecord) -> Measurement | Timing | None:
    """Return what was measured of a program; None: it is a machine."""
    value = record.value
    if isinstance(value, Analysis):
        return value.measurement
    return value if isinstance(value, Timing) else None


def _machines(records: Sequence[ShownRecord]) -> list[Machine]:
    """Return each machine once: those that bound programs, then those that are records."""
    found: list[Machine] = []
    for record in sorted(records, key=lambda record: not isinstance(record.value, Analysis)):
        value = record.value
        machine = value.machine if isinstance(value, Analysis) else None
        if isinstance(value, Machine):
            machine = value
        elif isinstance(value, MeasuredCluster):
            machine = value.slowest()
        if machine is not None and machine not in found:
            found.append(machine)
    return found


def _rooflines(measured: Sequence[Placed], machines: Sequence[Machine]) -> Iterator[View]:
    """Yield a roofline for each unit of work that programs have, their own unit's first."""
    bounded = [(record, each) for record, each in measured if each.machine is not None]
    if not machines:
        return
    own = [each.metric for _, each in bounded]
    metrics: tuple[Metric, ...] = ("flop", "bop")
    for metric in sorted(metrics, key=lambda metric: (metric not in own, metric != "flop")):
        placed = [(record, _in(each, metric)) for record, each in bounded]
        known = [(record, each) for record, each in placed if each is not None]
        if known or (metric == "flop" and not bounded):
            yield roofline_view(known, machines, metric=metric)


def _in(analysis: Analysis, metric: Metric) -> Analysis | None:
    """Return a program placed by one unit of work; None: it says nothing about it."""
    if analysis.metric == metric:
        return analysis
    counts, machine = analysis.measurement.counted.counts, analysis.machine
    if hardly_any(counts, metric) or machine is None:
        return None
    if metric == "bop" and not machine.knows("bop"):
        return None
    return analyse(analysis.measurement, machine, cores=analysis.cores, metric=metric)
