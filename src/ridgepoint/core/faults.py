"""What is wrong with the values of a file: where, in plain words, and what to write instead."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import msgspec
from msgspec import inspect

Path = tuple[str | int, ...]
"""Keys, and places in lists, that lead to a value."""

Hook = Callable[[type, object], object]

_AT = re.compile(r"(.*) - at (`key` in )?`\$(.*)`", re.DOTALL)
_STEP = re.compile(r"\[(\.\.\.)\]|\[(\d+)\]|\.([^.\[]+)")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`")
_MISSING = re.compile(r"Object missing required field `(.*)`")
_RANGE = re.compile(r"Expected `\w+` ([<>]=?) (\S+)")
_LENGTH = re.compile(r"Expected `(\w+)` of length (.+?)(?:, got \d+)?")
_TYPE = re.compile(r"Expected `(.*)`, got `.*`")

# By msgspec's name of a type: what it is, and how it is written.
_FORMS = {
    "float": ("a number", "a number such as 0.4"),
    "int": ("a whole number", "a whole number such as 4"),
    "str": ("text", "text in quotes"),
    "bool": ("true or false", "true or false"),
    "object": ("a table", "a table of keys and values"),
    "array": ("a list", "a list such as [1, 2]"),
}
_MOST_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An invalid value in a file.

    Parameters
    ----------
    path : Path
        Keys and indices that lead to the value.
    reason : str
        What is wrong with it.
    remedy : str or None
        What to write instead. None: nothing more specific than to correct it.
    """

    path: Path
    reason: str
    remedy: str | None


def decode_own(kind: type, value: object) -> object:
    """Return an instance of one of our classes, made by its method ``of``; msgspec's hook."""
    of = getattr(kind, "of", None)
    if of is None:
        raise TypeError(f"a {kind.__name__} is not read from files")
    return of(value)


def fault(
    error: msgspec.ValidationError, values: object, kind: object, *, hook: Hook = decode_own
) -> Fault:
    """Return where and why `kind` refuses some values.

    Parameters
    ----------
    error : msgspec.ValidationError
        Raised by `msgspec.convert` for `values`, `kind` and this hook.
    values : object
        Dicts, lists, strings and numbers.
    kind : type
    hook : callable
        Decodes classes that msgspec does not know.
    """
    match = _AT.fullmatch(str(error))
    message, is_key, steps = match.groups() if match else (str(error), None, "")

    def convert(values: object) -> None:
        msgspec.convert(values, kind, dec_hook=hook)

    path = tuple(_located(error, values, f"{steps}[...]" if is_key else steps, convert))
    types = _types(kind, path[:-1] if is_key else path)
    if is_key:
        types = [around.key_type for around in types if isinstance(around, inspect.DictType)]
    if unknown := _UNKNOWN.fullmatch(message):
        names = [field.encode_name for field in _fields(types)]
        return Fault(
            path=(*path, unknown[1]),
            reason="there is no such key",
            remedy=_nearest(unknown[1], names),
        )
    if missing := _MISSING.fullmatch(message):
        return Fault(path=path, reason=f"it lacks {missing[1]}", remedy=f"add {missing[1]}")
    reason, remedy = _explained(message, path[-1] if is_key else at(values, path), types)
    return Fault(path=path, reason=reason, remedy=remedy)


def at(values: Any, path: Iterable[str | int]) -> Any:
    """Return the value to which a path leads."""
    for step in path:
        values = values[step]
    return values


def _explained(
    message: str, value: object, types: Sequence[inspect.Type]
) -> tuple[str, str | None]:
    text = repr(value)
    text = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
    if message.startswith("Invalid enum value"):
        allowed = [str(word) for kind in types for word in getattr(kind, "values", ())]
        return f"{text} is not one of its values", f"use {', '.join(allowed)}"
    if limits := _RANGE.fullmatch(message):
        limit = f"{limits[1]} {float(limits[2]):g}"
        return f"it must be {limit}, got {text}", f"write a number {limit}"
    if length := _LENGTH.fullmatch(message):
        noun = _FORMS[length[1]][0]
        if length[2] == ">= 1":
            return "it is empty", f"write {noun} that is not empty, or leave this key out"
        return f"it must be {noun} of length {length[2]}, got {text}", None
    wanted = _TYPE.fullmatch(message)
    forms = [_FORMS[name] for name in wanted[1].split(" | ") if name in _FORMS] if wanted else []
    if forms:
        nouns, ways = (_either(words) for words in zip(*forms, strict=True))
        return f"{text} is not {nouns}", f"write {ways}"
    reason, _, remedy = message.partition("; ")  # of a class of ours
    return reason, remedy or None


def _either(words: Sequence[str]) -> str:
    return " or ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def shown(path: Path) -> str:
    """Return a path as it is written in TOML, places in lists in brackets."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def _nearest(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(known)}"


def _located(
    error: msgspec.ValidationError, values: Any, steps: str, convert: Callable[[Any], object]
) -> Iterator[str | int]:
    """Yield the path of an error; msgspec writes ``[...]`` for any key of a dict.

    That key is the first whose dict raises the same error when it has no other key.
    """
    path: list[str | int] = []
    for is_any, place, name in _STEP.findall(steps):
        step = name or (int(place) if place else None)
        if is_any:
            alone = ((key, _with_only(values, path, key)) for key in at(values, path))
            step = next((key for key, part in alone if _is_refused(part, error, convert)), None)
        if step is None:
            return
        path.append(step)
        yield step


def _is_refused(
    values: object, error: msgspec.ValidationError, convert: Callable[[Any], object]
) -> bool:
    """Return whether converting values raises this error."""
    try:
        convert(values)
    except msgspec.ValidationError as other:
        return str(other) == str(error)
    return False


def _with_only(values: Any, path: Sequence[str | int], key: str) -> Any:
    """Return values in which the dict at a path keeps only one key."""
    if not path:
        return {key: values[key]}
    step, rest = path[0], path[1:]
    changed = _with_only(values[step], rest, key)
    if isinstance(values, dict):
        return {**values, step: changed}
    return [changed if place == step else value for place, value in enumerate(values)]


def _types(kind: Any, path: Path) -> list[inspect.Type]:
    """Return the types that may stand at a path."""
    types = _alternatives(inspect.type_info(kind))
    for step in path:
        inner = chain.from_iterable(_within(around, step) for around in types)
        types = list(chain.from_iterable(map(_alternatives, inner)))
    return types


def _alternatives(kind: inspect.Type) -> list[inspect.Type]:
    return list(kind.types) if isinstance(kind, inspect.UnionType) else [kind]


def _within(kind: inspect.Type, step: str | int) -> list[inspect.Type]:
    match kind:
        case inspect.StructType() | inspect.DataclassType():
            return [field.type for field in kind.fields if field.encode_name == step]
        case inspect.DictType():
            return [kind.value_type]
        case inspect.ListType() | inspect.VarTupleType():
            return [kind.item_type]
        case inspect.TupleType() if isinstance(step, int):
            return list(kind.item_types[step : step + 1])
        case _:
            return []


def _fields(types: Iterable[inspect.Type]) -> list[inspect.Field]:
    structs = (kind for kind in types if isinstance(kind, inspect.StructType))
    return [field for struct in structs for field in struct.fields]
