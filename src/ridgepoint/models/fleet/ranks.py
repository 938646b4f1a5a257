"""Ranks of machines by one number each, with ties where the numbers do not tell them apart."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ridgepoint.core.estimate import Estimate
from ridgepoint.models.fleet import Member, best_rate, ends_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A machine's rank by a number.

    Parameters
    ----------
    member : Member
    value : Estimate
    rank : int
        1 plus the number of machines that are better beyond their intervals.
    ties : int
        Number of machines that cannot be told apart from it.
    cost : float or None
        Money for one unit of the resource: the price per second over the rate; None: no price.
    """

    member: Member
    value: Estimate
    rank: int
    ties: int
    cost: float | None = None


def ranks(values: Sequence[Estimate], *, largest_first: bool = True) -> list[tuple[int, int]]:
    """Return the rank of each number, and how many others it is tied with.

    Parameters
    ----------
    values : sequence of Estimate
    largest_first : bool
        Whether the largest number is the best.

    Notes
    -----
    A number is better than another if its 95 % interval lies wholly beyond the other's; see
    `ridgepoint.models.fleet.ends_of` for what has none. With many machines each pair is a chance
    of a false difference, so this asks for more than that the interval of the ratio leaves out 1.
    The rank is 1 plus the number of those that are better: of three machines the first may be tied
    with the second, the second with the third, and the first still be better than the third.

    Examples
    --------
    >>> ranks([Estimate([2.0], interval=(1.5, 2.5)), Estimate([3.0], interval=(2.0, 4.0)),
    ...        Estimate([5.0])])
    [(2, 1), (2, 1), (1, 0)]
    """
    sign = 1.0 if largest_first else -1.0
    ends = [sorted((sign * low, sign * high)) for low, high in map(ends_of, values)]
    lows, highs = sorted(low for low, _ in ends), sorted(high for _, high in ends)
    found = []
    for low, high in ends:
        better = len(ends) - bisect_right(lows, high)
        worse = bisect_left(highs, low)
        found.append((1 + better, len(ends) - better - worse - 1))
    return found


def ranking(
    members: Sequence[Member], resource: str, *, cores: int | None = None
) -> tuple[Ranked, ...]:
    """Return the machines that have a ceiling of a resource, the fastest first.

    Parameters
    ----------
    members : sequence of Member
    resource : str
    cores : int or None
        Cores kept busy, at most each machine's; None: all.
    """
    rated = [
        (member, rate)
        for member in members
        if (rate := best_rate(member.machine, resource, cores=cores)) is not None
    ]
    placed = [
        Ranked(
            member=member,
            value=rate,
            rank=rank,
            ties=ties,
            cost=None if member.price is None else member.price.per_s / rate.median,
        )
        for (member, rate), (rank, ties) in zip(
            rated, ranks([rate for _, rate in rated]), strict=True
        )
    ]
    return tuple(sorted(placed, key=lambda one: (one.rank, -one.value.median, one.member.name)))
