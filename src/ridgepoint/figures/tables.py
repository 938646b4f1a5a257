"""Tables for the terminal: a machine, a measured program, what was kept, what works here.

All are renderables of rich; they read at 80 columns, without colour, and in a pipe. Texts from
outside (commands, symbols, paths) never pass through rich's markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ridgepoint.caution import Caution
from ridgepoint.figures.layout import caution_list, plain_table
from ridgepoint.figures.run_table import run
from ridgepoint.figures.words import UNKNOWN, percent, printable, shown_name, shown_pattern
from ridgepoint.machine import Cache, Ceiling, Host, Machine
from ridgepoint.resources import LEVELS, RESOURCES
from ridgepoint.units import format_si, format_size

if TYPE_CHECKING:
    from ridgepoint.archive import Record
    from ridgepoint.doctor import Finding

__all__ = ["doctor", "machine", "records", "run"]


def machine(machine: Machine) -> RenderableType:
    """Return a machine's ceilings by resource, then what it is, then doubts about it.

    Parameters
    ----------
    machine : Machine

    Returns
    -------
    RenderableType
        Rates are medians with their 95 % interval; traffic is what the pattern moves at its
        level, write-allocate reads included.
    """
    title = Text(printable(machine.name), style="bold")
    parts: list[RenderableType] = [title, Padding(_ceilings(machine), (1, 0, 1, 0))]
    parts.append(_facts(machine))
    if machine.caches:
        parts.append(Padding(_caches(machine.caches), (1, 0, 0, 0)))
    doubts = [*machine.cautions, *_of_ceilings(machine.ceilings)]
    if doubts:
        parts.append(Padding(caution_list(doubts), (1, 0, 0, 0)))
    return Group(*parts)


def _ceilings(machine: Machine) -> RenderableType:
    if not machine.ceilings:
        return Text("no ceiling was measured")
    theory = any(ceiling.theoretical is not None for ceiling in machine.ceilings)
    columns = ["resource", "pattern", "cores", "median", "95 % interval", "n", "traffic"]
    if theory:
        columns.append("theory")
    table = plain_table(*columns, right=("cores", "median", "n"))
    previous = ""
    order = {name: index for index, name in enumerate(RESOURCES)}
    # By resource only: within one, the order in which they were measured has its reason.
    for ceiling in sorted(machine.ceilings, key=lambda ceiling: order[ceiling.resource]):
        first = ceiling.resource != previous
        previous = ceiling.resource
        name = shown_name(ceiling.resource) if first else ""
        cells = [name, shown_pattern(printable(ceiling.name)), str(ceiling.threads)]
        cells += _rate_cells(ceiling, published=bool(ceiling.source or machine.source))
        if theory:
            cells.append(_share_of_theory(ceiling))
        table.add_row(*map(Text, cells))
    return table


def _rate_cells(ceiling: Ceiling, *, published: bool) -> list[str]:
    """Return median, interval, number of samples and traffic."""
    rate, unit = ceiling.rate, ceiling.unit.replace("byte", "B")
    if rate is None:
        return [UNKNOWN, "", "", ""]
    if published:
        interval = "published"
    elif rate.low is None or rate.high is None:
        interval = f"{UNKNOWN} (n < 6)"
    else:
        low, high = format_si(rate.low, ""), format_si(rate.high, "")
        same = low.partition(" ")[2] == high.partition(" ")[2]
        interval = f"{low.split()[0] if same else low.strip()} to {high.strip()}"
    median = format_si(rate.median, unit)
    return [median, interval, str(rate.n), _traffic(ceiling)]


def _traffic(ceiling: Ceiling) -> str:
    """Return the bytes that really move per second, in both directions or the ceiling's own."""
    resource = RESOURCES[ceiling.resource]
    if resource.path not in LEVELS:
        return ""
    moved = ceiling.rate_of(resource if resource.direction else RESOURCES[resource.path])
    return UNKNOWN if moved is None else format_si(moved.median, "B/s")


def _share_of_theory(ceiling: Ceiling) -> str:
    if ceiling.theoretical is None or ceiling.rate is None:
        return ""
    return percent(ceiling.rate.median / ceiling.theoretical)


def _facts(machine: Machine) -> Table:
    """Return what the machine is."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in (*_host_facts(machine.host), *_machine_facts(machine)):
        table.add_row(name, Text(value))
    return table


def _host_facts(host: Host) -> list[tuple[str, str]]:
    virtual = {True: "yes", False: "no", None: UNKNOWN}[host.virtualized]
    clock = UNKNOWN if host.frequency_hz is None else format_si(host.frequency_hz, "Hz")
    memory = UNKNOWN if host.memory_bytes is None else format_size(host.memory_bytes)
    kind = UNKNOWN if host.microarchitecture is None else printable(host.microarchitecture)
    return [
        ("processor", f"{printable(host.cpu)} ({kind})"),
        ("cores", f"{host.cores} usable, clock {clock}, memory {memory}, virtual: {virtual}"),
    ]


def _machine_facts(machine: Machine) -> list[tuple[str, str]]:
    if machine.source is not None:
        return [("source", printable(machine.source))]
    took = (
        "" if machine.elapsed_s is None else f", took {format_si(machine.elapsed_s, 's', digits=3)}"
    )
    return [("measured", f"{UNKNOWN if machine.created is None else machine.created}{took}")]


def _caches(caches: Sequence[Cache]) -> Table:
    table = plain_table(
        "cache", "kind", "size", "line", "ways", "shared by", right=("size", "line", "ways")
    )
    for cache in caches:
        table.add_row(
            f"L{cache.level}",
            cache.kind,
            format_size(cache.size_bytes),
            format_size(cache.line_bytes),
            UNKNOWN if cache.ways is None else str(cache.ways),
            f"{cache.cores} CPU{'' if cache.cores == 1 else 's'}",
        )
    return table


def _of_ceilings(ceilings: Sequence[Ceiling]) -> list[Caution]:
    """Return the ceilings' cautions, each saying whose it is."""
    return [
        Caution(
            caution.code,
            f"{shown_name(ceiling.resource)} {shown_pattern(ceiling.name)}, {ceiling.threads} "
            f"thread{'' if ceiling.threads == 1 else 's'}: {caution.seen}",
            caution.remedy,
        )
        for ceiling in ceilings
        for caution in ceiling.cautions
    ]


def records(
    records: Sequence[Record], headlines: Mapping[int, str] | None = None
) -> RenderableType:
    """Return what was kept, one row each.

    Parameters
    ----------
    records : sequence of Record
    headlines : mapping of int to str or None
        What each id amounts to, in a few words; None: no such column.
    """
    columns = ["id", "kind", "created (UTC)", "machine", "name", *(["result"] if headlines else [])]
    table = plain_table(*columns, right=("id", "machine"))
    for record in records:
        cells = [
            str(record.id),
            record.kind,
            record.created[:19].replace("T", " "),
            "" if record.machine_id is None else str(record.machine_id),
            printable(record.name),
        ]
        if headlines:
            cells.append(printable(headlines.get(record.id, "")))
        table.add_row(*map(Text, cells))
    return table


def doctor(findings: Sequence[Finding]) -> RenderableType:
    """Return what works on this host, why the rest does not, what to do, what it costs.

    Parameters
    ----------
    findings : sequence of Finding
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=True)
    table.add_column("what", overflow="fold", min_width=10)
    table.add_column("works", no_wrap=True)
    table.add_column("found", overflow="fold")
    for finding in findings:
        said = [finding.detail]
        if finding.remedy is not None:
            said.append(f"what to do: {finding.remedy}")
        if finding.cost is not None:
            said.append(f"{'cost' if finding.works else 'without it'}: {finding.cost}")
        works = Text("yes") if finding.works else Text("no", style="bold")
        table.add_row(Text(finding.what), works, Text("\n".join(map(printable, said))))
    return table
