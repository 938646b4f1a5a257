"""Find this host's machine: the kept one, or measure it and keep it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ridgepoint import __version__
from ridgepoint.core.errors import ArchiveRefused
from ridgepoint.core.machine import Machine
from ridgepoint.core.notebook import shows_progress
from ridgepoint.host import System, fingerprint, hostname
from ridgepoint.host.alone import alone_on_this_host
from ridgepoint.kept.archive import Archive, ArchivePath

Progress = Callable[[str, int, int], None]
"""Told what is measured next, how many ceilings are done, and how many there are."""


@shows_progress("fraction")
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
        Path of the archive; None: the archive in use.
    progress : callable or None
        Called with the next ceiling, the number of ceilings done, and their total number. None:
        nothing, except in a notebook, which shows it below the cell.

    Notes
    -----
    A kept machine is found as long as nothing changes on which its ceilings depend: processor,
    usable CPUs, memory, kernel, version of Ridgepoint. ``ridgepoint run`` uses the same one.
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
        A resource for which a ceiling is required: the record of an earlier version may lack it.
        None: any machine is accepted.
    quick : bool
        If it must be measured, measure only the ceilings that bound most programs.
    when_waiting : callable or None
        Called if another process is measuring this host now: its machine is then used.
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
    for key in fingerprints:
        kept = archive.latest_machine(key)
        if kept is not None and (knowing is None or kept[1].knows(knowing)):
            return kept
    return None


def _measured(archive: Archive, measured: Callable[[], Machine]) -> tuple[int, Machine]:
    archive.require_writable()
    machine = measured()
    return archive.keep_machine(machine), machine
