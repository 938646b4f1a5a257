"""What the wheels hold, and whose it is: bundled.toml, and what a build says that it built from."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("bundled.toml")

_NPM = re.compile(r"([\w@/-]+) (\d[\w.]*) \(([\w.-]+)\)")
_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Files of a wheel that have one licence.

    Parameters
    ----------
    name : str
    licence : str
        An SPDX expression.
    texts : tuple of str
        Its licence files, by their names in ``.dist-info/licenses``.
    files : tuple of str
        Patterns of the files.
    others : str
        How the works of others in it are known: ``npm``, ``sources``; empty: there are none.
    compiled : bool
        Only wheels for a platform have it.
    """

    name: str
    licence: str
    texts: tuple[str, ...]
    files: tuple[str, ...]
    others: str = ""
    compiled: bool = False

    def has(self, file: str) -> bool:
        """Return whether a file of a wheel belongs to it."""
        return any(fnmatchcase(file, pattern) for pattern in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A work of others of which a wheel holds parts.

    Parameters
    ----------
    name, version : str
    licence : str
        An SPDX expression.
    purl : str
        Its package URL.
    source : str or None
        Where the source can be had that it was built from.
    sha256 : str or None
        That source's checksum.
    """

    name: str
    version: str
    licence: str
    purl: str
    source: str | None = None
    sha256: str | None = None


def parts_of(package: str, table: Path = TABLE) -> tuple[Part, ...]:
    """Return the parts of a package, in the order of the table.

    Raises
    ------
    ValueError
        If the table does not have the package.
    """
    packages = tomllib.loads(table.read_text(encoding="utf-8"))
    if package not in packages:
        raise ValueError(f"{table.name} does not say what {package!r} holds; describe it there")
    return tuple(
        Part(**{key: tuple(v) if isinstance(v, list) else v for key, v in part.items()})
        for part in packages[package]
    )


def part_of(file: str, parts: Iterable[Part]) -> Part | None:
    """Return the part that a file belongs to: the first that has a pattern for it."""
    return next((part for part in parts if part.has(file)), None)


def npm_components(text: str) -> tuple[Component, ...]:
    """Return the packages of npm that the page's licence file lists.

    Raises
    ------
    ValueError
        If it lists none.

    Examples
    --------
    >>> [each.purl for each in npm_components("d3-array 3.2.5 (ISC), d3-color 3.1.1 (ISC):")]
    ['pkg:npm/d3-array@3.2.5', 'pkg:npm/d3-color@3.1.1']
    """
    components = tuple(
        Component(
            name=name,
            version=version,
            licence=licence,
            purl=f"pkg:npm/{name.replace('@', '%40')}@{version}",
        )
        for name, version, licence in _NPM.findall(text)
    )
    if not components:
        raise ValueError("the page's licence file lists no packages")
    return components


def source_components(text: str) -> tuple[Component, ...]:
    """Return the works that a build says it was made from.

    Parameters
    ----------
    text : str
        JSON: a list of objects with the fields of a component.

    Raises
    ------
    ValueError
        If it is not such a list, or a source has no checksum.
    """
    entries: list[Mapping[str, Any]] = json.loads(text)
    try:
        components = tuple(Component(**entry) for entry in entries)
    except TypeError as error:
        raise ValueError(f"sources.json is not a list of components: {error}") from None
    for each in components:
        if each.source is None or each.sha256 is None or not _SHA256.fullmatch(each.sha256):
            raise ValueError(f"sources.json does not say which source {each.name} was built from")
    return components
