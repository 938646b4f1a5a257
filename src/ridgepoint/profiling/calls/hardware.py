"""Count calls in this process, with the CPU's own counters, if they are to count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted
from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.meters import Meter
from ridgepoint.meters.engine import EngineMeter
from ridgepoint.meters.first_choice import first_choice
from ridgepoint.meters.native import NativeMeter
from ridgepoint.profiling.calls.average import average_counts, average_traffic
from ridgepoint.profiling.calls.counted import EngineName
from ridgepoint.profiling.calls.loops import loop_over
from ridgepoint.profiling.calls.native import Native, refusing_failures
from ridgepoint.profiling.calls.subject import Subject, limited_threads

if TYPE_CHECKING:
    from ridgepoint.meters.perf import PerfMeter

MeterName = Literal["engine", "native", "perf", "auto"]

_ENGINES: dict[str | None, tuple[Callable[[], Meter], EngineName | None]] = {
    None: (first_choice, None),
    "engine": (EngineMeter, "engine"),
    "native": (NativeMeter, "native"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The meter that counts calls.

    Parameters
    ----------
    perf : PerfMeter or None
        The CPU's own counters; None: an engine, in a process of its own.
    engine : {"native", "engine"} or None
        Which engine; None: the copying engine, or the other one where that cannot.
    cautions : tuple of Caution
        Cautions about the choice.
    """

    perf: PerfMeter | None = None
    engine: EngineName | None = None
    cautions: tuple[Caution, ...] = ()


def choose(meter: MeterName | PerfMeter | None) -> Choice:
    """Return the chosen meter, after a test; None: the copying engine, or else Valgrind's.

    Raises
    ------
    MeterUnavailable
        If the meter does not work on this host.
    CannotMeasure
        If the counters cannot be verified.
    ValueError
        If there is no meter of this name.
    """
    if meter is None or (isinstance(meter, str) and meter in _ENGINES):
        make, engine = _ENGINES[meter]
        _require(make())
        return Choice(engine=engine)
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

    auto = AutoMeter(perf=perf, engine=first_choice())
    if auto.chosen is perf:
        return Choice(perf=perf.verified(), cautions=(auto.choice,))
    _require(first_choice())
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


def count_here(call: Subject, native: Native, perf: PerfMeter) -> tuple[Counted, int]:
    """Return the average work of one call, and the number of calls, made as the timed ones were.

    Raises
    ------
    MeterUnavailable
        If the counters are gone, or in use.
    CannotMeasure
        If work or instructions are not known; if the function raises.
    """
    rounds = max(1, native.times.calls // native.replicas)
    calls = rounds * native.replicas
    with limited_threads(call.threads):
        loop = loop_over(call.function, [call.arguments.unpack() for _ in range(native.replicas)])
        with refusing_failures(call.what, "when it was counted"):
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
