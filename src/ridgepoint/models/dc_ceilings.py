"""A machine's ceilings for basic operations, and a program below each: the DC-Roofline.

The paper's ceilings are estimates, by Eqs. (4) and (8). Those of a measured machine are the rates
of its own kernels: scalar code, chains of operations that wait for each other, lines in random
order. Both are given where both are known.

References
----------
.. [1] L. Wang et al., "BOPS, Not FLOPS! A New Metric and Roofline Performance Model For Datacenter
   Computing", ACS/SSL-2018-2, section 5, :arxiv:`1801.09212`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ridgepoint.core.machine import Machine
from ridgepoint.models.dc_roofline import ByDesign, by_design, efficiency
from ridgepoint.models.placement import Placement

BOP, DRAM = "bop", "dram"
PEAK = "peak"

CALLED = {
    # Eq. (8), by the paper's names.
    "SIMD": "with SIMD",
    "ILP": "with ILP, no SIMD",
    # Measured: the rate without one or the other.
    "mixed scalar": "no SIMD",
    "fma scalar": "no SIMD",
    **{f"dependent {bits}-bit": "no ILP" for bits in (512, 256, 128)},
    "dependent scalar": "no SIMD, no ILP",
    "stream, no prefetching": "no prefetching",
    "gather": "no prefetching",
}
"""Lower ceilings, by the names of what was measured or published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DCCeiling:
    """A ceiling for basic operations, or of the bandwidth that feeds them.

    Parameters
    ----------
    name : str
        ``peak``, ``no SIMD``, ``no prefetching``, ...
    resource : {"bop", "dram"}
    pattern : str
        What was measured, or what a document calls it; empty: nothing was.
    rate : float or None
        BOP/s or byte/s; None: not measured or published.
    design : float or None
        By Eq. (4) or (8), BOP/s; None: a quantity that it needs is not known.
    equation : str
        Equation behind `design`; empty: none.
    """

    name: str
    resource: str
    pattern: str = ""
    rate: float | None = None
    design: float | None = None
    equation: str = ""

    @property
    def value(self) -> float | None:
        """The rate that was measured or published, and else that by design."""
        return self.rate if self.rate is not None else self.design


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """A program below one ceiling, with all other roofs as they are.

    Parameters
    ----------
    ceiling : DCCeiling
    attained : float or None
        Eq. (7), BOP/s; None: its traffic or a rate is not known.
    bottleneck : {"calculation", "memory access"} or None
    share : float or None
        The program's performance over `attained`; None: it was not timed.
    """

    ceiling: DCCeiling
    attained: float | None
    bottleneck: str | None
    share: float | None

    @property
    def is_passed(self) -> bool:
        """Whether the program is faster than the ceiling allows: that does not bound it."""
        return self.share is not None and self.share > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DCPlace:
    """A program on the DC-Roofline.

    Parameters
    ----------
    intensity : float or None
        Eq. (6), BOP/byte; None: not known, or no byte moved.
    peak_share : float or None
        Eq. (5), its BOPS over the peak; None: not timed, or no peak is known.
    below : tuple of Below
        The peak first, then lower ceilings of calculation and of memory, the highest first.
    """

    intensity: float | None
    peak_share: float | None
    below: tuple[Below, ...]

    @property
    def next(self) -> Below | None:
        """The lowest ceiling that the program does not pass; None: no share is known."""
        known = [below for below in self.below if None not in (below.attained, below.share)]
        left = [below for below in known if not below.is_passed]
        return min(left, key=lambda below: below.attained or 0.0, default=None)


def dc_ceilings(machine: Machine, *, cores: float | None = None) -> tuple[DCCeiling, ...]:
    """Return the peak and the lower ceilings of a machine, for a number of busy cores.

    Parameters
    ----------
    machine : Machine
    cores : float or None
        None: all.

    Returns
    -------
    tuple of DCCeiling
        Empty if nothing of its basic operations is known.
    """
    if not machine.knows(BOP):
        return ()
    busy = float(machine.cores) if cores is None else cores
    design = {row.name: row for row in by_design(machine)}
    peak = float(machine.rate(BOP, cores=busy))
    lower = sorted(_lower(machine, busy), key=lambda ceiling: -(ceiling.rate or 0.0))
    by_eq_4 = _designed(design["peak"], busy / machine.cores)
    return (
        DCCeiling(
            name=PEAK, resource=BOP, pattern=_pattern(machine, busy), rate=peak,
            design=by_eq_4, equation="" if by_eq_4 is None else "Eq. (4)",
        ),
        *(ceiling for ceiling in lower if ceiling.resource == BOP),
        *(
            DCCeiling(
                name=f"{row.name} by design", resource=BOP,
                design=_designed(row, busy / machine.cores), equation="Eq. (8)",
            )
            for row in (design["SIMD"], design["ILP"])
            if row.design is not None
        ),
        *(ceiling for ceiling in lower if ceiling.resource == DRAM),
    )  # fmt: skip


def dc_place(placement: Placement) -> DCPlace | None:
    """Return a program below every ceiling; None: it is placed in flop, or none is known.

    Parameters
    ----------
    placement : Placement
    """
    machine, performance = placement.machine, placement.performance_per_s
    if placement.metric != "bop":
        return None
    ceilings = dc_ceilings(machine, cores=placement.cores)
    if not ceilings or not placement.work:
        return None
    reached = None if performance is None else performance.median
    memory = float(machine.rate(DRAM, cores=placement.cores)) if machine.knows(DRAM) else None
    peak = ceilings[0].value
    return DCPlace(
        intensity=placement.intensity,
        peak_share=None if not reached or not peak else float(efficiency(reached, peak=peak)),
        below=tuple(_below(ceiling, placement, peak, memory, reached) for ceiling in ceilings),
    )


def _below(
    ceiling: DCCeiling,
    placement: Placement,
    peak: float | None,
    memory: float | None,
    reached: float | None,
) -> Below:
    """Return Eq. (7) with a ceiling in place of the peak, or of the bandwidth."""
    if ceiling.resource == DRAM:
        memory = ceiling.value
    else:
        peak = ceiling.value
    if peak is None or placement.moved_bytes is None:
        return Below(ceiling=ceiling, attained=None, bottleneck=None, share=None)
    fed = float("inf")
    if placement.intensity is not None:
        if memory is None:
            return Below(ceiling=ceiling, attained=None, bottleneck=None, share=None)
        fed = memory * placement.intensity
    attained = min(peak, fed)
    return Below(
        ceiling=ceiling,
        attained=attained,
        bottleneck="calculation" if peak <= fed else "memory access",
        share=None if reached is None else reached / attained,
    )


def _lower(machine: Machine, cores: float) -> Iterator[DCCeiling]:
    """Yield the lower ceilings that are known, of each name the highest."""
    found: dict[tuple[str, str], DCCeiling] = {}
    for resource in (BOP, DRAM):
        best = float(machine.rate(resource, cores=cores)) if machine.knows(resource) else 0.0
        for pattern, name in CALLED.items():
            if not machine.knows(resource, patterns=(pattern,)):
                continue
            rate = _rate(machine, resource, pattern, cores)
            seen = found.get((resource, name))
            if rate < best and (seen is None or rate > (seen.rate or 0.0)):
                found[resource, name] = DCCeiling(
                    name=name, resource=resource, pattern=pattern, rate=rate
                )
    yield from found.values()


def _rate(machine: Machine, resource: str, pattern: str, cores: float) -> float:
    """Return the rate of a pattern; of an estimate by design, its share for these cores."""
    own = [c for c in machine.ceilings if (c.resource, c.name) == (resource, pattern)]
    if resource == BOP and all(c.source is not None and c.threads == machine.cores for c in own):
        # Eq. (8) is proportional to the peak, and that to the cores by Eq. (4).
        return float(machine.rate(resource, patterns=(pattern,))) * cores / machine.cores
    return float(machine.rate(resource, cores=cores, patterns=(pattern,)))


def _designed(row: ByDesign, share: float) -> float | None:
    """Return a rate by design for a share of the cores; None: it is not known."""
    return None if row.design is None else row.design * share


def _pattern(machine: Machine, cores: float) -> str:
    """Return the pattern of the peak, of the measured threads nearest to the cores."""
    threads = {c.threads for c in machine.ceilings if c.resource == BOP and c.rate is not None}
    best = machine.best(BOP, threads=min(threads, key=lambda count: abs(count - cores)))
    return "" if best is None else best.name
