"""Which Valgrind counts: the system's, or that of the Python package ``ridgepoint-engine``."""

from __future__ import annotations

import os
import re

from ridgepoint.core.errors import MeterUnavailable

VARIABLE = "RIDGEPOINT_VALGRIND"
"""Environment variable that names the one to take, `SYSTEM` or `PACKAGE`."""

SYSTEM, PACKAGE = "system", "engine"

DISTRIBUTION = "ridgepoint-engine"
"""Name under which pip knows the package."""

INSTALL_PACKAGE = "pip install 'ridgepoint[engine]'"
"""Installs the package, in the version that fits."""

INSTALL = f"install the package 'valgrind', or run: {INSTALL_PACKAGE}"
"""What to do where there is no Valgrind."""


def asked(what: str) -> str | None:
    """Return which Valgrind the user wants; None: whichever is newer.

    Parameters
    ----------
    what : str
        What cannot be done if that is not understood: "cannot count with callgrind".

    Raises
    ------
    MeterUnavailable
        If the variable names neither.
    """
    value = os.environ.get(VARIABLE, "").strip()
    if value in {"", SYSTEM, PACKAGE}:
        return value or None
    raise MeterUnavailable(
        what,
        reason=f"{VARIABLE} is {value!r}",
        remedy=f"set it to '{SYSTEM}' or '{PACKAGE}', or unset it to take the newer Valgrind",
    )


def is_newer(version: str, than: str) -> bool:
    """Return whether a version of Valgrind, such as ``3.24.0``, comes after another."""
    return _numbers(version) > _numbers(than)


def named(version: str, *, packaged: bool) -> str:
    """Return how a Valgrind is called in results."""
    return f"Valgrind {version} of {DISTRIBUTION}" if packaged else f"Valgrind {version}"


def _numbers(version: str) -> tuple[int, ...]:
    match = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, match[0].split("."))) if match else ()
