"""What a wheel ships compiled: where it lies, and how it is copied to where it can be used."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


def shipped_folder() -> Path:
    """Return the folder of what a wheel ships compiled; it may not be there."""
    return Path(__file__).parents[1] / "built"


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """The recipe for what a wheel ships to where it cannot be used: it is copied.

    An installer may have lost its permission to be executed, and no path with a blank or a colon
    can be preloaded. See `ridgepoint.meters.building.Recipe`.

    Parameters
    ----------
    what : str
    part : str
    key : str
    folder : Path
        Where it is copied from.
    makes, needs : sequence of str
    """

    what: str
    part: str
    key: str
    folder: Path
    makes: Sequence[str]
    needs: Sequence[str] = ()

    def check(self) -> None:
        """Nothing more is needed: it was made for this platform."""

    def make(self, folder: Path, log: Path) -> None:
        """Copy it to another folder."""
        log.touch()
        for name in (*self.makes, *self.needs):
            shutil.copyfile(self.folder / name, folder / name)
        for name in self.makes:
            (folder / name).chmod(0o755)
