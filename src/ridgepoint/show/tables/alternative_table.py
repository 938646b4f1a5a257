"""The same run on other caches: what each would move, and what the roofs then allow."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table

from ridgepoint.core.counted import Alternative
from ridgepoint.core.counts import traffic_at
from ridgepoint.core.machine import Cache
from ridgepoint.core.units import format_size
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.work import hardly_any
from ridgepoint.show.tables.parts_table import intensity_column, parts_table, work_cells
from ridgepoint.show.words import UNKNOWN, shown_amount


def alternatives(analysis: Analysis) -> Table:
    """Return a row for the caches that were simulated, then one for each alternative.

    Returns
    -------
    Table
        ``at best`` is the time that the machine's roofs allow with that traffic; ``traffic`` is
        the memory traffic over that of the first row.
    """
    counted, placement, metric = (
        analysis.measurement.counted, analysis.placement, analysis.metric
    )  # fmt: skip
    own = Alternative(caches=counted.caches, traffic=counted.traffic)
    columns = ["DRAM read", "written"]
    columns += [intensity_column(metric)] * (not hardly_any(counted.counts, metric))
    columns += ["at best"] * (placement is not None) + ["traffic"]
    dram = traffic_at(own.traffic, "dram")
    own_bytes = None if dram is None else dram.total_bytes
    bounds = () if placement is None else (placement.bound, *analysis.alternatives)
    rows = []
    for index, other in enumerate((own, *counted.alternatives)):
        dram = traffic_at(other.traffic, "dram")
        moved = None if dram is None else dram.total_bytes
        change = UNKNOWN if moved is None or not own_bytes else f"x {moved / own_bytes:.3g}"
        limit = bounds[index] if bounds else None
        cells = {
            **work_cells(counted.counts, other.traffic, metric),
            "DRAM read": shown_amount(None if dram is None else dram.read_bytes, "B"),
            "written": shown_amount(None if dram is None else dram.write_bytes, "B"),
            "at best": shown_amount(None if limit is None else float(limit.time_s), "s", digits=3),
            "traffic": "own" if other is own else change,
        }
        rows.append((shown_caches(other.caches), cells))
    return parts_table("caches (size:ways)", columns, rows)


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
