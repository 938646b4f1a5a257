"""Charts of jobs that share nodes: whose cores they are, and whose bandwidth."""

from __future__ import annotations

from collections.abc import Callable

from ridgepoint.core.units import format_si
from ridgepoint.models.scaling.placements import JobShare, NodeLoad, Placement, SharingStudy
from ridgepoint.show.axes import decimal_ticks, linear_ticks, with_prefix
from ridgepoint.show.chart import Axis, Bar, Chart, Entry, Label, Line, Page, Ticks
from ridgepoint.show.sharing_text import nodes_named, sharing_heading
from ridgepoint.show.words import printable

_ROW_HEIGHT = 0.1
_ABOVE = 1.06
_MOST_ROWS = 24
_SEEN = 1.001
"""Slowdown from which on it is told."""


def sharing_page(study: SharingStudy) -> Page:
    """Return how the best placement divides cores and bandwidth, and the worst below it.

    There is no worst one where not all placements were compared.
    """
    charts = [*_charts(study, study.best, "Best placement")]
    if study.is_complete and len(study.placements) > 1:
        charts += _charts(study, study.worst, "Worst placement")
    return Page(
        charts=tuple(charts),
        columns=2,
        title="Jobs on shared nodes",
        subtitle="; ".join(sharing_heading(study)),
        key=(
            *(
                Entry(text=printable(job.name), ink=number, shape="square", is_abreast=True)
                for number, job in enumerate(study.jobs)
            ),
            Entry(text="all that the node has", line="limit", is_abreast=True),
        ),
    )


def _charts(study: SharingStudy, placement: Placement, title: str) -> list[Chart]:
    """Return the cores of each node by job, and the bandwidth of its memory by job."""
    cores = study.jobs[0].scaling.machine.cores
    slowdowns = f"throughput {placement.throughput:.4g} jobs alone; after a name: its slowdown"
    return [
        _chart(
            study,
            placement,
            title=f"{title}: cores",
            subtitle=slowdowns,
            label="Cores",
            amount=lambda share: float(share.cores),
            limit=lambda load: float(cores),
            ticks=lambda most: decimal_ticks((0.0, most)),
            text=_named,
        ),
        _chart(
            study,
            placement,
            title=f"{title}: memory",
            subtitle=f"mean slowdown {placement.mean_slowdown:.3g}, largest "
            f"{placement.largest_slowdown:.3g}",
            label="Bandwidth of each node's memory [B/s]",
            amount=lambda share: share.memory_bytes_per_s,
            limit=lambda load: load.memory_limit,
            ticks=lambda most: linear_ticks((0.0, most), with_prefix),
            text=lambda share: format_si(share.memory_bytes_per_s, "B/s", digits=3),
        ),
    ]


def _named(share: JobShare) -> str:
    """Return the name of a job, with its slowdown if it has any."""
    name = printable(share.name)
    return f"{name} {share.slowdown:.3g}" if share.slowdown > _SEEN else name


def _alike(placement: Placement) -> list[list[NodeLoad]]:
    """Return the nodes in groups: those of a group have the same jobs, as fast as each other."""
    groups: dict[tuple[tuple[str, int, str], ...], list[NodeLoad]] = {}
    for load in placement.loads:
        there = tuple(
            (share.name, share.cores, f"{share.memory_bytes_per_s:.6g}")
            for share in placement.shares
            if load.node in share.nodes
        )
        groups.setdefault(there, []).append(load)
    return list(groups.values())


def _chart(
    study: SharingStudy,
    placement: Placement,
    *,
    title: str,
    subtitle: str,
    label: str,
    amount: Callable[[JobShare], float],
    limit: Callable[[NodeLoad], float | None],
    ticks: Callable[[float], Ticks],
    text: Callable[[JobShare], str],
) -> Chart:
    """Return one bar for each node, or for those that are alike, with a piece for each job."""
    groups = _alike(placement)
    loads = [group[0] for group in groups[:_MOST_ROWS]]
    inks = {job.name: number for number, job in enumerate(study.jobs)}
    bars: list[Bar] = []
    ends: list[float] = []
    for row, load in enumerate(loads):
        end = 0.0
        for share in placement.shares:
            if load.node in share.nodes:
                begin, end = end, end + amount(share)
                bars.append(
                    Bar(
                        row=-row,
                        begin=begin,
                        end=end,
                        ink=inks[share.name],
                        label=Label(text(share)),
                        name=f"node {load.node}: {printable(share.name)}",
                        summary=f"{share.cores} cores, "
                        f"{format_si(share.memory_bytes_per_s, 'B/s')}, slowdown "
                        f"{share.slowdown:.3g}",
                    )
                )
        ends.append(end)
    limits = {row: most for row, load in enumerate(loads) if (most := limit(load)) is not None}
    most = _ABOVE * max(*limits.values(), *ends) if limits else _ABOVE * max(ends)
    hidden = sum(map(len, groups[_MOST_ROWS:]))
    return Chart(
        title=title,
        subtitle=subtitle,
        x=Axis(label=label, limits=(0.0, most), ticks=ticks(most), scale="linear"),
        y=Axis(
            label="",
            limits=(0.5 - len(loads), 0.5),
            ticks=tuple(
                (float(-row), nodes_named([load.node for load in group]))
                for row, group in enumerate(groups[:_MOST_ROWS])
            ),
            scale="rows",
        ),
        lines=tuple(
            Line(kind="limit", places=((end, -row - 0.45), (end, -row + 0.45)), name="limit")
            for row, end in limits.items()
        ),
        bars=tuple(bars),
        notes=(f"{hidden} more nodes are not drawn",) if hidden else (),
        height=_ROW_HEIGHT * (len(loads) + 0.5),
    )
