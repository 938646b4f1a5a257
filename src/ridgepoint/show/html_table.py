"""Tables as HTML for notebooks: no scripts, no network, every text escaped, light and dark."""

from __future__ import annotations

import html
from itertools import islice

from ridgepoint.core.presenting import amount
from ridgepoint.core.table import Column, Table
from ridgepoint.show.cells import NOTHING, shown_columns, shown_rows

_MOST_ROWS, _MOST_FOLDED = 60, 20
_UNBROKEN = "\N{NO-BREAK SPACE}"
_OF_TEXT = "text-align:left;white-space:pre-wrap;max-width:32em;min-width:4em"


def html_table(table: Table, *, most_rows: int = _MOST_ROWS) -> str:
    """Return a table as an element of HTML.

    Columns of which nothing is known are left out, and intervals stand beside their values. Below
    the last row that is shown it says how many more there are. Colours are those of the page
    around it, so that the table can be read on light and on dark pages.
    """
    known = table.without_empty_columns()
    columns = shown_columns(known)
    if not columns:
        return f"<p>{html.escape(table.title)}: {NOTHING}</p>"
    head = "".join(
        f'<th scope="col" title="{html.escape(column.help)}" '
        f'style="text-align:{"left" if column.kind == "text" else "right"}">'
        f"{html.escape(column.title)}</th>"
        for column in columns
    )
    rows = "".join(
        f"<tr>{''.join(map(_cell, columns, row))}</tr>"
        for row in islice(shown_rows(known), most_rows)
    )
    more = len(table.rows) - most_rows
    left_out = f"<p>… and {more} more rows, which .frame() has.</p>" if more > 0 else ""
    return (
        '<div style="overflow-x:auto"><table cellpadding="3" '
        'style="border-collapse:collapse;white-space:nowrap;text-align:right">'
        f'<caption style="text-align:left;font-weight:bold">{html.escape(table.title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{left_out}</div>"
    )


def folded_table(table: Table) -> str:
    """Return a table that a click opens, below a report that says the same for readers."""
    if not table.rows:
        return ""
    headline = html.escape(f"table {table.name!r}: {amount(len(table.rows), 'row')}")
    content = html_table(table, most_rows=_MOST_FOLDED)
    return f"<details><summary>{headline}</summary>{content}</details>"


def _cell(column: Column, text: str) -> str:
    if column.kind == "text":
        return f'<td dir="auto" style="{_OF_TEXT}">{html.escape(text)}</td>'
    # Notebooks have styles of their own for tables, by which a number and its unit would part.
    return f"<td>{html.escape(text.replace(' ', _UNBROKEN))}</td>"
