"""Keep results, find them again, and find the machine that this host is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ridgepoint import __version__
from ridgepoint.core.errors import ArchiveRefused
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Asked, Measurement
from ridgepoint.host import System, fingerprint, hostname
from ridgepoint.host.alone import alone_on_this_host
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.archive_record import Kind, Record, require_label
from ridgepoint.kept.lookup import last_record
from ridgepoint.models.analysis import place
from ridgepoint.models.distributed import machine_for
from ridgepoint.models.placement import Placement

Progress = Callable[[str, int, int], None]
"""Told what is measured next, how many ceilings are done, and how many there are."""

Kept = Machine | MeasuredCluster | Measurement | Placement
"""What an archive gives back."""

ArchivePath = Path | str | None
"""An archive's file; None: the archive in use (``RIDGEPOINT_ARCHIVE``, or the user's)."""


def machine_here(
    *,
    quick: bool = False,
    again: bool = False,
    archive: ArchivePath = None,
    progress: Progress | None = None,
) -> Machine:
    """Return this host's kept machine, or measure it and keep it.

    Parameters
    ----------
    quick : bool
        If it must be measured, measure only the ceilings that bound most programs.
    again : bool
        Measure it even if one is kept.
    archive : Path or str or None
        None: the archive in use.
    progress : callable or None
        Told what is measured next, how many ceilings are done, and how many there are.

    Notes
    -----
    A kept machine is found for as long as nothing changes that its ceilings depend on: processor,
    usable CPUs, memory, kernel, version of Ridgepoint. It is the one that ``ridgepoint run`` uses.
    """
    with Archive(archive) as opened:
        if again:
            return _measured(opened, _characterize(progress, quick=quick))[1]
        return machine_of_this_host(opened, progress=progress, quick=quick)[1]


def kept_machine_here(archive: ArchivePath = None) -> Machine:
    """Return this host's kept machine.

    Raises
    ------
    ArchiveRefused
        If none is kept.
    """
    with Archive(archive) as opened:
        kept = _first_kept(opened, _fingerprints_here())
        if kept is None:
            raise ArchiveRefused(
                "cannot tell which machine is meant",
                reason=f"none of this host is kept in {opened.path}",
                remedy="give machine=, or measure this host: ridgepoint.machine_here()",
            )
        return kept[1]


def keep(
    result: Machine | MeasuredCluster | Measurement | Placement,
    *,
    machine: Machine | None = None,
    label: str | None = None,
    note: str | None = None,
    archive: ArchivePath = None,
) -> int:
    """Keep a result and return its number: once this returns, it is on the disk.

    Parameters
    ----------
    result : Machine, MeasuredCluster, Measurement or Placement
        A placement is kept as its measurement, with its machine.
    machine : Machine or None
        That bounds a measurement; it is kept too, unless it is already. None: none does.
    label : str or None
        Name by which `load` and the command line find it.
    note : str or None
        What to say about it in ``ridgepoint list``.
    archive : Path or str or None
        None: the archive in use.

    Raises
    ------
    ArchiveRefused
        If the archive cannot be written.
    RidgepointError
        If the label would be taken for something else: a number, a file, an option.
    TypeError
        If the result is of another kind.
    ValueError
        If a machine is given for a result that has none, or has another.
    """
    if isinstance(result, Placement):
        placed = result
        if placed.measurement is None or (machine or placed.machine) != placed.machine:
            raise ValueError("a placement is kept with its own measurement and machine")
        result, machine = placed.measurement, placed.machine
        if placed.metric != result.metric:
            result = replace(result, asked=replace(result.asked or Asked(), metric=placed.metric))
    if machine is not None and not isinstance(result, Measurement):
        raise ValueError("machine= is for measurements, which it bounds")
    with Archive(archive) as opened:
        if isinstance(result, Machine):
            return opened.keep_machine(result, label=label, note=note)
        if isinstance(result, MeasuredCluster):
            return opened.keep_cluster(result, label=label, note=note)
        if not isinstance(result, Measurement):
            raise TypeError(
                "result must be a Machine, MeasuredCluster, Measurement or Placement, "
                f"got {type(result).__name__}"
            )
        if label is not None:
            require_label(label)  # before the machine is kept
        machine_id = None if machine is None else keep_once(opened, machine)
        return opened.keep_measurement(result, machine_id, label=label, note=note)


def kept_records(kind: Kind | None = None, *, archive: ArchivePath = None) -> list[Record]:
    """Return what is kept, oldest first: numbers, names and times, without the results.

    Parameters
    ----------
    kind : {"machine", "measurement", "cluster"} or None
        None: every kind.
    archive : Path or str or None
        None: the archive in use.
    """
    with Archive(archive) as opened:
        return opened.records(kind)


def load(id: int | str | None = None, *, archive: ArchivePath = None) -> Kept:
    """Return a kept result by its number or its name.

    Parameters
    ----------
    id : int, str or None
        As `keep` returned it, and `ridgepoint list` shows it; or the name that it was given: of
        several with one name the last. None: what was kept last.
    archive : Path or str or None
        None: the archive in use.

    Returns
    -------
    Machine, MeasuredCluster, Measurement or Placement
        A measurement that was kept with a machine comes back placed on it: a `Placement`, whose
        `measurement` and `machine` are these, by the cores and the work that were asked for.

    Raises
    ------
    ArchiveRefused
        If there is no such record.
    InvalidDocument
        If it is damaged, or was kept by a newer version.
    """
    with Archive(archive) as opened:
        if isinstance(id, str):
            record = opened.require(id)
        else:
            record = last_record(opened) if id is None else opened.record(id)
        if record.kind == "machine":
            return opened.machine(record.id)
        if record.kind == "cluster":
            return opened.cluster(record.id)
        measurement = opened.measurement(record.id)
        if record.machine_id is None:
            return measurement
        machine = machine_for(measurement, opened.machine(record.machine_id))
        return place(measurement, machine)


def machine_of_this_host(
    archive: Archive,
    *,
    progress: Progress | None = None,
    knowing: str | None = None,
    quick: bool = False,
    when_waiting: Callable[[], None] | None = None,
) -> tuple[int, Machine]:
    """Return this host's kept machine and its number, or measure and keep it.

    Parameters
    ----------
    archive : Archive
    progress : callable or None
    knowing : str or None
        A resource without whose ceiling it is of no use: one that was kept by an earlier version
        may lack it. None: any will do.
    quick : bool
        If it must be measured, measure only the ceilings that bound most programs.
    when_waiting : callable or None
        Called if another process measures this host now: its machine will do.
    """
    return kept_or_measured(
        archive,
        _fingerprints_here(),
        _characterize(progress, quick=quick),
        knowing=knowing,
        when_waiting=when_waiting,
    )


def machine_of_this_host_if_kept(archive: Archive) -> tuple[int, Machine] | None:
    """Return this host's kept machine and its number; None: it was not measured yet."""
    return _first_kept(archive, _fingerprints_here())


def kept_or_measured(
    archive: Archive,
    fingerprints: Sequence[str],
    measured: Callable[[], Machine],
    *,
    knowing: str | None = None,
    when_waiting: Callable[[], None] | None = None,
) -> tuple[int, Machine]:
    """Return the first machine that is kept under a fingerprint, or measure one and keep it."""
    if (kept := _first_kept(archive, fingerprints, knowing=knowing)) is not None:
        return kept
    with alone_on_this_host(when_waiting or (lambda: None)):
        # Another process may have measured and kept it while this one waited.
        kept = _first_kept(archive, fingerprints, knowing=knowing)
        return kept or _measured(archive, measured)


def keep_once(archive: Archive, machine: Machine) -> int:
    """Return the id under which a machine is kept; keep it if it is not."""
    for record in archive.records("machine"):
        if record.name == machine.name and archive.machine(record.id) == machine:
            return record.id
    return archive.keep_machine(machine)


def gpu_name(index: int) -> str:
    """Return what the machine of a GPU of this host is called."""
    return f"{hostname()}-gpu{index}"


def _fingerprints_here() -> list[str]:
    system = System()
    return [fingerprint(system, __version__, quick=quick) for quick in (False, True)]


def _characterize(progress: Progress | None, *, quick: bool) -> Callable[[], Machine]:
    def measured() -> Machine:
        from ridgepoint.ceilings import characterize

        return characterize(progress=progress, quick=quick)

    return measured


def _first_kept(
    archive: Archive, fingerprints: Sequence[str], *, knowing: str | None = None
) -> tuple[int, Machine] | None:
    for each in fingerprints:
        kept = archive.latest_machine(each)
        if kept is not None and (knowing is None or kept[1].knows(knowing)):
            return kept
    return None


def _measured(archive: Archive, measured: Callable[[], Machine]) -> tuple[int, Machine]:
    archive.require_writable()
    machine = measured()
    return archive.keep_machine(machine), machine
