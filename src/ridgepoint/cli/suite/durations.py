"""What every suite says of its duration, and how it learns that."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ridgepoint.cli import common

if TYPE_CHECKING:
    from ridgepoint.suites.durations import Piece


def duration(pieces: Sequence[Piece], archive_path: Path | None) -> str:
    """Return how long pieces take, in words, such as "about 3 min"."""
    from ridgepoint.core.units import format_duration
    from ridgepoint.kept import durations
    from ridgepoint.suites.durations import forecast

    kept, elsewhere = durations.read(archive_path).pieces, durations.elsewhere().pieces
    expected = forecast(pieces, {**elsewhere, **kept})
    if not expected.known:
        return "how long it takes is known after a first run"
    words = [f"about {format_duration(max(1.0, expected.seconds))}"]
    if forecast(pieces, kept).unknown > expected.unknown:
        words.append("judging by another machine")
    if expected.unknown:
        words.append(f"and the time of {expected.unknown} that never ran")
    return ", ".join(words)


def show(pieces: Sequence[Piece], what: str, archive_path: Path | None) -> None:
    """Print how long pieces take, below a list of them."""
    common.console().print(f"{what}: {duration(pieces, archive_path)}")


@contextlib.contextmanager
def timed(
    pieces: Sequence[Piece],
    what: str,
    archive_path: Path | None,
    report: Callable[[str], None],
    *,
    is_usual: bool = True,
) -> Iterator[Callable[[str], None]]:
    """Say how long a run takes; give what its steps are reported to, and keep what they took.

    Parameters
    ----------
    pieces : sequence of Piece
    what : str
        What runs, such as "12 cases".
    archive_path : Path or None
    report : callable
        Called with each step, too.
    is_usual : bool
        Whether it runs as it usually does: how long something else took is not kept.
    """
    from ridgepoint.kept import durations
    from ridgepoint.suites.durations import Stopwatch

    common.say(f"{what}: {duration(pieces, archive_path)}")
    watch = Stopwatch(pieces, report)
    yield watch.step
    if is_usual:
        durations.keep(watch.took(), archive_path)
