"""What a table says of a program or any part of it: its time, its counts, its place."""

from __future__ import annotations

from collections.abc import Iterable

from ridgepoint.core.columns import count, flag, number, text
from ridgepoint.core.counts import Counts, Traffic
from ridgepoint.core.documents import fields_of
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.resources import LEVELS, PRECISIONS
from ridgepoint.models.placement import Placement

Row = dict[str, object]

PART = (
    text("part", "program, region, function, or remainder: the functions that are not listed."),
    text("name", "The command, the region or the function."),
)
LEVEL_NAMES = {
    level: "between core and L1" if level == "l1" else f"at {level.upper()}" for level in LEVELS
}
MEASURED = (
    count("entries", "How often the part was entered."),
    *number("runtime_s", "Wall-clock time, median.", "T", unit="s").ends(),
    *number("cpu_s", "User and system time, median.", "CPU time", unit="s").ends(),
    number("cores_busy", "CPU time over wall-clock time."),
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
        for level, where in LEVEL_NAMES.items()
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
"""Of anything that was measured and placed."""

PARTS = (
    *PART,
    text("object", "File that holds the function's code."),
    text("inside", "Regions in which this region was active, separated by ', '."),
    count("members", "Number of functions that the remainder sums up."),
    count("samples", "Samples of the clock in which the function ran."),
    *MEASURED,
)


def times(measured: Measurement | Timing) -> Row:
    """Return when and how long something ran, by key."""
    return fields_of(measured.timed, "entries", "runtime_s", "cpu_s", "cores_busy")


def done(counts: Counts, traffic: Iterable[Traffic]) -> Row:
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


def placed(placement: Placement | None) -> Row:
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
