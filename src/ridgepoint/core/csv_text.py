"""Tables as CSV (RFC 4180).

The first line has the columns' keys. An unknown is an empty cell; numbers have every digit; a flag
is ``true`` or ``false``. Lines end with CR LF, as the standard has it.

Spreadsheets take a text that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, and run it: a
name in an archive from elsewhere could then read files and open addresses. Such a text, and one
with apostrophes before such a sign, therefore gets an apostrophe in front, with which the cell is
text; `text_of_cell` takes it away again.
"""

from __future__ import annotations

import csv
import io
import re

from ridgepoint.core.table import Cell, Table

# Tab and carriage return too, after which some spreadsheets look for a formula.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")


def csv_text(table: Table) -> str:
    r"""Return a table as CSV.

    Examples
    --------
    >>> from ridgepoint.core.table import Column
    >>> columns = Column(key="name", title="name"), Column(key="n", title="n", kind="count")
    >>> csv_text(Table.of("runs", columns, [{"name": "a,b", "n": 2}, {"name": "=A1"}]))
    'name,n\r\n"a,b",2\r\n\'=A1,\r\n'
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(table.keys)
    for row in table.rows:
        writer.writerow([_written(cell) for cell in row])
    return file.getvalue()


def _written(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, str):
        return f"'{cell}" if _FORMULA.match(cell) else cell
    return repr(cell)


def text_of_cell(cell: str) -> str:
    """Return the text that a cell of a column of texts stands for.

    Examples
    --------
    >>> text_of_cell("'-O3"), text_of_cell("'s")
    ('-O3', "'s")
    """
    return cell[1:] if _GUARDED.match(cell) else cell
