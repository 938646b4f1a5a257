"""Keep results in the archive, and find them again."""

from __future__ import annotations

from dataclasses import replace

from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Asked, Measurement, Timing
from ridgepoint.core.operators import OperatorProfile
from ridgepoint.kept.archive import Archive, ArchivePath
from ridgepoint.kept.archive_record import Kind, Record, require_label
from ridgepoint.kept.archive_refusals import not_counted
from ridgepoint.kept.lookup import Kept as Found
from ridgepoint.kept.lookup import is_path, kept, kept_record, last_record
from ridgepoint.models.analysis import place
from ridgepoint.models.distributed import machine_for
from ridgepoint.models.operators import OperatorAnalysis
from ridgepoint.models.placement import Placement

Kept = Machine | MeasuredCluster | Measurement | Placement | OperatorAnalysis
"""What an archive gives back."""


def keep(
    result: Machine
    | MeasuredCluster
    | Measurement
    | Placement
    | OperatorProfile
    | OperatorAnalysis,
    *,
    machine: Machine | None = None,
    label: str | None = None,
    note: str | None = None,
    archive: ArchivePath = None,
) -> int:
    r"""Keep a result and return its number: once this returns, it is on the disk.

    Parameters
    ----------
    result : Machine, MeasuredCluster, Measurement, Placement, OperatorProfile or \
            OperatorAnalysis
        A placement is kept as its measurement, with its machine, and an analysis of operators as
        their profile, with its machine.
    machine : Machine or None
        Machine that bounds a measurement or operators; it is kept too, unless it already is. None:
        none does.
    label : str or None
        Name by which `load` and the command line find it.
    note : str or None
        Remark to show in ``ridgepoint list``.
    archive : Path or str or None
        Path of the archive; None: the archive in use.

    Raises
    ------
    ArchiveRefused
        If the archive cannot be written.
    RidgepointError
        If the label would be mistaken for something else: a number, a file, an option.
    TypeError
        If the result is of none of these kinds.
    ValueError
        If a machine is given for a result that cannot have one, or has another.
    """
    if isinstance(result, Placement):
        placed = result
        if (machine or placed.machine) != placed.machine:
            raise ValueError("a placement is kept with its own measurement and machine")
        result, machine = placed.measurement, placed.machine
        if placed.metric != result.metric:
            result = replace(result, asked=replace(result.asked or Asked(), metric=placed.metric))
    if isinstance(result, OperatorAnalysis):
        analysed = result
        if (machine or analysed.machine) != analysed.machine:
            raise ValueError("an analysis of operators is kept with its own machine")
        result, machine = analysed.profile, analysed.machine
    if machine is not None and not isinstance(result, Measurement | OperatorProfile):
        raise ValueError("machine= applies only to a measurement or operators, which it bounds")
    with Archive(archive) as opened:
        if isinstance(result, Machine):
            return opened.keep_machine(result, label=label, note=note)
        if isinstance(result, MeasuredCluster):
            return opened.keep_cluster(result, label=label, note=note)
        if not isinstance(result, Measurement | OperatorProfile):
            raise TypeError(
                "result must be a Machine, MeasuredCluster, Measurement, Placement, "
                f"OperatorProfile or OperatorAnalysis, got {type(result).__name__}"
            )
        if label is not None:
            require_label(label)  # before the machine is kept
        machine_id = None if machine is None else keep_once(opened, machine)
        if isinstance(result, OperatorProfile):
            return opened.keep_operators(result, machine_id, label=label, note=note)
        return opened.keep_measurement(result, machine_id, label=label, note=note)


def kept_records(kind: Kind | None = None, *, archive: ArchivePath = None) -> list[Record]:
    """Return descriptions of all records, oldest first, without the results.

    Parameters
    ----------
    kind : {"machine", "measurement", "cluster", "operators"} or None
        Kind of the records; None: every kind.
    archive : Path or str or None
        Path of the archive; None: the archive in use.
    """
    with Archive(archive) as opened:
        return opened.records(kind)


def load(id: int | str | None = None, *, archive: ArchivePath = None) -> Kept:
    """Return a kept result by its number or its name, or that of a file.

    Parameters
    ----------
    id : int, str or None
        Number, as `keep` returned it and `ridgepoint list` shows it; or name: if several records
        have it, the last one is returned; or path of a file that `ridgepoint export` wrote, with
        a ``/`` or the ending ``.json``. None: the last record.
    archive : Path or str or None
        Path of the archive; None: the archive in use.

    Returns
    -------
    Machine, MeasuredCluster, Measurement, Placement or OperatorAnalysis
        A measurement kept with a machine is returned as a `Placement` on it, with the cores and the
        unit of work that were asked for; its `measurement` and `machine` are the kept ones.

    Raises
    ------
    ArchiveRefused
        If there is no such record.
    InvalidDocument
        If it is damaged, or was kept by a newer version.
    """
    with Archive(archive) as opened:
        if isinstance(id, str):
            if is_path(id):
                return _loaded(kept(opened, id))
            record = opened.require(id)
        else:
            record = last_record(opened) if id is None else opened.record(id)
        if record.kind == "machine":
            return opened.machine(record.id)
        if record.kind == "cluster":
            return opened.cluster(record.id)
        if record.kind == "operators":
            return _loaded(kept_record(opened, record))
        measurement = opened.measurement(record.id)
        if record.machine_id is None:
            return measurement
        machine = machine_for(measurement, opened.machine(record.machine_id))
        return place(measurement, machine)


def _loaded(value: Found) -> Kept:
    """Return what a file holds as `load` returns what the archive holds."""
    if isinstance(value, Timing):
        raise not_counted(value, "a file", "'ridgepoint show'")
    if not isinstance(value, tuple):
        return value
    measurement, machine = value
    return measurement if machine is None else place(measurement, machine)


def keep_once(archive: Archive, machine: Machine) -> int:
    """Return the id of a kept machine; keep it first if necessary."""
    for record in archive.records("machine"):
        if record.name == machine.name and archive.machine(record.id) == machine:
            return record.id
    return archive.keep_machine(machine)
