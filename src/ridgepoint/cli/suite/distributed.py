"""Run the distributed programs under MPI, check their results, and compare with the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Group

from ridgepoint.cli import common
from ridgepoint.cli.suite import options, results
from ridgepoint.core.errors import RidgepointError

if TYPE_CHECKING:
    from ridgepoint.suites.distributed import DistributedProgram, DistributedRun

_SCHEMA = 1


@click.command("distributed")
@options.names_argument("PROGRAM", lambda: tuple(_programs()))
@options.list_option
@click.option(
    "--mpi", "ranks", type=click.IntRange(min=1), metavar="P", help="Number of ranks; required."
)
@click.option(
    "--launcher",
    metavar="COMMAND",
    help="What starts the ranks, as 'srun -n {ranks}'.  [default: mpirun]",
)
@click.option(
    "--size",
    type=click.IntRange(min=1),
    metavar="N",
    help="Size of the one PROGRAM that is named; --list says what a size counts.",
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

    Their results are checked, and the time of a step is printed beside what the model says of it.
    """
    from ridgepoint.core.documents import render
    from ridgepoint.show.files import replace_file
    from ridgepoint.show.tables import distributed_table

    chosen = tuple(dict.fromkeys(names)) or tuple(_programs())
    if only_list:
        common.console().print(distributed_table.programs())
        return 0
    if ranks is None:
        raise click.UsageError("the distributed programs need the number of ranks: --mpi 2")
    if size is not None and len(chosen) > 1:
        raise click.BadParameter(
            "--size applies to a single program: name it", param_hint="'--size'"
        )
    runs, failures = _measured(chosen, ranks=ranks, launcher=launcher, size=size, threads=threads)

    def keep() -> None:
        if output is not None:
            replace_file(output, render(_document(runs)).encode(), what="the results")

    results.show_and_keep(
        lambda: distributed_table.distributed(runs) if runs else Group(),
        document=lambda: _document(runs),
        as_json=as_json,
        keep=keep,
    )
    for failure in failures:
        common.say(str(failure))
    return 2 if failures else 0


def _programs() -> Mapping[str, DistributedProgram]:
    from ridgepoint.suites.distributed import PROGRAMS

    return PROGRAMS


def _measured(
    names: Sequence[str], *, ranks: int, launcher: str | None, size: int | None, threads: int
) -> tuple[list[DistributedRun], list[RidgepointError]]:
    """Run the programs; one that fails stops no other, unless none can be started."""
    from ridgepoint.core.errors import CannotMeasure, CannotStart, ProgramFailed
    from ridgepoint.suites.distributed import run_program

    runs: list[DistributedRun] = []
    failures: list[RidgepointError] = []
    with common.progress() as shown:
        for name in names:
            shown.step(name)
            try:
                run = run_program(
                    name, ranks, size=size, threads=threads, launcher=launcher,
                    options=("--check", "--ceilings"),
                )  # fmt: skip
            except CannotStart:
                raise
            except (ProgramFailed, CannotMeasure) as failure:
                failures.append(failure)
            else:
                runs.append(run)
    return runs, failures


def _document(runs: Sequence[DistributedRun]) -> dict[str, Any]:
    return {"schema": _SCHEMA, "kind": "distributed", "results": list(runs)}
