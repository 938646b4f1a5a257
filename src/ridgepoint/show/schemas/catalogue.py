"""Every kind of document, with its shape: the one list of what schemas there are."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from typing import Any

from ridgepoint.core.documents import stored_kinds
from ridgepoint.show.schemas import (
    comparison_shapes,
    diagnosis_shapes,
    fleet_shapes,
    model_shapes,
    operator_shapes,
    pipeline_shapes,
    plot_shapes,
    run_shapes,
    study_shapes,
    transformer_shapes,
)
from ridgepoint.show.schemas.build import document_schema
from ridgepoint.show.schemas.of_types import derived_shapes, value_shape

_STORED_IN = (
    "kept.durations", "kept.portable", "published.recomputed",
    "suites.kernels.results", "suites.imaging.measuring", "suites.distributed.results",
    "suites.datacenter.results", "suites.datacenter.hosts", "suites.datacenter.stacks",
    "suites.datacenter.mpi_results",
)  # fmt: skip
"""Modules that register kinds of documents, beside `ridgepoint.core.documents` itself."""

_REPORTS: dict[str, tuple[str, dict[str, Any]]] = {
    "run": ("What run --json and show --json print of a program", run_shapes.RUN),
    "operator-report": ("What run --operators --json and show --json print of operators",
                        operator_shapes.OPERATORS),
    "plot": ("What plot --json prints", plot_shapes.PLOT),
    "records": ("What show --json prints of several records", study_shapes.RECORDS),
    "schemas": ("What schema --json prints", study_shapes.SCHEMAS),
    "list": ("What list --json prints", study_shapes.LIST),
    "diagnosis": ("What explain --json prints", diagnosis_shapes.diagnosis()),
    "comparison": ("What compare --json prints of programs", comparison_shapes.COMPARISON),
    "fleet": ("What fleet --json prints", fleet_shapes.FLEET),
    "history": ("What history --json prints", comparison_shapes.HISTORY),
    "import": ("What import --json prints", study_shapes.IMPORT),
    "check": ("What machine --check --json prints, and compare of two machines",
              study_shapes.CHECK),
    "checks": ("What compare --json prints of several machines", study_shapes.CHECKS),
    "explanation": ("What machine --explain --json prints", study_shapes.EXPLANATION),
    "doctor": ("What doctor --json prints", study_shapes.DOCTOR),
    "selftest": ("What doctor --selftest --json prints", study_shapes.SELFTEST),
    "bops": ("What bops --json prints", study_shapes.BOPS),
    "ridgeline": ("What ridgeline --json prints", model_shapes.RIDGELINE),
    "ridgeline-sweep": ("What ridgeline --sweep --json prints", model_shapes.SWEEP),
    "scaling": ("What scale --json prints", model_shapes.SCALING),
    "sharing": ("What scale --jobs --json prints", model_shapes.SHARING),
    "transformer": ("What transformer --json prints", transformer_shapes.TRANSFORMER),
    "transformers": ("What transformer --list --json prints", transformer_shapes.MODELS),
    "pipeline": ("What pipeline --json prints", pipeline_shapes.PIPELINE),
    "observation": ("What pipeline --json prints of several", pipeline_shapes.OBSERVATION),
    "published loads": ("What pipeline --published --json prints", pipeline_shapes.LOADS),
}  # fmt: skip
_IN_LINES = frozenset({"properties", "$defs"})
_BESIDES = {
    "plot": ("run",),
    "records": ("run", "machine", "cluster"),
    "record": ("machine", "cluster", "measurement", "timing"),
}
"""Kinds of documents that others hold."""


@cache
def kinds() -> tuple[str, ...]:
    """Return the names of all kinds of documents, in the order of the alphabet."""
    for module in _STORED_IN:
        import_module(f"ridgepoint.{module}")
    return tuple(sorted({*_REPORTS, *stored_kinds()}))


def schema_of(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a kind of document.

    Raises
    ------
    KeyError
        If there is no such kind.
    """
    schema = _alone(kind)
    defs = dict(schema.pop("$defs", {}))
    for other in _BESIDES.get(kind, ()):
        inner = json.loads(json.dumps(_alone(other)))
        defs |= inner.pop("$defs", {})
        # One document has one dialect and one name.
        for key in ("$schema", "$id"):
            del inner[key]
        defs[other] = inner
    return {**schema, **({"$defs": dict(sorted(defs.items()))} if defs else {})}


def _alone(kind: str) -> dict[str, Any]:
    kinds()
    if kind in _REPORTS:
        title, shape = _REPORTS[kind]
        return document_schema(kind, shape, title=title)
    value, derived = stored_kinds()[kind]
    shape = value_shape(value, derived_shapes(value, derived), is_kept=True)
    if kind == "record":
        shape = _of_record(shape)
    return document_schema(kind, shape, title=f"A document of kind {kind}", is_kept=True)


def _of_record(shape: dict[str, Any]) -> dict[str, Any]:
    """Return the shape of the file of a record, whose content is a document of its own."""
    content = {"anyOf": [{"$ref": f"#/$defs/{kind}"} for kind in _BESIDES["record"]]}
    text = shape["properties"]["document"]["description"]
    return {
        **shape,
        "properties": {
            **shape["properties"], "document": {**content, "description": text}
        },
    }  # fmt: skip


def file_name(kind: str) -> str:
    """Return the name of the file of a schema."""
    return f"{kind.replace(' ', '-')}.json"


def rendered(kind: str) -> str:
    """Return a schema as text, as the file holds it."""
    return f"{_laid_out(schema_of(kind), 0)}\n"


def _laid_out(value: Any, depth: int) -> str:
    """Return JSON with a line for each key that a document may have, and for each definition."""
    if not isinstance(value, dict) or not _IN_LINES & set(value):
        return json.dumps(value, ensure_ascii=False)
    lines = []
    for key, part in value.items():
        if key in _IN_LINES and isinstance(part, dict):
            blanks = " " * (depth + 2)
            inner = (f"{blanks}{json.dumps(k)}: {_laid_out(v, depth + 2)}" for k, v in part.items())
            text = "{\n" + ",\n".join(inner) + "\n" + " " * (depth + 1) + "}"
        else:
            text = json.dumps(part, ensure_ascii=False)
        lines.append(f"{' ' * (depth + 1)}{json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n" + " " * depth + "}"
