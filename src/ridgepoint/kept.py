"""Finds in the archive what a user means."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from ridgepoint.archive import Archive, Record
from ridgepoint.errors import ArchiveRefused
from ridgepoint.library import open_machine
from ridgepoint.machine import Machine
from ridgepoint.measurement import Measurement


def last_record(archive: Archive, kind: str | None = None) -> Record:
    """Return what was kept last, of one kind or of any.

    Raises
    ------
    ArchiveRefused
        If nothing is kept.
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
    """Return a kept measurement with the machine that bounded it, or all nodes together.

    Raises
    ------
    ArchiveRefused
        If the record is no measurement, or was kept without a machine.
    """
    measurement = archive.measurement(record.id)
    if record.machine_id is None:
        raise ArchiveRefused(
            f"cannot bound measurement {record.id}",
            reason="it was kept without a machine",
            remedy="measure the program again with 'ridgepoint run'",
        )
    from ridgepoint.models.distributed import machine_for

    return measurement, machine_for(measurement, archive.machine(record.machine_id))


def kept_cluster(archive: Archive, hosts: Collection[str]) -> tuple[int, Machine] | None:
    """Return the slowest node of the cluster that was measured last on all these hosts, and its id.

    Parameters
    ----------
    archive : Archive
    hosts : collection of str

    Returns
    -------
    tuple of int and Machine, or None
        None: there is none.
    """
    for record in reversed(archive.records("cluster")):
        cluster = archive.cluster(record.id)
        if set(hosts) <= {node.host for node in cluster.nodes}:
            return record.id, cluster.slowest()
    return None


def named_machine(archive: Archive, text: str) -> Machine:
    """Return the machine that a user names: a number of the archive, a file, a published one.

    Raises
    ------
    RidgepointError
        If it is not there, damaged, or no machine.
    """
    # No archive has so many records, and int() refuses far longer numbers.
    if text.isdecimal() and len(text) <= 18:
        return archive.machine(int(text))
    return open_machine(text)


def machine_of(text: str, archive_path: Path | None = None) -> Machine:
    """Return the machine that a user names, from an archive if it is a number.

    Parameters
    ----------
    text : str
    archive_path : Path or None
        None: the archive in use.

    Raises
    ------
    RidgepointError
        As `named_machine`.
    """
    if not text.isdecimal():
        return open_machine(text)
    with Archive(archive_path) as archive:
        return named_machine(archive, text)
