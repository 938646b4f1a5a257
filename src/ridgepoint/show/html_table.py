"""Tables as HTML for notebooks: no scripts, no network, every text escaped, light and dark."""

from __future__ import annotations

import html
from itertools import islice

from ridgepoint.core.table import Table
from ridgepoint.show.cells import NOTHING, shown_columns, shown_rows

_MOST_ROWS = 60
_CELL = "padding:.15em .7em;vertical-align:top;white-space:pre-wrap;overflow-wrap:anywhere"


def html_table(table: Table) -> str:
    """Return a table as an element of HTML.

    Columns of which nothing is known are left out, and intervals stand beside their values. Below
    60 rows it says how many more there are. Colours are those of the page around it, so that the
    table can be read on light and on dark pages.
    """
    full, table = table, table.without_empty_columns()
    columns = shown_columns(table)
    if not columns:
        return f"<p>{html.escape(full.title)}: {NOTHING}</p>"
    sides = ["left" if column.kind == "text" else "right" for column in columns]
    head = "".join(
        f'<th scope="col" title="{html.escape(column.help)}" style="{_CELL};text-align:{side}">'
        f"{html.escape(column.title)}</th>"
        for column, side in zip(columns, sides, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td dir="auto" style="{_CELL};text-align:{side};max-width:32em">'
            f"{html.escape(cell)}</td>"
            for cell, side in zip(row, sides, strict=True)
        )
        + "</tr>"
        for row in islice(shown_rows(table), _MOST_ROWS)
    )
    more = len(table.rows) - _MOST_ROWS
    left_out = f"<p>… and {more} more rows, which .frame() has.</p>" if more > 0 else ""
    return (
        '<div style="overflow-x:auto"><table style="border-collapse:collapse">'
        f'<caption style="text-align:left;font-weight:bold">{html.escape(table.title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{left_out}</div>"
    )
