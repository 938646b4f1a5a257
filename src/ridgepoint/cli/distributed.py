"""Run the distributed programs under MPI, check their results, and compare with the model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common
from ridgepoint.core.errors import RidgepointError

if TYPE_CHECKING:
    from ridgepoint.suites.distributed import DistributedRun

NAME = "distributed"

_SCHEMA = 1


def command(
    names: Sequence[str],
    *,
    only_list: bool,
    ranks: int | None,
    launcher: str | None,
    size: int | None,
    threads: Sequence[int],
    output: Path | None,
    as_json: bool,
) -> int:
    """Do what ``ridgepoint suite distributed`` was asked for; return the exit status."""
    chosen = _chosen(names)
    if only_list:
        from ridgepoint.show.tables.distributed_table import programs

        common.console().print(programs())
        return 0
    if ranks is None:
        raise click.BadParameter(
            f"the {NAME} programs need the number of ranks: --mpi 2", param_hint="'--mpi'"
        )
    if size is not None and len(chosen) > 1:
        raise click.BadParameter(
            "--size applies to a single program: name it", param_hint="'--size'"
        )
    if len(threads) > 1:
        raise click.BadParameter(
            f"the {NAME} programs take one number of threads", param_hint="'--threads'"
        )
    if output is not None:
        common.require_folder(output)
    runs, failures = _measured(
        chosen, ranks=ranks, launcher=launcher, size=size, threads=threads[0] if threads else 1
    )
    if output is not None:
        from ridgepoint.show.files import replace_file

        replace_file(output, _encoded(runs), what="the results")
    if as_json:
        sys.stdout.write(_encoded(runs).decode())
    elif runs:
        from ridgepoint.show.tables.distributed_table import distributed

        common.console().print(distributed(runs))
    for failure in failures:
        print(f"ridgepoint: {failure}", file=sys.stderr)
    return 2 if failures else 0


def _chosen(names: Sequence[str]) -> list[str]:
    from ridgepoint.suites.distributed import PROGRAMS

    unknown = [name for name in names if name not in PROGRAMS]
    if unknown:
        raise click.BadParameter(
            f"there is no {unknown[0]!r}; there are {', '.join(PROGRAMS)}", param_hint=f"'{NAME}'"
        )
    return list(dict.fromkeys(names)) or list(PROGRAMS)


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


def _encoded(runs: Sequence[DistributedRun]) -> bytes:
    import msgspec

    document = {"schema": _SCHEMA, "kind": NAME, "results": list(runs)}
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
