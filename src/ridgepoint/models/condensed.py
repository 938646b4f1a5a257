"""A measurement in which functions that did very little are summed up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ridgepoint.core.counted import Counted, Remainder
from ridgepoint.core.counts import Counts, FunctionCounts, Traffic
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.timed import Sampled

LEAST_SHARE = 1e-4
"""A function stays that has this share of anything that all functions did together."""

_Key = tuple[str | None, str | None]


def condensed(measurement: Measurement) -> Measurement:
    """Return a measurement in which functions that did very little are one remainder.

    Parameters
    ----------
    measurement : Measurement

    Returns
    -------
    Measurement
        Every function stays that has `LEAST_SHARE` of the work of a precision, of the basic
        operations, of the instructions, of the bytes read or written at a memory level, or of
        the time in functions. The others are summed in the remainder, so the totals do not
        change.

    Notes
    -----
    For a PyTorch program, which passes through 39 000 functions, some hundreds stay.
    """
    return replace(measurement, counted=_condensed(measurement.counted, measurement.sampled))


def _condensed(counted: Counted, sampled: Sampled | None) -> Counted:
    also = None if counted.also is None else _condensed(counted.also, None)
    functions, timed = counted.functions, _timed(sampled)
    amounts = [dict(_amounts(function)) for function in functions]
    total: dict[str, int] = {}
    for own in amounts:
        for name, amount in own.items():
            total[name] = total.get(name, 0) + amount
    stays = [
        (function.object, function.name) in timed
        or any(amount and amount >= LEAST_SHARE * total[name] for name, amount in own.items())
        for function, own in zip(functions, amounts, strict=True)
    ]
    if all(stays):
        return replace(counted, also=also)
    left = [function for function, does in zip(functions, stays, strict=True) if not does]
    return replace(
        counted,
        functions=tuple(function for function, does in zip(functions, stays, strict=True) if does),
        remainder=_together(left, counted.remainder),
        also=also,
    )


def _amounts(function: FunctionCounts) -> Iterator[tuple[str, int]]:
    """Yield a function's amounts with the names of the sums to which they belong."""
    counts = function.counts
    yield "instructions", counts.instructions
    yield "undecoded", counts.undecoded
    yield from counts.work.items()
    if counts.basic_operations is not None:
        yield "bop", counts.basic_operations.total
    for part in function.traffic:
        yield f"{part.level}_read", part.read_bytes
        yield f"{part.level}_write", part.write_bytes or 0


def _timed(sampled: Sampled | None) -> set[_Key]:
    """Return the functions that took time."""
    if sampled is None:
        return set()
    least_s = LEAST_SHARE * sum(function.runtime_s.median for function in sampled.functions)
    return {
        (function.object, function.name)
        for function in sampled.functions
        if function.runtime_s.median >= least_s
    }


def _together(left: Sequence[FunctionCounts], before: Remainder | None) -> Remainder:
    """Return the sum of some functions and of an earlier remainder."""
    known = () if before is None else (before,)
    parts: list[FunctionCounts | Remainder] = [*left, *known]
    return Remainder(
        functions=len(left) + sum(remainder.functions for remainder in known),
        counts=Counts.total(part.counts for part in parts),
        traffic=Traffic.total(row for part in parts for row in part.traffic),
    )
