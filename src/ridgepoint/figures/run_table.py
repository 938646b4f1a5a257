"""The report of a measured program, for the terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ridgepoint.counts import Counts, FunctionCounts, Traffic
from ridgepoint.figures.layout import caution_list, plain_table
from ridgepoint.figures.verdict import verdict
from ridgepoint.figures.words import UNKNOWN, percent, printable, shown_cores, shown_name
from ridgepoint.machine import Machine
from ridgepoint.measurement import Measurement
from ridgepoint.models.placement import Placement
from ridgepoint.resources import LEVELS
from ridgepoint.units import format_si

_MOST_FUNCTIONS = 10

Row = tuple[str, str]


def run(
    measurement: Measurement,
    machine: Machine | None,
    placement: Placement | None,
    *,
    most_functions: int = _MOST_FUNCTIONS,
) -> RenderableType:
    """Return the report of a measured program: what it did, what bounds it, what to doubt.

    Parameters
    ----------
    measurement : Measurement
    machine : Machine or None
        None: there is none to bound it with.
    placement : Placement or None
        On that machine.
    most_functions : int
        Rows of the function table; the rest is summed in one more.

    Returns
    -------
    RenderableType
        What is unknown reads "unknown", never 0.
    """
    counts = measurement.counted.counts
    parts: list[RenderableType] = [
        Text(printable(shlex.join(measurement.command)), style="bold", overflow="fold"),
        Padding(_grid(_seen(measurement)), (1, 0, 0, 0)),
        Padding(_grid(_placed(measurement, machine, placement)), (1, 0, 0, 0)),
    ]
    if placement is not None:
        said = ".\n".join(_capital(sentence) for sentence in verdict(placement)) + "."
        parts.append(Padding(Text(said, style="bold"), (1, 0, 0, 0)))
    if measurement.counted.functions:
        functions = _functions(measurement.counted.functions, counts, most_functions)
        parts.append(Padding(functions, (1, 0, 0, 0)))
    doubts = measurement.all_cautions if placement is None else placement.cautions
    if doubts:
        parts.append(Padding(caution_list(doubts), (1, 0, 0, 0)))
    return Group(*parts)


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _grid(rows: Iterator[Row]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, Text(value))
    return table


def _seen(measurement: Measurement) -> Iterator[Row]:
    """Yield what was measured: T, W, Q, instructions."""
    timed, counted = measurement.timed, measurement.counted
    if timed is None:
        yield "T  runtime", f"{UNKNOWN} (counted, not timed)"
    else:
        low, median, high = (
            format_si(value, "s")
            for value in (timed.runtime_s.q1, timed.runtime_s.median, timed.runtime_s.q3)
        )
        yield (
            "T  runtime",
            f"{median} (quartiles {low} to {high}, n = {timed.runtime_s.n}), "
            f"{timed.cores_busy:.2f} cores busy",
        )
        if timed.exit_status:
            yield "   exit status", str(timed.exit_status)
    yield from _work(counted.counts)
    yield from _traffic(measurement)
    yield "   instructions", _mix(counted.counts)
    if counted.counts.undecoded:
        share = percent(counted.counts.undecoded / max(counted.counts.instructions, 1))
        yield "   undecoded", f"{share} of the instructions: their work and bytes are unknown"
    processes = "" if counted.processes == 1 else f", {counted.processes} processes"
    yield "   counted by", f"{printable(counted.meter)}{processes}"


def _work(counts: Counts) -> Iterator[Row]:
    """Yield the work, each precision with its vector widths and its share of FMA."""
    if not counts.work_flop:
        yield "W  work", "no floating-point operation"
        return
    for index, (precision, flop) in enumerate(counts.work.items()):
        kinds = [kind for kind in counts.flop if kind.precision == precision]
        widths: dict[int, int] = {}
        for kind in kinds:
            widths[kind.width_bits] = widths.get(kind.width_bits, 0) + kind.flop
        mix = ", ".join(
            f"{percent(part / flop)} {f'{width}-bit' if width else 'scalar'}"
            for width, part in sorted(widths.items(), reverse=True)
            if part
        )
        fused = sum(kind.flop for kind in kinds if kind.fma) / flop
        masked = sum(kind.masked_flop for kind in kinds)
        under_mask = f"; {percent(masked / flop)} under a mask" if masked else ""
        yield (
            "" if index else "W  work",
            f"{format_si(flop, 'flop')} {precision}: {mix}; {percent(fused)} by FMA{under_mask}",
        )


def _traffic(measurement: Measurement) -> Iterator[Row]:
    """Yield the traffic of every level, memory first."""
    head = "Q  traffic"
    if measurement.traffic_at("dram") is None:
        yield head, f"DRAM  {UNKNOWN}"
        head = ""
    for level in reversed(LEVELS):
        part = measurement.traffic_at(level)
        if part is not None:
            yield head, f"{shown_name(level):<5} {_moved(part)}"
            head = ""


def _moved(part: Traffic) -> str:
    def text(count: int | None) -> str:
        return UNKNOWN if count is None else format_si(count, "B")

    said = f"read {text(part.read_bytes)}, written {text(part.write_bytes)}"
    if part.level == "dram" or part.pending_write_bytes is not None:
        said += f", pending {text(part.pending_write_bytes)}"
    return said


def _mix(counts: Counts) -> str:
    total = counts.instructions
    if not total:
        return UNKNOWN
    flop = sum(kind.instructions for kind in counts.flop)
    shares = (
        (counts.loads, "load"),
        (counts.stores, "store"),
        (counts.branches, "branch"),
        (flop, "floating point"),
    )
    said = ", ".join(f"{percent(count / total)} {verb}" for count, verb in shares)
    return f"{format_si(total, '').rstrip()}: {said}"


def _placed(
    measurement: Measurement, machine: Machine | None, placement: Placement | None
) -> Iterator[Row]:
    """Yield intensity, performance, and what the machine allows."""
    yield "I  intensity", _intensities(measurement)
    if placement is None or machine is None:
        yield "   roofs", f"{UNKNOWN}: no machine to bound it with"
        return
    performance = placement.performance_flop_per_s
    if performance is not None:
        low, high = (format_si(value, "flop/s") for value in (performance.q1, performance.q3))
        median = format_si(performance.median, "flop/s")
        yield "P  performance", f"{median} (quartiles {low} to {high})"
    elif measurement.counted.counts.work_flop:
        yield "P  performance", f"{UNKNOWN} (not timed)"
    else:
        yield "P  performance", "none: no floating-point operation"
    on = f"on {shown_cores(placement.cores)} of {printable(machine.name)}"
    if placement.attainable_flop_per_s is not None:
        yield "   attainable", f"{format_si(placement.attainable_flop_per_s, 'flop/s')} {on}"
    elif placement.bound is not None:
        yield "   attainable", f"{format_si(float(placement.bound.time_s), 's')} at best, {on}"
    else:
        yield "   attainable", f"{UNKNOWN} {on}"
    known = placement.efficiency is not None
    yield "   efficiency", percent(placement.efficiency or 0.0) if known else UNKNOWN


def _intensities(measurement: Measurement) -> str:
    """Return W/Q of every level, memory first."""
    work = measurement.counted.counts.work_flop
    if not work:
        return "none: no floating-point operation"
    said = []
    for level in reversed(LEVELS):
        part = measurement.traffic_at(level)
        if part is None and level != "dram":
            continue
        moved = None if part is None else part.total_bytes
        if moved is None:
            said.append(f"{shown_name(level)} {UNKNOWN}")
        elif moved == 0:
            said.append(f"{shown_name(level)} infinite (no byte moved)")
        else:
            said.append(f"{shown_name(level)} {work / moved:.3g}")
    return f"{', '.join(said)} flop/byte"


def _functions(functions: Sequence[FunctionCounts], counts: Counts, most: int) -> Table:
    """Return the functions that did most, and the rest in one row."""
    reads_only = any(
        part.write_bytes is None
        for function in functions
        for part in function.traffic
        if part.level == "dram"
    )
    total = {
        "work": counts.work_flop,
        "instructions": counts.instructions,
        "traffic": sum(_dram(function, reads_only) or 0 for function in functions),
    }
    table = plain_table(
        "function",
        "object",
        "work",
        "instr.",
        "DRAM reads" if reads_only else "DRAM",
        right=("work", "instr.", "DRAM reads", "DRAM"),
    )
    table.columns[0].ratio = 3
    table.columns[1].max_width = 16
    for function in functions[:most]:
        _add_function(
            table,
            [function],
            name=printable(function.name),
            object_name=printable(PurePath(function.object).name) if function.object else UNKNOWN,
            total=total,
            reads_only=reads_only,
        )
    rest = functions[most:]
    if rest:
        _add_function(
            table,
            rest,
            name=f"{len(rest)} more",
            object_name="",
            total=total,
            reads_only=reads_only,
        )
    return table


def _dram(function: FunctionCounts, reads_only: bool) -> int | None:
    """Return a function's bytes at DRAM; None: unknown."""
    for part in function.traffic:
        if part.level == "dram":
            return part.read_bytes if reads_only else part.total_bytes
    return None


def _add_function(
    table: Table,
    functions: Sequence[FunctionCounts],
    *,
    name: str,
    object_name: str,
    total: dict[str, int],
    reads_only: bool,
) -> None:
    """Add the row of one function, or of several together."""
    moved = [_dram(function, reads_only) for function in functions]
    known = [count for count in moved if count is not None]
    amounts = {
        "work": sum(function.counts.work_flop for function in functions),
        "instructions": sum(function.counts.instructions for function in functions),
        "traffic": sum(known) if len(known) == len(moved) else None,
    }
    table.add_row(
        Text(name, overflow="ellipsis", no_wrap=True),
        Text(object_name, overflow="ellipsis", no_wrap=True),
        *(_share(amounts[key], total[key]) for key in ("work", "instructions", "traffic")),
    )


def _share(amount: int | None, total: int) -> str:
    """Return a share; a dash where there is nothing to have a share of."""
    if amount is None:
        return UNKNOWN
    return percent(amount / total) if total else "-"
