"""What a call does, from shorter calls that each do some rounds of its outermost loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.counted import Counted, TrafficEstimate, TrafficInterval
from ridgepoint.core.counts import COUNT_NAMES, Counts, FlopCount, FlopKind, Traffic
from ridgepoint.models.caches.burst_estimate import Interval
from ridgepoint.models.caches.partial_loop import of_whole_loop


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Calls that do a part of the work of another one, and are counted in its place.

    Parameters
    ----------
    length : float
        Rounds of the whole loop.
    rounds : tuple of int
        Rounds that each call does, evenly apart within the loop.
    functions : tuple of bytes
        The calls, packed for the process that counts them.
    """

    length: float
    rounds: tuple[int, ...]
    functions: tuple[bytes, ...]


def whole(counted: Sequence[Counted], parts: Parts) -> Counted:
    """Return the counts of a whole call, with the interval of its traffic.

    Parameters
    ----------
    counted : sequence of Counted
        Of one call of each of the functions, in their order.
    parts : Parts
    """

    def fitted(amounts: Sequence[int]) -> Interval:
        return of_whole_loop(parts.rounds, amounts, parts.length)

    def sized(amounts: Sequence[int]) -> int:
        return max(0, round(fitted(amounts).value))

    traffic, levels = _traffic([one.traffic for one in counted], fitted)
    return replace(
        counted[0],
        counts=_counts([one.counts for one in counted], sized),
        traffic=traffic,
        estimate=TrafficEstimate(
            bursts=len(counted),
            share=min(1.0, sum(parts.rounds) / parts.length),
            levels=levels,
            of="rounds",
        ),
    )


def _counts(parts: Sequence[Counts], sized: Callable[[Sequence[int]], int]) -> Counts:
    amounts: dict[str, Any] = {
        name: _known([getattr(part, name) for part in parts], sized) for name in COUNT_NAMES
    }
    kinds = {kind.kind: kind for part in parts for kind in part.flop}
    basic = [part.basic_operations for part in parts]
    known = [operations for operations in basic if operations is not None]
    return replace(
        parts[0],
        **amounts,
        flop=tuple(_flop(kind, parts, sized) for kind in kinds.values()),
        basic_operations=BasicOperations(
            **{
                field.name: sized([getattr(operations, field.name) for operations in known])
                for field in fields(BasicOperations)
            }
        )
        if len(known) == len(parts)
        else None,
    )


def _flop(
    kind: FlopCount, parts: Sequence[Counts], sized: Callable[[Sequence[int]], int]
) -> FlopCount:
    """Return the flop of one kind of instruction; a part without that kind did none."""

    def amounts(name: str) -> list[int | None]:
        found: list[dict[FlopKind, FlopCount]] = [{k.kind: k for k in p.flop} for p in parts]
        return [getattr(own[kind.kind], name) if kind.kind in own else 0 for own in found]

    names = ("flop", "masked_flop", "useful_flop", "instructions")
    changed: dict[str, Any] = {name: _known(amounts(name), sized) for name in names}
    return replace(kind, **changed)


def _traffic(
    parts: Sequence[Sequence[Traffic]], fitted: Callable[[Sequence[int]], Interval]
) -> tuple[tuple[Traffic, ...], tuple[TrafficInterval, ...]]:
    """Return the traffic of every level, and the intervals where both directions are known."""
    traffic, levels = [], []
    for own in zip(*parts, strict=True):
        read = fitted([part.read_bytes for part in own])
        written = [part.write_bytes for part in own if part.write_bytes is not None]
        wrote = fitted(written) if len(written) == len(own) else None
        traffic.append(
            Traffic(
                level=own[0].level,
                read_bytes=round(max(0.0, read.value)),
                write_bytes=None if wrote is None else round(max(0.0, wrote.value)),
            )
        )
        if wrote is not None:
            levels.append(
                TrafficInterval(
                    level=own[0].level, read_bytes=_ends(read), write_bytes=_ends(wrote)
                )
            )
    return tuple(traffic), tuple(levels)


def _ends(interval: Interval) -> tuple[int, int]:
    return round(interval.low), round(interval.high)


def _known(amounts: Sequence[int | None], sized: Callable[[Sequence[int]], int]) -> int | None:
    known = [amount for amount in amounts if amount is not None]
    return sized(known) if len(known) == len(amounts) else None
