"""Shapes of the reports of programs: run, plot, and what they hold."""

from __future__ import annotations

from typing import Any

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import (
    Counted,
    CountedOnce,
    TrafficEstimate,
)
from ridgepoint.core.counts import FlopCount, Traffic
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.lines import PythonLines
from ridgepoint.core.machine import Cache
from ridgepoint.core.measurement import Context, Protocol
from ridgepoint.core.ranks import Distributed
from ridgepoint.core.timed import Sampled
from ridgepoint.models.advice import Advice
from ridgepoint.models.caches.working_sets import WorkingSet
from ridgepoint.models.conclusion import Kind
from ridgepoint.models.dc_ceilings import DCCeiling
from ridgepoint.models.distributed import Division, Limit
from ridgepoint.models.explanations import Explanation
from ridgepoint.show.schemas.of_types import fields, value_shape
from ridgepoint.show.schemas.shape import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    STRING,
    Described,
    array,
    by_key,
    literal,
    maybe,
    obj,
    one_of,
    pair,
)

METRIC = one_of("flop", "bop")
COMMAND: Described = (array(STRING), "Command line of the program.")
CAUTIONS: Described = (array(Caution), "Every doubt, with whether it could change the verdict.")
RANGE = maybe(pair(NUMBER))

_REFINED = value_shape(BasicOperations, {"total": {**INTEGER, "description": "Sum of all."}})


def _counted(what: str) -> dict[str, Described]:
    """Return the keys of what a program, or a part of it, did."""
    return {
        "work": (by_key(INTEGER), f"Flop of {what} by precision; only those that occur."),
        "work_flop": (INTEGER, "Flop of all precisions; an FMA counts 2."),
        "bops": (
            obj(
                "Basic operations.",
                refined=(
                    maybe(_REFINED),
                    "Counted instruction by instruction; null: the meter cannot.",
                ),
                eq3=(maybe(INTEGER), "By Eq. (3): instructions - branches - loads - stores."),
            ),
            "Basic operations, counted in two ways.",
        ),
        "instructions": (
            obj(
                "Executed instructions.",
                total=(INTEGER, "All."),
                branches=(maybe(INTEGER), "Branches; null: not counted."),
                loads=(maybe(INTEGER), "Loads; null: not counted."),
                stores=(maybe(INTEGER), "Stores; null: not counted."),
                undecoded=(INTEGER, "Those whose bytes could not be read."),
            ),
            "Executed instructions.",
        ),
        "traffic": (maybe(Traffic), "Traffic at main memory; null: not counted."),
        "levels": (array(Traffic), "Traffic at every level that was counted."),
    }


_MIX = obj(
    "What the program's own mix of floating-point instructions allows.",
    attainable_flop_per_s=(maybe(NUMBER), "Attainable performance; null: not known."),
    efficiency=(maybe(NUMBER), "Least time over the runtime; null: not timed."),
    time_s=(maybe(NUMBER), "Least time; null: not known."),
    limiter=(maybe(STRING), "compute, or the memory level that takes longest."),
    unknown=(array(STRING), "Quantities that are left out, since they are not known."),
    binding=(maybe(STRING), "The set of pipes that takes longest."),
    constraints_s=(by_key(NUMBER), "Seconds that each set of pipes needs."),
    kinds=(
        array(
            obj(
                "Flop of one kind of instruction.",
                precision=(STRING, "Such as fp64."),
                width_bits=(maybe(INTEGER), "Width of the vector; 0: scalar; null: not known."),
                operation=(maybe(STRING), "Such as fma; null: not known."),
                flop=(NUMBER, "Flop of this kind."),
                share_of_binding=(maybe(NUMBER), "Share of the time of the binding pipes."),
            )
        ),
        "The mix.",
    ),
)
BOUND = obj(
    "What the machine allows at most.",
    machine=(STRING, "Name of the machine."),
    cores=(NUMBER, "Cores whose roofs apply."),
    efficiency=(maybe(NUMBER), "Least time over the runtime: 1 is the roof; null: not timed."),
    attainable_flop_per_s=(maybe(NUMBER), "Attainable performance in flop/s; null: not in flop."),
    limiter=(STRING, "The path that needs the most time: compute, dram, ..."),
    binding=(STRING, "The single limit that needs the most time, such as dram_read."),
    time_s=(NUMBER, "Least time."),
    times_s=(by_key(NUMBER), "Seconds that each path needs at its full rate."),
    bindings=(array(STRING), "Every limit that binds, of paths that need equally long."),
    attainable_bop_per_s=(maybe(NUMBER), "Attainable performance in BOP/s; null: not in BOP."),
    ends=(
        array(
            obj(
                "With the smallest or the largest share of the caches.",
                limiter=(maybe(STRING), "The path that needs the most time then."),
                efficiency=(maybe(NUMBER), "Efficiency then."),
                intensity=(maybe(NUMBER), "Work per byte at main memory then."),
            )
        ),
        "Where the share of the caches varies: smallest, then largest.",
    ),
    above_roof=(BOOLEAN, "Whether it is faster than its roof allows: a count or ceiling is wrong."),
    mix=(maybe(_MIX), "Below the roof of its own mix; null: no flop."),
)
_BELOW = obj(
    "Below one bandwidth of main memory alone.",
    intensity=(maybe(NUMBER), "Work over the bytes that this bandwidth moves."),
    intensity_interval=(RANGE, "Between what it lies; null: counted once, exactly."),
    bytes_per_s=(maybe(NUMBER), "The bandwidth; null: the machine has none."),
    attainable_per_s=(maybe(NUMBER), "Attainable performance."),
    efficiency=(maybe(NUMBER), "Efficiency."),
    binding=(maybe(STRING), "The limit that binds."),
    time_s=(maybe(NUMBER), "Least time."),
)
_DC_ROOFLINE = obj(
    "The DC-Roofline: below each ceiling for basic operations.",
    intensity=(maybe(NUMBER), "BOP/byte."),
    peak_share=(maybe(NUMBER), "Share of the peak, Eq. (5)."),
    next_ceiling=(maybe(STRING), "The next ceiling above it."),
    ceilings=(
        array(
            value_shape(
                DCCeiling,
                {
                    "attained": {**maybe(NUMBER), "description": "BOP/s, Eq. (7)."},
                    "bottleneck": {**maybe(STRING), "description": "calculation or memory access."},
                    "share": {**maybe(NUMBER), "description": "Share of it that is reached."},
                },
            )
        ),
        "Each ceiling.",
    ),
)
_FUNCTION = obj(
    "What one function did, without what it calls.",
    {
        **_counted("the function"),
        "name": (maybe(STRING), "Name; null: code without a symbol."),
        "object": (maybe(STRING), "File that holds its code; null: code made at run time."),
        "runtime_s": (maybe(Estimate), "If it was counted: its part of the time; null: not timed."),
        "bound": (maybe(BOUND), "If it was timed: what bounds it."),
        "lines": (
            array(
                obj(
                    "What one line of source did.",
                    {
                        "source": (STRING, "File."),
                        "line": (INTEGER, "Line, from 1."),
                        **_counted("the line"),
                    },
                )
            ),
            "If lines are known: those of the function.",
        ),
        "members": (INTEGER, "If it stands for several functions: how many."),
    },
)
_TIMED_FUNCTION = obj(
    "A function of a program that was not counted.",
    name=(maybe(STRING), "Name; null: code without a symbol."),
    object=(maybe(STRING), "File that holds its code."),
    runtime_s=(Estimate, "Its part of the time."),
)
_REGION = obj(
    "What one region did.",
    {
        **{
            name: (shape, f"If it was counted: {text[:1].lower()}{text[1:]}")
            for name, (shape, text) in _counted("the region").items()
        },
        "name": (STRING, "Name."),
        "inside": (array(STRING), "If it was counted: the regions that it lies in."),
        "entries": (maybe(INTEGER), "How often it was entered; null: not timed."),
        "runtime_s": (maybe(Estimate), "Time in which a thread was inside; null: not known."),
        "bound": (maybe(BOUND), "If it was counted: what bounds it."),
    },
)

_TIMED: dict[str, Described] = {
    "exit_status": (maybe(INTEGER), "Exit status of the program; null: not timed."),
    "runtime_s": (maybe(Estimate), "Wall-clock time; null: not timed."),
    "cpu_s": (maybe(Estimate), "User and system time; null: not timed."),
    "system_s": (maybe(Estimate), "Time in the kernel; null: not known."),
    "cores_busy": (maybe(NUMBER), "CPU time over wall-clock time; null: not timed."),
    "entries": (maybe(INTEGER), "How often a region or function was entered; null: whole."),
}
_PER_BYTE = {
    f"intensity_{metric}_per_byte": (
        maybe(NUMBER),
        f"Work per byte at main memory, if it is placed in {metric}.",
    )
    for metric in ("flop", "bop")
}
_PER_S = {
    f"performance_{metric}_per_s": (maybe(NUMBER), f"Work over time, if placed in {metric}.")
    for metric in ("flop", "bop")
}
_KNOWN_IF_COUNTED: dict[str, Described] = {
    **{name: (maybe(shape), text) for name, (shape, text) in _counted("the program").items()},
    "meter": (maybe(STRING), "What counted, with its version; null: nothing did."),
    "work_is": (
        maybe(
            obj(
                "What its work is counted in.",
                metric=(METRIC, "flop or bop."),
                counted=(one_of("refined", "eq3", None), "Of bop: how they were counted."),
            )
        ),
        "What it is placed by.",
    ),
    "flop_by_kind": (maybe(array(FlopCount)), "Flop by precision, width and operation."),
    "whole": (
        maybe(
            obj(
                "The whole program, where a part of it was counted.",
                runtime_s=(Estimate, "Its runtime."),
                cpu_s=(Estimate, "Its CPU time."),
            )
        ),
        "The whole program, where a part of it was counted; null: this is it.",
    ),
    "protocol": (maybe(Protocol), "How calls were measured; null: whole runs."),
    "intensity_interval": (RANGE, "Between what the intensity lies; null: counted once, exactly."),
    "counted_runs": (maybe(array(CountedOnce)), "Each counted run, where there were several."),
    **_PER_BYTE,
    **_PER_S,
    "bound": (maybe(BOUND), "What bounds it; null: there is no machine, or no roof for it."),
    "one_bandwidth": (
        maybe(obj("Below one bandwidth alone.", read=(_BELOW, "Of reads."),
                  write=(_BELOW, "Of writes."), copy=(_BELOW, "Of copies."))),
        "Its place below one bandwidth of main memory alone.",
    ),
    "per_cycle": (
        maybe(
            obj(
                "Rates per cycle of the core clock.",
                clock_hz=(NUMBER, "The clock."),
                attainable=(maybe(NUMBER), "Attainable work per cycle."),
                dram_bytes=(maybe(NUMBER), "Bytes per cycle at main memory."),
                performance=(maybe(NUMBER), "Work per cycle."),
            )
        ),
        "Rates per cycle; null: the core clock is not known.",
    ),
    "dc_roofline": (maybe(_DC_ROOFLINE), "On the DC-Roofline; null: it is placed in flop."),
    "other_machines": (
        maybe(
            array(
                obj(
                    "What another machine would allow.",
                    machine=(STRING, "Its name."),
                    traffic_of_its_caches=(BOOLEAN, "Whether traffic is that of its caches."),
                    intensity=(maybe(NUMBER), "Work per byte at main memory there."),
                    attainable_per_s=(maybe(NUMBER), "Attainable performance there."),
                    missing_roofs=(array(STRING), "What it uses and that machine has no roof of."),
                    bound=(maybe(BOUND), "What bounds it there."),
                )
            )
        ),
        "What other machines would allow.",
    ),
    "issue": (
        maybe(
            obj(
                "Below the rate at which cores start instructions.",
                per_cycle=(maybe(NUMBER), "Instructions per cycle of a busy core."),
                most_per_cycle=(maybe(NUMBER), "The most that a core starts per cycle."),
                time_s=(maybe(NUMBER), "Least time of its instructions."),
                efficiency=(maybe(NUMBER), "That time over the runtime."),
            )
        ),
        "Below the rate of issue; null: there is no machine.",
    ),
    "conclusion": (
        maybe(
            obj(
                "What the verdict says.",
                kind=(literal(Kind), "What was found; see docs/method.md."),
                following=(
                    maybe(obj("What would bind next.", path=(STRING, "The path."),
                              gain=(NUMBER, "Runtime over its least time."))),
                    "What would bind if the limit vanished; null: nothing known.",
                ),
                reads_only=(array(STRING), "Levels of which the bound holds only reads."),
            )
        ),
        "What bounds it; null: there is no machine.",
    ),
    "time_explained": (
        maybe(
            obj(
                "What explains the time.",
                cause=(maybe(STRING), "Code of the main cause; null: nothing known is."),
                outside_s=(NUMBER, "Time in the kernel, waiting and starting up."),
                per_cycle=(maybe(NUMBER), "Instructions per cycle outside of that."),
                parts=(array(Explanation), "Each part, largest first; they overlap."),
            )
        ),
        "What explains the time; null: it was not timed, or has no bound.",
    ),
    "advice": (maybe(array(Advice)), "What to do next, largest gain for the program first."),
    **{
        name: (maybe(shape), text)
        for name, (shape, text) in fields(
            Counted, "selected", "partial", "coverage", "processes", "energy_j", "miss_curve",
            "alternatives", "ends",
        ).items()
    },
    "traffic_estimate": (maybe(TrafficEstimate), "How traffic was estimated; null: it was not."),
    "simulated_caches": (maybe(array(Cache)), "Caches that were simulated."),
    "also": (
        maybe(
            obj(
                "What another meter counted of the same program.",
                {
                    "meter": (STRING, "The meter."),
                    "energy_j": (maybe(by_key(NUMBER)), "Energy by domain."),
                    "cautions": (array(Caution), "Doubts about its counts."),
                    **_counted("the program"),
                },
            )
        ),
        "What another meter counted; null: none did.",
    ),
    "working_sets": (maybe(array(WorkingSet)), "Cache sizes at which traffic falls."),
    "distributed": (
        maybe(
            value_shape(
                Distributed,
                {
                    "limit": {**maybe(literal(Limit)), "description": "What bounds the ranks."},
                    "division": {**maybe(Division), "description": "The slowest rank's time."},
                    "network_s": {**maybe(NUMBER), "description": "Least time of the network."},
                },
            )
        ),
        "The ranks and nodes; null: one program on one machine.",
    ),
}  # fmt: skip


def _without_cautions(value: type) -> dict[str, Any]:
    """Return the shape of a value whose cautions are among those of the whole."""
    shape = value_shape(value)
    del shape["properties"]["cautions"]
    shape["required"].remove("cautions")
    return shape


_SAMPLED, _LINES = _without_cautions(Sampled), _without_cautions(PythonLines)

RUN: dict[str, Any] = obj(
    "A measured program and its place below the roofs of a machine. Of a program that was timed "
    "and not counted, all that follows from counts is null, and `uncounted` says why.",
    {
        "command": COMMAND,
        **_TIMED,
        **_KNOWN_IF_COUNTED,
        "functions": (
            {"anyOf": [array(_FUNCTION), array(_TIMED_FUNCTION)]},
            "Functions, most work first; the last may stand for all that did hardly anything.",
        ),
        "sampled": (maybe(_SAMPLED), "Where the time goes, by samples; null: not asked for."),
        "lines": (maybe(_LINES), "Time per line of Python; null: not asked for, or not known."),
        "regions": (array(_REGION), "Regions that the program marks."),
        "uncounted": (maybe(Caution), "Why it was not counted; null: it was."),
        "cautions": CAUTIONS,
        "context": (Context, "Where and how it was measured."),
    },
)
