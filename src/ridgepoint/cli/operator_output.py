"""Prints and writes a program's operators, for every subcommand that shows them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ridgepoint.cli.common import console, print_json
from ridgepoint.cli.output import draw_chart, show_plot
from ridgepoint.cli.pictures import is_page, save_picture
from ridgepoint.cli.tables import beside
from ridgepoint.core.documents import render
from ridgepoint.core.errors import RidgepointError
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.files import replace_file
from ridgepoint.kept.lookup import named_machine, operators_of
from ridgepoint.models.operators import OperatorAnalysis, analyse_operators
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
    """Write a program's operators to each file: their report to .json, all views to a page.

    The others get their figure; without a machine there is none.
    """
    documents = [path for path in outputs if path.suffix.lower() == ".json"]
    for path in documents:
        replace_file(path, render(operators_report(analysis)).encode(), what="the report")
    for path in filter(is_page, outputs):
        from ridgepoint.show.page.assemble import write_page
        from ridgepoint.show.page.build import page_of
        from ridgepoint.show.page.records import ShownRecord

        write_page(page_of([ShownRecord(key="measured", value=analysis)]), path)
    figures = [path for path in outputs if path not in documents and not is_page(path)]
    if figures and analysis.machine is not None:
        save_picture(operators_chart(analysis), figures)


def draw_operators(analysis: OperatorAnalysis, outputs: Sequence[Path]) -> None:
    """Write the picture of a program's operators to each file; without one, print it as text.

    Raises
    ------
    RidgepointError
        If no machine bounds them.
    """
    if analysis.machine is None:
        raise RidgepointError(
            f"cannot draw the operators of {analysis.profile.program!r}",
            reason="they were kept without a machine",
            remedy="name the machine whose roofs are to be drawn: --machine",
        )
    with beside(lambda: operators_tables(analysis)) as is_shown:
        if is_shown or outputs:
            draw_chart(operators_chart(analysis), outputs)


def operators_named(
    archive: Archive, targets: Sequence[str], machine_names: Sequence[str]
) -> OperatorAnalysis | None:
    """Return the operators of a program that a user names alone; None: something else is named.

    Parameters
    ----------
    archive : Archive
    targets : sequence of str
        Records and files; empty: the last program.
    machine_names : sequence of str
        The first one, if there is any, bounds them.

    Raises
    ------
    RidgepointError
        If they are named with others.
    """
    found = [operators_of(archive, target) for target in targets or (None,)]
    known = [analysis for analysis in found if analysis is not None]
    if not known:
        return None
    if len(found) > 1 or len(machine_names) > 1:
        raise RidgepointError(
            "cannot draw the operators of a program with others",
            reason="each operator is a point of its own",
            remedy="name one record, and at most one machine",
        )
    if not machine_names:
        return known[0]
    return analyse_operators(known[0].profile, named_machine(archive, machine_names[0]))
