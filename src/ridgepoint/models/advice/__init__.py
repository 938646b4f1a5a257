"""What to do next: advice with evidence, from a program's place under the roofs and its mix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import isfinite
from pathlib import PurePath

from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.models.advice.compute import on_instructions
from ridgepoint.models.advice.memory import on_memory
from ridgepoint.models.advice.subject import Advice, Subject
from ridgepoint.models.advice.threads import on_threads
from ridgepoint.models.placement import Placement
from ridgepoint.models.thresholds import WAITS
from ridgepoint.models.work import bop_source, hardly_any

__all__ = [
    "MOST_ADVICE",
    "TRY_BOPS",
    "Advice",
    "AdvisedPart",
    "Subject",
    "advice",
    "whole_subject",
]

MOST_ADVICE = 5
"""More is a list to choose from, not what to do next."""

TRY_BOPS = "try-bops"
"""Says nothing of what a program could do better: to look at it otherwise."""

AdvisedPart = tuple[float, Subject, tuple[str, ...]]
"""Share of the runtime, a part of the program, and the names of the parts that may contain it."""


def advice(whole: Subject, parts: Iterable[AdvisedPart] = ()) -> tuple[Advice, ...]:
    """Return what to do next about a measured program, its regions and its functions.

    Parameters
    ----------
    whole : Subject
    parts : iterable of (float, Subject, tuple of str)
        Share of the runtime, the part, and the names of the parts that may contain it, for each
        timed region and function with a share of `LEAST_PART` or more.

    Returns
    -------
    tuple of Advice
        Largest gain for the whole program first, at most `MOST_ADVICE`; empty where the numbers
        support none. `TRY_BOPS` comes last where there is hardly any floating-point work.

    Notes
    -----
    A gain is the runtime over the bound of the changed demand: an upper limit, never a promise.
    The gain of a region or function refers to that part; the order is by the resulting gain of
    the program (Amdahl). There is no advice where counts and time are of different code, where
    a roof is passed, or where the program waits.
    """
    name = whole.name
    gains = [(step.gain or 1.0, name, step) for step in _of(whole)]
    for share, part, inside in parts:
        steps = list(_of(part))
        codes = {step.code for step in steps}
        # Advice that holds for a part is given for the part, not for everything around it; and a
        # part's own time tells more about it than that of the whole.
        gains = [
            (gain, of, step)
            for gain, of, step in gains
            if of not in {name, *inside} or not (step.code in codes or _is_about(step, part.name))
        ]
        gains += [(_of_the_whole(share, step.gain), part.name, step) for step in steps]
    ranked = sorted(gains, key=lambda entry: -entry[0])
    on_metric = tuple(_on_metric(whole))
    return (*(step for _, _, step in ranked[: MOST_ADVICE - len(on_metric)]), *on_metric)


def whole_subject(measurement: Measurement, placement: Placement, machine: Machine) -> Subject:
    """Return a program as a subject for advice."""
    name = PurePath(measurement.command[0]).name
    return Subject(name=name, measurement=measurement, placement=placement, machine=machine)


def _of(subject: Subject) -> Iterator[Advice]:
    """Yield all advice on a program or a region."""
    placement, counted = subject.placement, subject.measurement.counted
    timed = subject.measurement.timed
    if placement.bound is None or counted.partial is not None:
        return
    # A count or a ceiling is off.
    if placement.is_above_roof and subject.runtime_s is not None:
        return
    if timed is not None and timed.cores_busy < WAITS:
        return
    in_flop = subject.placement.metric == "flop"
    on_work = on_instructions(subject) if in_flop else ()
    for step in (*on_memory(subject), *on_work, *on_threads(subject)):
        # Without another known roof nothing limits the gain: its size is unknown.
        yield step if step.gain is None or isfinite(step.gain) else replace(step, gain=None)


def _on_metric(whole: Subject) -> Iterator[Advice]:
    """Yield the advice to count another kind of work where flop tell nothing about a program."""
    counts = whole.counts
    if whole.placement.metric != "flop" or not hardly_any(counts) or bop_source(counts) is None:
        return
    yield Advice(
        code=TRY_BOPS,
        about=whole.name,
        seen="hardly any floating point" if counts.work_flop else "no floating point",
        what="try --work bops: it counts every computation, comparison and address as work",
        gain=None,
    )


def _is_about(step: Advice, name: str) -> bool:
    """Return whether advice is about a function, with or without its line."""
    return step.about == name or step.about.startswith(f"{name} (")


def _of_the_whole(share: float, gain: float | None) -> float:
    """Return the gain of the whole that follows from a part's gain (Amdahl's law)."""
    return 1.0 if gain is None else 1.0 / (1.0 - share + share / gain)
