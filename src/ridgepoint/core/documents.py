"""Values as versioned JSON, and back: the one door for everything kept in a file.

A document is one JSON object: ``schema`` (this module's number), ``kind``, and the fields of the
value. Unknown is ``null``; a document never holds NaN or infinity.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
import numpy as np

from ridgepoint.core.errors import InvalidDocument
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.faults import fault, shown
from ridgepoint.core.json_lines import line_of
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.operators import OperatorProfile

SCHEMA = 1
_A_RECORD = (
    "give the number or the name of a record of 'ridgepoint list', or a file written by "
    "'ridgepoint export'"
)
_KINDS: dict[type, str] = {
    Machine: "machine",
    MeasuredCluster: "cluster",
    Measurement: "measurement",
    Timing: "timing",
    OperatorProfile: "operators",
}
_REMEDIES = {
    "machine": "give a file written by 'ridgepoint machine --json'",
    "cluster": "give a file written by 'mpirun -n P ridgepoint machine --json'",
    # 'run --json' writes a report for other programs, which holds less than a record.
    "measurement": _A_RECORD,
    "timing": _A_RECORD,
    "operators": _A_RECORD,
}

_DERIVED: dict[type, tuple[str, ...]] = {}

# What msgspec raises besides its own error: text that is not UTF-8 (or a lone surrogate), and
# objects nested deeper than the interpreter's stack.
_UNREADABLE = (msgspec.DecodeError, UnicodeError, RecursionError)

Value = TypeVar("Value")


def document_kind(
    kind: str, *, remedy: str, derived: tuple[str, ...] = ()
) -> Callable[[type[Value]], type[Value]]:
    """Return a decorator that registers a class of values as a kind of document.

    Parameters
    ----------
    kind : str
        Kind, as written in the document.
    remedy : str
        What to do about a file that does not hold such a document, for messages.
    derived : tuple of str
        Properties that the document holds too, for other programs; they are not read back.
    """

    def named(value: type[Value]) -> type[Value]:
        _KINDS[value], _REMEDIES[kind], _DERIVED[value] = kind, remedy, derived
        return value

    return named


def stored_kinds() -> dict[str, tuple[type, tuple[str, ...]]]:
    """Return the registered class of each kind, and its properties that documents hold too."""
    return {kind: (value, _DERIVED.get(value, ())) for value, kind in _KINDS.items()}


class _Header(msgspec.Struct):
    schema: int
    kind: str | None = None


def _estimate_fields(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate's statistics and samples as every document holds them."""
    fields: dict[str, Any] = {
        "median": estimate.median,
        "q1": estimate.q1,
        "q3": estimate.q3,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "samples": list(estimate.samples),
    }
    if estimate.batches is not None:
        fields["batches"] = estimate.batches
    if estimate.interval is not None:
        fields["interval"] = list(estimate.interval)
    return fields


def _encode_hook(value: object) -> object:
    if isinstance(value, Estimate):
        return _estimate_fields(value)
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):  # a dict that cannot be written to
        return dict(value)
    raise TypeError(f"a {type(value).__name__} has no JSON form")


def _decode_hook(kind: type, value: object) -> object:
    if kind is not Estimate:
        raise TypeError(f"a {kind.__name__} has no JSON form")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Estimate([_number(value)])
    if not isinstance(value, dict):
        raise ValueError("an estimate is a number or an object with `samples` or `median`")
    if "samples" not in value:
        if "median" not in value:
            raise ValueError("an estimate lacks both `samples` and `median`")
        return Estimate([_number(value["median"])])
    samples = value["samples"]
    if not isinstance(samples, list):
        raise ValueError("`samples` must be a list of numbers")
    batches = value.get("batches")
    if batches is not None and (isinstance(batches, bool) or not isinstance(batches, int)):
        raise ValueError(f"`batches` must be a whole number, got {batches!r}")
    interval = value.get("interval")
    if interval is not None and (not isinstance(interval, list) or len(interval) != 2):
        raise ValueError(f"`interval` must be two numbers, got {interval!r}")
    ends = None if interval is None else (_number(interval[0]), _number(interval[1]))
    estimate = Estimate(map(_number, samples), batches=batches, interval=ends)
    stated = value.get("median", estimate.median)
    # Somebody who edits the median by hand must not be ignored silently.
    if abs(_number(stated) - estimate.median) > 1e-9 * abs(estimate.median):
        raise ValueError(
            "`median` is not the median of `samples`: correct it, or give only one of the two"
        )
    return estimate


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"expected a number, got {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError("a number is too large") from None


def plain(value: object) -> Any:
    """Return a value, or values in lists and dicts, as plain dicts, lists, numbers and strings."""
    return msgspec.to_builtins(value, enc_hook=_encode_hook)


def fields_of(value: object, *names: str) -> dict[str, Any]:
    """Return some fields and properties of a value by name; all are None if the value is None.

    Examples
    --------
    >>> fields_of(Estimate([1.0, 3.0]), "median", "n"), fields_of(None, "median")
    ({'median': 2.0, 'n': 2}, {'median': None})
    """
    return {name: None if value is None else getattr(value, name) for name in names}


def report(kind: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a command's results as the fields of a document for other programs.

    Ridgepoint never reads it back. The keys are a contract; floats are in SI base units;
    unknown and infinite values are ``null``.

    Parameters
    ----------
    kind : str
    fields : mapping
        Values by key; results may be given as they are.
    """
    document = {"schema": SCHEMA, "kind": kind, **plain(fields)}
    # As a reader of the JSON gets it: lists for tuples, and None for infinite values.
    fields_as_read: dict[str, Any] = msgspec.json.decode(_to_json(document))
    return fields_as_read


def to_fields(value: object) -> dict[str, Any]:
    """Return a value as the fields of its document."""
    derived = plain(fields_of(value, *_DERIVED.get(type(value), ())))
    return {"schema": SCHEMA, "kind": _KINDS[type(value)], **plain(value), **derived}


def encode(value: object) -> bytes:
    """Return a value as a JSON document, UTF-8."""
    return _to_json(to_fields(value))


def encode_plain(fields: Mapping[str, Any]) -> bytes:
    """Return plain dicts, lists, numbers and strings as JSON on one line, UTF-8."""
    return _to_json(fields)


def render(fields: dict[str, Any]) -> str:
    """Return a document as indented JSON text that ends with a newline."""
    return msgspec.json.format(_to_json(fields), indent=2).decode() + "\n"


def legible(text: str) -> str:
    """Return a text with bytes that are not UTF-8, as file names may hold them, escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def _to_json(fields: object) -> bytes:
    try:
        return msgspec.json.encode(fields)
    except UnicodeEncodeError:
        return msgspec.json.encode(_all_legible(fields))


def _all_legible(value: object) -> object:
    if isinstance(value, str):
        return legible(value)
    if isinstance(value, dict):
        return {_all_legible(key): _all_legible(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_all_legible(part) for part in value]
    return value


def decode(document: bytes | str, kind: type[Value], *, origin: str) -> Value:
    """Return the value that a JSON document holds.

    Parameters
    ----------
    document : bytes or str
    kind : type
        `Machine`, `MeasuredCluster`, `Measurement`, `Timing`, or as `document_kind` named.
    origin : str
        Where the document comes from, for messages.

    Raises
    ------
    InvalidDocument
        If it is not JSON, of another kind or of a newer schema, or if a field is missing or
        impossible; the message names the field.
    """
    what = f"cannot read {origin} as a {_KINDS[kind]}"
    header = _header(document, what, _REMEDIES[_KINDS[kind]])
    if header.kind not in (_KINDS[kind], None):
        raise InvalidDocument(
            what,
            reason=f"it holds a document of kind {header.kind!r}",
            remedy=_REMEDIES[_KINDS[kind]],
        )
    try:
        return msgspec.json.decode(document, type=kind, dec_hook=_decode_hook)
    except msgspec.ValidationError as error:
        text = document if isinstance(document, str) else document.decode()
        # Not by msgspec, which refuses 1e999 whatever it is read as.
        found = fault(error, json.loads(text), kind, hook=_decode_hook)
        # Documents in the archive are on one line.
        line = f"line {line_of(text, found.path)}" if "\n" in text.strip() else ""
        place = ", ".join(part for part in (line, shown(found.path)) if part)
        raise InvalidDocument(
            what,
            reason=f"{place}: {found.reason}" if place else found.reason,
            remedy=found.remedy or "correct this field",
        ) from error
    except _UNREADABLE as error:
        raise InvalidDocument(what, reason=str(error), remedy="correct this field") from error


def _header(document: bytes | str, what: str, remedy: str) -> _Header:
    """Return the header of a document of a known schema."""
    try:
        header = msgspec.json.decode(document, type=_Header)
    except _UNREADABLE as error:
        raise InvalidDocument(what, reason=str(error), remedy=remedy) from error
    if header.schema > SCHEMA:
        raise InvalidDocument(
            what,
            reason=f"its schema is {header.schema}, and this version reads schemas up to {SCHEMA}",
            remedy="use a newer Ridgepoint",
        )
    if header.schema < 1:
        raise InvalidDocument(
            what, reason=f"its schema is {header.schema}, but schemas begin at 1", remedy=remedy
        )
    return header


def require_known(document: bytes, *, origin: str) -> None:
    """Refuse a kept document of a newer schema, without reading all of it.

    Raises
    ------
    InvalidDocument
    """
    _header(document, f"cannot read {origin}", "restore a copy of the archive")


def kind_of(document: bytes | str) -> str | None:
    """Return the kind that a JSON document states, or None if it states none."""
    try:
        return msgspec.json.decode(document, type=_Header).kind
    except _UNREADABLE:
        return None
