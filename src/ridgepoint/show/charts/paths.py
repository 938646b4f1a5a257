"""Kernels of many sizes on the roofline plane, as a figure value: each a path from size to size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ridgepoint.core.counts import Traffic
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.core.units import format_si
from ridgepoint.models.derived import machine_along
from ridgepoint.models.roofline import Roofline
from ridgepoint.models.thresholds import ABOVE_ROOF
from ridgepoint.show.charts.path_roofs import WORK, Axis, roofs_along
from ridgepoint.show.charts.plane import Coordinates, Plane, RidgeMark, RoofLine
from ridgepoint.show.charts.roof_lines import machine_frame
from ridgepoint.show.charts.roofs import (
    decades,
    intensity_ticks,
    performance_ticks,
    ridge_marks,
    widened,
)
from ridgepoint.show.words import machine_title, percent, shown_cores
from ridgepoint.suites.kernels.results import Case, Result

Work = Literal["measured", "pseudo"]
"""Which work is drawn: what was counted, or the pseudo flop of an FFT, 5 n log2 n."""

_RATIOS = {"total": "W/Q", "read": "W/Qr, reads only", "write": "W/Qw, writes only"}
_UNITS = {"measured": "flop", "pseudo": "pseudo flop"}
# A kernel in cache moves next to nothing: framed, it would squeeze all others into a corner.
_MOST_WIDER = 10.0
_MOST_PLAIN = 9_999


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPoint:
    """A kernel of one size.

    Parameters
    ----------
    n : int
    intensity : float
        flop/byte; infinite where no byte moved.
    at : tuple of float
        Where it is drawn: intensity in flop/byte and median performance in flop/s.
    low, high : float
        Quartiles of the performance, flop/s.
    x_low, x_high : float or None
        Quartiles of the intensity, flop/byte; None: it was counted once.
    is_beyond : bool
        Its intensity is infinite, or far beyond the frame: it is drawn at the right edge.
    """

    n: int
    intensity: float
    at: Coordinates
    low: float
    high: float
    x_low: float | None = None
    x_high: float | None = None
    is_beyond: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """A kernel from its smallest size to its largest.

    Parameters
    ----------
    name : str
    summary : str
        Its sizes, its best performance and its best share of attainable, for the key.
    points : tuple of PathPoint
        At least one, in the order of n.
    best_share : float or None
        Of attainable performance; None: the roofs do not bound it, or are unknown.
    """

    name: str
    summary: str
    points: tuple[PathPoint, ...]
    best_share: float | None = None

    def shown_size(self, n: int) -> str:
        """Return one of its sizes in short; as a power of two where all of them are."""
        are_powers = all(point.n & (point.n - 1) == 0 for point in self.points)
        return _power_of_two(n) if are_powers else _short(n)

    def span(self, points: Sequence[PathPoint]) -> str:
        """Return the sizes of some of its points, as the first and the last."""
        first, last = (self.shown_size(points[end].n) for end in (0, -1))
        return first if first == last else f"{first}–{last}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PathsFigure(Plane):
    """Kernels of many sizes under the roofs of DRAM and of the peak.

    Parameters
    ----------
    roofs : tuple of RoofLine
        Those of the most cores used first, then lower ceilings, then those of fewer cores.
    ridges : tuple of RidgeMark
    paths : tuple of Path
    notes : tuple of str
        What a reader must know and the plane cannot show.
    cycle_label : str
        Of the axis at the right.
    cycle_ticks : tuple of (float, str)
        Positions on the axis of performance, flop/s, and their texts in flop/cycle; empty: that
        axis is not drawn.
    """

    roofs: tuple[RoofLine, ...]
    ridges: tuple[RidgeMark, ...]
    paths: tuple[Path, ...]
    notes: tuple[str, ...]
    cycle_label: str = "Performance [flop/cycle]"
    cycle_ticks: tuple[tuple[float, str], ...] = ()


def paths_figure(
    machine: Machine,
    results: Sequence[Result],
    *,
    title: str,
    axis: Axis = "total",
    work: Work = "measured",
    clock_hz: float | None = None,
    notes: Sequence[str] = (),
) -> PathsFigure:
    """Return the figure of some results of the reference suite.

    Parameters
    ----------
    machine : Machine
        Whose DRAM bandwidth and fp64 peak are drawn, for as many cores as the results have
        threads.
    results : sequence of Result
        Each workload, number of threads and state of the caches is a path.
    title : str
    axis : {"total", "read", "write"}
        What the intensity is over; the bandwidth drawn is that of the same bytes.
    work : {"measured", "pseudo"}
        ``pseudo`` takes 5 n log2 n for the work of an FFT: performance is then proportional to
        1/runtime, and codes that do different work can be compared, but the roofs no longer
        bound it exactly.
    clock_hz : float or None
        Core clock, for an axis in flop/cycle; None: without it.
    notes : sequence of str
        To stand before the figure's own.

    Returns
    -------
    PathsFigure
        Framed in whole decades by the machine, so that all figures of one axis are alike; points
        outside widen the frame. One far to the right of it is drawn at the right edge.
    """
    seen = machine_along(machine, WORK, None if axis == "total" else axis)
    groups, missing = _placed(results, axis, work)
    points = [point for group in groups.values() for point in group]
    x_limits, y_limits = _frame(seen, points)
    cores = sorted({float(min(case.threads, machine.cores)) for case in groups})
    roofs = roofs_along(
        seen, axis, cores=cores, corner=(x_limits[0], y_limits[0]), right=x_limits[1]
    )
    paths = tuple(
        _path(
            _name(case, groups),
            [_framed(point, x_limits) for point in group],
            is_pseudo=work == "pseudo",
            # What is not the work done is not bound by the roofs of work.
            roofs=_roofline(machine, case, axis) if work == "measured" else None,
        )
        for case, group in groups.items()
    )
    own_notes = [*([_key_note(paths, work)] if paths else []), *missing, *_beyond(paths, axis)]
    if any((path.best_share or 0) > ABOVE_ROOF for path in paths):
        own_notes.append("above 100 %: the simulated traffic, or the ceiling, is off")
    if not seen.knows("dram"):
        own_notes.append(f"no {_bandwidth(axis)} of this machine is known")
    elif cores and cores[-1] > 1 and not any(r.is_diagonal and r.role == "beside" for r in roofs):
        own_notes.append("fewer cores reach nearly the same bandwidth: it is drawn once")
    unit = _UNITS[work]
    return PathsFigure(
        title=title,
        subtitle=_subtitle(machine, results, cores),
        x_label=f"Operational intensity {_RATIOS[axis]} [{unit}/byte]",
        y_label=f"Performance [{unit}/s]",
        x_limits=x_limits,
        y_limits=y_limits,
        x_ticks=intensity_ticks(x_limits),
        y_ticks=performance_ticks(y_limits),
        roofs=roofs,
        ridges=ridge_marks(roofs),
        paths=paths,
        notes=(*notes, *own_notes),
        cycle_label=f"Performance [{unit}/cycle]",
        cycle_ticks=() if clock_hz is None else _cycle_ticks(y_limits, clock_hz),
    )


def _bandwidth(axis: Axis) -> str:
    return f"{'' if axis == 'total' else f'{axis} '}bandwidth"


def _placed(
    results: Iterable[Result], axis: Axis, work: Work
) -> tuple[dict[Case, list[PathPoint]], list[str]]:
    """Return the points of every path, under its smallest case, and why others are missing."""
    groups: dict[tuple[str, int, str], dict[Case, PathPoint]] = {}
    reasons: dict[str, list[str]] = {}
    for one in sorted(results, key=lambda result: result.case.n):
        point = _point(one, axis, work)
        if isinstance(point, str):
            reasons.setdefault(point, []).append(str(one.case))
        else:
            key = one.case.workload, one.case.threads, one.case.state
            groups.setdefault(key, {})[one.case] = point
    order = list(dict.fromkeys(_key(one.case) for one in results))
    ordered = [groups[key] for key in order if key in groups]
    return (
        {next(iter(group)): list(group.values()) for group in ordered},
        [f"no point for {'; '.join(names)}: {reason}" for reason, names in reasons.items()],
    )


def _key(case: Case) -> tuple[str, int, str]:
    return case.workload, case.threads, case.state


def _point(one: Result, axis: Axis, work: Work) -> PathPoint | str:
    """Return a result's point, not framed yet, or why it has none."""
    measurement = one.measurement
    if measurement is None:
        return one.failure or "it was not measured"
    flop = measurement.counted.counts.work_flop if work == "measured" else one.expected.pseudo_flop
    if not flop:
        return "it has no pseudo flop" if work == "pseudo" else "no floating-point work"
    if measurement.timed is None:
        return "its time is unknown"
    traffic = measurement.traffic_at("dram")
    moved = None if traffic is None else _bytes(traffic, axis)
    if moved is None:
        return "its DRAM traffic is unknown"
    performance = _performance(flop, measurement.timed.runtime_s)
    intensity = flop / moved if moved else math.inf
    return PathPoint(
        n=one.case.n,
        intensity=intensity,
        at=(intensity, performance.median),
        low=performance.q1,
        high=performance.q3,
    )


def _performance(flop: float, runtime_s: Estimate) -> Estimate:
    return runtime_s.map(lambda seconds: flop / seconds)


def _bytes(traffic: Traffic, axis: Axis) -> int | None:
    if axis == "total":
        return traffic.total_bytes
    return traffic.read_bytes if axis == "read" else traffic.write_bytes


def _frame(machine: Machine, points: Sequence[PathPoint]) -> tuple[Coordinates, Coordinates]:
    """Return the limits of both axes: the machine's, widened by what lies outside."""
    x_limits, y_limits = machine_frame(machine)
    most = x_limits[1] * _MOST_WIDER
    near = [point.intensity for point in points if point.intensity <= most]
    reached = [y for point in points for y in (point.low, point.high) if y > 0]
    return widened(x_limits, near), widened(y_limits, reached)


def _framed(point: PathPoint, x_limits: Coordinates) -> PathPoint:
    """Return a point where it is drawn: at the right edge if it lies beyond."""
    if point.intensity <= x_limits[1]:
        return point
    return replace(point, at=(x_limits[1], point.at[1]), is_beyond=True)


def _name(case: Case, cases: Iterable[Case]) -> str:
    """Return what a path is called: its workload, and what it does not share with the others."""
    parts = [case.workload]
    if len({other.threads for other in cases}) > 1:
        parts.append("1 thread" if case.threads == 1 else f"{case.threads} threads")
    if len({other.state for other in cases}) > 1:
        parts.append(case.state)
    return ", ".join(parts)


def _path(
    name: str, points: Sequence[PathPoint], *, is_pseudo: bool, roofs: Roofline | None
) -> Path:
    """Return a path with its sizes, its best performance, and how near it comes to its roof."""
    path = Path(name=name, summary="", points=tuple(points))
    best = format_si(max(point.at[1] for point in points), "flop/s", digits=3)
    if is_pseudo:
        number, unit = best.split()
        best = f"{number} pseudo {unit}"
    said = f"n = {path.span(points)}, {best}"
    if roofs is None:
        return replace(path, summary=said)
    share = max(point.at[1] / _attainable(roofs, point.intensity) for point in points)
    said = f"{said}, {percent(share)}".replace(" %", "\N{NO-BREAK SPACE}%")
    return replace(path, summary=said, best_share=share)


def _roofline(machine: Machine, case: Case, axis: Axis) -> Roofline | None:
    """Return the roofs that bound a case; None: they are not all known."""
    direction = None if axis == "total" else axis
    cores = float(min(case.threads, machine.cores))
    roofs = Roofline(machine=machine, work=WORK, cores=cores, direction=direction)
    return roofs if machine.knows(WORK) and "dram" in roofs.levels else None


def _attainable(roofs: Roofline, intensity: float) -> float:
    return roofs.peak if math.isinf(intensity) else float(roofs.attainable(intensity))


def _key_note(paths: Iterable[Path], work: Work) -> str:
    """Return what the error bars, the numbers beside points and those of the key are."""
    once = all(point.x_low is None for path in paths for point in path.points)
    of = "performance (intensity: counted once)" if once else "both axes"
    share = ", best share of attainable" if work == "measured" else ""
    return f"bars: quartiles of {of}; numbers: first and last n; key: best performance{share}"


def _beyond(paths: Iterable[Path], axis: Axis) -> list[str]:
    """Return which points stand at the right edge, and why."""
    moved = {"total": "traffic", "read": "reads", "write": "writes"}[axis]
    said: dict[str, list[str]] = {}
    for path in paths:
        out = [point for point in path.points if point.is_beyond]
        for amount, points in (
            ("no", [point for point in out if math.isinf(point.intensity)]),
            ("hardly any", [point for point in out if not math.isinf(point.intensity)]),
        ):
            if points:
                of = said.setdefault(f"at the right edge: {amount} DRAM {moved}", [])
                of.append(f"{path.name} n = {path.span(points)}")
    return [f"{why} ({'; '.join(of)})" for why, of in said.items()]


def _subtitle(machine: Machine, results: Iterable[Result], cores: Sequence[float]) -> str:
    """Return the machine, the cores of the outer roofs, and the samples behind the points."""
    runs = sorted(
        one.measurement.timed.runtime_s.n
        for one in results
        if one.measurement is not None and one.measurement.timed is not None
    )
    medians = []
    if runs:
        span = f"{runs[0]}" if runs[0] == runs[-1] else f"{runs[0]} to {runs[-1]}"
        medians.append(f"medians: n = {span}")
    return "; ".join([machine_title(machine), *map(shown_cores, cores[-1:]), *medians])


def _cycle_ticks(y_limits: Coordinates, clock_hz: float) -> tuple[tuple[float, str], ...]:
    """Return where whole powers of ten of flop/cycle lie."""
    low, high = (limit / clock_hz for limit in y_limits)
    return tuple(
        (value * clock_hz, f"{value:g}")
        for value in decades(widened((low, high), (low, high)))
        if low <= value <= high
    )


def _power_of_two(n: int) -> str:
    return "2" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(n.bit_length() - 1))


def _short(n: int) -> str:
    return str(n) if n <= _MOST_PLAIN else format_si(n, "", digits=3).replace(" ", "")
