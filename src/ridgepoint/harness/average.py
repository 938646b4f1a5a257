"""What one of several equal calls did: sums divided, to the nearest whole number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import overload

from ridgepoint.counts import Counts, Traffic


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


@overload
def _share(amount: int, n: int) -> int: ...
@overload
def _share(amount: None, n: int) -> None: ...
@overload
def _share(amount: int | None, n: int) -> int | None: ...
def _share(amount: int | None, n: int) -> int | None:
    return None if amount is None else (2 * amount + n) // (2 * n)
