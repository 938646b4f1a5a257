"""What two meters counted of the same program, side by side, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.counts import traffic_at
from ridgepoint.core.measurement import Counted
from ridgepoint.core.resources import PRECISIONS
from ridgepoint.show.tables.layout import caution_list, plain_table
from ridgepoint.show.words import printable, shown_amount


@dataclass(frozen=True, slots=True, kw_only=True)
class MeterRow:
    """One metric, as two meters counted it.

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
    """Return every metric that one of two meters knows.

    Parameters
    ----------
    first, second : Counted
        Of the same program.
    """
    return tuple(row for row in _rows(first, second) if (row.first, row.second) != (None, None))


def meters(first: Counted, second: Counted) -> RenderableType:
    """Return a table of both meters' counts, their ratio, and the second's cautions.

    Parameters
    ----------
    first, second : Counted
        The first's cautions stand in its own report.
    """
    names = [printable(one.meter.split(" (")[0]) for one in (first, second)]
    table = plain_table("metric", *names, "ratio", right=(*names, "ratio"))
    for row in compared(first, second):
        ratio = "" if row.ratio is None else f"{row.ratio:.3f}"
        cells = (
            row.metric,
            shown_amount(row.first, row.unit),
            shown_amount(row.second, row.unit),
            ratio,
        )
        table.add_row(*map(Text, cells))
    doubts = [caution_list(second.cautions)] if second.cautions else []
    return Group(table, *doubts)


def _rows(first: Counted, second: Counted) -> Iterator[MeterRow]:
    done = (first.counts.work, second.counts.work)
    for precision in PRECISIONS:
        if any(precision in work for work in done):
            # Both meters tell the work: a precision that is not in it did not occur.
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
