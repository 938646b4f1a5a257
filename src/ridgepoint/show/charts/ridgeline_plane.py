"""The Ridgeline's plane: regions, ridge, lines of equal performance, and units of work on it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ridgepoint.models.ridgeline import Ridgeline
from ridgepoint.models.ridgeline.placed import REGIONS, Region
from ridgepoint.models.ridgeline.plane import PLANES, Plane
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
PAPER = PLANES["I_M"]
"""The paper's plane."""
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
_TITLES = {
    "I_M": "Ridgeline",
    "I_N": "Ridgeline over network intensity",
    "I_R": "Ridgeline of remote memory",
    "I_S": "Ridgeline of storage",
}
_OVER = {"batch": ", over the batch", "nodes": ", over the number of nodes", "point": ""}


def ridgeline_chart(
    ridgeline: Ridgeline, trajectories: Sequence[Trajectory], *, plane: Plane = PAPER
) -> tuple[Chart, list[str]]:
    """Return a plane, and the names of points that lie beyond its edges, with the reason."""
    limits = _frame(ridgeline, trajectories, plane)
    dots, beyond, paths = [], [], []
    for trajectory in trajectories:
        own = list(_dots(trajectory, limits, plane))
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
    limiters = [each for one in trajectories for each in one.placed.limiters]
    chart = Chart(
        title=f"{_TITLES[plane.name]}{_OVER[trajectories[0].variable] if trajectories else ''}",
        subtitle=machines_line(ridgeline),
        x=log_axis(x_label(ridgeline, plane), limits[0], shown_intensity),
        y=log_axis(y_label(ridgeline), limits[1], shown_intensity),
        areas=region_areas(ridgeline, limits, plane),
        lines=(*iso_lines(ridgeline, limits, plane), *edges(ridgeline, limits, plane), *paths),
        marks=tuple(dots),
        key=(*tie_entry(limiters), *_outside_entries(limiters, plane)),
    )
    return chart, beyond


def _outside_entries(limiters: Iterable[tuple[Region, ...]], plane: Plane) -> tuple[Entry, ...]:
    """Return what the marks mean whose limiter has no region on the plane."""
    others = dict.fromkeys(
        region
        for regions in limiters
        for region in regions
        if len(regions) == 1 and region not in plane.regions
    )
    return tuple(
        Entry(
            text=f"{bound_by(region)}, which has no region on this plane",
            shape=theme.REGION_SHAPES[region],
            ink=region,
            is_abreast=True,
        )
        for region in others
    )


def x_label(ridgeline: Ridgeline, plane: Plane) -> str:
    """Return the name of the horizontal axis."""
    if not plane.is_of_work:
        return X_LABEL
    what = f"{plane.link[0].upper()}{plane.link[1:]} intensity {plane.name}"
    return f"{what} [{ridgeline.unit} / byte of {plane.link}]"


def y_label(ridgeline: Ridgeline) -> str:
    """Return the name of the vertical axis."""
    return f"Arithmetic intensity I_A [{ridgeline.unit}/byte]"


def region_areas(ridgeline: Ridgeline, limits: Frame, plane: Plane = PAPER) -> tuple[Area, ...]:
    """Return the three regions within limits, with their names."""
    peak = f"\n{si_text(ridgeline.peak, f'{ridgeline.unit}/s', digits=3)}"
    return tuple(
        region_area(region, corners, f"{bound_by(region)}{peak if region == 'compute' else ''}")
        for region, corners in region_corners(ridgeline, limits, plane).items()
    )


def region_corners(
    ridgeline: Ridgeline, limits: Frame, plane: Plane = PAPER
) -> dict[Region, tuple[Place, ...]]:
    """Return the corners of the three regions within limits; a region outside is left out."""
    right, up = (math.log10(value) for value in plane.ridge(ridgeline))
    corners = {
        region: clipped(frame_corners(limits), keeps)
        for region, keeps in plane.inequalities(right, up).items()
    }
    return {region: own for region, own in corners.items() if len(own) > 2}


def region_area(region: Region | None, corners: tuple[Place, ...], label: str = "") -> Area:
    """Return the area in which a resource bounds, in its colour; None: not decided."""
    name = bound_by(region) if region else ""
    return Area(
        corners=corners, ink=region, label=Label(label, is_bold=True) if label else None, name=name
    )


def bound_by(region: Region) -> str:
    """Return what is said of units of work in a region: ``remote-memory-bound``."""
    return f"{region.replace(' ', '-')}-bound"


def frame_corners(limits: Frame) -> tuple[Place, ...]:
    """Return the corners of the frame, counterclockwise."""
    (left, right), (bottom, top) = limits
    return (left, bottom), (right, bottom), (right, top), (left, top)


def edges(ridgeline: Ridgeline, limits: Frame, plane: Plane = PAPER) -> tuple[Line, ...]:
    """Return the borders of the regions, which meet at the ridge point."""
    (x, y), ((left, right), (bottom, top)) = plane.ridge(ridgeline), limits
    unit = ridgeline.unit
    level = Line(
        kind="roof",
        places=((x, y), (right, y)),
        label=Label(f"I_A* = {shown_intensity(y)} {unit}/byte"),
    )
    if plane.is_of_work:
        low = max(left, bottom * x / y)
        upright, slanted = ((x, y), (x, top)), ((low, low * y / x), (x, y))
        named = f"{plane.name}* = {shown_intensity(x)} {unit}/byte"
        ridge = f"x / y = {shown_intensity(x / y)}"
    else:
        upright, slanted = ((x, bottom), (x, y)), ((left, x * y / left), (x, y))
        named = f"{plane.name}* = {shown_intensity(x)}"
        ridge = f"ridge: x y = {shown_intensity(x * y)} {unit}/byte"
    return (
        Line(kind="roof", places=slanted, label=Label(ridge)),
        level,
        Line(kind="roof", places=upright, label=Label(named)),
    )


def iso_lines(ridgeline: Ridgeline, limits: Frame, plane: Plane = PAPER) -> tuple[Line, ...]:
    """Return lines of equal performance, at decades below the peak."""
    (left, right), (bottom, top) = limits
    peak = ridgeline.peak
    lowest = float(plane.attainable(ridgeline, left, bottom))
    last = math.ceil(math.log10(peak)) - 1
    powers = [p for p in range(last, last - _MOST_LINES, -1) if lowest < 10.0**p < peak * 0.95]
    ends = (left / top, right / bottom) if plane.is_of_work else (left, right)
    lines = []
    for power in powers:
        x, y = plane.line_of(ridgeline, 10.0**power, ends, _PLACES)
        places = tuple(zip(x.tolist(), y.tolist(), strict=True))
        rate = si_text(10.0**power, f"{ridgeline.unit}/s", digits=3)
        lines.append(Line(kind="iso", places=_thinned(places), label=Label(rate, rank=1)))
    return tuple(lines)


def _frame(ridgeline: Ridgeline, trajectories: Sequence[Trajectory], plane: Plane) -> Frame:
    """Return the limits, in whole decades, that hold the ridge point and all points."""
    right, up = plane.ridge(ridgeline)
    limits, placed = [], [trajectory.placed for trajectory in trajectories]
    for middle, own in (
        (right, [plane.x_of(units) for units in placed]),
        (up, [units.arithmetic_intensity for units in placed]),
    ):
        values = np.concatenate([np.atleast_1d(each) for each in own])
        near = (values >= middle / _FARTHEST) & (values <= middle * _FARTHEST)
        seen = [float(v) for v in values[near]]
        inner = decades([middle / _AROUND, middle * _AROUND])
        outer = decades([middle, *seen], room=_ROOM)
        limits.append((min(inner[0], outer[0]), max(inner[1], outer[1])))
    return limits[0], limits[1]


def _dots(trajectory: Trajectory, limits: Frame, plane: Plane) -> Iterator[tuple[Mark, str]]:
    """Yield units of work as marks, and why each is drawn at the edge; empty: it is not."""
    placed = trajectory.placed
    amounts = {
        "work": placed.work, "memory bytes": placed.memory_bytes,
        f"{plane.link} bytes": placed.bytes_of(plane.link),
    }  # fmt: skip
    lacking = {f"no {name}": np.atleast_1d(each) == 0 for name, each in amounts.items()}
    places = zip(
        np.atleast_1d(plane.x_of(placed)).tolist(),
        np.atleast_1d(placed.arithmetic_intensity).tolist(),
        strict=True,
    )
    named = zip(places, trajectory.labels, placed.limiters, strict=True)
    for index, (place, label, regions) in enumerate(named):
        # 0 / 0: without bytes over a link the link is no limit, as at the far right.
        x, y = (math.inf if math.isnan(each) else each for each in place)
        at, edge = _within((x, y), limits)
        why = [reason for reason, lacks in lacking.items() if lacks[index]]
        why = why or [f"{plane.name} {shown_intensity(x)}, I_A {shown_intensity(y)}"]
        is_finite = edge is not None and 0 < x < math.inf and 0 < y < math.inf
        beyond = (x, y) if is_finite else None
        dot = region_mark(regions, at, printable(label), edge=edge, beyond=beyond)
        yield dot, ", ".join(why) if edge else ""


def _within(place: Place, limits: Frame) -> tuple[Place, Edge | None]:
    """Return where a point is drawn, and beyond which edge it lies; None: it lies within."""
    (x, y), ((left, right), (bottom, top)) = place, limits
    edge: Edge | None = None
    if not left <= x <= right:
        edge = "left" if x < left else "right"
    elif not bottom <= y <= top:
        edge = "bottom" if y < bottom else "top"
    return (min(max(x, left), right), min(max(y, bottom), top)), edge


def region_mark(
    regions: tuple[Region, ...],
    at: Place,
    label: str,
    *,
    edge: Edge | None = None,
    beyond: Place | None = None,
) -> Mark:
    """Return a unit of work whose colour and shape show its limiter; of several, that they tie."""
    ties = len(regions) > 1
    return Mark(
        at=at,
        shape=TIE if ties else theme.REGION_SHAPES[regions[0]],
        ink="ink" if ties else regions[0],
        edge=edge,
        beyond=beyond,
        label=Label(label),
        name=label,
        summary=" and ".join(map(bound_by, regions)),
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
        f"{si_text(ridgeline.rate(resource), unit, digits=3)}{name}"
        for resource, unit, name in (
            (ridgeline.work, f"{ridgeline.unit}/s", ""), ("dram", "B/s", ""),
            *(
                (REGIONS[region], "B/s", "" if region == "network" else f" {region}")
                for region in ridgeline.regions[2:]
            ),
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
