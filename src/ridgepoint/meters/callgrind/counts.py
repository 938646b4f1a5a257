"""Turns callgrind's costs per address into counts: what each function did."""

from __future__ import annotations

from collections.abc import Iterable

from ridgepoint.counts import Counts, FlopCount, FunctionCounts, Traffic
from ridgepoint.meters.callgrind.geometry import Geometry
from ridgepoint.meters.callgrind.profile import FunctionCosts, Profile
from ridgepoint.meters.decode import Operation, decode_each
from ridgepoint.meters.object_file import CodeStore, ObjectFile

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
        _count_function(name, path, cost, code=code, geometry=geometry)
        for (path, name), cost in costs.items()
    ]
    functions.sort(key=lambda one: (-one.counts.work_flop, -one.counts.instructions, one.name))
    return tuple(functions)


def _count_function(
    name: str, path: str | None, costs: FunctionCosts, *, code: CodeStore, geometry: Geometry
) -> FunctionCounts:
    file = None if path is None else code.get(path)
    counts = _tally(costs.executions, _operations(costs.executions, file))
    return FunctionCounts(
        name=name,
        object=path,
        counts=counts,
        traffic=_traffic(counts, costs.events, geometry=geometry),
    )


def _operations(addresses: Iterable[int], file: ObjectFile | None) -> Iterable[Operation | None]:
    """Decode the instructions of one function, in their order; None where no bytes are."""
    addresses = tuple(addresses)
    segment = None if file is None else file.segment_of(addresses[0])
    if segment is None:
        return (None for _ in addresses)
    return decode_each(segment.code, (address - segment.address for address in addresses))


def _tally(executions: dict[int, int], operations: Iterable[Operation | None]) -> Counts:
    instructions = branches = loads = stores = undecoded = 0
    load_bytes = store_bytes = non_temporal = 0
    kinds: dict[tuple[str, int, bool], list[int]] = {}
    for n, operation in zip(executions.values(), operations, strict=True):
        instructions += n
        if operation is None:
            undecoded += n
            continue
        if operation.is_branch:
            branches += n
        if operation.is_load:
            loads += n
            load_bytes += n * operation.load_bytes
        if operation.is_store:
            stores += n
            store_bytes += n * operation.store_bytes
            if operation.non_temporal:
                non_temporal += n * operation.store_bytes
        if operation.flop is None:
            undecoded += n
        elif operation.flop and operation.precision is not None:
            key = (operation.precision, operation.width_bits, operation.fma)
            kind = kinds.setdefault(key, [0, 0, 0])
            kind[0] += n * operation.flop
            kind[1] += n * operation.flop * operation.masked
            kind[2] += n
    return Counts(
        instructions=instructions,
        branches=branches,
        loads=loads,
        stores=stores,
        load_bytes=load_bytes,
        store_bytes=store_bytes,
        non_temporal_store_bytes=non_temporal,
        undecoded=undecoded,
        flop=tuple(
            FlopCount(
                precision=precision,
                width_bits=width,
                fma=fma,
                flop=flop,
                masked_flop=masked,
                instructions=n,
            )
            for (precision, width, fma), (flop, masked, n) in sorted(kinds.items())
        ),
    )


def _traffic(counts: Counts, events: list[int], *, geometry: Geometry) -> tuple[Traffic, ...]:
    """Return the traffic per level.

    callgrind does not simulate write-backs from L1, nor say which lines of the last level are
    still dirty at the end: both are None.
    """
    line = geometry.last.line_bytes
    misses = line * (events[_I1MR] + events[_D1MR] + events[_D1MW])
    parts = [
        Traffic(level="l1", read_bytes=counts.load_bytes, write_bytes=counts.store_bytes),
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
