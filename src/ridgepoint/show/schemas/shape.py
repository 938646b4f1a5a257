"""Shapes: JSON Schemas in few words, with the types of values inside them.

A shape is a schema (draft 2020-12) in which a type of Python may stand for its own schema. The
types of values are the one source of what they hold: their fields, units and descriptions.
"""

from __future__ import annotations

from typing import Any, get_args

Shape = dict[str, Any] | type | Any
"""A schema, or a type whose schema is generated."""

Described = tuple[Shape, str]
"""A shape, and what it is."""

NUMBER: dict[str, Any] = {"type": "number"}
INTEGER: dict[str, Any] = {"type": "integer"}
STRING: dict[str, Any] = {"type": "string"}
BOOLEAN: dict[str, Any] = {"type": "boolean"}
ANYTHING: dict[str, Any] = {}
"""What depends on the user's input, such as the parameters of a formula."""


def obj(what: str, /, *parts: dict[str, Described], **fields: Described) -> dict[str, Any]:
    """Return an object of exactly these keys.

    Parameters
    ----------
    what : str
        Description.
    *parts : dict
        Further keys, such as names that Python does not allow.
    **fields : tuple of shape and str
        Each key with its description. A key whose description begins with "If" may be missing.
    """
    every = {name: field for part in (fields, *parts) for name, field in part.items()}
    return {
        "type": "object",
        "description": what,
        "properties": {name: described(shape, text) for name, (shape, text) in every.items()},
        "required": [name for name, (_, text) in every.items() if not text.startswith("If ")],
        "additionalProperties": False,
    }


def described(shape: Shape, text: str) -> dict[str, Any]:
    """Return a shape with a description of its own."""
    schema = shape if isinstance(shape, dict) else {"python": shape}
    return {**schema, "description": text}


def array(of: Shape) -> dict[str, Any]:
    """Return a list of any length."""
    return {"type": "array", "items": of}


def pair(of: Shape) -> dict[str, Any]:
    """Return a list of two: the ends of a range, or a name and its value."""
    return {"type": "array", "items": of, "minItems": 2, "maxItems": 2}


def maybe(shape: Shape) -> dict[str, Any]:
    """Return a shape that may be null: not known, or not applicable."""
    return {"anyOf": [shape, {"type": "null"}]}


def by_key(of: Shape) -> dict[str, Any]:
    """Return an object whose keys are names: of resources, levels, quantities, ..."""
    return {"type": "object", "additionalProperties": of}


def one_of(*names: str | None) -> dict[str, Any]:
    """Return one of some texts; None: null is allowed."""
    return {"enum": list(names)}


def either(*shapes: Shape) -> dict[str, Any]:
    """Return what has one of these shapes."""
    return {"anyOf": list(shapes)}


def literal(kind: Any) -> dict[str, Any]:
    """Return one of the texts of a `typing.Literal`."""
    return {"enum": list(get_args(kind))}
