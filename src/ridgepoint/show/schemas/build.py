"""Builds the JSON Schema of a document from the shapes and the types that it is made of."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any

import msgspec

from ridgepoint.core.caution import Caution
from ridgepoint.core.documents import SCHEMA
from ridgepoint.core.estimate import Estimate
from ridgepoint.show.schemas.of_types import described_fields, left_out, summary
from ridgepoint.show.schemas.shape import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    array,
    described,
    maybe,
    obj,
    pair,
)

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TEMPLATE = "#/$defs/{name}"
_UNITS = {
    "_bytes_per_s": "byte/s", "_flop_per_s": "flop/s", "_bop_per_s": "BOP/s",
    "_flop_per_byte": "flop/byte", "_bop_per_byte": "BOP/byte", "_per_cycle": "1/cycle",
    "_per_s": "1/s", "_bytes": "byte", "_hz": "Hz", "_bits": "bit", "_flop": "flop", "_j": "J",
    "_s": "s",
}  # fmt: skip
"""Units that end a name, the longest first."""

_MATTERS = "If it is printed with a verdict: whether the caution could change that."

ESTIMATE = obj(
    "A measured quantity in the unit of its name: the samples and what follows from them. The "
    "interval is the distribution-free 95 % interval of the median.",
    median=(NUMBER, "Median of the samples."),
    q1=(NUMBER, "First quartile."),
    q3=(NUMBER, "Third quartile."),
    low=(maybe(NUMBER), "Lower end of the 95 % interval of the median; null: too few samples."),
    high=(maybe(NUMBER), "Upper end of that interval; null: too few samples."),
    n=(INTEGER, "Number of samples."),
    samples=(array(NUMBER), "All samples, in the order in which they were taken."),
    batches=(INTEGER, "If samples were taken in batches: how many, whose medians count."),
    interval=(pair(NUMBER), "If the interval is known from more than the samples: its ends."),
)

_KEPT_ESTIMATE = {
    "description": f"{ESTIMATE['description']} In files: its samples or its median, or a number.",
    "anyOf": [
        NUMBER,
        {**ESTIMATE, "required": ["samples"]},
        {**ESTIMATE, "required": ["median"]},
    ],
}


def document_schema(
    kind: str, shape: Mapping[str, Any], *, title: str, is_kept: bool = False
) -> dict[str, Any]:
    """Return the JSON Schema of a kind of document.

    Parameters
    ----------
    kind : str
        As documents state it.
    shape : mapping
        An object's shape, without ``schema`` and ``kind``.
    title : str
    is_kept : bool
        Whether an earlier release may have written it: keys that came later may be missing.
    """
    head = {
        "schema": {"const": SCHEMA, "description": "Version of the format of this document."},
        "kind": {"const": kind, "description": "What kind of document this is."},
    }
    if "oneOf" in shape:
        body = {**shape, "oneOf": [_headed(part, head) for part in shape["oneOf"]]}
    else:
        body = _headed(shape, head)
    found: list[type] = []
    _types_in(body, found)
    resolved, defs = _resolved(body, found, is_kept=is_kept)
    return {
        "$schema": DRAFT,
        "$id": f"urn:ridgepoint:{kind.replace(' ', '-')}:{SCHEMA}",
        "title": title,
        **resolved,
        **({"$defs": defs} if defs else {}),
    }


def _headed(shape: Mapping[str, Any], head: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object's shape with the keys that every document has."""
    return {
        **shape,
        "properties": {**head, **shape["properties"]},
        "required": [*head, *shape["required"]],
    }


def _types_in(shape: Any, found: list[type]) -> None:
    """Collect the types of Python that a shape holds."""
    if isinstance(shape, Mapping):
        for name, part in shape.items():
            if name == "python":
                found.append(part)
            else:
                _types_in(part, found)
    elif isinstance(shape, list):
        for part in shape:
            _types_in(part, found)
    elif shape is not None and not isinstance(shape, str | int | float | bool):
        found.append(shape)


def _resolved(
    shape: Any, found: list[type], *, is_kept: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a shape with references in place of types, and the definitions of these."""
    schemas, components = msgspec.json.schema_components(
        found, schema_hook=_hook, ref_template=_TEMPLATE
    )
    by_type = list(zip(found, schemas, strict=True))
    classes = _classes(found)
    defs = {
        name: _strict(component, _named(name, classes), is_kept=is_kept)
        for name, component in components.items()
    }
    if "#/$defs/Estimate" in str((schemas, components)):
        defs["Estimate"] = _KEPT_ESTIMATE if is_kept else ESTIMATE
    return _replaced(shape, by_type), dict(sorted(defs.items()))


def _replaced(shape: Any, by_type: list[tuple[type, dict[str, Any]]]) -> Any:
    if isinstance(shape, Mapping):
        if "python" in shape:
            own = next(schema for kind, schema in by_type if kind is shape["python"])
            others = {name: part for name, part in shape.items() if name != "python"}
            return {**own, **others}
        return {
            name: _with_unit(name, _replaced(part, by_type)) if is_property else
            _replaced(part, by_type)
            for name, part in shape.items()
            for is_property in (_is_schema(part),)
        }  # fmt: skip
    if isinstance(shape, list):
        return [_replaced(part, by_type) for part in shape]
    if shape is None or isinstance(shape, str | int | float | bool):
        return shape
    return next(schema for kind, schema in by_type if kind is shape)


def _is_schema(part: Any) -> bool:
    return isinstance(part, Mapping) and "description" in part


def _with_unit(name: str, schema: Any) -> Any:
    """Return the schema of a key with the unit that the key's name ends in."""
    for ending, unit in _UNITS.items():
        if name.endswith(ending):
            return {**schema, "unit": unit}
    return schema


def _hook(kind: type) -> dict[str, Any]:
    if kind is Estimate:
        return {"$ref": "#/$defs/Estimate"}
    raise NotImplementedError(f"{kind} has no schema")


def _strict(component: dict[str, Any], kind: type | None, *, is_kept: bool) -> dict[str, Any]:
    """Return the schema of a class as documents hold it: all of its keys, and no others."""
    if "properties" not in component:
        return component
    texts = {} if kind is None else described_fields(kind)
    properties = {
        name: _with_unit(name, described(_without_default(part), texts.get(name, name)))
        for name, part in component["properties"].items()
    }
    omitted = frozenset() if kind is None else left_out(kind, is_kept=is_kept)
    required = [name for name in properties if name not in omitted]
    if kind is Caution:
        properties["matters"] = {**BOOLEAN, "description": _MATTERS}
    return {
        "type": "object",
        "description": component.get("title", "") if kind is None else summary(kind),
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _without_default(schema: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in schema.items() if name != "default"}


def _classes(found: list[type]) -> list[type]:
    """Return all classes with fields that types are made of."""
    classes: list[type] = []
    waiting = list(found)
    while waiting:
        kind = waiting.pop()
        waiting += [part for part in typing.get_args(kind) if not isinstance(part, str)]
        has_fields = dataclasses.is_dataclass(kind) or hasattr(kind, "__struct_fields__")
        if isinstance(kind, type) and kind not in classes and has_fields:
            classes.append(kind)
            waiting += typing.get_type_hints(kind).values()
    return classes


def _named(name: str, classes: list[type]) -> type | None:
    """Return the class of a definition, which is named in full where two have the same name."""
    of_name = [
        kind
        for kind in classes
        if name == kind.__name__
        or name.replace(".", "_") == f"{kind.__module__}.{kind.__name__}".replace(".", "_")
    ]
    return of_name[0] if len(of_name) == 1 else None
