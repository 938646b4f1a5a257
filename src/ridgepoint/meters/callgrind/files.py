"""The files that callgrind writes in one run: kept from being overwritten, then read."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.errors import CannotMeasure, InvalidDocument
from ridgepoint.meters.callgrind.counts import EVENTS
from ridgepoint.meters.callgrind.places import placed
from ridgepoint.meters.callgrind.profile import Profile, parse_profile
from ridgepoint.meters.object_file import CodeStore
from ridgepoint.meters.valgrind.log import Log, lost, parse_log

_COLLECT_EVERY_S = 0.02
_PART_OF_PROFILE = re.compile(r"profile\.\d+\.\d+(-\d+)?")


def options(directory: Path) -> tuple[str, ...]:
    """Return Valgrind's options that write into a directory."""
    escaped = str(directory).replace("%", "%%")  # Valgrind expands % in names of files
    return (
        f"--callgrind-out-file={escaped}/profile.%p",
        f"--log-file={escaped}/log.%p",
    )


@contextmanager
def collecting(directory: Path) -> Iterator[None]:
    """Keep the profiles that a process wrote before it became another program.

    The new program counts its profiles from 1 again and would overwrite them, but not before
    Valgrind has started anew, which takes a few hundred milliseconds.
    """
    done = threading.Event()

    def collect() -> None:
        n = 0
        while not done.wait(_COLLECT_EVERY_S):
            for path in directory.iterdir():
                if _PART_OF_PROFILE.fullmatch(path.name):
                    n += 1
                    path.rename(path.with_name(f"{path.name}.kept{n}"))

    collector = threading.Thread(target=collect, daemon=True)
    collector.start()
    try:
        yield
    finally:
        done.set()
        collector.join()


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What Valgrind wrote in one run.

    Parameters
    ----------
    profiles : tuple of Profile
    logs : tuple of Log
        One per process; of a process that became another program, that of the latter.
    code : CodeStore
        The object files whose code was executed.
    """

    profiles: tuple[Profile, ...]
    logs: tuple[Log, ...]
    code: CodeStore

    @classmethod
    def read(cls, directory: Path) -> Written:
        """Read all that is in the directory.

        Raises
        ------
        CannotMeasure
            If a profile is damaged, cut short or not of this kind.
        """
        profiles, logs, code = [], [], CodeStore()
        for path in sorted(directory.iterdir()):
            with path.open(encoding="utf-8", errors="surrogateescape") as file:
                if path.name.startswith("log."):
                    logs.append(parse_log(file, pid=int(path.suffix[1:])))
                    continue
                status = path.stat()
                if status.st_size == 0 and path.suffix[1:].isdecimal():
                    continue  # created at start; the costs are in files of the threads
                profile = _profile(file, path)
            profiles.append(profile)
            for object_path in {key[0] for key in profile.functions}:
                if object_path is not None:
                    code.executed(object_path, until_ns=status.st_mtime_ns)
        return cls(profiles=placed(profiles, code), logs=tuple(logs), code=code)

    @property
    def pids(self) -> frozenset[int]:
        """Processes that left counts."""
        return frozenset(profile.pid for profile in self.profiles)

    @property
    def lost(self) -> tuple[int, ...]:
        """Processes that ran under Valgrind and left none."""
        return lost(self.logs, self.pids)


def _profile(lines: Iterable[str], path: Path) -> Profile:
    try:
        profile = parse_profile(lines, source=path.name)
    except InvalidDocument as error:
        raise CannotMeasure(
            "cannot use what callgrind counted", reason=error.reason, remedy=error.remedy
        ) from error
    if profile.events != EVENTS:
        raise CannotMeasure(
            "cannot use what callgrind counted",
            reason=f"it wrote the events {profile.events}, not {EVENTS}",
            remedy="use Valgrind 3.19 or 3.24, which are tested, or report this version",
        )
    return profile
