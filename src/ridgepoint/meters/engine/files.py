"""The files that the engine writes in one run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.errors import CannotMeasure, InvalidDocument
from ridgepoint.meters.engine.profile import read_profile
from ridgepoint.meters.profile import Profile
from ridgepoint.meters.valgrind.log import Log, parse_log


def options(directory: Path) -> tuple[str, ...]:
    """Return the options that make the engine write into a directory."""
    escaped = str(directory).replace("%", "%%")  # Valgrind expands % in names of files
    return (f"--counts-file={escaped}/counts.%p", f"--log-file={escaped}/log.%p")


def writable_by_all(private: Path) -> Path:
    """Make a directory that a program can write to when it has dropped its privileges.

    Others cannot reach it: it is in one that only its owner can enter. The engine opens it before
    the program begins.
    """
    directory = private / "written"
    directory.mkdir()
    directory.chmod(0o733)
    return directory


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What the engine wrote in one run.

    Parameters
    ----------
    profiles : tuple of Profile
        Those of one process are in the order in which it wrote them.
    logs : tuple of Log
        One per process; of a process that became another program, that of the latter.
    """

    profiles: tuple[Profile, ...]
    logs: tuple[Log, ...]

    @classmethod
    def read(cls, directory: Path) -> Written:
        """Read all that is in the directory.

        Raises
        ------
        CannotMeasure
            If a file is damaged or cut short.
        """
        counts = [path for path in directory.iterdir() if path.name.startswith("counts.")]
        counts.sort(key=lambda path: tuple(int(part) for part in path.name.split(".")[1:]))
        logs = []
        for path in sorted(directory.glob("log.*")):
            with path.open(encoding="utf-8", errors="surrogateescape") as file:
                logs.append(parse_log(file, pid=int(path.suffix[1:])))
        return cls(profiles=tuple(map(_profile, counts)), logs=tuple(logs))

    @property
    def pids(self) -> frozenset[int]:
        """Processes that left the counts of their last program."""
        return frozenset(p.process.pid for p in self.profiles if p.process.cause != "exec")


def _profile(path: Path) -> Profile:
    try:
        return read_profile(path)
    except InvalidDocument as error:
        raise CannotMeasure(
            "cannot use what the engine counted", reason=error.reason, remedy=error.remedy
        ) from error
