"""The roofline of a machine, with the programs measured, as a chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ridgepoint.core.given_machine import is_per_cycle
from ridgepoint.core.machine import Machine
from ridgepoint.core.units import format_si
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.dc_ceilings import BOP
from ridgepoint.models.one_bandwidth import machine_with
from ridgepoint.models.roofs import (
    ShownRoof,
    known_levels,
    known_precisions,
    ridge_points,
    shown_roofs,
    with_own_roofs,
)
from ridgepoint.models.work import WORK_UNITS, Metric, hardly_any, used_precisions, work_by_resource
from ridgepoint.show.axes import widened
from ridgepoint.show.chart import Chart, Entry, Interval, Mark, Page
from ridgepoint.show.charts.other_roofs import OtherRoofs, other_roofs
from ridgepoint.show.charts.program_marks import SHAPES, ProgramMarks
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
from ridgepoint.show.charts.roofline_view import PLAIN, RooflineView
from ridgepoint.show.charts.subjects import Subject, absences_of
from ridgepoint.show.cycles import cycle_axis
from ridgepoint.show.words import (
    machine_title,
    measured_name,
    partial_note,
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
    metric: Metric = "flop",
    view: RooflineView = PLAIN,
) -> Chart:
    """Return the roofline of a machine with the measured programs.

    Parameters
    ----------
    machine : Machine
    analyses : sequence of Analysis
        Analyses of programs on that machine. Empty: the machine alone, all cores, with the roofs of
        one core beside them.
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
    metric, clock_hz = _metric(analyses, metric), view.clock_hz(machine)
    analyses = [analysis.along(view.bandwidth) for analysis in analyses]
    machine = machine_with(machine, view.bandwidth)
    programs = [
        ProgramMarks.of(
            index,
            Subject(name=measured_name(analysis.measurement), analysis=analysis),
            clock_hz=clock_hz,
        )
        for index, analysis in enumerate(analyses)
    ]
    roofs, cores, precisions, roof_notes = _roofs(machine, metric, programs)
    others = other_roofs(machine, analyses, view, metric=metric, precisions=precisions)
    x_limits, y_limits = _frame(machine, metric, roofs, programs, others)
    pointed = [program for program in programs if program.points]
    letters = {program.index: program.letter for program in pointed}
    ridges = ridge_points(roofs)
    lines = roof_lines(
        roofs,
        x_limits=x_limits,
        y_limits=y_limits,
        letters=letters if len(pointed) > 1 else None,
        clock_hz=clock_hz,
    )
    other_lines = (line for other in others for line in other.lines(x_limits, y_limits))
    own_lines = (line for program in programs for line in program.lines(x_limits, y_limits))
    say_cores = len({program.subject.placement.cores for program in pointed}) > 1
    unit = WORK_UNITS[metric]
    return Chart(
        title=machine_title(machine),
        subtitle=_subtitle(machine, programs, cores),
        x=intensity_axis(x_limits, view.intensity_label(unit)),
        y=performance_axis(y_limits, f"Performance [{unit}/s]")
        if clock_hz is None
        else cycle_axis(y_limits, clock_hz=clock_hz, unit=unit),
        lines=(*lines, *other_lines, *own_lines),
        marks=(*ridge_marks(ridges), *_marks(programs, x_limits)),
        key=(
            *_key(programs, say_cores=say_cores),
            *(other.entry([program.letter for program in programs]) for other in others),
        ),
        notes=(
            *roof_notes,
            *_view_notes(machine, view, clock_hz),
            *(note for other in others for note in other.notes),
            *_program_notes(programs),
            *([ridge_note(ridges)] if ridges else []),
        ),
        drawing_notes=tuple(_drawing_notes(programs)),
    )


def roofline_picture(
    machine: Machine,
    analyses: Sequence[Analysis] = (),
    *,
    metric: Metric = "flop",
    views: Sequence[RooflineView] = (PLAIN,),
) -> Chart | Page:
    """Return the roofline in one view, or a page of several.

    Parameters
    ----------
    machine, analyses, metric
        As for `roofline_chart`.
    views : sequence of RooflineView
        At least one.
    """
    charts = tuple(roofline_chart(machine, analyses, metric=metric, view=view) for view in views)
    return charts[0] if len(charts) == 1 else Page(charts=charts, columns=2)


def _marks(programs: Sequence[ProgramMarks], x_limits: Interval) -> Iterator[Mark]:
    """Yield all marks of programs, from back to front: points over DRAM traffic come last."""
    several = len(programs) > 1
    points = [mark for program in programs for mark in program.marks(x_limits, several=several)]
    for program in programs:
        yield from program.limit_marks(x_limits)
    yield from (mark for mark in points if mark.face == "hollow")
    for program in programs:
        yield from program.part_marks(x_limits, several=several)
    yield from (mark for mark in points if mark.face != "hollow")


def _metric(analyses: Sequence[Analysis], of_none: Metric) -> Metric:
    """Return the unit of work of all programs."""
    metrics = {analysis.metric for analysis in analyses} or {of_none}
    if len(metrics) > 1:
        raise ValueError(f"a figure is of one metric of work, got {sorted(metrics)}")
    return metrics.pop()


def _roofs(
    machine: Machine, metric: Metric, programs: Sequence[ProgramMarks]
) -> tuple[tuple[ShownRoof, ...], float, list[str], list[str]]:
    """Return the roofs to draw, the cores of the outer ones, their precisions, and notes."""
    notes: list[str] = []
    precisions = _precisions(machine, metric, programs, notes)
    if precisions[:1] == [BOP]:
        notes += dc_names(machine)
    pointed = [program for program in programs if program.points]
    cores, beside = _core_counts(machine, pointed or programs, notes)
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
    machine: Machine, metric: Metric, programs: Sequence[ProgramMarks], notes: list[str]
) -> list[str]:
    """Return the precisions whose peaks are drawn, the most used first; or BOP."""
    share = {"bop": 1.0} if metric == "bop" else {}
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
    machine: Machine, programs: Sequence[ProgramMarks], notes: list[str]
) -> tuple[float, list[float]]:
    """Return the cores of the outer roofs, and those of the roofs beside them."""
    if not programs:
        return float(machine.cores), [1.0] if machine.cores > 1 else []
    busy = sorted({program.subject.placement.cores for program in programs})
    rest = sorted({*busy, float(machine.cores)} - {busy[-1]})
    beside = [*rest[:1], *rest[-1:]] if len(rest) > _MOST_BESIDE else rest
    missing = [count for count in rest if count not in beside]
    if missing:
        counts = ", ".join(f"{count:.3g}" for count in missing)
        notes.append(f"the roofs of {counts} cores are not drawn")
    return busy[-1], beside


def _frame(
    machine: Machine,
    metric: Metric,
    roofs: Sequence[ShownRoof],
    programs: Sequence[ProgramMarks],
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
    of_source = "given" if machine.source == "given" else "published"
    return "; ".join(parts if machine.source is None else [*parts, f"{of_source} roofs"])


def _key(programs: Sequence[ProgramMarks], *, say_cores: bool) -> Iterator[Entry]:
    """Yield the key: marks for each level's traffic, the programs, and the meaning of caps."""
    levels = {point.level for program in programs for point in program.points}
    if levels == {"dram"}:
        yield Entry(text="intensity over the traffic of DRAM")
        levels = set()
    elif levels:
        yield Entry(text="intensity over the traffic of:", is_abreast=True)
    for level in sorted(levels, key=lambda name: (name == "dram", name)):
        is_dram = level == "dram"
        yield Entry(
            text=shown_name(level),
            shape=SHAPES[level],
            face="full" if is_dram else "hollow",
            is_abreast=True,
            glyph="capital" if is_dram else "small",
        )
    for program in programs:
        yield from program.entries(several=len(programs) > 1, say_cores=say_cores)
    capped = [program for program in programs if program.is_capped]
    if capped:
        ink = capped[0].index if len(capped) == 1 else None
        yield Entry(text=_limits_text(capped), ink=ink, shape="cap")


def _limits_text(capped: Sequence[ProgramMarks]) -> str:
    """Return the limits of the programs with a mark above their point."""
    limits: dict[str, list[str]] = {}
    for program in capped:
        limits.setdefault(program.subject.limit, []).append(program.letter)
    if len(limits) == 1:
        return f"attainable: what bounds it ({next(iter(limits))})"
    named = (f"{', '.join(letters)} {limit}" for limit, letters in limits.items())
    return f"attainable: what bounds it ({'; '.join(named)})"


def _program_notes(programs: Sequence[ProgramMarks]) -> list[str]:
    """Return the notes on single programs, with their letters."""
    whose: dict[str, list[str]] = {}
    for program in programs:
        part = partial_note(program.subject.measurement)
        notes = (*([part] if part else []), *absences_of(program.subject), *program.parts.notes)
        for text in notes:
            whose.setdefault(text, []).append(program.letter)
    # A note that holds for every program needs no letters.
    return [
        text if len(letters) == len(programs) else f"{', '.join(letters)}: {text}"
        for text, letters in whose.items()
    ]


def _drawing_notes(programs: Sequence[ProgramMarks]) -> Iterator[str]:
    """Yield the meaning of bars, discs and colours."""
    parts = [part for program in programs for part in program.parts.drawn]
    if any(program.points for program in programs):
        of_functions = any(part.kind == "function" for part in parts)
        sampled = "; of functions: 95 % intervals" if of_functions else ""
        estimated = any(
            point.intensity_interval for program in programs for point in program.points
        )
        across = "; of intensity: 95 % intervals of the estimated traffic" if estimated else ""
        yield f"error bars: quartiles of performance{sampled}{across}"
    kinds = dict.fromkeys(f"{part.kind}s" for part in parts if part.share)
    if kinds:
        yield f"pale discs: {' and '.join(kinds)}, with an area by their share of the time"
    above = [part.subject.name for part in parts if part.place.roof is not None]
    if above:
        yield f"red: above its roof, which the bar below it shows ({', '.join(above)})"
