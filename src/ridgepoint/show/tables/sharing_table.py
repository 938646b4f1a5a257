"""Jobs that share nodes as text: how fast each is beside the others, and which should meet."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.units import format_si
from ridgepoint.models.scaling.placements import JobShare, Placement, SharingStudy
from ridgepoint.show.sharing_text import nodes_in_words, sharing_heading
from ridgepoint.show.tables.layout import plain_table, sections
from ridgepoint.show.tables.scaling_table import LIMITERS
from ridgepoint.show.words import printable

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
    """Return the jobs of a placement, one row each."""
    right = ("cores", "alone", "shared", "slowdown", "memory wanted", "got")
    table = plain_table("best: job", "on", *right, "limited by", right=right)
    for share in placement.shares:
        table.add_row(
            printable(share.name),
            ", ".join(map(str, share.nodes)),
            str(share.cores),
            format_si(share.alone_s, "s"),
            format_si(share.shared_s, "s"),
            f"{share.slowdown:.3g}",
            format_si(share.wanted_bytes_per_s, "B/s"),
            format_si(share.memory_bytes_per_s, "B/s"),
            _limiter(share),
        )
    return table


def _limiter(share: JobShare) -> str:
    return LIMITERS.get(share.limiter, share.limiter)


def _nodes(study: SharingStudy) -> RenderableType:
    """Return what is used of each node."""
    right = ("node", "cores", "of", "memory", "of ")
    table = plain_table(*right, right=right)
    for load in study.best.loads:
        limit = load.memory_limit
        table.add_row(
            str(load.node),
            str(load.cores),
            str(study.jobs[0].scaling.machine.cores),
            format_si(load.memory_bytes_per_s, "B/s"),
            "unknown" if limit is None else format_si(limit, "B/s"),
        )
    return table


def _placements(study: SharingStudy) -> RenderableType:
    """Return the best placements, and the worst."""
    right = ("throughput", "mean slowdown", "largest")
    table = plain_table("placement", *right, "jobs with their cores, node by node", right=right)
    shown = [(str(rank), each) for rank, each in enumerate(study.placements[:_MOST_LISTED], 1)]
    if len(study.placements) > len(shown):
        shown.append(("worst", study.worst))
    for rank, placement in shown:
        table.add_row(
            rank,
            f"{placement.throughput:.4g}",
            f"{placement.mean_slowdown:.3g}",
            f"{placement.largest_slowdown:.3g}",
            nodes_in_words(placement),
        )
    return table
