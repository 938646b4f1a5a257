"""Programs before and after a change on one roofline, with an arrow from each place to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.machine import Machine
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.comparing.changes import Change
from ridgepoint.models.comparing.parts import Kind, PartChanges, parts_of
from ridgepoint.models.comparing.programs import Program, ProgramComparison
from ridgepoint.models.comparing.quantities import RUNTIME
from ridgepoint.show.chart import Chart, Interval, Label, Line, Place
from ridgepoint.show.charts.parts import ShownPart
from ridgepoint.show.charts.program_marks import ProgramMarks, drawn_at
from ridgepoint.show.charts.roofline import roofline_chart
from ridgepoint.show.charts.subjects import Subject
from ridgepoint.show.compare_text import headline, times_text
from ridgepoint.show.words import printable

_RANK_OF_CHANGES = 8


def comparison_chart(
    comparisons: Sequence[ProgramComparison], *, keys: Sequence[str] = ()
) -> Chart:
    """Return programs that are compared with the first on the roofline of its machine.

    Parameters
    ----------
    comparisons : sequence of ProgramComparison
        At least one; all have the same program before.
    keys : sequence of str
        Key of each comparison on a page, with which those of the arrows' subjects begin; empty:
        nothing else speaks of them.

    Raises
    ------
    RidgepointError
        If nothing bounds one of the programs: there are no roofs to draw.
    """
    programs = (comparisons[0].before, *(comparison.after for comparison in comparisons))
    analyses = [_bounded(program) for program in programs]
    machine = _machine(analyses[0])
    # All on one pair of axes, and below the roofs that are drawn.
    drawn = [
        analysis if analysis.machine == machine else replace(analysis, machine=machine)
        for analysis in analyses
    ]
    metric = comparisons[0].metric
    drawn = [replace(analysis, metric=metric) for analysis in drawn]
    chart = roofline_chart(machine, drawn)
    marks = [
        ProgramMarks.of(index, Subject(name=program.title, analysis=analysis))
        for index, (program, analysis) in enumerate(zip(programs, drawn, strict=True))
    ]
    lines = [
        line if keys else replace(line, subject="")
        for comparison, key, after in zip(
            comparisons, keys or [""] * len(comparisons), marks[1:], strict=True
        )
        for line in _arrows(comparison, key, marks[0], after, chart.x.limits)
    ]
    return replace(
        chart,
        lines=(*chart.lines, *lines),
        notes=(*map(headline, comparisons), *chart.notes, *_notes(comparisons, machine)),
    )


def _bounded(program: Program) -> Analysis:
    """Return the analysis of a program on a machine."""
    if program.analysis is None:
        why, remedy = "it was timed but not counted", "measure it again so that it is counted"
    elif program.analysis.machine is None:
        why, remedy = "no machine bounds it", "give a machine: --machine"
    else:
        return program.analysis
    raise RidgepointError(
        f"cannot draw {printable(program.title)!r} on a roofline", reason=why, remedy=remedy
    )


def _machine(analysis: Analysis) -> Machine:
    assert analysis.machine is not None  # see _bounded
    return analysis.machine


def _arrows(
    comparison: ProgramComparison,
    key: str,
    before: ProgramMarks,
    after: ProgramMarks,
    x_limits: Interval,
) -> Iterator[Line]:
    """Yield an arrow for the program, and one for each region and function drawn on both sides."""
    first, last = _at_dram(before, x_limits), _at_dram(after, x_limits)
    if first is not None and last is not None:
        arrow = _arrow((first, last), comparison.changes[RUNTIME], after.index, "the program")
        yield replace(arrow, subject=f"{key}/program")
    for changes in (comparison.regions, comparison.functions):
        for number, arrow in _part_arrows(changes, before, after, x_limits):
            yield replace(arrow, subject=f"{key}/{changes.kind}/{number}")


def _part_arrows(
    changes: PartChanges, before: ProgramMarks, after: ProgramMarks, x_limits: Interval
) -> Iterator[tuple[int, Line]]:
    """Yield the number of each matched part that is drawn on both sides, and its arrow."""
    first, last = (_by_name(marks, changes.kind) for marks in (before, after))
    for number, change in enumerate(changes.matched):
        name = change.part.name
        if len(changes.named(name)) == 1 and name in first and name in last:
            start, end = (
                drawn_at(part.place.point, x_limits) for part in (first[name], last[name])
            )
            label = first[name].label
            yield number, _arrow((start, end), change.changes[RUNTIME], after.index, label)


def _by_name(marks: ProgramMarks, kind: Kind) -> dict[str, ShownPart]:
    """Return the drawn parts of a kind by their full names."""
    names = {
        f"{kind} {part.name!r}": part.name for part in parts_of(marks.subject.measurement, kind)
    }
    return {
        names[part.subject.measurement.counted.selected or ""]: part
        for part in marks.parts.drawn
        if part.kind == kind
    }


def _at_dram(marks: ProgramMarks, x_limits: Interval) -> Place | None:
    """Return where a program is drawn over its traffic at DRAM; None: nowhere."""
    points = [point for point in marks.points if point.level == "dram"]
    return drawn_at(points[0], x_limits) if points else None


def _arrow(places: tuple[Place, Place], change: Change, index: int, name: str) -> Line:
    text = "" if change.ratio is None else f"{times_text(change.ratio)} time"
    label = Label(text, where="beside", rank=_RANK_OF_CHANGES, is_optional=True) if text else None
    return Line(
        kind="change",
        places=places,
        ink=index,
        label=label,
        name=name,
        summary=text,
    )


def _notes(comparisons: Sequence[ProgramComparison], machine: Machine) -> Iterator[str]:
    for comparison in comparisons:
        own = comparison.after.analysis
        if own is not None and own.machine != machine:
            yield (
                f"{printable(comparison.after.title)} is drawn below the roofs of "
                f"{printable(machine.name)}, not of its own machine"
            )
        if not comparison.is_same_work:
            yield f"{printable(comparison.after.title)}: {comparison.differences[0].seen}"
