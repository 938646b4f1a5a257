"""A machine for the terminal: its ceilings, what it is, doubts about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ridgepoint.core.machine import Ceiling, Host, Machine
from ridgepoint.core.resources import LEVELS, RESOURCES
from ridgepoint.core.units import format_si, format_size
from ridgepoint.models.given_machine import GIVEN, is_per_cycle
from ridgepoint.models.ranking import cautions_that_matter
from ridgepoint.models.thresholds import LEAST_CHANGE
from ridgepoint.show.ceiling_cautions import MARK, ceiling_cautions
from ridgepoint.show.latency_text import cache_name, latency_rows, shown_capacity, shown_latency
from ridgepoint.show.tables.layout import caution_list, codes_in_short, plain_table, sections
from ridgepoint.show.words import (
    UNKNOWN,
    machine_title,
    percent,
    printable,
    relative_interval,
    shown_amount,
    shown_name,
    shown_pattern,
    shown_place,
    shown_range,
)

# Medians and intervals of two core counts fill 80 columns.
_COUNTS_ABREAST = 2

Place = tuple[int, str | None]
"""Busy threads, and the part of the machine that they are on; None: any."""


def machine(machine: Machine, *, every_caution: bool = False) -> RenderableType:
    """Return a machine's ceilings by resource, then what it is, then doubts about it.

    Parameters
    ----------
    machine : Machine
    every_caution : bool
        Whether to tell and mark those of ceilings, too, that could not change a verdict.

    Returns
    -------
    RenderableType
        Rates are medians, each with its 95 % interval relative to it; traffic is what a pattern
        moves at its level for every byte that it counts, write-allocate reads included.
    """
    parts: list[RenderableType] = [Text(machine_title(machine), style="bold")]
    minor = None if every_caution else _minor(machine)
    if not every_caution:
        machine = _with_cautions_that_matter(machine)
    places = sorted({_place(ceiling) for ceiling in machine.ceilings}, key=_place_order)
    for first in range(0, len(places), _COUNTS_ABREAST):
        abreast = places[first : first + _COUNTS_ABREAST]
        parts.append(_ceilings(machine, abreast))
    if not places:
        parts.append(Text("no ceiling was measured"))
    parts.append(_facts(machine))
    if machine.caches:
        parts.append(_caches(machine))
    doubts = [*machine.cautions, *ceiling_cautions(machine.ceilings)]
    if doubts or minor is not None:
        parts.append(caution_list(doubts, minor=minor))
    return sections(*parts)


def _with_cautions_that_matter(machine: Machine) -> Machine:
    """Return a machine whose ceilings have only the cautions that could change a verdict."""
    matter = cautions_that_matter(machine)
    ceilings = tuple(
        replace(
            ceiling,
            cautions=tuple(
                caution for caution in ceiling.cautions if caution in matter.get(ceiling.key, ())
            ),
        )
        for ceiling in machine.ceilings
    )
    return replace(machine, ceilings=ceilings)


def _minor(machine: Machine) -> str | None:
    """Return the line about the ceilings' other cautions; None: there are none."""
    matter = cautions_that_matter(machine)
    others = [
        (ceiling.key, caution)
        for ceiling in machine.ceilings
        for caution in ceiling.cautions
        if caution not in matter.get(ceiling.key, ())
    ]
    if not others:
        return None
    count = len({key for key, _ in others} - matter.keys())
    return (
        f"{count} of {len(machine.ceilings)} ceilings have only minor cautions, because they "
        f"bound no program or are known within {LEAST_CHANGE:.0%}: "
        f"{codes_in_short(caution for _, caution in others)} ('ridgepoint show --cautions' or "
        "--json)"
    )


def _place(ceiling: Ceiling) -> Place:
    return ceiling.threads, ceiling.part


def _place_order(place: Place) -> tuple[bool, str, int]:
    """Return the key that puts the machine first, by its core counts, and then its parts."""
    threads, part = place
    return part is not None, part or "", threads


def _ceilings(machine: Machine, places: Sequence[Place]) -> Table:
    """Return the ceilings of a few places: a heading per resource, a row per pattern."""
    shown = [ceiling for ceiling in machine.ceilings if _place(ceiling) in places]
    theory = any(ceiling.theoretical is not None for ceiling in shown)
    traffic = any(RESOURCES[ceiling.resource].path in LEVELS for ceiling in shown)
    table = plain_table("ceiling")
    for place in places:
        table.add_column(shown_place(*place), justify="right", overflow="fold")
        table.add_column("95 %", justify="right", overflow="fold")
    for head in ("traffic",) * traffic + ("of theory",) * theory:
        table.add_column(head, overflow="fold")
    for resource in RESOURCES:
        # Within a resource, the order in which they were measured has its reason.
        of_resource = [ceiling for ceiling in shown if ceiling.resource == resource]
        if of_resource:
            unit = of_resource[0].unit.replace("byte", "B")
            unit = unit.replace("/s", "/cycle") if is_per_cycle(machine) else unit
            table.add_row(Text(f"{shown_name(resource)} [{unit}]", style="bold"))
        for name in dict.fromkeys(ceiling.name for ceiling in of_resource):
            same = {_place(c): c for c in of_resource if c.name == name}
            cells = [f"  {shown_pattern(printable(name))}"]
            for place in places:
                cells += _rate_cells(same.get(place), published=machine.source is not None)
            cells += [_traffic(list(same.values()))] * traffic
            cells += [_shares_of_theory([same.get(place) for place in places])] * theory
            table.add_row(*map(Text, cells))
    return table


def _rate_cells(ceiling: Ceiling | None, *, published: bool) -> tuple[str, str]:
    """Return median and interval; blank where nobody tried."""
    if ceiling is None:
        return "", ""
    rate = ceiling.rate
    if rate is None:
        return UNKNOWN, ""
    median = f"{MARK if ceiling.cautions else ''}{shown_amount(rate)}"
    if published or ceiling.source is not None:
        return median, "given" if ceiling.source == GIVEN else "published"
    interval = relative_interval(rate, decimals=1)
    return median, f"{UNKNOWN} (n < 6)" if interval == UNKNOWN else interval


def _traffic(ceilings: Sequence[Ceiling]) -> str:
    """Return the bytes moved at a memory level for every byte counted."""
    if RESOURCES[ceilings[0].resource].path not in LEVELS:
        return ""
    moved = {
        1.0 if c.read_share is None or c.write_share is None else c.read_share + c.write_share
        for c in ceilings
    }
    return ", ".join(f"x {share:.3g}" for share in sorted(moved))


def _shares_of_theory(ceilings: Sequence[Ceiling | None]) -> str:
    """Return the share of its theoretical rate that each ceiling reached."""
    shares = [
        percent(ceiling.rate.median / ceiling.theoretical)
        for ceiling in ceilings
        if ceiling is not None and ceiling.theoretical is not None and ceiling.rate is not None
    ]
    return ", ".join(shares)


def _facts(machine: Machine) -> Table:
    """Return what the machine is, and how to read its ceilings."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in (*_host_facts(machine.host), *_origin(machine), *_reading(machine)):
        table.add_row(name, Text(value))
    return table


def _host_facts(host: Host) -> Iterator[tuple[str, str]]:
    virtual = {True: "yes", False: "no", None: UNKNOWN}[host.virtualized]
    clock = shown_amount(host.frequency_hz, "Hz")
    memory = shown_amount(host.memory_bytes, "B", digits=3)
    kind = host.microarchitecture if host.identity is None else str(host.identity)
    kind = UNKNOWN if kind is None else printable(kind)
    yield "processor", f"{printable(host.cpu)} ({kind})"
    yield "cores", f"{host.cores} usable, clock {clock}, memory {memory}, virtual: {virtual}"


def _origin(machine: Machine) -> Iterator[tuple[str, str]]:
    if machine.source is not None:
        yield "source", printable(machine.source)
        return
    took = (
        "" if machine.elapsed_s is None else f", took {format_si(machine.elapsed_s, 's', digits=3)}"
    )
    yield "measured", f"{UNKNOWN if machine.created is None else machine.created}{took}"


def _reading(machine: Machine) -> Iterator[tuple[str, str]]:
    """Yield how many samples a median is of, and what the last column means."""
    counts = [
        ceiling.rate.n
        for ceiling in machine.ceilings
        if ceiling.rate is not None and ceiling.source is None and machine.source is None
    ]
    if counts:
        samples = f"{shown_range(counts)} samples each"
        yield "ceilings", f"medians, {samples}; 95 % interval of the median"
    latencies = [
        f"{shown_name(ceiling.resource)} {format_si(latency, 's', digits=3)}"
        for ceiling in machine.ceilings
        if ceiling.threads == 1 and (latency := ceiling.latency_s) is not None
    ]
    if latencies:
        yield "latency", f"{', '.join(latencies)}: 8 byte over the rate of chase, on one core"
    waits = [
        f"{ceiling.resource} {shown_pattern(printable(ceiling.name.split()[0]))} "
        f"{operation_s * ceiling.frequency_hz:.3g}"
        for ceiling in machine.ceilings
        if (operation_s := ceiling.operation_s) is not None and ceiling.frequency_hz is not None
    ]
    if waits:
        yield (
            "chains",
            (f"cycles of an operation that waits for the previous one: {', '.join(waits)}"),
        )
    if any(ceiling.theoretical is not None for ceiling in machine.ceilings):
        yield "theory", "clock right after the samples x a document's figure per cycle (--json)"
    if any(RESOURCES[ceiling.resource].path in LEVELS for ceiling in machine.ceilings):
        yield "traffic", "bytes moved per byte counted, write-allocate reads included"


def _caches(machine: Machine) -> Table:
    """Return the caches: what the system says, what was measured, and what counts."""
    measured = bool(machine.capacities)
    threads = sorted({capacity.threads for capacity in machine.capacities})
    table = plain_table("cache", "size", right=("size",))
    if measured:
        table.add_column("system says", justify="right", overflow="fold")
        for count in threads:
            table.add_column(f"measured, {shown_place(count, None)}", overflow="fold")
        table.add_column("latency", justify="right", overflow="fold")
    for head in ("line", "ways", "shared by"):
        table.add_column(head, justify="left" if head == "shared by" else "right", overflow="fold")
    for cache, stated, capacities in latency_rows(machine):
        cells = cache_name(cache, stated).split(maxsplit=1)
        if measured:
            by_threads = {capacity.threads: capacity for capacity in capacities}
            alone = by_threads.get(1)
            cells.append(UNKNOWN if stated is None else format_size(stated.size_bytes))
            cells += [shown_capacity(by_threads.get(count)) for count in threads]
            cells.append("" if alone is None else shown_latency(alone.latency_s))
        cells += [
            format_size(cache.line_bytes),
            UNKNOWN if cache.ways is None else str(cache.ways),
            f"{cache.cores} CPU{'' if cache.cores == 1 else 's'}",
        ]
        table.add_row(*cells)
    return table
