"""The source lines of a program that matter, by what its verdict is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from rich.table import Table
from rich.text import Text

from ridgepoint.core.counts import FunctionCounts, LineCounts, Traffic
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.resources import LEVELS
from ridgepoint.core.units import format_si
from ridgepoint.models.explanations import NEAR
from ridgepoint.models.placement import Placement
from ridgepoint.models.work import Metric, hardly_any, work_total
from ridgepoint.show.tables.layout import plain_table
from ridgepoint.show.words import UNKNOWN, percent, printable, shown_name, shown_symbol
from ridgepoint.show.work import shown_work

_MOST_LINES = 10
# A line below this share explains nothing.
_LEAST_SHARE = 0.01
_LONGEST_FILE = 24


@dataclass(frozen=True, slots=True)
class _Line:
    function: FunctionCounts
    counts: LineCounts


def lines(
    measurement: Measurement, placement: Placement | None, *, most: int = _MOST_LINES
) -> Table | None:
    """Return the lines that take most of what a program is short of; None: none stands out.

    Parameters
    ----------
    measurement : Measurement
    placement : Placement or None
        Says what it is short of: traffic of the level that binds it, work, or, where no roof is
        near, instructions.
    most : int
    """
    counted = measurement.counted
    level = _level(placement)
    metric: Metric = "flop" if placement is None else placement.metric
    by = _sorted_by(measurement, placement, metric)
    totals = {
        "work": work_total(counted.counts, metric),
        "instr.": counted.counts.instructions,
        level: _moved(counted.traffic, level),
    }
    total = totals[by]
    if not total:
        return None
    found = [_Line(function, line) for function in counted.functions for line in function.lines]
    shares = [((_amount(one.counts, by, level, metric) or 0) / total, one) for one in found]
    ranked = sorted(shares, key=lambda pair: -pair[0])[:most]
    hot = [pair for pair in ranked if pair[0] >= _LEAST_SHARE]
    if not hot:
        return None
    columns = [f"of {shown_name(by) if by in LEVELS else by}"]
    columns += ["work"] * (not hardly_any(counted.counts, metric)) + [shown_name(level)]
    table = plain_table("line", "function", *columns, right=columns)
    table.columns[1].ratio = 1
    names = _file_names([one.counts.source for _, one in hot])
    for share, one in hot:
        moved = _moved(one.counts.traffic, level)
        cells = [percent(share)]
        cells += [shown_work(one.counts.counts, metric)] * ("work" in columns)
        cells.append(UNKNOWN if moved is None else format_si(moved, "B"))
        table.add_row(
            Text(f"{names[one.counts.source]}:{one.counts.line}", no_wrap=True),
            Text(
                shown_symbol(one.function.name, one.function.object),
                overflow="ellipsis",
                no_wrap=True,
            ),
            *cells,
        )
    return table


def _level(placement: Placement | None) -> str:
    """Return the memory level to show: the one that binds, else memory."""
    limiter = None if placement is None or placement.bound is None else placement.bound.limiter
    return str(limiter) if limiter in LEVELS else "dram"


def _sorted_by(measurement: Measurement, placement: Placement | None, metric: Metric) -> str:
    """Return what a program is short of: ``work``, ``instr.`` or a memory level."""
    of_work = not hardly_any(measurement.counted.counts, metric)
    if placement is None or placement.bound is None:
        return "work" if of_work else "instr."
    if placement.efficiency is not None and placement.efficiency < NEAR:
        return "instr."
    if placement.bound.limiter in LEVELS:
        return str(placement.bound.limiter)
    return "work" if of_work else "instr."


def _moved(traffic: Sequence[Traffic], level: str) -> int | None:
    """Return the bytes at a level, reads alone where writes are unknown."""
    part = next((part for part in traffic if part.level == level), None)
    return None if part is None else part.read_bytes + (part.write_bytes or 0)


def _amount(line: LineCounts, by: str, level: str, metric: Metric) -> int | None:
    if by == "work":
        return work_total(line.counts, metric)
    return line.counts.instructions if by == "instr." else _moved(line.traffic, level)


def _file_names(sources: Sequence[str]) -> dict[str, str]:
    """Return short names of files, with their folder where two are called the same."""
    paths = {source: PurePath(source) for source in sources}
    names = [path.name for path in set(paths.values())]
    short = {}
    for source, path in paths.items():
        parts = path.parts[-2:] if names.count(path.name) > 1 else path.parts[-1:]
        name = printable("/".join(parts))
        cut = len(name) > _LONGEST_FILE
        short[source] = f"…{name[-_LONGEST_FILE + 1 :]}" if cut else name
    return short
