"""The roofs of a machine that a picture shows, and their ridge points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ridgepoint.core.machine import Ceiling, Machine
from ridgepoint.core.resources import LEVELS, PRECISIONS, RESOURCES
from ridgepoint.models.dc_ceilings import BOP, dc_ceilings
from ridgepoint.models.own_roofs import COMPUTE
from ridgepoint.models.placement import Placement
from ridgepoint.models.thresholds import SAME

Role = Literal["outer", "own", "lower", "beside"]

# Two ceilings closer than this factor look like one line.
_APART = 1.3
_MOST_LOWER = 3
_MOST_OWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRoof:
    """A roof of a machine with a number of busy cores.

    Parameters
    ----------
    resource : str
        ``fp64``, ... for a peak, ``dram``, ... for a bandwidth.
    role : {"outer", "own", "lower", "beside"}
        ``outer``: bounds the programs; ``own``: what a program's own mix of instructions allows;
        ``lower``: a ceiling below the outer peak; ``beside``: the same roof for another number of
        cores.
    rate : float
        flop/s or byte/s.
    cores : float
        Number of cores that the roof is for.
    ridge : float
        Intensity in flop/byte at which it meets the other roofs of this number of cores: where a
        peak begins (0 without a bandwidth) and a bandwidth ends (infinite without a peak).
    pattern : str
        Name of its ceiling; empty for a program's own mix.
    program : int or None
        Number of the program whose own mix it is; None: a roof of the machine.
    """

    resource: str
    role: Role
    rate: float
    cores: float
    ridge: float
    pattern: str = ""
    program: int | None = None

    @property
    def is_peak(self) -> bool:
        """Whether it bounds performance equally at every intensity."""
        return RESOURCES[self.resource].path == COMPUTE


@dataclass(frozen=True, slots=True, kw_only=True)
class RidgePoint:
    """The point where a bandwidth meets a peak.

    Parameters
    ----------
    level, work : str
    intensity : float
        flop/byte: the machine balance.
    performance : float
        flop/s.
    """

    level: str
    work: str
    intensity: float
    performance: float


def known_levels(machine: Machine) -> list[str]:
    """Return the memory levels with a bandwidth, from the core outwards.

    Of a level whose bandwidth is known for one direction alone it is that resource.
    """
    known = []
    for level in LEVELS:
        ways = [name for name in (f"{level}_read", f"{level}_write") if machine.knows(name)]
        known += [level] if machine.knows(level) else ways
    return known


def known_precisions(machine: Machine) -> list[str]:
    """Return the precisions with a peak."""
    return [name for name in PRECISIONS if machine.knows(name)]


def ceilings_of_any_work(machine: Machine, resource: str) -> list[Ceiling]:
    """Return the ceilings of a resource that bound more than divisions and dependent chains."""
    return [ceiling for ceiling in _rated(machine, resource) if not ceiling.bounds_some_work_alone]


def shown_roofs(
    machine: Machine, *, precisions: Sequence[str], cores: float, beside: Sequence[float] = ()
) -> tuple[ShownRoof, ...]:
    """Return the roofs worth showing: outer ones, lower ceilings, those of other core counts.

    Parameters
    ----------
    machine : Machine
    precisions : sequence of str
        Precisions whose peaks are shown; known to the machine.
    cores : float
        Cores of the outer roofs.
    beside : sequence of float
        Core counts whose peaks and DRAM bandwidth are shown beside the outer ones.
    """
    levels = known_levels(machine)
    counts = np.array([cores, *beside])
    rates = {
        name: np.asarray(machine.rate(name, cores=counts)).tolist()
        for name in (*precisions, *levels)
    }
    of_cores = [{name: rate[index] for name, rate in rates.items()} for index in range(len(counts))]
    outer = _roofs_of(machine, of_cores[0], levels, cores, "outer")
    roofs = list(outer)
    if precisions:
        peaks = [rates[name][index] for name in precisions for index in range(len(counts))]
        slopes = [of_cores[0][level] for level in levels]
        roofs += [
            ShownRoof(
                resource=precisions[0],
                role="lower",
                rate=rate,
                cores=cores,
                ridge=rate / max(slopes, default=math.inf),
                pattern=pattern,
            )
            for pattern, rate in _lower_ceilings(machine, precisions[0], cores, peaks)
        ]
        highest = max(peaks[:: len(counts)])
        roofs += [
            replace(roof, ridge=highest / roof.rate) for roof in _lower_bandwidths(machine, cores)
        ] * (precisions[0] == BOP)
    drawn = {(roof.resource, roof.rate) for roof in outer}
    for count, its_rates in zip(beside, of_cores[1:], strict=True):
        others = _roofs_of(machine, its_rates, levels[-1:], count, "beside")
        roofs += [roof for roof in others if (roof.resource, roof.rate) not in drawn]
    return tuple(roofs)


def multiples(machine: Machine, roofs: Sequence[ShownRoof]) -> dict[tuple[str, float], int]:
    """Return the roofs that are multiples of those of fewer cores.

    Parameters
    ----------
    machine : Machine
    roofs : sequence of ShownRoof
        Roofs of the machine.

    Returns
    -------
    dict of (str, float) to int
        By resource and cores, the most cores for which its rate is known: the roof is the most
        that all these cores could reach.
    """
    found = {}
    for roof in roofs:
        if roof.role in {"outer", "beside"}:
            known = max(ceiling.threads for ceiling in _rated(machine, roof.resource))
            if roof.cores > known:
                found[roof.resource, roof.cores] = known
    return found


def with_own_roofs(
    roofs: Sequence[ShownRoof], placements: Mapping[int, Placement]
) -> tuple[ShownRoof, ...]:
    """Return roofs, with those of programs' own mixes that are well below the machine's.

    Parameters
    ----------
    roofs : sequence of ShownRoof
        Roofs of the machine. A lower ceiling near a new roof is removed.
    placements : mapping of int to Placement
        Placements of programs, by the programs' numbers.
    """
    slopes = [roof.rate for roof in roofs if roof.role == "outer" and not roof.is_peak]
    own = []
    for program, placement in placements.items():
        mix = placement.mix
        if mix is None or mix.bound is None or placement.bound is None:
            continue
        if mix.bound.time_s <= SAME * float(placement.bound.times_s.get(COMPUTE, 0.0)):
            continue
        rate = sum(mix.mix.values()) / mix.bound.time_s
        own.append(
            ShownRoof(
                resource=max(mix.mix, key=lambda kind: mix.mix[kind])[0],
                role="own",
                rate=rate,
                cores=placement.cores,
                ridge=rate / max(slopes, default=math.inf),
                program=program,
            )
        )

    def makes_way(roof: ShownRoof) -> bool:
        return roof.role == "lower" and any(not _are_apart(roof.rate, new.rate) for new in own)

    outer = [roof for roof in roofs if roof.role == "outer"]
    others = [roof for roof in roofs if roof.role != "outer" and not makes_way(roof)]
    return (*outer, *own[:_MOST_OWN], *others)


def ridge_points(roofs: Sequence[ShownRoof]) -> tuple[RidgePoint, ...]:
    """Return where the outer bandwidths meet the outer peaks."""
    outer = [roof for roof in roofs if roof.role == "outer"]
    return tuple(
        RidgePoint(
            level=slope.resource,
            work=peak.resource,
            intensity=peak.rate / slope.rate,
            performance=peak.rate,
        )
        for peak in outer
        if peak.is_peak
        for slope in outer
        if not slope.is_peak
    )


def _roofs_of(
    machine: Machine, rates: Mapping[str, float], levels: Sequence[str], cores: float, role: Role
) -> list[ShownRoof]:
    """Return the peaks, and the bandwidths of some levels, of one number of cores."""
    slopes = {name: rates[name] for name in levels}
    peaks = {name: rate for name, rate in rates.items() if RESOURCES[name].path == COMPUTE}
    highest, steepest = (
        max(peaks.values(), default=math.inf),
        max(slopes.values(), default=math.inf),
    )
    ridges = {
        **{name: rate / steepest for name, rate in peaks.items()},
        **{name: highest / rate for name, rate in slopes.items()},
    }
    return [
        ShownRoof(
            resource=resource,
            role=role,
            rate=rates[resource],
            cores=cores,
            ridge=ridge,
            pattern=_pattern(machine, resource, cores),
        )
        for resource, ridge in ridges.items()
    ]


def _rated(machine: Machine, resource: str) -> list[Ceiling]:
    wanted = RESOURCES[resource]
    return [ceiling for ceiling in machine.ceilings if ceiling.rate_of(wanted) is not None]


def _pattern(machine: Machine, resource: str, cores: float) -> str:
    """Return the pattern that reached a roof, with the measured threads nearest to the cores."""
    threads = sorted({ceiling.threads for ceiling in _rated(machine, resource)})
    nearest = min(threads, key=lambda count: abs(count - cores))
    best = machine.best(resource, threads=nearest)
    assert best is not None  # `threads` holds only counts that have one
    return best.name


def _lower_bandwidths(machine: Machine, cores: float) -> list[ShownRoof]:
    """Return the lower bandwidths of main memory that the DC-Roofline has."""
    return [
        ShownRoof(
            resource=ceiling.resource, role="lower", rate=ceiling.rate, cores=cores,
            ridge=math.inf, pattern=ceiling.name,
        )
        for ceiling in dc_ceilings(machine, cores=cores)
        if ceiling.resource != BOP and ceiling.rate is not None
    ]  # fmt: skip


def _lower_ceilings(
    machine: Machine, precision: str, cores: float, drawn: Sequence[float]
) -> list[tuple[str, float]]:
    """Return ceilings of a precision, well below its peak and apart from the roofs drawn.

    Those of basic operations are the DC-Roofline's, by its names.
    """
    if precision == BOP:
        named = dc_ceilings(machine, cores=cores)[1:]
        return [(c.name, c.rate) for c in named if c.resource == BOP and c.rate is not None]
    rates = {
        name: float(machine.rate(precision, cores=cores, patterns=(name,)))
        for name in {ceiling.name for ceiling in ceilings_of_any_work(machine, precision)}
    }
    kept, lower = list(drawn), []
    peak = max(rates.values(), default=0.0)
    for name, rate in sorted(rates.items(), key=lambda item: (-item[1], item[0])):
        if rate < peak and all(_are_apart(rate, other) for other in kept):
            kept.append(rate)
            lower.append((name, rate))
    # The lowest ceiling shows what untuned code can reach: it stays when others must go.
    return lower if len(lower) <= _MOST_LOWER else [*lower[: _MOST_LOWER - 1], lower[-1]]


def _are_apart(rate: float, other: float) -> bool:
    return max(rate, other) >= _APART * min(rate, other)
