"""Packages that import a name when it is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def offered(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package (PEP 562) that imports a name on first use.

    Parameters
    ----------
    package : str
        The package's full name.
    homes : mapping of str to str
        Module that defines each name, below ``ridgepoint``. ``module:other`` offers an attribute
        of the module under another name; ``module:`` offers the module itself.

    Returns
    -------
    callable
        It raises AttributeError for a name that has no home.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, separator, attribute = homes[name].partition(":")
        module = import_module(f"ridgepoint.{home}")
        value = module if separator and not attribute else getattr(module, attribute or name)
        setattr(sys.modules[package], name, value)
        return value

    return get
