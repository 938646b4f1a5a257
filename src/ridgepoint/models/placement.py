"""A program's place under a machine's roofs: its limit, and how near it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ridgepoint.core.bound import Bound, bound_known
from ridgepoint.core.caution import Caution
from ridgepoint.core.demand import Demand
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.presenting import Presentable, quoted
from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.headlines import place_in_words
from ridgepoint.models.one_bandwidth import Bandwidth, bytes_of, demand_along, machine_with
from ridgepoint.models.own_roofs import (
    IssuePlace,
    MixPlace,
    is_explained,
    mix_cautions,
    place_issue,
    place_mix,
)
from ridgepoint.models.placement_cautions import (
    above,
    bops_unknown,
    elsewhere,
    judge,
    last_size,
    left_out,
    other_caches,
)
from ridgepoint.models.plausibility import by_instructions_per_cycle
from ridgepoint.models.thresholds import ABOVE_ROOF, LEAST_CHANGE, SAME, SNAP_CORES
from ridgepoint.models.traffic_ranges import IntensityRange, at_ends, intensity_range, range_of
from ridgepoint.models.work import Metric, demand_of, used_precisions, work_total


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Placement(Presentable):
    """A measured program on a machine's roofline.

    Parameters
    ----------
    measurement : Measurement
        What was placed.
    machine : Machine
        Where it was placed.
    cores : float
        Cores whose roofs apply: those that the program kept busy, or as asked.
    metric : {"flop", "bop"}
        Unit of its work: flop or BOP.
    bound : Bound or None
        None: the machine has no ceiling for anything that the program asked for.
    mix : MixPlace or None
        Its place under the roof of its own mix; None: it does no flop, or `metric` is BOP.
    issue : IssuePlace
        Its place under the rate at which cores start instructions.
    ends : tuple of Placement
        Placements with the smallest and the largest caches that the program may get, where these
        vary with the machine's neighbours and were simulated.
    cautions : tuple of Caution
        Cautions of the measurement and of the placement, and one for every region and function
        above its own roof.
    bandwidth : {"read", "write", "copy"} or None
        Bandwidth that alone stands for the machine's memory, with an intensity over its bytes;
        None: all levels and both directions.
    """

    measurement: Measurement
    machine: Machine
    cores: float
    metric: Metric
    bound: Bound | None
    mix: MixPlace | None
    issue: IssuePlace
    ends: tuple[Placement, ...] = ()
    cautions: tuple[Caution, ...] = ()
    bandwidth: Bandwidth | None = None

    @cached_property
    def work(self) -> int | None:
        """W, flop or BOP; None: not known."""
        return work_total(self.measurement.counted.counts, self.metric)

    @property
    def runtime_s(self) -> Estimate | None:
        """The program's runtime; None: it was not timed."""
        timed = self.measurement.timed
        return None if timed is None else timed.runtime_s

    @cached_property
    def moved_bytes(self) -> int | None:
        """The bytes at DRAM that the intensity is over; None: not known."""
        return bytes_of(self.measurement.traffic_at("dram"), self.bandwidth)

    @cached_property
    def intensity(self) -> float | None:
        """W / (Q_r + Q_w) at DRAM, flop/byte or BOP/byte; None: unmeasured, or nothing moved.

        Of one bandwidth alone it is W / Q_r or W / Q_w.
        """
        moved = self.moved_bytes
        return self.work / moved if moved and self.work is not None else None

    @cached_property
    def intensity_range(self) -> IntensityRange | None:
        """Between what the intensity lies; None: its traffic was counted once, exactly."""
        return intensity_range(self.measurement, self.metric, "dram", self.bandwidth)

    @cached_property
    def performance_per_s(self) -> Estimate | None:
        """W / T, flop/s or BOP/s; None: not timed, no such work, or the work is not known."""
        work, runtime = self.work, self.runtime_s
        return runtime.map(lambda seconds: work / seconds) if runtime and work else None

    @property
    def bindings(self) -> tuple[str, ...]:
        """Every constraint that binds: the longest, and those of other paths that are as long.

        Times that differ by no more than `ridgepoint.models.thresholds.SAME` are equally long.
        Empty: there is no bound.
        """
        return () if self.bound is None else self.bound.bind_equally(within=SAME)

    @property
    def attainable_per_s(self) -> float | None:
        """W over the bound's time, flop/s or BOP/s; None: no such work, or no bound."""
        if self.bound is None or not self.bound.time_s or not self.work:
            return None
        return float(self.bound.attainable)

    @property
    def efficiency(self) -> float | None:
        """The bound's time over the runtime's median: 1 is the roof; None: one is not known."""
        if self.bound is None or not self.bound.time_s or self.runtime_s is None:
            return None
        return float(self.bound.efficiency(self.runtime_s.median))

    @property
    def efficiency_at_ends(self) -> tuple[float, float] | None:
        """The lowest and highest efficiency over the `ends`; None: they hardly differ."""
        return range_of(self.efficiency, [end.efficiency for end in self.ends])

    @property
    def headline(self) -> str:
        """The result in one line."""
        of = f"of {quoted(self.measurement.command[0])}: "
        if self.bound is None:
            return f"{of}no ceiling is known for any resource that it uses"
        return of + place_in_words(
            self.bindings,
            self.metric,
            attainable=self.attainable_per_s,
            performance=None if self.performance_per_s is None else self.performance_per_s.median,
            efficiency=self.efficiency,
        )

    @property
    def demand(self) -> Demand:
        """The part of the program's demand for which the machine has ceilings."""
        return Demand({}) if self.bound is None else self.bound.known

    @property
    def missing_roofs(self) -> tuple[str, ...]:
        """What it uses much of, and the machine has no ceiling for: ``bf16``, ``dram``, ...

        The bound holds without them, but may be far from what the machine allows.
        """
        asked = demand_along(demand_of(self.measurement, self.metric), self.bandwidth).amounts
        left_out = tuple(asked) if self.bound is None else self.bound.left_out
        work = [name for name in used_precisions(asked) if name in left_out]
        paths = {RESOURCES[name].path for name in left_out if asked[name]}
        return (*work, *(["dram"] if "dram" in paths else []))

    @property
    def is_above_roof(self) -> bool:
        """Whether it is faster than its roof allows, beyond the noise of its runtime.

        For a function, whose time comes from samples, the long end of its interval counts.
        """
        if self.efficiency is None or self.runtime_s is None:
            return False
        interval = self.runtime_s.interval
        longest_s = self.runtime_s.median if interval is None else interval[1]
        return self.efficiency * self.runtime_s.median > ABOVE_ROOF * longest_s

    @property
    def intensity_flop_per_byte(self) -> float | None:
        """The intensity, if `metric` is flop."""
        return self.intensity if self.metric == "flop" else None

    @property
    def performance_flop_per_s(self) -> Estimate | None:
        """The performance, if `metric` is flop."""
        return self.performance_per_s if self.metric == "flop" else None

    @property
    def attainable_flop_per_s(self) -> float | None:
        """The attainable performance, if `metric` is flop."""
        return self.attainable_per_s if self.metric == "flop" else None


PlacedPart = tuple[str, Placement]
"""What is said of a region or a function, and its place alone."""


def cores_that_apply(cores_busy: float, machine_cores: int) -> float:
    """Return the cores whose roofs apply to a program.

    Parameters
    ----------
    cores_busy : float
        CPU time over wall time, >= 0.
    machine_cores : int

    Returns
    -------
    float
        At least 1 (waiting does not lower a program's roof), at most the machine's; whole numbers
        where the difference is noise. Fractions are exact: capacity is concave in the cores, so
        the average bounds the average.
    """
    nearest = round(cores_busy)
    cores = float(nearest) if abs(cores_busy - nearest) <= SNAP_CORES else cores_busy
    return min(max(cores, 1.0), float(machine_cores))


def place_with(
    measurement: Measurement,
    machine: Machine,
    *,
    cores: float | None = None,
    metric: Metric = "flop",
    bandwidth: Bandwidth | None = None,
    parts: Sequence[PlacedPart] = (),
) -> Placement:
    """Bound a measured program by a machine, given the placements of its regions and functions.

    Parameters
    ----------
    measurement, machine, cores, metric, bandwidth
        As for `ridgepoint.models.analysis.place`.
    parts : sequence of (str, Placement)
        Regions and functions with known time; a caution reports those above a roof.
    """
    asked = measurement.asked
    if cores is None and asked is not None and asked.cores is not None:
        cores = min(asked.cores, float(machine.cores))
    if cores is None:
        cores = cores_that_apply(_cores_busy(measurement, machine), machine.cores)
    machine = machine_with(machine, bandwidth)
    asked_for = demand_along(demand_of(measurement, metric), bandwidth)
    limit = bound_known(asked_for, machine, cores=cores)
    placement = Placement(
        measurement=measurement,
        machine=machine,
        cores=cores,
        metric=metric,
        bound=limit,
        mix=place_mix(measurement, machine, limit, cores=cores) if metric == "flop" else None,
        issue=place_issue(measurement, machine, cores=cores),
        ends=tuple(
            place_with(end, machine, cores=cores, metric=metric, bandwidth=bandwidth)
            for end in at_ends(measurement)
        ),
        bandwidth=bandwidth,
    )
    return replace(placement, cautions=tuple(_cautions(placement, parts)))


def _cautions(placement: Placement, parts: Sequence[PlacedPart]) -> Iterator[Caution]:
    """Yield the cautions about a program, its place, and its parts above their roofs."""
    measurement, machine = placement.measurement, placement.machine
    yield from measurement.all_cautions
    yield from elsewhere(measurement, machine)
    yield from other_caches(measurement, machine)
    yield from by_instructions_per_cycle(measurement, machine)
    asked_for = demand_along(demand_of(measurement, placement.metric), placement.bandwidth)
    yield from left_out(asked_for, placement.bound, machine)
    if placement.metric == "bop":
        yield from bops_unknown(measurement.counted.counts)
    for name, part in parts:
        if part.is_above_roof and part.bound is not None and part.efficiency is not None:
            yield above(name, part.efficiency, part.bound)
    efficiency, timed = placement.efficiency, measurement.timed
    if placement.bound is None or efficiency is None or timed is None:
        return
    yield from judge(
        efficiency,
        timed.cores_busy,
        placement.bound,
        measurement.disturbances,
        explained=is_explained(placement.mix, placement.issue),
    )
    if efficiency <= ABOVE_ROOF:
        yield from mix_cautions(placement.mix)
    yield from _if_it_matters(placement, placement.bound, efficiency)


def _if_it_matters(placement: Placement, limit: Bound, efficiency: float) -> Iterator[Caution]:
    """Yield a caution if other caches within the range would change the verdict."""
    changed = [
        (end, other)
        for end, other in zip(placement.measurement.counted.ends, placement.ends, strict=True)
        if other.bound is not None
        and other.efficiency is not None
        and (
            other.bound.binding != limit.binding
            or abs(other.efficiency - efficiency) > LEAST_CHANGE * efficiency
        )
    ]
    if not changed:
        return
    seen = "; ".join(
        f"with {last_size(end.caches)} {other.bound.binding} would allow "
        f"{1 / other.efficiency:.2g} times its speed"
        for end, other in changed
        if other.bound is not None and other.efficiency
    )
    yield Caution(
        "capacity-varies",
        f"how much of the caches the program gets depends on neighbours: {seen}",
        "take the verdict as one of these, or measure on dedicated CPUs",
    )


def _cores_busy(measurement: Measurement, machine: Machine) -> float:
    if measurement.timed is not None:
        return measurement.timed.cores_busy
    return 1.0 if measurement.counted.is_sequential else float(machine.cores)
