"""List what was kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common
from ridgepoint.cli.tables import beside, prints_document, tables_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ridgepoint.kept.archive_record import Kind, Record

_SHOWN = 50
_AT_ONCE = 200
"""Rows of a table that is printed as one: a reader need not wait for all the others."""


@click.command("list")
@click.option(
    "--last",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"List the last N records.  [default: {_SHOWN}, and with --json, --csv or --parquet all]",
)
@click.option("--all", "everything", is_flag=True, help="List every record.")
@click.option(
    "--kind",
    type=click.Choice(["machine", "measurement", "cluster", "operators"]),
    help="List records of one kind.",
)
@click.option(
    "--name",
    "containing",
    metavar="TEXT",
    help="List records whose name, command or machine contains TEXT, in upper or lower case.",
)
@common.json_option
@tables_option("records")
@common.archive_option
def command(
    *,
    last: int | None,
    everything: bool,
    kind: Kind | None,
    containing: str | None,
    as_json: bool,
    archive_path: Path | None,
) -> None:
    """List the kept records (machines, clusters, measurements and operators), oldest first."""
    from ridgepoint.core.collecting import not_collecting
    from ridgepoint.core.documents import report
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.record_table import records_table

    if everything and last is not None:
        raise click.UsageError("--all and --last contradict each other")
    with Archive(archive_path) as archive:
        if not everything and last is None and not _writes_data(as_json=as_json):
            last = _SHOWN
        records = archive.records(kind, last=last, containing=containing)
        kept = archive.count()
    with beside(lambda: [records_table(records)]) as is_shown:
        if as_json:
            with not_collecting():
                common.print_json(report("list", {"records": records}))
        elif is_shown:
            _show(records, kept, is_filtered=kind is not None or containing is not None)


def _writes_data(*, as_json: bool) -> bool:
    """Return whether the list is for programs, which want all of it."""
    given = common.given_on_command_line()
    return prints_document(as_json=as_json) or bool({"csv", "parquet"} & set(given))


def _show(records: Sequence[Record], kept: int, *, is_filtered: bool) -> None:
    from ridgepoint.show.tables import record_table

    out = common.console()
    if not kept:
        out.print("No results are kept yet: measure a program with 'ridgepoint run -- ./program'.")
    elif not records:
        out.print(f"None of the {kept} records that are kept is like that.")
    for begin in range(0, len(records), _AT_ONCE):
        out.print(record_table.records(records[begin : begin + _AT_ONCE]))
    if not is_filtered and len(records) < kept:
        common.say(f"the last {len(records)} of {kept} records; --all lists every one")
