"""Shapes of the reports of pipelines."""

from __future__ import annotations

from typing import Any

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.models.pipeline.advice import StageAdvice
from ridgepoint.models.pipeline.assessment import AggregateEstimate
from ridgepoint.models.pipeline.devices import Alone, AssignedStage
from ridgepoint.models.pipeline.sensitivity import StageGain
from ridgepoint.show.schemas.shape import (
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
    one_of,
)

_WHOLE = obj(
    "Rounded up.",
    median=(maybe(INTEGER), "Median."),
    low=(maybe(INTEGER), "Lower end."),
    high=(maybe(INTEGER), "Upper end."),
)
_DEVICES = maybe(
    obj(
        "Number of devices.",
        median=(maybe(NUMBER), "Median."),
        low=(maybe(NUMBER), "Lower end of its 95 % interval."),
        high=(maybe(NUMBER), "Upper end of that."),
        whole=(_WHOLE, "The same in whole devices."),
    )
)
_QUANTITY = maybe(either(NUMBER, Estimate))
_STAGE = obj(
    "A stage.",
    {
        "name": (STRING, "Name."),
        "repeat": (NUMBER, "How often it runs."),
        "output_bytes": (maybe(NUMBER), "Bytes that the next stage gets."),
        "from": (STRING, "Where its figures are from."),
        "demand": (by_key(NUMBER), "What it asks of each resource."),
        "measured_time_s": (_QUANTITY, "Measured or given time."),
        "given_efficiency": (_QUANTITY, "Given efficiency."),
        "work": (_QUANTITY, "Work of all its runs."),
        "moved_bytes": (_QUANTITY, "Bytes at main memory."),
        "intensity": (_QUANTITY, "Work per byte."),
        "time_s": (_QUANTITY, "Time of all its runs."),
        "bound_s": (_QUANTITY, "Least time."),
        "weight": (_QUANTITY, "Share of the pipeline's time."),
        "roof_weight": (_QUANTITY, "The same at the roofs."),
        "programming_efficiency": (_QUANTITY, "Least time over time."),
        "roofline_efficiency": (_QUANTITY, "Attainable over peak."),
        "times_s": (
            obj("By resource.", compute=(_QUANTITY, "Arithmetic."), memory=(_QUANTITY, "Memory.")),
            "Seconds of each resource.",
        ),
        "limiter": (one_of("compute", "memory"), "What limits it."),
        "is_at_the_ridge": (BOOLEAN, "Whether both do."),
        "performance_per_s": (_QUANTITY, "Work over time."),
        "attainable_per_s": (_QUANTITY, "Attainable performance."),
        "moved_bytes_per_s": (_QUANTITY, "Bytes over time."),
    },
)
_PIPELINE_KEYS: dict[str, Described] = {
    "name": (STRING, "Name."),
    "machine": (
        obj(
            "The machine.",
            name=(STRING, "Name."),
            source=(maybe(STRING), "Where its figures are from; null: measured."),
            cores=(maybe(NUMBER), "Cores; null: all."),
            peak_per_s=(NUMBER, "Peak, work per second."),
            memory_bytes_per_s=(NUMBER, "Bandwidth of main memory."),
            ridge=(NUMBER, "Intensity at which both are equal."),
        ),
        "The machine.",
    ),
    "unit": (STRING, "Unit of work."),
    "stages": (array(_STAGE), "Each stage."),
    "composites": (
        array(
            obj(
                "Efficiencies of the whole by one rule.",
                rule=(STRING, "How stages are combined."),
                equation=(STRING, "Equation of the memo."),
                intensity=(maybe(NUMBER), "Work per byte."),
                roofline_efficiency=(Estimate, "Attainable over peak."),
                is_clipped=(BOOLEAN, "Whether it was limited to 1."),
                programming_efficiency=(Estimate, "Reached over attainable."),
                compute_efficiency=(Estimate, "Reached over peak."),
                devices_at_roof=(maybe(NUMBER), "Devices if the roof were reached."),
                difference=(NUMBER, "From the exact efficiency, as a share."),
                why=(STRING, "Why it differs."),
                devices=(_DEVICES, "Devices by this rule."),
            )
        ),
        "Composite efficiencies.",
    ),
    "host_time_s": (_QUANTITY, "Time on the host."),
    "compute_efficiency": (_QUANTITY, "Work over what the peak does meanwhile."),
    "time_s": (_QUANTITY, "Time of all stages."),
    "bound_s": (_QUANTITY, "Least time."),
    "load_per_s": (maybe(NUMBER), "Work per second that is asked for."),
    "uncertain": (array(STRING), "Stages whose time has an interval."),
    "work": (_QUANTITY, "Work of all stages."),
    "moved_bytes": (_QUANTITY, "Bytes of all stages."),
    "moved_bytes_per_s": (_QUANTITY, "Bytes over time."),
    "performance_per_s": (_QUANTITY, "Work over time."),
    "total_time_s": (_QUANTITY, "With the host's time."),
    "mixed_bound_s": (_QUANTITY, "Least time if stages overlapped."),
    "aggregate": (
        obj(
            "All stages as one.",
            at_the_machine=(maybe(AggregateEstimate), "At the machine's bandwidth."),
            at_what_is_reached=(maybe(AggregateEstimate), "At the reached bandwidth."),
        ),
        "All stages as one.",
    ),
    "devices": (_DEVICES, "Devices that the load needs."),
    "devices_if_they_wait": (_QUANTITY, "The same if they wait for the host."),
    "legroom": (
        array(obj("With room to spare.", used=(NUMBER, "Share of a device's time used."),
                  devices=(_DEVICES, "Devices then."))),
        "Devices with room to spare.",
    ),
    "sensitivity": (
        obj(
            "What a small change gains.",
            stages=(array(StageGain), "Of each stage."),
            device=(
                obj(
                    "Of the device.",
                    compute=(NUMBER, "A higher peak."),
                    bandwidth=(NUMBER, "More bandwidth."),
                    both=(NUMBER, "Both."),
                    better=(maybe(STRING), "Which is better."),
                ),
                "Of the device.",
            ),
        ),
        "What a small change gains.",
    ),
    "advice": (array(StageAdvice), "What to do next."),
    "assignment": (
        maybe(
            obj(
                "Stages on several machines.",
                stages=(array(AssignedStage), "Each stage."),
                time_s=(NUMBER, "Time of all."),
                has_transfers=(BOOLEAN, "Whether data moves between machines."),
                alone=(array(Alone), "Each machine alone."),
                shares_s=(by_key(NUMBER), "Seconds of each machine."),
            )
        ),
        "Stages on several machines; null: there is one.",
    ),
    "cautions": (array(Caution), "Doubts."),
}  # fmt: skip
_UNCERTAINTY: Described = (
    obj(
        "How intervals were computed.",
        method=(STRING, "Method."),
        draws=(INTEGER, "Draws."),
        seed=(INTEGER, "Seed of the random numbers."),
        interval=(NUMBER, "Probability of the intervals."),
    ),
    "How intervals were computed.",
)
PIPELINE: dict[str, Any] = obj(
    "A pipeline of stages: efficiencies, devices, gains.",
    {"uncertainty": _UNCERTAINTY, **_PIPELINE_KEYS},
)
OBSERVATION: dict[str, Any] = obj(
    "An observation of several pipelines.",
    uncertainty=_UNCERTAINTY,
    pipelines=(array(obj("A pipeline.", _PIPELINE_KEYS)), "Each pipeline."),
    observation=(
        obj(
            "The whole.",
            pipelines=(
                array(obj("A pipeline's part.", name=(STRING, "Name."), weight=(NUMBER, "Weight."),
                          time_s=(_QUANTITY, "Time."))),
                "Each pipeline's part.",
            ),
            time_s=(_QUANTITY, "Time of all."),
            period_s=(maybe(NUMBER), "Time that it may take."),
            is_of_a_second=(BOOLEAN, "Whether amounts are those of a second."),
            load_per_s=(maybe(NUMBER), "Work per second."),
            machines=(array(STRING), "Machines."),
            devices=(_DEVICES, "Devices."),
            most_devices=(_DEVICES, "Devices of the heaviest pipeline."),
            legroom=(
                array(obj("With room to spare.", used=(NUMBER, "Share used."),
                          devices_to_fit=(_DEVICES, "Devices to fit the period."),
                          devices=(_DEVICES, "Devices."), most_devices=(_DEVICES, "At most."))),
                "Devices with room to spare.",
            ),
        ),
        "The observation.",
    ),
)  # fmt: skip
LOADS: dict[str, Any] = obj(
    "Published loads of the science data processor.",
    source=(STRING, "Publication."),
    products=(
        by_key(
            obj(
                "A product.",
                title=(STRING, "Title."),
                stages_flop_per_s=(by_key(NUMBER), "Flop/s of each stage."),
                total_flop_per_s=(NUMBER, "Flop/s of all."),
                imaging_share=(NUMBER, "Share of the imaging stages."),
            )
        ),
        "Each product.",
    ),
)
