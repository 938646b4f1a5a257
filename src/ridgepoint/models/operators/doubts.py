"""Doubts about operators under their roofs: what is unknown, left out, or too good to be true."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ridgepoint.core.caution import Caution
from ridgepoint.core.machine import Machine
from ridgepoint.core.operators import shown_calls
from ridgepoint.core.presenting import amount, first_of
from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.advice.subject import percent
from ridgepoint.models.operators.least import least_demand
from ridgepoint.models.operators.placed import ABOVE, OperatorGroup, PlacedOperator, asks_nothing
from ridgepoint.models.thresholds import LEAST_PART, NAMED

if TYPE_CHECKING:
    from ridgepoint.models.operators import OperatorAnalysis

UNKNOWN_OPERATORS = "unknown-operators"
"""Code of the caution about operators of unknown demand."""

_MOST_NAMED = 3


def operator_doubts(analysis: OperatorAnalysis) -> tuple[Caution, ...]:
    """Return every caution about a profile on a machine, the recorder's own first."""
    profile = analysis.profile
    timed = () if profile.timed is None else profile.timed.cautions
    return (
        *profile.cautions,
        *timed,
        *_unknown(analysis),
        *_untimed(analysis),
        *_attached(analysis),
        *(() if analysis.machine is None else _of_machine(analysis)),
    )


def _of_machine(analysis: OperatorAnalysis) -> Iterator[Caution]:
    machine, profile = analysis.machine, analysis.profile
    assert machine is not None
    if analysis.is_elsewhere and analysis.whole.time_s is not None:
        yield Caution(
            "other-machine",
            f"the operators were timed on {profile.device_model!r}; the roofs are of "
            f"{machine.name!r}",
            "read from this how fast that machine could run them, not how close they come to "
            "its roofs",
        )
    if not machine.caches:
        yield Caution(
            "caches-unknown",
            f"the caches of {machine.name!r} are not known, so that all bytes of an operator "
            "count as DRAM traffic",
            "an operator whose arrays are still in a cache from the one before can be faster than "
            "this roof",
        )
    if profile.device == "cpu" and profile.threads is None and not analysis.is_elsewhere:
        yield Caution(
            "threads-unknown",
            "the number of threads of an operator is not known: its roofs are those of all "
            f"{machine.cores} cores",
            "if it runs on fewer, it is nearer to its roofs than is said here",
        )
    yield from _left_out(analysis)
    yield from _above(analysis)
    yield from _functions(analysis)


def _unknown(analysis: OperatorAnalysis) -> Iterator[Caution]:
    """Yield a caution about operators of unknown demand: how much time, which and why."""
    unknown = [one for one in analysis.operators if not one.operator.asked.is_known]
    if not unknown:
        return
    share = sum(one.share or 0.0 for one in unknown)
    is_timed = any(one.share is not None for one in unknown)
    how_much = (
        f"{percent(share)} of the operators' time is in" if is_timed else "the bound leaves out"
    )
    reasons = dict.fromkeys(
        f"{one.operator.name}: {one.operator.asked.unknown or 'its bytes are unknown'}"
        for one in unknown
    )
    yield Caution(
        UNKNOWN_OPERATORS,
        f"{how_much} {shown_calls(one.operator for one in unknown)} of unknown "
        f"demand ({first_of(reasons, _MOST_NAMED)})",
        "the bound holds without them and may be too low",
        effect=share if is_timed else None,
        on="time",
    )


def _untimed(analysis: OperatorAnalysis) -> Iterator[Caution]:
    if analysis.whole.time_s is None:
        return
    untimed = [
        one
        for one in analysis.operators
        if one.operator.time_s is None and not asks_nothing(one.operator)
    ]
    if untimed:
        names = dict.fromkeys(one.operator.name for one in untimed)
        yield Caution(
            "untimed-operators",
            f"{amount(len(untimed), 'operator')} could not be timed "
            f"({first_of(names, _MOST_NAMED)})",
            "shares of the time leave them out",
        )


def _attached(analysis: OperatorAnalysis) -> Iterator[Caution]:
    """Yield a caution if timing the operators made the program slower."""
    timed, attached_s = analysis.profile.timed, analysis.profile.attached_s
    if timed is None or attached_s is None or not timed.runtime_s.median > 0:
        return
    longer = attached_s.median / timed.runtime_s.median - 1
    if longer > LEAST_PART:
        yield Caution(
            "timing-operators",
            f"runs in which each operator was timed took {percent(longer)} longer than plain runs",
            "short operators seem longer than they are; the time of the whole is that of plain "
            "runs",
            on="time",
        )


def _left_out(analysis: OperatorAnalysis) -> Iterator[Caution]:
    """Yield a caution for each resource without a ceiling that operators ask for."""
    machine = analysis.machine
    assert machine is not None
    missing: dict[str, list[PlacedOperator]] = {}
    for one in analysis.operators:
        for name in _not_bounded(one, machine):
            missing.setdefault(name, []).append(one)
    for name, operators in missing.items():
        names_of = dict.fromkeys(one.operator.name for one in operators)
        yield Caution(
            "no-ceiling",
            f"{machine.name} has no {name} ceiling: that part of "
            f"{amount(len(operators), 'operator')} is left out ({first_of(names_of, _MOST_NAMED)})",
            "the bound still holds, but may be too low",
        )


def _not_bounded(placed: PlacedOperator, machine: Machine) -> Iterator[str]:
    """Yield the kinds of work, and the traffic at DRAM, for which the machine has no ceiling."""
    if placed.bound is not None:
        names: Iterable[str] = placed.bound.left_out
    else:
        demand = least_demand(placed.operator.asked, machine)
        names = () if demand is None else (name for name, x in demand.amounts.items() if x)
    return (name for name in names if RESOURCES[name].path in {"compute", "dram"})


def _above(analysis: OperatorAnalysis) -> Iterator[Caution]:
    above = [group for group in analysis.alike if _is_above(group)]
    if above:
        shown = [f"{group.name} {group.efficiency:.2f} times" for group in above]
        yield Caution(
            "above-roof",
            f"{amount(len(above), 'operator')} {'is' if len(above) == 1 else 'are'} faster than "
            f"the roof allows ({first_of(shown, _MOST_NAMED)}; "
            f"{percent(sum(group.share or 0.0 for group in above))} of the time)",
            "the library needs less than the rule says (another algorithm, such as Winograd's, "
            "another precision inside, or arrays that a cache still held), or a ceiling is too "
            "low: have the operators counted with check=True, and measure the machine again",
        )


def _is_above(group: OperatorGroup) -> bool:
    return group.efficiency is not None and any(
        one.explained_by == ABOVE for one in group.operators
    )


def _functions(analysis: OperatorAnalysis) -> Iterator[Caution]:
    """Yield a caution about evaluations of functions, which no roof bounds."""
    with_them = [one for one in analysis.operators if one.operator.asked.functions > 0]
    share = sum(one.share or 0.0 for one in with_them)
    if share >= NAMED:
        names = dict.fromkeys(one.operator.name for one in with_them)
        yield Caution(
            "functions",
            f"{percent(share)} of the operators' time is in operators that evaluate exp, erf and "
            f"the like or draw random numbers ({first_of(names, _MOST_NAMED)}), whose work depends "
            "on the library and is in no bound",
            "these operators may be nearer to what is possible than their roofs say",
        )
