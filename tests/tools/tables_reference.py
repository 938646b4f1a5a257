"""The reference of docs/tables.md: every column of every table.

``python tests/tools/tables_reference.py`` writes it, and a test holds the page to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ridgepoint.core.table import Column
from ridgepoint.kept.record_table import MERGED, RECORDS
from ridgepoint.show.data_tables import (
    compare,
    fleet,
    history,
    machine,
    operators,
    others,
    pipeline,
    ridgeline,
    run,
    scaling,
    studies,
    transformer,
)
from ridgepoint.show.data_tables.part import MEASURED

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
MARK = "<!-- What follows is written by tests/tools/tables_reference.py. -->\n"

SUBJECTS: dict[str, Mapping[str, Sequence[Column]]] = {
    "`run` and `show` of a program": run.COLUMNS,
    "`run --operators`, and `show` of operators": operators.COLUMNS,
    "`machine`, and `show` of a machine or a cluster": machine.COLUMNS,
    "`list`": {"records": RECORDS},
    "`import`": {"imported": MERGED},
    "`compare`": compare.COLUMNS,
    "`history`": history.COLUMNS,
    "`plot`": others.COLUMNS["plot"],
    "`scale`": scaling.COLUMNS,
    "`ridgeline`": ridgeline.COLUMNS,
    "`transformer`": transformer.COLUMNS,
    "`pipeline`": pipeline.COLUMNS,
    "`fleet`": fleet.COLUMNS,
    "`bops`": others.COLUMNS["bops"],
    "`doctor`": others.COLUMNS["doctor"],
    **{f"`suite {name}`": tables for name, tables in studies.COLUMNS.items()},
}


def reference() -> str:
    """Return the part of the page that lists every column of every table."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    for subject, tables in SUBJECTS.items():
        yield f"## {subject}\n"
        for name, columns in tables.items():
            yield f"### {name}\n"
            yield "| column | unit | what it is |\n|---|---|---|"
            yield from _rows(columns, is_full=tables is run.COLUMNS)
            yield ""


def _rows(columns: Sequence[Column], *, is_full: bool) -> Iterator[str]:
    """Yield a row for each column; what every measured case has is listed once, for a program."""
    with_ends = {column.of for column in columns}
    for column in columns:
        if column.end is not None:
            continue
        if column in MEASURED and not is_full and set(MEASURED) <= set(columns):
            if column is MEASURED[0]:
                last = MEASURED[-1].key
                yield f"| `{column.key}` to `{last}` | | All of these columns of [parts](#parts). |"
            continue
        ends = ", `…_low`, `…_high`" if column.key in with_ends else ""
        unit = column.unit or ("as the row says" if column.unit_key else "")
        text = column.help.replace("|", "\\|")
        yield f"| `{column.key}`{ends} | {unit} | {text} |"


if __name__ == "__main__":
    written, _, _ = PAGE.read_text(encoding="utf-8").partition(MARK)
    PAGE.write_text(f"{written}{MARK}\n{reference()}", encoding="utf-8")
