"""A region or a function as its own measurement, so that it can be placed as a program is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ridgepoint.core.counts import FunctionCounts, RegionCounts
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.lines import PythonLine
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.timed import Timed, TimedFunction
from ridgepoint.models.thresholds import CERTAIN


def part_alone(
    measurement: Measurement,
    part: RegionCounts | FunctionCounts | PythonLine,
    *,
    kind: str,
    timed: Timed | None,
) -> Measurement:
    """Return the measurement of a part alone.

    Parameters
    ----------
    measurement : Measurement
        Measurement of the whole program.
    part : RegionCounts, FunctionCounts or PythonLine
        A line must have been counted.
    kind : {"region", "function", "line"}
    timed : Timed or None
        The time of the part; None: it is not known.

    Notes
    -----
    Its roofs are those of the cores that it kept busy itself, whatever was asked for the whole.
    """
    assert part.counts is not None
    return replace(
        measurement,
        counted=replace(
            measurement.counted,
            counts=part.counts,
            traffic=part.traffic,
            functions=(),
            remainder=None,
            regions=(),
            alternatives=(),
            ends=(),
            miss_curve=None,
            estimate=None,
            runs=(),
            selected=f"{kind} {part.name!r}",
        ),
        timed=timed,
        timed_regions=(),
        sampled=None,
        lines=None,
        asked=None,
    )


def region_alone(measurement: Measurement, region: RegionCounts) -> Measurement:
    """Return the measurement of a region alone.

    Parameters
    ----------
    measurement : Measurement
        Measurement of the whole program.
    region : RegionCounts
        One of its regions.

    Returns
    -------
    Measurement
        Counts of the region, and its time: wall-clock time in which a thread was inside, and time
        inside summed over threads. Not timed if the wall-clock time is unknown.
    """
    timed = next((part for part in measurement.timed_regions if part.name == region.name), None)
    return part_alone(
        measurement,
        region,
        kind="region",
        timed=(
            None
            if timed is None or timed.runtime_s is None
            else Timed(runtime_s=timed.runtime_s, cpu_s=timed.busy_s, cautions=timed.cautions)
        ),
    )


def timed_functions(
    measurement: Measurement,
) -> Iterator[tuple[FunctionCounts | None, TimedFunction]]:
    """Yield the timed functions, longest first; counts are None for functions not counted."""
    if measurement.sampled is None:
        return
    counted = {(part.object, part.name): part for part in measurement.counted.functions}
    for timed in measurement.sampled.functions:
        yield counted.get((timed.object, timed.name or "")), timed


def function_alone(
    measurement: Measurement, function: FunctionCounts, timed: TimedFunction | None
) -> Measurement:
    """Return the measurement of a function alone.

    Parameters
    ----------
    measurement : Measurement
        Measurement of the whole program.
    function : FunctionCounts
        One of its functions.
    timed : TimedFunction or None
        Its time; None: not known.

    Returns
    -------
    Measurement
        Counts of the function itself, its part of the program's runtime, and its CPU time. Not
        timed if its runtime is not known to `CERTAIN`.
    """
    own = None
    if timed is not None and timed.relative_error <= CERTAIN:
        own = Timed(runtime_s=timed.runtime_s, cpu_s=Estimate([timed.cpu_s]))
    return part_alone(measurement, function, kind="function", timed=own)


def line_alone(measurement: Measurement, line: PythonLine) -> Measurement:
    """Return the measurement of a line of Python alone, with what is below it.

    Parameters
    ----------
    measurement : Measurement
        Measurement of the whole program.
    line : PythonLine
        One of its lines, counted.

    Returns
    -------
    Measurement
        Counts of the threads that worked below the line, and their CPU time, as if one thread had
        been there at a time. Not timed if that is not known to `CERTAIN`.
    """
    working_s, cpu_s = line.working_s, line.cpu_s
    low, high = cpu_s.low, cpu_s.high
    timed = None
    if working_s and low is not None and high is not None:
        scale = working_s / cpu_s.median
        runtime = Estimate([working_s], interval=(low * scale, high * scale))
        if (high - low) / 2 <= CERTAIN * cpu_s.median:
            timed = Timed(runtime_s=runtime, cpu_s=runtime)
    return part_alone(measurement, line, kind="line", timed=timed)
