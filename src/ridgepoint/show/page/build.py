"""The page of some records: every view that they have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import ridgepoint
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.models.analysis import Analysis
from ridgepoint.show.page.document import PageDocument, View
from ridgepoint.show.page.records import ShownRecord, page_record
from ridgepoint.show.page.roofline import roofline_view


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
        title=title or _title(records),
        records=tuple(page_record(record) for record in records),
        views=(*views, *_views(records)),
    )


def _title(records: Sequence[ShownRecord]) -> str:
    names = [record.name for record in records[:3]]
    more = len(records) - len(names)
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def _views(records: Sequence[ShownRecord]) -> Iterator[View]:
    placed = [
        (record, record.value)
        for record in records
        if isinstance(record.value, Analysis) and record.value.machine is not None
    ]
    alone = [record.value for record in records if isinstance(record.value, Machine)]
    alone += [record.value.slowest() for record in records
              if isinstance(record.value, MeasuredCluster)]  # fmt: skip
    for metric in ("flop", "bop"):
        of_metric = [(record, each) for record, each in placed if each.metric == metric]
        machines = [each.machine for _, each in of_metric if each.machine is not None]
        if of_metric or (alone and metric == "flop" and not placed):
            yield roofline_view(of_metric, _once([*machines, *alone]), metric=metric)


def _once(machines: Sequence[Machine]) -> list[Machine]:
    """Return each machine once, in the order in which they first come."""
    return [machine for number, machine in enumerate(machines) if machine not in machines[:number]]
