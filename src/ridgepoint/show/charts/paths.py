"""Kernels of many sizes on the roofline plane: each is a path from size to size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ridgepoint.core.machine import Machine
from ridgepoint.core.units import format_si
from ridgepoint.models.roofs import ShownRoof, ridge_points
from ridgepoint.models.thresholds import ABOVE_ROOF
from ridgepoint.show import theme
from ridgepoint.show.axes import widened
from ridgepoint.show.chart import Chart, Entry, Interval, Label, Line, LineKind, Mark, Place
from ridgepoint.show.charts.roof_lines import (
    intensity_axis,
    machine_frame,
    performance_axis,
    ridge_marks,
    ridge_note,
    roof_lines,
)
from ridgepoint.show.cycles import cycle_axis
from ridgepoint.show.words import machine_title, percent, shown_cores
from ridgepoint.suites.kernels.paths import (
    Direction,
    Path,
    PathPoint,
    Work,
    machine_of_direction,
    measured_paths,
    roofs_along,
)
from ridgepoint.suites.kernels.results import Result

_RATIOS = {"total": "W/Q", "read": "W/Qr, reads only", "write": "W/Qw, writes only"}
_UNITS = {"measured": "flop", "pseudo": "pseudo flop"}
# A kernel in cache moves almost nothing: in the frame, it would push all others into a corner.
_MOST_WIDER = 10.0
_MOST_PLAIN = 9_999
_SIZE = 0.85
_RANK_OF_NAMES, _RANK_OF_SIZES = 20, 21


def paths_chart(
    machine: Machine,
    results: Sequence[Result],
    *,
    title: str,
    direction: Direction = "total",
    work: Work = "measured",
    clock_hz: float | None = None,
    notes: Sequence[str] = (),
) -> Chart:
    """Return the picture of some results of the reference suite.

    Parameters
    ----------
    machine : Machine
        Machine whose DRAM bandwidth and fp64 peak are drawn, for as many cores as the results
        have threads.
    results : sequence of Result
        One path for each workload, number of threads and state of the caches.
    title : str
    direction : {"total", "read", "write"}
        Direction of the bytes in the intensity; the bandwidth drawn is that of the same bytes.
    work : {"measured", "pseudo"}
        ``pseudo`` counts 5 n log2 n as the work of an FFT: performance is then proportional to
        1/runtime, and codes that do different work can be compared, but the roofs no longer
        bound it exactly.
    clock_hz : float or None
        Core clock, for an axis in flop/cycle; None: no such axis.
    notes : sequence of str
        Notes before the chart's own.

    Returns
    -------
    Chart
        Framed in whole decades by the machine, so that all charts of one direction are alike;
        points outside widen the frame. A point far to the right is drawn at the right edge.
    """
    seen = machine_of_direction(machine, direction)
    paths, missing = measured_paths(machine, results, direction=direction, work=work)
    x_limits, y_limits = _frame(seen, [point for path in paths for point in path.points])
    cores = sorted({path.cores for path in paths})
    roofs = roofs_along(seen, direction, cores=cores)
    unit, ridges, right_edge = _UNITS[work], ridge_points(roofs), x_limits[1]
    right = None if clock_hz is None else cycle_axis(y_limits, clock_hz=clock_hz, unit=unit)
    return Chart(
        title=title,
        subtitle=_subtitle(machine, results, cores),
        x=intensity_axis(x_limits, f"Operational intensity {_RATIOS[direction]} [{unit}/byte]"),
        y=performance_axis(y_limits, f"Performance [{unit}/s]"),
        right=right,
        lines=(
            *roof_lines(roofs, x_limits=x_limits, y_limits=y_limits),
            *(line for index, path in enumerate(paths) for line in _lines(path, index, right_edge)),
        ),
        marks=(
            *ridge_marks(ridges),
            *(
                mark
                for index, path in enumerate(paths)
                for mark in _marks(path, index, right_edge, unit)
            ),
        ),
        key=tuple(_entry(path, index, unit) for index, path in enumerate(paths)),
        notes=(
            *notes,
            *([_key_note(work)] if paths else []),
            *missing,
            *_beyond(paths, direction, right_edge),
            *_roof_notes(paths, roofs, direction),
            *([ridge_note(ridges)] if ridges else []),
        ),
    )


def _roof_notes(
    paths: Sequence[Path], roofs: Sequence[ShownRoof], direction: Direction
) -> Iterator[str]:
    """Yield notes on the roofs over the paths."""
    if any((path.best_share or 0) > ABOVE_ROOF for path in paths):
        yield "above 100 %: the simulated traffic, or the ceiling, is wrong"
    slopes = [roof for roof in roofs if not roof.is_peak]
    if not slopes:
        yield f"no {_bandwidth(direction)} of this machine is known"
    elif max((path.cores for path in paths), default=1.0) > 1 and not _has_slope_beside(roofs):
        yield "fewer cores reach nearly the same bandwidth, which is drawn once"


def _entry(path: Path, index: int, unit: str) -> Entry:
    """Return a path's row of the key."""
    text = f"{path.name}, {path_summary(path, unit)}"
    return Entry(text=text, ink=index, shape=theme.shape_of(index))


def shown_size(path: Path, n: int) -> str:
    """Return one of its sizes in short form; as a power of two if all of them are."""
    are_powers = all(point.n & (point.n - 1) == 0 for point in path.points)
    return _power_of_two(n) if are_powers else _short(n)


def _span(path: Path, points: Sequence[PathPoint]) -> str:
    """Return the range of sizes of some of its points, as the first and the last."""
    first, last = (shown_size(path, points[end].n) for end in (0, -1))
    return first if first == last else f"{first}–{last}"


def path_summary(path: Path, unit: str) -> str:
    """Return a path's sizes, best performance and best share of attainable, for the key."""
    best = _rate(max(point.performance.median for point in path.points), unit)
    share = "" if path.best_share is None else f", {percent(path.best_share)}"
    return f"n = {_span(path, path.points)}, {best}{share}".replace(" %", "\N{NO-BREAK SPACE}%")


def _lines(path: Path, index: int, right: float) -> list[Line]:
    """Return the lines that join a path's points, the last of them with its name.

    Only the direction of a line to infinity is true, so it is dotted.
    """
    name = Label(path.name, where="beside", rank=_RANK_OF_NAMES, is_bold=True, is_optional=True)
    first = path.points[0]
    pieces: list[tuple[LineKind, list[Place]]] = [("path", [first.at(right)])]
    for before, point in pairwise(path.points):
        kind: LineKind = "path" if before.is_beyond(right) == point.is_beyond(right) else "stem"
        if kind != pieces[-1][0]:
            pieces.append((kind, [before.at(right)]))
        pieces[-1][1].append(point.at(right))
    # A single point needs no line, but carries the name if it is all that there is.
    drawn = [piece for piece in pieces if len(piece[1]) > 1] or pieces
    lines = [
        Line(kind=kind, places=tuple(places), ink=index, name=path.name) for kind, places in drawn
    ]
    return [*lines[:-1], replace(lines[-1], label=name)]


def _marks(path: Path, index: int, right: float, unit: str) -> list[Mark]:
    """Return a path's points; the first and the last have their sizes beside them."""
    named = (path.points[0], path.points[-1])
    return [
        Mark(
            at=point.at(right),
            shape=theme.shape_of(index),
            ink=index,
            y_interval=(point.performance.q1, point.performance.q3),
            size=_SIZE,
            edge="right" if point.is_beyond(right) else None,
            label=Label(shown_size(path, point.n), rank=_RANK_OF_SIZES, is_optional=True)
            if point in named
            else None,
            name=path.name,
            summary=f"n = {point.n}: {_rate(point.performance.median, unit)} at "
            f"{point.intensity:.3g} {unit}/byte",
        )
        for point in path.points
    ]


def _rate(rate: float, unit: str) -> str:
    """Return a performance with its unit; a pseudo flop keeps its prefix after that word."""
    number, prefixed = format_si(rate, "flop/s", digits=3).split()
    return f"{number} pseudo {prefixed}" if unit.startswith("pseudo") else f"{number} {prefixed}"


def _has_slope_beside(roofs: Iterable[ShownRoof]) -> bool:
    return any(not roof.is_peak and roof.role == "beside" for roof in roofs)


def _bandwidth(direction: Direction) -> str:
    return f"{'' if direction == 'total' else f'{direction} '}bandwidth"


def _frame(machine: Machine, points: Sequence[PathPoint]) -> tuple[Interval, Interval]:
    """Return the limits of both axes: the machine's, widened by what lies outside."""
    x_limits, y_limits = machine_frame(machine)
    most = x_limits[1] * _MOST_WIDER
    near = [point.intensity for point in points if point.intensity <= most]
    quartiles = ((point.performance.q1, point.performance.q3) for point in points)
    reached = [rate for pair in quartiles for rate in pair if rate > 0]
    return widened(x_limits, near), widened(y_limits, reached)


def _key_note(work: Work) -> str:
    """Return the meaning of the error bars, and of the numbers at points and in the key."""
    share = ", best share of attainable" if work == "measured" else ""
    return (
        "bars: quartiles of performance (intensity: counted once); numbers: first and last n; "
        f"key: best performance{share}"
    )


def _beyond(paths: Iterable[Path], direction: Direction, right: float) -> list[str]:
    """Return the points that are drawn at the right edge, and why."""
    moved = {"total": "traffic", "read": "reads", "write": "writes"}[direction]
    spans: dict[str, list[str]] = {}
    for path in paths:
        out = [point for point in path.points if point.is_beyond(right)]
        for amount, points in (
            ("no", [point for point in out if math.isinf(point.intensity)]),
            ("hardly any", [point for point in out if not math.isinf(point.intensity)]),
        ):
            if points:
                of = spans.setdefault(f"at the right edge: {amount} DRAM {moved}", [])
                of.append(f"{path.name} n = {_span(path, points)}")
    return [f"{why} ({'; '.join(of)})" for why, of in spans.items()]


def _subtitle(machine: Machine, results: Iterable[Result], cores: Sequence[float]) -> str:
    """Return the machine, the cores of the outer roofs, and the samples behind the points."""
    runs = sorted(
        result.measurement.timed.runtime_s.n
        for result in results
        if result.measurement is not None and result.measurement.timed is not None
    )
    medians = []
    if runs:
        span = f"{runs[0]}" if runs[0] == runs[-1] else f"{runs[0]} to {runs[-1]}"
        medians.append(f"medians: n = {span}")
    return "; ".join([machine_title(machine), *map(shown_cores, cores[-1:]), *medians])


def _power_of_two(n: int) -> str:
    return "2" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(n.bit_length() - 1))


def _short(n: int) -> str:
    return str(n) if n <= _MOST_PLAIN else format_si(n, "", digits=3).replace(" ", "")
