"""What types of Python say about themselves: their fields, and the descriptions of these."""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ridgepoint.show.schemas.shape import Described

_IN_JSON = {"None": "null", "True": "true", "False": "false"}

# A field of a numpy docstring: its names, a colon, its type; what it is follows, indented.
_FIELD = re.compile(r"^(\w[\w, ]*) : (.*(?:\n(?=        \S).*)*)((?:\n(?:    .*|))*)", re.MULTILINE)
_SECTION = re.compile(r"^(Parameters|Attributes)\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", re.M | re.S)


def value_shape(
    kind: type, derived: Mapping[str, Any] | None = None, *, is_kept: bool = False
) -> dict[str, Any]:
    """Return the shape of a value, with further keys.

    Parameters
    ----------
    kind : type
        A dataclass, or a struct of msgspec, which may leave out what has its default.
    derived : mapping or None
        Shapes of what the document holds beside its fields.
    is_kept : bool
        As of `left_out`.
    """
    own = fields(kind, *field_names(kind))
    every = {
        **{name: {"python": hint, "description": text} for name, (hint, text) in own.items()},
        **(derived or {}),
    }
    return {
        "type": "object",
        "description": summary(kind),
        "properties": every,
        "required": [name for name in every if name not in left_out(kind, is_kept=is_kept)],
        "additionalProperties": False,
    }


def derived_shapes(kind: type, names: Sequence[str]) -> dict[str, Any]:
    """Return the shapes of properties, by the types that they say they return."""
    found = {}
    for name in names:
        getter = getattr(kind, name).fget
        text = " ".join((inspect.getdoc(getter) or name).split("\n\n")[0].split())
        hint = typing.get_type_hints(getter)["return"]
        found[name] = {"python": hint, "description": text}
    return found


def field_names(kind: type) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass or a struct, as documents have them."""
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind))
    return tuple(field.encode_name for field in msgspec.structs.fields(kind))


def left_out(kind: type, *, is_kept: bool = False) -> frozenset[str]:
    """Return the fields that a document may leave out, since they have their default.

    Parameters
    ----------
    kind : type
    is_kept : bool
        Whether the document may have been written by an earlier release, which did not know
        fields that came later: these have defaults.
    """
    if dataclasses.is_dataclass(kind):
        missing = dataclasses.MISSING
        return frozenset(
            field.name
            for field in dataclasses.fields(kind)
            if is_kept and (field.default, field.default_factory) != (missing, missing)
        )
    if not is_kept and not kind.__struct_config__.omit_defaults:  # type: ignore[attr-defined]
        return frozenset()
    return frozenset(
        field.encode_name for field in msgspec.structs.fields(kind) if not field.required
    )


def fields(kind: type, *names: str) -> dict[str, Described]:
    """Return some fields of a value's class with their types and descriptions."""
    hints, texts = typing.get_type_hints(kind), described_fields(kind)
    return {name: (hints[name], texts[name]) for name in names}


def summary(kind: type) -> str:
    """Return the first paragraph of a class's docstring on one line."""
    return " ".join(inspect.getdoc(kind).split("\n\n")[0].split())  # type: ignore[union-attr]


def described_fields(kind: type) -> dict[str, str]:
    """Return what the docstring of a class says about each field; of none, its name in words."""
    texts = {name: name.replace("_", " ") for name in field_names(kind)}
    for name, text in _documented(inspect.getdoc(kind) or ""):
        if name in texts and text:
            texts[name] = text
    return texts


def _documented(docstring: str) -> Iterator[tuple[str, str]]:
    for section in _SECTION.finditer(docstring):
        for field in _FIELD.finditer(section[2]):
            text = " ".join(field[3].split())
            for name in field[1].split(", "):
                yield name, _for_json(text)


def _for_json(text: str) -> str:
    """Return a description as readers of JSON need it."""
    plain = re.sub(r"`+([^`]+)`+", r"\1", text)
    return re.sub(r"\b(None|True|False)\b", lambda match: _IN_JSON[match[1]], plain)
