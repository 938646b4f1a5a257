"""A measured program as tables: its parts, its traffic, its lines, its samples and more."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ridgepoint.core.columns import CAUTIONS, count, flag, number, share, text
from ridgepoint.core.counted import TrafficInterval
from ridgepoint.core.counts import FunctionCounts, Traffic
from ridgepoint.core.documents import fields_of
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.lines import PythonLines
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.table import Table
from ridgepoint.models.analysis import Analysis, TimedPart
from ridgepoint.models.condensed import condensed
from ridgepoint.show.data_tables.part import (
    LEVEL_NAMES,
    MEASURED,
    PART,
    PARTS,
    Row,
    done,
    placed,
    times,
)
from ridgepoint.show.data_tables.ranks import RANKS, ranks_table

_LEVELS = (
    *PART,
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
        for level, where in LEVEL_NAMES.items()
        for way in ("read", "write")
    ),
)
_PYTHON_LINES = (
    text("file", "Python file."),
    count("line", "Line of the file, from 1."),
    text("text", "The line itself."),
    count("samples", "Samples in it, of all runs."),
    number("interpreter_s", "CPU time in the interpreter itself.", unit="s"),
    number("native_s", "CPU time in native code.", unit="s"),
    number("system_s", "CPU time in system calls.", unit="s"),
    number("other_threads_s", "CPU time in threads without Python frames.", unit="s"),
    count("other_threads_flop", "Work of threads without Python frames.", unit="flop"),
    *MEASURED,
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
    *PART,
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


_CAUSES = (
    text("code", "Short stable name of the cause."),
    text("what", "The cause in words."),
    text("standing", "limits, contributes, unknown or ruled out."),
    *share("share", "Part of the time that it takes.").ends(),
    text("sense", "took, least or most: whether that is exact or a limit."),
    text("why", "The number that shows it, or why it is not known."),
    text("settle", "What would tell where it is not known."),
)
_ADVICE = (
    text("code", "Short stable name of the advice."),
    text("about", "Program, region or function concerned."),
    text("seen", "The evidence."),
    text("what", "What to do."),
    number("gain", "Upper limit of the speed-up of what it is about."),
)


def run_tables(analysis: Analysis) -> tuple[Table, ...]:
    """Return every table of a measured program, the one of its parts first."""
    measurement = condensed(analysis.measurement)
    counted = measurement.counted
    curve = counted.miss_curve
    ranks = () if measurement.distributed is None else measurement.distributed.ranks
    return (
        Table.of("parts", PARTS, _parts(analysis, measurement)),
        Table.of("levels", _LEVELS, _levels(measurement)),
        Table.of("lines", _LINES, _lines(counted.functions)),
        Table.of("python_lines", _PYTHON_LINES, _python_lines(measurement.lines, analysis)),
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
        Table.of("causes", _CAUSES, (fields_of(cause, *_CAUSE_KEYS) for cause in analysis.causes)),
        Table.of("advice", _ADVICE, (fields_of(each, *_ADVICE_KEYS) for each in analysis.advice)),
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
    rows: list[Row] = [{"part": "program", "name": shlex.join(timing.command), **times(timing)}]
    rows += [
        {"part": "region", **fields_of(region, "name", "entries", "runtime_s", "cpu_s")}
        for region in timing.timed_regions
    ]
    functions = () if timing.sampled is None else timing.sampled.functions
    rows += [{"part": "function", **fields_of(function, *_OF_TIMED)} for function in functions]
    return (
        Table.of("parts", PARTS, rows),
        *(Table.of(name, columns, ()) for name, columns in _OF_COUNTS.items()),
        Table.of("python_lines", _PYTHON_LINES, _python_lines(timing.lines)),
        Table.of("samples", _SAMPLES, _samples(timing)),
        ranks_table(()),
        Table.of("causes", _CAUSES, ()),
        Table.of("advice", _ADVICE, ()),
        Table.of("cautions", CAUTIONS, (
            fields_of(caution, "code", "seen", "remedy") for caution in timing.all_cautions
        )),
    )  # fmt: skip


_OF_TIMED = ("name", "object", "runtime_s", "cpu_s", "samples")
_CAUSE_KEYS = tuple(column.key for column in _CAUSES if column.end is None)
_ADVICE_KEYS = tuple(column.key for column in _ADVICE)
_MIX_KEYS = tuple(column.key for column in _MIX)
_CURVE_KEYS = tuple(column.key for column in _MISS_CURVE)
_OF_COUNTS = {"levels": _LEVELS, "lines": _LINES, "mix": _MIX, "miss_curve": _MISS_CURVE}


def _python_lines(lines: PythonLines | None, analysis: Analysis | None = None) -> Iterator[Row]:
    """Yield the lines of Python, longest first, with their place if they were counted."""
    parts = {} if analysis is None else {line.name: part for line, part in analysis.lines}
    for line in () if lines is None else lines.lines:
        part = parts.get(line.name)
        yield {
            **fields_of(line, *(column.key for column in _PYTHON_LINES[: -len(MEASURED)]), "cpu_s"),
            "entries": line.executions,
            **({} if line.counts is None else done(line.counts, line.traffic)),
            **({} if part is None else placed(part.placement)),
        }


def _parts(analysis: Analysis, measurement: Measurement) -> Iterator[Row]:
    """Yield the program, its regions, its functions, and those that are not listed."""
    counted = measurement.counted
    yield {
        "part": "program",
        "name": shlex.join(measurement.command),
        **times(measurement),
        **done(counted.counts, counted.traffic),
        **placed(analysis.placement),
    }
    regions = {timed.name: timed for timed in measurement.timed_regions}
    for region, part in zip(counted.regions, analysis.regions, strict=True):
        yield {
            "part": "region",
            "name": region.name,
            "inside": ", ".join(region.inside),
            **fields_of(regions.get(region.name), "entries", "runtime_s", "cpu_s"),
            **done(region.counts, region.traffic),
            **placed(part.placement),
        }
    timed = {(part.timed.object, part.timed.name): part for part in analysis.functions}
    for function in counted.functions:
        yield {
            **_timed_function(timed.pop((function.object, function.name), None)),
            **fields_of(function, "name", "object"),
            **done(function.counts, function.traffic),
        }
    for left in timed.values():  # timed, and not counted
        yield {**_timed_function(left), **fields_of(left.timed, "name", "object")}
    if counted.remainder is not None:
        members = counted.remainder.functions
        yield {
            "part": "remainder",
            "name": f"{members} more functions",
            "members": members,
            **done(counted.remainder.counts, counted.remainder.traffic),
        }


def _timed_function(part: TimedPart | None) -> Row:
    if part is None:
        return {"part": "function"}
    placement = None if part.analysis is None else part.analysis.placement
    known = fields_of(part.timed, "runtime_s", "cpu_s", "samples")
    return {"part": "function", **known, **placed(placement)}


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
            own = done(line.counts, line.traffic)
            yield {
                "function": function.name,
                "object": function.object,
                **fields_of(line, "source", "line"),
                **{key: value for key, value in own.items() if key in keys},
            }


def _samples(measured: Measurement | Timing) -> Iterator[Row]:
    """Yield every sample of every time of the program and its regions."""
    whole: Any = fields_of(measured.timed, "runtime_s", "cpu_s", "system_s")
    parts = [("program", shlex.join(measured.command), whole)]
    parts += [
        ("region", region.name, fields_of(region, "runtime_s", "cpu_s"))
        for region in measured.timed_regions
    ]
    for part, name, known in parts:
        for quantity, estimate in known.items():
            samples = estimate.samples if isinstance(estimate, Estimate) else ()
            for index, value in enumerate(samples, start=1):
                yield {
                    "part": part,
                    "name": name,
                    "quantity": quantity.removesuffix("_s"),
                    "sample": index,
                    "value_s": value,
                }


COLUMNS = {
    "parts": PARTS,
    "levels": _LEVELS,
    "lines": _LINES,
    "python_lines": _PYTHON_LINES,
    "mix": _MIX,
    "samples": _SAMPLES,
    "miss_curve": _MISS_CURVE,
    "ranks": RANKS,
    "causes": _CAUSES,
    "advice": _ADVICE,
    "cautions": CAUTIONS,
}
"""Of each table, by its name."""
