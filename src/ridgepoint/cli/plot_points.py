"""Points that a user gives to be drawn: their options, their table, their errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ridgepoint.core.fields import fields_of
from ridgepoint.core.given import KEYS, GivenPoint
from ridgepoint.core.names import named_twice

if TYPE_CHECKING:
    from ridgepoint.models.work import Metric

_Command = TypeVar("_Command", bound=Callable[..., Any])


def points_options(command: _Command) -> _Command:
    """Add the options for points, which the command gets as ``point_texts``, ``point_files``."""
    of_points = click.option(
        "--point",
        "point_texts",
        multiple=True,
        metavar="'NAME W=..., Q=..., T=...'",
        help=(
            "Place figures from elsewhere: work W or BOP, bytes Q (or Qr and Qw) and network, time "
            "T, or I and P instead; precision, cores. With units (2Gflop, 16GB, 1.2s) or in base "
            "units, and with an uncertainty: T=1.2s+-5%, T=1.1..1.3s. May be repeated."
        ),
    )
    of_files = click.option(
        "--points",
        "point_files",
        multiple=True,
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help=(
            "Place the points of a .csv file, with columns named like the keys of --point or as "
            "LIKWID and 'ncu --csv' write them, or of a .toml file. May be repeated."
        ),
    )
    return of_points(of_files(command))


def given_points(
    texts: Sequence[str], files: Sequence[Path], metric: Metric | None
) -> tuple[GivenPoint, ...]:
    """Return the points that a user gives, in their order.

    Parameters
    ----------
    texts : sequence of str
    files : sequence of Path
    metric : {"flop", "bop"} or None
        Unit that the work must have; None: any, but the same for all.

    Raises
    ------
    click.ClickException
        If a point is wrong, a name is there twice, or units of work differ.
    InvalidDocument
        If a file is.
    """
    points = [_point(text, metric) for text in texts]
    for path in files:
        points += _of_file(path, metric)
    twice = named_twice(point.name for point in points)
    if twice is not None:
        raise click.UsageError(f"two points are called {twice!r}: give each a name of its own")
    _require_one_metric(points, metric)
    return tuple(points)


def _of_file(path: Path, metric: Metric | None) -> tuple[GivenPoint, ...]:
    from ridgepoint.kept.point_table import text_of
    from ridgepoint.kept.points import read_given
    from ridgepoint.meters.ncu.points import is_table, points_of

    if path.suffix.lower() == ".csv" and is_table(text := text_of(path)):
        return points_of(text, path)
    return read_given(path, precision="bop" if metric == "bop" else "fp64")


def _point(text: str, metric: Metric | None) -> GivenPoint:
    try:
        name, values = fields_of(text, KEYS)
        return GivenPoint.of(name, values, precision="bop" if metric == "bop" else "fp64")
    except ValueError as error:
        raise click.BadParameter(f"{text!r}: {error}", param_hint="'--point'") from error


def _require_one_metric(points: Sequence[GivenPoint], metric: Metric | None) -> None:
    from ridgepoint.models.given_points import metric_of
    from ridgepoint.models.work import WORK_UNITS

    wanted = metric
    for point in points:
        wanted = wanted or metric_of(point)
        if metric_of(point) == wanted:
            continue
        whose = f"--work {'bops' if metric == 'bop' else 'flop'}" if metric else points[0].name
        key = "BOP" if wanted == "bop" else "W"
        raise click.UsageError(
            f"the work of {point.name!r} is in {WORK_UNITS[metric_of(point)]}, and that of "
            f"{whose} in {WORK_UNITS[wanted]}: a figure has one axis; give {key}, or draw two "
            "figures"
        )
