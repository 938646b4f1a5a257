"""Documents that this package ships: how they are read, and how a user names one of them."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from importlib.resources.abc import Traversable
from typing import TypeVar

from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.toml import read

Kind = TypeVar("Kind")


def read_shipped(path: Traversable, kind: type[Kind], *, what: str) -> Kind:
    """Return a TOML file of this package as a Struct of msgspec.

    Raises
    ------
    InvalidDocument
        If somebody changed it.
    """
    remedy = "reinstall ridgepoint"
    return read(path, kind, what=what, remedy=remedy, form=f"or {remedy}")


def published_name(name: str, known: Collection[str], *, what: str, remedy: str) -> str:
    """Return one of the names that are published, in whatever case of letters it is given.

    Parameters
    ----------
    name : str
    known : collection of str
    what : str
        What is to be done with it: ``"load the machine"``.
    remedy : str
        What else there is to do than to give one of these names.

    Raises
    ------
    RidgepointError
        If there is none of this name; the message lists those there are.
    """
    if name.lower() in known:
        return name.lower()
    near = difflib.get_close_matches(name.lower(), known, n=2)
    suggestion = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise RidgepointError(
        f"cannot {what} {name!r}",
        reason=f"published here are only {', '.join(known)}",
        remedy=f"{suggestion}give one of these names, or {remedy}",
    )
