"""Predictions for a distributed program, from the measured ceilings of its ranks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from ridgepoint.core.bound import Bound, Overlap, bound
from ridgepoint.core.demand import Demand
from ridgepoint.core.machine import Machine
from ridgepoint.core.rates import Network, Rates, ideal_machine
from ridgepoint.suites.distributed.results import DistributedRun

_TOO_FAST = 0.9
"""Ceilings that were measured on a busy machine are a little low."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRates:
    """Rates of one rank while all of them work at once. A rank is treated as a node.

    Parameters
    ----------
    precision : str
    flop_per_s, memory_bytes_per_s : float
    link_bytes_per_s : float or None
        Sending rate while as much arrives; None: not measured, since there was one rank.
    """

    precision: str
    flop_per_s: float
    memory_bytes_per_s: float
    link_bytes_per_s: float | None

    @property
    def node(self) -> Machine:
        """A machine of these rates."""
        return ideal_machine(
            core_rate=self.flop_per_s,
            memory_bytes_per_s=self.memory_bytes_per_s,
            link_bytes_per_s=self.link_bytes_per_s,
            cores=1,
            work=self.precision,
        )


def rates_of(runs: Iterable[DistributedRun]) -> NodeRates:
    """Return the medians of all ceiling samples of some runs.

    Parameters
    ----------
    runs : iterable of DistributedRun
        Runs with ceilings, of one precision; at least one.

    Raises
    ------
    ValueError
        If no run has ceilings, or precisions differ.
    """
    ceilings = [run.ceilings for run in runs if run.ceilings is not None]
    if len({ceiling.precision for ceiling in ceilings}) != 1:
        raise ValueError("runs must have ceilings, of one precision")
    links = [rate for ceiling in ceilings for rate in ceiling.link_bytes_per_s]
    return NodeRates(
        precision=ceilings[0].precision,
        flop_per_s=median(rate for ceiling in ceilings for rate in ceiling.flop_per_s),
        memory_bytes_per_s=median(
            rate for ceiling in ceilings for rate in ceiling.memory_bytes_per_s
        ),
        link_bytes_per_s=median(links) if links else None,
    )


@dataclass(frozen=True, slots=True)
class StepBounds:
    """The least times of a step, from the run's own ceilings.

    Parameters
    ----------
    sequential : Bound
        Bound with compute, memory and network one after the other, as in the programs.
    overlapped : Bound
        Bound with all of them at once: no program can be faster.
    """

    sequential: Bound
    overlapped: Bound

    def is_exceeded_by(self, run: DistributedRun) -> bool:
        """Return whether a run is clearly faster than its bound."""
        return run.step_s.median <= _TOO_FAST * float(self.overlapped.time_s)


def own_bounds(run: DistributedRun) -> StepBounds | None:
    """Return the bounds from a run's own ceilings; None: one that it needs was not measured."""
    if run.ceilings is None:
        return None
    rates = rates_of([run])
    bounds = (predicted(run, rates, overlap="none"), predicted(run, rates, overlap="full"))
    return None if bounds[0] is None or bounds[1] is None else StepBounds(bounds[0], bounds[1])


def predicted(
    run: DistributedRun, rates: NodeRates, *, overlap: Overlap, network: Network = "parallel"
) -> Bound | None:
    """Return the least time of one step.

    Parameters
    ----------
    run : DistributedRun
        Its counts are used, not its times.
    rates : NodeRates
    overlap : {"none", "full"} or float
        As in `ridgepoint.core.bound.bound`. The programs compute, then communicate: ``none`` is
        the prediction, and ``full`` is a limit that no program exceeds.
    network : {"parallel", "shared"}
        With one link for all, the rate is that of this link.

    Returns
    -------
    Bound or None
        None: the exchange is unknown, or crosses a network that was not measured.
    """
    exchanged = run.exchanged_bytes
    if exchanged is None or (exchanged > 0 and rates.link_bytes_per_s is None):
        return None
    amounts: dict[str, float] = {**run.work, "dram": run.dram_bytes}
    if exchanged > 0:
        amounts["network"] = exchanged
    cluster = Rates(machine=rates.node, nodes=run.ranks, network=network)
    return bound(Demand(amounts), cluster, overlap=overlap)
