"""Shapes of the reports on machines, meters and records."""

from __future__ import annotations

from typing import Any

from ridgepoint.ceilings.samples import Sample
from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Cache, Ceiling, Host
from ridgepoint.doctor.finding import Finding
from ridgepoint.doctor.selftest.results import Check as TestedCheck
from ridgepoint.doctor.selftest.results import NotRun, NotTested, Trial
from ridgepoint.kept.archive_record import Record
from ridgepoint.kept.merging import Merged
from ridgepoint.models.comparing.machines import CeilingChange
from ridgepoint.published.theory import Figure
from ridgepoint.show.schemas.of_types import fields, value_shape
from ridgepoint.show.schemas.run_shapes import COMMAND
from ridgepoint.show.schemas.shape import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    STRING,
    Described,
    array,
    either,
    maybe,
    obj,
)
from ridgepoint.suites.kernels.time_check import Explained

_A_DOCUMENT = either(*({"$ref": f"#/$defs/{kind}"} for kind in ("run", "machine", "cluster")))
_NAMED = obj(
    "A machine.",
    name=(STRING, "Name."),
    created=(maybe(STRING), "When it was measured, ISO 8601, UTC."),
    host=(Host, "The hardware."),
)

RECORDS: dict[str, Any] = obj(
    "Several records, each as it is shown alone.",
    records=(array(_A_DOCUMENT), "The documents, in the order in which they were named."),
)
SCHEMAS: dict[str, Any] = obj(
    "The kinds of documents that have a schema.",
    schemas=(
        array(obj("A kind.", name=(STRING, "Name."), title=(STRING, "What its documents are."))),
        "Each kind.",
    ),
)
LIST: dict[str, Any] = obj(
    "The records of the archive, oldest first.",
    records=(array(Record), "Each record."),
)
_DONE: dict[str, Described] = {
    "bops": (INTEGER, "Basic operations."),
    "classes": (BasicOperations, "Basic operations by class."),
}
BOPS: dict[str, Any] = obj(
    "The basic operations of a program, counted from its source.",
    {
        "command": COMMAND,
        **_DONE,
        "functions": (
            array(
                obj(
                    "A function.",
                    {
                        "name": (STRING, "Name as in the source."),
                        "symbol": (STRING, "Name as in the object file."),
                        "file": (STRING, "Source file."),
                        "line": (INTEGER, "Line where it begins."),
                        **_DONE,
                    },
                )
            ),
            "Functions, most operations first.",
        ),
        "lines": (
            array(obj("A line.", {"file": (STRING, "Source file."), "line": (INTEGER, "Line."),
                                  **_DONE})),
            "Lines, most operations first.",
        ),
        "complete": (BOOLEAN, "Whether the program ran to its end."),
        "exit_status": (INTEGER, "Exit status of the program."),
        "processes": (INTEGER, "Number of processes counted."),
        "runtime_s": (maybe(Estimate), "Wall-clock time; null: not timed."),
        "bops_per_s": (maybe(NUMBER), "Basic operations over time; null: not timed."),
        "cautions": (array(Caution), "Doubts."),
    },
)  # fmt: skip
DOCTOR: dict[str, Any] = obj(
    "What can be measured here.",
    findings=(array(Finding), "Each meter and precondition."),
)
_TRIAL = value_shape(
    Trial,
    {
        "holds": {**BOOLEAN, "description": "Whether all counts are as expected."},
        "checks": {
            **array(
                value_shape(
                    TestedCheck,
                    {
                        "ratio": {**maybe(NUMBER), "description": "Measured over expected."},
                        "holds": {**BOOLEAN, "description": "Whether it is as expected."},
                    },
                )
            ),
            "description": "Each expected count.",
        },
    },
)
SELFTEST: dict[str, Any] = obj(
    "How every meter counts programs of known work and traffic.",
    caches=(array(Cache), "Caches that were to be simulated."),
    trials=(array(_TRIAL), "Each meter on each program."),
    not_tested=(array(NotTested), "Meters that are not available, and why."),
    not_run=(array(NotRun), "Programs that could not be run, and why."),
    holds=(maybe(BOOLEAN), "Whether all is as expected; null: nothing was counted."),
    times=(
        array(
            value_shape(
                Explained, {"ratio": {**NUMBER, "description": "Predicted over measured time."}}
            )
        ),
        "How much of the time of known loops their traffic explains.",
    ),
)
CHECK: dict[str, Any] = obj(
    "A machine compared with a baseline.",
    baseline=(_NAMED, "The machine as it was."),
    machine=(_NAMED, "The machine as it is."),
    ceilings=(
        array(
            obj(
                "A ceiling of both.",
                {
                    **fields(CeilingChange, "resource", "name", "threads", "part", "verdict"),
                    "ratio": (maybe(NUMBER), "Now over before."),
                    "low": (maybe(NUMBER), "Lower end of its 95 % interval."),
                    "high": (maybe(NUMBER), "Upper end of that."),
                    "baseline_median": (maybe(NUMBER), "Rate before; null: not known."),
                    "median": (maybe(NUMBER), "Rate now; null: not known."),
                },
            )
        ),
        "Each ceiling.",
    ),
    fell=(INTEGER, "How many ceilings fell."),
    cautions=(array(Caution), "Doubts about the comparison."),
)
CHECKS: dict[str, Any] = obj(
    "Several machines compared with one.",
    checks=(array(CHECK), "One comparison for each machine after the first."),
)

IMPORT: dict[str, Any] = obj(
    "What became of the records of files and other archives.",
    records=(array(Merged), "Each record."),
)
EXPLANATION: dict[str, Any] = obj(
    "A ceiling taken apart, at every place that has it.",
    places=(
        array(
            obj(
                "At one place.",
                ceiling=(Ceiling, "The ceiling."),
                loop=(array(STRING), "Instructions of its innermost loop."),
                samples=(array(Sample), "All samples, in their order."),
                remarks=(array(STRING), "Reasons for the value."),
                kernel=(STRING, "Name of the fastest candidate."),
                pseudo_code=(STRING, "What it does."),
                ir=(STRING, "Its LLVM IR."),
                theory=(maybe(Figure), "Theoretical value for one core and cycle."),
            )
        ),
        "Each place.",
    ),
)
