"""The page's roofline: programs and their parts at every level, under every roof."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ridgepoint.core.machine import Machine
from ridgepoint.core.presenting import amount
from ridgepoint.core.resources import LEVELS
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.every_roof import (
    DIRECTIONS,
    Direction,
    every_bandwidth,
    every_peak,
    measured_cores,
)
from ridgepoint.models.points import limit_of, says_nothing
from ridgepoint.models.roofs import known_precisions
from ridgepoint.models.work import WORK_UNITS, Metric, used_precisions, work_by_resource
from ridgepoint.show.axes import widened
from ridgepoint.show.chart import Chart, Entry, Interval, Tags
from ridgepoint.show.charts.program_marks import SHAPES
from ridgepoint.show.charts.roof_lines import (
    intensity_axis,
    machine_frame,
    performance_axis,
)
from ridgepoint.show.charts.subjects import Subject as ShownSubject
from ridgepoint.show.charts.subjects import absences_of, summary_of
from ridgepoint.show.page.document import Control, Option, View
from ridgepoint.show.page.records import ShownRecord
from ridgepoint.show.page.roof_lines import RoofSet, levels_of
from ridgepoint.show.page.roofline_marks import (
    Program,
    ends_of,
    limited,
    marks_of,
    own_roofs_of,
    stems_of,
)
from ridgepoint.show.page.subjects import coverage_of, parts_of
from ridgepoint.show.page.tables import parts_table
from ridgepoint.show.words import (
    machine_title,
    partial_note,
    shown_cores,
    shown_name,
)

_MOST_FUNCTIONS = 2000
"""Of all programs together: of more, those that hardly did anything are left out."""
_ALL = "all"
"""Cores of each machine, where there are several."""
_DIRECTIONS: dict[Direction, str] = {
    "both": "read and written: W/Q",
    "read": "read: W/Qr",
    "write": "written: W/Qw",
    "copy": "as copies move them",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Roofed:
    """A machine whose roofs are drawn.

    Parameters
    ----------
    key : str
    machine : Machine
    tags : mapping of str to str
    precisions : tuple of str
        Whose peaks are drawn.
    ink : int or None
        Colour of its roofs; None: that of roofs.
    cores : dict of str to float
        Numbers of cores for which roofs are drawn, by the values of the control.
    """

    key: str
    machine: Machine
    tags: Tags
    precisions: tuple[str, ...]
    ink: int | None
    cores: dict[str, float]


def roofline_view(
    records: Sequence[tuple[ShownRecord, Analysis]],
    machines: Sequence[Machine],
    *,
    metric: Metric,
) -> View:
    """Return the roofline of programs whose work is in one unit.

    Parameters
    ----------
    records : sequence of (ShownRecord, Analysis)
        All in this metric, each with a machine; may be none.
    machines : sequence of Machine
        Whose roofs are drawn, the first one at first; at least one.
    metric : {"flop", "bop"}
    """
    several, directions = len(records) > 1, _directions(machines)
    functions = sum(len(each.measurement.counted.functions) for _, each in records)
    has_room = functions <= _MOST_FUNCTIONS
    programs = [
        Program(
            index=index,
            record=record,
            analysis=analysis,
            parts=parts_of(record, analysis, minor=is_own and has_room),
            directions=directions,
            tags={"record": record.key} if several else {},
        )
        for index, (record, analysis) in enumerate(records)
        for is_own in [record.value is analysis]
    ]
    used = _used(programs, metric)
    roofed = _roofed(machines, programs, metric)
    return View(
        key="roofline" if metric == "flop" else "dc-roofline",
        kind="roofline" if metric == "flop" else "dc-roofline",
        title="Roofline" if metric == "flop" else "DC-Roofline",
        charts=(_chart(programs, roofed, directions, metric),),
        controls=tuple(_controls(programs, roofed, directions, used)),
        table=parts_table([(each.record, each.parts, each.tags) for each in programs], metric)
        if programs
        else None,
        subjects=tuple(part.subject for program in programs for part in program.parts),
        coverage=coverage_of([(each.record.name, each.analysis) for each in programs]),
        notes=tuple(_notes(programs)),
    )


def _directions(machines: Sequence[Machine]) -> tuple[Direction, ...]:
    """Return which bytes some machine has a bandwidth for; those of both directions always."""
    known = {
        roof.direction
        for machine in machines
        for roof in every_bandwidth(machine, cores=float(machine.cores))
    }
    return tuple(way for way in DIRECTIONS if way in known or way == "both")


def _used(programs: Sequence[Program], metric: Metric) -> list[str]:
    """Return the precisions that programs use, the most used first."""
    shares: dict[str, float] = {}
    for program in programs:
        counts = program.analysis.measurement.counted.counts
        for name, share in used_precisions(work_by_resource(counts, metric)).items():
            shares[name] = max(shares.get(name, 0.0), share)
    return sorted(shares, key=lambda name: -shares[name])


def _roofed(
    machines: Sequence[Machine], programs: Sequence[Program], metric: Metric
) -> list[_Roofed]:
    """Return the machines with the peaks and the numbers of cores that are drawn of each."""
    several = len(machines) > 1
    counts = {count for machine in machines for count in measured_cores(machine)}
    counts |= {min(each, float(machine.cores)) for each in _busy(programs) for machine in machines}
    roofed = []
    for number, machine in enumerate(machines):
        key = f"machine/{number}"
        names = known_precisions(machine) if metric == "flop" else ["bop"]
        cores = {_cores_value(each): each for each in sorted(counts) if each <= machine.cores}
        roofed.append(
            _Roofed(
                key=key,
                machine=machine,
                tags={"machine": key} if several else {},
                precisions=tuple(name for name in names if machine.knows(name)),
                ink=len(programs) + number if number else None,
                cores=cores | ({_ALL: float(machine.cores)} if several else {}),
            )
        )
    return roofed


def _busy(programs: Sequence[Program]) -> list[float]:
    """Return the cores whose roofs apply to each program."""
    placements = [program.analysis.placement for program in programs]
    return [placement.cores for placement in placements if placement is not None]


def _chart(
    programs: Sequence[Program],
    roofed: Sequence[_Roofed],
    directions: tuple[Direction, ...],
    metric: Metric,
) -> Chart:
    unit = WORK_UNITS[metric]
    x_limits, y_limits = _frame(programs, roofed, metric)
    lines = [
        line
        for each in roofed
        for value, cores in each.cores.items()
        for line in RoofSet(
            machine=each.machine,
            cores=cores,
            precisions=each.precisions,
            directions=directions,
            tags={**each.tags, "cores": value},
            ink=each.ink,
            is_named=len(roofed) > 1,
        ).lines(x_limits, y_limits)
    ]
    lines += [line for program in programs for line in own_roofs_of(program, x_limits)]
    lines += [line for program in programs for line in stems_of(program, y_limits)]
    return Chart(
        title=" and ".join(machine_title(each.machine) for each in roofed[:2])
        + (f" and {len(roofed) - 2} more" if len(roofed) > 2 else ""),
        subtitle="",
        x=intensity_axis(x_limits, f"Operational intensity [{unit}/byte]"),
        y=performance_axis(y_limits, f"Performance [{unit}/s]"),
        lines=tuple(lines),
        marks=tuple(mark for program in programs for mark in marks_of(program, x_limits)),
        key=tuple(_key(programs)),
        notes=tuple(_chart_notes(programs)),
    )


def _frame(
    programs: Sequence[Program], roofed: Sequence[_Roofed], metric: Metric
) -> tuple[Interval, Interval]:
    """Return the limits of both axes, in whole decades: the machines' own, widened by points."""
    frames = [machine_frame(each.machine, metric=metric) for each in roofed]
    points = [point for program in programs for _, _, point in program.points]
    limits = [limit for program in programs for part in program.parts
              if (limit := limit_of(part.analysis)) is not None]  # fmt: skip
    x = [value for point in points for value in (point.intensity, *ends_of(point))]
    y = [value for point in points for value in (point.low, point.high)]
    y += [peak.rate for each in roofed
          for peak in every_peak(each.machine, cores=float(each.machine.cores),
                                 precisions=each.precisions)]  # fmt: skip
    edges = [end for frame in frames for end in frame[0]], [e for f in frames for e in f[1]]
    x_limits, y_limits = ((min(values), max(values)) for values in edges)
    return (
        widened(x_limits, _positive([*x, *(limit[0] for limit in limits)])),
        widened(y_limits, _positive([*y, *(limit[1] for limit in limits)])),
    )


def _positive(values: Sequence[float]) -> list[float]:
    return [value for value in values if value > 0 and math.isfinite(value)]


def _key(programs: Sequence[Program]) -> Iterator[Entry]:
    """Yield the key: the mark of each level, then the programs."""
    levels = {point.level for program in programs for _, _, point in program.points}
    for level in sorted(levels, key=LEVELS.index, reverse=True):
        yield Entry(
            text=shown_name(level), shape=SHAPES[level],
            face="full" if level == "dram" else "hollow", is_abreast=True, tags={"level": level},
        )  # fmt: skip
    for program in programs:
        whole = program.parts[0]
        shown = ShownSubject(name=whole.subject.name, analysis=program.analysis)
        place = summary_of(shown, say_cores=True)
        yield Entry(
            text=f"{whole.subject.name}: {place}" if place else whole.subject.name,
            ink=program.index,
            shape="circle",
            face="full" if whole.is_timed else "hollow",
            lead=program.letter,
            glyph=program.letter,
            tags=program.tags,
            subject=whole.subject.key,
        )


def _chart_notes(programs: Sequence[Program]) -> Iterator[str]:
    """Yield what a reader must know of each program: which points are missing, and why."""
    for program in programs:
        shown = ShownSubject(name=program.record.name, analysis=program.analysis)
        for note in absences_of(shown):
            yield f"{program.letter}: {note}" if len(programs) > 1 else note


def _notes(programs: Sequence[Program]) -> Iterator[str]:
    """Yield what is to know of the view as a whole."""
    for program in programs:
        note = partial_note(program.analysis.measurement)
        if note is not None:
            yield f"{program.record.name}: {note}"
        shown = sum(part.subject.kind == "function" for part in program.parts)
        left_out = len(program.analysis.measurement.counted.functions) - shown
        if left_out:
            yield (
                f"{program.record.name}: {amount(left_out, 'function')} that hardly did anything "
                "left out here; the data of the record has them"
            )
        untimed = [part for part in program.parts if part.subject.kind == "function"
                   and not part.is_timed and not says_nothing(part.analysis)]  # fmt: skip
        if untimed and len(untimed) > len(limited(program)):
            yield (
                f"{program.record.name}: {amount(len(untimed), 'function')} without a point, since "
                "the time is not known well enough; the table has the figures"
            )


def _controls(
    programs: Sequence[Program],
    roofed: Sequence[_Roofed],
    directions: Sequence[Direction],
    used: Sequence[str],
) -> Iterator[Control]:
    """Yield what can be chosen, where there is a choice."""
    points = {point.level for program in programs for _, _, point in program.points}
    points |= {"dram"} if any(limited(program) for program in programs) else set()
    marked = [level for level in reversed(LEVELS) if level in points]
    yield from _control("level", "Points over the bytes at", marked, initial=marked[:1],
                        titles=shown_name)  # fmt: skip
    bandwidths = [
        roof
        for each in roofed
        for roof in every_bandwidth(each.machine, cores=float(each.machine.cores))
    ]
    yield from _control("bandwidth", "Bytes", directions, initial=directions[:1], exclusive=True,
                        titles=lambda way: _DIRECTIONS[way])  # type: ignore[index]  # fmt: skip
    levels = levels_of(bandwidths)
    yield from _control("roof", "Bandwidth roofs", levels, initial=levels, titles=shown_name)
    peaks = list(dict.fromkeys(name for each in roofed for name in each.precisions))
    chosen = [name for name in peaks if name in used] or peaks[:1]
    yield from _control("precision", "Peaks", peaks, initial=chosen, titles=shown_name)
    yield _cores_control(roofed, _busy(programs))
    if len(roofed) > 1:
        yield Control(
            tag="machine",
            title="Machines",
            options=tuple(
                Option(value=each.key, title=machine_title(each.machine)) for each in roofed
            ),
            initial=(roofed[0].key,) if programs else tuple(each.key for each in roofed),
        )
    if len(programs) > 1:
        options = tuple(
            Option(value=each.record.key, title=f"{each.letter} {each.record.name}")
            for each in programs
        )
        yield Control(
            tag="record", title="Records", options=options,
            initial=tuple(option.value for option in options),
        )  # fmt: skip


def _cores_control(roofed: Sequence[_Roofed], busy: Sequence[float]) -> Control:
    """Return the choice of a number of cores, at first the most that programs kept busy."""
    known = {value: cores for each in roofed for value, cores in each.cores.items()}
    kept_busy = {value: cores for value, cores in known.items() if cores in busy and value != _ALL}
    most = max(kept_busy, key=lambda value: kept_busy[value], default=_ALL)
    if most not in known:
        most = _cores_value(roofed[0].machine.cores)
    values = sorted(known, key=lambda value: (value == _ALL, known[value]))
    return Control(
        tag="cores",
        title="Roofs of",
        options=tuple(
            Option(value=value, title="all cores" if value == _ALL else shown_cores(known[value]))
            for value in values
        ),
        initial=(most,),
        exclusive=True,
    )


def _control(
    tag: str,
    title: str,
    values: Sequence[str],
    *,
    initial: Sequence[str],
    titles: Callable[[str], str],
    exclusive: bool = False,
) -> Iterator[Control]:
    """Yield a control, if there is anything that it could be about."""
    if values:
        yield Control(
            tag=tag,
            title=title,
            options=tuple(Option(value=value, title=titles(value)) for value in values),
            initial=tuple(initial),
            exclusive=exclusive,
        )


def _cores_value(cores: float) -> str:
    return f"{cores:.4g}"
