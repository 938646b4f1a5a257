"""Files that describe a microarchitecture: where they are, and what they may say.

The package's lie beside its code; a user's, of the same form, in a folder of their own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import platformdirs

from ridgepoint.core.errors import InvalidDocument
from ridgepoint.core.toml import read

FOLDER_VARIABLE = "RIDGEPOINT_MICROARCHITECTURES"
"""Environment variable that names the folder of the user's files."""

_SHIPPED = files("ridgepoint") / "data" / "microarchitectures"

_WHAT = "the microarchitecture"
_FORM = "docs/theory.md shows the form"
_REMEDY = f"correct the file or remove it; {_FORM}"

_Text = Annotated[str, msgspec.Meta(min_length=1)]
# No core comes near the upper end: it keeps infinity out.
_Positive = Annotated[float, msgspec.Meta(gt=0, le=1e6)]
Width = Literal["scalar", "128", "256", "512"]
_PerCycle = Annotated[dict[Width, _Positive], msgspec.Meta(min_length=1)]


class _Strict(msgspec.Struct, forbid_unknown_fields=True):
    """What a file says under one key; no other keys than these."""


class _Sourced(_Strict, kw_only=True):
    source: _Text
    ports: _Text | None = None
    note: _Text | None = None


class Operation(_Sourced, kw_only=True):
    """Instructions of one operation that a core starts per cycle, by width."""

    per_cycle: _PerCycle

    @property
    def widths(self) -> Iterable[Width]:
        """Widths of which something is said."""
        return self.per_cycle


class Mix(_Sourced, kw_only=True):
    """Multiply-adds and additions that a core starts in the same cycle, by width."""

    fma: _PerCycle
    add: _PerCycle

    def __post_init__(self) -> None:
        if self.fma.keys() != self.add.keys():
            raise ValueError("`fma` and `add` must give the same widths")

    @property
    def widths(self) -> Iterable[Width]:
        """Widths of which something is said."""
        return self.fma


class Tile(_Sourced, kw_only=True):
    """Cycles from one product of two whole tiles of AMX to the next."""

    cycles: _Positive


class _Float(_Strict, rename={"fma_add": "fma+add"}):
    add: Operation | None = None
    mul: Operation | None = None
    fma: Operation | None = None
    fma_add: Mix | None = None


class _Half(_Float, rename={"fma_add": "fma+add"}):
    amx: Tile | None = None


class _Integer(_Strict):
    add: Operation | None = None
    logic: Operation | None = None
    mul: Operation | None = None
    compare: Operation | None = None


class _Dot(_Strict):
    dot: Operation | None = None
    amx: Tile | None = None


class Level(_Sourced, kw_only=True):
    """Bytes that one core moves per cycle: towards it, from it, and both in one cycle."""

    load_bytes: _Positive
    store_bytes: _Positive | None = None
    total_bytes: _Positive | None = None

    def __post_init__(self) -> None:
        if self.total_bytes is None:
            return
        if self.store_bytes is None:
            raise ValueError("`total_bytes` needs `store_bytes`")
        if not (
            max(self.load_bytes, self.store_bytes)
            <= self.total_bytes
            <= self.load_bytes + self.store_bytes
        ):
            raise ValueError("`total_bytes` must be at least each of both, at most their sum")


class Tables(_Strict):
    """Tables of figures; ``float`` and ``integer`` stand for two resources each."""

    float: _Float | None = None
    fp64: _Float | None = None
    fp32: _Float | None = None
    fp16: _Half | None = None
    bf16: _Dot | None = None
    integer: _Integer | None = None
    int64: _Integer | None = None
    int32: _Integer | None = None
    int8: _Dot | None = None
    l1: Level | None = None
    l2: Level | None = None
    l3: Level | None = None


class Variant(Tables, kw_only=True):
    """Figures of some models: those whose name contains one of `cpus`, in any case of letters.

    Where no variant's `cpus` are in the name, it may be any of those with `or_measured`: what the
    multiply-adds reach tells which.
    """

    cpus: Annotated[list[_Text], msgspec.Meta(min_length=1)]
    or_measured: bool = False
    note: _Text | None = None


class Document(Tables, kw_only=True):
    """A file. Where `same_as` names another, that one's figures hold, apart from those here."""

    name: _Text
    note: _Text | None = None
    same_as: _Text | None = None
    same_as_source: _Text | None = None
    variant: tuple[Variant, ...] = ()

    def __post_init__(self) -> None:
        if (self.same_as is None) != (self.same_as_source is None):
            raise ValueError("`same_as` and `same_as_source` must be given together")


def user_folder() -> Path:
    """Return the folder of the user's own files.

    Raises
    ------
    InvalidDocument
        If the environment variable names none; the usual folder need not exist.
    """
    chosen = os.environ.get(FOLDER_VARIABLE)
    if not chosen:
        try:
            return platformdirs.user_config_path("ridgepoint") / "microarchitectures"
        except RuntimeError:  # there is no home directory: named for what is said, not found
            return Path("~/.config/ridgepoint/microarchitectures")
    if not os.path.isdir(chosen):
        raise InvalidDocument(
            f"cannot find microarchitectures in {chosen!r}",
            reason="there is no such folder",
            remedy=f"correct the environment variable {FOLDER_VARIABLE}, or unset it",
        )
    return Path(chosen)


def find(
    microarchitecture: str, folder: Path, seen: tuple[str, ...]
) -> tuple[str, Document] | None:
    """Return the first file of a microarchitecture and its path: the user's, or the package's."""
    # What cannot be the name of a CPU is not made a path.
    if not re.fullmatch(r"[\w.+-]{1,64}", microarchitecture):
        return None
    places: tuple[Traversable, ...] = (folder, _SHIPPED)
    for place in places:
        path = place / f"{microarchitecture}.toml"
        if str(path) in seen:
            continue
        try:
            return str(path), read(path, Document, what=_WHAT, remedy=_REMEDY, form=_FORM)
        except InvalidDocument as error:
            if not isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
                raise
    return None


def wrong(path: str, reason: str) -> InvalidDocument:
    """Return the error that a file is not as it should be."""
    return InvalidDocument(
        f"cannot read {_WHAT} of {path}",
        reason=reason,
        remedy=_REMEDY,
    )
