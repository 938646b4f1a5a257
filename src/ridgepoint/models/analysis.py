"""All results of a measurement on a machine, computed once and shown in many ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from ridgepoint.core.bound import Bound, bound_known
from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import FunctionCounts
from ridgepoint.core.lines import PythonLine
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.presenting import Presentable, presenter
from ridgepoint.core.timed import TimedFunction
from ridgepoint.models.advice import Advice, AdvisedPart, Subject, advice, whole_subject
from ridgepoint.models.caches.working_sets import WorkingSet, working_sets
from ridgepoint.models.causes import Cause, causes
from ridgepoint.models.conclusion import Conclusion, conclude
from ridgepoint.models.distributed import Verdict, judge
from ridgepoint.models.doubts import doubts
from ridgepoint.models.explanations import Explained, explain, hot_function
from ridgepoint.models.one_bandwidth import BANDWIDTHS, Bandwidth
from ridgepoint.models.parts import function_alone, line_alone, region_alone, timed_functions
from ridgepoint.models.placement import PlacedPart, Placement, place_with
from ridgepoint.models.placement_cautions import are_simulated
from ridgepoint.models.thresholds import CERTAIN, LEAST_PART
from ridgepoint.models.work import WORK_UNITS, Metric, demand_of


@dataclass(frozen=True, kw_only=True, eq=False)
class TimedPart:
    """A timed function with its counts and analysis.

    Parameters
    ----------
    timed : TimedFunction
    counts : FunctionCounts or None
        None: it was not counted.
    analysis : Analysis or None
        Analysis of this function alone; None: it was not counted.
    """

    timed: TimedFunction
    counts: FunctionCounts | None
    analysis: Analysis | None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Analysis(Presentable):
    """A measurement, a machine or none, and all derived results, each computed when first used.

    It shows itself as `ridgepoint run` prints it (`summary`), and draws itself (`plot`).

    Parameters
    ----------
    measurement : Measurement
    machine : Machine or None
        Machine that bounds it: for a distributed program all its nodes together. None: no bound.
    cores : float or None
        Cores whose roofs apply, as for `place`.
    metric : {"flop", "bop"}
        Unit of its work.
    bandwidth : {"read", "write", "copy"} or None
        Bandwidth that alone stands for the machine's memory; None: all of it.
    """

    measurement: Measurement
    machine: Machine | None
    cores: float | None = None
    metric: Metric = "flop"
    bandwidth: Bandwidth | None = None

    @property
    def headline(self) -> str:
        """The result in one line."""
        return (self.placement or self.measurement).headline

    @cached_property
    def placement(self) -> Placement | None:
        """Its place under the machine's roofs; None: there is no machine."""
        if self.machine is None:
            return None
        return place_with(
            self.measurement,
            self.machine,
            cores=self.cores,
            metric=self.metric,
            bandwidth=self.bandwidth,
            parts=tuple(self._placed_parts()),
        )

    def along(self, bandwidth: Bandwidth | None) -> Analysis:
        """Return the analysis of the same program below one bandwidth alone; None: below all."""
        return self if bandwidth == self.bandwidth else replace(self, bandwidth=bandwidth)

    @cached_property
    def one_bandwidth(self) -> dict[Bandwidth, Placement]:
        """Its place, without its parts, below each bandwidth alone; empty: there is no machine."""
        if self.machine is None:
            return {}
        return {
            bandwidth: place_with(
                self.measurement,
                self.machine,
                cores=self.cores,
                metric=self.metric,
                bandwidth=bandwidth,
            )
            for bandwidth in BANDWIDTHS
        }

    @property
    def has_traffic_of_machine(self) -> bool:
        """Whether its traffic was simulated with the caches of its machine."""
        caches = self.measurement.counted.caches
        return self.machine is not None and are_simulated(caches, self.machine)

    def on(self, machine: Machine) -> Analysis:
        """Return the analysis of the same program on another machine.

        Its traffic is that of the other machine's caches where these were simulated in the same
        run (`run --what-if`), and else the one that was measured.
        """
        counted = self.measurement.counted
        simulated = next(
            (other for other in counted.alternatives if are_simulated(other.caches, machine)), None
        )
        measurement = self.measurement
        if simulated is not None:
            counted = replace(
                counted,
                traffic=simulated.traffic,
                caches=simulated.caches,
                ends=(),
                estimate=None,
                runs=(),
            )
            measurement = replace(measurement, counted=counted)
        cores = self.cores if self.cores is None else min(self.cores, float(machine.cores))
        return replace(self, measurement=measurement, machine=machine, cores=cores)

    @cached_property
    def regions(self) -> tuple[Analysis, ...]:
        """Analyses of the regions, each alone, in the order of the counts."""
        return tuple(
            self._of(region_alone(self.measurement, region))
            for region in self.measurement.counted.regions
        )

    @cached_property
    def functions(self) -> tuple[TimedPart, ...]:
        """The functions that were timed, longest first."""
        return tuple(
            TimedPart(
                timed=timed,
                counts=function,
                analysis=(
                    None
                    if function is None
                    else self._of(function_alone(self.measurement, function, timed))
                ),
            )
            for function, timed in timed_functions(self.measurement)
        )

    @cached_property
    def lines(self) -> tuple[tuple[PythonLine, Analysis], ...]:
        """The lines of Python that were counted, each with its analysis, longest first.

        None in basic operations: among those of a line are the ones that tell the line.
        """
        lines = self.measurement.lines if self.metric == "flop" else None
        return tuple(
            (line, self._of(line_alone(self.measurement, line)))
            for line in (() if lines is None else lines.lines)
            if line.counts is not None
        )

    @cached_property
    def alternatives(self) -> tuple[Bound | None, ...]:
        """The bound with the traffic of each alternative; None: it has no bounded resource."""
        if self.machine is None or self.placement is None:
            return ()
        counted, cores = self.measurement.counted, self.placement.cores
        moved = [
            replace(self.measurement, counted=replace(counted, traffic=alternative.traffic))
            for alternative in counted.alternatives
        ]
        return tuple(
            bound_known(demand_of(other, self.metric), self.machine, cores=cores) for other in moved
        )

    @cached_property
    def working_sets(self) -> tuple[WorkingSet, ...] | None:
        """Cache sizes at which its traffic falls; None: no miss curve was asked for."""
        curve = self.measurement.counted.miss_curve
        return None if curve is None else working_sets(curve)

    @cached_property
    def subject(self) -> Subject | None:
        """The subject for advice; None: there is no machine."""
        if self.machine is None or self.placement is None:
            return None
        return whole_subject(self.measurement, self.placement, self.machine)

    @cached_property
    def explained(self) -> Explained | None:
        """The explanation of its time; None: it was not timed, or has no bound."""
        return None if self.subject is None else explain(self.subject)

    @cached_property
    def hot_function(self) -> tuple[str, float] | None:
        """The function that deserves its own placement, and its share of the instructions."""
        return None if self.subject is None else hot_function(self.subject)

    @cached_property
    def conclusion(self) -> Conclusion | None:
        """What bounds it, and the gain that remains; None: there is no machine."""
        if self.placement is None:
            return None
        counts = self.measurement.counted.counts
        return conclude(self.placement, counts, explained=self.explained, hottest=self.hot_function)

    @cached_property
    def causes(self) -> tuple[Cause, ...]:
        """Every resource and known cause: what limits it, what does not and why, what is unknown.

        Empty: there is no machine, or it has no ceiling for anything that the program uses.
        """
        if self.subject is None or self.conclusion is None:
            return ()
        return causes(self.subject, self.conclusion, self.of_ranks)

    @cached_property
    def advice(self) -> tuple[Advice, ...]:
        """Actions to take next."""
        if self.subject is None:
            return ()
        return advice(self.subject, self._advised_parts())

    @cached_property
    def of_ranks(self) -> Verdict | None:
        """What bounds a distributed program; None: not distributed, or there is no machine."""
        if self.machine is None or self.measurement.distributed is None:
            return None
        return judge(self.measurement, self.machine, metric=self.metric)

    @cached_property
    def doubts(self) -> dict[Caution, bool]:
        """All cautions, each with whether it could change a verdict."""
        return doubts(self)

    def explain(self) -> str:
        """Return its diagnosis in Markdown, as `ridgepoint explain` prints it."""
        return presenter().explain(self)

    def _of(self, alone: Measurement) -> Analysis:
        """Return the analysis of a part, under the roofs of the cores that the part kept busy."""
        return replace(self, measurement=alone, cores=None)

    def _placed_parts(self) -> Iterator[PlacedPart]:
        for region, alone in zip(self.measurement.counted.regions, self.regions, strict=True):
            if alone.placement is not None:
                yield f"region {region.name!r}", alone.placement
        for part in self.functions:
            if part.analysis is not None and part.timed.relative_error <= CERTAIN:
                assert part.analysis.placement is not None  # the whole has a machine
                yield f"function {part.timed.name!r}", part.analysis.placement

    def _advised_parts(self) -> Iterator[AdvisedPart]:
        """Yield the parts that take time, with their shares of it."""
        if self.measurement.timed is None or self.machine is None:
            return
        runtime_s = self.measurement.timed.runtime_s.median
        for name, part, inside, functions in (*self._own_regions(), *self._own_functions()):
            timed = part.measurement.timed
            share = 0.0 if timed is None else min(timed.runtime_s.median / runtime_s, 1.0)
            if share < LEAST_PART or part.placement is None:
                continue
            # Time inside, summed over threads, is not the time for which they were busy.
            counted = replace(part.measurement.counted, most_threads=None, functions=functions)
            yield (
                share,
                Subject(
                    name=name,
                    measurement=replace(part.measurement, counted=counted),
                    placement=part.placement,
                    machine=self.machine,
                ),
                inside,
            )

    def _own_regions(self) -> Iterator[_Part]:
        """Yield the regions whose counts explain their time."""
        # Such a region has counts of its threads but time of others too: they do not match.
        others = {
            region.name
            for region in self.measurement.timed_regions
            if any(caution.code == "region-other-threads" for caution in region.cautions)
        }
        for region, part in zip(self.measurement.counted.regions, self.regions, strict=True):
            if region.name not in others:
                inside = tuple(f"region {name}" for name in region.inside)
                yield f"region {region.name}", part, inside, ()

    def _own_functions(self) -> Iterator[_Part]:
        """Yield functions that were counted and timed; each may be inside any region."""
        regions = tuple(f"region {region.name}" for region in self.measurement.counted.regions)
        for part in self.functions:
            if part.counts is not None and part.analysis is not None:
                yield part.counts.name, part.analysis, regions, (part.counts,)


_Part = tuple[str, Analysis, tuple[str, ...], tuple[FunctionCounts, ...]]
"""Name, the part alone, the names of the parts that may contain it, and its functions."""


def analyse(
    measurement: Measurement,
    machine: Machine | None = None,
    *,
    cores: float | None = None,
    metric: Metric | None = None,
    bandwidth: Bandwidth | None = None,
) -> Analysis:
    """Return all results that follow from a measurement on a machine.

    Parameters
    ----------
    measurement : Measurement
        Measurement of a program, a call or a region; each part gets an analysis of its own.
    machine : Machine or None
        Need not be the one on which it was measured; a caution then says so. None: nothing bounds
        it.
    cores : float or None
        Cores whose roofs apply, > 0; None: the number asked for when it was measured, or else the
        number kept busy. If it was not timed: one if it had one thread, else all.
    metric : {"flop", "bop"} or None
        Unit of its work; None: the one asked for when it was measured, or else flop.
    bandwidth : {"read", "write", "copy"} or None
        Bandwidth of main memory that alone bounds it beside the peak: of reads, with the intensity
        W/Qr; of writes, with W/Qw; of copies, with W/(Qr + Qw). None: all levels and directions.

    Returns
    -------
    Analysis
        Computes each result when it is first used, and only once.

    Raises
    ------
    ValueError
        If `cores` is not > 0, or `metric` or `bandwidth` is none of these.
    """
    if cores is not None and not cores > 0:
        raise ValueError(f"cores must be > 0, got {cores!r}")
    if metric is not None and metric not in WORK_UNITS:
        raise ValueError(f"metric must be one of {tuple(WORK_UNITS)}, got {metric!r}")
    if bandwidth is not None and bandwidth not in BANDWIDTHS:
        raise ValueError(f"bandwidth must be one of {BANDWIDTHS}, got {bandwidth!r}")
    return Analysis(
        measurement=measurement,
        machine=machine,
        cores=cores,
        metric=measurement.metric if metric is None else metric,
        bandwidth=bandwidth,
    )


def analysed(result: Measurement | Placement | Analysis) -> Analysis:
    """Return the analysis of a measured program, by all that a result of it says.

    Parameters
    ----------
    result : Measurement, Placement or Analysis
        A measurement alone has no bound; a placement keeps its machine, cores and unit of work.
    """
    if isinstance(result, Analysis):
        return result
    if isinstance(result, Measurement):
        return analyse(result)
    return analyse(result.measurement, result.machine, cores=result.cores, metric=result.metric)


def place(
    measurement: Measurement,
    machine: Machine,
    *,
    cores: float | None = None,
    metric: Metric | None = None,
) -> Placement:
    """Bound a measured program by a machine.

    Parameters
    ----------
    measurement : Measurement
    machine : Machine
    cores, metric
        As for `analyse`; this function returns its `placement`.

    Returns
    -------
    Placement
    """
    placement = analyse(measurement, machine, cores=cores, metric=metric).placement
    assert placement is not None  # there is a machine
    return placement
