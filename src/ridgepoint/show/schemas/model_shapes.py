"""Shapes of the reports of models: Ridgeline, scaling, sharing, pipelines."""

from __future__ import annotations

from typing import Any

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.models.gains import Gain
from ridgepoint.models.scaling.allocation import Allocation
from ridgepoint.models.scaling.fitting import Parameter
from ridgepoint.models.scaling.placements import JobShare, NodeLoad
from ridgepoint.show.schemas.of_types import derived_shapes, value_shape
from ridgepoint.show.schemas.shape import (
    ANYTHING,
    BOOLEAN,
    INTEGER,
    NUMBER,
    STRING,
    Described,
    array,
    by_key,
    either,
    maybe,
    obj,
)

_OVERLAP: Described = (either(STRING, NUMBER), "How times combine: full, none, or an exponent.")
_LIMITERS: Described = (array(STRING), "Every limit that binds.")
_OTHER_LINKS: dict[str, Described] = {
    f"{path}_{what}": (maybe(NUMBER), f"If the machine has it: {what} of {path}.")
    for path in ("remote", "storage")
    for what in ("bytes", "intensity")
}
_RATES: dict[str, Described] = {
    "name": (STRING, "Name."),
    "work_per_s": (NUMBER, "Peak, work per second."),
    "memory_bytes_per_s": (NUMBER, "Bandwidth of main memory."),
    "network_bytes_per_s": (NUMBER, "Bandwidth of the network."),
    **{
        f"{path}_bytes_per_s": (NUMBER, f"If the machine has {path} memory: its bandwidth.")
        for path in ("remote", "storage")
    },
}
_MACHINES: Described = (array(obj("A machine's rates.", _RATES)), "Machines.")
_AMOUNTS: dict[str, Described] = {
    "work": (NUMBER, "Work."),
    "memory_bytes": (NUMBER, "Bytes at main memory."),
    "network_bytes": (NUMBER, "Bytes over the network."),
}
RIDGELINE: dict[str, Any] = obj(
    "Distributed programs on the Ridgeline. What is infinite or 0/0 is null.",
    machines=_MACHINES,
    work=(STRING, "Resource that does the work."),
    unit=(STRING, "Unit of work."),
    overlap=_OVERLAP,
    ridge=(by_key(maybe(NUMBER)), "Intensities at which two limits are equal."),
    inputs=(by_key(ANYTHING), "What the points were computed from."),
    points=(
        array(
            obj(
                "A point.",
                {
                    "name": (STRING, "Label."),
                    "batch": (maybe(INTEGER), "Batch size; null: none."),
                    "nodes": (maybe(INTEGER), "Nodes; null: none."),
                    **_AMOUNTS,
                    "arithmetic_intensity": (maybe(NUMBER), "Work per byte at memory, I_A."),
                    "memory_intensity": (maybe(NUMBER), "Bytes at memory per byte sent, I_M."),
                    "network_intensity": (maybe(NUMBER), "Work per byte sent, I_N."),
                    "time_s": (NUMBER, "Least time."),
                    "limiter": (STRING, "The limit that needs most time."),
                    "roofline_limiter": (STRING, "The same without the network."),
                    **_OTHER_LINKS,
                    "parts": (
                        by_key(
                            obj(
                                "A part.",
                                {
                                    **_AMOUNTS,
                                    **_OTHER_LINKS,
                                    "times_s": (by_key(NUMBER), "Seconds of each path."),
                                    "time_s": (NUMBER, "Least time."),
                                    "limiters": _LIMITERS,
                                },
                            )
                        ),
                        "If it has parts: each by its name.",
                    ),
                    "runtime_s": (maybe(either(NUMBER, Estimate)), "If it was measured: its time."),
                    "efficiency": (maybe(NUMBER), "If it was measured: least time over that."),
                    "performance_per_s": (maybe(NUMBER), "Attainable performance."),
                    "times_s": (by_key(NUMBER), "Seconds that each path needs."),
                    "limiters": _LIMITERS,
                    "roofline_limiters": (array(STRING), "The same without the network."),
                    "slowest": (array(STRING), "Machines that take longest."),
                },
            )
        ),
        "Each point.",
    ),
)
SWEEP: dict[str, Any] = obj(
    "The best designs of a sweep.",
    machines=_MACHINES,
    overlap=_OVERLAP,
    inputs=(by_key(ANYTHING), "What was tried."),
    designs=(INTEGER, "Number of designs tried."),
    front=(
        array(
            obj(
                "A design that no other beats with as few nodes.",
                nodes=(INTEGER, "Nodes."),
                time_per_sample_s=(NUMBER, "Time for one sample."),
                batch=(INTEGER, "Batch size."),
                limiter=(STRING, "What limits it."),
                limiters=_LIMITERS,
                time_s=(NUMBER, "Time of a step."),
                machine=(STRING, "Machine."),
                machines=(array(STRING), "Machines that do as well."),
                all_reduce=(STRING, "Algorithm of the all-reduce."),
            )
        ),
        "The front, fewest nodes first.",
    ),
)

_ALLOCATION = value_shape(
    Allocation,
    {"relative_speed_up": {**maybe(NUMBER), "description": "Over one core of the same model."}},
)
_RUN_OF_FIT = obj(
    "A measured run.",
    nodes=(NUMBER, "Nodes."),
    cores=(NUMBER, "Cores of each node."),
    size=(maybe(NUMBER), "Size of the problem; null: always the same."),
    time_s=(Estimate, "Measured time."),
    speed_up=(maybe(Gain), "Measured speed-up."),
    efficiency=(maybe(Gain), "Measured efficiency."),
    predicted_s=(NUMBER, "Time by the model."),
)
SCALING: dict[str, Any] = obj(
    "How many cores and nodes are worth allocating.",
    law=(STRING, "If it is by a law: which."),
    problem=(
        obj(
            "The problem.",
            name=(STRING, "Name."),
            work=(STRING, "Resource that does the work."),
            operations=(maybe(NUMBER), "Work."),
            dram_bytes=(maybe(NUMBER), "Bytes at main memory."),
            size=(maybe(NUMBER), "Size."),
        ),
        "If it is by a model: the problem.",
    ),
    machine=(
        obj(
            "A node.",
            name=(STRING, "Name."),
            cores=(INTEGER, "Cores."),
            core_rate=(maybe(NUMBER), "Work per second of one core."),
            memory_bytes_per_s=(maybe(NUMBER), "Bandwidth of main memory."),
            link_bytes_per_s=(maybe(NUMBER), "Bandwidth of a link."),
        ),
        "If it is by a model: a node.",
    ),
    network=(STRING, "If it is by a model: how nodes share the network."),
    overlap=(_OVERLAP[0], "If it is by a model: how times combine."),
    share=(maybe(NUMBER), "If it is by a model: share of the nodes' resources."),
    intensity=(maybe(NUMBER), "If it is by a model: work per byte."),
    latency_s=(maybe(NUMBER), "If it is by a model: latency of a message; null: not counted."),
    points=(array(_ALLOCATION), "Each allocation."),
    best=(_ALLOCATION, "The fastest."),
    optimum=(
        maybe(obj("Where time is least.", nodes=(NUMBER, "Nodes, not rounded."),
                  best=(_ALLOCATION, "The best whole allocation near it."))),
        "Where the time has its minimum; null: not known.",
    ),
    unshared=(maybe(_ALLOCATION), "The best without sharing; null: nothing is shared."),
    efficiency=(maybe(NUMBER), "Efficiency asked for."),
    against=(maybe(STRING), "What efficiency is against."),
    cautions=(array(Caution), "Doubts."),
    largest=(maybe(_ALLOCATION), "The largest allocation with that efficiency."),
    fit=(
        maybe(
            obj(
                "How measured times were fitted.",
                model=(STRING, "The model."),
                parameters=(array(Parameter), "Its parameters."),
                relative_error=(NUMBER, "Root mean square of the relative deviations."),
                deviation=(maybe(NUMBER), "Deviation expected by the fit."),
                noise=(maybe(NUMBER), "Scatter of a single timing."),
                degrees_of_freedom=(INTEGER, "Runs minus values."),
                reduced_chi_square=(maybe(NUMBER), "1: as far off as noise."),
                runs=(array(_RUN_OF_FIT), "Each setting."),
            )
        ),
        "The fit; null: nothing was fitted.",
    ),
)  # fmt: skip

_PLACEMENT = obj(
    "Jobs on nodes.",
    throughput=(NUMBER, "Work of all jobs over that alone."),
    mean_slowdown=(NUMBER, "Mean of the jobs' slowdowns."),
    largest_slowdown=(NUMBER, "Largest of these."),
    jobs=(array(value_shape(JobShare, derived_shapes(JobShare, ["slowdown"]))), "Each job."),
    nodes=(array(NodeLoad), "Each node."),
)
SHARING: dict[str, Any] = obj(
    "How jobs share nodes.",
    machine=(
        obj(
            "A node.",
            name=(STRING, "Name."),
            cores=(INTEGER, "Cores."),
            memory_bytes_per_s=(maybe(NUMBER), "Bandwidth of main memory."),
        ),
        "A node.",
    ),
    network=(STRING, "How nodes share the network."),
    overlap=_OVERLAP,
    nodes=(INTEGER, "Number of nodes."),
    compared=(INTEGER, "Number of placements compared."),
    is_complete=(BOOLEAN, "Whether these are all."),
    jobs=(
        array(
            obj(
                "A job as given.",
                name=(STRING, "Name."),
                cores=(array(INTEGER), "Cores of each of its nodes: any of these."),
                nodes=(INTEGER, "Nodes."),
                count=(INTEGER, "How many such jobs."),
            )
        ),
        "Jobs.",
    ),
    placements=(array(_PLACEMENT), "The best placements, best first."),
    worst=(_PLACEMENT, "The worst."),
)
