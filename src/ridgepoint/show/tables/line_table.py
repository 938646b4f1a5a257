"""The source lines of a program that matter, by what its verdict is about."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from ridgepoint.core.counts import LineCounts, Traffic, traffic_at
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.resources import LEVELS
from ridgepoint.models.placement import Placement
from ridgepoint.models.thresholds import NEAR
from ridgepoint.models.work import Metric, hardly_any, work_total
from ridgepoint.show.symbols import file_names, shown_symbol
from ridgepoint.show.tables.parts_table import parts_table, share_cell
from ridgepoint.show.words import shown_amount, shown_name
from ridgepoint.show.work import shown_work

_MOST_LINES = 10
# A line below this share explains nothing.
_LEAST_SHARE = 0.01


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
    amounts = [
        (_amount(line, by, level, metric) or 0, function, line)
        for function in counted.functions
        for line in function.lines
    ]
    ranked = sorted(amounts, key=lambda each: -each[0])[:most]
    hot = [each for each in ranked if each[0] >= _LEAST_SHARE * total]
    if not hot:
        return None
    share_of = f"of {shown_name(by) if by in LEVELS else by}"
    columns = ["function", share_of]
    columns += ["work"] * (not hardly_any(counted.counts, metric)) + [shown_name(level)]
    files = file_names([line.source for _, _, line in hot])
    rows = [
        (
            f"{files[line.source]}:{line.line}",
            {
                "function": shown_symbol(function.name, function.object),
                share_of: share_cell(amount, total),
                "work": shown_work(line.counts, metric),
                shown_name(level): shown_amount(_moved(line.traffic, level), "B"),
            },
        )
        for amount, function, line in hot
    ]
    return parts_table("line", columns, rows, names=["function"])


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
    part = traffic_at(traffic, level)
    return None if part is None else part.known_bytes


def _amount(line: LineCounts, by: str, level: str, metric: Metric) -> int | None:
    if by == "work":
        return work_total(line.counts, metric)
    return line.counts.instructions if by == "instr." else _moved(line.traffic, level)
