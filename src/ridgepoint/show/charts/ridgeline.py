"""The Ridgeline and the projected times beside it, as figure values: the paper's Fig. 6."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from ridgepoint.models.ridgeline import REGIONS, Region, Ridgeline
from ridgepoint.models.ridgeline.trajectories import Trajectory
from ridgepoint.show import theme
from ridgepoint.show.axes import clipped, decades, log_axis, si_text
from ridgepoint.show.chart import (
    Area,
    Axis,
    Chart,
    Edge,
    Entry,
    Interval,
    Label,
    Line,
    LineKind,
    Mark,
    Page,
    Place,
    Ticks,
)
from ridgepoint.show.words import machine_title, printable, shown_intensity

Frame = tuple[Interval, Interval]
"""Limits of both axes."""
X_LABEL = "Memory intensity I_M [byte of memory / byte of network]"
_ROOM = 1.6
"""Beyond the outermost point, so that labels have room."""
_AROUND = 10.0
"""How far around its ridge point the plane is seen at least."""
_FARTHEST = 1e8
"""Points farther from the ridge point than this are drawn at the edge."""
_MOST_LINES = 6
_PLACES = 121
_MOST_NAMED = 8
_MOST_DOTS = 24
_MOST_MARKED = 60
_LONGEST_TICK = 16
_OVER = {"batch": ", over the batch", "nodes": ", over the number of nodes", "point": ""}


def ridgeline_figure(
    ridgeline: Ridgeline, trajectories: Sequence[Trajectory], *, notes: Sequence[str] = ()
) -> Page:
    """Return the Ridgeline with units of work on it, and their projected times.

    Parameters
    ----------
    ridgeline : Ridgeline
    trajectories : sequence of Trajectory
        At least one; the times are those of the last.
    notes : sequence of str

    Raises
    ------
    UnknownCeiling
        If a machine lacks a ceiling.
    """
    plane, beyond = ridgeline_chart(ridgeline, trajectories)
    times = times_chart(ridgeline, trajectories[-1])
    said = [*notes]
    if beyond:
        more = f" and {len(beyond) - _MOST_NAMED} more" if len(beyond) > _MOST_NAMED else ""
        said.append(f"drawn at the edge, beyond which they lie: "
                    f"{'; '.join(beyond[:_MOST_NAMED])}{more}")  # fmt: skip
    if len(trajectories) > 1:
        said.append(f"projected times: of {trajectories[-1].name}")
    if any(not np.all(trajectories[-1].placed.times_s[region]) for region in REGIONS):
        said.append("times of 0 s are left out")
    if ridgeline.overlap != "full":
        how = (
            "do not overlap"
            if ridgeline.overlap == "none"
            else f"overlap, k = {ridgeline.overlap:g}"
        )
        said.append(f"the times {how}: regions show what takes longest")
    if len(ridgeline.machines) > 1:
        said.append("of several machines, the slowest at each resource makes the regions")
    return Page(charts=(plane, times), columns=2, notes=tuple(said))


def ridgeline_chart(
    ridgeline: Ridgeline, trajectories: Sequence[Trajectory]
) -> tuple[Chart, list[str]]:
    """Return the plane, and the names of points that lie beyond its edges, with the reason."""
    x_limits, y_limits = _frame(ridgeline, trajectories)
    limits = (x_limits, y_limits)
    dots, beyond, paths = [], [], []
    for one in trajectories:
        own = [_dot(one, index, limits) for index in range(len(one.labels))]
        named = _evenly(len(own), _MOST_DOTS)
        # Of a trajectory the rest is its path; single points are all there, a few with names.
        dots += [
            dot if index in named else replace(dot, label=None)
            for index, (dot, _) in enumerate(own)
            if index in named or one.variable == "point"
        ]
        kind = "" if one.variable == "point" else f"{one.variable} "
        of = f"{one.name}: " if one.name else ""
        beyond += [f"{of}{kind}{dot.name} ({why})" for dot, why in own if why]
        inside = tuple(dot.at for dot, why in own if not why)
        if one.variable != "point" and len(inside) > 1:
            paths.append(Line(kind="path", places=inside, label=Label(one.name), name=one.name))
    chart = Chart(
        title=f"Ridgeline{_OVER[trajectories[0].variable] if trajectories else ''}",
        subtitle=machines_line(ridgeline),
        x=log_axis(X_LABEL, x_limits, shown_intensity),
        y=log_axis(y_label(ridgeline), y_limits, shown_intensity),
        areas=region_areas(ridgeline, limits),
        lines=(*iso_lines(ridgeline, limits), *edges(ridgeline, limits), *paths),
        marks=tuple(dots),
    )
    return chart, beyond


def y_label(ridgeline: Ridgeline) -> str:
    """Return the name of the vertical axis."""
    return f"Arithmetic intensity I_A [{ridgeline.unit}/byte]"


def region_areas(ridgeline: Ridgeline, limits: Frame) -> tuple[Area, ...]:
    """Return the three regions within limits, with their names."""
    peak = f"\n{si_text(ridgeline.peak, f'{ridgeline.unit}/s', digits=3)}"
    return tuple(
        region_area(region, corners, f"{region}-bound{peak if region == 'compute' else ''}")
        for region, corners in region_corners(ridgeline, limits).items()
    )


def region_corners(ridgeline: Ridgeline, limits: Frame) -> dict[Region, tuple[Place, ...]]:
    """Return the three regions within limits; one that is not within them is left out."""
    up = math.log10(ridgeline.ridge.arithmetic_intensity)
    right = math.log10(ridgeline.ridge.memory_intensity)
    corners = {
        region: clipped(frame_corners(limits), keeps)
        for region, keeps in _bounds(up, right).items()
    }
    return {region: own for region, own in corners.items() if len(own) > 2}


def region_area(region: Region | None, corners: tuple[Place, ...], label: str = "") -> Area:
    """Return where a resource bounds, in its colour; None: that is not decided."""
    name = f"{region}-bound" if region else ""
    return Area(
        corners=corners, ink=region, label=Label(label, is_bold=True) if label else None, name=name
    )


def frame_corners(limits: Frame) -> tuple[Place, ...]:
    """Return the corners of the frame, counterclockwise."""
    (left, right), (bottom, top) = limits
    return (left, bottom), (right, bottom), (right, top), (left, top)


def _bounds(up: float, right: float) -> dict[Region, tuple[Callable[[float, float], float], ...]]:
    """Return where each resource needs most time, by logarithms of both intensities.

    Compute needs more than memory above `up`, the network more than memory left of `right`, and
    compute more than the network where the product of both intensities is beyond the ridge's.
    """
    return {
        "compute": (lambda x, y: y - up, lambda x, y: x + y - right - up),
        "memory": (lambda x, y: up - y, lambda x, y: x - right),
        "network": (lambda x, y: right - x, lambda x, y: right + up - x - y),
    }


def edges(ridgeline: Ridgeline, limits: Frame) -> tuple[Line, ...]:
    """Return the ridge ``x y = k``, and where memory parts from compute and from the network."""
    ridge, ((left, right), (bottom, _)) = ridgeline.ridge, limits
    x, y = ridge.memory_intensity, ridge.arithmetic_intensity
    unit = ridgeline.unit
    k = shown_intensity(ridge.network_intensity)
    return (
        Line(
            kind="roof",
            places=((left, ridge.network_intensity / left), (x, y)),
            label=Label(f"ridge: x y = {k} {unit}/byte"),
        ),
        Line(
            kind="roof",
            places=((x, y), (right, y)),
            label=Label(f"I_A* = {shown_intensity(y)} {unit}/byte"),
        ),
        Line(
            kind="roof", places=((x, bottom), (x, y)), label=Label(f"I_M* = {shown_intensity(x)}")
        ),
    )


def iso_lines(ridgeline: Ridgeline, limits: Frame) -> tuple[Line, ...]:
    """Return lines of one performance each, at decades below the peak."""
    (left, right), (bottom, _) = limits
    peak = ridgeline.peak
    lowest = float(ridgeline.attainable(left, bottom))
    last = math.ceil(math.log10(peak)) - 1
    powers = [p for p in range(last, last - _MOST_LINES, -1) if lowest < 10.0**p < peak * 0.95]
    x = np.unique([*np.geomspace(left, right, _PLACES), ridgeline.ridge.memory_intensity])
    lines = []
    for power in powers:
        y = np.asarray(ridgeline.iso_performance(10.0**power, x))
        places = tuple((float(a), float(b)) for a, b in zip(x, y, strict=True) if math.isfinite(b))
        rate = si_text(10.0**power, f"{ridgeline.unit}/s", digits=3)
        lines.append(Line(kind="iso", places=_thinned(places), label=Label(rate, rank=1)))
    return tuple(lines)


def times_chart(ridgeline: Ridgeline, one: Trajectory) -> Chart:
    """Return the projected time of every resource, and bands of what bounds."""
    at, ticks = positions(one)
    placed = one.placed
    times = {region: np.atleast_1d(placed.times_s[region]) for region in REGIONS}
    total = np.atleast_1d(placed.time_s)
    shown = [float(t) for t in (*np.concatenate(list(times.values())), *total) if t > 0]
    y_limits = decades(shown, room=_ROOM)
    x_limits = (at[0] / math.sqrt(2), at[-1] * math.sqrt(2))
    joined = one.variable != "point"
    lines = [
        time_line(region, at, seconds, region, is_joined=joined)
        for region, seconds in times.items()
    ]
    if ridgeline.overlap != "full":
        lines.append(time_line("total", at, total, "combined", is_joined=joined))
    seen = tuple(line for line in lines if line.places)
    return Chart(
        title="Projected time",
        subtitle="of each resource, on one node; colours as on the plane: what bounds",
        x=Axis(
            label={"batch": "Batch", "nodes": "Nodes", "point": "Unit of work"}[one.variable],
            limits=x_limits,
            ticks=ticks,
            is_slanted=one.variable == "point",
        ),
        y=log_axis("Projected time", y_limits, lambda value: si_text(value, "s")),
        areas=_bands(
            at, np.atleast_1d(placed.limiter).tolist(), times, joined, (x_limits, y_limits)
        ),
        lines=seen,
        key=line_entries(seen),
    )


def positions(one: Trajectory) -> tuple[list[float], Ticks]:
    """Return where the units of work stand on an axis of their own, and the ticks.

    Numbers that grow stand where they are; anything else stands evenly.
    """
    numbers = [float(label) for label in one.labels] if one.variable != "point" else []
    grows = all(a < b for a, b in pairwise(numbers))
    at = numbers if numbers and grows else [2.0**index for index in range(len(one.labels))]
    ticks: list[tuple[float, str]] = []
    span = max(math.log2(at[-1] / at[0]), 1.0)
    for place, label in zip(at, one.labels, strict=True):
        text = printable(label)
        text = text if len(text) <= _LONGEST_TICK else f"{text[: _LONGEST_TICK - 1]}…"
        # Wide enough apart for their texts, which are slanted if they are names.
        needed = 0.04 if one.variable == "point" else 0.0195 * max(len(text), 2)
        if not ticks or math.log2(place / ticks[-1][0]) / span >= needed:
            ticks.append((place, text))
    return at, tuple(ticks)


def _frame(ridgeline: Ridgeline, trajectories: Sequence[Trajectory]) -> Frame:
    """Return the limits: ridge point and points, in whole decades."""
    ridge = ridgeline.ridge
    limits = []
    for middle, own in (
        (ridge.memory_intensity, [one.placed.memory_intensity for one in trajectories]),
        (ridge.arithmetic_intensity, [one.placed.arithmetic_intensity for one in trajectories]),
    ):
        values = np.concatenate([np.atleast_1d(each) for each in own])
        near = (values >= middle / _FARTHEST) & (values <= middle * _FARTHEST)
        seen = [float(v) for v in values[near]]
        inner = decades([middle / _AROUND, middle * _AROUND])
        outer = decades([middle, *seen], room=_ROOM)
        limits.append((min(inner[0], outer[0]), max(inner[1], outer[1])))
    return limits[0], limits[1]


def _dot(one: Trajectory, index: int, limits: Frame) -> tuple[Mark, str]:
    """Return a unit of work on the plane, and why it is drawn at the edge; empty: it is not."""
    placed = one.placed
    x = float(np.atleast_1d(placed.memory_intensity)[index])
    y = float(np.atleast_1d(placed.arithmetic_intensity)[index])
    edge: Edge | None = None
    why = []
    amounts = {
        "work": placed.work, "memory bytes": placed.memory_bytes,
        "network bytes": placed.network_bytes,
    }  # fmt: skip
    why = [f"no {name}" for name, each in amounts.items() if not np.atleast_1d(each)[index]]
    (left, right), (bottom, top) = limits
    # Nothing over nothing: without network bytes the network is no limit, which is to the right.
    x = math.inf if math.isnan(x) else x
    y = math.inf if math.isnan(y) else y
    if not left <= x <= right:
        edge = "left" if x < left else "right"
    elif not bottom <= y <= top:
        edge = "bottom" if y < bottom else "top"
    if edge is not None and not why:
        why = [f"I_M {shown_intensity(x)}, I_A {shown_intensity(y)}"]
    at = (min(max(x, left), right), min(max(y, bottom), top))
    region: Region = np.atleast_1d(placed.limiter)[index].item()
    dot = region_mark(region, at, printable(one.labels[index]), edge=edge)
    return dot, ", ".join(why) if edge else ""


def region_mark(region: Region, at: Place, label: str, *, edge: Edge | None = None) -> Mark:
    """Return a unit of work with what bounds it as its colour and shape."""
    return Mark(
        at=at,
        shape=theme.REGION_SHAPES[region],
        ink=region,
        edge=edge,
        label=Label(label),
        name=label,
        summary=f"{region}-bound",
    )


def line_entries(lines: Sequence[Line]) -> tuple[Entry, ...]:
    """Return the key of lines that have names."""
    return tuple(
        Entry(text=line.name, line=line.kind, ink=line.ink, shape=line.shape, is_abreast=True)
        for line in lines
        if line.name
    )


def machines_line(ridgeline: Ridgeline) -> str:
    """Return which machines these are, and what they give."""
    rates = ", ".join(
        si_text(ridgeline.rate(resource), unit, digits=3)
        for resource, unit in (
            (ridgeline.work, f"{ridgeline.unit}/s"), ("dram", "B/s"), ("network", "B/s"),
        )
    )  # fmt: skip
    names = "; ".join(dict.fromkeys(machine_title(machine) for machine in ridgeline.machines))
    return f"{names}: {rates}"


def _evenly(count: int, most: int) -> set[int]:
    """Return so many places of a row at most, evenly in their logarithm, both ends among them."""
    if count <= most:
        return set(range(count))
    return {round(place) - 1 for place in np.geomspace(1, count, most)}


def time_line(
    what: Region | Literal["total"],
    at: Sequence[float],
    seconds: npt.NDArray[np.float64],
    name: str,
    *,
    is_joined: bool = True,
) -> Line:
    """Return the time of a resource, or of all, over what the units of work stand at."""
    joined: LineKind = "total" if what == "total" else "curve"
    is_marked = len(at) <= _MOST_MARKED or not is_joined
    return Line(
        kind=joined if is_joined else "points",
        ink="ink" if what == "total" else what,
        places=tuple((x, float(y)) for x, y in zip(at, seconds, strict=True) if y > 0),
        shape=theme.REGION_SHAPES[what] if is_marked else None,
        name=name,
    )


def _bands(
    at: Sequence[float],
    limiters: Sequence[Region],
    times: Mapping[Region, npt.NDArray[np.float64]],
    joined: bool,
    limits: Frame,
) -> tuple[Area, ...]:
    """Return upright bands of what bounds, which change where the joined lines cross."""
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

    The middle where they do not, or have no place there.
    """
    if (first <= 0).any() or (second <= 0).any():
        return 0.5
    before, after = np.log(first / second).tolist()
    return float(before / (before - after)) if before >= 0 > after else 0.5


def _thinned(places: Sequence[Place]) -> tuple[Place, ...]:
    """Return a line without the places that lie straight between their neighbours."""
    logs = [(math.log10(x), math.log10(y)) for x, y in places]
    kept = [
        place
        for before, here, after, place in zip(logs, logs[1:], logs[2:], places[1:], strict=False)
        if abs(
            (here[0] - before[0]) * (after[1] - here[1])
            - (after[0] - here[0]) * (here[1] - before[1])
        )
        > 1e-9
    ]
    return (places[0], *kept, places[-1]) if len(places) > 1 else tuple(places)
