"""The functions and regions of two programs, matched by what they are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.timed import TimedFunction
from ridgepoint.models.comparing.changes import Change
from ridgepoint.models.comparing.quantities import (
    INSTRUCTIONS,
    RUNTIME,
    Amounts,
    amounts_of_part,
)
from ridgepoint.models.work import Metric

Kind = Literal["function", "region"]

OWN = "(the program)"
"""Stands for the program's own file, which has another name or place in another version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A function or a region of one program.

    Parameters
    ----------
    kind : {"function", "region"}
    name : str
    object : str or None
        Name of the file that holds a function's code, without its folder; `OWN`: that of the
        program. None: a region, or code made at run time.
    amounts : mapping of str to Amount
    """

    kind: Kind
    name: str
    object: str | None
    amounts: Amounts

    @property
    def key(self) -> tuple[str | None, str]:
        """What it is matched by."""
        return self.object, self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class PartChange:
    """A part that both programs have.

    Parameters
    ----------
    part : Part
        As it was before.
    changes : mapping of str to Change
    weight : float
        The largest difference in any amount, as a share of the whole program's.
    """

    part: Part
    changes: Mapping[str, Change]
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PartChanges:
    """The parts of two programs, of one kind.

    Parameters
    ----------
    kind : {"function", "region"}
    matched : tuple of PartChange
        Largest difference first.
    only_before, only_after : tuple of Part
        Most instructions, or time, first.
    ambiguous : tuple of str
        Names that several parts of one program have, which are matched by nothing.
    """

    kind: Kind
    matched: tuple[PartChange, ...] = ()
    only_before: tuple[Part, ...] = ()
    only_after: tuple[Part, ...] = ()
    ambiguous: tuple[str, ...] = ()

    def named(self, name: str) -> list[PartChange]:
        """Return the matched parts of a name; several objects may have a function of it."""
        return [change for change in self.matched if change.part.name == name]


def parts_of(
    measured: Measurement | Timing, kind: Kind, metric: Metric = "flop"
) -> tuple[Part, ...]:
    """Return the functions or the regions of a program that were counted or timed."""
    found = _functions(measured, metric) if kind == "function" else _regions(measured, metric)
    return tuple(found)


def matched_parts(
    before: Sequence[Part], after: Sequence[Part]
) -> tuple[list[tuple[Part, Part]], PartChanges]:
    """Return pairs of parts of one name and one object, and what is in no pair.

    Parameters
    ----------
    before, after : sequence of Part
        Of one kind; not both empty.
    """
    kind = (*before, *after)[0].kind
    twice = {
        key
        for side in (before, after)
        for key, number in Counter(part.key for part in side).items()
        if number > 1
    }
    first, last = (
        {part.key: part for part in side if part.key not in twice} for side in (before, after)
    )
    return (
        [(part, last[key]) for key, part in first.items() if key in last],
        PartChanges(
            kind=kind,
            only_before=_by_size(part for key, part in first.items() if key not in last),
            only_after=_by_size(part for key, part in last.items() if key not in first),
            ambiguous=tuple(sorted({name for _, name in twice})),
        ),
    )


def weight_of(changes: Mapping[str, Change], whole: Sequence[Amounts]) -> float:
    """Return the largest difference as a share of the larger program's amount.

    Differences that were not told apart from noise have no weight.
    """
    shares = [0.0]
    for quantity, change in changes.items():
        wholes = [amounts[quantity].value for amounts in whole]
        totals = [value.median for value in wholes if value is not None]
        if change.before is None or change.after is None or not change.is_change:
            continue
        if totals and max(totals) > 0:
            shares.append(abs(change.after.median - change.before.median) / max(totals))
    return max(shares)


def _by_size(parts: Iterator[Part]) -> tuple[Part, ...]:
    def size(part: Part) -> tuple[float, float, str]:
        values = (part.amounts[quantity].value for quantity in (INSTRUCTIONS, RUNTIME))
        instructions, time_s = (0.0 if value is None else value.median for value in values)
        return -instructions, -time_s, part.name

    return tuple(sorted(parts, key=size))


def _regions(measured: Measurement | Timing, metric: Metric) -> Iterator[Part]:
    times = {region.name: region.runtime_s for region in measured.timed_regions}
    counted = () if isinstance(measured, Timing) else measured.counted.regions
    for region in counted:
        yield Part(
            kind="region",
            name=region.name,
            object=None,
            amounts=amounts_of_part(
                region.counts, region.traffic, times.pop(region.name, None), metric
            ),
        )
    for name, runtime_s in times.items():
        amounts = amounts_of_part(None, (), runtime_s, metric)
        yield Part(kind="region", name=name, object=None, amounts=amounts)


def _functions(measured: Measurement | Timing, metric: Metric) -> Iterator[Part]:
    """Yield functions that were counted, each with its time if that is known; then others."""
    sampled = () if measured.sampled is None else measured.sampled.functions
    times = {(timed.object, timed.name): timed for timed in sampled if timed.name is not None}
    counted = () if isinstance(measured, Timing) else measured.counted.functions
    own = PurePath(measured.command[0]).name
    for function in counted:
        timed = times.pop((function.object, function.name), None)
        yield Part(
            kind="function",
            name=function.name,
            object=_object(function.object, own),
            amounts=amounts_of_part(function.counts, function.traffic, _time(timed), metric),
        )
    for (path, name), timed in times.items():
        yield Part(
            kind="function",
            name=name or "",
            object=_object(path, own),
            amounts=amounts_of_part(None, (), _time(timed), metric),
        )


def _time(timed: TimedFunction | None) -> Estimate | None:
    return None if timed is None else timed.runtime_s


def _object(path: str | None, own: str) -> str | None:
    if path is None:
        return None
    name = PurePath(path).name
    return OWN if name == own else name
