"""Find the records that a user names in the archive."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from ridgepoint.core.errors import ArchiveRefused, RidgepointError
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.archive_record import MACHINES, Kind, Record
from ridgepoint.models.given_machine import given_machine, is_per_cycle, looks_given
from ridgepoint.published.machines import names, opened

Kept = Machine | MeasuredCluster | Timing | tuple[Measurement, Machine | None]
"""What can be shown; a measurement with the machine that bounds it, if there is one."""


def last_record(archive: Archive, kind: str | None = None) -> Record:
    """Return the last record, of one kind or of any.

    Raises
    ------
    ArchiveRefused
        If there is no such record.
    """
    records = [record for record in archive.records() if kind in (None, record.kind)]
    if not records:
        raise ArchiveRefused(
            f"cannot show anything of the archive {archive.path}",
            reason=f"no {kind or 'record'} is kept there yet",
            remedy="measure a program first: ridgepoint run -- ./program",
        )
    return records[-1]


def kept_measurement(archive: Archive, record: Record) -> tuple[Measurement, Machine]:
    """Return a kept measurement with the machine, or all nodes together, that bounded it.

    Raises
    ------
    ArchiveRefused
        If the record is not a measurement, or was kept without a machine.
    """
    measurement = archive.measurement(record.id)
    if record.machine_id is None:
        raise ArchiveRefused(
            f"cannot bound measurement {record.id}",
            reason="it was kept without a machine",
            remedy="measure the program again with 'ridgepoint run', without --counts-only",
        )
    from ridgepoint.models.distributed import machine_for

    return measurement, machine_for(measurement, archive.machine(record.machine_id))


def kept_cluster(archive: Archive, hosts: Collection[str]) -> tuple[int, Machine] | None:
    """Return the slowest node, and its id, of the last cluster measured on all these hosts.

    Parameters
    ----------
    archive : Archive
    hosts : collection of str

    Returns
    -------
    tuple of int and Machine, or None
        None: no cluster was measured on them.
    """
    for record in reversed(archive.records("cluster")):
        cluster = archive.cluster(record.id)
        if set(hosts) <= {node.host for node in cluster.nodes}:
            return record.id, cluster.slowest()
    return None


def kept(archive: Archive, text: str) -> Kept:
    """Return the value that a user names: a record, a file, a published machine, or its figures.

    Raises
    ------
    RidgepointError
        If there is nothing of this name, or it cannot be read.
    """
    if _is_given(text):
        return _given(text, may_be_per_cycle=True)
    record = _named(archive, text)
    if record is not None:
        return kept_record(archive, record)
    return _opened(text)


def kept_record(archive: Archive, record: Record) -> Kept:
    """Return the content of a record; for a measurement with the machine that bounded it."""
    if record.kind == "machine":
        return archive.machine(record.id)
    if record.kind == "cluster":
        return archive.cluster(record.id)
    measured = archive.measured(record.id)
    if isinstance(measured, Timing):
        return measured
    return (measured, None) if record.machine_id is None else kept_measurement(archive, record)


def named_machine(archive: Archive, text: str, *, may_be_per_cycle: bool = False) -> Machine:
    """Return the machine that a user names: a record by number or name, a file, a published one.

    Parameters
    ----------
    archive : Archive
    text : str
        May also state the machine's figures, such as ``pi=2 flop/cycle, beta=1 B/cycle``.
    may_be_per_cycle : bool
        Whether these may all be per cycle, without a frequency.

    Raises
    ------
    RidgepointError
        If it does not exist, is damaged, or is not a machine.
    """
    if _is_given(text):
        return _given(text, may_be_per_cycle=may_be_per_cycle)
    found = _hardware(archive, text)
    return found.slowest() if isinstance(found, MeasuredCluster) else found


def machine_of(text: str, archive_path: Path | None = None) -> Machine:
    """Return the machine that a user names, from an archive if it is a number or a name in it.

    Parameters
    ----------
    text : str
    archive_path : Path or None
        Path of the archive; None: the archive in use.

    Raises
    ------
    RidgepointError
        As for `named_machine`.
    """
    found = hardware_of(text, archive_path)
    return found.slowest() if isinstance(found, MeasuredCluster) else found


def hardware_of(text: str, archive_path: Path | None = None) -> Machine | MeasuredCluster:
    """Return the machine that a user names, or the measured cluster with its network.

    Raises
    ------
    RidgepointError
        As for `named_machine`.
    """
    if _is_given(text):
        return _given(text)
    if is_elsewhere(text):
        return opened(text)
    with Archive(archive_path) as archive:
        return _hardware(archive, text)


def _hardware(archive: Archive, text: str) -> Machine | MeasuredCluster:
    # A measurement may have this name too; a name of measurements alone is refused as such.
    record = _named(archive, text, MACHINES) or _named(archive, text)
    if record is None:
        return _opened(text)
    return archive.cluster(record.id) if record.kind == "cluster" else archive.machine(record.id)


def _named(archive: Archive, text: str, kinds: Sequence[Kind] = ()) -> Record | None:
    """Return the record that a text names; a path, or a published machine, names none."""
    if is_elsewhere(text):
        return None
    return archive.find(text, kinds)


def is_elsewhere(text: str) -> bool:
    """Return whether a text names no record: it is a path, a published machine, or figures."""
    return _is_path(text) or text.lower() in names() or _is_given(text)


def _is_given(text: str) -> bool:
    """Return whether a text states figures; a file of such a name goes before."""
    return looks_given(text) and not Path(text).is_file()


def _given(text: str, *, may_be_per_cycle: bool = False) -> Machine:
    """Return the machine whose figures a text states."""
    what = f"cannot read the machine {text!r}"
    try:
        machine = given_machine(text)
    except ValueError as error:
        reason, _, remedy = str(error).rpartition("; ")
        raise RidgepointError(what, reason=reason, remedy=remedy) from error
    if is_per_cycle(machine) and not may_be_per_cycle:
        raise RidgepointError(
            what,
            reason="its rates are per cycle, and times need its frequency",
            remedy="add the frequency, such as frequency=3.2GHz",
        )
    return machine


def _is_path(text: str) -> bool:
    return "/" in text or text.lower().endswith(".json")


def _opened(text: str) -> Machine | MeasuredCluster:
    """Return a machine or a cluster that is not in the archive."""
    try:
        return opened(text)
    except RidgepointError as error:
        if _is_path(text) or Path(text).exists():
            raise
        raise RidgepointError(
            f"cannot find {text!r}",
            reason=f"no kept record has this name, and {error.reason}",
            remedy=f"see 'ridgepoint list', or {error.remedy}",
        ) from error
