"""The same run on other caches: what each would move, and what the roofs then allow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from ridgepoint.core.bound import Bound
from ridgepoint.core.counts import Traffic
from ridgepoint.core.machine import Cache
from ridgepoint.core.measurement import Alternative, Measurement
from ridgepoint.core.units import format_si, format_size
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.work import WORK_UNITS, Metric, hardly_any
from ridgepoint.show.tables.layout import plain_table
from ridgepoint.show.words import UNKNOWN
from ridgepoint.show.work import shown_work_per_byte


def alternatives(analysis: Analysis) -> Table:
    """Return a row for the caches that were simulated, then one for each alternative.

    Returns
    -------
    Table
        ``at best`` is the time that the machine's roofs allow with that traffic; ``traffic`` is
        the memory traffic over that of the first row.
    """
    measurement, metric = analysis.measurement, analysis.metric
    counted, placement = measurement.counted, analysis.placement
    own = Alternative(caches=counted.caches, traffic=counted.traffic)
    columns = ["DRAM read", "written"]
    columns += [f"{WORK_UNITS[metric]}/byte"] * (not hardly_any(counted.counts, metric))
    columns += ["at best"] * (placement is not None) + ["traffic"]
    table = plain_table("caches (size:ways)", *columns, right=columns)
    own_bytes = _dram_bytes(own.traffic)
    bounds = () if placement is None else (placement.bound, *analysis.alternatives)
    for index, one in enumerate((own, *counted.alternatives)):
        cells = _cells(measurement, one, own_bytes, metric)
        if bounds:
            cells["at best"] = _at_best(bounds[index])
        if one is own:
            cells["traffic"] = "own"
        table.add_row(
            Text(shown_caches(one.caches), overflow="ellipsis", no_wrap=True),
            *(cells[column] for column in columns),
        )
    return table


def shown_caches(caches: Iterable[Cache]) -> str:
    """Return data caches in short, from the core outwards.

    Examples
    --------
    >>> from ridgepoint.core.geometry import parse_geometry
    >>> shown_caches(parse_geometry("l1=32k:8,l2=1.25m:10"))
    '32k:8 1.25m:10'
    """
    data = sorted((c for c in caches if c.kind != "instruction"), key=lambda cache: cache.level)
    return " ".join(f"{_short(cache.size_bytes)}:{cache.ways or '?'}" for cache in data)


def _short(size_bytes: int) -> str:
    number, unit = format_size(size_bytes).split()
    return number + unit[0].lower().replace("b", "")


def _dram_bytes(traffic: Sequence[Traffic]) -> int | None:
    return next((part.total_bytes for part in traffic if part.level == "dram"), None)


def _cells(
    measurement: Measurement, one: Alternative, own_bytes: int | None, metric: Metric
) -> dict[str, str]:
    """Return what is known of the traffic with other caches, by column."""
    dram = next((part for part in one.traffic if part.level == "dram"), None)
    moved = None if dram is None else dram.total_bytes
    return {
        "DRAM read": UNKNOWN if dram is None else format_si(dram.read_bytes, "B"),
        "written": _bytes(None if dram is None else dram.write_bytes),
        f"{WORK_UNITS[metric]}/byte": shown_work_per_byte(
            measurement.counted.counts, metric, moved
        ),
        "traffic": UNKNOWN if moved is None or not own_bytes else f"x {moved / own_bytes:.3g}",
    }


def _bytes(count: int | None) -> str:
    return UNKNOWN if count is None else format_si(count, "B")


def _at_best(limit: Bound | None) -> str:
    return UNKNOWN if limit is None else format_si(float(limit.time_s), "s", digits=3)
