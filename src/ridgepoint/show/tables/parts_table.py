"""The one table of a program's parts: its functions, lines, regions, and its runs elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from ridgepoint.core.counts import Counts, Traffic, traffic_at
from ridgepoint.models.placement import Placement
from ridgepoint.models.work import WORK_UNITS, Metric, hardly_any, used_precisions
from ridgepoint.show.tables.layout import plain_table
from ridgepoint.show.words import UNKNOWN, percent, share_of_roof, shown_amount, shown_limit
from ridgepoint.show.work import shown_work, shown_work_per_byte

Cells = Mapping[str, str]
"""What is known of a part, by column."""

NOTHING = "-"
"""Stands where there is nothing to have a share of, or hardly any work for a rate."""


def parts_table(
    kind: str,
    columns: Sequence[str],
    rows: Iterable[tuple[str, Cells]],
    *,
    words: Collection[str] = (),
    names: Collection[str] = (),
) -> Table:
    """Return a row per part.

    Parameters
    ----------
    kind : str
        What the parts are, above their names.
    columns : sequence of str
    rows : iterable of (str, mapping)
        The name of each part, which is cut where there is no room, and its cells. A part without
        a cell for a column has nothing to say there.
    words, names : collection of str
        The columns that hold no numbers: words are folded where there is no room, names are cut.
    """
    numbers = [column for column in columns if column not in {*words, *names}]
    table = plain_table(kind, *columns, right=numbers)
    for name, cells in rows:
        shown = {column: cells.get(column, "") for column in columns}
        table.add_row(
            _name(name), *(_name(shown[c]) if c in names else Text(shown[c]) for c in columns)
        )
    return table


def _name(text: str) -> Text:
    return Text(text, overflow="ellipsis", no_wrap=True)


def intensity_column(metric: Metric) -> str:
    """Return the head of the column of intensities: their unit."""
    return f"{WORK_UNITS[metric]}/byte"


def rate_column(metric: Metric) -> str:
    """Return the head of the column of performance: its unit."""
    return f"{WORK_UNITS[metric]}/s"


def work_cells(counts: Counts, traffic: Sequence[Traffic], metric: Metric) -> dict[str, str]:
    """Return the work of a part, its traffic at memory, and its intensity."""
    dram = traffic_at(traffic, "dram")
    moved = None if dram is None else dram.total_bytes
    intensity = shown_work_per_byte(counts, metric, moved)
    return {
        "work": shown_work(counts, metric),
        "DRAM": shown_amount(moved, "B"),
        intensity_column(metric): NOTHING if hardly_any(counts, metric) else intensity,
    }


def placed_cells(placement: Placement, counts: Counts) -> dict[str, str]:
    """Return how fast a part is, what it can reach, what limits it, and how near it comes."""
    metric = placement.metric
    performance, attainable = placement.performance_per_s, placement.attainable_per_s
    reached = roof_cell(placement)
    limit = UNKNOWN
    if placement.bound is not None:
        precisions = used_precisions(placement.demand.amounts)
        limit = " and ".join(shown_limit(each, precisions) for each in placement.bindings)
        limit += "" if reached == UNKNOWN else f", {reached}"
    names = (rate_column(metric), "attainable")
    if hardly_any(counts, metric):
        cells = dict.fromkeys(names, NOTHING)
    else:
        rates = (shown_amount(rate, digits=3) for rate in (performance, attainable))
        cells = dict(zip(names, rates, strict=True))
    return {**cells, "limiter": limit, "of roof": reached}


def roof_cell(placement: Placement | None) -> str:
    """Return how near a part comes to its roof."""
    if placement is None or placement.efficiency is None:
        return UNKNOWN
    return share_of_roof(placement.efficiency, is_above=placement.is_above_roof)


def share_cell(amount: float | None, total: float) -> str:
    """Return a share of the whole."""
    if amount is None:
        return UNKNOWN
    return percent(amount / total) if total else NOTHING
