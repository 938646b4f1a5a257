"""What one of several equal calls did: sums divided, to the nearest whole number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import overload

from ridgepoint.counts import Counts, FunctionCounts, Traffic


def average_counts(counts: Counts, n: int) -> Counts:
    """Return the counts of one of `n` calls."""
    names = [field.name for field in fields(Counts) if field.name != "flop"]
    amounts = {name: _share(getattr(counts, name), n) for name in names}
    flop = tuple(
        replace(
            kind,
            flop=_share(kind.flop, n),
            masked_flop=_share(kind.masked_flop, n),
            instructions=_share(kind.instructions, n),
        )
        for kind in counts.flop
    )
    return Counts(**amounts, flop=flop)


def average_traffic(
    traffic: Sequence[Traffic], n: int, *, baseline: Sequence[Traffic] = ()
) -> tuple[Traffic, ...]:
    """Return the traffic of one of `n` calls, without that of as many calls of nothing.

    What the interpreter reads and writes around calls can be more than what they write; it is
    nearly the same around an empty function.
    """
    around = {part.level: part for part in baseline}
    return tuple(_average(part, n, around=around.get(part.level)) for part in traffic)


def average_functions(functions: Sequence[FunctionCounts], n: int) -> tuple[FunctionCounts, ...]:
    """Return what functions did in one of `n` calls; their lines are not told."""
    return tuple(
        FunctionCounts(
            name=each.name,
            object=each.object,
            counts=average_counts(each.counts, n),
            traffic=average_traffic(each.traffic, n),
        )
        for each in functions
    )


def _average(part: Traffic, n: int, *, around: Traffic | None) -> Traffic:
    read_bytes, write_bytes = part.read_bytes, part.write_bytes
    if around is not None:
        read_bytes = max(0, read_bytes - around.read_bytes)
        if write_bytes is not None:
            write_bytes = max(0, write_bytes - (around.write_bytes or 0))
    return replace(
        part,
        read_bytes=_share(read_bytes, n),
        write_bytes=_share(write_bytes, n),
        pending_write_bytes=_share(part.pending_write_bytes, n),
    )


@overload
def _share(amount: int, n: int) -> int: ...
@overload
def _share(amount: None, n: int) -> None: ...
@overload
def _share(amount: int | None, n: int) -> int | None: ...
def _share(amount: int | None, n: int) -> int | None:
    return None if amount is None else (2 * amount + n) // (2 * n)
