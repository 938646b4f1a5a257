"""A roofline over the bytes of one kind alone: read, written, or moved as by a copy.

Whether reading or writing limits a program shows on two further planes: W/Qr below the read
bandwidth, and W/Qw below the write bandwidth, where ``1/I = 1/I_r + 1/I_w``.

References
----------
.. [1] G. Ofenbeck et al., "Applying the roofline model", ISPASS 2014, section II.A, Table I and
   Fig. 2(c) and (d), :doi:`10.1109/ISPASS.2014.6844463`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from ridgepoint.core.counts import Traffic
from ridgepoint.core.demand import Demand
from ridgepoint.core.machine import Ceiling, Machine
from ridgepoint.core.resources import LEVELS, RESOURCES, resource_named

Bandwidth = Literal["read", "write", "copy"]
"""Which bandwidth of main memory bounds: that of reads over W/Qr, that of writes over W/Qw, or that
of copies over W/(Qr + Qw)."""

BANDWIDTHS: tuple[Bandwidth, ...] = ("read", "write", "copy")


def resource_of(bandwidth: Bandwidth | None) -> str:
    """Return the resource of main memory whose bytes count; None: those of both directions."""
    return "dram" if bandwidth in {None, "copy"} else f"dram_{bandwidth}"


def machine_with(machine: Machine, bandwidth: Bandwidth | None) -> Machine:
    """Return a machine whose only memory ceilings are those of one bandwidth.

    Parameters
    ----------
    machine : Machine
    bandwidth : {"read", "write", "copy"} or None
        None: the machine itself.

    Returns
    -------
    Machine
        Of every pattern that reads (or writes), the rate at which it does; of copies, the rate of
        both directions together. It has no memory ceiling where none of these was measured.
    """
    if bandwidth is None:
        return machine
    kept: dict[tuple[str, str, int, str | None], Ceiling] = {}
    for ceiling in machine.ceilings:
        if RESOURCES[ceiling.resource].path not in LEVELS:
            kept[ceiling.key] = ceiling
        elif (alone := _alone(ceiling, bandwidth)) is not None:
            # A pattern may have been measured, and also published for one direction.
            kept.setdefault(alone.key, alone)
    return replace(machine, ceilings=tuple(kept.values()))


def _alone(ceiling: Ceiling, bandwidth: Bandwidth) -> Ceiling | None:
    """Return a memory ceiling as it bounds the bytes of one kind; None: it says nothing of them."""
    resource = resource_named(resource_of(bandwidth))
    rate = ceiling.rate_of(resource)
    is_copy = ceiling.name.split()[:1] == ["copy"]
    if rate is None or (bandwidth == "copy" and not is_copy):
        return None
    return replace(
        ceiling, resource=resource.name, rate=rate, read_share=None, write_share=None,
        theoretical=None, theory=None,
    )  # fmt: skip


def bytes_of(traffic: Traffic | None, bandwidth: Bandwidth | None) -> int | None:
    """Return the bytes that an intensity is over; None: not known."""
    if traffic is None:
        return None
    if bandwidth == "read":
        return traffic.read_bytes
    return traffic.write_bytes if bandwidth == "write" else traffic.total_bytes


def demand_along(demand: Demand, bandwidth: Bandwidth | None) -> Demand:
    """Return what a demand asks of all but memory, and its bytes of one kind at main memory.

    Parameters
    ----------
    demand : Demand
        What a program asks for, both directions apart.
    bandwidth : {"read", "write", "copy"} or None
        None: the demand itself. Of copies, the bytes of both directions, if both are known.
    """
    if bandwidth is None:
        return demand
    amounts = {
        name: amount for name, amount in demand.amounts.items()
        if RESOURCES[name].path not in LEVELS
    }  # fmt: skip
    ways = ("read", "write") if bandwidth == "copy" else (bandwidth,)
    moved = [demand.amounts.get(f"dram_{way}") for way in ways]
    known = [amount for amount in moved if amount is not None]
    if len(known) == len(ways):
        amounts[resource_of(bandwidth)] = sum(known[1:], start=known[0])
    return Demand(amounts)
