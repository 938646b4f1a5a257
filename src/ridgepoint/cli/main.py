"""The entry point: finds the subcommand, and turns what goes wrong into one line and a status."""

from __future__ import annotations

import errno
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

import click

from ridgepoint.cli import examples
from ridgepoint.cli.lazy import LazyGroup
from ridgepoint.core.errors import CannotMeasure, Interrupted, RidgepointError, reason_of, status_of

COMMANDS = {
    "machine": "Measure this machine's ceilings and keep them.",
    "run": "Measure a program, bound it by the machine, draw it.",
    "suite": "Run suites of reference programs: kernels, datacenter, distributed, imaging.",
    "bops": "Count the basic operations of C and C++ programs from their source.",
    "cc": "Compile C so that it counts basic operations: CC='ridgepoint cc' make.",
    "c++": "Compile C++ so that it counts basic operations.",
    "ridgeline": "Say what bounds distributed programs: compute, memory or network.",
    "scale": "Say how many cores and nodes are worth allocating.",
    "transformer": "Say how fast devices generate text with a transformer, and how many it takes.",
    "pipeline": "Combine stages: efficiencies, number of devices, largest gains.",
    "list": "List what was kept.",
    "show": "Show kept measurements or machines again.",
    "plot": "Draw kept measurements together.",
    "report": "Write kept records to one page that a browser opens.",
    "compare": "Compare kept programs or machines, and fail if a limit is not kept.",
    "explain": "Diagnose a kept record: what limits it, what was ruled out, what to do next.",
    "history": "Show how a program changed over its kept records.",
    "fleet": "Rank machines by ceilings and price, and say where a program runs best.",
    "name": "Give a kept record a name.",
    "note": "Add a note to a kept record.",
    "delete": "Delete kept records.",
    "export": "Write kept records to files, such as baselines for a repository.",
    "import": "Put records of files and of other archives into the archive.",
    "include": "Print the folder of ridgepoint.h, which marks regions in C and C++.",
    "completion": "Print the script that makes a shell complete commands and names.",
    "schema": "Print the JSON Schema of a kind of document.",
    "doctor": "Say what can be measured here, and what to do about the rest.",
}


def _print_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        from ridgepoint import __version__

        click.echo(f"ridgepoint, version {__version__}")
        context.exit()


@click.command(
    cls=LazyGroup,
    package="ridgepoint.cli",
    summaries=COMMANDS,
    examples=examples.COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(  # click's own would read the version for every command
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def group() -> None:
    """Measure a machine, measure a program, bound one by the other.

    How fast could this program be on this machine, and what holds it back? Ridgepoint answers
    without hardware counters and without privileges. Begin with: ridgepoint run -- ./program
    """


def main(argv: list[str]) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    argv : list of str
        Arguments, without the program's name.

    Returns
    -------
    int
        0 done, 1 a check failed, 2 wrong use or cannot; the status of a program that failed; 128
        and the number of the signal that asked to stop (130 after Ctrl-C).
    """
    try:
        status = _status_of_command(argv)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.ClickException as error:
        from ridgepoint.cluster.detect import launched

        # Every rank of MPI would say the same.
        if (here := launched()) is None or here.rank == 0:
            error.show()
        return 2
    except RidgepointError as error:
        _complain(str(error))
        return error.exit_status
    except (KeyboardInterrupt, click.Abort) as error:
        # click takes the one for the other.
        cause = error if isinstance(error, Interrupted) else error.__cause__
        said = str(cause or error) or "interrupted"
        _complain(
            f"{said}: results that were already kept stay kept; run the command again for the rest"
        )
        return status_of(cause)
    except OSError as error:
        # Raised by writing what we print; all else is caught where it happens.
        if error.errno == errno.EPIPE:
            # The reader has seen enough; nothing more must be flushed into the pipe at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        remedy = "free some space, or write elsewhere"
        _complain(f"cannot write the output: {reason_of(error)}; {remedy}")
        return 2


def _status_of_command(argv: list[str]) -> object:
    """Run a command, and return what it returns.

    Raises
    ------
    CannotMeasure
        If the system does not load a compiled module of a package that Ridgepoint needs.
    """
    try:
        return group.main(argv, prog_name="ridgepoint", standalone_mode=False)
    except ImportError as error:
        refused = _library_refused(error)
        if refused is None:
            raise
        raise CannotMeasure(
            "cannot load a library that is needed",
            reason=_with_path(refused),
            remedy="install what is missing, and Ridgepoint where programs may be executed",
        ) from error


def _with_path(refused: ImportError) -> str:
    """Return what the system said; of a library that it lacks, it does not say whose that is."""
    said, path = str(refused), str(refused.path)
    return said if path in said else f"{path}: {said}"


def _library_refused(error: BaseException | None) -> ImportError | None:
    """Return what the system said of a compiled module that it did not load, or None."""
    while error is not None:
        if isinstance(error, ImportError) and (error.path or "").endswith(".so"):
            return error
        error = error.__cause__ or error.__context__
    return None


def _complain(message: str) -> None:
    print(f"ridgepoint: {' '.join(message.split())}", file=sys.stderr)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise Interrupted(f"cannot go on: {signal.Signals(number).name} asks to stop", number)


def entry() -> NoReturn:
    """Run the command line of this process."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    sys.exit(main(sys.argv[1:]))
