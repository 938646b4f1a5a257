"""Shapes of the reports of comparisons: of programs, of one over time."""

from __future__ import annotations

from typing import Any

from ridgepoint.core.caution import Caution
from ridgepoint.models.comparing.changes import Change
from ridgepoint.models.comparing.gates import Judgement
from ridgepoint.models.comparing.history import Moment
from ridgepoint.models.comparing.parts import Part
from ridgepoint.models.comparing.programs import Tolerances
from ridgepoint.show.schemas.of_types import fields
from ridgepoint.show.schemas.run_shapes import COMMAND, METRIC
from ridgepoint.show.schemas.shape import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    STRING,
    array,
    by_key,
    maybe,
    obj,
)

_PROGRAM = obj(
    "One of the compared programs.",
    title=(STRING, "What it is called."),
    command=COMMAND,
    started=(STRING, "When it was measured, ISO 8601, UTC."),
    hostname=(STRING, "Where."),
    cpu=(STRING, "On which processor."),
    machine=(maybe(STRING), "Machine that bounds it; null: none does."),
    limiters=(array(STRING), "Every limit that binds."),
    efficiency=(maybe(NUMBER), "Least time over the runtime."),
    intensity=(maybe(NUMBER), "Work per byte at main memory."),
    attainable_per_s=(maybe(NUMBER), "Attainable performance."),
)
_AMOUNT = obj(
    "An amount; null: not known.",
    median=(maybe(NUMBER), "Median."),
    low=(maybe(NUMBER), "Lower end of its 95 % interval."),
    high=(maybe(NUMBER), "Upper end of that."),
    n=(maybe(INTEGER), "Number of samples."),
)
_CHANGES = array(
    obj(
        "A quantity of both.",
        {
            **fields(Change, "quantity", "unit", "ratio", "low", "high", "has_drift"),
            **fields(Change, "verdict", "why"),
            "before": (_AMOUNT, "Before."),
            "after": (_AMOUNT, "After."),
        },
    )
)
_PART = obj(
    "A part that only one of them has.",
    {
        **fields(Part, "name", "object"),
        "amounts": (
            by_key(obj("An amount.", median=(NUMBER, "Median."), unit=(STRING, "Unit."))),
            "Amounts by quantity.",
        ),
    },
)
_PARTS = obj(
    "Parts of both.",
    matched=(
        array(
            obj(
                "A part that both have.",
                {
                    **fields(Part, "name", "object"),
                    "weight": (NUMBER, "Its change over the program's amount."),
                    "changes": (_CHANGES, "Each quantity."),
                },
            )
        ),
        "Parts that both have, largest change first.",
    ),
    only_before=(array(_PART), "Parts that are gone."),
    only_after=(array(_PART), "Parts that are new."),
    ambiguous=(array(STRING), "Names that several parts have."),
)
COMPARISON: dict[str, Any] = obj(
    "Programs compared with one.",
    baseline=(_PROGRAM, "The program before."),
    comparisons=(
        array(
            obj(
                "One program, after.",
                record=(_PROGRAM, "The program."),
                metric=(METRIC, "Unit of its work."),
                same_work=(BOOLEAN, "Whether both did the same work."),
                tolerances=(Tolerances, "Below which a difference is none."),
                changes=(_CHANGES, "Each quantity."),
                functions=(_PARTS, "Functions."),
                regions=(_PARTS, "Regions."),
                cautions=(array(Caution), "What else differs."),
            )
        ),
        "Each program after the first.",
    ),
    gates=(
        array(
            obj(
                "A limit that was to be kept.",
                {
                    "record": (STRING, "The program."),
                    "gate": (STRING, "The limit, as given."),
                    **fields(Judgement, "outcome", "reason"),
                },
            )
        ),
        "Each gate for each program.",
    ),
)
_CHANGE = _CHANGES["items"]
HISTORY: dict[str, Any] = obj(
    "How amounts of a program changed over its measurements.",
    records=(
        array(
            {
                **_PROGRAM,
                "properties": {
                    "label": {**STRING, "description": "Number or title."},
                    **_PROGRAM["properties"],
                },
                "required": ["label", *_PROGRAM["required"]],
            }
        ),
        "The measurements, oldest first.",
    ),
    histories=(
        array(
            obj(
                "One quantity.",
                quantity=(STRING, "The quantity."),
                unit=(STRING, "Its unit."),
                moments=(
                    array(
                        obj(
                            "At one measurement.",
                            {
                                "label": (STRING, "Number or title of the measurement."),
                                **fields(Moment, "event", "level"),
                                "value": (_AMOUNT, "The amount."),
                                "change": (maybe(_CHANGE), "From the one before; null: none."),
                            },
                        )
                    ),
                    "Each measurement.",
                ),
            )
        ),
        "Each quantity.",
    ),
)
