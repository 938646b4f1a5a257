"""Charts of cores and nodes, as on the slides of Kredel, Kruse and Richling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ridgepoint.core.bound import Overlap
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.rates import Network
from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.scaling.fits import Fit
from ridgepoint.models.scaling.speed_up_laws import amdahl, most_cores, serial_share
from ridgepoint.models.scaling.study import ScalingStudy
from ridgepoint.show.axes import (
    decimal_ticks,
    log_ticks,
    plain_number,
    power_ticks,
    with_prefix,
)
from ridgepoint.show.chart import Axis, Chart, Entry, Interval, Label, Line, LineKind, Mark
from ridgepoint.show.scaling_text import heading
from ridgepoint.show.words import shown_cores, shown_intensity

_POINTS = 201
_INTENSITIES = (1.0, 5.0, 20.0, 100.0)
"""x of the lines of efficiency."""
_MARGIN = 0.03
"""Of an axis: beyond its end, where a run may have a bar."""

_EFFICIENCIES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Of which there are lines over cores and intensity."""
_LEAST_CORES = 32
"""Up to which the slides' figures go at least."""
# Factor of the highest curve: room above it.
_ABOVE = 1.6
# Factor below the lowest limit or curve, so that it is not the axis and there is always a tick.
_BELOW = 0.6
_HEIGHT = 0.62
_SHARES: Interval = (0.0, 1.05)

_OVERLAPS: tuple[Overlap, Overlap] = ("none", "full")
_NETWORKS: dict[Network, str] = {"shared": "one shared link", "parallel": "a link for each node"}


def scaling_charts(study: ScalingStudy, *, law: bool = False) -> dict[str, Chart]:
    """Return every chart of a study, with a name for its file as key.

    Parameters
    ----------
    study : ScalingStudy
    law : bool
        Whether it is a law of speed-up, which only depends on the number of processors.
    """
    charts: dict[str, Chart] = {}
    if not law and study.scaling.intensity is not None:
        charts["performance_over_cores"] = performance_over_cores(study)
        charts["efficiency_over_cores"] = efficiency_over_cores(study)
        charts["efficiency_surface"] = efficiency_over_intensity(study)
    if study.nodes[-1] > 1:
        charts["speed_up_over_nodes"] = speed_up_over_nodes(study, law=law)
        charts["efficiency_over_nodes"] = efficiency_over_nodes(study, law=law)
    return charts


def scaling_chart(study: ScalingStudy, *, law: bool = False) -> Chart:
    """Return the most informative chart: over nodes, or over the cores of a single node."""
    if study.nodes[-1] > 1:
        return speed_up_over_nodes(study, law=law)
    return performance_over_cores(study)


def performance_over_cores(study: ScalingStudy) -> Chart:
    """Return the performance of one node, with and without overlap, below its limits."""
    scaling = study.scaling
    unit = RESOURCES[scaling.problem.work].unit
    most = scaling.machine.cores
    cores = np.geomspace(1, max(most, 2), _POINTS).clip(max=most)
    alone = replace(scaling, problem=scaling.problem.on_one_node)
    without, fully = (
        replace(alone, overlap=overlap).at(cores=cores, nodes=1) for overlap in _OVERLAPS
    )
    curves = [
        _line("curve", "no overlap", cores, without.performance, ink=0),
        _line("second", "full overlap", cores, fully.performance, ink=1),
    ]
    limits = [_line("limit", "all cores compute", cores, scaling.core_rate * cores)]
    marks: list[Mark] = []
    if scaling.intensity is not None and scaling.memory_limit is not None:
        x, memory = float(scaling.intensity), float(scaling.memory_limit)
        limits.append(_level("limit", f"memory, x = {shown_intensity(x)}", cores, memory))
        if 1 < x < most and scaling.cores_compute_alike:
            marks.append(_named_mark(f"q = x = {shown_intensity(x)}", (x, memory)))
    heights = [min(_heights(line)) for line in curves] + [max(_heights(line)) for line in curves]
    return Chart(
        title=f"Performance over the cores of a node: {scaling.problem.name}",
        subtitle=_subtitle(study, with_overlap=False),
        x=_counted("Cores q", cores, has_runs=bool(_measured(study, "cores"))),
        y=_logarithmic(f"Performance [{unit}/s]", heights, has_unit=True),
        lines=(*curves, *limits),
        marks=(*_measured(study, "cores"), *marks),
        key=_key(curves, study, "cores"),
        height=_HEIGHT,
    )


def efficiency_over_cores(study: ScalingStudy) -> Chart:
    """Return the parallel efficiency of one node's cores, a line for each intensity x."""
    most = max(study.scaling.machine.cores, _LEAST_CORES)
    cores = np.geomspace(1, most, _POINTS)
    own = float(study.scaling.intensity or 0.0)
    wanted = sorted({*_INTENSITIES, *((own,) if own > 0 else ())})
    return Chart(
        title="Efficiency over the cores of a node",
        subtitle="against one core, l(q) / (q l(1)); no overlap; "
        f"{study.scaling.problem.name}: x = {shown_intensity(own)}",
        x=_counted("Cores q", cores),
        y=_shares("Parallel efficiency"),
        lines=tuple(
            _line(
                "curve" if x == own else "level",
                f"x = {shown_intensity(x)}",
                cores,
                np.asarray(amdahl(cores, serial=serial_share(x))) / cores,
                ink=0 if x == own else None,
                is_labelled=True,
            )
            for x in wanted
        ),
        height=_HEIGHT,
    )


def efficiency_over_intensity(study: ScalingStudy) -> Chart:
    """Return lines of equal parallel efficiency over cores and intensity.

    Amdahl's law runs along the cores at one x, Gustafson's along a line of equal efficiency.
    """
    most = max(study.scaling.machine.cores, _LEAST_CORES)
    own = float(study.scaling.intensity or 0.0)
    x = np.geomspace(min(1.0, own or 1.0), max(100.0, 2 * own), _POINTS)
    problem = study.scaling.problem.name
    return Chart(
        title="Efficiency over cores and intensity",
        subtitle="against one core, no overlap; to the right: Amdahl's law, along a line: "
        "Gustafson's",
        x=_counted("Cores q", [1, most]),
        y=Axis(
            label="Intensity x, of the problem over the machine",
            limits=_ends(x),
            ticks=log_ticks(_ends(x), plain_number),
        ),
        lines=tuple(
            _line(
                "level",
                f"efficiency {share:g}" if share == _EFFICIENCIES[-1] else f"{share:g}",
                np.asarray(most_cores(x, efficiency=share)),
                x,
            )
            for share in _EFFICIENCIES
        ),
        marks=(_named_mark(problem, (float(study.best.cores), own)),) if own > 0 else (),
        height=_HEIGHT,
    )


def speed_up_over_nodes(study: ScalingStudy, *, law: bool = False) -> Chart:
    """Return the speed-up over nodes, with the optimum, the allocation and measured runs."""
    scaling, cores = study.scaling, _cores_drawn(study)
    most = study.nodes[-1]
    nodes = np.geomspace(1, most, _POINTS)
    scaled = scaling.at(cores=cores, nodes=nodes)
    name = "fitted law" if law else _NETWORKS[scaling.network]
    curve = _with_band(study, cores, _line("curve", name, nodes, scaled.speed_up, ink=0))
    lines = [curve]
    other: Network = "parallel" if scaling.network == "shared" else "shared"
    if not law and "network" in scaling.problem.demand(most).amounts:
        at_other = replace(scaling, network=other).at(cores=cores, nodes=nodes)
        lines.append(_line("level", _NETWORKS[other], nodes, at_other.speed_up))
    heights = [height for line in lines for height in _heights(line)]
    ideal = nodes * (1.0 if law else float(cores))
    lines.append(_line("limit", "ideal" if law else "all cores compute", nodes, ideal))
    over: Literal["nodes", "processors"] = "processors" if law else "nodes"
    return Chart(
        title=f"Speed-up over {over}: {scaling.problem.name}",
        subtitle="over one processor" if law else _subtitle(study),
        x=_over_nodes(nodes, cores, law=law, has_runs=bool(_measured(study, over))),
        y=_logarithmic("Speed-up" if law else "Speed-up S, over the rate of one core", heights),
        lines=tuple(lines),
        marks=(*_measured(study, over), *_node_marks(study, cores)),
        key=_key([curve], study, over),
        height=_HEIGHT,
    )


def efficiency_over_nodes(study: ScalingStudy, *, law: bool = False) -> Chart:
    """Return both efficiencies over nodes; for a law, the one that it defines."""
    scaling, cores = study.scaling, _cores_drawn(study)
    nodes = np.geomspace(1, study.nodes[-1], _POINTS)
    scaled = scaling.at(cores=cores, nodes=nodes)
    curves = [_line("curve", "against one core", nodes, scaled.parallel_efficiency, ink=0)]
    if not law:
        name = "against the peak of all cores"
        curves.append(_line("second", name, nodes, scaled.peak_efficiency, ink=1))
    kept = (
        [_level("limit", f"kept: {study.efficiency:g}", nodes, study.efficiency)]
        if study.efficiency is not None
        else []
    )
    return Chart(
        title=f"Efficiency over {'processors' if law else 'nodes'}: {scaling.problem.name}",
        subtitle="" if law else _subtitle(study),
        x=_over_nodes(nodes, cores, law=law),
        y=_shares("Efficiency"),
        lines=(*curves, *kept),
        key=_key(curves, study),
        height=_HEIGHT,
    )


def _subtitle(study: ScalingStudy, *, with_overlap: bool = True) -> str:
    """Return a description of the study; an equation stays on one line."""
    lines = heading(study, with_overlap=with_overlap)[1:]
    return "; ".join(lines).replace(" = ", "\u00a0=\u00a0")


def _line(
    kind: LineKind,
    name: str,
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    ink: int | None = None,
    is_labelled: bool = False,
) -> Line:
    """Return a line; limits and levels are labelled, curves are in the key."""
    is_labelled = is_labelled or kind in ("limit", "level")
    return Line(
        kind=kind,
        places=tuple(zip(_floats(x), _floats(y), strict=True)),
        ink=ink,
        label=Label(text=name) if is_labelled else None,
        name=name,
    )


def _level(kind: LineKind, name: str, x: npt.ArrayLike, height: float) -> Line:
    """Return a horizontal line from end to end."""
    return _line(kind, name, _ends(_floats(x)), (height, height))


def _heights(line: Line) -> list[float]:
    return [y for _, y in line.places]


def _key(
    curves: Sequence[Line],
    study: ScalingStudy,
    over: Literal["cores", "nodes", "processors"] | None = None,
) -> tuple[Entry, ...]:
    """Return the key of the curves and of the measured runs."""
    entries = [
        Entry(
            text=f"{curve.name}, 95 % interval of the fit" if curve.low else curve.name,
            ink=curve.ink,
            line=curve.kind,
            has_band=bool(curve.low),
            is_abreast=True,
        )
        for curve in curves
    ]
    if over is not None and study.fit is not None and _measured(study, over):
        bars = "95 % interval" if _has_intervals(study.fit) else "quartiles"
        entries.append(
            Entry(text=f"measured: median, {bars}", shape="circle", face="hollow", is_abreast=True)
        )
    return tuple(entries)


def _with_band(study: ScalingStudy, cores: int, curve: Line) -> Line:
    """Return the curve of the model, with the interval of its fit if there is one."""
    if study.fit is None:
        return curve
    nodes = np.array([x for x, _ in curve.places])
    predicted = study.fit.solution.predict(cores, nodes, study.size or 1.0)
    least = np.maximum(predicted.low_s, 1e-300)
    speed_up = study.scaling.speed_up_in
    return replace(curve, low=_floats(speed_up(predicted.high_s)), high=_floats(speed_up(least)))


def _cores_drawn(study: ScalingStudy) -> int:
    """Return the cores per node for charts over nodes: those of most runs, or of the best."""
    if study.fit is None or study.scaling.machine.cores == 1:
        return study.best.cores
    counts = [run.cores for run in study.fit.solution.runs]
    return max(set(counts), key=lambda cores: (counts.count(cores), cores))


def _node_marks(study: ScalingStudy, cores: int) -> tuple[Mark, ...]:
    """Return the optimum, and the largest allocation that keeps the efficiency."""
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
        _named_mark(f"{', '.join(labels)}: {nodes:,}", (nodes, heights[nodes]))
        for nodes, labels in named.items()
    )


def _named_mark(name: str, at: tuple[float, float]) -> Mark:
    return Mark(at=at, shape="diamond", label=Label(text=name, is_bold=True, rank=-1), name=name)


def _measured(
    study: ScalingStudy, over: Literal["cores", "nodes", "processors"]
) -> tuple[Mark, ...]:
    """Return the runs that belong in a chart: those on one node, or with the cores drawn."""
    if study.fit is None:
        return ()
    cores, scaling, intervals = _cores_drawn(study), study.scaling, _has_intervals(study.fit)
    reached_in = scaling.performance_in if over == "cores" else scaling.speed_up_in
    marks = []
    for run in study.fit.solution.runs:
        wanted = over == "processors" or (run.nodes == 1 if over == "cores" else run.cores == cores)
        if not wanted or (run.size is not None and run.size != study.size):
            continue
        reached = run.time_s.map(lambda seconds: float(reached_in(seconds)))
        x = {"cores": run.cores, "nodes": run.nodes, "processors": run.processors}[over]
        marks.append(
            Mark(
                at=(x, reached.median),
                face="hollow",
                y_interval=_interval_of(reached) if intervals else (reached.q1, reached.q3),
                name=f"measured on {x:,} {over if x != 1 else over[:-1]}",
            )
        )
    return tuple(marks)


def _has_intervals(fit: Fit) -> bool:
    """Return whether every run was repeated often enough for a 95 % interval."""
    return all(run.time_s.low is not None for run in fit.solution.runs)


def _interval_of(estimate: Estimate) -> tuple[float, float]:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


def _counted(label: str, x: npt.ArrayLike, *, has_runs: bool = False) -> Axis:
    """Return the axis of cores or nodes, with room for the bars of runs at its ends."""
    low, high = _ends(x)
    margin = (high / low) ** _MARGIN if has_runs else 1.0
    limits = low / margin, high * margin
    return Axis(label=label, limits=limits, ticks=power_ticks(limits, lambda n: f"{n:,.0f}"))


def _over_nodes(nodes: npt.ArrayLike, cores: int, *, law: bool, has_runs: bool = False) -> Axis:
    label = "Processors" if law else f"Nodes p, each with {shown_cores(cores)}"
    return _counted(label, nodes, has_runs=has_runs)


def _logarithmic(label: str, heights: Sequence[float], *, has_unit: bool = False) -> Axis:
    limits = (min(heights) * _BELOW, max(heights) * _ABOVE)
    shown = with_prefix if has_unit else plain_number
    return Axis(label=label, limits=limits, ticks=log_ticks(limits, shown))


def _shares(label: str) -> Axis:
    return Axis(label=label, limits=_SHARES, ticks=decimal_ticks((0.0, 1.0)), scale="linear")


def _ends(values: npt.ArrayLike) -> Interval:
    low, high = float(np.min(values)), float(np.max(values))
    return (low, high) if high > low else (low / 2, high * 2)


def _floats(values: npt.ArrayLike) -> tuple[float, ...]:
    return tuple(np.asarray(values, dtype=np.float64).tolist())
