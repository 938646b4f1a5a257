"""What several subcommands share: consoles, options, the archive, the machine in use."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ridgepoint.cli.numbers import QuantityType
from ridgepoint.core.errors import RidgepointError, reason_of
from ridgepoint.core.quantities import Duration

if TYPE_CHECKING:
    from rich.console import Console

    from ridgepoint.ceilings.gpu.device import Device
    from ridgepoint.cli.progress import Progress
    from ridgepoint.core.machine import Cache, Machine
    from ridgepoint.kept.archive import Archive

_WAITING = "waiting for another ridgepoint, which measures this machine now"
_Command = TypeVar("_Command", bound=Callable[..., Any])

archive_option = click.option(
    "--archive",
    "archive_path",
    type=click.Path(path_type=Path),
    help="Archive file.  [default: in the user's data folder, or $RIDGEPOINT_ARCHIVE]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
label_option = click.option(
    "--name",
    "label",
    metavar="NAME",
    callback=lambda context, parameter, value: None if value is None else checked_label(value),
    help="Name the record NAME; 'show', 'plot' and --machine find it by this name.",
)
note_option = click.option("--note", metavar="TEXT", help="Keep TEXT with the record.")


def _work_option(what: str) -> Callable[[_Command], _Command]:
    """Return the option that gives the command a `Metric`, or None, called ``metric``."""
    return click.option(
        "--work",
        "metric",
        type=click.Choice(["flop", "bops"]),
        callback=lambda context, parameter, value: "bop" if value == "bops" else value,
        help=what,
    )


work_option = _work_option(
    "Count work in floating-point operations (flop) or in basic operations, integers included "
    "(bops).  [default: bops where less than a twentieth of them are flop]"
)
kept_work_option = _work_option(
    "Place the program by its floating-point operations (flop) or its basic operations "
    "(bops).  [default: as it was measured]"
)

# What is shown of a measurement, and where it is kept, is not what was asked of it; the machine is
# a record of its own.
_NOT_ASKED = frozenset(
    {
        *("archive_path", "as_json", "bandwidths", "label", "machine_names", "no_plot", "note"),
        *("csv", "outputs", "parquet", "per_cycle", "program", "table_names"),
    }
)


def given_on_command_line() -> dict[str, str]:
    """Return the parameters that the user gave to the command that runs, in its order.

    Returns
    -------
    dict of str to str
        The flag of each by its name in Python; of several flags the last, which is the long one.
    """
    context, given = click.get_current_context(), click.core.ParameterSource.COMMANDLINE
    return {
        parameter.name: parameter.opts[-1]
        for parameter in context.command.params
        if parameter.name is not None and context.get_parameter_source(parameter.name) is given
    }


def options_asked() -> tuple[str, ...]:
    """Return the options of the command that runs as the user gave them, each as a shell has it."""
    params = click.get_current_context().params
    asked = []
    for name, flag in given_on_command_line().items():
        if name in _NOT_ASKED:
            continue
        value = params[name]
        for part in value if isinstance(value, tuple) else (value,):
            word = f"{part:g}" if isinstance(part, float) else str(part)
            if name == "metric" and part == "bop":
                word = "bops"  # as it is written
            asked.append(flag if part is True else shlex.join([flag, word]))
    return tuple(asked)


def checked_label(label: str) -> str:
    """Return a name for a record, if it can be one; for the callback of a parameter.

    Raises
    ------
    click.BadParameter
        If it would be taken for something else.
    """
    from ridgepoint.kept.archive import require_label
    from ridgepoint.published.machine_names import names

    try:
        require_label(label)
    except RidgepointError as error:
        raise click.BadParameter(
            f"{label!r} cannot be the name of a record: {error.reason}"
        ) from error
    if label.endswith(".."):  # archives and files of earlier versions may hold such names
        raise click.BadParameter(f"{label!r} would mean all records of a name")
    if label.lower() in names():
        raise click.BadParameter(f"a published machine is called {label!r}")
    return label


repeat_option = click.option("--repeat", type=click.IntRange(min=1), help="Native runs to time.")
counts_only_option = click.option("--counts-only", is_flag=True, help="Count, but do not time.")


def seconds_option(name: str, what: str) -> Callable[[_Command], _Command]:
    """Return an option for a duration, which the command gets as ``NAME_s``."""
    return click.option(
        name,
        f"{name.removeprefix('--')}_s",
        type=QuantityType(Duration),
        metavar="SECONDS",
        help=what,
    )


def output_option(what: str) -> Callable[[_Command], _Command]:
    """Return the option for a file to write a picture to."""
    return files_option(
        f"Write {what} to FILE: .svg, .png or .pdf by its ending, or .html for a page that a "
        "browser opens. May be repeated."
    )


def files_option(what: str, *, required: bool = False) -> Callable[[_Command], _Command]:
    """Return the option for files to write to, given as ``outputs``."""
    return click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        required=required,
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help=what,
    )


def figures_option(what: str) -> Callable[[_Command], _Command]:
    """Return the option for a folder of figures, which the command gets as ``folder``."""
    return click.option(
        "--figures",
        "folder",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="FOLDER",
        help=what,
    )


def device_option(what: str) -> Callable[[_Command], _Command]:
    """Return the option for a GPU; its number comes as ``device``, and None for the CPUs."""
    return click.option(
        "--device",
        default="cpu",
        metavar="cpu|gpu|gpu:N",
        callback=lambda context, parameter, value: _gpu_index(value),
        help=f"{what}: this host's CPUs, its first GPU, or its GPU of this number, from 0.  "
        "[default: cpu]",
    )


def _gpu_index(text: str) -> int | None:
    """Return which GPU a user names; None: the CPUs.

    Raises
    ------
    click.BadParameter
        If it is neither.
    """
    kind, _, number = text.partition(":")
    if text == "cpu":
        return None
    if kind != "gpu" or (text != "gpu" and not (number.isdecimal() and len(number) <= 4)):
        raise click.BadParameter(f"must be cpu, gpu or gpu:N, such as gpu:1, got {text!r}")
    return int(number or 0)


def console(*, stderr: bool = False) -> Console:
    """Return a console that neither guesses a narrow width in a pipe nor colours one."""
    from rich.console import Console

    from ridgepoint.cluster.detect import launched

    stream = sys.stderr if stderr else sys.stdout
    # A launcher gives its ranks a terminal, wherever it writes to itself.
    is_rank = launched() is not None
    return Console(
        file=stream,
        width=None if stream.isatty() and not is_rank else 100,
        force_terminal=False if is_rank else None,
        highlight=False,
        # Names of users may look like markup, '[/a]', or like emoji, ':a:'.
        markup=False,
        emoji=False,
    )


@contextlib.contextmanager
def progress() -> Iterator[Progress]:
    """Give a progress on standard error, and leave the terminal as it was."""
    from ridgepoint.cli.progress import Progress

    shown = Progress(console(stderr=True))
    try:
        yield shown
    finally:
        shown.close()


def machine_of_this_host(
    archive: Archive, shown: Progress, *, knowing: str | None = None
) -> tuple[int, Machine]:
    """Return this host's kept machine, or measure and keep it."""
    from ridgepoint.ceilings import this_host

    return this_host.machine_of_this_host(
        archive,
        progress=shown.fraction,
        knowing=knowing,
        when_waiting=lambda: shown.step(_WAITING),
    )


@contextlib.contextmanager
def measuring_alone(shown: Progress) -> Iterator[None]:
    """Let one process at a time measure this host: two would disturb each other."""
    from ridgepoint.host.alone import alone_on_this_host

    with alone_on_this_host(lambda: shown.step(_WAITING)):
        yield


def machine_of_gpu(
    archive: Archive, shown: Progress, device: Device, index: int
) -> tuple[int, Machine]:
    """Return a GPU's kept machine, or measure and keep it."""
    from ridgepoint.ceilings.gpu import characterize_gpu, gpu_fingerprint
    from ridgepoint.ceilings.this_host import gpu_name, kept_or_measured

    fingerprints = [gpu_fingerprint(device.facts, quick=quick) for quick in (False, True)]
    return kept_or_measured(
        archive,
        fingerprints,
        lambda: characterize_gpu(device, name=gpu_name(index), progress=shown.fraction),
    )


def machine_to_bound_by(
    archive: Archive, chosen: Machine | None, shown: Progress
) -> tuple[int, Machine]:
    """Return the machine that a user chose, kept now if it was not; None: this host's."""
    if chosen is None:
        return machine_of_this_host(archive, shown)
    from ridgepoint.kept.keeping import keep_once

    return keep_once(archive, chosen), chosen


def caches_of_this_host(geometry: str | None) -> tuple[Cache, ...]:
    """Return this host's caches, or those that a user gives instead of them.

    Raises
    ------
    click.BadParameter
        If the text describes none.
    """
    from ridgepoint.core.geometry import parse_geometry
    from ridgepoint.host import System, data_caches

    caches = System().caches
    if geometry is None:
        return caches
    try:
        given = parse_geometry(geometry)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--cache'") from error
    # Which CPUs share a cache, a geometry does not say: as far as it is known, as the host's do.
    known = data_caches(caches)
    return (
        *(
            replace(cache, cores=known[cache.level].cores) if cache.level in known else cache
            for cache in given
        ),
        *(cache for cache in caches if cache.kind == "instruction"),
    )


def print_json(fields: dict[str, Any]) -> None:
    """Print a document on standard output."""
    from ridgepoint.core.documents import render

    sys.stdout.write(render(fields))


def say(text: str) -> None:
    """Print a line on standard error, as this program's."""
    print(f"ridgepoint: {text}", file=sys.stderr)


def say_kept(record_id: int, label: str | None = None) -> None:
    """Say under which number something was kept, and its name."""
    name = "" if label is None else f", {label!r}"
    say(f"kept as {record_id}{name} (ridgepoint show {record_id})")


def require_figure_endings(paths: tuple[Path, ...], *, also: tuple[str, ...] = ()) -> None:
    """Refuse a figure's file before anything long begins, if it could not be written afterwards.

    Raises
    ------
    RidgepointError
        If an ending is unknown, or the folder is not there.
    """
    known = (".svg", ".png", ".pdf", ".html", *also)
    for path in paths:
        if path.suffix.lower() not in known:
            raise RidgepointError(
                f"cannot write {str(path)!r}",
                reason=f"the ending {path.suffix!r} does not name a format",
                remedy=f"use a name that ends in {', '.join(known)}",
            )
        require_folder(path)


def require_folder(path: Path) -> None:
    """Refuse a file before anything long begins, if there is no folder for it.

    Raises
    ------
    RidgepointError
    """
    if not path.parent.is_dir():
        raise RidgepointError(
            f"cannot write {str(path)!r}",
            reason=f"there is no folder {str(path.parent)!r}",
            remedy="create the folder, or write elsewhere",
        )


def made_folder(path: Path) -> Path:
    """Return a folder, made if it is not there.

    Raises
    ------
    RidgepointError
        If it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RidgepointError(
            f"cannot create the folder {str(path)!r}",
            reason=reason_of(error),
            remedy="give another folder",
        ) from error
    return path


@contextlib.contextmanager
def keeping(keep: Callable[[], int], label: str | None = None) -> Iterator[None]:
    """Keep a record after it was shown, even if showing it fails, and say under which number.

    Neither a full disk nor a closed pipe shall cost the user both the report and the record.
    """
    try:
        yield
    finally:
        say_kept(keep(), label)
