"""What one of several equal calls did: differences of sums, divided to the nearest whole number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import overload

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.counts import COUNT_NAMES, Counts, FunctionCounts, Traffic


def average_counts(counts: Counts, n: int) -> Counts:
    """Return the counts of one of `n` calls."""
    amounts = {name: _share(getattr(counts, name), n) for name in COUNT_NAMES}
    flop = tuple(
        replace(
            kind,
            flop=_share(kind.flop, n),
            masked_flop=_share(kind.masked_flop, n),
            useful_flop=_share(kind.useful_flop, n),
            instructions=_share(kind.instructions, n),
        )
        for kind in counts.flop
    )
    basic = counts.basic_operations
    return Counts(
        **amounts,
        flop=flop,
        basic_operations=None
        if basic is None
        else _each_class(lambda done: _share(done, n), basic),
    )


def average_traffic(traffic: Sequence[Traffic], n: int) -> tuple[Traffic, ...]:
    """Return the traffic of one of `n` calls."""
    return tuple(
        replace(
            part,
            read_bytes=_share(part.read_bytes, n),
            write_bytes=_share(part.write_bytes, n),
            pending_write_bytes=_share(part.pending_write_bytes, n),
        )
        for part in traffic
    )


def average_functions(functions: Sequence[FunctionCounts], n: int) -> tuple[FunctionCounts, ...]:
    """Return what functions did in one of `n` calls; their lines are not told."""
    return tuple(
        FunctionCounts(
            name=function.name,
            object=function.object,
            counts=average_counts(function.counts, n),
            traffic=average_traffic(function.traffic, n),
        )
        for function in functions
    )


def difference_of_counts(many: Counts, few: Counts) -> Counts:
    """Return what many calls did more than few."""
    amounts = {name: _more(getattr(many, name), getattr(few, name)) for name in COUNT_NAMES}
    known = {kind.kind: kind for kind in few.flop}
    flop = []
    for kind in many.flop:
        other = known.get(kind.kind)
        if other is not None:
            kind = replace(  # noqa: PLW2901
                kind,
                flop=_more(kind.flop, other.flop),
                masked_flop=_more(kind.masked_flop, other.masked_flop),
                useful_flop=_more(kind.useful_flop, other.useful_flop),
                instructions=_more(kind.instructions, other.instructions),
            )
        flop.append(kind)
    basic = None
    if many.basic_operations is not None and few.basic_operations is not None:
        basic = _each_class(_more, many.basic_operations, few.basic_operations)
    return Counts(
        **amounts,
        flop=tuple(kind for kind in flop if kind.flop),
        basic_operations=basic,
    )


def difference_of_traffic(many: Sequence[Traffic], few: Sequence[Traffic]) -> tuple[Traffic, ...]:
    """Return what many calls moved more than few."""
    known = {part.level: part for part in few}
    return tuple(
        replace(
            part,
            read_bytes=_more(part.read_bytes, known[part.level].read_bytes),
            write_bytes=_more(part.write_bytes, known[part.level].write_bytes),
        )
        for part in many
    )


def _each_class(change: Callable[..., int], *parts: BasicOperations) -> BasicOperations:
    """Return basic operations whose classes are a function of those of others."""
    names = [field.name for field in fields(BasicOperations)]
    return BasicOperations(
        **{name: change(*(getattr(part, name) for part in parts)) for name in names}
    )


@overload
def _more(many: int, few: int) -> int: ...
@overload
def _more(many: int | None, few: int | None) -> int | None: ...
def _more(many: int | None, few: int | None) -> int | None:
    return None if many is None or few is None else max(0, many - few)


@overload
def _share(amount: int, n: int) -> int: ...
@overload
def _share(amount: None, n: int) -> None: ...
@overload
def _share(amount: int | None, n: int) -> int | None: ...
def _share(amount: int | None, n: int) -> int | None:
    return None if amount is None else (2 * amount + n) // (2 * n)
