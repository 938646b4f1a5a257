"""A measurement summarised in one line: its time, its limit, and how near it is."""

from __future__ import annotations

from dataclasses import dataclass

from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.operators import OperatorProfile
from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.work import Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A measured program as a row of a list.

    Parameters
    ----------
    runtime_s : float or None
        Median; None: it was only counted.
    metric : {"flop", "bop"}
        Unit of its work.
    work_by_resource : dict of str to float
        Bounded work of its demand.
    binding : str or None
        Its limit, as in `ridgepoint.core.bound.Bound`; None: not known.
    efficiency : float or None
        The bound's time over the runtime.
    selected : str or None
        The region or function that was counted alone.
    options : tuple of str
        Options given when it was measured.
    """

    runtime_s: float | None
    metric: Metric = "flop"
    work_by_resource: dict[str, float]
    binding: str | None = None
    efficiency: float | None = None
    selected: str | None = None
    options: tuple[str, ...] = ()


def summary_of(
    measurement: Measurement | Timing | OperatorProfile, machine: Machine | None
) -> Summary:
    """Return the summary of a measurement.

    Parameters
    ----------
    measurement : Measurement, Timing or OperatorProfile
    machine : Machine or None
        One node of the machine on which it ran; None: nothing bounds it.
    """
    if isinstance(measurement, Timing):
        return Summary(runtime_s=measurement.timed.runtime_s.median, work_by_resource={})
    if isinstance(measurement, OperatorProfile):
        return _of_operators(measurement, machine)
    # The archive knows this class whenever it is opened; all models are needed only here.
    from ridgepoint.models.analysis import place
    from ridgepoint.models.distributed import machine_for

    timed, asked, metric = measurement.timed, measurement.asked, measurement.metric
    placed = None
    if machine is not None:
        placed = place(measurement, machine_for(measurement, machine), metric=metric)
    bound = None if placed is None else placed.bound
    demand = {} if placed is None else placed.demand.amounts
    work = {
        name: float(amount) for name, amount in demand.items() if RESOURCES[name].path == "compute"
    }
    return Summary(
        runtime_s=None if timed is None else timed.runtime_s.median,
        metric=metric,
        work_by_resource=work,
        binding=None if bound is None else str(bound.binding),
        efficiency=None if placed is None else placed.efficiency,
        selected=measurement.counted.selected,
        options=() if asked is None else asked.options,
    )


def _of_operators(profile: OperatorProfile, machine: Machine | None) -> Summary:
    """Return the time of a program, and what bounds most of its operators' time."""
    from ridgepoint.models.operators import analyse_operators

    whole, timed = analyse_operators(profile, machine).whole, profile.timed
    amounts = {} if whole.demand is None else whole.demand.amounts
    return Summary(
        runtime_s=None if timed is None else timed.runtime_s.median,
        work_by_resource={
            name: float(amount)
            for name, amount in amounts.items()
            if RESOURCES[name].path == "compute"
        },
        binding=None if whole.bound is None else str(whole.bound.binding),
        efficiency=whole.efficiency,
    )
