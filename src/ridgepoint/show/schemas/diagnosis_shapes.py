"""Shape of a diagnosis."""

from __future__ import annotations

from typing import Any

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling, Host
from ridgepoint.core.measurement import Context
from ridgepoint.models.causes import STANDINGS
from ridgepoint.models.conclusion import Kind
from ridgepoint.models.diagnosis import Check
from ridgepoint.models.machine_diagnosis import Against, Balance, Growth
from ridgepoint.show.page.document import Input
from ridgepoint.show.schemas.of_types import fields
from ridgepoint.show.schemas.run_shapes import COMMAND, METRIC, RANGE
from ridgepoint.show.schemas.shape import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    STRING,
    Described,
    array,
    literal,
    maybe,
    obj,
    one_of,
)

_CEILING: dict[str, Described] = fields(
    Ceiling, "resource", "name", "threads", "unit", "rate", "theoretical", "detail", "source"
)
_OF_PROGRAM: dict[str, Described] = {
    "command": COMMAND,
    "machine": (maybe(STRING), "Machine that bounds it; null: none does."),
    "verdict": (
        obj(
            "What limits it.",
            kind=(maybe(literal(Kind)), "What was found; null: there is no machine."),
            sentences=(array(STRING), "The verdict in English."),
            limits=(array(STRING), "Codes of the causes that limit it."),
            metric=(METRIC, "Unit of its work."),
            attainable_per_s=(maybe(NUMBER), "Attainable performance."),
            attainable_range_per_s=(RANGE, "Between what that lies."),
            efficiency=(maybe(NUMBER), "Least time over the runtime: 1 is the roof."),
            efficiency_range=(RANGE, "Between what that lies."),
        ),
        "The verdict.",
    ),
    "evidence": (
        array(
            obj(
                "A number and how it was obtained.",
                key=(STRING, "Stable identifier."),
                name=(STRING, "Name."),
                text=(STRING, "With unit and interval."),
                how=(STRING, "How it was measured or computed."),
                source=(STRING, "Publication, or page of the documentation."),
                inputs=(array(Input), "What it was computed from."),
            )
        ),
        "The numbers that the verdict rests on.",
    ),
    "ceilings": (array(obj("A ceiling.", _CEILING)), "The ceilings behind its roofs."),
    "causes": (
        array(
            obj(
                "A resource or another known cause.",
                code=(STRING, "Stable identifier."),
                what=(STRING, "Its name."),
                standing=(one_of(*STANDINGS), "Whether it limits, takes part, or is ruled out."),
                why=(STRING, "The number that shows it, or why it is not known."),
                share=(
                    maybe(
                        obj(
                            "A share.",
                            median=(NUMBER, "The share."),
                            low=(maybe(NUMBER), "Lower end of its range."),
                            high=(maybe(NUMBER), "Upper end of that; null: unlimited."),
                        )
                    ),
                    "Part of the time; null: not known, or no part of time.",
                ),
                sense=(one_of("took", "least", "most", None), "What that share is."),
                settle=(STRING, "Command or sentence that would tell; empty: nothing known."),
            )
        ),
        "Every cause, judged once: what limits first, what is ruled out last.",
    ),
    "next": (
        array(
            obj(
                "What to do.",
                code=(STRING, "Stable identifier."),
                about=(STRING, "Function, region or program."),
                seen=(STRING, "The evidence."),
                what=(STRING, "What to do."),
                gain=(maybe(NUMBER), "Upper limit of the speed-up; null: not known."),
                gain_range=(RANGE, "That limit at the ends of the ranges."),
            )
        ),
        "What to do next, largest gain for the program first.",
    ),
    "certainty": (
        obj(
            "How sure the verdict is.",
            sentences=(array(STRING), "In English."),
            is_stable=(maybe(BOOLEAN), "Whether all ends of the ranges have the same limit."),
            cautions=(array(Caution), "Cautions that could change the verdict."),
            checks=(array(Check), "Commands that would settle the rest."),
        ),
        "How sure the verdict is.",
    ),
    "context": (Context, "Where and how it was measured."),
}
_OF_MACHINE: dict[str, Described] = {
    "name": (STRING, "Name."),
    "host": (Host, "The hardware."),
    "ceilings": (
        array(
            obj(
                "A ceiling that bounds programs.",
                {
                    **_CEILING,
                    "against_theory": (literal(Against), "How it compares with theory."),
                    "share_of_theory": (maybe(NUMBER), "Share of the theoretical rate."),
                    "doubts": (array(Caution), "Cautions that could change a verdict."),
                },
            )
        ),
        "Ceilings that bound programs.",
    ),
    "balances": (array(Balance), "Where each level stops to limit work."),
    "growths": (array(Growth), "How much more all cores have than one."),
    "cautions": (array(Caution), "Doubts about the machine as a whole."),
}
_OF_CLUSTER: dict[str, Described] = {
    **_OF_MACHINE,
    "nodes": (array(STRING), "Host names."),
    "slow": (
        array(
            obj(
                "A ceiling of which one node is slower than the others.",
                resource=(STRING, "Resource."),
                name=(STRING, "Pattern."),
                threads=(INTEGER, "Busy CPUs of each node."),
                slowest=(STRING, "The node."),
                slowest_rate=(Estimate, "Its rate."),
                median=(NUMBER, "Median of the nodes' medians."),
            )
        ),
        "Slow nodes.",
    ),
    "latency_s": (maybe(Estimate), "Time of the smallest message between two nodes."),
}
_OF_TIMING: dict[str, Described] = {
    "command": COMMAND,
    "runtime_s": (Estimate, "Wall-clock time."),
    "cores_busy": (NUMBER, "CPU time over wall-clock time."),
    "uncounted": (maybe(Caution), "Why it was not counted."),
    "context": (Context, "Where and how it was measured."),
    "cautions": (array(Caution), "Doubts."),
}


def diagnosis() -> dict[str, Any]:
    """Return the shape of a diagnosis: its other keys depend on what it is of."""
    shapes = []
    for kind, keys in (
        ("measurement", _OF_PROGRAM), ("timing", _OF_TIMING), ("machine", _OF_MACHINE),
        ("cluster", _OF_CLUSTER),
    ):  # fmt: skip
        what = {"of": ({"const": kind}, "What it is of.")}
        shapes.append(obj(f"Of a {kind}.", {**what, **keys}))
    return {"description": "A diagnosis: what limits, by which numbers, what is ruled out.",
            "oneOf": shapes}  # fmt: skip
