"""Figures of cores and nodes, as on the slides of Kredel, Kruse and Richling, as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ridgepoint.core.rates import Network
from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.scaling import Scaling
from ridgepoint.models.scaling.speed_up_laws import amdahl, serial_share
from ridgepoint.models.scaling.study import ScalingStudy
from ridgepoint.show.charts.scaling_plane import (
    Curve,
    CurvesFigure,
    Figure,
    Mark,
    MeasuredPoint,
    SurfaceFigure,
)
from ridgepoint.show.scaling_text import heading
from ridgepoint.show.words import shown_cores, shown_intensity

_POINTS = 201
_GRID = 61
_INTENSITIES = (1.0, 5.0, 20.0, 100.0)
"""x of the lines of efficiency."""
_LEVELS = (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_LEAST_CORES = 32
"""Up to which the slides' figures go at least."""
# Of the highest curve: room above it.
_ABOVE = 1.6
# Below the lowest limit or curve, so that it is not the axis.
_BELOW = 0.7

_NETWORKS: dict[Network, str] = {"shared": "one shared link", "parallel": "a link for each node"}


def study_figures(study: ScalingStudy, *, law: bool = False) -> dict[str, Figure]:
    """Return every figure of a study, by a name for its file.

    Parameters
    ----------
    study : ScalingStudy
    law : bool
        Whether it is a law of speed-up, which knows processors alone.
    """
    figures: dict[str, Figure] = {}
    if not law and study.scaling.intensity is not None:
        figures["performance_over_cores"] = performance_over_cores(study)
        figures["efficiency_over_cores"] = efficiency_over_cores(study)
        figures["efficiency_surface"] = efficiency_surface(study)
    if study.nodes[-1] > 1:
        figures["speed_up_over_nodes"] = speed_up_over_nodes(study, law=law)
        figures["efficiency_over_nodes"] = efficiency_over_nodes(study, law=law)
    return figures


def main_figure(study: ScalingStudy, *, law: bool = False) -> Figure:
    """Return the figure that says most: over nodes, or over the cores of a single node."""
    if study.nodes[-1] > 1:
        return speed_up_over_nodes(study, law=law)
    return performance_over_cores(study)


def performance_over_cores(study: ScalingStudy) -> CurvesFigure:
    """Return the performance of one node, with and without overlap, below its limits."""
    scaling = study.scaling
    unit = RESOURCES[scaling.problem.work].unit
    most = scaling.machine.cores
    cores = np.geomspace(1, max(most, 2), _POINTS).clip(max=most)
    curves = [
        Curve(label=label, role="curve", x=_tuple(cores), y=_tuple(found.performance))
        for overlap, label in (("none", "no overlap"), ("full", "full overlap"))
        for found in [
            Scaling(
                problem=scaling.problem.on_one_node,
                machine=scaling.machine,
                overlap=overlap,  # type: ignore[arg-type]
            ).at(cores=cores, nodes=1)
        ]
    ]
    peak = scaling.core_rate * cores
    limits = [Curve(label="all cores compute", role="limit", x=_tuple(cores), y=_tuple(peak))]
    marks: list[Mark] = []
    if scaling.intensity is not None and scaling.memory_limit is not None:
        x, memory = float(scaling.intensity), float(scaling.memory_limit)
        limits.append(
            Curve(
                label=f"memory, x = {shown_intensity(x)}",
                role="limit",
                x=(1.0, float(cores[-1])),
                y=(memory, memory),
            )
        )
        if 1 < x < most and scaling.cores_compute_alike:
            marks.append(Mark(label=f"q = x = {shown_intensity(x)}", x=x, y=memory))
    heights = [min(curve.y) for curve in curves] + [max(curve.y) for curve in curves]
    return CurvesFigure(
        title=f"Performance over the cores of a node: {scaling.problem.name}",
        subtitle="; ".join(heading(study, with_overlap=False)[1:]),
        x_label="Cores q",
        y_label=f"Performance [{unit}/s]",
        y_unit=f"{unit}/s",
        y_scale="log",
        y_limits=(min(heights) * _BELOW, max(heights) * _ABOVE),
        curves=(*curves, *limits),
        marks=tuple(marks),
        measured=_measured(study, "cores"),
    )


def efficiency_over_cores(study: ScalingStudy) -> CurvesFigure:
    """Return the parallel efficiency of one node's cores, a line for each intensity x."""
    most = max(study.scaling.machine.cores, _LEAST_CORES)
    cores = np.geomspace(1, most, _POINTS)
    own = float(study.scaling.intensity or 0.0)
    wanted = sorted({*_INTENSITIES, *((own,) if own > 0 else ())})
    return CurvesFigure(
        title="Efficiency over the cores of a node",
        subtitle="against one core, l(q) / (q l(1)); no overlap; "
        f"{study.scaling.problem.name}: x = {shown_intensity(own)}",
        x_label="Cores q",
        y_label="Parallel efficiency",
        y_unit="",
        y_scale="share",
        y_limits=(0.0, 1.05),
        curves=tuple(
            Curve(
                label=f"x = {shown_intensity(x)}",
                role="curve" if x == own else "level",
                x=_tuple(cores),
                y=_tuple(_efficiency(np.asarray(x), cores)),
            )
            for x in wanted
        ),
    )


def efficiency_surface(study: ScalingStudy) -> SurfaceFigure:
    """Return the parallel efficiency over cores and intensity.

    Amdahl's law is along the cores at one x, Gustafson's along a line of one efficiency.
    """
    most = max(study.scaling.machine.cores, _LEAST_CORES)
    own = float(study.scaling.intensity or 0.0)
    cores = np.geomspace(1, most, _GRID)
    x = np.geomspace(min(1.0, own or 1.0), max(100.0, own), _GRID)
    found = _efficiency(x[:, None], cores[None, :])
    marks = [
        Mark(label=study.scaling.problem.name, x=float(study.best.cores), y=own)
    ] if own > 0 else []  # fmt: skip
    return SurfaceFigure(
        title="Efficiency over cores and intensity",
        subtitle="against one core, no overlap; to the right: Amdahl's law, along a line: "
        "Gustafson's",
        x_label="Cores q",
        y_label="Intensity x, of the problem over the machine",
        z_label="Parallel efficiency",
        x=_tuple(cores),
        y=_tuple(x),
        z=tuple(_tuple(row) for row in found),
        levels=_LEVELS,
        marks=tuple(marks),
    )


def speed_up_over_nodes(study: ScalingStudy, *, law: bool = False) -> CurvesFigure:
    """Return the speed-up over nodes, with the optimum, the allocation and measured runs."""
    scaling, cores = study.scaling, _cores_drawn(study)
    most = study.nodes[-1]
    nodes = np.geomspace(1, most, _POINTS)
    found = scaling.at(cores=cores, nodes=nodes)
    curves = [_with_band(study, cores, nodes, _tuple(found.speed_up), _name_of(scaling, law))]
    other: Network = "parallel" if scaling.network == "shared" else "shared"
    if not law and "network" in scaling.problem.demand(most).amounts:
        at_other = replace(scaling, network=other).at(cores=cores, nodes=nodes)
        curves.append(
            Curve(
                label=_NETWORKS[other], role="level", x=_tuple(nodes), y=_tuple(at_other.speed_up)
            )
        )
    ideal = nodes * (1.0 if law else float(cores))
    curves.append(
        Curve(
            label="ideal" if law else "all cores compute",
            role="limit",
            x=_tuple(nodes),
            y=_tuple(ideal),
        )
    )
    heights = [y for curve in curves[:-1] for y in curve.y]
    return CurvesFigure(
        title=f"Speed-up over {'processors' if law else 'nodes'}: {scaling.problem.name}",
        subtitle="over one processor" if law else "; ".join(heading(study)[1:]),
        x_label="Processors" if law else f"Nodes p, each with {shown_cores(cores)}",
        y_label="Speed-up" if law else "Speed-up S, over the rate of one core",
        y_unit="",
        y_scale="log",
        y_limits=(min(heights) * _BELOW, max(heights) * _ABOVE),
        curves=tuple(curves),
        marks=_node_marks(study, cores),
        measured=_measured(study, "processors" if law else "nodes"),
    )


def efficiency_over_nodes(study: ScalingStudy, *, law: bool = False) -> CurvesFigure:
    """Return both efficiencies over nodes; of a law the one that it knows."""
    scaling, cores = study.scaling, _cores_drawn(study)
    nodes = np.geomspace(1, study.nodes[-1], _POINTS)
    found = scaling.at(cores=cores, nodes=nodes)
    wanted = [("against one core", found.parallel_efficiency)]
    if not law:
        wanted.append(("against the peak of all cores", found.peak_efficiency))
    curves = [
        Curve(label=label, role="curve", x=_tuple(nodes), y=_tuple(share))
        for label, share in wanted
    ]
    if study.efficiency is not None:
        curves.append(
            Curve(
                label=f"kept: {study.efficiency:g}",
                role="limit",
                x=(1.0, float(nodes[-1])),
                y=(study.efficiency, study.efficiency),
            )
        )
    return CurvesFigure(
        title=f"Efficiency over {'processors' if law else 'nodes'}: {scaling.problem.name}",
        subtitle="" if law else "; ".join(heading(study)[1:]),
        x_label="Processors" if law else f"Nodes p, each with {shown_cores(cores)}",
        y_label="Efficiency",
        y_unit="",
        y_scale="share",
        y_limits=(0.0, 1.05),
        curves=tuple(curves),
    )


def _name_of(scaling: Scaling, law: bool) -> str:
    return "fitted law" if law else _NETWORKS[scaling.network]


def _with_band(
    study: ScalingStudy,
    cores: int,
    nodes: npt.NDArray[np.float64],
    y: tuple[float, ...],
    label: str,
) -> Curve:
    """Return the curve of the model, with the interval of its fit if there is one."""
    curve = Curve(label=label, role="curve", x=_tuple(nodes), y=y)
    if study.fit is None:
        return curve
    predicted = study.fit.solution.predict(cores, nodes, study.size or 1.0)
    least = np.maximum(predicted.low_s, 1e-300)
    speed_up = study.scaling.speed_up_in
    return replace(curve, low=_tuple(speed_up(predicted.high_s)), high=_tuple(speed_up(least)))


def _cores_drawn(study: ScalingStudy) -> int:
    """Return the cores of a node for which nodes are drawn: most runs', or the best's."""
    if study.fit is None or study.scaling.machine.cores == 1:
        return study.best.cores
    counts = [run.cores for run in study.fit.solution.runs]
    return max(set(counts), key=lambda one: (counts.count(one), one))


def _node_marks(study: ScalingStudy, cores: int) -> tuple[Mark, ...]:
    named: dict[int, list[str]] = {}
    heights: dict[int, float] = {}
    best = study.optimum.best if study.optimum is not None else None
    if best is not None and best.cores == cores and 1 < best.nodes <= study.nodes[-1]:
        named[best.nodes], heights[best.nodes] = ["optimum"], best.speed_up
    largest = study.largest
    if largest is not None and largest.cores == cores:
        named.setdefault(largest.nodes, []).append(f"efficiency {study.efficiency:g}")
        heights[largest.nodes] = largest.speed_up
    return tuple(
        Mark(label=f"{', '.join(labels)}: {nodes:,}", x=nodes, y=heights[nodes])
        for nodes, labels in named.items()
    )


def _measured(
    study: ScalingStudy, over: Literal["cores", "nodes", "processors"]
) -> tuple[MeasuredPoint, ...]:
    """Return the runs that belong into a figure: those of one node, or of the cores drawn."""
    if study.fit is None:
        return ()
    cores = _cores_drawn(study)
    scaling = study.scaling
    reached_in = scaling.performance_in if over == "cores" else scaling.speed_up_in
    points = []
    for run in study.fit.solution.runs:
        wanted = over == "processors" or (run.nodes == 1 if over == "cores" else run.cores == cores)
        if not wanted or (run.size is not None and run.size != study.size):
            continue
        reached = run.time_s.map(lambda seconds: float(reached_in(seconds)))
        x = {"cores": run.cores, "nodes": run.nodes, "processors": run.processors}[over]
        points.append(MeasuredPoint(x=x, y=reached.median, low=reached.q1, high=reached.q3))
    return tuple(points)


def _efficiency(
    x: npt.NDArray[np.float64], cores: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return the parallel efficiency of ideal cores that share a memory: Amdahl's law."""
    return np.asarray(amdahl(cores, serial=serial_share(x)) / cores)


def _tuple(values: npt.ArrayLike | Sequence[float]) -> tuple[float, ...]:
    return tuple(np.asarray(values, dtype=np.float64).tolist())
