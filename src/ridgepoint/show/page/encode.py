"""A page's document as JSON: compact, the same bytes each time, safe inside HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any

from ridgepoint.core import documents
from ridgepoint.show.chart import Area, Axis, Bar, Chart, Entry, Label, Line, Mark
from ridgepoint.show.page import document as contents
from ridgepoint.show.page.document import PageDocument

_CLASSES = (
    *(Chart, Axis, Label, Line, Mark, Area, Bar, Entry),
    *(contents.PageRecord, contents.View, contents.Control, contents.Table, contents.Column),
    *(contents.Row, contents.Cell, contents.Coverage, contents.Subject, contents.Fact),
    *(contents.SourceLine, contents.Advised, contents.RuledOut, contents.Doubt),
)

# Control characters but the end of a line, and those that set the direction of writing.
_ACTING = re.compile(
    "[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]"
)


def page_json(document: PageDocument) -> bytes:
    """Return a document as JSON, without the fields that are as usual.

    What is usual is in its ``defaults``, by class and field.
    """
    defaults = {kind.__name__: _usual(kind) for kind in _CLASSES}
    whole = {one.name: _compact(getattr(document, one.name)) for one in fields(document)}
    return documents.encode_plain({"schema": document.schema, "defaults": defaults, **whole})


def in_script(json: bytes) -> str:
    """Return JSON as the text of a script element, which nothing in it can end.

    Every ``<``, ``>`` and ``&`` can only stand in a string there, where an escape means the same;
    so can the two line separators of Unicode, which end a line of a script.
    """
    text = json.decode()
    for character in ("<", ">", "&", "\u2028", "\u2029"):
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def _usual(kind: type) -> dict[str, Any]:
    """Return the fields of a class that have a default, with it."""
    usual: dict[str, Any] = {}
    for one in fields(kind):
        if one.default is not MISSING:
            usual[one.name] = one.default
        elif one.default_factory is not MISSING:
            usual[one.name] = one.default_factory()
    return usual


def _compact(value: Any) -> Any:
    """Return a value as JSON has it, without the fields that are as usual.

    Texts are shown as they are written there: what would turn them around on the screen, or do
    something else there, becomes a question mark. The reports of records stay as they are.
    """
    if isinstance(value, str):
        return value if value.isprintable() else _ACTING.sub("?", documents.legible(value))
    if is_dataclass(value) and not isinstance(value, type):
        usual = _usual(type(value))
        parts = ((one.name, getattr(value, one.name)) for one in fields(value))
        return {
            name: part if name == "report" else _compact(part)
            for name, part in parts
            if name not in usual or part != usual[name]
        }
    if isinstance(value, Mapping):
        return {name: _compact(part) for name, part in value.items()}
    return [_compact(part) for part in value] if isinstance(value, list | tuple) else value
