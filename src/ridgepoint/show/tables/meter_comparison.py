"""What two meters counted of the same program, side by side, for the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.counted import Counted
from ridgepoint.models.counted_twice import compared
from ridgepoint.show.tables.layout import caution_list, plain_table
from ridgepoint.show.words import printable, shown_amount


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
