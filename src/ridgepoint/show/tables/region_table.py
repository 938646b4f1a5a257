"""The regions that a program marks: what each did, how long it took, how near its roof is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ridgepoint.core.counts import RegionCounts
from ridgepoint.core.measurement import TimedRegion
from ridgepoint.core.units import format_si
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.placement import Placement
from ridgepoint.models.work import WORK_UNITS, Metric, hardly_any
from ridgepoint.show.tables.layout import plain_table
from ridgepoint.show.words import UNKNOWN, percent, printable, share_of_roof
from ridgepoint.show.work import shown_work, shown_work_per_byte

_INDENT = "  "


def regions(analysis: Analysis) -> RenderableType:
    """Return a row per region, those within another one below it and indented.

    Returns
    -------
    RenderableType
        Times, and shares of the roofs, where any is known.
    """
    counted, metric = analysis.measurement.counted, analysis.metric
    times = {timed.name: timed for timed in analysis.measurement.timed_regions}
    parts = dict(zip((one.name for one in counted.regions), analysis.regions, strict=True))
    columns = ["work", "instr.", "DRAM", f"{WORK_UNITS[metric]}/byte"]
    if times:
        columns = ["time", *columns, *(["of roof"] if analysis.machine is not None else [])]
    table = plain_table("region", *columns, right=columns)
    table.columns[0].ratio = 1
    for depth, region in _tree(counted.regions):
        cells = {
            **_counts(region, counted.counts.instructions, metric),
            **_time(times.get(region.name), parts[region.name].placement),
        }
        _add(table, _INDENT * depth + printable(region.name), [cells[name] for name in columns])
    if not any(region.inside for region in counted.regions):
        return table
    return Group(table, Text("a region counts what is done in regions within it too"))


def _add(table: Table, name: str, cells: Sequence[str]) -> None:
    table.add_row(Text(name, overflow="ellipsis", no_wrap=True), *cells)


def _counts(region: RegionCounts, instructions: int, metric: Metric) -> dict[str, str]:
    """Return what a region did, by column."""
    counts = region.counts
    moved = next((part.total_bytes for part in region.traffic if part.level == "dram"), None)
    intensity = shown_work_per_byte(counts, metric, moved)
    return {
        "work": shown_work(counts, metric),
        "instr.": percent(counts.instructions / instructions) if instructions else "-",
        "DRAM": UNKNOWN if moved is None else format_si(moved, "B"),
        f"{WORK_UNITS[metric]}/byte": "-" if hardly_any(counts, metric) else intensity,
    }


def _time(timed: TimedRegion | None, placed: Placement | None) -> dict[str, str]:
    """Return how long a region took, and how near it comes to its roof, by column."""
    if timed is None or timed.runtime_s is None:
        return {"time": UNKNOWN, "of roof": UNKNOWN}
    said = {"time": format_si(timed.runtime_s.median, "s"), "of roof": UNKNOWN}
    if placed is not None and placed.efficiency is not None:
        said["of roof"] = share_of_roof(placed.efficiency, is_above=placed.is_above_roof)
    return said


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
