"""One problem over cores and nodes: performance, and how many to allocate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ridgepoint.core.caution import Caution
from ridgepoint.models.scaling import Scaling
from ridgepoint.models.scaling.allocation import (
    Against,
    Allocation,
    Optimum,
    allocation,
    allocations,
    best_allocation,
    largest_allocation,
    optimal_nodes,
)
from ridgepoint.models.scaling.fits import Fit

# More numbers than this are not listed one by one.
_MOST_LISTED = 12
# Beyond this multiple of the most processors of any run, a fit is a guess.
_FAR = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScalingStudy:
    """The performance of a problem over cores and nodes.

    Parameters
    ----------
    scaling : Scaling
    size : float or None
        Size of the problem; None: it has none.
    cores, nodes : sequence of int
        Numbers from which the best was chosen.
    points : tuple of Allocation
        Allocations of all numbers or, if there are many, of powers of 2 and the ends.
    best : Allocation
        Allocation with the highest performance.
    optimum : Optimum or None
        Optimum over all numbers of nodes, with the cores of `best`; None: more are always faster.
    unshared : Allocation or None
        The best allocation where no other job uses its nodes; None: none does.
    largest : Allocation or None
        Largest allocation with at least `efficiency`; None: none has it, or none was asked for.
    efficiency : float or None
    against : {"core", "peak"}
    fit : Fit or None
        Fit of the rates; None: the rates were given.
    cautions : tuple of Caution
    """

    scaling: Scaling
    size: float | None
    cores: Sequence[int]
    nodes: Sequence[int]
    points: tuple[Allocation, ...]
    best: Allocation
    optimum: Optimum | None
    unshared: Allocation | None
    largest: Allocation | None
    efficiency: float | None
    against: Against
    fit: Fit | None
    cautions: tuple[Caution, ...]

    @property
    def chosen(self) -> Allocation | None:
        """The recommended allocation: the largest with enough efficiency, or else the best."""
        return self.best if self.efficiency is None else self.largest


def scaling_study(
    scaling: Scaling,
    *,
    cores: Sequence[int],
    nodes: Sequence[int],
    size: float | None = None,
    efficiency: float | None = None,
    against: Against = "core",
    fit: Fit | None = None,
) -> ScalingStudy:
    """Return the performance of a problem over cores and nodes.

    Parameters
    ----------
    scaling : Scaling
        Scaling of a single problem.
    cores, nodes : sequence of int
        Cores of each node, and nodes, to choose from; ascending.
    size : float or None
        Size of the problem, to be shown.
    efficiency : float or None
        Lowest efficiency of the largest allocation, in (0, 1].
    against : {"core", "peak"}
        Reference of that efficiency.
    fit : Fit or None
        Fit from which the scaling comes.

    Raises
    ------
    UnknownCeiling
        If the machine lacks a ceiling.
    ValueError
        If a number is impossible.
    """
    best = best_allocation(scaling, cores=cores, nodes=nodes)
    return ScalingStudy(
        scaling=scaling,
        size=size,
        cores=cores,
        nodes=nodes,
        points=allocations(scaling, cores=listed(cores), nodes=listed(nodes)),
        best=best,
        optimum=optimal_nodes(scaling, cores=best.cores) if scaling.knows_network else None,
        unshared=None
        if scaling.share == 1
        else allocation(scaling.unshared, cores=best.cores, nodes=best.nodes),
        largest=None
        if efficiency is None
        else largest_allocation(
            scaling, cores=cores, nodes=nodes, efficiency=efficiency, against=against
        ),
        efficiency=efficiency,
        against=against,
        fit=fit,
        cautions=() if fit is None else (*fit.cautions, *_far(fit, cores, nodes)),
    )


def listed(numbers: Sequence[int]) -> list[int]:
    """Return numbers to list: all, or if there are many, the ends and the powers of 2.

    Examples
    --------
    >>> listed(range(3, 40))
    [3, 4, 8, 16, 32, 39]
    """
    if len(numbers) <= _MOST_LISTED:
        return list(numbers)
    ends = (numbers[0], numbers[-1])
    return [number for number in numbers if number in ends or number & (number - 1) == 0]


def _far(fit: Fit, cores: Sequence[int], nodes: Sequence[int]) -> tuple[Caution, ...]:
    measured = max(run.processors for run in fit.solution.runs)
    asked = max(cores) * max(nodes)
    if asked <= _FAR * measured:
        return ()
    return (
        Caution(
            code="extrapolated",
            seen=f"the largest run uses {measured} cores in all, and predictions go up to {asked}",
            remedy="measure a larger run, or trust the far end of the prediction less",
        ),
    )
