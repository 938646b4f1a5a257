"""The DC-Rooflines of several hosts on axes of the same limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ridgepoint.core.machine import Machine
from ridgepoint.show.chart import Entry, Page
from ridgepoint.show.charts.dc_roofline import dc_chart, dc_limits, steps_note
from ridgepoint.show.theme import shape_of
from ridgepoint.show.words import printable
from ridgepoint.suites.datacenter.points import WorkloadPoint


def dc_hosts_page(
    hosts: Sequence[tuple[str, Machine, float, Sequence[WorkloadPoint]]],
) -> Page:
    """Return a DC-Roofline for each host, one beside the other.

    Parameters
    ----------
    hosts : sequence of (str, Machine, float, sequence of WorkloadPoint)
        Name, machine, number of busy cores and workloads of each.

    Raises
    ------
    UnknownCeiling
        If a machine lacks a ceiling of ``bop`` or ``dram``.
    """
    order = list(dict.fromkeys(point.name for *_, points in hosts for point in points))
    limits = [
        dc_limits(machine, points, work="bop", cores=cores) for _, machine, cores, points in hosts
    ]
    x_limits, y_limits = (
        (min(axes[axis][0] for axes in limits), max(axes[axis][1] for axes in limits))
        for axis in (0, 1)
    )
    charts = (
        replace(
            dc_chart(
                machine,
                points,
                work="bop",
                cores=cores,
                names=order,
                limits=(x_limits, y_limits),
            ),
            title=printable(name),
        )
        for name, machine, cores, points in hosts
    )
    return Page(
        charts=tuple(charts),
        columns=2,
        key=tuple(
            Entry(text=name, ink=index, shape=shape_of(index), is_abreast=True)
            for index, name in enumerate(order)
        ),
        notes=tuple(steps_note([point for *_, points in hosts for point in points])),
    )
