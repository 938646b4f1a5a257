"""What a microarchitecture can do in one cycle, according to documents: theory beside measurement.

One TOML file describes one microarchitecture, called as LLVM calls the host's CPU; users add
files of the same form in a folder of their own (docs/theory.md). A file says how many
instructions of one operation and width a core starts per cycle, and what a figure is in a
ceiling's unit follows here:

    arithmetic   instructions/cycle x lanes x operations of a lane
    fma+add      (2 x fma/cycle + add/cycle) x lanes, both in the same cycles
    memory       n / max(r/load, w/store, (r + w)/total)   byte/cycle as the program counts
    amx          operations of one product of whole tiles / cycles from one to the next
    addressing   elements of 64 bit that L1 loads/cycle    BOP/cycle, with the widest vector
    mixed        add + addressing, both in the same cycles

where a pattern of n streams moves r reads and w writes at a level: what its instructions say at
L1; below, a stored line is read first (write-allocate), so that r = n. What comes from below
passes through L1 too, whose limit holds as well. Without `total_bytes` it is not known how loads
and stores share a cycle, and patterns of both have no figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from ridgepoint.published.theory_file import (
    Document,
    Level,
    Mix,
    Operation,
    Tables,
    Tile,
    Variant,
    Width,
    find,
    user_folder,
    wrong,
)

_GROUPS = {"float": ("fp64", "fp32"), "integer": ("int64", "int32")}
_LANE_BITS = {"fp64": 64, "int64": 64, "fp16": 16}
"""Of a lane, where they are not 32: dot products too add up in lanes of 32 bit."""

_LANE_WORK = {"fma": 2, "bf16 dot": 4, "int8 dot": 8}
"""Operations of a lane, where it is not one: dot products multiply and add two or four pairs."""

_TILE_WORK = {"bf16": 16384, "fp16": 16384, "int8": 32768}
"""Operations of one product of whole tiles of AMX, 16 rows of 64 byte each: 16 x 16 sums of 32
products of bf16 or fp16, or of 64 of int8; a product and a sum each."""

_BASIC = ("add", "logic", "compare")
"""Operations of int64 that are basic operations, one each."""

_STREAMS = {"load": (1, 0), "store": (0, 1), "copy": (1, 1), "triad": (2, 1), "mix 2:1": (2, 1)}
"""Streams that a pattern loads and stores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What one core does in one cycle at most.

    Parameters
    ----------
    value : float
        In `unit`.
    unit : str
        ``flop/cycle``, ``op/cycle``, ``BOP/cycle`` or ``byte/cycle``.
    rule : str
        How `value` follows from what the file says.
    source : str
        The document that says it.
    ports : str or None
        Execution ports that do it; None: not stated.
    note : str or None
        Remark for comparisons with the figure; None: none.
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
        LLVM's name.
    name : str
        The vendor's name.
    note : str or None
        Remark about the file as a whole; None: none.
    figures : mapping of (str, str) to Figure
        Figures by resource and name of a ceiling.
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
    """Return the known figures of a microarchitecture; None: none are known.

    Parameters
    ----------
    microarchitecture : str or None
        LLVM's name of the host's CPU; None: unknown.
    cpu : str or None
        Model name: some figures hold for some models only. None: not known.
    extra : Path, optional
        Folder of files that come before those of the package; the user's if not given.

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
    return next(iter(load_choices(microarchitecture, cpu=cpu, extra=extra)), None)


def load_choices(
    microarchitecture: str, *, cpu: str | None = None, extra: Path | None = None
) -> tuple[Theory, ...]:
    """Return every theory that a model of a microarchitecture may have.

    Several where models differ and this one's name does not tell which it is: what the file says
    of any model comes first, then each. Empty: no file describes it.

    Parameters
    ----------
    microarchitecture, cpu, extra
        As for `load_theory`, and raises as that.
    """
    folder = extra or user_folder()
    known = _collect(microarchitecture, cpu, folder, ())
    if known is None:
        return ()
    if not known.undecided:
        return (_theory(microarchitecture, known),)
    each = (
        _collect(microarchitecture, name, folder, ()) for name in dict.fromkeys(known.undecided)
    )
    return tuple(_theory(microarchitecture, one) for one in (known, *each) if one is not None)


def _theory(microarchitecture: str, known: _Known) -> Theory:
    return Theory(
        microarchitecture=microarchitecture,
        name=known.name,
        note="; ".join(note for note in (known.note, *known.variant_notes) if note) or None,
        figures=_with_basic_operations(known.figures | _memory(known.levels)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What the files say of one CPU, taken together.

    Where its name does not tell which variant it is, `undecided` are names that do: one of each.
    """

    name: str
    note: str | None
    variant_notes: tuple[str, ...]
    undecided: tuple[str, ...]
    figures: dict[tuple[str, str], Figure]
    levels: dict[str, Level]


def _collect(
    microarchitecture: str, cpu: str | None, folder: Path, seen: tuple[str, ...]
) -> _Known | None:
    """Return what the first file not yet seen says, on top of the one it refers to."""
    found = find(microarchitecture, folder, seen)
    if found is None:
        return None
    origin, file = found
    base = _Known(name=file.name, note=None, variant_notes=(), undecided=(), figures={}, levels={})
    if file.same_as is not None:
        other = _collect(file.same_as, cpu, folder, (*seen, origin))
        if other is None:
            raise wrong(origin, f"`same_as` names {file.same_as!r}, which has no file")
        base = _attributed(other, f"as {file.same_as}, {file.same_as_source}")
    variants = _variants(file, cpu)
    figures, levels = dict(base.figures), dict(base.levels)
    for part in (file, *variants):
        figures |= _arithmetic(part)
        levels |= _levels(part)
    open_to = () if variants else tuple(v.cpus[0] for v in file.variant if v.or_measured)
    return _Known(
        name=file.name,
        undecided=open_to or (() if variants else base.undecided),
        note=file.note,  # what is said of another CPU as a whole may be wrong of this one
        variant_notes=(*base.variant_notes, *(v.note for v in variants if v.note)),
        figures=figures,
        levels=levels,
    )


def _variants(file: Document, cpu: str | None) -> list[Variant]:
    """Return the variants that hold for a model of this name."""
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


def _arithmetic(said: Tables) -> dict[tuple[str, str], Figure]:
    """Return the figures of arithmetic by resource and name of a ceiling."""
    figures = {}
    for table_name in Tables.__struct_fields__:
        table = getattr(said, table_name)
        if table is None or isinstance(table, Level):
            continue
        for resource in _GROUPS.get(table_name, (table_name,)):
            for operation in table.__struct_encode_fields__:
                entry = getattr(table, operation.replace("+", "_"))
                if isinstance(entry, Tile):
                    figures[resource, operation] = _tile(resource, entry)
                    continue
                for width in entry.widths if entry is not None else ():
                    name = f"{operation} {width if width == 'scalar' else f'{width}-bit'}"
                    figures[resource, name] = _operation(resource, operation, entry, width)
    return figures


def _operation(resource: str, operation: str, entry: Operation | Mix, width: Width) -> Figure:
    """Return the figure of one operation of one width."""
    lanes = 1 if width == "scalar" else int(width) // _LANE_BITS.get(resource, 32)
    kind = _kind(resource)
    counted = f"{lanes} lane{'s' if lanes > 1 else ''}"
    if isinstance(entry, Mix):
        fma, add = entry.fma[width], entry.add[width]
        value = (2 * fma + add) * lanes
        rule = f"(2 x {fma:g} fma/cycle + {add:g} add/cycle) x {counted}"
    else:
        started = entry.per_cycle[width]
        work = _LANE_WORK.get(operation) or _LANE_WORK.get(f"{resource} {operation}", 1)
        value = started * lanes * work
        instructions = f"{started:g} instruction{'s' if started != 1 else ''}/cycle"
        rule = f"{instructions} x {counted} x {work} {kind}"
    return Figure(
        value=value,
        unit=f"{kind}/cycle",
        rule=rule,
        source=entry.source,
        ports=entry.ports,
        note=entry.note,
    )


def _kind(resource: str) -> str:
    """Return what is counted of a resource."""
    return "flop" if "fp" in resource or resource == "bf16" else "op"


def _tile(resource: str, entry: Tile) -> Figure:
    """Return the figure of products of tiles."""
    work, kind = _TILE_WORK[resource], _kind(resource)
    return Figure(
        value=work / entry.cycles,
        unit=f"{kind}/cycle",
        rule=f"1 product of tiles in {entry.cycles:g} cycles x {work} {kind}",
        source=entry.source,
        ports=entry.ports,
        note=entry.note,
    )


def _with_basic_operations(
    figures: dict[tuple[str, str], Figure],
) -> dict[tuple[str, str], Figure]:
    """Return figures with those of basic operations, which are of 64-bit integers and of L1."""
    found = {
        ("bop", name): replace(
            figure, unit="BOP/cycle", rule=figure.rule.removesuffix("op") + "BOP"
        )
        for (resource, name), figure in figures.items()
        if resource == "int64" and name.split()[0] in _BASIC
    }
    found |= {
        ("bop", name.replace("fma+add", "floating")): replace(figure, unit="BOP/cycle")
        for (resource, name), figure in figures.items()
        if resource == "fp64" and name.startswith("fma+add")
    }
    widths = [int(name[4:-4]) for _, name in found if name.startswith("add ") and "-bit" in name]
    load = figures.get(("l1", "load"))
    if widths and load is not None:
        width = f"{max(widths)}-bit"
        elements = load.value * 8 / _LANE_BITS["int64"]
        add = found["bop", f"add {width}"]
        found["bop", f"addressing {width}"] = replace(
            load, value=elements, unit="BOP/cycle", rule=f"{load.rule}, 8 byte each"
        )
        found["bop", f"mixed {width}"] = Figure(
            value=add.value + elements,
            unit="BOP/cycle",
            rule=f"{add.rule} + {load.rule}, 8 byte each",
            source=f"{add.source}; {load.source}",
        )
    return figures | found


def _levels(said: Tables) -> dict[str, Level]:
    """Return what is said of memory levels, by name."""
    tables = {name: getattr(said, name) for name in Tables.__struct_fields__}
    return {name: table for name, table in tables.items() if isinstance(table, Level)}


def _memory(levels: dict[str, Level]) -> dict[tuple[str, str], Figure]:
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


def _transfer(level: Level, streams: int, reads: int, writes: int) -> tuple[float, str] | None:
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
