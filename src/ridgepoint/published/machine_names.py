"""The names of the published machines, which are those of their files."""

from __future__ import annotations

from importlib.resources import files

MACHINES = files("ridgepoint") / "data" / "machines"
"""The folder of their documents."""


def names() -> tuple[str, ...]:
    """Return the names of the published machines, sorted.

    Examples
    --------
    >>> "cascade-lake" in names()
    True
    """
    return tuple(
        sorted(
            entry.name.removesuffix(".json")
            for entry in MACHINES.iterdir()
            if entry.name.endswith(".json")
        )
    )
