"""Latency over the size of a working set for the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.machine import Machine
from ridgepoint.core.units import format_size_roughly
from ridgepoint.show.latency_text import (
    cache_name,
    curve_name,
    latency_notes,
    latency_rows,
    latency_title,
    require_latency,
    shown_latency,
)
from ridgepoint.show.tables.layout import plain_table


def latency_table(machine: Machine) -> RenderableType:
    """Return the time per access of every working set, a column for each curve.

    Raises
    ------
    RidgepointError
        If it was not measured.
    """
    require_latency(machine)
    heads = [curve_name(curve) for curve in machine.latency_curves]
    table = plain_table("working set of each core", *heads, right=heads)
    for size in sorted({size for curve in machine.latency_curves for size in curve.sizes_bytes}):
        times = (
            dict(zip(curve.sizes_bytes, curve.latency_s, strict=True)).get(size)
            for curve in machine.latency_curves
        )
        cells = ["" if time is None else shown_latency(time) for time in times]
        table.add_row(*map(Text, (format_size_roughly(size), *cells)))
    levels = ", ".join(cache_name(cache, stated) for cache, stated, _ in latency_rows(machine))
    notes = [f"Caches that count: {levels}.", *latency_notes(machine)]
    return Group(Text(latency_title(machine), style="bold"), table, *map(Text, notes))
