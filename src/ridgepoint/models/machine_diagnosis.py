"""What limits programs on a machine: its ceilings against theory, and which are doubtful."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.bound import ridge
from ridgepoint.core.caution import Caution
from ridgepoint.core.machine import Ceiling, Machine
from ridgepoint.core.measured_cluster import MeasuredCluster, Standing
from ridgepoint.core.resources import LEVELS, LINKS, RESOURCES
from ridgepoint.models.causes.needs import spread
from ridgepoint.models.ranking import cautions_that_matter
from ridgepoint.models.roofs import known_precisions
from ridgepoint.models.thresholds import ABOVE_ROOF, NEAR_ROOF

Against = Literal["as in theory", "below theory", "above theory", "no theory", "unknown"]
"""Of a ceiling: its interval reaches `NEAR_ROOF` of the theoretical rate, or not; is beyond it by
more than noise; no theoretical rate is known; the ceiling itself could not be measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCeiling:
    """A ceiling that bounds programs, against theory.

    Parameters
    ----------
    ceiling : Ceiling
    against : {"as in theory", "below theory", "above theory", "no theory", "unknown"}
    share : float or None
        Of the theoretical rate; None: one of the two is not known.
    doubts : tuple of Caution
        Those that could change a verdict.
    """

    ceiling: Ceiling
    against: Against
    share: float | None
    doubts: tuple[Caution, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """Where a memory level, or a link, stops to limit work of a precision.

    Parameters
    ----------
    level, work : str
    intensity : float
        Work per byte at the ridge point, on all cores.
    """

    level: str
    work: str
    intensity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How much more of a resource all cores have than one.

    Parameters
    ----------
    resource : str
    cores : int
    factor : float
    """

    resource: str
    cores: int
    factor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineDiagnosis:
    """What is known of a machine's ceilings.

    Parameters
    ----------
    machine : Machine
    ceilings : tuple of JudgedCeiling
        The fastest for each resource, on one core and on all; those that could not be measured.
    balances : tuple of Balance
        For the precision that comes first, of every level and link.
    growths : tuple of Growth
    """

    machine: Machine
    ceilings: tuple[JudgedCeiling, ...]
    balances: tuple[Balance, ...]
    growths: tuple[Growth, ...]

    def by(self, against: Against) -> tuple[JudgedCeiling, ...]:
        """Return the ceilings of which this holds."""
        return tuple(judged for judged in self.ceilings if judged.against == against)

    @property
    def doubtful(self) -> tuple[JudgedCeiling, ...]:
        """The ceilings with cautions that could change a verdict."""
        return tuple(judged for judged in self.ceilings if judged.doubts)


def diagnose_machine(machine: Machine) -> MachineDiagnosis:
    """Return a machine's ceilings, judged against theory.

    Parameters
    ----------
    machine : Machine
        Measured, published, or given by its figures.
    """
    return MachineDiagnosis(
        machine=machine,
        ceilings=tuple(_ceilings(machine)),
        balances=tuple(_balances(machine)),
        growths=tuple(_growths(machine)),
    )


def slow_nodes(cluster: MeasuredCluster) -> tuple[Standing, ...]:
    """Return the ceilings of which one node is slower than the others, beyond its interval."""
    return tuple(standing for standing in cluster.standings if standing.stands_out)


def _ceilings(machine: Machine) -> Iterator[JudgedCeiling]:
    marked = cautions_that_matter(machine)
    seen = set()
    counts = sorted({ceiling.threads for ceiling in machine.ceilings})
    ends = dict.fromkeys((*counts[:1], *counts[-1:]))
    for resource in RESOURCES:
        for threads in ends:
            ceiling = machine.best(resource, threads=threads)
            if ceiling is not None and ceiling.key not in seen:
                seen.add(ceiling.key)
                yield _judged(ceiling, marked)
    for ceiling in machine.ceilings:
        if ceiling.rate is None:
            yield _judged(ceiling, marked)


def _judged(
    ceiling: Ceiling, marked: dict[tuple[str, str, int, str | None], set[Caution]]
) -> JudgedCeiling:
    matter = marked.get(ceiling.key, set())
    against, share = _against(ceiling)
    doubts = tuple(caution for caution in ceiling.cautions if caution in matter)
    return JudgedCeiling(ceiling=ceiling, against=against, share=share, doubts=doubts)


def _against(ceiling: Ceiling) -> tuple[Against, float | None]:
    rate, theory = ceiling.rate, ceiling.theoretical
    if rate is None:
        return "unknown", None
    if theory is None:
        return "no theory", None
    low, high = spread(rate)
    share = rate.median / theory
    if high < NEAR_ROOF * theory:
        return "below theory", share
    return ("above theory" if low > ABOVE_ROOF * theory else "as in theory"), share


def _balances(machine: Machine) -> Iterator[Balance]:
    precisions = known_precisions(machine)
    if not precisions:
        return
    for level in (*LEVELS, *LINKS):
        if machine.knows(level):
            intensity = float(ridge(machine, precisions[0], level))
            yield Balance(level=level, work=precisions[0], intensity=intensity)


def _growths(machine: Machine) -> Iterator[Growth]:
    if machine.cores < 2:
        return
    for resource in (*known_precisions(machine)[:1], *LEVELS):
        ends = (machine.best(resource, threads=threads) for threads in (1, machine.cores))
        if None not in ends:
            factor = float(machine.rate(resource)) / float(machine.rate(resource, cores=1))
            yield Growth(resource=resource, cores=machine.cores, factor=factor)
