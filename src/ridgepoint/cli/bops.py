"""Count the basic operations of C, C++ and Rust programs from their source."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ridgepoint.cli import common
from ridgepoint.cli.cc import say
from ridgepoint.cli.tables import beside, prints_document, tables_option

if TYPE_CHECKING:
    from ridgepoint.core.basic_operations import BasicOperations
    from ridgepoint.core.timed import Timed
    from ridgepoint.meters.source import SourceCounts


class _WithProgram(click.Command):
    """A command whose ``--`` parts its own arguments from those of a program."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what stands behind ``--`` apart."""
        cut = args.index("--") if "--" in args else len(args)
        ctx.params["program"] = tuple(args[cut + 1 :])
        return super().parse_args(ctx, args[:cut])


@click.command("bops", cls=_WithProgram)
@click.argument("sources", nargs=-1, metavar="[FILE]... [-- ARGUMENT...]")
@click.option(
    "--cflags",
    default="-O2",
    show_default=True,
    metavar="FLAGS",
    help=(
        "Options for the compiler (rustc too) and the linker, written as in a shell: --cflags "
        "'-O3 -lm'."
    ),
)
@click.option(
    "--run",
    "is_built",
    is_flag=True,
    help=("Run a program that 'ridgepoint cc' made: --run -- ./prog."),
)
@common.repeat_option
@common.counts_only_option
@common.seconds_option("--timeout", "End any single run that takes longer.")
@click.option(
    "--top",
    "most",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Functions and lines to show.",
)
@common.json_option
@tables_option("functions", "lines")
def command(
    *,
    program: tuple[str, ...],
    sources: tuple[str, ...],
    cflags: str,
    is_built: bool,
    repeat: int | None,
    counts_only: bool,
    timeout_s: float | None,
    most: int,
    as_json: bool,
) -> int:
    """Compile FILES, run the program with the arguments after --, and count its BOPs.

    FILES are sources in C or C++, or the root file of a Rust crate. The program is compiled twice:
    with counters, which gives the count, and without, which gives the time. To count a program
    that has a build system, build it with 'ridgepoint cc' and 'ridgepoint c++' as its compilers,
    and count it with --run. The program's own output is shown once, and the report goes to
    standard error; with --json the report goes to standard output. The exit status is that of the
    program.
    """
    from ridgepoint.meters.source import built

    if is_built and (sources or not program):
        raise click.UsageError("--run takes a program after -- and no files: --run -- ./prog")
    if is_built:
        made: AbstractContextManager[tuple[Path | None, Path | None]] = nullcontext((None, None))
    else:
        made = built(sources, _flags(cflags), say=say, with_plain=not counts_only)
    with made as (counting, plain):
        run = list(program) if counting is None else [str(counting), *program]
        native = None if plain is None else [str(plain), *program]
        counts, timed = _measure(run, native, repeat=repeat, timeout_s=timeout_s, as_json=as_json)
        shown = list(program) if counting is None else [counting.name, *program]
        _show(shown, counts, timed, most=most, as_json=as_json)
    return counts.exit_status


def _flags(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise click.BadParameter(str(error).lower(), param_hint="'--cflags'") from error


def _measure(
    command: Sequence[str],
    native: Sequence[str] | None,
    *,
    repeat: int | None,
    timeout_s: float | None,
    as_json: bool,
) -> tuple[SourceCounts, Timed | None]:
    """Count a program, and time it without counters if it can be and did end well."""
    from ridgepoint.host.run import resolve, run
    from ridgepoint.host.standard_input import own_standard_input
    from ridgepoint.meters.source import count
    from ridgepoint.profiling.timing import Native, time_program

    resolved = resolve(command)
    with own_standard_input() as stdin, common.progress() as shown:
        shown.step("counting", True)
        counts = count(
            resolved,
            launch=lambda line, variables: run(
                line,
                stdin=stdin,
                output="stderr" if prints_document(as_json=as_json) else "own",
                timeout_s=timeout_s,
                environment=variables,
            ),
        )
        if native is None or not counts.complete or counts.exit_status:
            return counts, None
        timed, _ = time_program(
            Native(
                command=tuple(native),
                stdin=stdin,
                repeat=repeat,
                timeout_s=timeout_s,
                ignore_status=False,
                output="discard",
                report=shown.step,
            )
        )
        return counts, timed


def _show(
    command: Sequence[str],
    counts: SourceCounts,
    timed: Timed | None,
    *,
    most: int,
    as_json: bool,
) -> None:
    from ridgepoint.show.data_tables import others
    from ridgepoint.show.tables.bops_tables import bops_tables

    fields = document(command, counts, timed)
    with beside(lambda: others.bops_tables(fields)):
        if as_json:
            common.print_json(fields)
        else:
            common.console(stderr=True).print(bops_tables(command, counts, timed, most=most))


def document(command: Sequence[str], counts: SourceCounts, timed: Timed | None) -> dict[str, Any]:
    """Return the report as fields of a JSON object; rates in BOP/s, times in s."""
    from ridgepoint.core.documents import fields_of, report

    def done(operations: BasicOperations) -> dict[str, Any]:
        return {"bops": operations.total, "classes": operations}

    fields = {
        "command": command,
        **done(counts.operations),
        "functions": [
            {**fields_of(function, "name", "symbol", "file", "line"), **done(function.operations)}
            for function in counts.functions
        ],
        "lines": [
            {**fields_of(line, "file", "line"), **done(line.operations)} for line in counts.lines
        ],
        **fields_of(counts, "complete", "exit_status", "processes"),
        **fields_of(timed, "runtime_s"),
        "bops_per_s": counts.bop_per_s(timed),
        "cautions": (*counts.cautions, *(() if timed is None else timed.cautions)),
    }
    return report("bops", fields)
