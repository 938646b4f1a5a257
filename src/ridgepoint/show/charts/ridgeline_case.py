"""The paper's case study as figures: Figs. 4a to 4c, and the compute-network roofline."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ridgepoint.models.ridgeline import Region, Ridgeline
from ridgepoint.models.ridgeline.trajectories import Trajectory
from ridgepoint.show.charts.plane import Coordinates
from ridgepoint.show.charts.ridgeline import frame_corners, machines_line, positions, y_label
from ridgepoint.show.charts.ridgeline_plane import (
    Area,
    Chart,
    ChartsFigure,
    Dot,
    Line,
    decade_ticks,
    decades,
    si_text,
)
from ridgepoint.show.words import printable, shown_intensity

_ROOM = 1.6
_LEFT = 0.05
"""Of the knee: so far to its left a roofline is seen at least."""


def case_study(ridgeline: Ridgeline, one: Trajectory) -> dict[str, ChartsFigure]:
    """Return the figures of a trajectory, by name: 4a, 4b, 4c and network.

    Parameters
    ----------
    ridgeline : Ridgeline
    one : Trajectory
    """
    charts = {
        "4a": _intensities(ridgeline, one),
        "4b": _roofline(ridgeline, one),
        "4c": _computing_or_summing(ridgeline, one),
        "network": _network_roofline(ridgeline, one),
    }
    return {name: ChartsFigure(charts=(chart,)) for name, chart in charts.items()}


def _intensities(ridgeline: Ridgeline, one: Trajectory) -> Chart:
    """Return arithmetic intensity over the batch, and the machine's balance."""
    at, ticks = positions(one)
    balance = ridgeline.ridge.arithmetic_intensity
    values = np.atleast_1d(one.placed.arithmetic_intensity)
    places = tuple((x, float(y)) for x, y in zip(at, values, strict=True) if 0 < y < math.inf)
    x_limits = _ends(at)
    y_limits = decades([balance, *(y for _, y in places)], room=_ROOM)
    halves: tuple[tuple[Region, Coordinates], ...] = (
        ("compute", (balance, y_limits[1])), ("memory", (y_limits[0], balance)),
    )  # fmt: skip
    return Chart(
        title="Arithmetic intensity",
        subtitle=machines_line(ridgeline),
        x_label=_over(one),
        y_label=y_label(ridgeline),
        x_limits=x_limits,
        y_limits=y_limits,
        x_ticks=ticks,
        y_ticks=decade_ticks(y_limits, shown_intensity),
        areas=tuple(
            Area(region=region, corners=frame_corners((x_limits, ends)), label=f"{region}-bound")
            for region, ends in halves
        ),
        lines=(
            Line(
                style="balance",
                places=((x_limits[0], balance), (x_limits[1], balance)),
                label=f"machine balance {shown_intensity(balance)} {ridgeline.unit}/byte",
            ),
            *([Line(style="roof", places=places, marked=True)] if places else []),
        ),
    )


def _roofline(ridgeline: Ridgeline, one: Trajectory) -> Chart:
    """Return the roofline, which knows no network, with the trajectory on it."""
    return _roofline_over(
        ridgeline,
        one,
        title="Roofline, which knows no network",
        x_label=y_label(ridgeline),
        knee=ridgeline.ridge.arithmetic_intensity,
        intensities=np.atleast_1d(one.placed.arithmetic_intensity).tolist(),
        attained=lambda x: float(ridgeline.attainable(math.inf, x)),
        limiters=np.atleast_1d(one.placed.roofline_limiter).tolist(),
        slope="memory",
    )


def _network_roofline(ridgeline: Ridgeline, one: Trajectory) -> Chart:
    """Return the compute-network roofline, which knows no memory, with the trajectory below it."""
    placed = one.placed
    rates = np.atleast_1d(placed.performance).tolist()
    return _roofline_over(
        ridgeline,
        one,
        title="Compute-network roofline",
        x_label=f"Network intensity I_N [{ridgeline.unit}/byte]",
        knee=ridgeline.ridge.network_intensity,
        intensities=np.atleast_1d(placed.network_intensity).tolist(),
        attained=lambda x: float(ridgeline.attainable_by_network(x)),
        limiters=np.atleast_1d(placed.limiter).tolist(),
        slope="network",
        rates=rates,
    )


def _roofline_over(
    ridgeline: Ridgeline,
    one: Trajectory,
    *,
    title: str,
    x_label: str,
    knee: float,
    intensities: Sequence[float],
    attained: Callable[[float], float],
    limiters: Sequence[Region],
    slope: Region,
    rates: Sequence[float] | None = None,
) -> Chart:
    """Return a roofline with the trajectory at what it attains, or at given rates."""
    seen = {index: x for index, x in enumerate(intensities) if 0 < x < math.inf}
    heights: Mapping[int, float] = {
        index: attained(x) if rates is None else rates[index] for index, x in seen.items()
    }
    seen = {index: x for index, x in seen.items() if heights[index] > 0}
    x_limits = decades([knee * _LEFT, knee / _LEFT, *seen.values()], room=_ROOM)
    ends = [attained(x) for x in x_limits]
    y_limits = decades([*ends, *(heights[index] for index in seen)], room=_ROOM)
    unit, peak = ridgeline.unit, ridgeline.peak
    diagonal = ridgeline.rate("dram" if slope == "memory" else "network")
    return Chart(
        title=title,
        subtitle=machines_line(ridgeline),
        x_label=x_label,
        y_label=f"Attainable performance [{unit}/s]",
        x_limits=x_limits,
        y_limits=y_limits,
        x_ticks=decade_ticks(x_limits, shown_intensity),
        y_ticks=decade_ticks(y_limits, lambda value: si_text(value, f"{unit}/s")),
        areas=tuple(
            Area(region=region, corners=frame_corners((own, y_limits)))
            for region, own in ((slope, (x_limits[0], knee)), ("compute", (knee, x_limits[1])))
        ),
        lines=(
            Line(
                style="roof",
                places=((x_limits[0], ends[0]), (knee, attained(knee))),
                label=f"{slope} {si_text(diagonal, 'B/s', digits=3)}",
            ),
            Line(
                style="roof",
                places=((knee, attained(knee)), (x_limits[1], ends[1])),
                label=f"peak {si_text(peak, f'{unit}/s', digits=3)}",
            ),
        ),
        dots=tuple(
            Dot(at=(x, heights[index]), label=printable(one.labels[index]), region=limiters[index])
            for index, x in seen.items()
        ),
    )


def _computing_or_summing(ridgeline: Ridgeline, one: Trajectory) -> Chart:
    """Return the time of a node's own work and that of what it exchanges."""
    at, ticks = positions(one)
    times = {region: np.atleast_1d(each) for region, each in one.placed.times_s.items()}
    own = np.maximum(times["compute"], times["memory"])
    seen = [float(t) for t in (*own, *times["network"]) if t > 0]
    x_limits, y_limits = _ends(at), decades(seen, room=_ROOM)
    lines = []
    for style, name, seconds in (
        ("compute", "own work (compute or memory)", own),
        ("network", "exchange over the network", times["network"]),
    ):
        places = tuple((x, float(y)) for x, y in zip(at, seconds, strict=True) if y > 0)
        if places:
            lines.append(
                Line(style=style, places=places, name=name, marked=True)  # type: ignore[arg-type]
            )
    return Chart(
        title="What takes longer",
        subtitle=machines_line(ridgeline),
        x_label=_over(one),
        y_label="Projected time [s]",
        x_limits=x_limits,
        y_limits=y_limits,
        x_ticks=ticks,
        y_ticks=decade_ticks(y_limits, lambda value: si_text(value, "s")),
        lines=tuple(lines),
    )


def _over(one: Trajectory) -> str:
    return {"batch": "Batch", "nodes": "Nodes", "point": "Unit of work"}[one.variable]


def _ends(at: Sequence[float]) -> Coordinates:
    return at[0] / math.sqrt(2), at[-1] * math.sqrt(2)
