"""Run the distributed programs under MPI, check their results, and compare with the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common
from ridgepoint.cli.suite import durations, options, results
from ridgepoint.cli.tables import tables_option
from ridgepoint.core.presenting import amount

if TYPE_CHECKING:
    from ridgepoint.suites.distributed import DistributedProgram
    from ridgepoint.suites.durations import Piece

_FEW_RANKS = 2
"""Of how many a list tells how long they take, if none are asked for."""


@click.command("distributed")
@options.names_argument("PROGRAM", lambda: tuple(_programs()))
@options.list_option
@click.option(
    "--mpi", "ranks", type=click.IntRange(min=1), metavar="P", help="Number of ranks; required."
)
@options.launcher_option
@click.option(
    "--size",
    type=click.IntRange(min=1),
    metavar="N",
    help="Size of the single PROGRAM; --list says what a size counts.",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    default=1,
    show_default=True,
    help="Number of threads of each rank.",
)
@options.output_option("the results", "FILE.json")
@common.json_option
@tables_option("cases", "parts")
def command(
    *,
    names: tuple[str, ...],
    only_list: bool,
    ranks: int | None,
    launcher: str | None,
    size: int | None,
    threads: int,
    output: Path | None,
    as_json: bool,
) -> int:
    """Run the distributed PROGRAMs over P ranks of MPI; without a name, all.

    Their results are checked, and the time of a step is compared with the model.
    """
    from ridgepoint.show.tables import distributed_table
    from ridgepoint.suites.distributed import run_programs

    if only_list:
        common.console().print(distributed_table.programs())
        pieces = _pieces(names, ranks or _FEW_RANKS, size=size, threads=threads)
        durations.show(pieces, f"a run over {amount(ranks or _FEW_RANKS, 'rank')}", None)
        return 0
    if ranks is None:
        raise click.UsageError("the distributed programs need the number of ranks: --mpi 2")
    if size is not None and len(set(names)) != 1:
        raise click.BadParameter(
            "--size applies to a single program: name the program", param_hint="'--size'"
        )
    pieces = _pieces(names, ranks, size=size, threads=threads)
    what = amount(len(pieces), "program")
    with common.progress() as shown, durations.timed(pieces, what, None, shown.step) as report:
        study = run_programs(
            names, ranks, size=size, threads=threads, launcher=launcher, report=report
        )
    results.show_and_keep(study, as_json=as_json, output=output)
    return 2 if study.unmeasured else 0


def _pieces(
    names: Sequence[str], ranks: int, *, size: int | None, threads: int
) -> tuple[Piece, ...]:
    from ridgepoint.suites.durations import Piece

    own = f"{ranks} ranks of {threads} threads"
    usual = "usual size" if size is None else f"size {size}"
    return tuple(
        Piece(
            key=f"distributed: {name}, {usual}, {own}",
            words=name,
            kind=f"distributed: {name}, {own}",
        )
        for name in dict.fromkeys(names or _programs())
    )


def _programs() -> Mapping[str, DistributedProgram]:
    from ridgepoint.suites.distributed import PROGRAMS

    return PROGRAMS
