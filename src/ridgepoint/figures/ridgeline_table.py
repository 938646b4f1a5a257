"""The Ridgeline as tables: what each unit of work asks for, and what bounds it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.figures.layout import plain_table
from ridgepoint.figures.words import percent, printable
from ridgepoint.models.ridgeline import REGIONS, Ridgeline
from ridgepoint.models.trajectories import Trajectory
from ridgepoint.units import format_si


def ridgeline_table(
    ridgeline: Ridgeline, trajectories: Sequence[Trajectory], notes: Sequence[str] = ()
) -> RenderableType:
    """Return trajectories on a Ridgeline as tables.

    Parameters
    ----------
    ridgeline : Ridgeline
    trajectories : sequence of Trajectory
    notes : sequence of str
        What else a reader must know, a line each.
    """
    parts: list[RenderableType] = [
        Text(line) for line in (*machine_lines(ridgeline), *map(printable, notes))
    ]
    for one in trajectories:
        named = [Text(""), Text(one.name, style="bold")] if one.name else []
        parts += [*named, Text(""), _asked(ridgeline, one), Text(""), _bounded(ridgeline, one)]
        parts += [Text(""), Text(nearest_the_ridge(one))]
    return Group(*parts)


def machine_lines(ridgeline: Ridgeline) -> Iterator[str]:
    """Yield each machine with its rates, and where the regions meet, a line each."""
    unit = ridgeline.unit
    for machine in ridgeline.machines:
        rates = ", ".join(
            f"{name} {format_si(float(machine.rate(resource, cores=ridgeline.cores)), per)}"
            for name, resource, per in (
                (ridgeline.work if unit != "BOP" else "peak", ridgeline.work, f"{unit}/s"),
                ("memory", "dram", "B/s"),
                ("network", "network", "B/s"),
            )
        )
        yield f"{printable(machine.name)}: {rates}"
    ridge = ridgeline.ridge
    yield (
        f"ridge point: I_A {_number(ridge.arithmetic_intensity)} {unit}/byte, "
        f"I_M {_number(ridge.memory_intensity)} byte/byte, "
        f"I_N {_number(ridge.network_intensity)} {unit}/byte"
    )


def nearest_the_ridge(one: Trajectory) -> str:
    """Return which unit of work uses two resources most evenly, and how evenly, in words."""
    times = np.array([np.atleast_1d(one.placed.times_s[region]) for region in REGIONS])
    order = np.argsort(-times, axis=0, kind="stable")  # of equals the first, as for the limiter
    first, second = np.take_along_axis(times, order, axis=0)[:2]
    with np.errstate(divide="ignore"):
        nearest = int(np.argmin(first / second))
    if second[nearest] == 0:
        return "nearest to the ridge: none, each asks for one resource alone"
    names = list(REGIONS)
    excess = percent(first[nearest] / second[nearest] - 1)
    above, below = (names[order[rank, nearest]] for rank in range(2))
    return (
        f"nearest to a ridge: {one.variable} {printable(one.labels[nearest])}, "
        f"whose {above} takes {excess} longer than its {below}"
    )


def _asked(ridgeline: Ridgeline, one: Trajectory) -> RenderableType:
    """Return what each unit of work asks of a node, and its intensities."""
    numbers = ("F", "B_M", "B_N", "I_A", "I_M", "I_N")
    table = plain_table(one.variable, *numbers, right=numbers)
    placed = one.placed
    for label, work, memory, network, *intensities in zip(
        one.labels,
        *map(np.atleast_1d, (placed.work, placed.memory_bytes, placed.network_bytes)),
        *map(
            np.atleast_1d,
            (placed.arithmetic_intensity, placed.memory_intensity, placed.network_intensity),
        ),
        strict=True,
    ):
        table.add_row(
            Text(printable(label)),
            format_si(work, ridgeline.unit),
            format_si(memory, "B"),
            format_si(network, "B"),
            *map(_number, intensities),
        )
    return table


def _bounded(ridgeline: Ridgeline, one: Trajectory) -> RenderableType:
    """Return the projected times, what bounds, and how fast it is then."""
    right = (*REGIONS, "time", "performance")
    several = len(ridgeline.machines) > 1
    columns = (one.variable, *right[:-1], "roofline", "ridgeline", right[-1])
    table = plain_table(*columns, *(["slowest"] if several else []), right=right)
    placed = one.placed
    for label, *times, total, roofline, limiter, performance, slowest in zip(
        one.labels,
        *(np.atleast_1d(placed.times_s[region]) for region in REGIONS),
        *map(
            np.atleast_1d,
            (
                placed.time_s,
                placed.roofline_limiter,
                placed.limiter,
                placed.performance,
                placed.slowest,
            ),
        ),
        strict=True,
    ):
        names = [printable(ridgeline.machines[slowest].name)] if several else []
        table.add_row(
            Text(printable(label)),
            *(format_si(seconds, "s") for seconds in (*times, total)),
            str(roofline),
            str(limiter),
            format_si(performance, f"{ridgeline.unit}/s"),
            *map(Text, names),
        )
    return table


def _number(value: float) -> str:
    """Return an intensity to four digits; what is infinite or nothing over nothing is said so."""
    if math.isnan(value):
        return "0/0"
    return "inf" if math.isinf(value) else f"{float(f'{value:.4g}'):g}"
