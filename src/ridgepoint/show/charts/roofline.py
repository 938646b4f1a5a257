"""The roofline of a machine, with the programs measured, as a chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ridgepoint.core.machine import Machine
from ridgepoint.core.units import format_si
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.dc_ceilings import BOP
from ridgepoint.models.given_machine import GIVEN, is_per_cycle
from ridgepoint.models.given_points import PlacedPoint
from ridgepoint.models.one_bandwidth import machine_with
from ridgepoint.models.roofs import (
    ShownRoof,
    known_levels,
    known_precisions,
    multiples,
    ridge_points,
    shown_roofs,
    with_own_roofs,
)
from ridgepoint.models.work import WORK_UNITS, Metric, hardly_any, used_precisions, work_by_resource
from ridgepoint.show.axes import widened
from ridgepoint.show.chart import Chart, Interval, Line, Mark, Page
from ridgepoint.show.charts.given_marks import GivenMarks
from ridgepoint.show.charts.other_roofs import OtherRoofs, other_roofs
from ridgepoint.show.charts.program_marks import ProgramMarks
from ridgepoint.show.charts.roof_lines import (
    HEADROOM,
    dc_names,
    intensity_axis,
    machine_frame,
    performance_axis,
    ridge_marks,
    ridge_note,
    roof_lines,
)
from ridgepoint.show.charts.roofline_key import drawing_notes, key, program_notes
from ridgepoint.show.charts.roofline_view import PLAIN, RooflineView
from ridgepoint.show.charts.subjects import Subject
from ridgepoint.show.cycles import cycle_axis
from ridgepoint.show.words import (
    machine_title,
    measured_name,
    shown_cores,
    shown_name,
    shown_range,
)

# More than two sets of roofs beside the outer ones cannot be told apart.
_MOST_BESIDE = 2


def roofline_chart(
    machine: Machine,
    analyses: Sequence[Analysis] = (),
    *,
    given: Sequence[PlacedPoint] = (),
    metric: Metric = "flop",
    view: RooflineView = PLAIN,
) -> Chart:
    """Return the roofline of a machine with the measured programs, and with given points.

    Parameters
    ----------
    machine : Machine
    analyses : sequence of Analysis
        Analyses of programs on that machine. Empty: the machine alone, all cores, with the roofs of
        one core beside them.
    given : sequence of PlacedPoint
        Points on that machine of which only figures are given.
    metric : {"flop", "bop"}
        Unit of work for a machine alone; with programs, it is theirs.
    view : RooflineView
        Further machines, which bandwidth is drawn, and in which units.

    Returns
    -------
    Chart
        Axes are framed by the machine in whole decades, so that every run on it is drawn on the
        same plane; points outside widen them. Roofs are those of the cores that the programs kept
        busy and, beside them, those of the whole machine. Peaks are those of the precisions that
        the programs use; fp64 if they use none; BOP if work is counted in BOP.

    Raises
    ------
    ValueError
        If the work of some programs is counted in flop and that of others in BOP.
    """
    metric, clock_hz = _metric([*analyses, *given], metric), view.clock_hz(machine)
    analyses = [analysis.along(view.bandwidth) for analysis in analyses]
    placed = [point.along(view.bandwidth) for point in given]
    missing = [point for point, found in zip(given, placed, strict=True) if found is None]
    points = [
        GivenMarks(index=index, placed=point, clock_hz=clock_hz)
        for index, point in enumerate(placed, start=len(analyses))
        if point is not None
    ]
    machine = machine_with(machine, view.bandwidth)
    programs = [
        ProgramMarks.of(
            index,
            Subject(name=measured_name(analysis.measurement), analysis=analysis),
            clock_hz=clock_hz,
        )
        for index, analysis in enumerate(analyses)
    ]
    roofs, cores, precisions, roof_notes = _roofs(machine, metric, programs, points)
    others = other_roofs(machine, analyses, view, metric=metric, precisions=precisions, given=given)
    x_limits, y_limits = _frame(machine, metric, roofs, [*programs, *points], others)
    ridges, unit = ridge_points(roofs), WORK_UNITS[metric]
    return Chart(
        title=machine_title(machine),
        subtitle=_subtitle(machine, programs, cores),
        x=intensity_axis(x_limits, view.intensity_label(unit)),
        y=performance_axis(y_limits, f"Performance [{unit}/s]")
        if clock_hz is None
        else cycle_axis(y_limits, clock_hz=clock_hz, unit=unit),
        lines=(
            *_own_roof_lines(roofs, programs, x_limits, y_limits, clock_hz),
            *(line for other in others for line in other.lines(x_limits, y_limits)),
            *(line for program in programs for line in program.lines(x_limits, y_limits)),
            *(line for point in points for line in point.lines(y_limits)),
        ),
        marks=(*ridge_marks(ridges), *_marks(programs, points, x_limits)),
        key=(
            *key(programs, points, say_cores=_has_several_cores(programs, points)),
            *(other.entry([program.letter for program in programs]) for other in others),
        ),
        notes=(
            *roof_notes,
            *_multiples(machine, roofs),
            *_view_notes(machine, view, clock_hz),
            *(note for other in others for note in other.notes),
            *program_notes(programs, points),
            *(
                f"{point.point.name}: its reads and writes are not given apart, so it has no "
                f"{view.bandwidth} intensity"
                for point in missing
            ),
            *([ridge_note(ridges)] if ridges else []),
        ),
        drawing_notes=tuple(drawing_notes(programs, points)),
    )


def _own_roof_lines(
    roofs: Sequence[ShownRoof],
    programs: Sequence[ProgramMarks],
    x_limits: Interval,
    y_limits: Interval,
    clock_hz: float | None,
) -> tuple[Line, ...]:
    """Return the roofs of the machine; those of programs' own mixes have their letters."""
    letters = {program.index: program.letter for program in programs if program.points}
    return roof_lines(
        roofs,
        x_limits=x_limits,
        y_limits=y_limits,
        letters=letters if len(letters) > 1 else None,
        clock_hz=clock_hz,
    )


def _multiples(machine: Machine, roofs: Sequence[ShownRoof]) -> Iterator[str]:
    """Yield which roofs are known for fewer cores only."""
    for (resource, cores), known in multiples(machine, roofs).items():
        yield (
            f"{shown_name(resource)} is known for {shown_cores(known)}: of {shown_cores(cores)} it "
            f"is at most {cores / known:.3g} times that"
        )


def _has_several_cores(programs: Sequence[ProgramMarks], points: Sequence[GivenMarks]) -> bool:
    """Return whether programs and points are below the roofs of different numbers of cores."""
    cores = {program.subject.placement.cores for program in programs if program.points}
    return len(cores | {point.placed.cores for point in points}) > 1


def roofline_picture(
    machine: Machine,
    analyses: Sequence[Analysis] = (),
    *,
    given: Sequence[PlacedPoint] = (),
    metric: Metric = "flop",
    views: Sequence[RooflineView] = (PLAIN,),
) -> Chart | Page:
    """Return the roofline in one view, or a page of several.

    Parameters
    ----------
    machine, analyses, given, metric
        As for `roofline_chart`.
    views : sequence of RooflineView
        At least one.
    """
    charts = tuple(
        roofline_chart(machine, analyses, given=given, metric=metric, view=view) for view in views
    )
    return charts[0] if len(charts) == 1 else Page(charts=charts, columns=2)


def _marks(
    programs: Sequence[ProgramMarks], given: Sequence[GivenMarks], x_limits: Interval
) -> Iterator[Mark]:
    """Yield all marks, from back to front: of programs, points over DRAM traffic come last."""
    several = len(programs) + len(given) > 1
    points = [mark for program in programs for mark in program.marks(x_limits, several=several)]
    for program in programs:
        yield from program.limit_marks(x_limits)
    yield from (mark for mark in points if mark.face == "hollow")
    for program in programs:
        yield from program.part_marks(x_limits, several=several)
    yield from (mark for mark in points if mark.face != "hollow")
    for point in given:
        yield from point.marks(x_limits, several=several)


def _metric(programs: Sequence[Analysis | PlacedPoint], of_none: Metric) -> Metric:
    """Return the unit of work of all programs."""
    metrics = {program.metric for program in programs} or {of_none}
    if len(metrics) > 1:
        raise ValueError(f"a figure is of one metric of work, got {sorted(metrics)}")
    return metrics.pop()


def _roofs(
    machine: Machine,
    metric: Metric,
    programs: Sequence[ProgramMarks],
    points: Sequence[GivenMarks],
) -> tuple[tuple[ShownRoof, ...], float, list[str], list[str]]:
    """Return the roofs to draw, the cores of the outer ones, their precisions, and notes."""
    notes: list[str] = []
    precisions = _precisions(machine, metric, programs, points, notes)
    if precisions[:1] == [BOP]:
        notes += dc_names(machine)
    pointed = [program for program in programs if program.points]
    counts = [program.subject.placement.cores for program in pointed or programs]
    counts += [point.placed.cores for point in points]
    cores, beside = _core_counts(machine, counts, notes)
    roofs = with_own_roofs(
        shown_roofs(machine, precisions=precisions, cores=cores, beside=beside),
        {program.index: program.subject.placement for program in pointed},
    )
    return roofs, cores, precisions, notes


def _view_notes(machine: Machine, view: RooflineView, clock_hz: float | None) -> Iterator[str]:
    """Yield what of a view cannot be drawn, and to what rates per cycle refer."""
    if not known_levels(machine):
        of_kind = f"{view.bandwidth} " if view.bandwidth else ""
        yield f"no {of_kind}bandwidth of this machine is known"
    if clock_hz is not None:
        clocks = [
            f"{each.name} {format_si(each.host.frequency_hz, 'Hz', digits=3)}"
            for each in (machine, *view.others)
            if each.host.frequency_hz is not None and not is_per_cycle(each)
        ]
        of_clocks = f"cycles of each machine's own clock ({', '.join(clocks)}); " if clocks else ""
        yield f"{of_clocks}rates are those of all cores together"
    elif view.asks_for_cycles(machine):
        names = ", ".join(view.clocks_unknown(machine))
        yield f"rates are per second: the core clock of {names} is unknown"


def _precisions(
    machine: Machine,
    metric: Metric,
    programs: Sequence[ProgramMarks],
    points: Sequence[GivenMarks],
    notes: list[str],
) -> list[str]:
    """Return the precisions whose peaks are drawn, the most used first; or BOP."""
    share = {"bop": 1.0} if metric == "bop" else {}
    share |= {point.placed.point.resource: 1.0 for point in points}
    for program in programs:
        for subject in (program.subject, *(part.subject for part in program.parts.drawn)):
            counts = subject.measurement.counted.counts
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
    machine: Machine, counts: Sequence[float], notes: list[str]
) -> tuple[float, list[float]]:
    """Return the cores of the outer roofs, and those of the roofs beside them."""
    if not counts:
        return float(machine.cores), [1.0] if machine.cores > 1 else []
    busy = sorted(set(counts))
    rest = sorted({*busy, float(machine.cores)} - {busy[-1]})
    beside = [*rest[:1], *rest[-1:]] if len(rest) > _MOST_BESIDE else rest
    missing = [count for count in rest if count not in beside]
    if missing:
        undrawn = ", ".join(f"{count:.3g}" for count in missing)
        notes.append(f"the roofs of {undrawn} cores are not drawn")
    return busy[-1], beside


def _frame(
    machine: Machine,
    metric: Metric,
    roofs: Sequence[ShownRoof],
    programs: Sequence[ProgramMarks | GivenMarks],
    others: Sequence[OtherRoofs],
) -> tuple[Interval, Interval]:
    """Return the limits of both axes: the machine's, widened by points and roofs outside."""
    x_limits, y_limits = machine_frame(machine, metric=metric)
    # Peaks of all cores, so that programs on fewer are on the same plane.
    peaks = [float(machine.rate(roof.resource)) for roof in roofs if roof.is_peak]
    held = [program.held for program in programs]
    corners = [corner for other in others for corner in other.corners]
    intensities = [value for values, _ in held for value in values]
    reached = [value for _, values in held for value in values]
    return (
        widened(x_limits, [*intensities, *(x for x, _ in corners)]),
        widened(y_limits, [*peaks, *reached, *(y * HEADROOM for _, y in corners)]),
    )


def _subtitle(machine: Machine, programs: Sequence[ProgramMarks], cores: float) -> str:
    """Return the cores of the outer roofs, and the samples behind roofs and points."""
    of_cores = shown_cores(cores)
    if cores != machine.cores:
        of_cores = f"{cores:.3g} of {shown_cores(machine.cores)}"
    rates = [ceiling.rate.n for ceiling in machine.ceilings if ceiling.rate is not None]
    runtimes = [program.subject.placement.runtime_s for program in programs]
    runs = [runtime.n for runtime in runtimes if runtime is not None]
    medians = []
    if rates and machine.source is None:
        medians.append(f"roofs n = {shown_range(rates)}")
    if runs:
        medians.append(f"programs n = {shown_range(runs)}")
    parts = [of_cores, f"medians: {', '.join(medians)}"] if medians else [of_cores]
    if machine.source is not None:
        parts.append("given roofs" if machine.source == GIVEN else "published roofs")
    return "; ".join(parts)
