"""What a wheel ships compiled: where it lies, and how it is copied to where it can be used."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ridgepoint.meters.building import Recipe


def shipped_folder() -> Path:
    """Return the folder of what a wheel ships compiled; it may not be there."""
    return Path(__file__).parents[1] / "built"


@dataclass(frozen=True, slots=True)
class Copied:
    """The recipe for what a wheel ships to where it cannot be used: it is copied.

    An installer may have lost its permission to be executed, and no path with a blank or a colon
    can be preloaded.

    Parameters
    ----------
    recipe : ridgepoint.meters.building.Recipe
        By which it was made.
    folder : Path
    """

    recipe: Recipe
    folder: Path

    @property
    def what(self) -> str:
        """What it is, for messages."""
        return self.recipe.what

    @property
    def part(self) -> str:
        """The folder of the cache that holds all of its kind."""
        return self.recipe.part

    @property
    def key(self) -> str:
        """The name under which it was shipped."""
        return self.folder.name

    @property
    def makes(self) -> Sequence[str]:
        """Names of its programs and libraries."""
        return self.recipe.makes

    @property
    def needs(self) -> Sequence[str]:
        """Names of the other files that must be beside these."""
        return self.recipe.needs

    def check(self) -> None:
        """Raise MeterUnavailable if it is no use here."""
        self.recipe.check()

    def make(self, folder: Path, log: Path) -> None:
        """Copy it to another folder."""
        log.touch()
        for name in (*self.makes, *self.needs):
            shutil.copyfile(self.folder / name, folder / name)
        for name in self.makes:
            (folder / name).chmod(0o755)
