"""The Ridgeline's plane: regions, ridge, lines of equal performance, and units of work on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from ridgepoint.models.ridgeline import Region, Ridgeline
from ridgepoint.models.ridgeline.trajectories import Trajectory
from ridgepoint.models.thresholds import SAME
from ridgepoint.show import theme
from ridgepoint.show.axes import clipped, decades, log_axis, si_text
from ridgepoint.show.chart import (
    Area,
    Chart,
    Edge,
    Entry,
    Interval,
    Label,
    Line,
    Mark,
    Place,
    Shape,
)
from ridgepoint.show.words import machine_title, printable, shown_intensity, tolerance

Frame = tuple[Interval, Interval]
"""Limits of both axes."""
X_LABEL = "Memory intensity I_M [byte of memory / byte of network]"
TIE: Shape = "star"
"""Stands at units of work for which several resources need equally long."""
_ROOM = 1.6
"""Beyond the outermost point, so that labels have room."""
_AROUND = 10.0
"""How far around its ridge point the plane is seen at least."""
_FARTHEST = 1e8
"""Points farther from the ridge point than this are drawn at the edge."""
_MOST_LINES = 6
_PLACES = 121
_MOST_DOTS = 24
_OVER = {"batch": ", over the batch", "nodes": ", over the number of nodes", "point": ""}


def ridgeline_chart(
    ridgeline: Ridgeline, trajectories: Sequence[Trajectory]
) -> tuple[Chart, list[str]]:
    """Return the plane, and the names of points that lie beyond its edges, with the reason."""
    x_limits, y_limits = _frame(ridgeline, trajectories)
    limits = (x_limits, y_limits)
    dots, beyond, paths = [], [], []
    for trajectory in trajectories:
        own = [_dot(trajectory, index, limits) for index in range(len(trajectory.labels))]
        named = _evenly(len(own), _MOST_DOTS)
        # Only single points are drawn in full, a few with names; a trajectory has its path.
        dots += [
            dot if index in named else replace(dot, label=None)
            for index, (dot, _) in enumerate(own)
            if index in named or trajectory.variable == "point"
        ]
        kind = "" if trajectory.variable == "point" else f"{trajectory.variable} "
        of = f"{trajectory.name}: " if trajectory.name else ""
        beyond += [f"{of}{kind}{dot.name} ({why})" for dot, why in own if why]
        inside = tuple(dot.at for dot, why in own if not why)
        if trajectory.variable != "point" and len(inside) > 1:
            paths.append(
                Line(kind="path", places=inside, label=Label(trajectory.name), name=trajectory.name)
            )
    chart = Chart(
        title=f"Ridgeline{_OVER[trajectories[0].variable] if trajectories else ''}",
        subtitle=machines_line(ridgeline),
        x=log_axis(X_LABEL, x_limits, shown_intensity),
        y=log_axis(y_label(ridgeline), y_limits, shown_intensity),
        areas=region_areas(ridgeline, limits),
        lines=(*iso_lines(ridgeline, limits), *edges(ridgeline, limits), *paths),
        marks=tuple(dots),
        key=tie_entry(each for one in trajectories for each in one.placed.limiters),
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
    """Return the corners of the three regions within limits; a region outside is left out."""
    up = math.log10(ridgeline.ridge.arithmetic_intensity)
    right = math.log10(ridgeline.ridge.memory_intensity)
    corners = {
        region: clipped(frame_corners(limits), keeps)
        for region, keeps in _bounds(up, right).items()
    }
    return {region: own for region, own in corners.items() if len(own) > 2}


def region_area(region: Region | None, corners: tuple[Place, ...], label: str = "") -> Area:
    """Return the area in which a resource bounds, in its colour; None: not decided."""
    name = f"{region}-bound" if region else ""
    return Area(
        corners=corners, ink=region, label=Label(label, is_bold=True) if label else None, name=name
    )


def frame_corners(limits: Frame) -> tuple[Place, ...]:
    """Return the corners of the frame, counterclockwise."""
    (left, right), (bottom, top) = limits
    return (left, bottom), (right, bottom), (right, top), (left, top)


def _bounds(up: float, right: float) -> dict[Region, tuple[Callable[[float, float], float], ...]]:
    """Return where each resource needs most time, as inequalities of the intensities' logarithms.

    Compute needs more than memory above `up`, the network more than memory left of `right`, and
    compute more than the network where the product of both intensities exceeds the ridge's.
    """
    return {
        "compute": (lambda x, y: y - up, lambda x, y: x + y - right - up),
        "memory": (lambda x, y: up - y, lambda x, y: x - right),
        "network": (lambda x, y: right - x, lambda x, y: right + up - x - y),
    }


def edges(ridgeline: Ridgeline, limits: Frame) -> tuple[Line, ...]:
    """Return the ridge ``x y = k``, and the borders of memory to compute and to the network."""
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
    """Return lines of equal performance, at decades below the peak."""
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


def _frame(ridgeline: Ridgeline, trajectories: Sequence[Trajectory]) -> Frame:
    """Return the limits, in whole decades, that hold the ridge point and all points."""
    ridge = ridgeline.ridge
    limits, placed = [], [trajectory.placed for trajectory in trajectories]
    for middle, own in (
        (ridge.memory_intensity, [units.memory_intensity for units in placed]),
        (ridge.arithmetic_intensity, [units.arithmetic_intensity for units in placed]),
    ):
        values = np.concatenate([np.atleast_1d(each) for each in own])
        near = (values >= middle / _FARTHEST) & (values <= middle * _FARTHEST)
        seen = [float(v) for v in values[near]]
        inner = decades([middle / _AROUND, middle * _AROUND])
        outer = decades([middle, *seen], room=_ROOM)
        limits.append((min(inner[0], outer[0]), max(inner[1], outer[1])))
    return limits[0], limits[1]


def _dot(trajectory: Trajectory, index: int, limits: Frame) -> tuple[Mark, str]:
    """Return a unit of work as a mark, and why it is drawn at the edge; empty: it is not."""
    placed = trajectory.placed
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
    # 0 / 0: without network bytes the network is no limit, as at the far right.
    x = math.inf if math.isnan(x) else x
    y = math.inf if math.isnan(y) else y
    if not left <= x <= right:
        edge = "left" if x < left else "right"
    elif not bottom <= y <= top:
        edge = "bottom" if y < bottom else "top"
    if edge is not None and not why:
        why = [f"I_M {shown_intensity(x)}, I_A {shown_intensity(y)}"]
    at = (min(max(x, left), right), min(max(y, bottom), top))
    label = printable(trajectory.labels[index])
    dot = region_mark(placed.limiters[index], at, label, edge=edge)
    return dot, ", ".join(why) if edge else ""


def region_mark(
    regions: tuple[Region, ...], at: Place, label: str, *, edge: Edge | None = None
) -> Mark:
    """Return a unit of work whose colour and shape show its limiter; of several, that they tie."""
    ties = len(regions) > 1
    return Mark(
        at=at,
        shape=TIE if ties else theme.REGION_SHAPES[regions[0]],
        ink="ink" if ties else regions[0],
        edge=edge,
        label=Label(label),
        name=label,
        summary=" and ".join(f"{region}-bound" for region in regions),
    )


def tie_entry(limiters: Iterable[tuple[Region, ...]]) -> tuple[Entry, ...]:
    """Return what the marks of ties mean, for a key; empty: there are none."""
    if all(len(regions) < 2 for regions in limiters):
        return ()
    text = f"equally long times, to within {tolerance(SAME)}"
    return (Entry(text=text, shape=TIE, ink="ink", is_abreast=True),)


def machines_line(ridgeline: Ridgeline) -> str:
    """Return the machines' names and rates in one line."""
    rates = ", ".join(
        si_text(ridgeline.rate(resource), unit, digits=3)
        for resource, unit in (
            (ridgeline.work, f"{ridgeline.unit}/s"), ("dram", "B/s"), ("network", "B/s"),
        )
    )  # fmt: skip
    names = "; ".join(dict.fromkeys(machine_title(machine) for machine in ridgeline.machines))
    return f"{names}: {rates}"


def _evenly(count: int, most: int) -> set[int]:
    """Return at most `most` indices of a row, evenly in their logarithm, both ends included."""
    if count <= most:
        return set(range(count))
    return {round(place) - 1 for place in np.geomspace(1, count, most)}


def _thinned(places: Sequence[Place]) -> tuple[Place, ...]:
    """Return a line without points that lie straight between their neighbours."""
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
