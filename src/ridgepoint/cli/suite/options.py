"""Options that several suites share, and what every suite does with its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from ridgepoint.cli import common, completing

Command = TypeVar("Command", bound=Callable[..., Any])

list_option = click.option(
    "--list", "only_list", is_flag=True, help="List what there is, and measure nothing."
)
caches_option = click.option(
    "--caches",
    "state",
    type=click.Choice(["cold", "warm", "both"]),
    default="both",
    show_default=True,
    help="State of the caches.",
)
from_option = click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Take the results from a file that -o or --figures wrote, and measure nothing.",
)
repeat_option = click.option(
    "--repeat",
    type=click.IntRange(min=1),
    metavar="N",
    help="Samples of each runtime.  [default: 10 to 30, until the interval is tight]",
)


launcher_option = click.option(
    "--launcher",
    metavar="COMMAND",
    help="Command that starts the ranks, such as 'srun -n {ranks}'.  [default: mpirun]",
)


def limit_option(default_s: int, longer: str) -> Callable[[Command], Command]:
    """Return the option for the time of all samples of a case, which the command gets as `limit_s`.

    Parameters
    ----------
    default_s : int
    longer : str
        What happens to a case whose calls take longer.
    """
    return common.seconds_option(
        "--limit", f"Time for the samples of one case; {longer}.  [default: {default_s}]"
    )


def size_option(summary: str, **options: Any) -> Callable[[Command], Command]:
    """Return the option for sizes, which the command gets as ``sizes``."""
    return click.option(
        "--size",
        "sizes",
        metavar="N[,N...]",
        callback=lambda context, parameter, value: _sizes(value),
        help=summary,
        **options,
    )


def threads_option(summary: str, **options: Any) -> Callable[[Command], Command]:
    """Return the option for a number of threads that this host's CPUs can run at once."""
    return click.option(
        "--threads",
        type=click.IntRange(min=1),
        metavar="N",
        callback=lambda context, parameter, value: _within_this_host(value),
        help=summary,
        **options,
    )


def output_option(what: str, metavar: str) -> Callable[[Command], Command]:
    """Return the option for a file of results, whose folder must be there before any is measured.

    Parameters
    ----------
    what : str
        What is written to it.
    metavar : str
    """
    return click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar=metavar,
        callback=lambda context, parameter, value: _in_a_folder(value),
        help=f"Write {what} to {metavar}.",
    )


def names_argument(
    metavar: str, known: Callable[[], Sequence[str]]
) -> Callable[[Command], Command]:
    """Return the argument for names, each of which must be known.

    Parameters
    ----------
    metavar : str
        One of them, in the help.
    known : callable
        Returns the names there are; called when the command runs.
    """
    return click.argument(
        "names",
        nargs=-1,
        metavar=f"[{metavar}]...",
        shell_complete=completing.words(known),
        callback=lambda context, parameter, value: _known(value, known()),
    )


def states(state: str) -> tuple[Any, ...]:
    """Return the states of the caches that ``--caches`` asks for."""
    return ("cold", "warm") if state == "both" else (state,)


def _sizes(texts: Sequence[str]) -> tuple[int, ...]:
    from ridgepoint.cli.numbers import whole_numbers

    return tuple(sorted({n for text in texts for n in whole_numbers(text, "--size")}))


def _known(names: tuple[str, ...], known: Sequence[str]) -> tuple[str, ...]:
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        raise click.BadParameter(f"there is no {unknown!r}; there are {', '.join(known)}")
    return names


def _within_this_host(value: int | tuple[int, ...] | None) -> int | tuple[int, ...] | None:
    from ridgepoint.host import usable_cpus

    numbers = value if isinstance(value, tuple) else (value or 1,)
    if max(numbers, default=1) > (cpus := len(usable_cpus())):
        raise click.BadParameter(f"{cpus} CPUs may be used")
    return value


def _in_a_folder(path: Path | None) -> Path | None:
    if path is not None:
        common.require_folder(path)
    return path
