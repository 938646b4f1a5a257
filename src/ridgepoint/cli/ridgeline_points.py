"""Points of the ridgeline command: from its options and from a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli.ridgeline_inputs import LINK_OPTIONS, require_link
from ridgepoint.core.quantities import ByteAmount, WorkAmount

if TYPE_CHECKING:
    from ridgepoint.core.machine import Machine
    from ridgepoint.models.ridgeline.trajectories import Amounts

# A name may hold an equals sign, and quantities none.
_POINT = re.compile(
    r"(.*\S.*?)=([^=,]*),([^=,]*),([^=,]*)(?P<others>(?:,\s*(?:remote|storage)\s*=[^=,]*)*)"
)
_OTHER = re.compile(r",\s*(remote|storage)\s*=([^=,]*)")


def own_points(texts: Sequence[str], file: Path | None) -> dict[str, Amounts]:
    """Return the points of ``--point`` and ``--demand``, by name.

    Raises
    ------
    click.ClickException
        If a point is none, or a name is there twice.
    RidgepointError
        If the file cannot be read.
    """
    from ridgepoint.kept.points import read_points

    points: dict[str, Amounts] = {} if file is None else read_points(file)
    for text in texts:
        found = _POINT.fullmatch(text.strip())
        if found is None:
            raise click.BadParameter(
                f"{text!r} is not a point; write NAME=F,B_M,B_N such as spmv=2G,12G,80M, and after "
                "them storage=1G or remote=1G",
                param_hint="'--point'",
            )
        name, *main = (part.strip() for part in found.groups()[:4])
        if name in points:
            raise click.BadParameter(
                f"{name!r} is given twice: give each point a name of its own",
                param_hint="'--point'",
            )
        points[name] = _amounts(main, _OTHER.findall(found["others"]), text)
    return points


def _amounts(main: Sequence[str], others: Sequence[tuple[str, str]], text: str) -> Amounts:
    """Return the amounts of a point: work, memory and network bytes, then others by name."""
    from ridgepoint.models.ridgeline.trajectories import Amounts

    if len(dict(others)) < len(others):
        raise click.BadParameter(
            f"{text!r} gives an amount twice; give each once", param_hint="'--point'"
        )
    work, *moved = main
    try:
        return Amounts(
            float(WorkAmount.of(work)),
            *(float(ByteAmount.of(part)) for part in moved),
            **{f"{name}_bytes": float(ByteAmount.of(part)) for name, part in others},
        )
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--point'") from error


def require_ceilings(points: Mapping[str, Amounts], machines: Sequence[Machine]) -> None:
    """Refuse points that ask for a link of which a machine has no ceiling.

    Raises
    ------
    UnknownCeiling
    """
    for name, amounts in points.items():
        for path in LINK_OPTIONS:
            if getattr(amounts, f"{path}_bytes"):
                require_link(path, machines, f"place the point {name!r}")
