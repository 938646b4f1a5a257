"""The figures of the paper on rooflines of measured kernels, with this machine's results."""

from __future__ import annotations

from collections.abc import Sequence

from ridgepoint.core.machine import Machine
from ridgepoint.show.chart import Chart
from ridgepoint.show.charts.paths import paths_chart
from ridgepoint.suites.kernels.figures import clock_hz, drawn_figures
from ridgepoint.suites.kernels.results import Result


def suite_figures(
    results: Sequence[Result],
    machine: Machine,
    *,
    names: Sequence[str] | None = None,
    in_cycles: bool = False,
) -> dict[str, Chart]:
    """Return the figures for which there are results, by name.

    Parameters
    ----------
    results : sequence of Result
    machine : Machine
    names : sequence of str or None
        Names in `ridgepoint.suites.kernels.figures.FIGURES`; None: all.
    in_cycles : bool
        Add an axis in flop/cycle, where the core clock is known.

    Raises
    ------
    ValueError
        If no figure has one of the names.
    """
    charts = {}
    for figure, own in drawn_figures(results, names=names).items():
        clock = clock_hz(own, machine) if in_cycles else None
        is_unknown = in_cycles and clock is None
        charts[figure.name] = paths_chart(
            machine,
            own,
            title=f"{figure.name}: {figure.title}",
            direction=figure.direction,
            work=figure.work,
            clock_hz=clock,
            notes=["no axis in flop/cycle: the core clock is unknown"] if is_unknown else (),
        )
    return charts
