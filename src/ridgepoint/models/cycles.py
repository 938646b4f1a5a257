"""A program's rates per cycle of the core clock, which do not depend on the frequency."""

from __future__ import annotations

from dataclasses import dataclass

from ridgepoint.core.estimate import Estimate
from ridgepoint.models.one_bandwidth import resource_of
from ridgepoint.models.placement import Placement


@dataclass(frozen=True, slots=True, kw_only=True)
class PerCycle:
    """A program and its roofs, per cycle of the machine's clock.

    Parameters
    ----------
    clock_hz : float
    performance : Estimate or None
        flop/cycle (or BOP/cycle) of all its cores together; None: not timed, or no such work.
    attainable : float or None
        flop/cycle; None: no bound.
    dram_bytes : float or None
        Bandwidth of main memory for as many cores, byte/cycle; None: not known.
    """

    clock_hz: float
    performance: Estimate | None
    attainable: float | None
    dram_bytes: float | None


def per_cycle(placement: Placement) -> PerCycle | None:
    """Return a placement's rates per cycle; None: the machine's core clock is not known.

    Parameters
    ----------
    placement : Placement

    Notes
    -----
    The clock is that of the machine's measurement, under load; the program may have run at
    another one.

    References
    ----------
    .. [1] G. Ofenbeck et al., "Applying the roofline model", ISPASS 2014, section II.B, which
       counts cycles "to abstract from the CPU frequency".
    """
    clock_hz, machine = placement.machine.host.frequency_hz, placement.machine
    if clock_hz is None:
        return None
    done, most = placement.performance_per_s, placement.attainable_per_s
    dram = resource_of(placement.bandwidth)
    rate = float(machine.rate(dram, cores=placement.cores)) if machine.knows(dram) else None
    return PerCycle(
        clock_hz=clock_hz,
        performance=None if done is None else done.map(lambda rate: rate / clock_hz),
        attainable=None if most is None else most / clock_hz,
        dram_bytes=None if rate is None else rate / clock_hz,
    )
