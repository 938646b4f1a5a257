"""Prints and writes a program's operators, for every subcommand that shows them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ridgepoint.cli.common import console, print_json
from ridgepoint.cli.output import show_plot
from ridgepoint.cli.pictures import save_picture
from ridgepoint.cli.tables import beside
from ridgepoint.core.documents import render
from ridgepoint.kept.files import replace_file
from ridgepoint.models.operators import OperatorAnalysis
from ridgepoint.show.charts.operators import operators_chart
from ridgepoint.show.data_tables.operators import operators_tables
from ridgepoint.show.operators_report import operators_report
from ridgepoint.show.tables.operators_table import operators


def show_operators(
    analysis: OperatorAnalysis, *, as_json: bool, plot: bool, stderr: bool = False
) -> None:
    """Print a program's operators: a document on standard output, or a report.

    Parameters
    ----------
    analysis : OperatorAnalysis
    as_json : bool
    plot : bool
        Whether the report ends with a plot.
    stderr : bool
        Whether the report goes to standard error, since standard output is the program's.
    """
    with beside(lambda: operators_tables(analysis)) as is_shown:
        if as_json:
            print_json(operators_report(analysis))
        elif is_shown or stderr:
            out = console(stderr=stderr)
            out.print(operators(analysis))
            if plot and analysis.machine is not None:
                out.print()
                show_plot(operators_chart(analysis), stderr=stderr)


def write_operators(analysis: OperatorAnalysis, outputs: Sequence[Path]) -> None:
    """Write a program's operators to each file: their report to .json, their figure to others."""
    documents = [path for path in outputs if path.suffix.lower() == ".json"]
    for path in documents:
        replace_file(path, render(operators_report(analysis)).encode(), what="the report")
    figures = [path for path in outputs if path not in documents]
    if figures and analysis.machine is not None:
        save_picture(operators_chart(analysis), figures)
