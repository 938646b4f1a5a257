"""The least that a call of an operator asks of each memory level, and the least time for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from ridgepoint.core.bound import Bound, bound_known, slowest
from ridgepoint.core.demand import Demand
from ridgepoint.core.machine import Machine
from ridgepoint.core.operators import Asked
from ridgepoint.core.resources import LEVELS, RESOURCES


def least_demand(asked: Asked, machine: Machine) -> Demand | None:
    """Return what one call asks of each level of a machine's memory at least.

    Parameters
    ----------
    asked : Asked
    machine : Machine

    Returns
    -------
    Demand or None
        None: the work or the bytes are unknown. A call that asks for nothing has 0 byte at DRAM.

    Notes
    -----
    All bytes pass between core and L1. Behind caches that hold C bytes together there is less
    traffic: of R bytes that are read, C may be there when the call begins, and of W bytes that are
    written, C may remain there when it ends, to be written back later or never. So at least
    ``max(R - C, 0)`` are read from the level behind these caches and ``max(W - C, 0)`` are written
    to it. A machine whose caches are not known has C = 0: all bytes are DRAM's, as in the usual
    roofline of an operator, and a call whose arrays are in a cache can be faster than that.
    """
    if asked.work is None or asked.read_bytes is None or asked.write_bytes is None:
        return None
    amounts = {name: amount for name, amount in asked.work.items() if amount}
    for level, held_bytes in _held_before(machine).items():
        for way, moved in (("read", asked.read_bytes), ("write", asked.write_bytes)):
            if moved > held_bytes:
                amounts[f"{level}_{way}"] = moved - held_bytes
    return Demand(amounts or {"dram_read": 0.0, "dram_write": 0.0})


def least_time(demand: Demand, machine: Machine, *, cores: float | None = None) -> Bound | None:
    """Return the bound of a demand whose work may be in flop and in op.

    Parameters
    ----------
    demand : Demand
        Single amounts.
    machine : Machine
    cores : float or None
        Cores kept busy; None: all.

    Returns
    -------
    Bound or None
        Floating-point and integer units may work at once, so that the longer of both times counts.
        None: the machine has no ceiling for any of it.
    """
    units = {RESOURCES[name].unit for name in demand.amounts if is_work(name)}
    if len(units) < 2:
        return bound_known(demand, machine, cores=cores)
    alone = [bound_known(in_unit(demand, unit), machine, cores=cores) for unit in sorted(units)]
    bounds = [bound for bound in alone if bound is not None]
    if not bounds:
        return None
    covered = {name for bound in bounds for name in bound.known.amounts}
    left_out = tuple(name for name in demand.amounts if name not in covered)
    return replace(slowest(bounds), demand=demand, left_out=left_out)


def in_unit(demand: Demand, unit: str) -> Demand:
    """Return a demand with the work in one unit alone, and all its bytes.

    Parameters
    ----------
    demand : Demand
    unit : str
        ``flop``, ``op`` or ``BOP``.
    """
    return Demand(
        {
            name: amount
            for name, amount in demand.amounts.items()
            if not is_work(name) or RESOURCES[name].unit == unit
        }
    )


def held_bytes(machine: Machine) -> float:
    """Return the bytes that all known caches of a machine hold together; 0: none is known."""
    return _held_before(machine)["dram"]


def is_work(name: str) -> bool:
    """Return whether a resource is work: flop, op or BOP."""
    return RESOURCES[name].path == "compute"


def _held_before(machine: Machine) -> Mapping[str, float]:
    """Return for every level that there is the bytes that all caches before it hold together.

    Where caches are inclusive they hold less, and the traffic is larger: this is the most.
    """
    held = 0.0
    before: dict[str, float] = {}
    for cache in sorted(machine.caches, key=lambda cache: cache.level):
        if cache.kind == "instruction":
            continue
        if (name := f"l{cache.level}") in LEVELS:
            before.setdefault(name, held)
        # As many as these CPUs have if they share each with as many others as they can.
        held += cache.size_bytes * math.ceil(machine.cores / cache.cores)
    return {**before, "dram": held}
