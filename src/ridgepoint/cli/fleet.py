"""Compare many machines, and say where a program would run best."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common, completing
from ridgepoint.cli.numbers import NumberRange
from ridgepoint.cli.tables import beside, tables_option
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.resources import RESOURCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ridgepoint.core.price import Price
    from ridgepoint.core.table import Table
    from ridgepoint.kept.fleet import Fleet
    from ridgepoint.models.fleet.outliers import Model
    from ridgepoint.models.fleet.programs import ProgramOnFleet
    from ridgepoint.models.work import Metric
    from ridgepoint.show.data_tables.fleet import Ranking

_SHOWN = 5


def _prices(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, Price]:
    """Return the prices of options by the names of their machines.

    Raises
    ------
    click.BadParameter
        If one is no NAME=PRICE.
    """
    from ridgepoint.core.price import Price

    prices = {}
    for value in values:
        name, _, written = value.rpartition("=")
        if not name:
            raise click.BadParameter(f"{value!r} is not NAME=PRICE, such as node7=1.2USD/h")
        if name in prices:
            raise click.BadParameter(f"{name!r} is given two prices")
        try:
            prices[name] = Price.of(written)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error
    return prices


@click.command("fleet")
@click.argument("targets", metavar="[MACHINE...]", nargs=-1, shell_complete=completing.machines)
@click.option(
    "--program",
    "program_name",
    metavar="RECORD",
    shell_complete=completing.measurements,
    help="Bound this kept program on every machine, the best one first.",
)
@click.option(
    "--by",
    "resources",
    multiple=True,
    type=click.Choice(list(RESOURCES)),
    metavar="RESOURCE",
    help="Rank machines by this ceiling alone: fp64, l2, dram, network, ... May be repeated.  "
    "[default: all]",
)
@click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="NAME=PRICE",
    callback=_prices,
    help="Price of a machine, or of each node of a cluster, such as node7=1.2USD/h. May be "
    "repeated.",
)
@click.option(
    "--prices",
    "price_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="TOML file with a table [prices] of names and prices.",
)
@click.option(
    "--cheapest", is_flag=True, help="With --program: order by the price of a run, not by time."
)
@click.option(
    "--cores",
    type=NumberRange(min=0, min_open=True),
    help="With --program: cores that it uses on each machine, at most the machine's.  "
    "[default: as many as where it was measured]",
)
@click.option("--all", "everything", is_flag=True, help=f"Print more than {_SHOWN} machines.")
@common.output_option("the comparison")
@common.kept_work_option
@common.json_option
@tables_option(
    "fleet_ranks", "outliers", "placements", main="fleet_ranks; with --program placements"
)
@common.archive_option
def command(
    *,
    targets: tuple[str, ...],
    program_name: str | None,
    resources: tuple[str, ...],
    prices: dict[str, Price],
    price_file: Path | None,
    cheapest: bool,
    cores: float | None,
    everything: bool,
    outputs: tuple[Path, ...],
    metric: Metric | None,
    as_json: bool,
    archive_path: Path | None,
) -> None:
    """Rank machines by each ceiling and by price, and find those out of line.

    MACHINE is a number or a name of 'ridgepoint list', a file, or a published machine; each
    node of a cluster counts as one. Without MACHINE, all machines of the archive are compared;
    'ridgepoint import' puts those of other hosts there. With --program, machines are ordered by the
    least time that a kept program needs on each, or by its price, with the traffic that their
    caches would cause.
    """
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.fleet import Fleet, members, read_prices
    from ridgepoint.models.fleet import with_prices
    from ridgepoint.show.data_tables.fleet import outliers_table, placements_table, ranks_table
    from ridgepoint.show.fleet_report import fleet_report

    common.require_figure_endings(outputs)
    _require_program(program_name, cheapest=cheapest, cores=cores, metric=metric)
    known = {**(read_prices(price_file) if price_file is not None else {}), **prices}
    if cheapest and not known:
        raise click.UsageError("--cheapest needs prices: give --price or --prices")
    with Archive(archive_path) as archive:
        fleet = Fleet(members=with_prices(members(archive, targets), known), archive=archive_path)
    program = None
    if program_name is not None:
        program = fleet.program(program_name, cores=cores, metric=metric, by_cost=cheapest)
    ranked = {resource: fleet.ranking(resource) for resource in resources or fleet.resources}
    _require_ceilings(ranked)
    alike = fleet.models()

    def tables() -> list[Table]:
        others = [] if program is None else [placements_table(program)]
        return [*others, ranks_table(ranked), outliers_table(alike)]

    with beside(tables) as is_shown:
        if as_json:
            common.print_json(fleet_report(fleet.members, ranked, alike, program))
        elif is_shown:
            from ridgepoint.show.tables import fleet_table

            out = common.console()
            if program is not None:
                out.print(fleet_table.program(program))
            else:
                out.print(fleet_table.ceilings(ranked, most=None if everything else _SHOWN))
                out.print(fleet_table.outliers(alike))
    _write(fleet, ranked, alike, program, outputs)


def _require_ceilings(ranked: Ranking) -> None:
    """Refuse a ceiling that no machine has.

    Raises
    ------
    RidgepointError
    """
    missing = [RESOURCES[name].label for name, found in ranked.items() if not found]
    if missing:
        raise RidgepointError(
            f"cannot rank machines by {' and '.join(missing)}",
            reason="none of them has such a ceiling",
            remedy="leave out --by to see all that they have",
        )


def _write(
    fleet: Fleet,
    ranked: Ranking,
    alike: Sequence[Model],
    program: ProgramOnFleet | None,
    outputs: Sequence[Path],
) -> None:
    """Write a picture, or a page, to each file."""
    if not outputs:
        return
    from ridgepoint.cli.pictures import save_picture
    from ridgepoint.show.charts.fleet import ceilings_page, program_chart
    from ridgepoint.show.page.build import page_of
    from ridgepoint.show.page.fleet import fleet_views

    save_picture(
        ceilings_page(ranked) if program is None else program_chart(program),
        outputs,
        page=lambda: page_of(
            (), title="Fleet", views=fleet_views(fleet.members, ranked, alike, program)
        ),
    )


def _require_program(
    name: str | None, *, cheapest: bool, cores: float | None, metric: Metric | None
) -> None:
    """Refuse options of a program without one.

    Raises
    ------
    click.UsageError
    """
    given = {"--cheapest": cheapest, "--cores": cores is not None, "--work": metric is not None}
    for option, is_given in given.items():
        if is_given and name is None:
            raise click.UsageError(f"{option} is about a program: name one with --program")
