"""What a microarchitecture can do in one cycle, according to documents: theory beside measurement.

One TOML file describes one microarchitecture, called as LLVM calls the host's CPU; users add
files of the same form in a folder of their own (docs/theory.md). A file says how many
instructions of one operation and width a core starts per cycle, and what a figure is in a
ceiling's unit follows here:

    arithmetic   instructions/cycle x lanes x operations of a lane
    fma+add      (2 x fma/cycle + add/cycle) x lanes, both in the same cycles
    memory       n / max(r/load, w/store, (r + w)/total)   byte/cycle as the program counts

where a pattern of n streams moves r reads and w writes at a level: what its instructions say at
L1; below, a stored line is read first (write-allocate), so that r = n. What comes from below
passes through L1 too, whose limit holds as well. Without `total_bytes` it is not known how loads
and stores share a cycle, and patterns of both have no figure.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import platformdirs

from ridgepoint.errors import InvalidDocument

FOLDER_VARIABLE = "RIDGEPOINT_MICROARCHITECTURES"
"""Environment variable that names the folder of the user's files."""

_SHIPPED = files("ridgepoint") / "data" / "microarchitectures"
_GROUPS = {"float": ("fp64", "fp32"), "integer": ("int64", "int32")}
_LANE_BITS = {"fp64": 64, "int64": 64, "fp16": 16}
"""Of a lane, where they are not 32: dot products too add up in lanes of 32 bit."""

_LANE_WORK = {"fma": 2, "bf16 dot": 4, "int8 dot": 8}
"""Operations of a lane, where it is not one: dot products multiply and add two or four pairs."""

_STREAMS = {"load": (1, 0), "store": (0, 1), "copy": (1, 1), "triad": (2, 1)}
"""Streams that a pattern loads and stores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What one core does in one cycle at most.

    Parameters
    ----------
    value : float
        In `unit`.
    unit : str
        ``flop/cycle``, ``op/cycle`` or ``byte/cycle``.
    rule : str
        How `value` follows from what the file says.
    source : str
        The document that says it.
    ports : str or None
        The execution ports that do it; None: not said.
    note : str or None
        What to know when comparing with it.
    """

    value: float
    unit: str
    rule: str
    source: str
    ports: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Theory:
    """The figures of one microarchitecture.

    Parameters
    ----------
    microarchitecture : str
        As LLVM names it.
    name : str
        As its vendor names it.
    note : str or None
        What to know about the file as a whole.
    figures : mapping of (str, str) to Figure
        By resource and name of a ceiling.
    """

    microarchitecture: str
    name: str
    note: str | None = None
    figures: Mapping[tuple[str, str], Figure] = field(default_factory=dict)

    def per_cycle(self, resource: str, name: str) -> Figure | None:
        """Return the figure of a ceiling such as ``fp64``, ``fma 256-bit``; None: not known."""
        return self.figures.get((resource, name))


def load_theory(
    microarchitecture: str | None, *, cpu: str | None = None, extra: Path | None = None
) -> Theory | None:
    """Return what is known of a microarchitecture, or None.

    Parameters
    ----------
    microarchitecture : str or None
        As LLVM names the host's CPU.
    cpu : str or None
        Model name: some figures hold for some models only. None: not known.
    extra : Path, optional
        Folder of files that come before those of the package; `user_folder` if not given.

    Raises
    ------
    InvalidDocument
        If the file of this microarchitecture, or one that it refers to, is not as it should be.

    Examples
    --------
    >>> haswell = load_theory("haswell")
    >>> haswell.per_cycle("fp64", "fma 256-bit").rule
    '2 instructions/cycle x 4 lanes x 2 flop'
    >>> load_theory("generic") is None
    True
    """
    if microarchitecture is None:
        return None
    folder = extra or user_folder()
    known = _collect(microarchitecture, cpu, folder, ())
    if known is None:
        return None
    return Theory(
        microarchitecture=microarchitecture,
        name=known.name,
        note=known.note,
        figures=known.figures | _memory(known.levels),
    )


def user_folder() -> Path:
    """Return the folder of the user's own files; it need not exist."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen:
        return Path(chosen)
    return platformdirs.user_config_path("ridgepoint") / "microarchitectures"


_Text = Annotated[str, msgspec.Meta(min_length=1)]
# No core comes near the upper end: it keeps infinity out.
_Positive = Annotated[float, msgspec.Meta(gt=0, le=1e6)]
_Width = Literal["scalar", "128", "256", "512"]
_PerCycle = Annotated[dict[_Width, _Positive], msgspec.Meta(min_length=1)]


class _Strict(msgspec.Struct, forbid_unknown_fields=True):
    pass


class _Sourced(_Strict, kw_only=True):
    source: _Text
    ports: _Text | None = None
    note: _Text | None = None


class _Operation(_Sourced, kw_only=True):
    per_cycle: _PerCycle

    @property
    def widths(self) -> Iterable[_Width]:
        return self.per_cycle


class _Mix(_Sourced, kw_only=True):
    fma: _PerCycle
    add: _PerCycle

    def __post_init__(self) -> None:
        if self.fma.keys() != self.add.keys():
            raise ValueError("`fma` and `add` must give the same widths")

    @property
    def widths(self) -> Iterable[_Width]:
        return self.fma


class _Float(_Strict, rename={"fma_add": "fma+add"}):
    add: _Operation | None = None
    mul: _Operation | None = None
    fma: _Operation | None = None
    fma_add: _Mix | None = None


class _Integer(_Strict):
    add: _Operation | None = None
    logic: _Operation | None = None
    mul: _Operation | None = None
    compare: _Operation | None = None


class _Dot(_Strict):
    dot: _Operation


class _Level(_Sourced, kw_only=True):
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


class _Figures(_Strict):
    """Tables of figures; ``float`` and ``integer`` stand for two resources each."""

    float: _Float | None = None
    fp64: _Float | None = None
    fp32: _Float | None = None
    fp16: _Float | None = None
    bf16: _Dot | None = None
    integer: _Integer | None = None
    int64: _Integer | None = None
    int32: _Integer | None = None
    int8: _Dot | None = None
    l1: _Level | None = None
    l2: _Level | None = None
    l3: _Level | None = None


class _Variant(_Figures, kw_only=True):
    """Figures of some models: those whose name contains one of `cpus`, in any case of letters."""

    cpus: Annotated[list[_Text], msgspec.Meta(min_length=1)]
    note: _Text | None = None


class _File(_Figures, kw_only=True):
    name: _Text
    note: _Text | None = None
    same_as: _Text | None = None
    same_as_source: _Text | None = None
    variant: tuple[_Variant, ...] = ()

    def __post_init__(self) -> None:
        if (self.same_as is None) != (self.same_as_source is None):
            raise ValueError("`same_as` and `same_as_source` belong together")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What the files say of one CPU, taken together."""

    name: str
    note: str | None
    figures: dict[tuple[str, str], Figure]
    levels: dict[str, _Level]


def _collect(
    microarchitecture: str, cpu: str | None, folder: Path, seen: tuple[str, ...]
) -> _Known | None:
    """Return what the first file not yet seen says, on top of the one it refers to."""
    found = _find(microarchitecture, folder, seen)
    if found is None:
        return None
    origin, file = found
    base = _Known(name=file.name, note=None, figures={}, levels={})
    if file.same_as is not None:
        other = _collect(file.same_as, cpu, folder, (*seen, origin))
        if other is None:
            raise _wrong(origin, f"`same_as` names {file.same_as!r}, of which there is no file")
        base = _attributed(other, f"as {file.same_as}, {file.same_as_source}")
    parts: list[_File | _Variant] = [file, *_variants(file, cpu)]
    figures, levels = dict(base.figures), dict(base.levels)
    for part in parts:
        figures |= _arithmetic(part)
        levels |= _levels(part)
    notes = [base.note, *(part.note for part in parts)]
    return _Known(
        name=file.name,
        note="; ".join(note for note in notes if note) or None,
        figures=figures,
        levels=levels,
    )


def _find(microarchitecture: str, folder: Path, seen: tuple[str, ...]) -> tuple[str, _File] | None:
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
            return str(path), _parse(path.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise _wrong(str(path), (error.strerror or str(error)).lower()) from error
        # Not TOML, not UTF-8, not this form, or nested deeper than the interpreter's stack.
        except (ValueError, msgspec.ValidationError, RecursionError) as error:
            raise _wrong(str(path), str(error)) from error
    return None


def _parse(document: bytes) -> _File:
    return msgspec.convert(tomllib.loads(document.decode()), _File)


def _wrong(path: str, reason: str) -> InvalidDocument:
    return InvalidDocument(
        f"cannot read {path} as a microarchitecture",
        reason=reason,
        remedy="correct that key (docs/theory.md shows the form), or remove the file",
    )


def _variants(file: _File, cpu: str | None) -> list[_Variant]:
    """Return the variants that a model of this name is."""
    model = (cpu or "").lower()
    return [v for v in file.variant if any(part.lower() in model for part in v.cpus)]


def _attributed(known: _Known, prefix: str) -> _Known:
    """Return what is known with the reason why it holds here before every source."""
    return replace(
        known,
        figures={
            key: replace(figure, source=f"{prefix}: {figure.source}")
            for key, figure in known.figures.items()
        },
        levels={
            name: msgspec.structs.replace(level, source=f"{prefix}: {level.source}")
            for name, level in known.levels.items()
        },
    )


def _arithmetic(said: _Figures) -> dict[tuple[str, str], Figure]:
    """Return the figures of arithmetic by resource and name of a ceiling."""
    figures = {}
    for table_name in _Figures.__struct_fields__:
        table = getattr(said, table_name)
        if table is None or isinstance(table, _Level):
            continue
        for resource in _GROUPS.get(table_name, (table_name,)):
            for operation in table.__struct_encode_fields__:
                entry = getattr(table, operation.replace("+", "_"))
                for width in entry.widths if entry is not None else ():
                    name = f"{operation} {width if width == 'scalar' else f'{width}-bit'}"
                    figures[resource, name] = _operation(resource, operation, entry, width)
    return figures


def _operation(resource: str, operation: str, entry: _Operation | _Mix, width: _Width) -> Figure:
    """Return the figure of one operation of one width."""
    lanes = 1 if width == "scalar" else int(width) // _LANE_BITS.get(resource, 32)
    kind = "flop" if "fp" in resource or resource == "bf16" else "op"
    counted = f"{lanes} lane{'s' if lanes > 1 else ''}"
    if isinstance(entry, _Mix):
        fma, add = entry.fma[width], entry.add[width]
        value = (2 * fma + add) * lanes
        rule = f"(2 x {fma:g} fma/cycle + {add:g} add/cycle) x {counted}"
    else:
        work = _LANE_WORK.get(operation) or _LANE_WORK.get(f"{resource} {operation}", 1)
        value = entry.per_cycle[width] * lanes * work
        rule = f"{entry.per_cycle[width]:g} instructions/cycle x {counted} x {work} {kind}"
    return Figure(
        value=value,
        unit=f"{kind}/cycle",
        rule=rule,
        source=entry.source,
        ports=entry.ports,
        note=entry.note,
    )


def _levels(said: _Figures) -> dict[str, _Level]:
    tables = {name: getattr(said, name) for name in _Figures.__struct_fields__}
    return {name: table for name, table in tables.items() if isinstance(table, _Level)}


def _memory(levels: dict[str, _Level]) -> dict[tuple[str, str], Figure]:
    """Return the figures of memory levels by level and pattern."""
    figures: dict[tuple[str, str], Figure] = {}
    for name, level in sorted(levels.items()):  # l1 first
        for pattern, (loads, stores) in _STREAMS.items():
            reads = loads if name == "l1" else loads + stores
            found = _transfer(level, loads + stores, reads, stores)
            first = figures.get(("l1", pattern))
            if found is None:
                continue
            value, rule = found
            if first is not None and first.value < value:
                value, rule = first.value, f"{first.rule}, at l1"
            figures[name, pattern] = Figure(
                value=value,
                unit="byte/cycle",
                rule=rule,
                source=level.source,
                ports=level.ports,
                note=level.note,
            )
    return figures


def _transfer(level: _Level, streams: int, reads: int, writes: int) -> tuple[float, str] | None:
    """Return byte per cycle as the program counts, and its rule; None: not known."""
    limits = []  # cycles per byte of each stream
    if reads:
        limits.append((reads, level.load_bytes, "read"))
    if writes:
        if level.store_bytes is None:
            return None
        limits.append((writes, level.store_bytes, "written"))
    if reads and writes:
        if level.total_bytes is None:
            return None
        limits.append((reads + writes, level.total_bytes, "moved"))
    terms = [f"{n}/{most:g} {verb}" for n, most, verb in limits]
    value = streams / max(n / most for n, most, _ in limits)
    if len(terms) == 1:
        return value, f"{limits[0][1]:g} byte/cycle {limits[0][2]}"
    return value, f"{streams} / max({', '.join(terms)}) byte/cycle"
