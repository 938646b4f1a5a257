"""The content of each picture, as a chart or as a page of charts, and functions to draw them.

>>> from ridgepoint import analyse, charts, load
>>> placed = load("triad")  # doctest: +SKIP
>>> analysis = analyse(placed.measurement, placed.machine)  # doctest: +SKIP
>>> chart = charts.roofline_chart(placed.machine, [analysis])  # doctest: +SKIP
>>> charts.save(chart, "triad.svg")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ridgepoint.core.lazily import offered

_HOMES = {
    # The content of a picture.
    "Chart": "show.chart",
    "Page": "show.chart",
    # Functions for each picture.
    "dc_page": "show.charts.dc_roofline",
    "latency_chart": "show.charts.latency",
    "miss_curve_chart": "show.charts.miss_curve",
    "network_page": "show.charts.network",
    "paths_chart": "show.charts.paths",
    "pipeline_page": "show.charts.pipeline",
    "ridgeline_page": "show.charts.ridgeline",
    "roofline_chart": "show.charts.roofline",
    "roofline_picture": "show.charts.roofline",
    "RooflineView": "show.charts.roofline_view",
    "scaling_chart": "show.charts.scaling",
    "scaling_charts": "show.charts.scaling",
    # Points of datacenter workloads.
    "WorkloadPoint": "suites.datacenter.points",
    "published_points": "suites.datacenter.points",
    # Functions to draw them.
    "draw": "show.draw_mpl",
    "save": "show.draw_mpl",
    "text": "show.draw_text:render",
}

if TYPE_CHECKING:
    from ridgepoint.show import draw_text
    from ridgepoint.show.chart import Chart as Chart
    from ridgepoint.show.chart import Page as Page
    from ridgepoint.show.charts.dc_roofline import dc_page as dc_page
    from ridgepoint.show.charts.latency import latency_chart as latency_chart
    from ridgepoint.show.charts.miss_curve import miss_curve_chart as miss_curve_chart
    from ridgepoint.show.charts.network import network_page as network_page
    from ridgepoint.show.charts.paths import paths_chart as paths_chart
    from ridgepoint.show.charts.pipeline import pipeline_page as pipeline_page
    from ridgepoint.show.charts.ridgeline import ridgeline_page as ridgeline_page
    from ridgepoint.show.charts.roofline import roofline_chart as roofline_chart
    from ridgepoint.show.charts.roofline import roofline_picture as roofline_picture
    from ridgepoint.show.charts.roofline_view import RooflineView as RooflineView
    from ridgepoint.show.charts.scaling import scaling_chart as scaling_chart
    from ridgepoint.show.charts.scaling import scaling_charts as scaling_charts
    from ridgepoint.show.draw_mpl import draw as draw
    from ridgepoint.show.draw_mpl import save as save
    from ridgepoint.suites.datacenter.points import WorkloadPoint as WorkloadPoint
    from ridgepoint.suites.datacenter.points import published_points as published_points

    text = draw_text.render

__all__ = [*_HOMES]  # noqa: PLE0604 - every name of the table is a string
__getattr__ = offered(__name__, _HOMES)
