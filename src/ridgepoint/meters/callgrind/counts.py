"""Turns callgrind's costs per address into counts: what each function did."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ridgepoint.core.counts import Counts, FunctionCounts, Traffic, by_work
from ridgepoint.meters.callgrind.geometry import Geometry
from ridgepoint.meters.callgrind.profile import FunctionCosts, Profile
from ridgepoint.meters.decode import Operation, decode_each
from ridgepoint.meters.object_file import CodeStore, ObjectFile
from ridgepoint.meters.tally import Executed, distinct, tally

EVENTS = (
    *("Ir", "Dr", "Dw"),
    *("I1mr", "D1mr", "D1mw"),
    *("ILmr", "DLmr", "DLmw"),
    *("ILdmr", "DLdmr", "DLdmw"),
)
"""Events of ``--cache-sim=yes --simulate-wb=yes``, in the order in which they are written.

Dr and Dw are not used: Valgrind 3.19 splits the memory operand of a 256-bit FMA into one
access per lane. Loads and stores are those of the decoded instructions.
"""
_I1MR, _D1MR, _D1MW, _ILMR, _DLMR, _DLMW, _ILDMR, _DLDMR, _DLDMW = range(3, 12)


def merged(profiles: Iterable[Profile]) -> dict[tuple[str | None, str], FunctionCosts]:
    """Return the costs of all profiles together."""
    total: dict[tuple[str | None, str], FunctionCosts] = {}
    for profile in profiles:
        for key, costs in profile.functions.items():
            seen = total.setdefault(key, FunctionCosts(events=[0] * len(costs.events)))
            seen.events = [a + b for a, b in zip(seen.events, costs.events, strict=True)]
            for address, n in costs.executions.items():
                seen.executions[address] = seen.executions.get(address, 0) + n
    return total


def count_functions(
    costs: dict[tuple[str | None, str], FunctionCosts], *, code: CodeStore, geometry: Geometry
) -> tuple[FunctionCounts, ...]:
    """Return what each function did, by work, then by instructions, descending."""
    functions = [
        FunctionCounts(
            name=name,
            object=path,
            counts=counts,
            traffic=_traffic(counts, cost.events, geometry=geometry),
        )
        for ((path, name), cost), counts in zip(costs.items(), _counts(costs, code), strict=True)
    ]
    return by_work(functions)


def _counts(
    costs: dict[tuple[str | None, str], FunctionCosts], code: CodeStore
) -> Iterable[Counts]:
    operations, where = distinct(
        operation
        for (path, _), cost in costs.items()
        for operation in _operations(cost.executions, None if path is None else code.get(path))
    )
    executions = np.array(
        [n for cost in costs.values() for n in cost.executions.values()], dtype=np.int64
    )
    return tally(
        Executed(
            operations=operations, operation=where, executions=executions, iterations=executions
        ),
        groups=np.repeat(np.arange(len(costs)), [len(c.executions) for c in costs.values()]),
        n_groups=len(costs),
    )


def _operations(addresses: Iterable[int], file: ObjectFile | None) -> Iterable[Operation | None]:
    """Decode the instructions of one function, in their order; None where no bytes are."""
    addresses = tuple(addresses)
    segment = None if file is None else file.segment_of(addresses[0])
    if segment is None:
        return (None for _ in addresses)
    return decode_each(segment.code, (address - segment.address for address in addresses))


def _traffic(counts: Counts, events: list[int], *, geometry: Geometry) -> tuple[Traffic, ...]:
    """Return the traffic per level.

    callgrind does not simulate write-backs from L1, nor say which lines of the last level are
    still dirty at the end: both are None.
    """
    line = geometry.last.line_bytes
    misses = line * (events[_I1MR] + events[_D1MR] + events[_D1MW])
    parts = [
        counts.l1_traffic,
        Traffic(level="l2", read_bytes=misses, write_bytes=None),
        Traffic(
            level="dram",
            read_bytes=line * (events[_ILMR] + events[_DLMR] + events[_DLMW]),
            write_bytes=line * (events[_ILDMR] + events[_DLDMR] + events[_DLDMW]),
        ),
    ]
    if geometry.levels == 1:
        del parts[1]
    return tuple(parts)
