"""Which workloads ``suite datacenter`` measures, at which sizes or on which data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.core.units import read_quantity

if TYPE_CHECKING:
    from ridgepoint.suites.datacenter.results import DatacenterCase

_MOST = 10**15


def chosen_cases(
    names: Sequence[str],
    *,
    threads: int,
    full: bool,
    size: str | None,
    data: Path | None,
    pattern: str | None,
) -> tuple[DatacenterCase, ...]:
    """Return the cases that a user chose.

    Raises
    ------
    click.UsageError
        If options exclude each other, or do not apply to these workloads.
    """
    from ridgepoint.suites.datacenter.measuring import cases

    given = [
        flag
        for flag, value in (("--size", size), ("--data", data), ("--full", full or None))
        if value is not None
    ]
    if len(given) > 1:
        raise click.UsageError(f"{given[0]} cannot be combined with {given[1]}")
    if pattern is not None and "grep" not in (names or ("grep",)):
        raise click.UsageError("--pattern applies to grep alone")
    try:
        usual = cases(names, threads=threads, full=full, data=data, pattern=pattern)
        if size is None:
            return usual
        return cases(
            names,
            threads=threads,
            size=_whole(size, {case.size_unit for case in usual}),
            pattern=pattern,
        )
    except ValueError as error:
        raise click.BadParameter(
            f"{error}; name the workloads that it applies to", param_hint=f"'{given[0]}'"
        ) from error


def _whole(text: str, units: set[str]) -> int:
    """Return a size: a whole number, which may have a prefix, and a unit where bytes are counted.

    Raises
    ------
    click.BadParameter
    """
    counts = ", ".join(sorted(units))
    example = "15GB, 64M or 1e6" if units == {"bytes"} else "1e9, 64M or 20000"
    try:
        number, unit = read_quantity(text)
    except ValueError as error:
        raise click.BadParameter(
            f"{text!r} is not a size; write it like {example}", param_hint="'--size'"
        ) from error
    if unit and (unit, units) != ("B", {"bytes"}):
        raise click.BadParameter(
            f"{text!r} has the unit {unit!r}, and the size counts {counts}; write it like "
            f"{example}",
            param_hint="'--size'",
        )
    if not 1 <= number <= _MOST or number != int(number):
        raise click.BadParameter(
            f"{text!r} is not a whole number of {counts} from 1 to {_MOST:g}; write it like "
            f"{example}",
            param_hint="'--size'",
        )
    return int(number)
