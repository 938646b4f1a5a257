"""Counts of the same program by two meters, metric by metric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import traffic_at
from ridgepoint.core.resources import PRECISIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class MeterRow:
    """One metric as two meters counted it.

    Parameters
    ----------
    metric, unit : str
    first, second : int or None
        None: that meter cannot tell.
    """

    metric: str
    unit: str
    first: int | None
    second: int | None

    @property
    def ratio(self) -> float | None:
        """Second over first; None: one is not known, or the first is 0."""
        return self.second / self.first if self.first and self.second is not None else None


def compared(first: Counted, second: Counted) -> tuple[MeterRow, ...]:
    """Return every metric that at least one of two meters knows.

    Parameters
    ----------
    first, second : Counted
        Counts of the same program.
    """
    return tuple(row for row in _rows(first, second) if (row.first, row.second) != (None, None))


def _rows(first: Counted, second: Counted) -> Iterator[MeterRow]:
    done = (first.counts.work, second.counts.work)
    for precision in PRECISIONS:
        if any(precision in work for work in done):
            # Both meters know the work: a precision that is missing did not occur.
            one, other = (work.get(precision, 0) for work in done)
            yield MeterRow(metric=f"work {precision}", unit="flop", first=one, second=other)
    for name in ("instructions", "branches", "loads", "stores"):
        yield MeterRow(
            metric=name,
            unit="",
            first=getattr(first.counts, name),
            second=getattr(second.counts, name),
        )
    one_dram, other_dram = (traffic_at(counted.traffic, "dram") for counted in (first, second))
    for way in ("read", "write"):
        yield MeterRow(
            metric=f"DRAM {way}",
            unit="B",
            first=None if one_dram is None else getattr(one_dram, f"{way}_bytes"),
            second=None if other_dram is None else getattr(other_dram, f"{way}_bytes"),
        )
