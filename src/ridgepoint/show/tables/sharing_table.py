"""Jobs that share nodes as text: how fast each is beside the others, and which should meet."""

from __future__ import annotations

from collections import Counter

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.units import format_si
from ridgepoint.models.scaling.placements import Placement, SharingStudy
from ridgepoint.show.sharing_text import nodes_in_words, nodes_named, sharing_heading
from ridgepoint.show.tables.layout import plain_table, sections
from ridgepoint.show.tables.scaling_table import LIMITERS
from ridgepoint.show.words import UNKNOWN, printable

_KEY = "wanted, got: bandwidth of each node's memory, alone and beside the others"
_MOST_LISTED = 5
"""Placements, the best first, besides the worst."""


def sharing_table(study: SharingStudy) -> RenderableType:
    """Return a study of jobs that share nodes as text."""
    return sections(
        Group(*map(Text, sharing_heading(study))),
        _jobs(study.best),
        _nodes(study),
        _placements(study),
    )


def _jobs(placement: Placement) -> RenderableType:
    """Return the jobs of a placement, one row for those that are alike."""
    right = ("count", "cores", "alone", "shared", "slowdown", "wanted", "got")
    table = plain_table("best: job", *right, "limited by", "on", right=right)
    rows: dict[tuple[str, ...], list[int]] = {}
    counts: Counter[tuple[str, ...]] = Counter()
    for share in placement.shares:
        row = (
            str(share.cores),
            format_si(share.alone_s, "s"),
            format_si(share.shared_s, "s"),
            f"{share.slowdown:.3g}",
            format_si(share.wanted_bytes_per_s, "B/s"),
            format_si(share.memory_bytes_per_s, "B/s"),
            LIMITERS.get(share.limiter, share.limiter),
        )
        counts[share.name, *row] += 1
        rows.setdefault((share.name, *row), []).extend(share.nodes)
    for key, nodes in rows.items():
        where = nodes_named(sorted(set(nodes)))
        table.add_row(printable(key[0]), str(counts[key]), *key[1:], where)
    return Group(table, Text(_KEY))


def _nodes(study: SharingStudy) -> RenderableType:
    """Return what is used of each node, one row for those that are alike."""
    right = ("cores", "of", "memory", "of ")
    table = plain_table("on", *right, right=right)
    rows: dict[tuple[str, str, str, str], list[int]] = {}
    for load in study.best.loads:
        limit = load.memory_limit
        row = (
            str(load.cores),
            str(study.jobs[0].scaling.machine.cores),
            format_si(load.memory_bytes_per_s, "B/s"),
            UNKNOWN if limit is None else format_si(limit, "B/s"),
        )
        rows.setdefault(row, []).append(load.node)
    for row, nodes in rows.items():
        table.add_row(nodes_named(nodes), *row)
    return table


def _placements(study: SharingStudy) -> RenderableType:
    """Return the best placements, and the worst."""
    right = ("throughput", "mean slowdown", "largest")
    table = plain_table("placement", *right, "jobs and their cores, by node", right=right)
    shown = [(str(rank), each) for rank, each in enumerate(study.placements[:_MOST_LISTED], 1)]
    if len(study.placements) > len(shown):
        shown.append(("worst" if study.is_complete else "last", study.worst))
    for rank, placement in shown:
        table.add_row(
            rank,
            f"{placement.throughput:.4g}",
            f"{placement.mean_slowdown:.3g}",
            f"{placement.largest_slowdown:.3g}",
            nodes_in_words(placement),
        )
    return table
