"""The library that profiles MPI: built with the MPI's own compiler, or shipped; and its files.

It is preloaded into a program and stands between it and MPI's functions (the profiling interface
of the standard), so that the program need not be built anew.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.errors import CannotMeasure, MeterUnavailable, reason_of
from ridgepoint.core.ranks import CALL_KINDS, Call, Peer

REGION = "MPI"
"""The region that the library marks: from the end of MPI_Init to the beginning of MPI_Finalize."""

FOLDER_VARIABLE = "RIDGEPOINT_MPI_FOLDER"
"""Environment variable that names the folder for the profiles of a run."""

_COMPILE_LIMIT_S = 120.0
_FORMAT = "1"
_WHAT = "cannot profile MPI"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What the library saw of one process.

    Parameters
    ----------
    rank, size : int
        In MPI_COMM_WORLD.
    wall_s, cpu_s : float
        From the end of MPI_Init to the beginning of MPI_Finalize; CPU time of all threads.
    in_mpi_s : float
        Of that, the time inside MPI of the thread that was there longest.
    threads : int
        That called MPI.
    calls : tuple of Call
    peers : tuple of Peer
    is_finalized : bool
        False: the program ended without MPI_Finalize, and the times are until then.
    """

    rank: int
    size: int
    wall_s: float
    cpu_s: float
    threads: int
    calls: tuple[Call, ...]
    peers: tuple[Peer, ...]
    is_finalized: bool

    @property
    def in_mpi_s(self) -> float:
        """Time inside MPI of the thread that was there longest."""
        return sum(call.time_s for call in self.calls)

    @property
    def sent_bytes(self) -> int:
        """Sent by point-to-point calls."""
        return sum(peer.sent_bytes for peer in self.peers)


def compiler(beside: Path | None = None) -> Path | None:
    """Return MPI's compiler of C: the one beside the launcher, of its prefix, or in ``PATH``."""
    prefix = os.environ.get("OPAL_PREFIX")
    folders = [beside, None if prefix is None else Path(prefix) / "bin"]
    for folder in folders:
        if folder is not None and os.access(folder / "mpicc", os.X_OK):
            return folder / "mpicc"
    path = shutil.which("mpicc")
    return None if path is None else Path(path)


def preloaded(beside: Path | None) -> str:
    """Return what to preload to profile a launcher's MPI: paths, separated by colons.

    Parameters
    ----------
    beside : Path or None
        Folder of the launcher.

    Raises
    ------
    MeterUnavailable
        If the library cannot be built with the MPI's compiler, and none is shipped for this MPI.
    """
    try:
        return str(library(compiler(beside)))
    except MeterUnavailable as error:
        lack = error
    from ridgepoint.cluster.mpi_families import shipped_library

    try:
        return ":".join(map(str, shipped_library(beside)))
    except MeterUnavailable as error:
        reason = f"{lack.reason}; and {error.reason}"
        raise MeterUnavailable(_WHAT, reason=reason, remedy=lack.remedy) from error


def library(mpicc: Path | None, *, cache: Path | None = None) -> Path:
    """Return the library for an MPI, building it if there is none.

    Parameters
    ----------
    mpicc : Path or None
        MPI's compiler of C; None: there is none.
    cache : Path or None
        Folder to keep it in. None: what ``RIDGEPOINT_CACHE`` names, or the user's cache.

    Raises
    ------
    MeterUnavailable
        If there is no compiler, it fails, or there is nowhere to keep the library.
    """
    # Imported here, as in all that builds: the engine's modules take longer than a short program.
    from ridgepoint.cluster.mpi_families import LIBRARY
    from ridgepoint.meters.building import CACHE_VARIABLE, cache_folder

    if mpicc is None:
        raise MeterUnavailable(
            _WHAT,
            reason="there is no mpicc beside the launcher or in PATH",
            remedy=(
                "put the mpicc of the launcher's MPI in PATH (or install its development package)"
            ),
        )
    try:
        made = cache_folder("mpi", cache) / _key(mpicc) / LIBRARY
        if not made.is_file():
            _build(mpicc, made)
    except OSError as error:
        raise MeterUnavailable(
            _WHAT,
            reason=f"the library cannot be built: {reason_of(error)} ({error.filename})",
            remedy=(
                f"name a folder in {CACHE_VARIABLE} that has free space and from which "
                "libraries may be loaded"
            ),
        ) from error
    return made


def _key(mpicc: Path) -> str:
    """Return what changes with everything that the library is made from."""
    from ridgepoint.cluster.mpi_families import FLAGS, sources
    from ridgepoint.meters.building import digest

    status = mpicc.stat()
    texts = (*FLAGS, str(mpicc), str(status.st_size), str(status.st_mtime_ns))
    return digest(texts, sources()[0])


def _build(mpicc: Path, made: Path) -> None:
    """Build beside its place and rename, so that what is there is whole."""
    from ridgepoint.cluster.mpi_families import FLAGS, sources
    from ridgepoint.meters.compiling import BuildFailed, first_complaint, run_together

    files, headers = sources()
    made.parent.mkdir(parents=True, exist_ok=True)
    with _beside(made) as (draft, log):
        command = (
            *(str(mpicc), *FLAGS, "-shared", f"-I{headers}"),
            *(str(path) for path in files if path.suffix == ".c"),
            *("-o", str(draft), "-ldl"),  # before glibc 2.34
        )
        try:
            with log.open("wb") as sink:
                run_together([command], log.parent, sink, _COMPILE_LIMIT_S)
        except BuildFailed as error:
            raise MeterUnavailable(
                _WHAT,
                reason=f"{mpicc}: {error}: {first_complaint(log)}",
                remedy=(
                    "check whether it can compile a program at all; it needs gcc or clang, and "
                    "mpi.h"
                ),
            ) from error
        draft.replace(made)


@contextmanager
def _beside(made: Path) -> Iterator[tuple[Path, Path]]:
    draft = made.with_name(f".{secrets.token_hex(4)}-{made.name}")
    with tempfile.TemporaryDirectory(prefix="ridgepoint-") as folder:
        try:
            yield draft, Path(folder) / "log"
        finally:
            with suppress(FileNotFoundError):
                draft.unlink()


def environment(preloaded: str, folder: Path) -> dict[str, str]:
    """Return the variables that let a program be profiled; see `preloaded`."""
    loaded = os.environ.get("LD_PRELOAD")
    return {
        "LD_PRELOAD": preloaded if not loaded else f"{preloaded}:{loaded}",
        FOLDER_VARIABLE: str(folder),
    }


def read(folder: Path) -> list[Profile]:
    """Return the profiles of the processes of one rank that used MPI.

    Raises
    ------
    CannotMeasure
        If a file is not whole.
    """
    return [
        parse(path.read_text(encoding="ascii"), origin=path.name)
        for path in sorted(folder.glob("*.mpi"))
    ]


def parse(text: str, *, origin: str) -> Profile:
    """Return the profile that a file of the library holds.

    Parameters
    ----------
    text : str
    origin : str
        The file's name, for messages.

    Raises
    ------
    CannotMeasure
        If it is not whole, or another version wrote it.
    """
    rows = [line.split("\t") for line in text.splitlines()]
    heads = {row[0]: row[1:] for row in rows}
    if heads.get("ridgepoint-mpi") != [_FORMAT] or "end" not in heads:
        raise CannotMeasure(
            f"cannot read the profile {origin!r} of MPI",
            reason="it is incomplete, or was written by another version",
            remedy="check whether the disk is full, and run again",
        )
    (rank, size), (wall_ns, cpu_ns) = map(int, heads["rank"]), map(int, heads["times"])
    return Profile(
        rank=rank,
        size=size,
        wall_s=wall_ns / 1e9,
        cpu_s=cpu_ns / 1e9,
        threads=int(heads["threads"][0]),
        calls=tuple(_call(row[1:]) for row in rows if row[0] == "call"),
        peers=tuple(_peer(row[1:]) for row in rows if row[0] == "peer"),
        is_finalized=heads["end"] == ["finalized"],
    )


def _call(row: list[str]) -> Call:
    name, kind, algorithm = row[:3]
    calls, ns, sent, received, moved = map(int, row[3:])
    return Call(
        name=name,
        kind=next(known for known in CALL_KINDS if known == kind),
        calls=calls,
        time_s=ns / 1e9,
        sent_bytes=sent,
        received_bytes=received,
        algorithm=algorithm or None,
        moved_bytes=moved if algorithm else None,
    )


def _peer(row: list[str]) -> Peer:
    rank, messages, sent = map(int, row)
    return Peer(rank=None if rank < 0 else rank, messages=messages, sent_bytes=sent)
