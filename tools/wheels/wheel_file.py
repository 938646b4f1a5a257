"""A wheel that was built: its names, its metadata, its files."""

from __future__ import annotations

import stat
import zipfile
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from functools import cached_property
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename


@dataclass(frozen=True)
class Wheel:
    """A wheel with all that is in it.

    Parameters
    ----------
    path : Path
    """

    path: Path

    @cached_property
    def entries(self) -> tuple[zipfile.ZipInfo, ...]:
        """The entries of the archive, folders too, in its order."""
        with zipfile.ZipFile(self.path) as archive:
            return tuple(archive.infolist())

    @cached_property
    def files(self) -> dict[str, bytes]:
        """The content of each file, in the order of the archive."""
        with zipfile.ZipFile(self.path) as archive:
            return {each.filename: archive.read(each) for each in self.entries if not each.is_dir()}

    @cached_property
    def modes(self) -> dict[str, int]:
        """The permissions that each file shall have: ``0o644``."""
        return {each.filename: stat.S_IMODE(each.external_attr >> 16) for each in self.entries}

    @cached_property
    def _names(self) -> tuple[str, str, frozenset[str]]:
        try:
            name, version, _, tags = parse_wheel_filename(self.path.name)
        except InvalidWheelFilename as error:
            raise ValueError(f"{self.path.name}: this is no wheel's name: {error}") from None
        return name, str(version), frozenset(map(str, tags))

    @property
    def package(self) -> str:
        """The package's name, normalized."""
        return self._names[0]

    @property
    def version(self) -> str:
        """The package's version, by the name of the file."""
        return self._names[1]

    @property
    def tags(self) -> frozenset[str]:
        """Where it can be installed: ``py3-none-any``."""
        return self._names[2]

    @property
    def platforms(self) -> frozenset[str]:
        """The platforms of its tags: ``any``, or ``manylinux_2_17_x86_64``."""
        return frozenset(tag.split("-", 2)[2] for tag in self.tags)

    @property
    def information(self) -> str:
        """The folder of its metadata."""
        return f"{self.package.replace('-', '_')}-{self.version}.dist-info"

    def text(self, name: str) -> str:
        """Return a file of the metadata; empty if it is not there."""
        return self.files.get(f"{self.information}/{name}", b"").decode()

    @cached_property
    def metadata(self) -> Message:
        """The package's metadata."""
        return Parser().parsestr(self.text("METADATA"))
