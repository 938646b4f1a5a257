"""Latency over the size of a working set, with the caches in it: what a picture of it shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ridgepoint.core.cache_capacity import Capacity, LatencyCurve
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.machine import Cache, Machine
from ridgepoint.core.units import format_si, format_size, format_size_roughly
from ridgepoint.models.caches.capacity import in_words
from ridgepoint.models.caches.capacity_fit import fitted_latency
from ridgepoint.show.words import machine_title, printable, shown_place

_SHOWN_FIT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyLine:
    """One curve: what was measured, and what the fitted capacities say.

    Parameters
    ----------
    label : str
    sizes_bytes : tuple of int
        Of all threads' working sets that share the last cache, together.
    low_s, median_s, high_s : tuple of float
        Least, median and longest time per access over the rounds [s].
    fit : tuple of (float, float)
        Size [byte] and time per access [s] of the model; empty: no level was told from another.
    """

    label: str
    sizes_bytes: tuple[int, ...]
    low_s: tuple[float, ...]
    median_s: tuple[float, ...]
    high_s: tuple[float, ...]
    fit: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelMark:
    """A level of caches in the figure.

    Parameters
    ----------
    label : str
        Level and size that counts.
    size_bytes : int
        Ceilings and traffic are of that.
    low_bytes, high_bytes : int
        Interval of the measured capacity; both are the size where it was not measured.
    stated_bytes : int or None
        What the system says, where that is another size; None: the same, or nothing.
    """

    label: str
    size_bytes: int
    low_bytes: int
    high_bytes: int
    stated_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyFigure:
    """Latency over size.

    Parameters
    ----------
    title, subtitle : str
    lines : tuple of LatencyLine
    levels : tuple of LevelMark
    notes : tuple of str
    """

    title: str
    subtitle: str
    lines: tuple[LatencyLine, ...]
    levels: tuple[LevelMark, ...]
    notes: tuple[str, ...]


def latency_figure(machine: Machine) -> LatencyFigure:
    """Return the figure of a machine's latency over size.

    Raises
    ------
    RidgepointError
        If it was not measured.
    """
    if not machine.latency_curves:
        raise RidgepointError(
            f"cannot draw the latency over size of {printable(machine.name)!r}",
            reason="it was not measured: the machine is a published one, or was kept by an earlier "
            "version",
            remedy="measure it with 'ridgepoint machine', then give its number",
        )
    return LatencyFigure(
        title=f"Time per access over the working set\n{machine_title(machine)}",
        subtitle="Random lines; each access waits for the one before. Bands: all rounds. "
        "Dashed: the fitted model. Grey: each cache, and the interval of its capacity.",
        lines=tuple(_line(curve, machine) for curve in machine.latency_curves),
        levels=tuple(_marks(machine)),
        notes=tuple(_notes(machine)),
    )


def _line(curve: LatencyCurve, machine: Machine) -> LatencyLine:
    sizes = np.geomspace(curve.sizes_bytes[0], curve.sizes_bytes[-1], _SHOWN_FIT + 1)
    fitted = fitted_latency(curve, machine.capacities, sizes_bytes=sizes)
    by_size = list(zip(*curve.rounds_s, strict=True))
    each = "" if curve.threads == 1 else ", each in memory of its own"
    return LatencyLine(
        label=f"{shown_place(curve.threads, None)}{each}",
        sizes_bytes=curve.sizes_bytes,
        low_s=tuple(map(min, by_size)),
        median_s=curve.latency_s,
        high_s=tuple(map(max, by_size)),
        fit=() if fitted is None else tuple(zip(sizes.tolist(), fitted.tolist(), strict=True)),
    )


def _marks(machine: Machine) -> Iterator[LevelMark]:
    for cache, stated, capacities in latency_rows(machine):
        alone = next((capacity for capacity in capacities if capacity.threads == 1), None)
        differs = stated is not None and stated.size_bytes != cache.size_bytes
        shown = format_size_roughly if differs else format_size
        yield LevelMark(
            label=f"L{cache.level} {shown(cache.size_bytes)}",
            size_bytes=cache.size_bytes,
            low_bytes=cache.size_bytes if alone is None else alone.low_bytes,
            high_bytes=cache.size_bytes if alone is None else alone.high_bytes,
            stated_bytes=stated.size_bytes if stated is not None and differs else None,
        )


def _notes(machine: Machine) -> Iterator[str]:
    for caution in machine.cautions:
        if caution.code in {"cache-capacity", "cache-contradicted", "caches-measured"}:
            yield f"{caution.seen[:1].upper()}{caution.seen[1:]}."
    for curve in machine.latency_curves:
        if curve.huge_share is not None and curve.huge_share < 1:
            yield f"{curve.huge_share:.0%} of the memory lay on huge pages."
            break


def shown_capacity(capacity: Capacity | None) -> str:
    """Return a measured capacity, its interval below; blank where it was not told."""
    return "" if capacity is None else in_words(capacity).replace(" (", "\n(")


def latency_rows(machine: Machine) -> list[tuple[Cache, Cache | None, list[Capacity]]]:
    """Return each data cache, what the system says of it, and its measured capacities."""
    stated = {c.level: c for c in machine.stated_caches or () if c.kind != "instruction"}
    return [
        (
            cache,
            stated.get(cache.level),
            [c for c in machine.capacities if c.level == cache.level],
        )
        for cache in machine.caches
        if cache.kind != "instruction"
    ]


def shown_latency(latency_s: float) -> str:
    """Return a time per access."""
    return format_si(latency_s, "s", digits=3)
