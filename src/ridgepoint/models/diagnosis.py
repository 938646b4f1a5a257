"""A diagnosis: what follows from an analysis, how sure it is, and what would settle the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling, Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.advice import Advice
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.causes import Cause, Standing, run_again
from ridgepoint.models.causes.needs import nearest_ceilings, spread
from ridgepoint.models.own_roofs import COMPUTE, ISSUE
from ridgepoint.models.work import used_precisions

Range = tuple[float, float]

_MORE_RUNS = "--repeat 15"
_ASKS: dict[str, tuple[str, ...]] = {
    "few-samples": (_MORE_RUNS,),
    "noisy": (_MORE_RUNS,),
    "coverage-unknown": ("--meter engine",),
}
"""Options of 'ridgepoint run' that would remove a caution, by its code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One piece of advice, and between what its largest gain lies.

    Parameters
    ----------
    advice : Advice
    gain : tuple of float or None
        The upper limit of the speed-up at both ends of the runtime's and the ceilings' ranges, at
        least 1; None: not known.
    """

    advice: Advice
    gain: Range | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A command that would settle what is not known.

    Parameters
    ----------
    command : str
    settles : tuple of str
        What it would tell: codes of causes and of cautions.
    """

    command: str
    settles: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Diagnosis:
    """What holds a program back, by which evidence, and how sure that is.

    Parameters
    ----------
    analysis : Analysis
        Of a program that was counted, on a machine or on none.

    Notes
    -----
    Ranges are those between the ends of the 95 % interval of the runtime, and of every ceiling; of
    fewer than six samples the least and the largest. They do not hold what cautions say.
    """

    analysis: Analysis

    def by(self, standing: Standing) -> tuple[Cause, ...]:
        """Return the causes that stand so."""
        return tuple(cause for cause in self.analysis.causes if cause.standing == standing)

    @cached_property
    def doubts(self) -> tuple[Caution, ...]:
        """The cautions that could change the verdict."""
        return tuple(caution for caution, matters in self.analysis.doubts.items() if matters)

    @property
    def ceilings(self) -> tuple[Ceiling, ...]:
        """The ceilings behind its roofs: the fastest for each limit, at the next core counts.

        Each is of the limit, and its rate is what moves there: roofs are made of that. A pattern's
        own rate leaves out the lines that its stores fetch.
        """
        placement = self.analysis.placement
        if placement is None or placement.bound is None:
            return ()
        amounts = placement.bound.known.amounts
        works = [n for n in used_precisions(amounts) if placement.machine.knows(n)]
        names = [
            name
            for constraint in placement.bound.constraints_s
            for name in (works if constraint == COMPUTE else (constraint,))
        ]
        return tuple(
            dict.fromkeys(
                _of_limit(ceiling, name)
                for name in dict.fromkeys(names)
                for ceiling in nearest_ceilings(placement.machine, name, placement.cores)
            )
        )

    @property
    def attainable_per_s(self) -> Range | None:
        """Between what the attainable performance lies, flop/s or BOP/s; None: not known."""
        return _range([one.placement.attainable_per_s for one in self._ends if one.placement])

    @property
    def efficiency(self) -> Range | None:
        """Between what the efficiency lies; None: not timed, or no bound."""
        return _range([one.placement.efficiency for one in self._ends if one.placement])

    @property
    def is_stable(self) -> bool | None:
        """Whether the same limit is found at all ends of the ranges; None: there is no verdict."""
        return None if self.analysis.conclusion is None else not self.other_limits

    @cached_property
    def other_limits(self) -> tuple[str, ...]:
        """What limits it at other ends of the runtime's, the ceilings' and the caches' ranges.

        Codes of causes; empty text: nothing that is known.
        """
        own, limiter = _limiting(self.analysis), _limiter(self.analysis)
        placement = self.analysis.placement
        found = {_limiting(one) for one in self._ends}
        # Of other caches only the bound is known.
        bounds = () if placement is None else [end.bound for end in placement.ends]
        found |= {str(bound.limiter) for bound in bounds if bound is not None} - {limiter}
        return tuple(sorted(found - {own}))

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """What to do next, the largest gain for the program first."""
        least, most = (self._gains(end) for end in (self._low, self._high))
        return tuple(
            Step(advice=advice, gain=_gain_range(advice, least, most))
            for advice in self.analysis.advice
        )

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """Commands that would settle what is unknown or doubtful: one run that asks for all of it.

        A repeated measurement of the machine is a command of its own.
        """
        again: dict[str, list[str]] = {}
        others: dict[str, list[str]] = {}
        for cause in self.by("unknown"):
            for option in cause.again:
                again.setdefault(option, []).append(cause.code)
            if cause.settle and not cause.again:
                others.setdefault(cause.settle, []).append(cause.code)
        for caution in self.doubts:
            for option in _ASKS.get(caution.code, ()):
                again.setdefault(option, []).append(caution.code)
        checks = [Check(command=text, settles=_once(codes)) for text, codes in others.items()]
        if again:
            command = run_again(self.analysis.measurement, *_compatible(again))
            codes = [code for found in again.values() for code in found]
            checks.append(Check(command=command, settles=_once(codes)))
        return tuple(checks)

    @cached_property
    def _low(self) -> Analysis:
        """The shortest runtime below the lowest ceilings: the largest efficiency."""
        return at_end(self.analysis, runtime=0, ceilings=0)

    @cached_property
    def _high(self) -> Analysis:
        return at_end(self.analysis, runtime=1, ceilings=1)

    @cached_property
    def _ends(self) -> tuple[Analysis, ...]:
        """The analysis at all four ends of runtime and ceilings; empty: there is no machine."""
        if self.analysis.machine is None:
            return ()
        crossed = [
            at_end(self.analysis, runtime=runtime, ceilings=ceilings)
            for runtime, ceilings in product((0, 1), repeat=2)
            if runtime != ceilings
        ]
        return (self._low, *crossed, self._high)

    def _gains(self, end: Analysis) -> dict[tuple[str, str], float | None]:
        return {(advice.code, advice.about): advice.gain for advice in end.advice}


def at_end(analysis: Analysis, *, runtime: int, ceilings: int) -> Analysis:
    """Return an analysis as it were at one end of the ranges.

    Parameters
    ----------
    analysis : Analysis
    runtime, ceilings : int
        0: the lower end of the runtime, of every ceiling; 1: the upper one.
    """
    machine = analysis.machine
    return replace(
        analysis,
        measurement=_lasting(analysis.measurement, runtime),
        machine=None if machine is None else _reaching(machine, ceilings),
        cores=None if analysis.placement is None else analysis.placement.cores,
    )


def _lasting(measurement: Measurement, end: int) -> Measurement:
    """Return a measurement whose times are all those at one end of the runtime's range."""
    timed = measurement.timed
    if timed is None or not timed.runtime_s.median:
        return measurement
    factor = spread(timed.runtime_s)[end] / timed.runtime_s.median

    def scaled(estimate: Estimate) -> Estimate:
        return estimate.map(lambda seconds: seconds * factor)

    sampled = measurement.sampled
    return replace(
        measurement,
        timed=replace(
            timed,
            runtime_s=scaled(timed.runtime_s),
            cpu_s=scaled(timed.cpu_s),
            system_s=None if timed.system_s is None else scaled(timed.system_s),
        ),
        timed_regions=tuple(
            replace(
                region,
                runtime_s=None if region.runtime_s is None else scaled(region.runtime_s),
                busy_s=scaled(region.busy_s),
                cpu_s=None if region.cpu_s is None else scaled(region.cpu_s),
            )
            for region in measurement.timed_regions
        ),
        sampled=sampled
        and replace(
            sampled,
            functions=tuple(
                replace(
                    function,
                    runtime_s=scaled(function.runtime_s),
                    cpu_s=function.cpu_s * factor,
                    first_s=None if function.first_s is None else function.first_s * factor,
                )
                for function in sampled.functions
            ),
        ),
    )


def _reaching(machine: Machine, end: int) -> Machine:
    """Return a machine whose ceilings are those at one end of their ranges."""
    return replace(
        machine,
        ceilings=tuple(
            ceiling
            if ceiling.rate is None
            else replace(ceiling, rate=Estimate([spread(ceiling.rate)[end]]))
            for ceiling in machine.ceilings
        ),
    )


def _of_limit(ceiling: Ceiling, name: str) -> Ceiling:
    """Return a ceiling with the rate at which its pattern moves a resource."""
    rate = ceiling.rate_of(RESOURCES[name])
    if rate is None or ceiling.rate is None:
        return ceiling
    moved = rate.median / ceiling.rate.median
    theory = None if ceiling.theoretical is None else ceiling.theoretical * moved
    return replace(
        ceiling, resource=name, rate=rate, theoretical=theory, read_share=None, write_share=None
    )


def _limiting(analysis: Analysis) -> str:
    """Return the code of what a verdict says that limits; empty: nothing that is known."""
    conclusion, explained = analysis.conclusion, analysis.explained
    if conclusion is None:
        return ""
    # Near its roof, at it, or above it by noise is the same limit.
    if conclusion.kind in {"at-roof", "roof", "above-roof", "not-timed"}:
        return _limiter(analysis)
    if conclusion.kind in {"mix", "above-mix"}:
        return COMPUTE
    if conclusion.kind == "issue":
        return ISSUE
    is_cause = conclusion.kind == "cause" and explained is not None
    cause = explained.cause if is_cause and explained is not None else None
    return "" if cause is None else cause.code


def _limiter(analysis: Analysis) -> str:
    placement = analysis.placement
    return "" if placement is None or placement.bound is None else str(placement.bound.limiter)


def _gain_range(
    advice: Advice,
    least: dict[tuple[str, str], float | None],
    most: dict[tuple[str, str], float | None],
) -> Range | None:
    """Return the gain at both ends; at an end where the advice is not given, there may be none."""
    if advice.gain is None:
        return None
    key = advice.code, advice.about
    ends = (least.get(key, 1.0) or 1.0, most.get(key, advice.gain) or advice.gain)
    return max(min(*ends, advice.gain), 1.0), max(*ends, advice.gain)


def _range(values: list[float | None]) -> Range | None:
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if known else None


def _once(codes: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(codes))


def _compatible(options: dict[str, list[str]]) -> Iterator[str]:
    """Yield options, of two that name one meter the first."""
    seen = set()
    for option in sorted(options):
        name = option.split(" ")[0]
        if name not in seen:
            seen.add(name)
            yield option
