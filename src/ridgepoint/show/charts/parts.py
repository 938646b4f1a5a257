"""The regions and functions of a program that a roofline shows, with text about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ridgepoint.core.presenting import first_of
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.one_bandwidth import bytes_of
from ridgepoint.models.points import PartPoint, part_point, says_nothing
from ridgepoint.models.thresholds import CERTAIN
from ridgepoint.models.work import hardly_any
from ridgepoint.show.charts.subjects import Subject, summary_of
from ridgepoint.show.symbols import shown_symbol
from ridgepoint.show.words import percent, printable, shown_name
from ridgepoint.show.work import hardly_any_text

Kind = Literal["region", "function"]

MOST_REGIONS, MOST_FUNCTIONS = 8, 6
"""More points with a name each hide the roofs."""
_LEAST_SHARE = 0.01
_LONGEST_NAME, _LONGEST_LABEL = 40, 20
_MOST_NAMED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPart:
    """A region or a function of a program that is drawn.

    Parameters
    ----------
    kind : {"region", "function"}
    subject : Subject
    summary : str
        Its share of the time and its place in figures, for the key.
    place : PartPoint
    share : float or None
        Share of the program's runtime; None: one of the two times is unknown.
    """

    kind: Kind
    subject: Subject
    summary: str
    place: PartPoint
    share: float | None

    @property
    def label(self) -> str:
        """Its name, shortened to stand beside its point."""
        return _cut(self.subject.name, _LONGEST_LABEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownParts:
    """The parts of one program in a picture.

    Parameters
    ----------
    drawn : tuple of ShownPart
        Parts with most time first, then those of unknown time.
    notes : tuple of str
        Which parts have no point, and why.
    """

    drawn: tuple[ShownPart, ...] = ()
    notes: tuple[str, ...] = ()

    def __add__(self, others: ShownParts) -> ShownParts:
        """Return both together."""
        return ShownParts(drawn=self.drawn + others.drawn, notes=self.notes + others.notes)


def shown_parts(whole: Subject, *, clock_hz: float | None = None) -> ShownParts:
    """Return the regions and the functions of a program that a picture shows.

    With a core clock, their rates are told per cycle.
    """
    return _regions(whole, clock_hz) + _functions(whole, clock_hz)


def _regions(whole: Subject, clock_hz: float | None) -> ShownParts:
    """Return the regions of a program, or none if a part of a region was counted alone.

    The times of regions within it are not known, and the point of the whole is that of the part.
    """
    counted = whole.measurement.counted
    if counted.selected is not None:
        return ShownParts()
    regions = (
        _subject(printable(region.name), part)
        for region, part in zip(counted.regions, whole.analysis.regions, strict=True)
    )
    return _shown("region", regions, whole, most=MOST_REGIONS, clock_hz=clock_hz)


def _functions(whole: Subject, clock_hz: float | None) -> ShownParts:
    """Return the functions that do work, and whose time is known well enough."""
    runtime, metric = whole.placement.runtime_s, whole.placement.metric
    certain, uncertain = [], []
    for part in whole.analysis.functions:
        function, timed = part.counts, part.timed
        if function is None or part.analysis is None or hardly_any(function.counts, metric):
            continue
        name = shown_symbol(function.name, function.object)
        if timed.relative_error <= CERTAIN:
            certain.append(_subject(name, part.analysis))
        elif runtime is not None and timed.runtime_s.median > _LEAST_SHARE * runtime.median:
            uncertain.append(name)
    shown = _shown("function", certain, whole, most=MOST_FUNCTIONS, clock_hz=clock_hz)
    if not uncertain:
        return shown
    several = "s" if len(uncertain) > 1 else ""
    note = (
        f"no point for function{several} {first_of(uncertain, _MOST_NAMED)}: the time is not known "
        f"to {percent(CERTAIN)}; ask for more runs, or give the program more to do"
    )
    return replace(shown, notes=(*shown.notes, note))


def _subject(name: str, part: Analysis) -> Subject:
    """Return a part of a program under a name that is safe to print, shortened if it is long."""
    return Subject(name=_cut(name, _LONGEST_NAME), analysis=part)


def _cut(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _shown(
    kind: Kind, parts: Iterable[Subject], whole: Subject, *, most: int, clock_hz: float | None
) -> ShownParts:
    """Return the points of at most `most` parts of a program."""
    # The notes already say that a program has no work.
    has_no_work = says_nothing(whole.analysis)
    placed: list[ShownPart] = []
    missing = []
    for part in sorted(parts, key=_by_time):
        place = part_point(part.analysis)
        if place is not None:
            placed.append(_shown_part(kind, part, place, whole, clock_hz))
        elif not (has_no_work and says_nothing(part.analysis)):
            missing.append(part)
    drawn, notes = placed[:most], _absences(kind, missing)
    if len(placed) > len(drawn):
        left = len(placed) - len(drawn)
        more = f"1 more {kind} is" if left == 1 else f"{left} more {kind}s are"
        measure = "took most time" if drawn[-1].place.is_timed else "executed most instructions"
        notes = (f"{more} not drawn: the {len(drawn)} that {measure} are", *notes)
    return ShownParts(drawn=tuple(drawn), notes=notes)


def _by_time(part: Subject) -> tuple[float, int]:
    """Sort by time, then by instructions, both descending; unknown times last."""
    runtime, counts = part.placement.runtime_s, part.measurement.counted.counts
    return 0.0 if runtime is None else -runtime.median, -counts.instructions


def _shown_part(
    kind: Kind, part: Subject, place: PartPoint, whole: Subject, clock_hz: float | None
) -> ShownPart:
    """Return a part with its share of the program's time, and its place in words."""
    share, own, total = None, part.placement.runtime_s, whole.placement.runtime_s
    if own is not None and total is not None:
        share = own.median / total.median
    say_cores = part.placement.cores != whole.placement.cores
    summary = summary_of(part, say_cores=say_cores, clock_hz=clock_hz)
    level = shown_name(place.point.level)
    if place.point.intensity == float("inf"):
        summary += f", no {level} traffic: drawn at the right edge"
    elif place.point.level != "dram":
        summary += f", drawn over its traffic at {level}"
    if share is not None:
        summary = f"{percent(share)} of the time, {summary}"
    return ShownPart(kind=kind, subject=part, summary=summary, place=place, share=share)


def _absences(kind: Kind, missing: Sequence[Subject]) -> tuple[str, ...]:
    """Return which parts have no point, by the reason."""
    names: dict[str, list[str]] = {}
    for part in missing:
        names.setdefault(_reason(part), []).append(part.name)
    return tuple(
        f"no point for {kind}{'s' if len(of) > 1 else ''} {first_of(of, _MOST_NAMED)}: {reason}"
        for reason, of in names.items()
    )


def _reason(part: Subject) -> str:
    dram = part.measurement.traffic_at("dram")
    if says_nothing(part.analysis):
        return hardly_any_text(part.measurement.counted.counts, part.placement.metric)
    moved = bytes_of(dram, part.analysis.bandwidth)
    if moved is None:
        return "DRAM traffic is unknown"
    if moved == 0:
        return "its time is unknown, and it moved no bytes at DRAM"
    return "its time and its limit are unknown"
