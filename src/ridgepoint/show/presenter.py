"""Shows results in Python and in notebooks: the command line's reports and figures.

`ridgepoint.core.presenting` says how results find this module.
"""

from __future__ import annotations

import base64
import html as markup
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rich.console import Console

from ridgepoint.ceilings.this_host import kept_machine_here
from ridgepoint.core import frames
from ridgepoint.core.csv_text import csv_text
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.operators import OperatorProfile
from ridgepoint.core.presenting import Presentable
from ridgepoint.core.table import Table
from ridgepoint.kept.files import replace_file
from ridgepoint.models.analysis import Analysis, analyse
from ridgepoint.models.diagnosis import Diagnosis
from ridgepoint.models.given_points import PlacedPoint, place_given
from ridgepoint.models.operators import OperatorAnalysis, analyse_operators
from ridgepoint.models.placement import Placement
from ridgepoint.models.roofline import Roofline
from ridgepoint.models.work import Metric
from ridgepoint.show.charts.roofline import roofline_chart
from ridgepoint.show.charts.roofline_view import PLAIN, RooflineView
from ridgepoint.show.diagnosis_markdown import diagnosis_markdown
from ridgepoint.show.html_table import folded_table, html_table
from ridgepoint.show.notebook_progress import NotebookProgress
from ridgepoint.show.tables.of_results import report_of
from ridgepoint.suites.kernels.results import KernelStudy
from ridgepoint.suites.study import Study

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Drawable = (
    Machine
    | Measurement
    | Placement
    | Analysis
    | PlacedPoint
    | Roofline
    | MeasuredCluster
    | KernelStudy
    | OperatorProfile
    | OperatorAnalysis
)
"""Results that have a picture."""

_COLUMNS = 100
_PAGE = (
    '<pre style="white-space:pre;overflow-x:auto;line-height:1.3;'
    "font-family:Menlo,'DejaVu Sans Mono',Consolas,monospace\">{code}</pre>"
)


def explain(value: Analysis, /) -> str:
    """Return a diagnosis in Markdown, as the command line prints it."""
    return diagnosis_markdown(Diagnosis(analysis=value))


def summary(value: Presentable, /, **options: Any) -> str:
    r"""Return a result as the command line prints it, 100 columns wide and without colours.

    Parameters
    ----------
    value : Machine, Measurement, Placement, Analysis, PlacedPoint, Roofline, MeasuredCluster, \
            Study, OperatorProfile or OperatorAnalysis
    **options
        For a measurement or a profile, the ``machine`` that bounds it.
    """
    console = _console()
    console.print(report_of(_bounded(value, **options)))
    return "\n".join(line.rstrip() for line in console.export_text().splitlines())


def html(value: Presentable, /) -> str:
    """Return a result as HTML: its figure, if it has one, above the command line's report."""
    if isinstance(value, Table):
        return html_table(value)
    value = _bounded(value)
    console = _console()
    console.print(report_of(value))
    report = console.export_html(code_format=_PAGE, inline_styles=True) + folded_table(table(value))
    if not _has_figure(value):
        return f"<div>{report}</div>"
    from ridgepoint.show.pictures import picture

    svg = base64.b64encode(picture(value.plot, "svg")).decode()
    # An image of its own, since elements of pictures in one page must not have the same names.
    return (
        f'<div><img style="max-width:100%" alt="{markup.escape(value.headline)}" '
        f'src="data:image/svg+xml;base64,{svg}">{report}</div>'
    )


def table(value: Presentable, /, name: str = "") -> Table:
    """Return one table of a result.

    Parameters
    ----------
    value : any result
    name : str
        Empty: the main one.

    Raises
    ------
    RidgepointError
        If it has no such table.
    """
    from ridgepoint.show.data_tables.results import tables_of

    tables = {table.name: table for table in tables_of(value)}
    if name and name not in tables:
        raise RidgepointError(
            f"cannot make a table {name!r} of a {type(value).__name__}",
            reason="it has no such table",
            remedy=f"use one of {', '.join(tables)}",
        )
    return tables[name] if name else next(iter(tables.values()))


def frame(value: Presentable, /, name: str = "") -> pd.DataFrame:
    """Return one table of a result as a frame of pandas: see `table`."""
    return frames.frame(table(value, name))


def save_table(value: Table, path: str | Path, /) -> None:
    """Write a table to a file, as CSV or Parquet by its ending.

    Raises
    ------
    RidgepointError
        If the ending names neither, pyarrow is not installed, or the file cannot be written.
    """
    path = Path(path)
    formats = {".csv": lambda: csv_text(value).encode(), ".parquet": lambda: frames.parquet(value)}
    if path.suffix.lower() not in formats:
        raise RidgepointError(
            f"cannot write {str(path)!r}",
            reason=f"the ending {path.suffix!r} does not name a format",
            remedy=f"use a name that ends in {' or '.join(formats)}",
        )
    replace_file(path, formats[path.suffix.lower()](), what="the table")


def notebook_progress() -> NotebookProgress:
    """Return a progress for a cell of a notebook; it appears with its first step."""
    return NotebookProgress()


def arrow_stream(value: Table, schema: object, /) -> object:
    """Return a table as a stream of Arrow; libraries that read Arrow ask for it."""
    return frames.arrow(value).__arrow_c_stream__(schema)


def plot(
    *results: Drawable,
    machine: Machine | None = None,
    metric: Metric | None = None,
    view: RooflineView | None = None,
    ax: Axes | None = None,
) -> Figure:
    r"""Draw results together on a machine's roofline.

    Parameters
    ----------
    *results : Machine, Measurement, Placement, Analysis, PlacedPoint, Roofline, MeasuredCluster, \
            KernelStudy, OperatorProfile or OperatorAnalysis
        Programs are drawn as points; a machine alone with its roofs; of a cluster its network; of
        a profile, which is drawn alone, its operators.
        A machine among programs is the one that they are drawn on.
    machine : Machine or None
        Machine whose roofs are drawn. None: that of the first result with one, or else the one
        kept of this host.
    metric : {"flop", "bop"} or None
        Unit of work; None: as asked for when programs were measured or placed.
    view : RooflineView or None
        Further machines, one bandwidth alone, rates per cycle: `ridgepoint.charts.RooflineView`.
        None: none of these.
    ax : matplotlib.axes.Axes or None
        Axes of their final size to draw on, with room for a key below; None: new ones.

    Returns
    -------
    matplotlib.figure.Figure
        Nothing is shown or saved: a notebook shows it where it is the value of a cell, and
        `savefig` writes it. No window and no display is needed.

    Raises
    ------
    RidgepointError
        If no machine is given, and none of this host is kept.
    TypeError
        If there is nothing to draw, or a result is of another kind.
    ValueError
        If two machines are given, or the work of programs is not counted alike.
    """
    for result in results:
        if not isinstance(result, Presentable) or _is_table_alone(result):
            raise TypeError(f"cannot draw a {type(result).__name__}: {_DRAWN}")
    if not results and machine is None:
        raise TypeError(f"there is nothing to draw: {_DRAWN}")
    clusters = [result for result in results if isinstance(result, MeasuredCluster)]
    if clusters:
        if len(results) > 1 or machine is not None:
            raise ValueError("a cluster cannot be drawn with other results")
        return _network(clusters[0], ax)
    profiles = [r for r in results if isinstance(r, OperatorProfile | OperatorAnalysis)]
    if profiles:
        return _operators(profiles[0], [r for r in results if r is not profiles[0]], machine, ax)
    from ridgepoint.show.draw_mpl import draw

    roofs = _roofs(results, machine)
    programs = [program for result in results for program in _programs(result)]
    analyses = [_analysed(program, roofs, metric) for program in programs]
    given = [
        result if result.machine == roofs else place_given(result.point, roofs)
        for result in results
        if isinstance(result, PlacedPoint)
    ]
    chart = roofline_chart(
        roofs, analyses, given=given, metric=metric or _metric(results), view=view or PLAIN
    )
    drawn = draw(chart, ax).get_figure(root=True)
    assert drawn is not None  # Sheet.of has refused axes without one
    return drawn


def _is_table_alone(result: object) -> bool:
    return isinstance(result, Study) and not isinstance(result, KernelStudy)


_DRAWN = (
    "give machines, measurements, placements, given points, a Roofline, a cluster, the run of a "
    "suite or a profile of operators"
)


def _roofs(results: Sequence[object], machine: Machine | None) -> Machine:
    """Return the machine that results are drawn on."""
    given = [result for result in results if isinstance(result, Machine)]
    given += [result.machine for result in results if isinstance(result, Roofline | KernelStudy)]
    if machine is not None:
        given.append(machine)
    if any(other != given[0] for other in given):
        raise ValueError("a figure has the roofs of a single machine: give only one")
    if given:
        return given[0]
    programs = (Placement, Analysis, PlacedPoint, OperatorAnalysis)
    placed = (result.machine for result in results if isinstance(result, programs))
    return next((machine for machine in placed if machine is not None), None) or kept_machine_here()


def _programs(result: object) -> list[Measurement | Placement | Analysis]:
    if isinstance(result, KernelStudy):
        return [case.measurement for case in result.results if case.measurement is not None]
    return [result] if isinstance(result, Measurement | Placement | Analysis) else []


def _analysed(
    program: Measurement | Placement | Analysis, roofs: Machine, metric: Metric | None
) -> Analysis:
    if isinstance(program, Measurement):
        return analyse(program, roofs, metric=metric)
    is_same = program.machine == roofs and metric in {None, program.metric}
    if isinstance(program, Analysis) and is_same:
        return program
    cores = program.cores if program.machine == roofs else None
    return analyse(program.measurement, roofs, cores=cores, metric=metric or program.metric)


def _metric(results: Sequence[object]) -> Metric:
    """Return what the work of a plane without programs is counted in."""
    of_rooflines = {result.work for result in results if isinstance(result, Roofline)}
    return "bop" if of_rooflines == {"bop"} else "flop"


def _network(cluster: MeasuredCluster, ax: Axes | None) -> Figure:
    from ridgepoint.show.charts.network import network_page
    from ridgepoint.show.draw_mpl import drawn

    if ax is not None:
        raise ValueError("the figure of a cluster makes its own two axes: call it without ax")
    return drawn(network_page(cluster))


def _operators(
    profile: OperatorProfile | OperatorAnalysis,
    others: Sequence[object],
    machine: Machine | None,
    ax: Axes | None,
) -> Figure:
    """Draw the operators of one program, on a machine that is given, or on that of this host."""
    from ridgepoint.show.charts.operators import operators_chart
    from ridgepoint.show.draw_mpl import draw

    machines = [other for other in others if isinstance(other, Machine)]
    if len(machines) < len(others):
        raise ValueError("the operators of a program cannot be drawn with other results")
    roofs = _roofs([*machines, *([profile] * isinstance(profile, OperatorAnalysis))], machine)
    found = profile if isinstance(profile, OperatorProfile) else profile.profile
    drawn = draw(operators_chart(analyse_operators(found, roofs)), ax).get_figure(root=True)
    assert drawn is not None  # Sheet.of has refused axes without one
    return drawn


def _has_figure(value: Presentable) -> bool:
    """Return whether a notebook shows a figure: a measurement alone has no roofs to stand under."""
    if isinstance(value, Analysis | OperatorAnalysis):
        return value.machine is not None
    return isinstance(value, Placement | PlacedPoint | Machine | Roofline | MeasuredCluster)


def _bounded(value: Presentable, *, machine: Machine | None = None) -> Presentable:
    """Return a result below the roofs of a machine; a profile below those kept of this host."""
    if isinstance(value, OperatorProfile):
        return analyse_operators(value, machine or _machine_of(value))
    return value if machine is None else analyse(cast(Measurement, value), machine)


def _machine_of(profile: OperatorProfile) -> Machine | None:
    """Return the machine that is kept of this host, if that is where a profile was made."""
    if profile.device != "cpu":
        return None
    try:
        return kept_machine_here()
    except RidgepointError:
        return None


def _console() -> Console:
    """Return a console that remembers what it prints, and prints nothing."""
    return Console(
        file=io.StringIO(),
        width=_COLUMNS,
        record=True,
        highlight=False,
        markup=False,
        emoji=False,
        force_jupyter=False,
    )
