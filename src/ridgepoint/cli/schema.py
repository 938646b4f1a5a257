"""Print the JSON Schema of a kind of document."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common, completing

if TYPE_CHECKING:
    from collections.abc import Mapping


@click.command("schema")
@click.argument("name", metavar="[KIND]", required=False, shell_complete=completing.schemas)
@common.json_option
def command(*, name: str | None, as_json: bool) -> None:
    """Print the JSON Schema of documents of a KIND, or list all kinds.

    Every document states its kind (key 'kind') and the version of its format (key 'schema'). The
    schemas are of draft 2020-12, with a description of each key and, where it has one, its unit.
    With --json the list of kinds is a document, too.
    """
    from ridgepoint.core.documents import report
    from ridgepoint.published.schemas import named, titles

    if name is not None:
        sys.stdout.write(named(name))
        return
    found = titles()
    if as_json:
        kinds = [{"name": kind, "title": title} for kind, title in found.items()]
        common.print_json(report("schemas", {"schemas": kinds}))
    else:
        _show(found)


def _show(found: Mapping[str, str]) -> None:
    from ridgepoint.show.tables.layout import plain_table

    table = plain_table("kind", "documents")
    for kind, title in found.items():
        table.add_row(kind, title)
    common.console().print(table)
