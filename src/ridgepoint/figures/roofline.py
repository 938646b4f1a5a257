"""The roofline of measured programs on a machine, as a figure value: computed, not drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from ridgepoint.figures.plane import Attainable, Coordinates, Point, Program, RooflineFigure
from ridgepoint.figures.roofs import (
    decades,
    drawn_roofs,
    known_levels,
    known_precisions,
    machine_frame,
    ridge_marks,
    widened,
)
from ridgepoint.figures.words import (
    machine_title,
    measured_name,
    partial_note,
    percent,
    printable,
    shown_cores,
    shown_intensity,
    shown_limit,
    shown_name,
)
from ridgepoint.figures.work import hardly_any, hardly_any_text, used_precisions
from ridgepoint.machine import Machine
from ridgepoint.measurement import Measurement
from ridgepoint.models.bound import Bound
from ridgepoint.models.placement import Placement, place
from ridgepoint.resources import RESOURCES
from ridgepoint.units import format_si

# More than two sets of roofs beside the outer ones cannot be told apart.
_MOST_BESIDE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A program to be drawn.

    Parameters
    ----------
    name : str
    measurement : Measurement
    placement : Placement
        On the machine of the figure.
    """

    name: str
    measurement: Measurement
    placement: Placement


def subject(
    measurement: Measurement,
    machine: Machine,
    *,
    name: str | None = None,
    cores: float | None = None,
) -> Subject:
    """Return a measured program, placed on a machine and named by its command.

    Parameters
    ----------
    measurement : Measurement
    machine : Machine
    name : str or None
        None: the command, without the program's folder, and what was counted alone.
    cores : float or None
        As for `ridgepoint.models.placement.place`.
    """
    return Subject(
        name=measured_name(measurement) if name is None else printable(name),
        measurement=measurement,
        placement=place(measurement, machine, cores=cores),
    )


def roofline_figure(machine: Machine, subjects: Sequence[Subject] = ()) -> RooflineFigure:
    """Return the roofline of a machine with the programs measured.

    Parameters
    ----------
    machine : Machine
    subjects : sequence of Subject
        None: the machine alone, all cores, with the roofs of one core beside them.

    Returns
    -------
    RooflineFigure
        Axes are framed by the machine in whole decades, so that every run on it lands on the
        same plane; what lies outside widens them. Roofs are those of the cores that the
        programs kept busy and, beside them, those of the whole machine. Peaks are of the
        precisions that the programs use; fp64 if they use none.
    """
    notes: list[str] = []
    precisions = _precisions(machine, subjects, notes)
    plain = [_points(one) for one in subjects]
    every = [point for points in plain for point in points]
    shown = [one for one, points in zip(subjects, plain, strict=True) if points]
    marks = [_attainable(one, points) for one, points in zip(subjects, plain, strict=True)]
    cores, beside = _core_counts(machine, shown or subjects, notes)
    x_limits, y_limits = machine_frame(machine)
    peaks = [float(machine.rate(name)) for name in precisions]
    seen = [p.at[0] for p in every if not p.is_infinite]
    x_limits = widened(x_limits, [*seen, *(mark.at[0] for mark in marks if mark)])
    reached = [y for p in every for y in (p.low, p.high) if y > 0]
    y_limits = widened(y_limits, [*peaks, *reached, *(mark.at[1] for mark in marks if mark)])
    roofs = drawn_roofs(
        machine,
        precisions=precisions,
        cores=cores,
        beside=beside,
        corner=(x_limits[0], y_limits[0]),
        right=x_limits[1],
    )
    differ = len({one.placement.cores for one in shown}) > 1
    programs = tuple(
        Program(
            letter=_letter(index),
            name=one.name,
            summary=_summary(one, say_cores=differ),
            points=tuple(_framed(point, x_limits) for point in points),
            attainable=mark,
        )
        for index, (one, points, mark) in enumerate(zip(subjects, plain, marks, strict=True))
    )
    whose: dict[str, list[str]] = {}
    for program, one in zip(programs, subjects, strict=True):
        part = partial_note(one.measurement)
        for text in (*([part] if part else []), *_absences(one)):
            whose.setdefault(text, []).append(program.letter)
    # A note that holds for every program needs no letters.
    notes += [
        text if len(letters) == len(programs) else f"{', '.join(letters)}: {text}"
        for text, letters in whose.items()
    ]
    if not known_levels(machine):
        notes.append("no bandwidth of this machine is known")
    return RooflineFigure(
        title=machine_title(machine),
        subtitle=_subtitle(machine, subjects, cores),
        x_label="Operational intensity [flop/byte]",
        y_label="Performance [flop/s]",
        x_limits=x_limits,
        y_limits=y_limits,
        x_ticks=tuple((value, f"{value:g}".replace("e-0", "e-")) for value in decades(x_limits)),
        y_ticks=tuple((value, format_si(value, "").rstrip()) for value in decades(y_limits)),
        roofs=roofs,
        ridges=ridge_marks(roofs),
        programs=programs,
        notes=tuple(notes),
    )


def _precisions(machine: Machine, subjects: Sequence[Subject], notes: list[str]) -> list[str]:
    """Return the precisions whose peaks are drawn: those used, the most used first."""
    share: dict[str, float] = {}
    for one in subjects:
        counts = one.measurement.counted.counts
        if not hardly_any(counts):
            for name, part in used_precisions(counts.work).items():
                share[name] = max(share.get(name, 0.0), part)
    used = sorted(share, key=lambda name: -share[name])
    known = [name for name in used if machine.knows(name)]
    unknown = [name for name in used if name not in known]
    if unknown:
        notes.append(f"this machine has no {' or '.join(unknown)} peak: that roof is missing")
    if used:
        return known
    return known_precisions(machine)[:1]


def _core_counts(
    machine: Machine, subjects: Sequence[Subject], notes: list[str]
) -> tuple[float, list[float]]:
    """Return the cores of the outer roofs, and those of the roofs beside them."""
    if not subjects:
        return float(machine.cores), [1.0] if machine.cores > 1 else []
    busy = sorted({one.placement.cores for one in subjects})
    rest = sorted({*busy, float(machine.cores)} - {busy[-1]})
    beside = [*rest[:1], *rest[-1:]] if len(rest) > _MOST_BESIDE else rest
    missing = [count for count in rest if count not in beside]
    if missing:
        counts = ", ".join(f"{count:.3g}" for count in missing)
        notes.append(f"the roofs of {counts} cores are not drawn")
    return busy[-1], beside


def _points(one: Subject) -> list[Point]:
    """Return a program's points, from the core outwards; at infinity where nothing moved."""
    performance = one.placement.performance_flop_per_s
    if performance is None or hardly_any(one.measurement.counted.counts):
        return []
    work = one.measurement.counted.counts.work_flop
    return [
        Point(
            level=part.level,
            at=(work / moved if moved else float("inf"), performance.median),
            low=performance.q1,
            high=performance.q3,
            is_infinite=not moved,
        )
        for part in one.measurement.counted.traffic
        if (moved := part.total_bytes) is not None
    ]


def _attainable(one: Subject, points: Sequence[Point]) -> Attainable | None:
    """Return what bounds a program, at its intensity at DRAM; None: one of them is unknown."""
    placement = one.placement
    height, limit = placement.attainable_flop_per_s, placement.bound
    intensity = placement.intensity_flop_per_byte
    if height is None or limit is None or not intensity:
        return None
    if hardly_any(one.measurement.counted.counts):
        return None
    return Attainable(at=(intensity, height), limit=_limit(placement, limit), is_alone=not points)


def _limit(placement: Placement, limit: Bound) -> str:
    return shown_limit(str(limit.binding), used_precisions(placement.demand.amounts))


def _framed(point: Point, x_limits: Coordinates) -> Point:
    """Return a point where it is drawn: at the right edge if it lies at infinity."""
    if not point.is_infinite:
        return point
    return Point(
        level=point.level,
        at=(x_limits[1], point.at[1]),
        low=point.low,
        high=point.high,
        is_infinite=True,
    )


def _absences(one: Subject) -> list[str]:
    """Return why points of a program are missing, or are not where they seem."""
    counts = one.measurement.counted.counts
    if hardly_any(counts):
        return [f"{hardly_any_text(counts)}: the flop roofline says nothing of it"]
    if one.placement.performance_flop_per_s is None:
        if _attainable(one, ()) is None:
            return ["counted but not timed: its performance is unknown, so no point"]
        return ["time unknown: marked is the most that its limit allows, at its intensity at DRAM"]
    said = []
    for part in one.measurement.counted.traffic:
        level = shown_name(part.level)
        if part.total_bytes is None:
            said.append(f"{level} writes are unknown, so no point at {level}")
        elif part.total_bytes == 0:
            said.append(f"no {level} traffic: at infinite intensity, drawn at the right edge")
    if not any(part.level == "dram" for part in one.measurement.counted.traffic):
        said.append("DRAM traffic is unknown, so no point at DRAM")
    shares = used_precisions(counts.work)
    mixed = [f"{percent(share)} {name}" for name, share in shares.items()]
    if len(mixed) > 1:
        said.append(f"{' and '.join(mixed)}: its peak lies between theirs")
    return said


def _summary(one: Subject, *, say_cores: bool) -> str:
    """Return what is known of a program's place in one line."""
    placement, parts = one.placement, []
    if not hardly_any(one.measurement.counted.counts):
        if placement.performance_flop_per_s is not None:
            parts.append(format_si(placement.performance_flop_per_s.median, "flop/s", digits=3))
        else:
            parts.append("time unknown")
        if placement.intensity_flop_per_byte:
            parts.append(f"{shown_intensity(placement.intensity_flop_per_byte)} flop/byte")
    mark = _attainable(one, ())
    if placement.efficiency is None and mark is not None:
        parts.append(f"at most {format_si(mark.at[1], 'flop/s', digits=3)} ({mark.limit})")
    if placement.efficiency is not None and placement.bound is not None:
        roof = "roof" if str(placement.bound.binding) in RESOURCES else ""
        limit = _limit(placement, placement.bound)
        parts.append(f"{percent(placement.efficiency)} of {limit} {roof}".rstrip())
    if say_cores:
        parts.append(shown_cores(placement.cores))
    return ", ".join(parts)


def _subtitle(machine: Machine, subjects: Sequence[Subject], cores: float) -> str:
    """Return the cores of the outer roofs, and the samples behind roofs and points."""
    of_cores = shown_cores(cores)
    if cores != machine.cores:
        of_cores = f"{cores:.3g} of {shown_cores(machine.cores)}"
    rates = [ceiling.rate.n for ceiling in machine.ceilings if ceiling.rate is not None]
    runs = [one.placement.runtime_s.n for one in subjects if one.placement.runtime_s is not None]
    medians = []
    if rates and machine.source is None:
        medians.append(f"roofs n = {_range(rates)}")
    if runs:
        medians.append(f"programs n = {_range(runs)}")
    parts = [of_cores, f"medians: {', '.join(medians)}"] if medians else [of_cores]
    return "; ".join(parts if machine.source is None else [*parts, "published roofs"])


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def _letter(index: int) -> str:
    """Return A, B, ... Z, AA, AB, ..."""
    name = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        name = ascii_uppercase[rest] + name
    return name
