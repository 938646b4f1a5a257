"""Points of the ridgeline command: from its options and from a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli.ridgeline_inputs import LINK_OPTIONS, require_link
from ridgepoint.cli.ridgeline_training import Shown
from ridgepoint.core.fields import fields_of
from ridgepoint.core.given import KEYS, GivenPoint
from ridgepoint.core.quantities import ByteAmount, WorkAmount
from ridgepoint.core.resources import LINKS

if TYPE_CHECKING:
    from ridgepoint.core.machine import Machine
    from ridgepoint.models.ridgeline import Ridgeline
    from ridgepoint.models.ridgeline.trajectories import Amounts

# A name may hold an equals sign, and quantities none.
_POINT = re.compile(
    r"(.*\S.*?)=([^=,]*),([^=,]*),([^=,]*)(?P<others>(?:,\s*(?:remote|storage)\s*=[^=,]*)*)"
)
_OTHER = re.compile(r",\s*(remote|storage)\s*=([^=,]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPoint:
    """A point that a user gives.

    Parameters
    ----------
    amounts : Amounts
    runtime_s : float or None
        Its time; None: not given.
    is_uncertain : bool
        Whether a figure has an interval.
    """

    amounts: Amounts
    runtime_s: float | None = None
    is_uncertain: bool = False


def own_points(texts: Sequence[str], file: Path | None, *, resource: str) -> dict[str, OwnPoint]:
    """Return the points of ``--point`` and ``--demand``, by name.

    Parameters
    ----------
    texts : sequence of str
    file : Path or None
    resource : str
        Resource of the work.

    Raises
    ------
    click.ClickException
        If a point is none, or a name is there twice.
    RidgepointError
        If the file cannot be read.
    """
    from ridgepoint.kept.points import read_points

    read = {} if file is None else read_points(file, precision=resource)
    points = {name: _own(point, resource, "--demand") for name, point in read.items()}
    for text in texts:
        name, point = _read(text, resource)
        if name in points:
            raise click.BadParameter(
                f"{name!r} is given twice: give each point a name of its own",
                param_hint="'--point'",
            )
        points[name] = _own(point, resource, "--point")
    return points


def _read(text: str, resource: str) -> tuple[str, Amounts | GivenPoint]:
    """Return the name of a point, and what it asks for, in either form."""
    found = _POINT.fullmatch(text.strip())
    if found is not None:
        name, *main = (part.strip() for part in found.groups()[:4])
        return name, _amounts(main, _OTHER.findall(found["others"]), text)
    try:
        name, values = fields_of(text, KEYS)
        if values:
            return name, GivenPoint.of(name, values, precision=resource)
    except ValueError as error:
        raise click.BadParameter(f"{text!r}: {error}", param_hint="'--point'") from error
    raise click.BadParameter(
        f"{text!r} is not a point; write 'NAME W=2G, Q=12G, network=80M', or NAME=F,B_M,B_N such "
        "as spmv=2G,12G,80M, and after them storage=1G or remote=1G",
        param_hint="'--point'",
    )


def _own(point: Amounts | GivenPoint, resource: str, option: str) -> OwnPoint:
    """Return a point with the amounts that its figures determine.

    Raises
    ------
    click.BadParameter
        If they determine none, or its work is of another resource.
    """
    from ridgepoint.models.ridgeline.trajectories import Amounts

    if not isinstance(point, GivenPoint):
        return OwnPoint(amounts=point)
    hint = f"'{option}'"
    if point.resource != resource:
        of_bops = "bop" in (point.resource, resource)
        way = "--work bops" if of_bops else f"--precision {point.resource}"
        raise click.BadParameter(
            f"the work of {point.name!r} is in {point.resource}, and that of the Ridgeline in "
            f"{resource}: {'use' if resource != 'bop' else 'leave out'} {way}",
            param_hint=hint,
        )
    work, moved = point.work_done, point.bytes_moved
    if work is None or (moved is None and point.intensity is None):
        raise click.BadParameter(
            f"{point.name!r} has no amounts: the Ridgeline needs W, Q and network",
            param_hint=hint,
        )
    if point.network is None:
        raise click.BadParameter(
            f"the network bytes of {point.name!r} are not given: add network=80MB, or network=0 if "
            "it exchanges nothing",
            param_hint=hint,
        )
    if point.is_in_cycles or point.cores is not None:
        what = "cores=" if point.cores is not None else "a time in cycles"
        raise click.BadParameter(
            f"the Ridgeline has no use for {what} of {point.name!r}: leave it out", param_hint=hint
        )
    intensity = point.intensity_at_dram
    amounts = Amounts(
        work.median,
        0.0 if intensity is None else work.median / intensity.median,
        *(0.0 if (each := getattr(point, link)) is None else each.median for link in LINKS),
    )
    runtime_s = None if point.runtime is None else point.runtime.median
    if runtime_s is None and point.performance is not None:
        runtime_s = work.median / point.performance.median
    return OwnPoint(amounts=amounts, runtime_s=runtime_s, is_uncertain=point.is_uncertain)


def points_shown(ridgeline: Ridgeline, points: Mapping[str, OwnPoint]) -> Shown:
    """Return points on a Ridgeline, with the times of those whose time is given.

    Raises
    ------
    click.UsageError
        If a point asks for nothing.
    """
    from ridgepoint.models.ridgeline.trajectories import point_trajectory

    for name, point in points.items():
        if not any(point.amounts):
            raise click.UsageError(f"the point {name!r} has no demand: all its amounts are 0")
    runtimes_s = tuple(point.runtime_s for point in points.values())
    trajectory = point_trajectory(
        ridgeline,
        {name: point.amounts for name, point in points.items()},
        runtimes_s=runtimes_s if any(runtimes_s) else None,
    )
    uncertain = [name for name, point in points.items() if point.is_uncertain]
    return Shown(
        ridgeline=ridgeline,
        trajectories=(trajectory,),
        notes=tuple(
            f"{name}: its uncertainty is shown by 'ridgepoint plot' only" for name in uncertain
        ),
        inputs={},
    )


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


def require_ceilings(points: Mapping[str, OwnPoint], machines: Sequence[Machine]) -> None:
    """Refuse points that ask for a link of which a machine has no ceiling.

    Raises
    ------
    UnknownCeiling
    """
    for name, point in points.items():
        for path in LINK_OPTIONS:
            if getattr(point.amounts, f"{path}_bytes"):
                require_link(path, machines, f"place the point {name!r}")
