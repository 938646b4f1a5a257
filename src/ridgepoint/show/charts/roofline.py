"""The roofline of measured programs on a machine, as a figure value: computed, not drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Self

from ridgepoint.core.machine import Machine
from ridgepoint.models.roofs import (
    known_levels,
    known_precisions,
    shown_roofs,
    with_own_roofs,
)
from ridgepoint.models.work import WORK_UNITS, Metric, hardly_any, work_by_resource
from ridgepoint.show.charts.function_points import functions_drawn
from ridgepoint.show.charts.part_points import PartsDrawn
from ridgepoint.show.charts.plane import (
    Attainable,
    Coordinates,
    Point,
    Program,
    RegionPoint,
    RooflineFigure,
)
from ridgepoint.show.charts.region_points import regions_drawn
from ridgepoint.show.charts.roofs import (
    intensity_ticks,
    machine_frame,
    performance_ticks,
    ridge_marks,
    roof_lines,
    widened,
)
from ridgepoint.show.charts.subjects import (
    Subject,
    absences_of,
    attainable_of,
    framed,
    points_of,
    subject,
    summary_of,
)
from ridgepoint.show.words import machine_title, partial_note, shown_cores, shown_name
from ridgepoint.show.work import used_precisions

__all__ = ["Subject", "roofline_figure", "subject"]

# More than two sets of roofs beside the outer ones cannot be told apart.
_MOST_BESIDE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """What there is to draw of a program, before the plane is framed."""

    subject: Subject
    points: list[Point]
    mark: Attainable | None
    regions: PartsDrawn

    @classmethod
    def of(cls, one: Subject) -> Self:
        points = points_of(one)
        return cls(
            subject=one,
            points=points,
            mark=attainable_of(one, points),
            regions=regions_drawn(one).with_others(functions_drawn(one)),
        )

    @property
    def all_points(self) -> list[Point]:
        return [*self.points, *(region.point for region in self.regions.points)]


def roofline_figure(
    machine: Machine, subjects: Sequence[Subject] = (), *, metric: Metric = "flop"
) -> RooflineFigure:
    """Return the roofline of a machine with the programs measured.

    Parameters
    ----------
    machine : Machine
    subjects : sequence of Subject
        None: the machine alone, all cores, with the roofs of one core beside them.
    metric : {"flop", "bop"}
        What work is counted in on the plane of a machine alone; with subjects it is theirs.

    Returns
    -------
    RooflineFigure
        Axes are framed by the machine in whole decades, so that every run on it lands on the
        same plane; what lies outside widens them. Roofs are those of the cores that the
        programs kept busy and, beside them, those of the whole machine. Peaks are of the
        precisions that the programs use; fp64 if they use none; of BOP on a plane of those.

    Raises
    ------
    ValueError
        If the work of some is counted in flop and that of others in BOP.
    """
    notes: list[str] = []
    metric = _metric(subjects, metric)
    drawn = [_Drawn.of(one) for one in subjects]
    parts = [region for one in drawn for region in one.regions.subjects]
    precisions = _precisions(machine, metric, [*subjects, *parts], notes)
    pointed = [one.subject for one in drawn if one.points]
    cores, beside = _core_counts(machine, pointed or subjects, notes)
    x_limits, y_limits = _frame(machine, metric, precisions, drawn)
    placements = {index: one.subject.placement for index, one in enumerate(drawn) if one.points}
    letters = {index: _letter(index) for index in placements} if len(placements) > 1 else None
    roofs = roof_lines(
        with_own_roofs(
            shown_roofs(machine, precisions=precisions, cores=cores, beside=beside), placements
        ),
        corner=(x_limits[0], y_limits[0]),
        right=x_limits[1],
        letters=letters,
    )
    differ = len({one.placement.cores for one in pointed}) > 1
    programs = tuple(
        Program(
            letter=_letter(index),
            name=one.subject.name,
            summary=summary_of(one.subject, say_cores=differ),
            points=tuple(framed(point, x_limits) for point in one.points),
            attainable=one.mark,
            regions=tuple(_framed_part(region, x_limits) for region in one.regions.points),
        )
        for index, one in enumerate(drawn)
    )
    notes += _program_notes(drawn)
    if not known_levels(machine):
        notes.append("no bandwidth of this machine is known")
    return RooflineFigure(
        title=machine_title(machine),
        subtitle=_subtitle(machine, subjects, cores),
        x_label=f"Operational intensity [{WORK_UNITS[metric]}/byte]",
        y_label=f"Performance [{WORK_UNITS[metric]}/s]",
        x_limits=x_limits,
        y_limits=y_limits,
        x_ticks=intensity_ticks(x_limits),
        y_ticks=performance_ticks(y_limits),
        roofs=roofs,
        ridges=ridge_marks(roofs),
        programs=programs,
        notes=tuple(notes),
    )


def _framed_part(part: RegionPoint, x_limits: Coordinates) -> RegionPoint:
    """Return a part where it is drawn, and its roof below it."""
    point = framed(part.point, x_limits)
    roof = None if part.roof is None else (point.at[0], part.roof[1])
    return replace(part, point=point, roof=roof)


def _metric(subjects: Sequence[Subject], of_none: Metric) -> Metric:
    """Return what the work of all programs is counted in."""
    metrics = {one.placement.metric for one in subjects} or {of_none}
    if len(metrics) > 1:
        raise ValueError(f"a figure is of one metric of work, got {sorted(metrics)}")
    return metrics.pop()


def _frame(
    machine: Machine, metric: Metric, precisions: Sequence[str], drawn: Sequence[_Drawn]
) -> tuple[Coordinates, Coordinates]:
    """Return the limits of both axes: the machine's, widened by what lies outside."""
    x_limits, y_limits = machine_frame(machine, metric=metric)
    every = [point for one in drawn for point in one.all_points]
    marks = [one.mark.at for one in drawn if one.mark is not None]
    peaks = [float(machine.rate(name)) for name in precisions]
    seen = [p.at[0] for p in every if not p.is_infinite]
    reached = [y for p in every for y in (p.low, p.high) if y > 0]
    return (
        widened(x_limits, [*seen, *(x for x, _ in marks)]),
        widened(y_limits, [*peaks, *reached, *(y for _, y in marks)]),
    )


def _program_notes(drawn: Sequence[_Drawn]) -> list[str]:
    """Return what must be known of single programs, with their letters."""
    whose: dict[str, list[str]] = {}
    for index, one in enumerate(drawn):
        part = partial_note(one.subject.measurement)
        own = (*([part] if part else []), *absences_of(one.subject), *one.regions.notes)
        for text in own:
            whose.setdefault(text, []).append(_letter(index))
    # A note that holds for every program needs no letters.
    return [
        text if len(letters) == len(drawn) else f"{', '.join(letters)}: {text}"
        for text, letters in whose.items()
    ]


def _precisions(
    machine: Machine, metric: Metric, subjects: Sequence[Subject], notes: list[str]
) -> list[str]:
    """Return the precisions whose peaks are drawn: those used, the most used first; or BOP."""
    share = {"bop": 1.0} if metric == "bop" else {}
    for one in subjects:
        counts = one.measurement.counted.counts
        if not hardly_any(counts, metric):
            for name, part in used_precisions(work_by_resource(counts, metric)).items():
                share[name] = max(share.get(name, 0.0), part)
    used = sorted(share, key=lambda name: -share[name])
    known = [name for name in used if machine.knows(name)]
    unknown = [name for name in used if name not in known]
    if unknown:
        names = " or ".join(map(shown_name, unknown))
        notes.append(f"this machine has no {names} peak: that roof is missing")
    return known if used else known_precisions(machine)[:1]


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
