"""The Ridgeline as tables: what each unit of work asks for, and what bounds it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.machine import Machine
from ridgepoint.core.presenting import first_of
from ridgepoint.demands.training import Step
from ridgepoint.models.ridgeline import PAPER, Ridgeline
from ridgepoint.models.ridgeline.placed import REGIONS, Region
from ridgepoint.models.ridgeline.plane import planes_of
from ridgepoint.models.ridgeline.sweep import Front
from ridgepoint.models.ridgeline.trajectories import Trajectory
from ridgepoint.models.thresholds import SAME
from ridgepoint.show.axes import si_text
from ridgepoint.show.tables.layout import plain_table, sections
from ridgepoint.show.words import percent, printable, shown_amount, shown_share, tolerance

_MOST_ROWS = 21
_MOST_NAMES = 3


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
    lines = (*machine_lines(ridgeline), *map(printable, notes))
    parts: list[RenderableType | None] = [Group(*map(Text, lines))]
    for trajectory in trajectories:
        parts += (
            Text(trajectory.name, style="bold") if trajectory.name else None,
            _asked(ridgeline, trajectory),
            _bounded(ridgeline, trajectory),
            _ties(ridgeline, trajectory),
            _parts(ridgeline, trajectory),
            Text(nearest_the_ridge(trajectory)),
        )
    return sections(*parts)


def front_table(
    front: Front, machines: Sequence[Machine], steps: Sequence[Step], summary: str
) -> RenderableType:
    """Return the Pareto front of a sweep; of a long one, some rows evenly over the nodes.

    Parameters
    ----------
    front : Front
    machines : sequence of Machine
    steps : sequence of TrainingStep or RecommendationStep
    summary : str
        What was tried, in a line.
    """
    kept = _some(front.nodes)
    right = ("nodes", "per sample", "step", "batch", "speed-up", "efficiency")
    table = plain_table(*right, "all-reduce", "limiter", "machine", right=right)
    for index in kept:
        table.add_row(
            str(front.nodes[index]),
            si_text(front.time_per_sample_s[index], "s"),
            si_text(front.step_s[index], "s"),
            str(front.batch[index]),
            f"{front.speed_up[index]:.4g}",
            percent(front.efficiency[index]),
            steps[front.step[index]].algorithm,
            ", ".join(map(_short, front.limiters[index])),
            Text(_as_fast(machines, front.machines[index])),
        )
    designs = f"{front.designs:,}".replace(",", " ")
    tried = f"{designs} designs, {len(front.nodes)} on the Pareto front"
    if len(kept) < len(front.nodes):
        tried += f", of which {len(kept)} are shown (all: --json)"
    return Group(
        Text(printable(summary)),
        Text(f"{tried}: the fastest design per sample with this number of nodes or fewer"),
        Text(
            f"speed-up and efficiency: over {front.nodes[0]} node{'s' * bool(front.nodes[0] > 1)}"
        ),
        Text(""),
        table,
    )


def _some(nodes: npt.NDArray[np.int64]) -> list[int]:
    """Return places in a rising row, both ends and others evenly in its logarithm."""
    if len(nodes) <= _MOST_ROWS:
        return list(range(len(nodes)))
    wanted = np.geomspace(nodes[0], nodes[-1], _MOST_ROWS)
    return [int(index) for index in np.unique(np.searchsorted(nodes, wanted * (1 - 1e-9)))]


def machine_lines(ridgeline: Ridgeline) -> Iterator[str]:
    """Yield each machine with its rates, and where the regions meet, a line each."""
    unit = ridgeline.unit
    for machine in ridgeline.machines:
        rates = ", ".join(
            f"{name} {si_text(float(machine.rate(resource, cores=ridgeline.cores)), per)}"
            for name, resource, per in (
                (ridgeline.work if unit != "BOP" else "peak", ridgeline.work, f"{unit}/s"),
                *((region, REGIONS[region], "B/s") for region in ridgeline.regions[1:]),
            )
        )
        yield f"{printable(machine.name)}: {rates}"
    ridge = ridgeline.ridge
    others = (
        f", {plane.name} {_number(plane.ridge(ridgeline)[0])} {unit}/byte"
        for plane in planes_of(ridgeline)
        if plane.link not in PAPER
    )
    yield (
        f"ridge point: I_A {_number(ridge.arithmetic_intensity)} {unit}/byte, "
        f"I_M {_number(ridge.memory_intensity)} byte/byte, "
        f"I_N {_number(ridge.network_intensity)} {unit}/byte{''.join(others)}"
    )


def nearest_the_ridge(one: Trajectory) -> str:
    """Return which unit of work uses two resources most evenly, and how evenly, in words."""
    nearest = one.nearest_ridge
    if nearest is None:
        return "nearest to the ridge: none, because each demands only one resource"
    ratio = nearest.ratio
    how = f"{percent(ratio - 1)} longer than" if ratio < 2 else f"{ratio:.3g} times as long as"
    return (
        f"nearest to a ridge: {one.variable} {printable(one.labels[nearest.index])}, "
        f"whose {nearest.longest} takes {how} its {nearest.second}"
    )


def _asked(ridgeline: Ridgeline, trajectory: Trajectory) -> RenderableType:
    """Return what each unit of work asks of a node, and its intensities."""
    others = [plane for plane in planes_of(ridgeline) if plane.link not in PAPER]
    numbers = (
        *("F", "B_M", "B_N"),
        *(plane.name.replace("I", "B") for plane in others),
        *("I_A", "I_M", "I_N"),
        *(plane.name for plane in others),
    )
    table = plain_table(trajectory.variable, *numbers, right=numbers)
    placed = trajectory.placed
    moved = [placed.bytes_of(region) for region in placed.regions[1:]]
    own = [placed.intensity(plane.link) for plane in others]
    of_paper = (placed.arithmetic_intensity, placed.memory_intensity, placed.network_intensity)
    for label, work, *amounts in zip(
        trajectory.labels,
        *map(np.atleast_1d, (placed.work, *moved, *of_paper, *own)),
        strict=True,
    ):
        table.add_row(
            Text(printable(label)),
            si_text(work, ridgeline.unit),
            *(si_text(each, "B") for each in amounts[: len(moved)]),
            *map(_number, amounts[len(moved) :]),
        )
    return table


def _bounded(ridgeline: Ridgeline, trajectory: Trajectory) -> RenderableType:
    """Return the projected times, what bounds, and how fast it is then."""
    of_runs = () if trajectory.runtimes_s is None else ("runtime", "efficiency")
    right = (*map(_short, ridgeline.regions), "time", "performance", *of_runs)
    several = len(ridgeline.machines) > 1
    times = right[: len(ridgeline.regions) + 1]
    columns = (trajectory.variable, *times, "roofline", "ridgeline", "performance", *of_runs)
    table = plain_table(*columns, *(["slowest"] if several else []), right=right)
    took = trajectory.runtimes_s or [None] * len(trajectory.labels)
    placed = trajectory.placed
    for label, *each, total, performance, roofline, limiters, slowest, runtime_s, share in zip(
        trajectory.labels,
        *(np.atleast_1d(placed.times_s[region]) for region in ridgeline.regions),
        np.atleast_1d(placed.time_s),
        np.atleast_1d(placed.performance),
        placed.roofline_limiters,
        placed.limiters,
        placed.slowest,
        took,
        trajectory.efficiencies,
        strict=True,
    ):
        reached = [shown_amount(runtime_s, "s"), shown_share(share)]
        table.add_row(
            Text(printable(label)),
            *(si_text(seconds, "s") for seconds in (*each, total)),
            ", ".join(roofline) or "-",
            ", ".join(map(_short, limiters)),
            si_text(performance, f"{ridgeline.unit}/s", digits=3),
            *(reached if of_runs else []),
            *([Text(_named(ridgeline.machines, slowest))] if several else []),
        )
    return table


def _as_fast(machines: Sequence[Machine], chosen: Sequence[int]) -> str:
    """Return the first of several machines that are as fast, and how many others there are."""
    first, others = printable(machines[chosen[0]].name), len(chosen) - 1
    return f"{first} and {others} as fast" if others else first


def _named(machines: Sequence[Machine], chosen: Sequence[int]) -> str:
    """Return the names of some machines; of many the first, and how many more."""
    return first_of([printable(machines[index].name) for index in chosen], _MOST_NAMES)


def _parts(ridgeline: Ridgeline, trajectory: Trajectory) -> RenderableType | None:
    """Return the parts of the last unit of work; None: it has none."""
    if not trajectory.parts:
        return None
    amounts = [_short(region) for region in ridgeline.regions[1:]]
    right = ("F", *(f"{name} bytes" for name in amounts), "time")
    table = plain_table("part", *right, "limiter", right=right)
    for name, placed in trajectory.parts.items():
        moved = [np.atleast_1d(placed.bytes_of(region))[-1] for region in ridgeline.regions[1:]]
        table.add_row(
            name,
            si_text(float(np.atleast_1d(placed.work)[-1]), ridgeline.unit),
            *(si_text(float(amount), "B") for amount in moved),
            si_text(float(np.atleast_1d(placed.time_s)[-1]), "s"),
            ", ".join(map(_short, placed.limiters[-1])),
        )
    last = trajectory.labels[-1]
    which = f"with a batch of {last}"
    if trajectory.variable == "nodes":
        which = f"on {last} node{'s' * (last != '1')}"
    return Group(Text(f"parts of the step {which}, each alone:"), table)


def _short(region: Region) -> str:
    """Return a region's name for a column."""
    return "remote" if region == "remote memory" else region


def _ties(ridgeline: Ridgeline, trajectory: Trajectory) -> Text | None:
    """Return what it means that one cell has several names; None: no cell has."""
    placed = trajectory.placed
    cells = [*placed.limiters, *placed.roofline_limiters]
    kinds = ["resources"] if any(len(names) > 1 for names in cells) else []
    if len(ridgeline.machines) > 1 and any(len(names) > 1 for names in placed.slowest):
        kinds.append("machines")
    if not kinds:
        return None
    return Text(
        f"{' and '.join(kinds)} named together need equally long, "
        f"to within {tolerance(SAME)}; the longest is first"
    )


def _number(value: float) -> str:
    """Return an intensity to four digits; what is infinite or nothing over nothing is said so."""
    if math.isnan(value):
        return "0/0"
    return "inf" if math.isinf(value) else f"{float(f'{value:.4g}'):g}"
