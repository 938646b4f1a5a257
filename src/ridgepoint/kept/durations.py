"""How long pieces of suites took: a file beside the archive, which only forecasts read."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from ridgepoint.core.documents import decode, document_kind, encode
from ridgepoint.core.errors import InvalidDocument, RidgepointError
from ridgepoint.kept.archive import ArchivePath, default_path
from ridgepoint.kept.files import replace_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """How long a piece took.

    Parameters
    ----------
    seconds : float
    kind : str
        Pieces of one kind differ only in size.
    size : float
        For example the work of one call.
    """

    seconds: float
    kind: str
    size: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.seconds) and self.seconds >= 0 and 0 < self.size < math.inf):
            raise ValueError(f"seconds must be >= 0 and size > 0, got {self!r}")


@document_kind("durations", remedy="delete the file: the next run of a suite writes another one")
@dataclass(frozen=True, slots=True, kw_only=True)
class Durations:
    """How long pieces took when they ran last.

    Parameters
    ----------
    pieces : dict of str to Took
    """

    pieces: dict[str, Took] = field(default_factory=dict)


def durations_path(archive: ArchivePath = None) -> Path:
    """Return the file beside an archive."""
    path = default_path() if archive is None else Path(archive)
    return path.with_name(f"{path.name}.durations.json")


def elsewhere() -> Durations:
    """Return the durations that come with the package: on the machine of its documentation."""
    file = files("ridgepoint") / "data" / "durations.json"
    return decode(file.read_bytes(), Durations, origin="the package's durations")


def read(archive: ArchivePath = None) -> Durations:
    """Return the durations on this host; none where there is no file that can be read.

    Forecasts are no reason to refuse a run.
    """
    path = durations_path(archive)
    try:
        return decode(path.read_bytes(), Durations, origin=str(path))
    except (OSError, InvalidDocument):
        return Durations()


def keep(took: Mapping[str, Took], archive: ArchivePath = None) -> None:
    """Keep durations in place of earlier ones of the same pieces; not where nothing can be kept."""
    path = durations_path(archive)
    content = encode(Durations(pieces={**read(archive).pieces, **took}))
    with contextlib.suppress(OSError, RidgepointError):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content, what="the durations")
