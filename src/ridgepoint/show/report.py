"""What ``ridgepoint run --json`` prints: a measurement and its place, as one document.

The keys are a contract; floats are in SI base units; what is unknown is ``null``.
"""

from __future__ import annotations

from typing import Any

from ridgepoint.core.counts import Counts, FunctionCounts, RegionCounts, Traffic, traffic_at
from ridgepoint.core.documents import SCHEMA, plain
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Counted, Measurement, Remainder, Sampled, Timing
from ridgepoint.models.analysis import Analysis, TimedPart
from ridgepoint.models.condensed import condensed
from ridgepoint.models.distributed import Verdict
from ridgepoint.models.explanations import Explained
from ridgepoint.models.own_roofs import IssuePlace, MixPlace
from ridgepoint.models.placement import Placement
from ridgepoint.models.ranking import matters
from ridgepoint.models.work import bop_source


def report(analysis: Analysis) -> dict[str, Any]:
    """Return the report of a measured program."""
    machine, placement = analysis.machine, analysis.placement
    measurement = condensed(analysis.measurement)
    counted, timed = measurement.counted, measurement.timed
    performance = None if placement is None else placement.performance_flop_per_s
    cautions = measurement.all_cautions if placement is None else placement.cautions
    functions = {(one.timed.object, one.timed.name): one for one in analysis.functions}

    return {
        "schema": SCHEMA,
        "kind": "run",
        "command": list(measurement.command),
        "meter": counted.meter,
        "exit_status": None if timed is None else timed.exit_status,
        "work": counted.counts.work,
        "work_flop": counted.counts.work_flop,
        "bops": _bops(counted.counts),
        "work_is": _work_is(counted.counts, placement),
        "flop_by_kind": plain(counted.counts.flop),
        "instructions": _instructions(counted.counts),
        "traffic": plain(measurement.traffic_at("dram")),
        "levels": plain(counted.traffic),
        "runtime_s": None if timed is None else plain(timed.runtime_s),
        "cpu_s": None if timed is None else plain(timed.cpu_s),
        "system_s": None if timed is None else plain(timed.system_s),
        "cores_busy": None if timed is None else timed.cores_busy,
        "entries": None if timed is None else timed.entries,
        "whole": _whole(measurement),
        "protocol": plain(measurement.protocol),
        "intensity_flop_per_byte": None if placement is None else placement.intensity_flop_per_byte,
        "performance_flop_per_s": None if performance is None else performance.median,
        **_in_bops(placement),
        "bound": _bound(placement, machine),
        "issue": None if placement is None else _issue(placement.issue),
        "time_explained": _explained(analysis.explained),
        "advice": [plain(one) for one in analysis.advice],
        "functions": [
            _function(one, functions.get((one.object, one.name))) for one in counted.functions
        ]
        + _remainder(counted.remainder),
        "sampled": _sampled(measurement.sampled),
        "regions": [
            {**_region(one, measurement), "bound": _bound(part.placement, machine)}
            for one, part in zip(counted.regions, analysis.regions, strict=True)
        ],
        "selected": counted.selected,
        "partial": counted.partial,
        "coverage": plain(counted.coverage),
        "traffic_estimate": plain(counted.estimate),
        "uncounted": None,
        "processes": counted.processes,
        "energy_j": counted.energy_j,
        "simulated_caches": plain(counted.caches),
        "alternatives": plain(counted.alternatives),
        "ends": plain(counted.ends),
        "also": _also(counted.also),
        "miss_curve": plain(counted.miss_curve),
        "working_sets": plain(analysis.working_sets),
        "distributed": _distributed(measurement, analysis.verdict),
        "cautions": [{**plain(one), "matters": matters(one, placement)} for one in cautions],
        "context": plain(measurement.context),
    }


_OF_COUNTS = (
    *("meter", "work", "work_flop", "bops", "work_is", "flop_by_kind", "instructions"),
    *("traffic", "levels", "protocol", "intensity_flop_per_byte", "performance_flop_per_s"),
    *("intensity_bop_per_byte", "performance_bop_per_s", "bound", "advice", "selected", "partial"),
    *("processes", "energy_j", "simulated_caches", "alternatives", "also", "miss_curve"),
    *("working_sets", "distributed", "ends", "issue", "coverage", "traffic_estimate"),
    *("time_explained", "whole"),
)
"""Keys of a report that are unknown of a program that was not counted."""


def timing_report(timing: Timing) -> dict[str, Any]:
    """Return the report of a program that was timed and not counted: all else is unknown."""
    sampled = () if timing.sampled is None else timing.sampled.functions
    return {
        "schema": SCHEMA,
        "kind": "run",
        "command": list(timing.command),
        **dict.fromkeys(_OF_COUNTS),
        "exit_status": timing.timed.exit_status,
        "runtime_s": plain(timing.timed.runtime_s),
        "cpu_s": plain(timing.timed.cpu_s),
        "system_s": plain(timing.timed.system_s),
        "cores_busy": timing.timed.cores_busy,
        "entries": timing.timed.entries,
        "functions": [
            {"name": one.name, "object": one.object, "runtime_s": plain(one.runtime_s)}
            for one in sampled
        ],
        "sampled": _sampled(timing.sampled),
        "regions": [
            {"name": one.name, "entries": one.entries, "runtime_s": plain(one.runtime_s)}
            for one in timing.timed_regions
        ],
        "uncounted": plain(timing.uncounted),
        "cautions": plain(timing.all_cautions),
        "context": plain(timing.context),
    }


def _distributed(measurement: Measurement, verdict: Verdict | None) -> dict[str, Any] | None:
    """Return every rank and node of a distributed program, and what bounds it."""
    if measurement.distributed is None:
        return None
    fields: dict[str, Any] = plain(measurement.distributed)
    if verdict is None:
        return {**fields, "limit": None, "division": None, "network_s": None}
    return {
        **fields,
        "limit": verdict.limit,
        "division": plain(verdict.division),
        "network_s": verdict.network_s,
    }


def _whole(measurement: Measurement) -> dict[str, Any] | None:
    """Return the time of the whole program, where a part of it was measured alone."""
    whole = measurement.whole
    if whole is None:
        return None
    return {"runtime_s": plain(whole.runtime_s), "cpu_s": plain(whole.cpu_s)}


def _explained(explained: Explained | None) -> dict[str, Any] | None:
    """Return what explains the time, in seconds; None: it was not timed, or has no bound."""
    if explained is None:
        return None
    return {
        "cause": None if explained.cause is None else explained.cause.code,
        "outside_s": explained.outside_s,
        "per_cycle": explained.per_cycle,
        "parts": plain(explained.parts),
    }


def _bops(counts: Counts) -> dict[str, Any]:
    """Return basic operations: of each class, refined, and by Eq. (3)."""
    refined = counts.basic_operations
    return {
        "refined": None if refined is None else {**plain(refined), "total": refined.total},
        "eq3": counts.eq3_bop,
    }


def _work_is(counts: Counts, placement: Placement | None) -> dict[str, Any]:
    """Return what the program is placed by, and how that was counted."""
    if placement is None or placement.metric == "flop":
        return {"metric": "flop", "counted": None}
    return {"metric": "bop", "counted": bop_source(counts)}


def _in_bops(placement: Placement | None) -> dict[str, Any]:
    """Return the place of a program whose work is counted in BOP, else unknowns."""
    in_bops = placement is not None and placement.metric == "bop"
    performance = placement.performance_per_s if placement is not None and in_bops else None
    return {
        "intensity_bop_per_byte": placement.intensity if placement and in_bops else None,
        "performance_bop_per_s": None if performance is None else performance.median,
    }


def _instructions(counts: Counts) -> dict[str, int | None]:
    return {
        "total": counts.instructions,
        "branches": counts.branches,
        "loads": counts.loads,
        "stores": counts.stores,
        "undecoded": counts.undecoded,
    }


def _also(counted: Counted | None) -> dict[str, Any] | None:
    """Return what another meter counted of the same program."""
    if counted is None:
        return None
    return {
        "meter": counted.meter,
        **_part(counted.counts, counted.traffic),
        "energy_j": counted.energy_j,
        "cautions": plain(counted.cautions),
    }


def _function(function: FunctionCounts, part: TimedPart | None) -> dict[str, Any]:
    """Return what a function did, and what bounds it if it was timed."""
    fields = {
        "name": function.name,
        "object": function.object,
        "runtime_s": None if part is None else plain(part.timed.runtime_s),
        **_part(function.counts, function.traffic),
    }
    if part is not None and part.analysis is not None:
        fields["bound"] = _bound(part.analysis.placement, part.analysis.machine)
    if function.lines:
        fields["lines"] = [
            {"source": one.source, "line": one.line, **_part(one.counts, one.traffic)}
            for one in function.lines
        ]
    return fields


def _remainder(remainder: Remainder | None) -> list[dict[str, Any]]:
    """Return an entry for the functions that are not told apart: the sums are of all."""
    if remainder is None:
        return []
    name = f"{remainder.functions} more functions"
    part = _part(remainder.counts, remainder.traffic)
    return [{"name": name, "object": None, "members": remainder.functions, **part}]


def _sampled(sampled: Sampled | None) -> dict[str, Any] | None:
    """Return how samples were taken, and the time of every function, also of those not counted."""
    if sampled is None:
        return None
    fields: dict[str, Any] = plain(sampled)
    del fields["cautions"]  # they are among those of the whole
    return fields


def _region(region: RegionCounts, measurement: Measurement) -> dict[str, Any]:
    timed = next((one for one in measurement.timed_regions if one.name == region.name), None)
    return {
        "name": region.name,
        "inside": list(region.inside),
        "entries": None if timed is None else timed.entries,
        "runtime_s": None if timed is None else plain(timed.runtime_s),
        **_part(region.counts, region.traffic),
    }


def _part(counts: Counts, traffic: tuple[Traffic, ...]) -> dict[str, Any]:
    """Return the fields of any part of a program."""
    return {
        "work": counts.work,
        "work_flop": counts.work_flop,
        "bops": _bops(counts),
        "instructions": _instructions(counts),
        "traffic": plain(traffic_at(traffic, "dram")),
        "levels": plain(traffic),
    }


def _bound(placement: Placement | None, machine: Machine | None) -> dict[str, Any] | None:
    if placement is None or machine is None or placement.bound is None:
        return None
    return {
        "machine": machine.name,
        "cores": placement.cores,
        "limiter": placement.bound.limiter,
        "binding": placement.bound.binding,
        "time_s": placement.bound.time_s,
        "times_s": dict(placement.bound.times_s),
        "attainable_flop_per_s": placement.attainable_flop_per_s,
        "attainable_bop_per_s": placement.attainable_per_s if placement.metric == "bop" else None,
        "efficiency": placement.efficiency,
        "ends": [
            {
                "limiter": None if end.bound is None else end.bound.limiter,
                "efficiency": end.efficiency,
                "intensity": end.intensity,
            }
            for end in placement.ends
        ],
        "above_roof": placement.is_above_roof,
        "mix": _own_mix(placement.mix),
    }


def _own_mix(own: MixPlace | None) -> dict[str, Any] | None:
    """Return what a program's own mix of floating-point instructions allows."""
    if own is None:
        return None
    limit = own.bound
    return {
        "attainable_flop_per_s": own.attainable_per_s,
        "efficiency": own.efficiency,
        "time_s": own.time_s,
        "limiter": own.limiter,
        "binding": None if limit is None else limit.binding,
        "constraints_s": {} if limit is None else dict(limit.constraints_s),
        "kinds": [
            {
                "precision": precision,
                "width_bits": width_bits,
                "operation": operation,
                "flop": flop,
                "share_of_binding": (
                    None
                    if limit is None
                    else limit.shares[limit.binding].get((precision, width_bits, operation), 0.0)
                ),
            }
            for (precision, width_bits, operation), flop in own.mix.items()
        ],
        "unknown": list(own.unknown),
    }


def _issue(own: IssuePlace | None) -> dict[str, Any] | None:
    """Return how many instructions a cycle has, and how many it can have."""
    if own is None:
        return None
    return {
        "per_cycle": own.per_cycle,
        "most_per_cycle": own.most_per_cycle,
        "time_s": own.time_s,
        "efficiency": own.efficiency,
    }
