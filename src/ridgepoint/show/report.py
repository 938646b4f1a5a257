"""What ``--json`` prints of a measurement and its place, and of a machine, as one document.

The keys are a contract; floats are in SI base units; what is unknown is ``null``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ridgepoint.core import documents
from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import Counts, FunctionCounts, Traffic, traffic_at
from ridgepoint.core.documents import fields_of, plain, to_fields
from ridgepoint.core.lines import PythonLines
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.timed import Sampled
from ridgepoint.models.analysis import Analysis, TimedPart
from ridgepoint.models.conclusion import Conclusion
from ridgepoint.models.condensed import condensed
from ridgepoint.models.cycles import per_cycle
from ridgepoint.models.dc_ceilings import dc_place
from ridgepoint.models.distributed import Verdict, machine_for
from ridgepoint.models.explanations import Explained
from ridgepoint.models.one_bandwidth import Bandwidth, resource_of
from ridgepoint.models.own_roofs import MixPlace
from ridgepoint.models.placement import Placement
from ridgepoint.models.ranking import cautions_that_matter
from ridgepoint.models.work import bop_source

_TIMES = ("exit_status", "runtime_s", "cpu_s", "system_s", "cores_busy", "entries")


def report(analysis: Analysis, others: Sequence[Machine] = ()) -> dict[str, Any]:
    """Return the report of a measured program, and of what other machines would allow it."""
    placement, measurement = analysis.placement, condensed(analysis.measurement)
    counted, counts = measurement.counted, measurement.counted.counts
    work = _part(counts, counted.traffic)
    fields = {
        "command": measurement.command,
        **fields_of(counted, "meter"),
        **work,
        "work_is": _work_is(counts, placement),
        "flop_by_kind": counts.flop,
        **fields_of(measurement.timed, *_TIMES),
        "whole": measurement.whole and fields_of(measurement.whole, "runtime_s", "cpu_s"),
        "protocol": measurement.protocol,
        **_placed(placement),
        "bound": _bound(placement),
        "one_bandwidth": placement
        and {kind: _below(place, kind) for kind, place in analysis.one_bandwidth.items()},
        "per_cycle": placement and _per_cycle(placement),
        "dc_roofline": placement and _on_dc_roofline(placement),
        "other_machines": [_elsewhere(analysis, machine) for machine in others],
        "issue": placement
        and fields_of(placement.issue, "per_cycle", "most_per_cycle", "time_s", "efficiency"),
        "conclusion": analysis.conclusion and _concluded(analysis.conclusion),
        "time_explained": _explained(analysis.explained),
        "advice": analysis.advice,
        "functions": _functions(counted, analysis.functions),
        "sampled": _without_cautions(measurement.sampled),
        "lines": _without_cautions(measurement.lines),
        "regions": _regions(measurement, analysis.regions),
        **fields_of(counted, "selected", "partial", "coverage", "processes", "energy_j"),
        "traffic_estimate": counted.estimate,
        "uncounted": None,
        "simulated_caches": counted.caches,
        **fields_of(counted, "alternatives", "ends", "miss_curve"),
        "also": _also(counted.also),
        "working_sets": analysis.working_sets,
        "distributed": _distributed(measurement, analysis.of_ranks),
        "cautions": [
            {**plain(caution), "matters": matters} for caution, matters in analysis.doubts.items()
        ],
        "context": measurement.context,
    }
    return documents.report("run", fields)


_OF_COUNTS = (
    *("meter", "work", "work_flop", "bops", "work_is", "flop_by_kind", "instructions"),
    *("traffic", "levels", "protocol", "intensity_flop_per_byte", "performance_flop_per_s"),
    *("intensity_bop_per_byte", "performance_bop_per_s", "bound", "advice", "selected", "partial"),
    *("processes", "energy_j", "simulated_caches", "alternatives", "also", "miss_curve"),
    *("working_sets", "distributed", "ends", "issue", "coverage", "traffic_estimate"),
    *(
        "time_explained",
        "whole",
        "conclusion",
        "intensity_interval",
        "counted_runs",
        "one_bandwidth",
    ),
    *("per_cycle", "other_machines", "dc_roofline"),
)
"""Keys of a report that are unknown of a program that was not counted."""


def timing_report(timing: Timing) -> dict[str, Any]:
    """Return the report of a program that was timed and not counted: all else is unknown."""
    sampled = () if timing.sampled is None else timing.sampled.functions
    fields = {
        **dict.fromkeys(_OF_COUNTS),
        "command": timing.command,
        **fields_of(timing.timed, *_TIMES),
        "functions": [fields_of(function, "name", "object", "runtime_s") for function in sampled],
        "sampled": _without_cautions(timing.sampled),
        "lines": _without_cautions(timing.lines),
        "regions": [
            fields_of(region, "name", "entries", "runtime_s") for region in timing.timed_regions
        ],
        **fields_of(timing, "uncounted", "context"),
        "cautions": timing.all_cautions,
    }
    return documents.report("run", fields)


def machine_fields(machine: Machine) -> dict[str, Any]:
    """Return a machine's document, whose ceilings say which of their cautions matter."""
    fields, marked = to_fields(machine), cautions_that_matter(machine)
    for ceiling, part in zip(machine.ceilings, fields["ceilings"], strict=True):
        matter = marked.get(ceiling.key, set())
        for caution, fields_of_caution in zip(ceiling.cautions, part["cautions"], strict=True):
            fields_of_caution["matters"] = caution in matter
    return fields


def _placed(placement: Placement | None) -> dict[str, Any]:
    """Return intensity and performance in the metric that the program is placed by."""
    performance = None if placement is None else placement.performance_per_s
    known = (
        None if placement is None else placement.intensity,
        None if performance is None else performance.median,
    )
    fields: dict[str, Any] = {}
    fields["intensity_interval"] = _ends(placement)
    fields["counted_runs"] = None if placement is None else placement.measurement.counted.runs
    for metric in ("flop", "bop"):
        own = known if placement is not None and placement.metric == metric else (None, None)
        fields[f"intensity_{metric}_per_byte"], fields[f"performance_{metric}_per_s"] = own
    return fields


def _distributed(measurement: Measurement, verdict: Verdict | None) -> dict[str, Any] | None:
    """Return every rank and node of a distributed program, and what bounds it."""
    if measurement.distributed is None:
        return None
    bounded = fields_of(verdict, "limit", "division", "network_s")
    return {**plain(measurement.distributed), **bounded}


def _concluded(conclusion: Conclusion) -> dict[str, Any]:
    """Return what the verdict says, as codes and numbers."""
    following = conclusion.following
    return {
        "kind": conclusion.kind,
        "following": following and dict(zip(("path", "gain"), following, strict=True)),
        "reads_only": conclusion.reads_only,
    }


def _explained(explained: Explained | None) -> dict[str, Any] | None:
    """Return what explains the time, in seconds; None: it was not timed, or has no bound."""
    if explained is None:
        return None
    cause = None if explained.cause is None else explained.cause.code
    return {"cause": cause, **fields_of(explained, "outside_s", "per_cycle", "parts")}


def _work_is(counts: Counts, placement: Placement | None) -> dict[str, Any]:
    """Return what the program is placed by, and how that was counted."""
    if placement is None or placement.metric == "flop":
        return {"metric": "flop", "counted": None}
    return {"metric": "bop", "counted": bop_source(counts)}


def _also(counted: Counted | None) -> dict[str, Any] | None:
    """Return what another meter counted of the same program."""
    if counted is None:
        return None
    return {
        **fields_of(counted, "meter", "energy_j", "cautions"),
        **_part(counted.counts, counted.traffic),
    }


def _functions(counted: Counted, parts: Sequence[TimedPart]) -> list[dict[str, Any]]:
    """Return an entry for every function, and one for those that are not told apart."""
    timed = {(part.timed.object, part.timed.name): part for part in parts}
    fields = [
        _function(function, timed.get((function.object, function.name)))
        for function in counted.functions
    ]
    if counted.remainder is not None:
        members = counted.remainder.functions
        name = {"name": f"{members} more functions", "object": None, "members": members}
        fields.append({**name, **_part(counted.remainder.counts, counted.remainder.traffic)})
    return fields


def _function(function: FunctionCounts, part: TimedPart | None) -> dict[str, Any]:
    """Return what a function did, and what bounds it if it was timed."""
    fields = {
        **fields_of(function, "name", "object"),
        **fields_of(None if part is None else part.timed, "runtime_s"),
        **_part(function.counts, function.traffic),
    }
    if part is not None and part.analysis is not None:
        fields["bound"] = _bound(part.analysis.placement)
    if function.lines:
        fields["lines"] = [
            {**fields_of(line, "source", "line"), **_part(line.counts, line.traffic)}
            for line in function.lines
        ]
    return fields


def _without_cautions(times: Sampled | PythonLines | None) -> dict[str, Any] | None:
    """Return how samples were taken, and the time of every function or line."""
    if times is None:
        return None
    fields: dict[str, Any] = plain(times)
    del fields["cautions"]  # they are among those of the whole
    return fields


def _regions(measurement: Measurement, parts: Sequence[Analysis]) -> list[dict[str, Any]]:
    times = {timed.name: timed for timed in measurement.timed_regions}
    return [
        {
            **fields_of(region, "name", "inside"),
            **fields_of(times.get(region.name), "entries", "runtime_s"),
            **_part(region.counts, region.traffic),
            "bound": _bound(part.placement),
        }
        for region, part in zip(measurement.counted.regions, parts, strict=True)
    ]


def _part(counts: Counts, traffic: Sequence[Traffic]) -> dict[str, Any]:
    """Return the fields of a program, or of any part of it."""
    refined = counts.basic_operations
    return {
        **fields_of(counts, "work", "work_flop"),
        "bops": {
            "refined": None if refined is None else {**plain(refined), "total": refined.total},
            "eq3": counts.eq3_bop,
        },
        "instructions": {
            "total": counts.instructions,
            **fields_of(counts, "branches", "loads", "stores", "undecoded"),
        },
        "traffic": traffic_at(traffic, "dram"),
        "levels": traffic,
    }


def _bound(placement: Placement | None) -> dict[str, Any] | None:
    if placement is None or placement.machine is None or placement.bound is None:
        return None
    return {
        "machine": placement.machine.name,
        **fields_of(placement, "cores", "efficiency", "attainable_flop_per_s"),
        **fields_of(placement.bound, "limiter", "binding", "time_s", "times_s"),
        "bindings": placement.bindings,
        "attainable_bop_per_s": placement.attainable_per_s if placement.metric == "bop" else None,
        "ends": [
            {**fields_of(end.bound, "limiter"), **fields_of(end, "efficiency", "intensity")}
            for end in placement.ends
        ],
        "above_roof": placement.is_above_roof,
        "mix": _own_mix(placement.mix),
    }


def _below(placement: Placement, bandwidth: Bandwidth) -> dict[str, Any]:
    """Return a program's place below one bandwidth of main memory alone."""
    resource, machine = resource_of(bandwidth), placement.machine
    known = machine.knows(resource)
    # Without its bytes or its bandwidth the peak alone would be left.
    is_bounded = placement.moved_bytes is not None and not placement.missing_roofs
    return {
        "intensity": placement.intensity,
        "intensity_interval": _ends(placement),
        "bytes_per_s": float(machine.rate(resource, cores=placement.cores)) if known else None,
        "attainable_per_s": placement.attainable_per_s if is_bounded else None,
        "efficiency": placement.efficiency if is_bounded else None,
        **fields_of(placement.bound if is_bounded else None, "binding", "time_s"),
    }


def _ends(placement: Placement | None) -> tuple[float, float] | None:
    """Return between what an intensity lies."""
    found = None if placement is None else placement.intensity_range
    return None if found is None else found.ends


def _per_cycle(placement: Placement) -> dict[str, Any] | None:
    """Return a program's rates per cycle; None: the core clock is not known."""
    rates = per_cycle(placement)
    if rates is None:
        return None
    performance = None if rates.performance is None else rates.performance.median
    return {
        **fields_of(rates, "clock_hz", "attainable", "dram_bytes"),
        "performance": performance,
    }


def _on_dc_roofline(placement: Placement) -> dict[str, Any] | None:
    """Return a program below each ceiling for basic operations; None: it is placed in flop."""
    place = dc_place(placement)
    if place is None:
        return None
    return {
        **fields_of(place, "intensity", "peak_share"),
        "next_ceiling": None if place.next is None else place.next.ceiling.name,
        "ceilings": [
            {**plain(one.ceiling), **fields_of(one, "attained", "bottleneck", "share")}
            for one in place.below
        ],
    }


def _elsewhere(analysis: Analysis, machine: Machine) -> dict[str, Any]:
    """Return what another machine would allow a program, and whose caches its traffic is of."""
    there = analysis.on(machine_for(analysis.measurement, machine))
    return {
        "machine": machine.name,
        "traffic_of_its_caches": there.has_traffic_of_machine,
        "intensity": None if there.placement is None else there.placement.intensity,
        "attainable_per_s": None if there.placement is None else there.placement.attainable_per_s,
        "missing_roofs": () if there.placement is None else there.placement.missing_roofs,
        "bound": _bound(there.placement),
    }


def _own_mix(own: MixPlace | None) -> dict[str, Any] | None:
    """Return what a program's own mix of floating-point instructions allows."""
    if own is None:
        return None
    limit = own.bound
    shares = None if limit is None else limit.shares[limit.binding]
    return {
        "attainable_flop_per_s": own.attainable_per_s,
        **fields_of(own, "efficiency", "time_s", "limiter", "unknown"),
        **fields_of(limit, "binding"),
        "constraints_s": {} if limit is None else limit.constraints_s,
        "kinds": [
            {
                **dict(zip(("precision", "width_bits", "operation"), kind, strict=True)),
                "flop": flop,
                "share_of_binding": None if shares is None else shares.get(kind, 0.0),
            }
            for kind, flop in own.mix.items()
        ],
    }
