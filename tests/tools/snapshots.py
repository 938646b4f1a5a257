"""What every command prints, draws and writes of stored measurements, as texts to compare.

``tests/cli/test_snapshots.py`` holds them to those of tests/snapshots/shown. By hand::

    python tests/tools/snapshots.py FOLDER      # print and draw everything there
    python tests/tools/snapshots.py --renew     # in place of what is kept; then: git diff

Nothing of this host gets into them: no clock, no width of a terminal, no CPU. Pictures are kept as
what they say; see `pictures_as_text`.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

SHOWN = Path(__file__).parents[1] / "snapshots" / "shown"
_ENVIRONMENT = {"COLUMNS": "80", "LANG": "C.UTF-8", "TZ": "UTC"}
_PASSED_ON = ("HOME", "PATH", "TMPDIR", "MPLCONFIGDIR")
_PICTURES = (".svg", ".png", ".pdf", ".html")
_AGAIN = "results.json"
"""What a suite that read its results writes: the same."""

_HINT = re.compile(r"^Try '.*' for help\.\n", re.MULTILINE)
"""Which of its options click names differs by version."""
_LONG = re.compile(r"-?(?=[\d.]{14})\d+\.\d+(?:e[+-]?\d+)?")
"""Numbers whose last digits depend on what is added first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Where cases are run.

    Parameters
    ----------
    folder : Path
        Files that commands are given are here, as is the archive.
    written : Path
        What commands write goes here.
    """

    folder: Path
    written: Path


Case = str | Callable[[Path], None]
"""A command line, in which ``{written}`` and ``{folder}`` are those of the bench; or a call that
prints, and writes files that begin with the path that it is given."""


@contextlib.contextmanager
def bench() -> Iterator[Bench]:
    """Give a bench with an archive of every kind of record, and an environment always the same."""
    import kept_records
    import snapshot_cases

    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        archive = folder / "archive.sqlite3"
        environment = {**_ENVIRONMENT, **passed_on, "RIDGEPOINT_ARCHIVE": str(archive)}
        stack.enter_context(mock.patch.dict(os.environ, environment, clear=True))
        kept_records.fill(archive)
        snapshot_cases.write_files(folder)
        yield Bench(folder=folder, written=folder / "written")


def take(name: str, case: Case, at: Bench) -> dict[str, str]:
    """Return what a case prints and writes, by the names of the files that it is kept in."""
    import page_as_text
    import pictures_as_text

    shutil.rmtree(at.written, ignore_errors=True)
    (at.written / name).parent.mkdir(parents=True)
    out, err = _stream(), _stream()
    words, status = "", 0
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pictures_as_text.written_as_text(),
    ):
        if callable(case):
            case(at.written / name)
        else:
            from ridgepoint.cli.main import main

            words = case.format(folder=at.folder, written=at.written / name)
            status = main(shlex.split(words))
    taken = {
        f"{path.relative_to(at.written)}{'.txt' if path.suffix in _PICTURES else ''}":
        page_as_text.said(path) if path.suffix == ".html" else path.read_text(encoding="utf-8")
        for path in sorted(at.written.rglob("*"))
        if path.is_file() and path.name != _AGAIN
    }  # fmt: skip
    said, complained = _LONG.sub(_rounded, _read(out)), _HINT.sub("", _read(err))
    if "--json" in shlex.split(words) and not status:
        taken[f"{name}.json"] = said
        said = ""
    if said or complained or status:
        heading = [f"$ ridgepoint {words}"] if words else []
        after = ["--- standard error", complained.rstrip("\n")] if complained else []
        after += [f"--- status {status}"] if status else []
        lines = [*heading, *([said.rstrip("\n")] if said else []), *after]
        taken[f"{name}.txt"] = "\n".join(lines) + "\n"
    places = {str(at.written / name): "OUT", str(at.folder): "FOLDER"}
    return {file: _without(text, places) for file, text in taken.items()}


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _read(stream: io.TextIOWrapper) -> str:
    raw: bytes = stream.buffer.getvalue()  # type: ignore[attr-defined]
    # Tables fill their last column with blanks, which no editor keeps.
    return "".join(f"{line.rstrip()}\n" for line in raw.decode().splitlines())


def _rounded(number: re.Match[str]) -> str:
    return repr(float(f"{float(number[0]):.12g}"))


def _without(text: str, places: Mapping[str, str]) -> str:
    for place, name in places.items():
        text = text.replace(place, name)
    return text


def write_all(folder: Path) -> None:
    """Run every case; write what is printed and drawn to a folder."""
    from snapshot_cases import CASES

    with bench() as at:
        for name, case in CASES.items():
            for file, text in take(name, case, at).items():
                path = folder / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")


def main() -> None:
    """Write all snapshots to the folder that the command line names."""
    if sys.argv[1:] == ["--renew"]:
        with tempfile.TemporaryDirectory() as folder:
            write_all(Path(folder))
            shutil.rmtree(SHOWN, ignore_errors=True)
            shutil.copytree(folder, SHOWN)
    elif len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        write_all(Path(sys.argv[1]))
    else:
        sys.exit("usage: python tests/tools/snapshots.py FOLDER | --renew")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
    main()
