"""Turns metrics of kernels into counts: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from ridgepoint.core.counts import Counts, FlopCount, FunctionCounts, Traffic, by_work
from ridgepoint.core.resources import PRECISIONS
from ridgepoint.core.unknown import sum_if_known
from ridgepoint.meters.ncu.metrics import (
    DRAM_READ,
    DRAM_WRITE,
    INSTRUCTIONS,
    L1,
    L1_GLOBAL_STORE,
    L1_LOCAL_STORE,
    L2,
    L2_READ_SECTORS,
    OPERATIONS,
    TENSOR,
    TIME,
    Choice,
    tensor_name,
)
from ridgepoint.meters.ncu.rows import Launch

_SECTOR_BYTES = 32
_OBJECT = "GPU"  # Nsight Compute does not tell the file that holds a kernel


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """What one launch did, by quantity.

    Parameters
    ----------
    kernel : str
    known : mapping of str to float
        Without those that are not known.
    """

    kernel: str
    known: Mapping[str, float]

    def count(self, name: str) -> int | None:
        """Return a quantity as a whole number; None: not known."""
        value = self.known.get(name)
        return None if value is None else round(value)


def amounts_of(launch: Launch, choice: Choice) -> Amounts:
    """Return the quantities of a launch: each the sum of its metrics, if all are there."""
    known = {
        name: sum(launch.values[metric] for metric in metrics)
        for name, metrics in choice.items()
        if metrics and all(metric in launch.values for metric in metrics)
    }
    return Amounts(kernel=launch.kernel, known=known)


def functions_of(launches: Iterable[Amounts]) -> tuple[FunctionCounts, ...]:
    """Return what each kernel did in all its launches, by work, then by instructions."""
    by_kernel: dict[str, list[Amounts]] = {}
    for launch in launches:
        by_kernel.setdefault(launch.kernel, []).append(launch)
    return by_work(_function(name, own) for name, own in by_kernel.items())


def _function(name: str, launches: list[Amounts]) -> FunctionCounts:
    return FunctionCounts(
        name=name,
        object=_OBJECT,
        counts=Counts.total(_counts(launch) for launch in launches),
        traffic=_traffic_of_all(launches),
    )


def _counts(launch: Amounts) -> Counts:
    flop = [
        FlopCount(
            precision=operation.precision,
            width_bits=None,
            fma=operation.fma,
            flop=operation.flop * executed,
            masked_flop=None if operation.is_packed else 0,
            instructions=executed,
            operation=operation.kind[1:4],
        )
        for operation in OPERATIONS
        if (executed := launch.count(operation.kind))
    ]
    flop += [
        FlopCount(
            precision=precision,
            width_bits=None,
            fma=None,
            flop=done,
            masked_flop=None,
            instructions=None,
        )
        for precision in TENSOR
        if precision in PRECISIONS and (done := launch.count(tensor_name(precision)))
    ]
    return Counts(
        instructions=launch.count(INSTRUCTIONS) or 0,
        branches=None,
        loads=None,
        stores=None,
        load_bytes=None,
        store_bytes=None,
        non_temporal_store_bytes=None,
        flop=tuple(flop),
    )


def _traffic_of_all(launches: list[Amounts]) -> tuple[Traffic, ...]:
    """Return the traffic of each level at which that of every launch is known."""
    each = [{part.level: part for part in _traffic(launch)} for launch in launches]
    everywhere = set.intersection(*(set(levels) for levels in each))
    return Traffic.total(
        chain.from_iterable((levels[name] for name in everywhere) for levels in each)
    )


def _traffic(launch: Amounts) -> list[Traffic]:
    """Return the traffic of one launch.

    Nsight Compute tells all bytes of L1 and L2 together, and either what is stored or what is
    read: the rest, atomic operations among it, counts in the other direction.
    """
    parts = []
    l1, stored = launch.count(L1), launch.count(L1_GLOBAL_STORE)
    spilled = launch.count(L1_LOCAL_STORE)
    if l1 is not None and stored is not None and spilled is not None:
        written = min(l1, stored + spilled)
        parts.append(Traffic(level="l1", read_bytes=l1 - written, write_bytes=written))
    l2, sectors = launch.count(L2), launch.count(L2_READ_SECTORS)
    if l2 is not None and sectors is not None:
        read = min(l2, _SECTOR_BYTES * sectors)
        parts.append(Traffic(level="l2", read_bytes=read, write_bytes=l2 - read))
    dram = launch.count(DRAM_READ)
    if dram is not None:
        parts.append(Traffic(level="dram", read_bytes=dram, write_bytes=launch.count(DRAM_WRITE)))
    return parts


def time_s(launches: Iterable[Amounts]) -> float | None:
    """Return the time in kernels, one after the other; None: not known of all."""
    return sum_if_known(launch.known.get(TIME) for launch in launches)
