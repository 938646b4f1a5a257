"""The shapes that tables share."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ridgepoint.caution import Caution
from ridgepoint.figures.words import printable


def plain_table(*columns: str, right: Sequence[str] = ()) -> Table:
    """Return an empty table without lines; the columns named in `right` hold numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return table


def caution_list(cautions: Sequence[Caution]) -> RenderableType:
    """Return cautions as a list: what was seen, and what to do; what is said twice, once."""
    rows: list[RenderableType] = [Text("cautions", style="bold")]
    for caution in dict.fromkeys(cautions):
        said = Text(f"{caution.code}: ", style="bold")
        said.append(printable(f"{caution.seen}; {caution.remedy}"), style="not bold")
        rows.append(Padding(said, (0, 0, 0, 2)))
    return Group(*rows)
