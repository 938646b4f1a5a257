"""Machines that are out of line among others of the same model."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ridgepoint.core.estimate import Estimate
from ridgepoint.models.fleet import Member, best_rate, ends_of, ranked_resources

FEWEST = 5
"""Machines of one model below which nothing can be said: of four, two may be the odd ones."""

LEAST_DEVIATION = 0.05
"""A rate that is closer to its model's median is in line, however alike the others are."""

LEVEL = 0.01
"""Share of ceilings for which some machine is called out of line although all vary alike."""

# The modified z-score that the furthest of n machines exceeds in 1 % of 200,000 draws of n normal
# numbers, by n; tests draw them again. The usual 3.5 would be exceeded by a third of all fives.
_CRITICAL = {
    5: 18.8, 6: 10.8, 8: 8.2, 10: 6.9, 12: 6.4, 15: 6.1, 20: 5.3, 30: 4.8, 50: 4.5, 100: 4.4,
}  # fmt: skip

_NORMAL_MAD = 0.6745
"""Median absolute deviation of the normal distribution, in standard deviations."""
_NORMAL_95 = 1.96


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlier:
    """A ceiling of a machine that is out of line.

    Parameters
    ----------
    member : Member
    resource : str
    cores : int or None
        Number of busy cores; None: all.
    rate : Estimate
    median : float
        Of the machines of its model.
    deviation : float
        Rate over that median, minus 1.
    score : float
        Deviation of the logarithm of the rate from the median, in robust standard deviations.
    critical : float
        What the score of some machine exceeds in 1 % of fleets without an odd one.
    machines : int
        Number of machines of its model.
    is_apart : bool
        Whether its 95 % interval lies wholly outside those of all other machines.
    """

    member: Member
    resource: str
    cores: int | None
    rate: Estimate
    median: float
    deviation: float
    score: float
    critical: float
    machines: int
    is_apart: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Machines of one model, and which of them are out of line.

    Parameters
    ----------
    cpu : str
    cores : int
    members : tuple of Member
    outliers : tuple of Outlier or None
        The furthest first; None: too few machines to say.
    """

    cpu: str
    cores: int
    members: tuple[Member, ...]
    outliers: tuple[Outlier, ...] | None


def models(members: Sequence[Member]) -> tuple[Model, ...]:
    """Return the models of a fleet, and what is out of line among the machines of each.

    Notes
    -----
    Of each resource the rates on one core and on all cores are compared. The score is the modified
    z-score of Iglewicz and Hoaglin [1]_, ``0.6745 |x - median| / MAD``, of the logarithms x of the
    rates: up to half of the machines may be odd without hiding each other. The scale is at least
    the standard error of the rate itself. Its threshold depends on the number of machines, so that
    of a hundred ceilings without an odd machine one is taken to have one; what deviates by less
    than `LEAST_DEVIATION` is in line in any case.

    References
    ----------
    .. [1] B. Iglewicz, D. C. Hoaglin, "How to detect and handle outliers", ASQC Quality Press,
       1993.
    """
    grouped: dict[tuple[str, int], list[Member]] = {}
    for member in members:
        grouped.setdefault(member.model, []).append(member)
    return tuple(
        Model(
            cpu=cpu,
            cores=cores,
            members=tuple(alike),
            outliers=None if len(alike) < FEWEST else tuple(_outliers(alike)),
        )
        for (cpu, cores), alike in grouped.items()
    )


def critical_score(machines: int) -> float:
    """Return the score that the furthest of so many machines exceeds in 1 % of all fleets."""
    return _CRITICAL[max(n for n in _CRITICAL if n <= machines)]


def _outliers(alike: Sequence[Member]) -> list[Outlier]:
    found = [
        outlier
        for resource in ranked_resources(alike)
        for cores in (1, None)
        for outlier in _of_ceiling(alike, resource, cores)
    ]
    return sorted(found, key=lambda outlier: -abs(math.log1p(outlier.deviation)))


def _of_ceiling(alike: Sequence[Member], resource: str, cores: int | None) -> Iterator[Outlier]:
    if cores == 1 and alike[0].machine.cores == 1:
        return
    rated = [
        (member, rate)
        for member in alike
        if (rate := best_rate(member.machine, resource, cores=cores)) is not None
    ]
    if len(rated) < FEWEST:
        return
    logs = [math.log(rate.median) for _, rate in rated]
    middle = statistics.median(logs)
    spread = statistics.median(abs(each - middle) for each in logs) / _NORMAL_MAD
    critical = critical_score(len(rated))
    for number, (member, rate) in enumerate(rated):
        scale = max(spread, _noise(rate))
        deviation = math.expm1(logs[number] - middle)
        score = abs(logs[number] - middle) / scale if scale else math.inf
        if abs(deviation) > LEAST_DEVIATION and score > critical:
            others = [other for _, other in (*rated[:number], *rated[number + 1 :])]
            yield Outlier(
                member=member,
                resource=resource,
                cores=cores,
                rate=rate,
                median=math.exp(middle),
                deviation=deviation,
                score=score,
                critical=critical,
                machines=len(rated),
                is_apart=_is_apart(rate, others),
            )


def _noise(rate: Estimate) -> float:
    """Return the standard error of the logarithm of a rate; 0: it is a single number."""
    low, high = ends_of(rate)
    return math.log(high / low) / (2 * _NORMAL_95)


def _is_apart(rate: Estimate, others: Sequence[Estimate]) -> bool:
    low, high = ends_of(rate)
    ends = [ends_of(other) for other in others]
    return all(other_high < low for _, other_high in ends) or all(
        high < other_low for other_low, _ in ends
    )
