"""Count calls in this process, with the CPU's own counters, if they are to count."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ridgepoint.caution import Caution
from ridgepoint.errors import MeterUnavailable
from ridgepoint.harness.average import average_counts, average_traffic
from ridgepoint.harness.loops import loop_over
from ridgepoint.harness.native import Native, refusing_failures
from ridgepoint.harness.subject import Subject, limited_threads
from ridgepoint.measurement import Counted
from ridgepoint.meters.engine import EngineMeter

if TYPE_CHECKING:
    from ridgepoint.meters import Meter
    from ridgepoint.meters.perf import PerfMeter

MeterName = Literal["engine", "native", "perf", "auto"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What counts calls.

    Parameters
    ----------
    perf : PerfMeter or None
        The CPU's own counters; None: an engine, in a process of its own.
    native : bool
        Whether that is the copying engine.
    cautions : tuple of Caution
        What is to be said of the choice.
    """

    perf: PerfMeter | None = None
    native: bool = False
    cautions: tuple[Caution, ...] = ()


def choose(meter: MeterName | PerfMeter) -> Choice:
    """Return what counts, tried out.

    Raises
    ------
    MeterUnavailable
        If it does not work here.
    CannotMeasure
        If the counters cannot be verified.
    ValueError
        If there is no such meter.
    """
    if meter == "engine":
        _require(EngineMeter())
        return Choice()
    if meter == "native":
        from ridgepoint.meters.native import NativeMeter

        _require(NativeMeter())
        return Choice(native=True)
    if not isinstance(meter, str):
        return Choice(perf=meter.verified())
    # Imported here: most hosts have no counters.
    from ridgepoint.meters.perf import PerfMeter

    perf = PerfMeter(verify=True)
    if meter == "perf":
        return Choice(perf=perf.verified())
    if meter != "auto":
        raise ValueError(
            f"meter must be 'engine', 'native', 'perf', 'auto' or a PerfMeter, got {meter!r}"
        )
    from ridgepoint.meters.perf.choice import AutoMeter

    auto = AutoMeter(perf=perf, engine=EngineMeter())
    if auto.chosen is perf:
        return Choice(perf=perf.verified(), cautions=(auto.choice,))
    _require(EngineMeter())
    return Choice(cautions=(auto.choice,))


def _require(meter: Meter) -> None:
    """Refuse before anything is timed where nothing can be counted.

    Raises
    ------
    MeterUnavailable
    """
    lack = meter.why_unavailable()
    if lack is not None:
        raise MeterUnavailable(
            f"cannot count with {meter.name}", reason=lack.reason, remedy=lack.remedy
        )


def count_here(one: Subject, native: Native, perf: PerfMeter) -> tuple[Counted, int]:
    """Return what one call does on average, and of how many: made as those that were timed.

    Raises
    ------
    MeterUnavailable
        If the counters are gone, or taken.
    CannotMeasure
        If work or instructions are not known; if the function raises.
    """
    rounds = max(1, native.times.calls // native.replicas)
    calls = rounds * native.replicas
    with limited_threads(one.threads):
        loop = loop_over(one.function, [one.arguments.unpack() for _ in range(native.replicas)])
        with refusing_failures(one.what, "when it was counted"):
            loop(1)  # so that every replica's turn comes after all the others'
            counted = perf.count_here(lambda: loop(rounds))
    energy_j = counted.energy_j
    average = replace(
        counted,
        counts=average_counts(counted.counts, calls),
        traffic=average_traffic(counted.traffic, calls),
        energy_j=energy_j and {domain: joule / calls for domain, joule in energy_j.items()},
    )
    return average, calls
