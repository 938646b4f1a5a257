"""What an archive keeps, as a table."""

from __future__ import annotations

from collections.abc import Iterable

from ridgepoint.core.columns import count, flag, number, text
from ridgepoint.core.documents import fields_of
from ridgepoint.core.resources import RESOURCES, Resource
from ridgepoint.core.table import Table
from ridgepoint.kept.archive_record import Record
from ridgepoint.kept.merging import Merged


def _key(resource: Resource) -> str:
    unit = resource.unit.lower()
    return resource.name if resource.name == unit else f"{resource.name}_{unit}"


RECORDS = (
    count("id", "Number of the record."),
    text("kind", "machine, cluster, measurement or operators."),
    text("created", "When it was kept, ISO 8601, UTC."),
    text("name", "The machine, the cluster or the command."),
    text("label", "Name that a user gave it."),
    text("note", "A user's remark."),
    count("machine_id", "Number of the machine that bounds it."),
    number("runtime_s", "Median runtime.", "T", unit="s"),
    text("metric", "What it is placed by: flop or bop."),
    text("binding", "Constraint that binds."),
    number("efficiency", "Bound over runtime: 1 is the roof."),
    *(
        number(
            _key(resource), f"Work in {resource.label} that the bound counts.", unit=resource.unit
        )
        for resource in RESOURCES.values()
        if resource.path == "compute"
    ),
    text("selected", "Region or function that was counted alone."),
    text("options", "Options of the run, as a shell has them."),
)


MERGED = (
    count("id", "Number of the record here."),
    text("kind", "machine, cluster, measurement or operators."),
    text("name", "The machine, the cluster or the command."),
    text("origin", "Where it comes from."),
    flag("is_new", "Whether it was kept now; false: it was here already."),
    text("label", "Its name here."),
    text("own_label", "Its name there."),
)


def merged_table(merged: Iterable[Merged]) -> Table:
    """Return a row for each record that was imported."""
    keys = [column.key for column in MERGED]
    return Table.of("imported", MERGED, (fields_of(record, *keys) for record in merged))


def records_table(records: Iterable[Record]) -> Table:
    """Return a row for each record, with what its summary says of a measurement."""
    return Table.of("records", RECORDS, map(_row, records))


def _row(record: Record) -> dict[str, object]:
    row = fields_of(record, "id", "kind", "created", "name", "label", "note", "machine_id")
    summary = record.summary
    if summary is None:
        return row
    return {
        **row,
        **fields_of(summary, "runtime_s", "metric", "binding", "efficiency", "selected"),
        **{
            _key(RESOURCES[name]): amount
            for name, amount in summary.work_by_resource.items()
            if name in RESOURCES
        },
        "options": " ".join(summary.options),
    }
