"""The Ridgeline and the projected times beside it, as charts: the paper's Fig. 6."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from ridgepoint.models.ridgeline import Ridgeline
from ridgepoint.models.ridgeline.placed import Region
from ridgepoint.models.ridgeline.plane import PLANES, Plane
from ridgepoint.models.ridgeline.trajectories import Trajectory
from ridgepoint.show import theme
from ridgepoint.show.axes import decades, log_axis, si_text
from ridgepoint.show.chart import (
    Area,
    Axis,
    Chart,
    Entry,
    Line,
    LineKind,
    Page,
    Ticks,
)
from ridgepoint.show.charts.ridgeline_plane import (
    PAPER,
    Frame,
    frame_corners,
    region_area,
    ridgeline_chart,
)
from ridgepoint.show.words import printable

_ROOM = 1.6
"""Beyond the outermost point, so that labels have room."""
_MOST_NAMED = 8
_MOST_MARKED = 60
_LONGEST_TICK = 16
VARIABLES = {"batch": "Batch", "nodes": "Nodes", "point": "Unit of work"}
"""What the units of work of a trajectory differ in, as the name of an axis."""


def ridgeline_page(
    ridgeline: Ridgeline,
    trajectories: Sequence[Trajectory],
    *,
    notes: Sequence[str] = (),
    plane: Plane | str = PAPER,
) -> Page:
    """Return the Ridgeline with units of work on it, and their projected times.

    Parameters
    ----------
    ridgeline : Ridgeline
    trajectories : sequence of Trajectory
        At least one; the projected times are those of the last.
    notes : sequence of str
    plane : Plane or str
        One of `ridgepoint.models.ridgeline.plane.PLANES`, or its name: ``I_M``, ``I_N``, ``I_R``
        or ``I_S``.

    Raises
    ------
    UnknownCeiling
        If a machine lacks a ceiling.
    ValueError
        If there is no such plane.
    """
    if isinstance(plane, str):
        if plane not in PLANES:
            raise ValueError(f"plane must be one of {', '.join(PLANES)}, got {plane!r}")
        plane = PLANES[plane]
    units, beyond = ridgeline_chart(ridgeline, trajectories, plane=plane)
    times = times_chart(ridgeline, trajectories[-1])
    own_notes = [*notes]
    if beyond:
        more = f" and {len(beyond) - _MOST_NAMED} more" if len(beyond) > _MOST_NAMED else ""
        named = "; ".join(beyond[:_MOST_NAMED])
        own_notes.append(f"beyond the edge, and drawn there: {named}{more}")
    if len(trajectories) > 1:
        own_notes.append(f"projected times of {trajectories[-1].name}")
    if any(not np.all(seconds) for seconds in trajectories[-1].placed.times_s.values()):
        own_notes.append("times of 0 s are left out")
    if ridgeline.overlap != "full":
        how = (
            "do not overlap"
            if ridgeline.overlap == "none"
            else f"overlap, k = {ridgeline.overlap:g}"
        )
        own_notes.append(f"the times {how}: regions show the resource that takes longest")
    if len(ridgeline.machines) > 1:
        own_notes.append("of several machines, the slowest at each resource sets the regions")
    return Page(charts=(units, times), columns=2, notes=tuple(own_notes))


def times_chart(ridgeline: Ridgeline, trajectory: Trajectory) -> Chart:
    """Return the projected time of every resource, with bands that show the limiter."""
    at, ticks = positions(trajectory)
    placed = trajectory.placed
    times = {region: np.atleast_1d(seconds) for region, seconds in placed.times_s.items()}
    total = np.atleast_1d(placed.time_s)
    took = [
        (x, seconds)
        for x, seconds in zip(at, trajectory.runtimes_s or [None] * len(at), strict=True)
        if seconds is not None
    ]
    own = (*np.concatenate(list(times.values())), *total, *(seconds for _, seconds in took))
    shown = [float(t) for t in own if t > 0]
    y_limits = decades(shown, room=_ROOM)
    x_limits = (at[0] / math.sqrt(2), at[-1] * math.sqrt(2))
    joined = trajectory.variable != "point"
    lines = [
        time_line(region, at, seconds, region, is_joined=joined)
        for region, seconds in times.items()
    ]
    if ridgeline.overlap != "full":
        lines.append(time_line("total", at, total, "combined", is_joined=joined))
    if took:
        lines.append(
            Line(kind="points", ink="ink", places=tuple(took), shape="cross", name="runtime")
        )
    seen = tuple(line for line in lines if line.places)
    return Chart(
        title="Projected time",
        subtitle="time of each resource on one node, in the colours of the plane",
        x=Axis(
            label=VARIABLES[trajectory.variable],
            limits=x_limits,
            ticks=ticks,
            is_slanted=trajectory.variable == "point",
        ),
        y=log_axis("Projected time", y_limits, lambda value: si_text(value, "s")),
        areas=_bands(
            at, np.atleast_1d(placed.limiter).tolist(), times, joined, (x_limits, y_limits)
        ),
        lines=seen,
        key=line_entries(seen),
    )


def positions(trajectory: Trajectory) -> tuple[list[float], Ticks]:
    """Return the positions of the units of work on their axis, and the ticks.

    Rising numbers are drawn at their values; anything else is evenly spaced.
    """
    is_of_names = trajectory.variable == "point"
    numbers = [] if is_of_names else [float(label) for label in trajectory.labels]
    grows = all(a < b for a, b in pairwise(numbers))
    at = numbers if numbers and grows else [2.0**index for index in range(len(trajectory.labels))]
    ticks: list[tuple[float, str]] = []
    span = max(math.log2(at[-1] / at[0]), 1.0)
    for place, label in zip(at, trajectory.labels, strict=True):
        text = printable(label)
        text = text if len(text) <= _LONGEST_TICK else f"{text[: _LONGEST_TICK - 1]}…"
        # Far enough apart for their texts, which are slanted if they are names.
        needed = 0.04 if is_of_names else 0.0195 * max(len(text), 2)
        if not ticks or math.log2(place / ticks[-1][0]) / span >= needed:
            ticks.append((place, text))
    return at, tuple(ticks)


def time_line(
    what: Region | Literal["total"],
    at: Sequence[float],
    seconds: npt.NDArray[np.float64],
    name: str,
    *,
    is_joined: bool = True,
) -> Line:
    """Return the time of a resource, or the total, over the positions of the units of work."""
    joined: LineKind = "total" if what == "total" else "curve"
    is_marked = len(at) <= _MOST_MARKED or not is_joined
    return Line(
        kind=joined if is_joined else "points",
        ink="ink" if what == "total" else what,
        places=tuple((x, float(y)) for x, y in zip(at, seconds, strict=True) if y > 0),
        shape=theme.REGION_SHAPES[what] if is_marked else None,
        name=name,
    )


def line_entries(lines: Sequence[Line]) -> tuple[Entry, ...]:
    """Return the key of the lines that have names."""
    return tuple(
        Entry(text=line.name, line=line.kind, ink=line.ink, shape=line.shape, is_abreast=True)
        for line in lines
        if line.name
    )


def _bands(
    at: Sequence[float],
    limiters: Sequence[Region],
    times: Mapping[Region, npt.NDArray[np.float64]],
    joined: bool,
    limits: Frame,
) -> tuple[Area, ...]:
    """Return upright bands of the limiter, which change where the joined lines cross."""
    x_limits, y_limits = limits
    borders = [
        a * (b / a) ** (_crossing(times[now][i : i + 2], times[then][i : i + 2]) if joined else 0.5)
        for i, ((a, b), (now, then)) in enumerate(
            zip(pairwise(at), pairwise(limiters), strict=True)
        )
    ]
    areas, start = [], x_limits[0]
    for index, limiter in enumerate(limiters):
        if index + 1 == len(limiters) or limiters[index + 1] != limiter:
            end = [*borders, x_limits[1]][index]
            areas.append(region_area(limiter, frame_corners(((start, end), y_limits))))
            start = end
    return tuple(areas)


def _crossing(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> float:
    """Return how far from one place to the next two lines cross, on logarithmic axes.

    It is the middle if they do not cross, or have no finite place there.
    """
    if (first <= 0).any() or (second <= 0).any():
        return 0.5
    before, after = np.log(first / second).tolist()
    return float(before / (before - after)) if before >= 0 > after else 0.5
