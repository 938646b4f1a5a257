"""The JSON Schemas that ship with the package."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib.resources import files

import msgspec

from ridgepoint.core.errors import RidgepointError


class _Head(msgspec.Struct):
    title: str


@cache
def names() -> tuple[str, ...]:
    """Return the names of all schemas, in the order of the alphabet."""
    folder = files("ridgepoint") / "data" / "schemas"
    found = (file.name for file in folder.iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in found if name.endswith(".json")))


def titles() -> dict[str, str]:
    """Return what the documents of each schema are, by its name."""
    return {name: msgspec.json.decode(_read(name), type=_Head).title for name in names()}


def named(name: str) -> str:
    """Return a schema as JSON text.

    Parameters
    ----------
    name : str
        As `names` has it, or as a document states its kind.

    Raises
    ------
    RidgepointError
        If there is none of this name.
    """
    wanted = name.strip().lower().replace(" ", "-").removesuffix(".json")
    if wanted not in names():
        near = get_close_matches(wanted, names(), n=3, cutoff=0.5)
        give = f"give {' or '.join(near)}, or " if near else ""
        raise RidgepointError(
            f"cannot print the schema {name!r}",
            reason="there is no such kind of document",
            remedy=f"{give}see 'ridgepoint schema'",
        )
    return _read(wanted).decode("utf-8")


def _read(name: str) -> bytes:
    return (files("ridgepoint") / "data" / "schemas" / f"{name}.json").read_bytes()
