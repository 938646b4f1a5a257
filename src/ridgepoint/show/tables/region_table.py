"""The regions that a program marks: what each did, how long it took, how near its roof is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.counts import RegionCounts
from ridgepoint.models.analysis import Analysis
from ridgepoint.show.tables.parts_table import (
    intensity_column,
    parts_table,
    roof_cell,
    share_cell,
    work_cells,
)
from ridgepoint.show.words import UNKNOWN, printable, relative_interval, shown_amount

_INDENT = "  "


def regions(analysis: Analysis) -> RenderableType:
    """Return a row per region, those within another one below it and indented.

    Returns
    -------
    RenderableType
        Times, and shares of the roofs, where any is known.
    """
    counted, metric = analysis.measurement.counted, analysis.metric
    times = {timed.name: timed.runtime_s for timed in analysis.measurement.timed_regions}
    parts = dict(zip((one.name for one in counted.regions), analysis.regions, strict=True))
    columns = ["work", "instr.", "DRAM", intensity_column(metric)]
    if times:
        of_roof = ["of roof"] if analysis.machine is not None else []
        columns = ["time", "interval", *columns, *of_roof]
    rows = []
    for depth, region in _tree(counted.regions):
        counts, runtime = region.counts, times.get(region.name)
        cells = {
            **work_cells(counts, region.traffic, metric),
            "instr.": share_cell(counts.instructions, counted.counts.instructions),
            "time": shown_amount(runtime, "s"),
            "interval": UNKNOWN if runtime is None else relative_interval(runtime, decimals=0),
            "of roof": roof_cell(parts[region.name].placement),
        }
        rows.append((_INDENT * depth + printable(region.name), cells))
    table = parts_table("region", columns, rows)
    if not any(region.inside for region in counted.regions):
        return table
    return Group(table, Text("a region includes the counts of the regions inside it"))


def _tree(regions: Sequence[RegionCounts]) -> Iterator[tuple[int, RegionCounts]]:
    """Yield every region after the one that it is always directly in, with its depth.

    One that was entered in several places belongs to none of them.
    """
    inside = {region.name: set(region.inside) for region in regions}
    children: dict[str | None, list[RegionCounts]] = {}
    for region in regions:
        parents = [
            name
            for name in region.inside
            if name in inside and {name, *inside[name]} == inside[region.name]
        ]
        children.setdefault(parents[0] if len(parents) == 1 else None, []).append(region)

    def below(parent: str | None, depth: int) -> Iterator[tuple[int, RegionCounts]]:
        for region in children.get(parent, ()):
            yield depth, region
            yield from below(region.name, depth + 1)

    return below(None, 0)
