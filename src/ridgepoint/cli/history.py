"""Show how a program changed over its kept records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common, completing
from ridgepoint.cli.compare import count_tolerance_option, time_tolerance_option, tolerances
from ridgepoint.cli.tables import beside, tables_option
from ridgepoint.core.errors import RidgepointError

if TYPE_CHECKING:
    from ridgepoint.kept.lookup import Found
    from ridgepoint.models.comparing.history import History
    from ridgepoint.models.comparing.programs import Program
    from ridgepoint.show.chart import Chart, Page


def _quantities(
    context: click.Context, parameter: click.Parameter, texts: Sequence[str]
) -> tuple[str, ...]:
    from ridgepoint.models.comparing.gates import quantity_of

    try:
        return tuple(dict.fromkeys(map(quantity_of, texts)))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.command("history")
@click.argument(
    "names", metavar="NAME...", nargs=-1, required=True, shell_complete=completing.measurements
)
@click.option(
    "--of",
    "quantities",
    multiple=True,
    metavar="QUANTITY",
    callback=_quantities,
    help="What to show: runtime, work, instructions, dram, ... May be repeated.  "
    "[default: runtime]",
)
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the last N records.")
@time_tolerance_option
@count_tolerance_option
@common.json_option
@tables_option("history")
@common.output_option("the amounts over the records")
@common.archive_option
def command(
    *,
    names: tuple[str, ...],
    quantities: tuple[str, ...],
    last: int | None,
    tolerance: float | None,
    count_tolerance: float | None,
    as_json: bool,
    outputs: tuple[Path, ...],
    archive_path: Path | None,
) -> None:
    """Show how a program changed over its kept records, the oldest first.

    NAME is a name or a command of 'ridgepoint list', which means all records of it; or a number,
    which means this record and all later ones of its name or command. Several NAMEs, numbers or
    files are shown together, in their order.

    A change is told apart from noise by the test of 'ridgepoint compare', and confirmed by the next
    record.
    """
    from ridgepoint.models.comparing.history import history
    from ridgepoint.show.compare_report import history_report
    from ridgepoint.show.data_tables.history import history_tables

    common.require_figure_endings(outputs)
    chosen = _chosen(names, archive_path)[-(last or 0) :]
    programs = [_program(one) for one in chosen]
    limits = tolerances(tolerance, count_tolerance)
    histories = [
        history(programs, quantity, tolerances=limits) for quantity in quantities or ("runtime",)
    ]
    labels = [_label(one) for one in chosen]
    with beside(lambda: history_tables(histories, labels)) as is_shown:
        if as_json:
            common.print_json(history_report(histories, labels))
        elif is_shown:
            _show(histories, labels, title=names[0])
    if outputs:
        from ridgepoint.cli.pictures import save_picture
        from ridgepoint.show.page.compare import history_page

        save_picture(
            _picture(histories, labels, title=names[0]),
            outputs,
            page=lambda: history_page(histories, labels, title=names[0]),
        )


def _chosen(names: Sequence[str], archive_path: Path | None) -> list[Found]:
    """Return the records of one name, or several records in their order."""
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.selecting import is_series, of_record, selected, series

    with Archive(archive_path) as archive:
        name = names[0].removesuffix("..")
        if len(names) > 1 or (Path(names[0]).is_file() and not is_series(archive, name)):
            return selected(archive, names)
        return [of_record(archive, record) for record in series(archive, name)]


def _program(one: Found) -> Program:
    from ridgepoint.core.measurement import Timing
    from ridgepoint.kept.archive_refusals import no_program
    from ridgepoint.models.comparing.programs import program

    if isinstance(one.value, Timing | tuple):
        return program(one.title, one.value)
    raise RidgepointError(
        f"cannot show the history of {one.title!r}",
        reason=no_program(one.value),
        remedy="give the records of a program; see 'ridgepoint list --kind measurement'",
    )


def _label(one: Found) -> str:
    return str(one.record.id) if one.record is not None and one.record.id else one.title


def _show(histories: Sequence[History], labels: Sequence[str], *, title: str) -> None:
    from ridgepoint.cli.output import show_plot
    from ridgepoint.show.charts.history import history_chart
    from ridgepoint.show.tables.history_table import history_table

    out = common.console()
    out.print(history_table(histories, labels))
    for history in histories:
        if any(moment.value is not None for moment in history.moments):
            out.print()
            show_plot(history_chart(history, labels, title=title), stderr=False)


def _picture(histories: Sequence[History], labels: Sequence[str], *, title: str) -> Chart | Page:
    from ridgepoint.show.chart import Page
    from ridgepoint.show.charts.history import history_chart

    charts = tuple(history_chart(history, labels, title=title) for history in histories)
    return charts[0] if len(charts) == 1 else Page(charts=charts)
