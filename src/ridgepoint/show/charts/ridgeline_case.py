"""The paper's case study as figures: Figs. 4a to 4c, and the compute-network roofline."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ridgepoint.models.ridgeline import Ridgeline
from ridgepoint.models.ridgeline.placed import Region
from ridgepoint.models.ridgeline.trajectories import Trajectory
from ridgepoint.show.axes import decades, log_axis, si_text, with_prefix
from ridgepoint.show.chart import Axis, Chart, Interval, Label, Line
from ridgepoint.show.charts.ridgeline import VARIABLES, line_entries, positions, time_line
from ridgepoint.show.charts.ridgeline_plane import (
    frame_corners,
    machines_line,
    region_area,
    region_mark,
    tie_entry,
    y_label,
)
from ridgepoint.show.words import printable, shown_intensity

_ROOM = 1.6
_LEFT = 0.05
"""Of the knee: so far to its left a roofline is seen at least."""


def case_study(ridgeline: Ridgeline, trajectory: Trajectory) -> dict[str, Chart]:
    """Return the figures of a trajectory, by name: 4a, 4b, 4c and network.

    Parameters
    ----------
    ridgeline : Ridgeline
    trajectory : Trajectory
    """
    return {
        "4a": _intensities(ridgeline, trajectory),
        "4b": _roofline(ridgeline, trajectory),
        "4c": _computing_or_summing(ridgeline, trajectory),
        "network": _network_roofline(ridgeline, trajectory),
    }


def _intensities(ridgeline: Ridgeline, trajectory: Trajectory) -> Chart:
    """Return arithmetic intensity over the batch, and the machine's balance."""
    at, ticks = positions(trajectory)
    balance = ridgeline.ridge.arithmetic_intensity
    values = np.atleast_1d(trajectory.placed.arithmetic_intensity)
    places = tuple((x, float(y)) for x, y in zip(at, values, strict=True) if 0 < y < math.inf)
    x_limits = _ends(at)
    y_limits = decades([balance, *(y for _, y in places)], room=_ROOM)
    halves: tuple[tuple[Region, Interval], ...] = (
        ("compute", (balance, y_limits[1])), ("memory", (y_limits[0], balance)),
    )  # fmt: skip
    return Chart(
        title="Arithmetic intensity",
        subtitle=machines_line(ridgeline),
        x=Axis(label=VARIABLES[trajectory.variable], limits=x_limits, ticks=ticks),
        y=log_axis(y_label(ridgeline), y_limits, shown_intensity),
        areas=tuple(
            region_area(region, frame_corners((x_limits, ends)), f"{region}-bound")
            for region, ends in halves
        ),
        lines=(
            Line(
                kind="balance",
                places=((x_limits[0], balance), (x_limits[1], balance)),
                label=Label(f"machine balance {shown_intensity(balance)} {ridgeline.unit}/byte"),
            ),
            *([Line(kind="curve", ink="ink", places=places, shape="circle")] if places else []),
        ),
    )


def _roofline(ridgeline: Ridgeline, trajectory: Trajectory) -> Chart:
    """Return the roofline, which ignores the network, with the trajectory on it."""
    return _roofline_over(
        ridgeline,
        trajectory,
        title="Roofline, without a network",
        x_label=y_label(ridgeline),
        knee=ridgeline.ridge.arithmetic_intensity,
        intensities=np.atleast_1d(trajectory.placed.arithmetic_intensity).tolist(),
        attained=lambda x: float(ridgeline.attainable(math.inf, x)),
        limiters=trajectory.placed.roofline_limiters,
        slope="memory",
    )


def _network_roofline(ridgeline: Ridgeline, trajectory: Trajectory) -> Chart:
    """Return the compute-network roofline, which ignores memory, with the trajectory below it."""
    placed = trajectory.placed
    rates = np.atleast_1d(placed.performance).tolist()
    return _roofline_over(
        ridgeline,
        trajectory,
        title="Compute-network roofline",
        x_label=f"Network intensity I_N [{ridgeline.unit}/byte]",
        knee=ridgeline.ridge.network_intensity,
        intensities=np.atleast_1d(placed.network_intensity).tolist(),
        attained=lambda x: float(ridgeline.attainable_by_network(x)),
        limiters=placed.limiters,
        slope="network",
        rates=rates,
    )


def _roofline_over(
    ridgeline: Ridgeline,
    trajectory: Trajectory,
    *,
    title: str,
    x_label: str,
    knee: float,
    intensities: Sequence[float],
    attained: Callable[[float], float],
    limiters: Sequence[tuple[Region, ...]],
    slope: Region,
    rates: Sequence[float] | None = None,
) -> Chart:
    """Return a roofline with the trajectory at its attainable rates, or at given ones."""
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
        x=log_axis(x_label, x_limits, shown_intensity),
        y=log_axis(f"Attainable performance [{unit}/s]", y_limits, with_prefix),
        areas=tuple(
            region_area(region, frame_corners((own, y_limits)))
            for region, own in ((slope, (x_limits[0], knee)), ("compute", (knee, x_limits[1])))
        ),
        lines=(
            Line(
                kind="roof",
                places=((x_limits[0], ends[0]), (knee, attained(knee))),
                label=Label(f"{slope} {si_text(diagonal, 'B/s', digits=3)}"),
            ),
            Line(
                kind="roof",
                places=((knee, attained(knee)), (x_limits[1], ends[1])),
                label=Label(f"peak {si_text(peak, f'{unit}/s', digits=3)}"),
            ),
        ),
        marks=tuple(
            region_mark(limiters[index], (x, heights[index]), printable(trajectory.labels[index]))
            for index, x in seen.items()
        ),
        key=tie_entry(limiters[index] for index in seen),
    )


def _computing_or_summing(ridgeline: Ridgeline, trajectory: Trajectory) -> Chart:
    """Return the time of a node's own work and that of its exchange."""
    at, ticks = positions(trajectory)
    times = {region: np.atleast_1d(each) for region, each in trajectory.placed.times_s.items()}
    own = np.maximum(times["compute"], times["memory"])
    seen = [float(t) for t in (*own, *times["network"]) if t > 0]
    x_limits, y_limits = _ends(at), decades(seen, room=_ROOM)
    both = (
        time_line("compute", at, own, "own work (compute or memory)"),
        time_line("network", at, times["network"], "exchange over the network"),
    )
    lines = tuple(line for line in both if line.places)
    return Chart(
        title="What takes longer",
        subtitle=machines_line(ridgeline),
        x=Axis(label=VARIABLES[trajectory.variable], limits=x_limits, ticks=ticks),
        y=log_axis("Projected time", y_limits, lambda value: si_text(value, "s")),
        lines=lines,
        key=line_entries(lines),
    )


def _ends(at: Sequence[float]) -> Interval:
    return at[0] / math.sqrt(2), at[-1] * math.sqrt(2)
