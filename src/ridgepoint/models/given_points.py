"""Given figures of a program on a machine's roofline: what bounds it, and how near it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ridgepoint.core.bound import Bound, bound_known
from ridgepoint.core.demand import Demand
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.estimate import Estimate, quotient
from ridgepoint.core.given import GivenPoint
from ridgepoint.core.machine import Machine
from ridgepoint.core.presenting import Presentable, quoted
from ridgepoint.core.resources import LINKS
from ridgepoint.models.given_machine import is_per_cycle
from ridgepoint.models.headlines import place_in_words
from ridgepoint.models.one_bandwidth import Bandwidth, machine_with, resource_of
from ridgepoint.models.thresholds import ABOVE_ROOF, SAME
from ridgepoint.models.work import Metric

_End = Callable[[Estimate], float]


def _low(estimate: Estimate) -> float:
    return estimate.median if estimate.low is None else estimate.low


def _middle(estimate: Estimate) -> float:
    return estimate.median


def _high(estimate: Estimate) -> float:
    return estimate.median if estimate.high is None else estimate.high


_OPPOSITE: dict[_End, _End] = {_low: _high, _middle: _middle, _high: _low}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PlacedPoint(Presentable):
    """A given point under a machine's roofs; intervals follow from those of its figures.

    Parameters
    ----------
    point : GivenPoint
    machine : Machine
    cores : float
        Cores whose roofs apply.
    bound : Bound
        Of the figures without their uncertainty; of one flop (or BOP) if no work is given.
    intensity : Estimate or None
        flop/byte or BOP/byte at DRAM; None: no byte was moved, so it is infinite.
    performance : Estimate or None
        flop/s or BOP/s; None: its time is not known.
    attainable : Estimate or None
        Most that its bound allows, flop/s or BOP/s; None: no roof of the machine bounds it.
    efficiency : Estimate or None
        The bound's time over the runtime: 1 is the roof; None: one of them is not known.
    bandwidth : {"read", "write", "copy"} or None
        The bandwidth of main memory that alone bounds it; None: all do.
    """

    point: GivenPoint
    machine: Machine
    cores: float
    bound: Bound
    intensity: Estimate | None
    performance: Estimate | None
    attainable: Estimate | None
    efficiency: Estimate | None
    bandwidth: Bandwidth | None = None

    @property
    def metric(self) -> Metric:
        """Unit of its work."""
        return metric_of(self.point)

    @property
    def headline(self) -> str:
        """The result in one line."""
        attainable, performance, efficiency = (
            None if estimate is None else estimate.median
            for estimate in (self.attainable, self.performance, self.efficiency)
        )
        placed = place_in_words(
            self.bindings,
            self.metric,
            attainable=attainable,
            performance=performance,
            efficiency=efficiency,
        )
        return f"of {quoted(self.point.name)}, given: {placed}"

    @property
    def bindings(self) -> tuple[str, ...]:
        """Every constraint that binds, as `ridgepoint.models.placement.Placement.bindings`."""
        return self.bound.bind_equally(within=SAME)

    def along(self, bandwidth: Bandwidth | None) -> PlacedPoint | None:
        """Return the point below one bandwidth alone; None: its bytes of that kind are unknown."""
        if bandwidth == self.bandwidth:
            return self
        if bandwidth in ("read", "write") and self.point.read is None:
            return None
        return place_given(self.point, self.machine, bandwidth=bandwidth)

    @property
    def is_above_roof(self) -> bool:
        """Whether it is faster than its roof allows, with all of its interval."""
        if self.efficiency is None:
            return False
        low = self.efficiency.low
        return (self.efficiency.median if low is None else low) > ABOVE_ROOF


def metric_of(point: GivenPoint) -> Metric:
    """Return the unit of a point's work."""
    return "bop" if point.resource == "bop" else "flop"


def place_given(
    point: GivenPoint, machine: Machine, *, bandwidth: Bandwidth | None = None
) -> PlacedPoint:
    """Bound given figures by a machine.

    Parameters
    ----------
    point : GivenPoint
        Figures without an interval count as exact.
    machine : Machine
    bandwidth : {"read", "write", "copy"} or None
        Bandwidth of main memory below which it is placed; None: all that are known.

    Raises
    ------
    RidgepointError
        If the machine has fewer cores, has no ceiling for any of the figures, or no clock by which
        cycles become seconds.

    Examples
    --------
    >>> from ridgepoint.published.machines import load
    >>> figures = {"W": "2 Gflop", "Q": "16 GB", "T": "1 s", "cores": "1"}
    >>> placed = place_given(GivenPoint.of("daxpy", figures), load("csb"))
    >>> placed.bindings, placed.attainable.median, f"{placed.efficiency.median:.3f}"
    (('dram',), 2480000000.0, '0.806')
    """
    if point.cores is not None and point.cores > machine.cores:
        raise _refused(
            point, machine,
            f"it kept {point.cores:g} cores busy, and the machine has {machine.cores}",
            "leave out cores, or name another machine",
        )  # fmt: skip
    cores = float(machine.cores) if point.cores is None else point.cores

    def bound_at(of_work: _End, of_bytes: _End) -> Bound:
        demand = _demand(point, of_work, of_bytes, bandwidth)
        least = bound_known(demand, machine_with(machine, bandwidth), cores=cores)
        if least is None:
            raise _refused(
                point, machine, "the machine has no ceiling for any of its figures",
                "name a machine that has, or give its rates: --machine "
                "'pi=2Tflop/s, beta=100GB/s'",
            )  # fmt: skip
        return least

    bound = bound_at(_middle, _middle)
    attainable = _spread(
        bound.attainable if bound.time_s else None,
        (bound_at(*ends).attainable for ends in ((_low, _high), (_high, _low))),
    )
    runtime_s = _runtime_s(point, machine)
    least_s = _spread(
        bound.time_s or None, (bound_at(*ends).time_s for ends in ((_low, _low), (_high, _high)))
    )
    return PlacedPoint(
        point=point,
        machine=machine,
        cores=cores,
        bound=bound,
        intensity=_intensity(point, bandwidth),
        performance=_performance(point, machine),
        attainable=attainable,
        efficiency=None if runtime_s is None or least_s is None else quotient(least_s, runtime_s),
    )


def _performance(point: GivenPoint, machine: Machine) -> Estimate | None:
    """Return W/T or P, flop/s or BOP/s; None: the time is not known."""
    hertz = _hertz(point, machine)
    if point.performance is not None:
        return point.performance.map(lambda rate: rate * hertz)
    if point.runtime is None or point.work_done is None:
        return None
    return quotient(point.work_done, point.runtime).map(lambda rate: rate * hertz)


def _runtime_s(point: GivenPoint, machine: Machine) -> Estimate | None:
    """Return T, or W/P, or the time of one flop if no work is given, in seconds."""
    hertz = _hertz(point, machine)
    if point.runtime is not None:
        return point.runtime.map(lambda time: time / hertz)
    if point.performance is None:
        return None
    work = 1.0 if point.work_done is None else point.work_done.median
    return point.performance.map(lambda rate: work / (rate * hertz))


def _hertz(point: GivenPoint, machine: Machine) -> float:
    """Return the number by which a rate of the point becomes one per second."""
    clock = machine.host.frequency_hz
    if point.is_in_cycles and clock is None:
        raise _refused(
            point, machine,
            "its time is in cycles, and the frequency of the machine is not known",
            "give T in seconds",
        )  # fmt: skip
    if is_per_cycle(machine) and not point.is_in_cycles:
        if point.runtime is None and point.performance is None:
            return 1.0
        raise _refused(
            point, machine,
            "its time is in seconds, and the rates of the machine are per cycle",
            "give T in cycles, such as T=5Mcycle, or the machine's clock, such as "
            "frequency=3.2GHz",
        )  # fmt: skip
    return clock if point.is_in_cycles and clock is not None else 1.0


def _moved(point: GivenPoint, bandwidth: Bandwidth | None) -> dict[str, Estimate | None]:
    """Return the bytes that count at main memory, by resource."""
    if bandwidth is None and point.read is not None:
        return {"dram_read": point.read, "dram_write": point.write}
    if bandwidth == "read":
        return {"dram_read": point.read}
    if bandwidth == "write":
        return {"dram_write": point.write}
    return {"dram": point.bytes_moved}


def _intensity(point: GivenPoint, bandwidth: Bandwidth | None) -> Estimate | None:
    """Return W over the bytes that count; None: there are none."""
    if bandwidth not in ("read", "write"):
        return point.intensity_at_dram
    moved, work = _moved(point, bandwidth)[resource_of(bandwidth)], point.work_done
    if moved is None or work is None or not moved.median:
        return None
    return quotient(work, moved)


def _demand(
    point: GivenPoint, of_work: _End, of_bytes: _End, bandwidth: Bandwidth | None
) -> Demand:
    """Return what the point asks for, with these ends of its figures."""
    work = 1.0 if point.work_done is None else of_work(point.work_done)
    links = {link: getattr(point, link) for link in LINKS}
    moved: dict[str, Estimate | None] = {**_moved(point, bandwidth), **links}
    amounts = {name: of_bytes(value) for name, value in moved.items() if value is not None}
    if point.bytes_moved is None and point.intensity is not None:
        # The interval of I counts once: as bytes of a certain work.
        amounts["dram"] = work / _OPPOSITE[of_bytes](point.intensity)
    return Demand({point.resource: work, **amounts})


def _spread(middle: object, ends: Iterable[object]) -> Estimate | None:
    """Return a value with the least and the largest of its ends; None: it is not known."""
    if middle is None:
        return None
    value = float(middle)  # type: ignore[arg-type]
    others = [float(end) for end in ends]  # type: ignore[arg-type]
    low, high = min(value, *others), max(value, *others)
    return Estimate([value], interval=None if low == high else (low, high))


def _refused(point: GivenPoint, machine: Machine, reason: str, remedy: str) -> RidgepointError:
    return RidgepointError(
        f"cannot place {point.name!r} on {machine.name}", reason=reason, remedy=remedy
    )
