"""A study of cores and nodes in words, above its tables and pictures."""

from __future__ import annotations

import numpy as np

from ridgepoint.core.rates import IDEAL
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.scaling import Scaling
from ridgepoint.models.scaling.study import ScalingStudy
from ridgepoint.show.words import machine_title, percent, shown_intensity


def heading(study: ScalingStudy, *, law: bool = False, with_overlap: bool = True) -> list[str]:
    """Return what is studied: the problem, the machine, what is assumed of overlap unless left."""
    scaling, problem = study.scaling, study.scaling.problem
    named = problem.name if study.size is None else f"{problem.name}, n = {study.size:,.10g}"
    if law:
        return [named]
    unit = RESOURCES[problem.work].unit
    largest = study.nodes[-1]
    amounts = problem.demand(largest).amounts
    asked = [format_si(float(amounts[problem.work]), unit)]
    if "dram" in amounts:
        asked.append(f"{format_si(float(amounts['dram']), 'B')} of memory traffic")
    if "network" in amounts:
        exchanged = format_si(float(amounts["network"]), "B")
        asked.append(f"{exchanged} exchanged on {largest:,} nodes")
    if scaling.counts_latency:
        count = float(np.asarray(problem.messages(np.asarray(float(largest)))))
        asked.append(f"{count:,.4g} messages one after another")
    machine = scaling.machine
    given = [f"core {format_si(scaling.core_rate, f'{unit}/s')}"]
    if machine.knows("dram"):
        given.append(f"memory {format_si(float(machine.rate('dram')), 'B/s')}")
    if "network" in amounts:
        link = scaling.link_bytes_per_s or float(machine.rate("network"))
        shared = "shared by all nodes" if scaling.network == "shared" else "one for each node"
        given.append(f"link {format_si(link, 'B/s')}, {shared}")
    if scaling.counts_latency and scaling.latency_s is not None:
        given.append(f"latency {format_si(scaling.latency_s, 's')}")
    if scaling.share != 1:
        given.append(f"{percent(scaling.share)} of each bandwidth left by other jobs")
    name = "" if machine.name == IDEAL else f"{machine_title(machine)}: "
    node = f"{name}{', '.join(given)}"
    lines = [
        f"{named}: {', '.join(asked)}",
        f"{node}; {overlap_in_words(scaling)}" if with_overlap else node,
    ]
    x = scaling.intensity
    if x is not None:
        intensity = shown_intensity(float(scaling.bound_at(1, 1).intensity("dram")))
        lines.append(f"intensity {intensity} {unit}/byte, x = {shown_intensity(float(x))}")
    return lines


def overlap_in_words(scaling: Scaling) -> str:
    """Return what is assumed of computing, memory and network: how far they overlap."""
    if isinstance(scaling.overlap, str):
        return {"none": "no overlap", "full": "full overlap"}[scaling.overlap]
    return f"partial overlap, k = {scaling.overlap}"
