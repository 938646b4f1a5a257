"""Machines that a pipeline's file names: of the library, of a file, of the archive, by figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.machine import Machine
from ridgepoint.core.rates import ideal_machine
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.archive_record import MACHINES
from ridgepoint.kept.pipeline_file.section import Section
from ridgepoint.kept.pipeline_file.stages import Read
from ridgepoint.published.machines import open_machine

_FIGURES = ("name", "compute", "bandwidth")


def machine_of(section: Section, read: Sequence[Read], archive: Archive, precision: str) -> Machine:
    """Return the machine that a file names; without one, that of the measured stages.

    Raises
    ------
    InvalidDocument
        If there is none, with file, line and key.
    """
    if "machine" in section:
        return _named(section, "machine", section.values["machine"], archive, precision)
    kept = {one.machine_id for one in read if one.stage.measurement is not None}
    if len(kept) > 1:
        raise section.wrong("stages", "its stages were measured on different machines",
                            "say by which to bound them, such as machine = 3")  # fmt: skip
    number = kept.pop() if kept else None
    if number is None:
        raise section.wrong(None, "it names no machine",
                            'add one, such as machine = "h200"')  # fmt: skip
    return archive.machine(number)


def machines_beside(section: Section, archive: Archive, first: Machine) -> tuple[Machine, ...]:
    """Return the other machines to which stages may be assigned."""
    if "machines" not in section:
        return ()
    named = section.values["machines"]
    if not isinstance(named, list):
        raise section.wrong("machines", "it is no list", 'write ["h200", "a100"]')
    found = [_named(section, "machines", one, archive, "fp32") for one in named]
    # The first may be another than the file's, and one of these.
    found = [one for one in found if one.name != first.name]
    if len({one.name for one in found}) < len(found):
        raise section.wrong("machines", "two machines have one name", "name each once")
    return tuple(found)


def _named(section: Section, key: str, value: object, archive: Archive, precision: str) -> Machine:
    try:
        if isinstance(value, int) and not isinstance(value, bool):
            return archive.machine(value)
        if isinstance(value, str):
            kept = None if value.isdecimal() else archive.find(value, MACHINES)
            if kept is not None:
                return archive.machine(kept.id)
            beside = Path(section.file).parent / value
            is_beside = value.lower().endswith(".json") and beside.is_file()
            return open_machine(str(beside) if is_beside else value)
    except RidgepointError as error:
        raise section.wrong(key, error.reason, error.remedy) from error
    if not isinstance(value, dict) or key != "machine":
        raise section.wrong(
            key,
            f"{value!r} names no machine",
            "give a published machine, a file, or a number or a name of the archive",
        )
    figures = section.table(key)
    figures.require_known(_FIGURES)
    compute = figures.amount("compute", "work rate")
    bandwidth = figures.amount("bandwidth", "byte rate")
    if compute is None or bandwidth is None:
        raise section.wrong(key, "it lacks compute or bandwidth", "give both")
    made = ideal_machine(core_rate=compute, cores=1, memory_bytes_per_s=bandwidth, work=precision)
    host = replace(made.host, cpu="given figures")
    return replace(made, name=figures.text("name") or "machine", host=host, source="given")
