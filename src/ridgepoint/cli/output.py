"""Prints and writes machines and measured programs, for every subcommand that shows one."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ridgepoint.cli.common import console, print_json
from ridgepoint.cli.pictures import is_page, save_picture
from ridgepoint.cli.tables import beside
from ridgepoint.core import documents
from ridgepoint.core.documents import fields_of, render
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.kept.files import replace_file
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.comparing.machines import MachineComparison
from ridgepoint.show import draw_text
from ridgepoint.show.charts.miss_curve import miss_curve_chart
from ridgepoint.show.charts.roofline import roofline_chart, roofline_picture
from ridgepoint.show.data_tables.machine import changes_table, machine_tables, samples_table
from ridgepoint.show.data_tables.run import run_tables
from ridgepoint.show.report import machine_fields, report
from ridgepoint.show.tables import explanation, machine_table, run_table
from ridgepoint.show.tables.latency_table import latency_table
from ridgepoint.show.tables.machine_comparison import comparison as comparison_table
from ridgepoint.show.words import printable, program_name

if TYPE_CHECKING:
    from ridgepoint.ceilings.explain import Explanation
    from ridgepoint.cli.view_options import Viewing
    from ridgepoint.core.table import Table
    from ridgepoint.show.chart import Chart, Page
    from ridgepoint.show.page.document import PageDocument

_PLOT_COLUMNS = 78
_PLOT_LINES = 22


def show_machine(machine: Machine, *, as_json: bool, every_caution: bool = False) -> None:
    """Print a machine on standard output, and write its tables."""
    with beside(lambda: machine_tables(machine)) as is_shown:
        if as_json:
            print_json(machine_fields(machine))
        elif is_shown:
            console().print(machine_table.machine(machine, every_caution=every_caution))


def write_machine(machine: Machine, outputs: Sequence[Path]) -> None:
    """Write a machine's roofline to each file; to a page all its views."""
    if outputs:
        save_picture(roofline_chart(machine), outputs, page=lambda: _page(machine))


def _page(value: Analysis | Machine) -> PageDocument:
    """Return the page of a result that was just measured."""
    from ridgepoint.show.page.build import page_of
    from ridgepoint.show.page.records import ShownRecord

    return page_of([ShownRecord(key="measured", value=value)])


def show_comparison(
    comparison: MachineComparison, baseline: Machine, machine: Machine, *, as_json: bool
) -> None:
    """Print how a machine compares with its baseline on standard output, and write its tables."""

    def tables() -> tuple[Table, ...]:
        return changes_table(comparison), *machine_tables(machine)

    with beside(tables) as is_shown:
        if as_json:
            print_json(documents.report("check", check_fields(comparison, baseline, machine)))
        elif is_shown:
            console().print(comparison_table(comparison))


def check_fields(
    comparison: MachineComparison, baseline: Machine, machine: Machine
) -> dict[str, Any]:
    """Return how a machine compares with its baseline as the fields of a document."""
    return {
        "baseline": fields_of(baseline, "name", "created", "host"),
        "machine": fields_of(machine, "name", "created", "host"),
        "ceilings": [
            {
                **fields_of(change, "resource", "name", "threads", "part", "verdict"),
                **fields_of(change.gain, "ratio", "low", "high"),
                "baseline_median": None if change.baseline is None else change.baseline.median,
                "median": None if change.rate is None else change.rate.median,
            }
            for change in comparison.ceilings
        ],
        "fell": comparison.count("fell"),
        "cautions": comparison.cautions,
    }


def show_explanations(explanations: Sequence[Explanation], *, as_json: bool) -> None:
    """Print ceilings taken apart on standard output: all are of one kernel, or of like ones."""

    def tables() -> tuple[Table, ...]:
        return (samples_table([explained.ceiling for explained in explanations]),)

    with beside(tables) as is_shown:
        if as_json:
            print_json(_explained(explanations))
        elif is_shown:
            _print_explanations(explanations)


def _print_explanations(explanations: Sequence[Explanation]) -> None:
    out = console()
    shown_codes = set()
    for explained in explanations:
        kernel = explained.kernel
        # Another place may do best with another candidate.
        if kernel.ir not in shown_codes:
            out.print(explanation.code(kernel.name, kernel.pseudo_code, kernel.ir, explained.loop))
            shown_codes.add(kernel.ir)
        rates = [sample.rate for sample in explained.samples]
        out.print(explanation.place(explained.ceiling, rates, explained.remarks))


def _explained(explained: Sequence[Explanation]) -> dict[str, Any]:
    places = [
        {
            **fields_of(explanation, "ceiling", "loop", "samples", "remarks"),
            "kernel": explanation.kernel.name,
            **fields_of(explanation.kernel, "pseudo_code", "ir"),
            "theory": explanation.figure,
        }
        for explanation in explained
    ]
    return documents.report("explanation", {"places": places})


def write_explanations(explanations: Sequence[Explanation], outputs: Sequence[Path]) -> None:
    """Write the plot of all samples to each file."""
    if outputs:
        from ridgepoint.show.charts.samples import samples_page

        page = samples_page(
            (explained.ceiling, [sample.rate for sample in explained.samples])
            for explained in explanations
        )
        save_picture(page, outputs)


def show_run(
    analysis: Analysis,
    viewing: Viewing,
    *,
    as_json: bool,
    plot: bool,
    stderr: bool = True,
    every_caution: bool = False,
) -> None:
    """Print a measured program: a document on standard output, or a report.

    Parameters
    ----------
    analysis : Analysis
    viewing : Viewing
        Other machines, single bandwidths and units to show beside.
    as_json : bool
    plot : bool
        Whether the report ends with a plot.
    stderr : bool
        Whether the report goes to standard error, since standard output is the program's.
    every_caution : bool
        Whether to tell those in full, too, that could not change the verdict.
    """
    with beside(lambda: run_tables(analysis)) as is_shown:
        if as_json:
            print_json(report(analysis, viewing.others))
        elif is_shown or stderr:
            _print_run(analysis, viewing, plot=plot, stderr=stderr, every_caution=every_caution)


def _print_run(
    analysis: Analysis, viewing: Viewing, *, plot: bool, stderr: bool, every_caution: bool
) -> None:
    """Print the report of a measured program for a reader."""
    out = console(stderr=stderr)
    table = run_table.run(
        analysis,
        every_caution=every_caution,
        others=viewing.others,
        bandwidths=viewing.bandwidths,
        in_cycles=viewing.per_cycle,
    )
    out.print(table)
    measurement, machine = analysis.measurement, analysis.machine
    if machine is None:
        return
    if plot:
        out.print()
        picture = roofline_picture(machine, [analysis], views=viewing.of(measurement))
        show_plot(picture, stderr=stderr)
        if measurement.counted.miss_curve is not None:
            out.print()
            show_plot(miss_curve_chart(measurement, machine), stderr=stderr)


def write_run(analysis: Analysis, outputs: Sequence[Path], viewing: Viewing) -> None:
    """Write a measured program to each file: its report to .json, all its views to a page.

    The others get its figure.

    The figure of a distributed program is the Ridgeline, if the machine has a network and nothing
    is asked for that only a roofline shows. Without a machine there is no figure.
    """
    documents = [path for path in outputs if path.suffix.lower() == ".json"]
    for path in documents:
        document = render(report(analysis, viewing.others)).encode()
        replace_file(path, document, what="the report")
    pages = [path for path in outputs if is_page(path)]
    for path in pages:
        from ridgepoint.show.page.assemble import write_page

        write_page(_page(analysis), path)
    figures = [path for path in outputs if path not in documents and path not in pages]
    if analysis.machine is None or not figures:
        return
    if not viewing.is_plain or not _write_ridgeline(analysis, analysis.machine, figures):
        views = viewing.of(analysis.measurement)
        save_picture(roofline_picture(analysis.machine, [analysis], views=views), figures)


def _write_ridgeline(analysis: Analysis, machine: Machine, outputs: Sequence[Path]) -> bool:
    """Write a distributed program's nodes on the Ridgeline; return whether that could be done.

    Why it could not is said on standard error.
    """
    measurement, metric = analysis.measurement, analysis.metric
    if measurement.distributed is None:
        return False
    from ridgepoint.models.distributed import nodes_on_ridgeline, why_no_ridgeline
    from ridgepoint.show.charts.ridgeline import ridgeline_page
    from ridgepoint.show.tables.rank_table import ridgeline_notes

    reason = why_no_ridgeline(measurement, machine, metric=metric)
    if reason is not None:
        print(
            f"ridgepoint: {reason}, so the roofline is drawn instead of the Ridgeline; to get "
            "a machine with a network, run 'mpirun -n P ridgepoint machine', or give --machine",
            file=sys.stderr,
        )
        return False
    ridgeline, nodes = nodes_on_ridgeline(measurement, machine, metric=metric)
    save_picture(ridgeline_page(ridgeline, [nodes], notes=ridgeline_notes(analysis)), outputs)
    return True


def show_plot(chart: Chart | Page, *, stderr: bool) -> None:
    """Print a chart as text, as wide as a terminal of 80 columns or the one at hand."""
    out = console(stderr=stderr)
    width = min(max(shutil.get_terminal_size((_PLOT_COLUMNS, 24)).columns - 2, 60), 120)
    text = draw_text.render(
        chart,
        width=width,
        height=_PLOT_LINES,
        color=out.is_terminal,
        ascii="utf" not in (out.encoding or "").lower(),
    )
    out.file.write(text)


def draw_chart(chart: Chart | Page, outputs: Sequence[Path]) -> None:
    """Write a chart to each file; without one, print it as text."""
    if outputs:
        save_picture(chart, outputs)
    else:
        show_plot(chart, stderr=False)


def miss_curve_of(measurement: Measurement, machine: Machine) -> Chart:
    """Return a measurement's miss curve as a chart.

    Raises
    ------
    RidgepointError
        If it has none.
    """
    if measurement.counted.miss_curve is None:
        raise RidgepointError(
            f"cannot draw a miss curve of {printable(program_name(measurement.command))!r}",
            reason="it was measured without one",
            remedy="measure it again with 'ridgepoint run --miss-curve'",
        )
    return miss_curve_chart(measurement, machine)


def write_latency(machine: Machine, outputs: Sequence[Path]) -> None:
    """Write a machine's latency over size to each file; without one, print it as a table.

    Raises
    ------
    RidgepointError
        If it was not measured, or a file cannot be written.
    """
    if not outputs:
        console().print(latency_table(machine))
        return
    from ridgepoint.show.charts.latency import latency_chart

    save_picture(latency_chart(machine), outputs)
