"""Names and shares as every figure and table writes them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ridgepoint.resources import LEVELS, RESOURCES

UNKNOWN = "unknown"
"""What is not known is said so, and is never 0."""

_LONGEST_NAME = 40


def shown_name(name: str) -> str:
    """Return a resource as the field writes it.

    Examples
    --------
    >>> shown_name("l1"), shown_name("dram_read"), shown_name("fp64"), shown_name("bop")
    ('L1', 'DRAM read', 'fp64', 'BOP')
    """
    resource = RESOURCES[name]
    if resource.path not in LEVELS:
        return resource.unit if resource.unit == "BOP" else name
    return f"{resource.path.upper()}{f' {resource.direction}' if resource.direction else ''}"


def shown_pattern(name: str) -> str:
    """Return a ceiling's pattern as the field writes it."""
    return name.replace("fma", "FMA")


def shown_cores(cores: float) -> str:
    """Return a number of cores in words.

    Examples
    --------
    >>> shown_cores(1.0), shown_cores(2.0), shown_cores(1.537)
    ('1 core', '2 cores', '1.54 cores')
    """
    return f"{cores:.3g} core" + ("" if cores == 1 else "s")


def program_name(command: Sequence[str]) -> str:
    """Return a command as a short name.

    Examples
    --------
    >>> program_name(("/home/me/bin/triad", "1000", "a b"))
    "triad 1000 'a b'"
    """
    name = shlex.join([command[0].rstrip("/").rpartition("/")[2] or command[0], *command[1:]])
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def printable(text: str) -> str:
    """Return text without characters that a terminal or an XML file would act upon."""
    return "".join(character if character.isprintable() else "?" for character in text)


def percent(share: float) -> str:
    """Return a share in percent; what is not zero never reads as zero.

    Examples
    --------
    >>> percent(0.834), percent(0.0123), percent(0.0004), percent(0.0)
    ('83 %', '1.2 %', '< 0.1 %', '0 %')
    """
    if share == 0:
        return "0 %"
    if share < 0.001:
        return "< 0.1 %"
    return f"{share * 100:.1f} %" if share < 0.0995 else f"{share * 100:.0f} %"
