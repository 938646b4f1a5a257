"""Tables of a paper for the terminal, what it prints beside what follows from it."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from ridgepoint.published.recomputed import DISAGREES, RecomputedPaper
from ridgepoint.show.tables.layout import plain_table

_LEAD = f"printed | recomputed; {DISAGREES}: they disagree by more than rounding"


def recomputed_tables(paper: RecomputedPaper) -> RenderableType:
    """Return the tables for the terminal, with what a mark means and where they are from."""
    parts: list[RenderableType] = [Text(paper.source), Text(_LEAD)]
    for published in paper.tables:
        parts.append(
            Padding(
                Text(f"Table {published.number}: {published.title}", style="bold"), (1, 0, 0, 0)
            )
        )
        table = plain_table("", *published.columns)
        for name, cells in published.rows:
            table.add_row(Text(name), *(Text(cell.text) for cell in cells))
        parts.append(table)
        parts += [Padding(Text(remark), (0, 0, 0, 2)) for remark in published.remarks]
    return Group(*parts)
