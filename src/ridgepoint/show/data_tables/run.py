"""A measured program as tables: its parts, its traffic, its lines, its samples and more."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ridgepoint.core.columns import CAUTIONS, count, flag, number, text
from ridgepoint.core.counted import TrafficInterval
from ridgepoint.core.counts import Counts, FunctionCounts, Traffic
from ridgepoint.core.documents import fields_of
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.resources import LEVELS, PRECISIONS
from ridgepoint.core.table import Table
from ridgepoint.models.analysis import Analysis, TimedPart
from ridgepoint.models.condensed import condensed
from ridgepoint.models.placement import Placement
from ridgepoint.show.data_tables.ranks import ranks_table

_PART = (
    text("part", "program, region, function, or remainder: the functions that are not listed."),
    text("name", "The command, the region or the function."),
)
_LEVEL_NAMES = {
    level: "between core and L1" if level == "l1" else f"at {level.upper()}" for level in LEVELS
}
_PARTS = (
    *_PART,
    text("object", "File that holds the function's code."),
    text("inside", "Regions in which this region was active, separated by ', '."),
    count("members", "Number of functions that the remainder sums up."),
    count("entries", "How often the part was entered."),
    *number("runtime_s", "Wall-clock time, median.", "T", unit="s").ends(),
    *number("cpu_s", "User and system time, median.", "CPU time", unit="s").ends(),
    number("cores_busy", "CPU time over wall-clock time."),
    count("samples", "Samples of the clock in which the function ran."),
    count("work_flop", "Floating-point operations; an FMA counts 2.", "W", unit="flop"),
    *(count(f"{p}_flop", f"Those in {p}.", f"W in {p}", unit="flop") for p in PRECISIONS),
    count("refined_bop", "Basic operations, by class of instruction.", "BOPs", unit="BOP"),
    count("eq3_bop", "Basic operations by Eq. (3) of the BOPS paper.", "BOPs, Eq. (3)", unit="BOP"),
    count("instructions", "Executed instructions."),
    *(count(name, f"Those that {does}.") for name, does in (
        ("branches", "branch"), ("loads", "read memory"), ("stores", "write memory"),
        ("undecoded", "could not be read"))),
    *(
        count(f"{level}_{what}", f"Bytes {words} {where}.", unit="byte")
        for level, where in _LEVEL_NAMES.items()
        for what, words in (
            ("bytes", "moved both ways"), ("read_bytes", "read"), ("write_bytes", "written"))
    ),
    text("machine", "Machine whose roofs apply."),
    number("cores", "Cores whose roofs apply."),
    text("metric", "What the part is placed by: flop or bop."),
    *number("intensity_flop_per_byte", "Work over bytes at DRAM.", "I", unit="flop/byte").ends(),
    *number("intensity_bop_per_byte", "Work over bytes at DRAM.", "I", unit="BOP/byte").ends(),
    *number("performance_flop_per_s", "Work over runtime.", "P", unit="flop/s").ends(),
    *number("performance_bop_per_s", "Work over runtime.", "P", unit="BOP/s").ends(),
    number("attainable_flop_per_s", "The most that the roofs allow.", unit="flop/s"),
    number("attainable_bop_per_s", "The most that the roofs allow.", unit="BOP/s"),
    number("bound_s", "Shortest time that the roofs allow.", "bound", unit="s"),
    text("limiter", "Path that bounds it: compute or a memory level."),
    text("binding", "Constraint of that path that binds: dram_read, compute, ..."),
    number("efficiency", "Bound over runtime: 1 is the roof."),
    flag("above_roof", "Whether it is faster than its roof allows, beyond noise."),
)  # fmt: skip
_LEVELS = (
    *_PART,
    text("level", "Memory level: l1 is between core and L1, dram between last cache and memory."),
    *count("read_bytes", "Bytes towards the core.", unit="byte").ends(),
    *count("write_bytes", "Bytes away from the core.", unit="byte").ends(),
    count("pending_write_bytes", "Dirty bytes still in the cache at the end.", unit="byte"),
    *count("moved_bytes", "Bytes of both directions.", unit="byte").ends(),
)
_LINES = (
    text("function", "Function whose code it is."),
    text("object", "File that holds the function's code."),
    text("source", "Source file, as the debug information has it."),
    count("line", "Line of the source file, from 1."),
    count("work_flop", "Floating-point operations.", "W", unit="flop"),
    count("refined_bop", "Basic operations.", "BOPs", unit="BOP"),
    count("instructions", "Executed instructions."),
    *(
        count(f"{level}_{way}_bytes", f"Bytes {way} {where}.", unit="byte")
        for level, where in _LEVEL_NAMES.items()
        for way in ("read", "write")
    ),
)
_MIX = (
    text("precision", "fp64, fp32, fp16, bf16 or fp80."),
    count("width_bits", "Width of the instruction's registers, in bits."),
    flag("fma", "Whether it multiplies and adds at once."),
    text("operation", "add, mul, div, sqrt, ..."),
    count("flop", "Floating-point operations.", unit="flop"),
    count("masked_flop", "Those of instructions under a mask.", unit="flop"),
    count("useful_flop", "Those in lanes that no mask had switched off.", unit="flop"),
    count("instructions", "Executed instructions."),
)
_SAMPLES = (
    *_PART,
    text("quantity", "What was measured: runtime, cpu or system time."),
    count("sample", "Number of the sample, from 1, as they were taken."),
    number("value_s", "Its value.", unit="s"),
)
_MISS_CURVE = (
    count("capacity_bytes", "Size of the cache.", unit="byte"),
    count("read_bytes", "Bytes read from memory.", unit="byte"),
    count("write_bytes", "Bytes written back.", unit="byte"),
    count("pending_write_bytes", "Dirty bytes still in the cache at the end.", unit="byte"),
)

Row = dict[str, object]


def run_tables(analysis: Analysis) -> tuple[Table, ...]:
    """Return every table of a measured program, the one of its parts first."""
    measurement = condensed(analysis.measurement)
    counted = measurement.counted
    curve = counted.miss_curve
    ranks = () if measurement.distributed is None else measurement.distributed.ranks
    return (
        Table.of("parts", _PARTS, _parts(analysis, measurement)),
        Table.of("levels", _LEVELS, _levels(measurement)),
        Table.of("lines", _LINES, _lines(counted.functions)),
        Table.of("mix", _MIX, (fields_of(kind, *_MIX_KEYS) for kind in counted.counts.flop)),
        Table.of("samples", _SAMPLES, _samples(measurement)),
        Table.of(
            "miss_curve",
            _MISS_CURVE,
            ()
            if curve is None
            else (
                dict(zip(_CURVE_KEYS, row, strict=True))
                for row in zip(
                    curve.capacities_bytes,
                    curve.read_bytes,
                    curve.write_bytes,
                    curve.pending_bytes,
                    strict=True,
                )
            ),
        ),
        ranks_table(ranks),
        Table.of(
            "cautions",
            CAUTIONS,
            (
                {**fields_of(caution, "code", "seen", "remedy"), "matters": matters}
                for caution, matters in analysis.doubts.items()
            ),
        ),
    )


def timing_tables(timing: Timing) -> tuple[Table, ...]:
    """Return the tables of a program that was timed and not counted: all else is unknown."""
    rows: list[Row] = [{"part": "program", "name": shlex.join(timing.command), **_time(timing)}]
    rows += [
        {"part": "region", **fields_of(region, "name", "entries", "runtime_s", "cpu_s")}
        for region in timing.timed_regions
    ]
    functions = () if timing.sampled is None else timing.sampled.functions
    rows += [{"part": "function", **fields_of(function, *_OF_TIMED)} for function in functions]
    return (
        Table.of("parts", _PARTS, rows),
        *(Table.of(name, columns, ()) for name, columns in _OF_COUNTS.items()),
        Table.of("samples", _SAMPLES, _samples(timing)),
        ranks_table(()),
        Table.of("cautions", CAUTIONS, (
            fields_of(caution, "code", "seen", "remedy") for caution in timing.all_cautions
        )),
    )  # fmt: skip


_OF_TIMED = ("name", "object", "runtime_s", "cpu_s", "samples")
_MIX_KEYS = tuple(column.key for column in _MIX)
_CURVE_KEYS = tuple(column.key for column in _MISS_CURVE)
_OF_COUNTS = {"levels": _LEVELS, "lines": _LINES, "mix": _MIX, "miss_curve": _MISS_CURVE}


def _time(measured: Measurement | Timing) -> Row:
    return fields_of(measured.timed, "entries", "runtime_s", "cpu_s", "cores_busy")


def _parts(analysis: Analysis, measurement: Measurement) -> Iterator[Row]:
    """Yield the program, its regions, its functions, and those that are not listed."""
    counted = measurement.counted
    yield {
        "part": "program",
        "name": shlex.join(measurement.command),
        **_time(measurement),
        **_counts(counted.counts, counted.traffic),
        **_place(analysis.placement),
    }
    times = {timed.name: timed for timed in measurement.timed_regions}
    for region, part in zip(counted.regions, analysis.regions, strict=True):
        yield {
            "part": "region",
            "name": region.name,
            "inside": ", ".join(region.inside),
            **fields_of(times.get(region.name), "entries", "runtime_s", "cpu_s"),
            **_counts(region.counts, region.traffic),
            **_place(part.placement),
        }
    timed = {(part.timed.object, part.timed.name): part for part in analysis.functions}
    for function in counted.functions:
        yield {
            **_timed_function(timed.pop((function.object, function.name), None)),
            **fields_of(function, "name", "object"),
            **_counts(function.counts, function.traffic),
        }
    for left in timed.values():  # timed, and not counted
        yield {**_timed_function(left), **fields_of(left.timed, "name", "object")}
    if counted.remainder is not None:
        members = counted.remainder.functions
        yield {
            "part": "remainder",
            "name": f"{members} more functions",
            "members": members,
            **_counts(counted.remainder.counts, counted.remainder.traffic),
        }


def _timed_function(part: TimedPart | None) -> Row:
    if part is None:
        return {"part": "function"}
    placement = None if part.analysis is None else part.analysis.placement
    times = fields_of(part.timed, "runtime_s", "cpu_s", "samples")
    return {"part": "function", **times, **_place(placement)}


def _counts(counts: Counts, traffic: Iterable[Traffic]) -> Row:
    """Return what a part did, by key."""
    refined = counts.basic_operations
    by_level = {part.level: part for part in traffic}
    return {
        **fields_of(counts, "work_flop", "eq3_bop", "instructions", "branches", "loads", "stores"),
        **fields_of(counts, "undecoded"),
        **{f"{name}_flop": counts.work.get(name, 0) for name in PRECISIONS},
        "refined_bop": None if refined is None else refined.total,
        **{
            f"{level}_{key}": value
            for level, part in by_level.items()
            for key, value in (
                ("bytes", part.total_bytes),
                ("read_bytes", part.read_bytes),
                ("write_bytes", part.write_bytes),
            )
        },
    }


def _place(placement: Placement | None) -> Row:
    """Return a part's place below its roofs, by key."""
    if placement is None:
        return {}
    metric = placement.metric
    ends = placement.intensity_range
    row: Row = {
        "machine": placement.machine.name,
        "metric": metric,
        f"intensity_{metric}_per_byte": placement.intensity,
        f"performance_{metric}_per_s": placement.performance_per_s,
    }
    if ends is not None:
        row |= {f"intensity_{metric}_per_byte_low": ends.low}
        row |= {f"intensity_{metric}_per_byte_high": ends.high}
    if placement.bound is None:
        return row
    return {
        **row,
        f"attainable_{metric}_per_s": placement.attainable_per_s,
        **fields_of(placement, "cores", "efficiency"),
        "above_roof": placement.is_above_roof,
        "bound_s": float(placement.bound.time_s),
        "limiter": str(placement.bound.limiter),
        "binding": str(placement.bound.binding),
    }


def _levels(measurement: Measurement) -> Iterator[Row]:
    """Yield the traffic of every part at every level, with its interval if it was estimated."""
    counted = measurement.counted
    whole = {"part": "program", "name": shlex.join(measurement.command)}
    for traffic in counted.traffic:
        estimated = None if counted.estimate is None else counted.estimate.at(traffic.level)
        yield {**whole, **_level(traffic), **_ends(estimated)}
    for kind, parts in (("region", counted.regions), ("function", counted.functions)):
        for part in parts:
            for traffic in part.traffic:
                yield {"part": kind, "name": part.name, **_level(traffic)}


def _level(traffic: Traffic) -> Row:
    names = ("level", "read_bytes", "write_bytes", "pending_write_bytes")
    return {**fields_of(traffic, *names), "moved_bytes": traffic.total_bytes}


def _ends(interval: TrafficInterval | None) -> Row:
    if interval is None:
        return {}
    moved: Mapping[str, tuple[int, int]] = {
        "read_bytes": interval.read_bytes,
        "write_bytes": interval.write_bytes,
        "moved_bytes": interval.total_bytes,
    }
    return {
        f"{key}_{end}": value
        for key, ends in moved.items()
        for end, value in zip(("low", "high"), ends, strict=True)
    }


def _lines(functions: Iterable[FunctionCounts]) -> Iterator[Row]:
    keys = {column.key for column in _LINES}
    for function in functions:
        for line in function.lines:
            done = _counts(line.counts, line.traffic)
            yield {
                "function": function.name,
                "object": function.object,
                **fields_of(line, "source", "line"),
                **{key: value for key, value in done.items() if key in keys},
            }


def _samples(measured: Measurement | Timing) -> Iterator[Row]:
    """Yield every sample of every time of the program and its regions."""
    whole: Any = fields_of(measured.timed, "runtime_s", "cpu_s", "system_s")
    parts = [("program", shlex.join(measured.command), whole)]
    parts += [
        ("region", region.name, fields_of(region, "runtime_s", "cpu_s"))
        for region in measured.timed_regions
    ]
    for part, name, times in parts:
        for quantity, estimate in times.items():
            samples = estimate.samples if isinstance(estimate, Estimate) else ()
            for index, value in enumerate(samples, start=1):
                yield {
                    "part": part,
                    "name": name,
                    "quantity": quantity.removesuffix("_s"),
                    "sample": index,
                    "value_s": value,
                }
