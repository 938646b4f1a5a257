"""Machines named in a pipeline's file: published, from a file, from the archive, by figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import OTHER_NODE, Machine
from ridgepoint.core.rates import ideal_machine
from ridgepoint.core.toml import Table
from ridgepoint.core.units import format_si
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.lookup import named_machine
from ridgepoint.kept.pipeline_file.keys import Figures, PipelineKeys, require_kind_of_work
from ridgepoint.kept.pipeline_file.stages import Read
from ridgepoint.published.machines import open_machine


def machine_of(table: Table, keys: PipelineKeys, read: Sequence[Read], archive: Archive) -> Machine:
    """Return the machine that a file names; without one, that of the measured stages.

    Raises
    ------
    InvalidDocument
        If no machine is known; the message has file, line and key.
    """
    if keys.machine is not None:
        return _machine(
            table, "machine", keys.machine, table.values["machine"],
            precision=keys.precision, archive=archive,
        )  # fmt: skip
    kept = {stage.machine_id for stage in read if stage.stage.measurement is not None}
    if len(kept) > 1:
        raise table.wrong("stages", "its stages were measured on different machines",
                          "name the machine that bounds them, such as machine = 3")  # fmt: skip
    number = kept.pop() if kept else None
    if number is None:
        raise table.wrong(None, "it names no machine",
                          'add one, such as machine = "h200"')  # fmt: skip
    return archive.machine(number)


def machines_beside(
    table: Table, keys: PipelineKeys, archive: Archive, first: Machine
) -> tuple[Machine, ...]:
    """Return the other machines to which stages may be assigned."""
    named = [
        _machine(table, "machines", named, written, precision=keys.precision, archive=archive)
        for named, written in zip(keys.machines, table.values.get("machines", []), strict=True)
    ]
    # The first machine may differ from the file's, and be one of these.
    others = [machine for machine in named if machine != first]
    if len({machine.name for machine in (first, *others)}) <= len(others):
        raise table.wrong(
            "machines",
            "two machines have one name",
            'name each once, and figures by name = "NAME"',
        )
    return tuple(others)


def _machine(
    table: Table,
    key: str,
    named: int | str | Figures,
    written: Any,
    *,
    precision: str,
    archive: Archive,
) -> Machine:
    """Return a machine by its figures, its number or its name, as it was written in the file."""
    if isinstance(named, Figures):
        require_kind_of_work(table, key, written["compute"], precision)
        return _ideal(table, key, named, precision)
    return _named(table, key, named, archive)


def _named(table: Table, key: str, name: int | str, archive: Archive) -> Machine:
    try:
        if isinstance(name, int):
            return archive.machine(name)
        beside = Path(table.file).parent / name
        is_beside = name.lower().endswith(".json") and beside.is_file()
        return open_machine(str(beside)) if is_beside else named_machine(archive, name)
    except RidgepointError as error:
        raise table.wrong(key, error.reason, error.remedy) from error


def _ideal(table: Table, key: str, figures: Figures, precision: str) -> Machine:
    """Return a machine with only the given figures."""
    made = ideal_machine(
        core_rate=float(figures.compute),
        cores=1,
        memory_bytes_per_s=float(figures.bandwidth),
        work=precision,
    )
    host = replace(made.host, cpu="given figures")
    ceilings = made.ceilings
    if figures.other_node is not None:
        if figures.other_node >= figures.bandwidth:
            slower, own_rate = (
                format_si(float(rate), "B/s") for rate in (figures.other_node, figures.bandwidth)
            )
            raise table.wrong(
                key,
                f"memory of another node gives {slower}; it must give less than {own_rate}",
                "give the rate at which cores read another node's memory, or leave other_node out",
            )
        own = next(ceiling for ceiling in ceilings if ceiling.resource == "dram")
        far = replace(own, name=OTHER_NODE, part="memory of another node",
                      rate=Estimate([float(figures.other_node)]))  # fmt: skip
        ceilings = (*ceilings, far)
    return replace(made, name=figures.name, host=host, ceilings=ceilings, source="given")
