"""The key of a roofline, and the notes below it: what marks and programs are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ridgepoint.show.chart import Entry
from ridgepoint.show.charts.given_marks import GivenMarks
from ridgepoint.show.charts.program_marks import SHAPES, ProgramMarks
from ridgepoint.show.charts.subjects import absences_of
from ridgepoint.show.words import partial_note, shown_name


def key(
    programs: Sequence[ProgramMarks], points: Sequence[GivenMarks], *, say_cores: bool
) -> Iterator[Entry]:
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
    several = len(programs) + len(points) > 1
    for program in programs:
        yield from program.entries(several=several, say_cores=say_cores)
    for point in points:
        yield point.entry(several=several, say_cores=say_cores)
    every: list[ProgramMarks | GivenMarks] = [*programs, *points]
    capped = [program for program in every if program.is_capped]
    if capped:
        ink = capped[0].index if len(capped) == 1 else None
        yield Entry(text=_limits_text(capped), ink=ink, shape="cap")


def _limits_text(capped: Sequence[ProgramMarks | GivenMarks]) -> str:
    """Return the limits of the programs with a mark above their point."""
    limits: dict[str, list[str]] = {}
    for program in capped:
        limits.setdefault(program.limit_text, []).append(program.letter)
    if len(limits) == 1:
        return f"attainable: what bounds it ({next(iter(limits))})"
    named = (f"{', '.join(letters)} {limit}" for limit, letters in limits.items())
    return f"attainable: what bounds it ({'; '.join(named)})"


def program_notes(programs: Sequence[ProgramMarks], points: Sequence[GivenMarks]) -> list[str]:
    """Return the notes on single programs, with their letters."""
    whose: dict[str, list[str]] = {}
    for program in programs:
        part = partial_note(program.subject.measurement)
        notes = (*([part] if part else []), *absences_of(program.subject), *program.parts.notes)
        for text in notes:
            whose.setdefault(text, []).append(program.letter)
    for point in points:
        for text in point.notes:
            whose.setdefault(text, []).append(point.letter)
    # A note that holds for every program needs no letters.
    return [
        text if len(letters) == len(programs) + len(points) else f"{', '.join(letters)}: {text}"
        for text, letters in whose.items()
    ]


def drawing_notes(programs: Sequence[ProgramMarks], points: Sequence[GivenMarks]) -> Iterator[str]:
    """Yield the meaning of bars, discs and colours."""
    parts = [part for program in programs for part in program.parts.drawn]
    if any(program.points for program in programs):
        of_functions = any(part.kind == "function" for part in parts)
        sampled = "; of functions: 95 % intervals" if of_functions else ""
        yield f"error bars: quartiles of performance{sampled}{_across(programs)}"
    if any(point.has_interval for point in points):
        yield "error bars of given points: the intervals that follow from those of their figures"
    kinds = dict.fromkeys(f"{part.kind}s" for part in parts if part.share)
    if kinds:
        yield f"pale discs: {' and '.join(kinds)}, with an area by their share of the time"
    above = [part.subject.name for part in parts if part.place.roof is not None]
    if above:
        yield f"red: above its roof, which the bar below it shows ({', '.join(above)})"


def _across(programs: Sequence[ProgramMarks]) -> str:
    """Return the meaning of bars along the intensity."""
    spans = [
        span
        for program in programs
        for point in program.points
        if (span := point.intensity_range) is not None
    ]
    estimated = any(span.runs is None for span in spans)
    several = any(span.runs is not None for span in spans)
    return ("; of intensity: quartiles of the counted runs" if several else "") + (
        "; of intensity: 95 % intervals of the estimated traffic" if estimated else ""
    )
