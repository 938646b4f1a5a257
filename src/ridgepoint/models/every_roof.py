"""Every roof of a machine: each level and direction, each precision, each number of cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.machine import Machine
from ridgepoint.core.resources import LEVELS, resource_named
from ridgepoint.models.one_bandwidth import BANDWIDTHS, Bandwidth, machine_with
from ridgepoint.models.roofs import known_precisions

Direction = Literal["both"] | Bandwidth
"""Which bytes: those of both directions, those read, those written, or as a copy moves them."""
DIRECTIONS: tuple[Direction, ...] = ("both", *BANDWIDTHS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roof:
    """A rate of a machine with a number of busy cores.

    Parameters
    ----------
    resource : str
        ``fp64``, ..., ``dram``, ``dram_read``, ...
    level : str or None
        Memory level of a bandwidth; None: a peak.
    direction : {"both", "read", "write", "copy"}
        Of a bandwidth.
    cores : float
    rate : float
        flop/s, BOP/s or byte/s.
    interval : tuple of float or None
        95 % interval of the rate; None: it follows from measurements with other numbers of cores,
        or from too few samples, or was published.
    pattern : str
        What reached it; empty: it follows from measurements with other numbers of cores.
    """

    resource: str
    level: str | None
    direction: Direction = "both"
    cores: float
    rate: float
    interval: tuple[float, float] | None = None
    pattern: str = ""


def measured_cores(machine: Machine) -> list[float]:
    """Return the numbers of cores for which a machine has ceilings, ascending, with all of it."""
    counts = {float(ceiling.threads) for ceiling in machine.ceilings if ceiling.part is None}
    return sorted(count for count in {*counts, float(machine.cores)} if count <= machine.cores)


def every_peak(
    machine: Machine, *, cores: float, precisions: Sequence[str] | None = None
) -> list[Roof]:
    """Return the peaks of a number of cores: of these precisions, or of all that are known.

    Parameters
    ----------
    machine : Machine
    cores : float
    precisions : sequence of str or None
        May hold ``bop``; those without a ceiling are left out. None: all floating-point ones.
    """
    names = known_precisions(machine) if precisions is None else precisions
    return [_roof(machine, name, None, "both", cores) for name in names if machine.knows(name)]


def every_bandwidth(machine: Machine, *, cores: float) -> list[Roof]:
    """Return the bandwidths of a number of cores: of every level, each direction, and of copies."""
    return [roof for direction in DIRECTIONS for roof in _bandwidths(machine, direction, cores)]


def _bandwidths(machine: Machine, direction: Direction, cores: float) -> Iterator[Roof]:
    """Yield the bandwidths of one direction, from the core outwards."""
    if direction == "copy":
        # What copies move is known of main memory alone.
        machine = machine_with(machine, direction)
    for level in LEVELS:
        name = f"{level}_{direction}" if direction in {"read", "write"} else level
        if machine.knows(name):
            yield _roof(machine, name, level, direction, cores)


def _roof(
    machine: Machine, name: str, level: str | None, direction: Direction, cores: float
) -> Roof:
    rate = float(machine.rate(name, cores=cores))
    best = machine.best(name, threads=int(cores)) if cores == int(cores) else None
    estimate = None if best is None else best.rate_of(resource_named(name))
    # Whatever fewer threads reached, more reach too: the rate may be theirs.
    if best is None or estimate is None or estimate.median != rate:
        return Roof(resource=name, level=level, direction=direction, cores=cores, rate=rate)
    low, high = estimate.low, estimate.high
    return Roof(
        resource=name,
        level=level,
        direction=direction,
        cores=cores,
        rate=rate,
        interval=None if low is None or high is None else (low, high),
        pattern=best.name,
    )
