"""What is left of a run whose counting was stopped: its times, shown and kept."""

from __future__ import annotations

import sys
from dataclasses import replace

from ridgepoint.cli import common
from ridgepoint.cli.run_options import RunOptions
from ridgepoint.cli.tables import beside
from ridgepoint.core.caution import Caution
from ridgepoint.core.documents import render
from ridgepoint.core.errors import Interrupted, RidgepointError, status_of
from ridgepoint.core.measurement import Timing
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.files import replace_file
from ridgepoint.show.data_tables.run import timing_tables
from ridgepoint.show.report import timing_report
from ridgepoint.show.tables.timing_table import timing as timing_table
from ridgepoint.show.words import printable


def show_timing(timing: Timing, *, as_json: bool, stderr: bool = False) -> None:
    """Print the times of a program that was not counted, as `show_run` does a measurement.

    Parameters
    ----------
    timing : Timing
    as_json : bool
    stderr : bool
        Whether the report goes to standard error, since standard output is the program's.
    """
    with beside(lambda: timing_tables(timing)) as is_shown:
        if as_json:
            common.print_json(timing_report(timing))
        elif is_shown or stderr:
            common.console(stderr=stderr).print(timing_table(timing))


def end_without_counts(
    timing: Timing,
    error: RidgepointError | KeyboardInterrupt,
    archive: Archive,
    machine_id: int | None,
    options: RunOptions,
) -> int:
    """Show and keep what is known of a program whose counting was stopped.

    Parameters
    ----------
    timing : Timing
    error : RidgepointError or KeyboardInterrupt
        What stopped it.
    archive : Archive
    machine_id : int or None
        The kept machine; None: there is none.
    options : RunOptions
        Reports are written; figures need counts, and that they are missing is said.

    Returns
    -------
    int
        The exit status: 2 where it could not be counted, that of the signal where one stopped it.
    """
    timing = replace(timing, uncounted=_why(error))
    with common.keeping(
        lambda: archive.keep_measurement(
            timing, machine_id, label=options.label, note=options.note
        ),
        options.label,
    ):
        show_timing(timing, as_json=options.as_json, stderr=True)
        for path in options.outputs:
            if path.suffix.lower() == ".json":
                document = render(timing_report(timing)).encode()
                replace_file(path, document, what="the report")
            else:
                _say(
                    f"{str(path)!r} is not drawn: without work and traffic the program has no "
                    "place on the roofline"
                )
    if options.as_json:
        _say(str(error) or "interrupted")
    return error.exit_status if isinstance(error, RidgepointError) else status_of(error)


def _why(error: RidgepointError | KeyboardInterrupt) -> Caution:
    """Return why a program was not counted."""
    if isinstance(error, RidgepointError):
        return Caution("not-counted", f"{error.what}: {error.reason}", error.remedy)
    by = str(error) if isinstance(error, Interrupted) else "Ctrl-C"
    return Caution(
        "not-counted",
        f"it was stopped before counting ended ({by.removeprefix('cannot go on: ')})",
        "let counting end, stop it with --limit SECONDS, or give the program less to do",
    )


def _say(message: str) -> None:
    print(f"ridgepoint: {printable(' '.join(message.split()))}", file=sys.stderr)
