"""The options --csv, --parquet and --table, and what writes the tables that they ask for.

A command says with `tables_option` which tables it has, and makes its report inside of `beside`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from ridgepoint.cli.common import made_folder, require_folder
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.names import named_twice

if TYPE_CHECKING:
    from ridgepoint.core.table import Table

_Command = TypeVar("_Command", bound=Callable[..., Any])

TABLES = ("csv", "parquet", "table_names")
"""What click calls these options."""

OF_RUN = (
    *("parts", "levels", "lines", "python_lines", "mix", "samples", "miss_curve", "ranks"),
    *("causes", "advice", "cautions"),
)
OF_OPERATORS = (
    *("operators", "modules", "operator_kinds", "phases", "operator_samples"),
    "operator_cautions",
)
OF_MACHINE = (
    *("ceilings", "ceiling_samples", "caches", "latency", "machine_cautions"),
    *("changes", "network", "nodes"),
)
"""Names of the tables of commands, known before anything that makes them is imported."""

_ASKED = "ridgepoint.cli.tables"
_STDOUT = "-"


@dataclass(slots=True)
class _Asked:
    """What a user asks for: files by their format, and names of tables; empty: the first one."""

    files: dict[str, list[str]] = field(default_factory=lambda: {"csv": [], "parquet": []})
    names: tuple[str, ...] = ()
    is_being_written: bool = False

    @property
    def is_any(self) -> bool:
        """Whether any table is asked for."""
        return any(self.files.values())

    @property
    def is_on_stdout(self) -> bool:
        """Whether a table is to be printed."""
        return _STDOUT in self.files["csv"]


def tables_option(*names: str, main: str = "") -> Callable[[_Command], _Command]:
    """Return the options for tables, of which the command gets nothing: `beside` knows them.

    Parameters
    ----------
    *names : str
        Names of the command's tables.
    main : str
        What is written unless a table is named, for the help; empty: the first one.
    """
    others = names[1:]
    folder = "; if FILE is a folder, every table is written there" if others else ""

    def decorated(command: _Command) -> _Command:
        options = [
            click.option(
                "--csv",
                multiple=True,
                metavar="FILE",
                expose_value=False,
                callback=_files,
                help=f"Write the results as a table of CSV to FILE{folder}. With -, print it "
                "instead of the report.",
            ),
            click.option(
                "--parquet",
                multiple=True,
                metavar="FILE",
                expose_value=False,
                callback=_files,
                help="The same as Parquet (pip install 'ridgepoint[parquet]').",
            ),
        ]
        if others:
            options.append(
                click.option(
                    "--table",
                    "table_names",
                    multiple=True,
                    type=click.Choice(names),
                    metavar="TABLE",
                    expose_value=False,
                    callback=_names,
                    help="With --csv or --parquet, which table to write. Of a folder, may be "
                    f"repeated: {_listed(names)}.  [default: {main or names[0]}]",
                )
            )
        checked = _checking(command)
        for option in reversed(options):
            checked = option(checked)
        return checked

    return decorated


def _checking(command: _Command) -> _Command:
    """Return a command that refuses contradictions before it does anything."""

    @wraps(command)
    def checked(*arguments: Any, **options: Any) -> Any:
        asked = _asked(click.get_current_context())
        _refuse_contradictions(asked, as_json=options.get("as_json", False))
        if options.get("markdown") and asked.is_on_stdout:
            raise click.UsageError("--markdown and --csv - both print on standard output: give one")
        if options.get("only_list") and asked.is_any:
            raise click.UsageError(
                "--list says what there is, and has no results for --csv or --parquet"
            )
        return command(*arguments, **options)

    return cast(_Command, checked)


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def prints_document(*, as_json: bool) -> bool:
    """Return whether standard output is for a document, JSON or CSV, and for nothing else."""
    return as_json or _asked(click.get_current_context(silent=True)).is_on_stdout


@contextmanager
def beside(tables: Callable[[], Sequence[Table]]) -> Iterator[bool]:
    """Give whether to show the report, and write the tables that were asked for after it.

    They are written even if the report cannot be shown. Within another `beside`, whose tables
    hold these too, nothing is written.

    Parameters
    ----------
    tables : callable
        Returns all tables of the result, the one that is written by default first. Called only if
        one is asked for.

    Raises
    ------
    RidgepointError
        If there is no such table, or it cannot be written.
    """
    asked = _asked(click.get_current_context(silent=True))
    if asked.is_being_written or not asked.is_any:
        yield not asked.is_on_stdout
        return
    asked.is_being_written = True
    try:
        yield not asked.is_on_stdout
    finally:
        asked.is_being_written = False
        _write(asked, tables())


def _asked(context: click.Context | None) -> _Asked:
    if context is None:
        return _Asked()
    asked = context.meta.setdefault(_ASKED, _Asked())
    assert isinstance(asked, _Asked)
    return asked


def _files(context: click.Context, parameter: click.Parameter, files: tuple[str, ...]) -> None:
    """Remember files, and refuse those that could not be written afterwards."""
    made = parameter.name or ""
    for name in files:
        if not name or "\0" in name:
            raise click.BadParameter("the name of the file is empty")
        if name == _STDOUT:
            if made == "parquet":
                raise click.BadParameter("Parquet cannot be printed: name a file")
        elif not _is_folder(name):
            require_folder(Path(name))
    if files and made == "parquet":
        from ridgepoint.core.frames import require

        require("pyarrow", "parquet", what="a Parquet file")
    _asked(context).files[made].extend(files)


def _names(context: click.Context, parameter: click.Parameter, names: tuple[str, ...]) -> None:
    _asked(context).names = names


def _refuse_contradictions(asked: _Asked, *, as_json: bool) -> None:
    """Refuse options for tables that contradict each other or --json.

    Raises
    ------
    click.UsageError
    """
    names = [name for files in asked.files.values() for name in files]
    if as_json and asked.is_on_stdout:
        raise click.UsageError("--json and --csv - both print on standard output: give one")
    if asked.names and not names:
        raise click.UsageError("--table applies only with --csv or --parquet")
    files = [name for name in names if not _is_folder(name)]
    if files and len(set(asked.names)) > 1:
        raise click.UsageError("a file holds one table: give one --table, or a folder")
    if (twice := named_twice(files)) is not None:
        raise click.UsageError(f"{twice!r} is given twice: name each file once")


def _is_folder(name: str) -> bool:
    return name.endswith("/") or Path(name).is_dir()


def _write(asked: _Asked, tables: Sequence[Table]) -> None:
    """Write or print what was asked for.

    Raises
    ------
    RidgepointError
    """
    by_name = {table.name: table for table in tables}
    for name in asked.names:
        if name not in by_name:
            raise RidgepointError(
                f"cannot write the table {name!r}",
                reason="this result has no such table",
                remedy=f"use one of {', '.join(by_name)}",
            )
    chosen = [by_name[name] for name in dict.fromkeys(asked.names)]
    for kind, files in asked.files.items():
        for name in files:
            if not _is_folder(name):
                _write_one((chosen or tables)[0], kind, name)
                continue
            folder = made_folder(Path(name))
            for table in chosen or tables:
                _write_one(table, kind, str(folder / f"{table.name}.{kind}"))


def _write_one(table: Table, kind: str, name: str) -> None:
    from ridgepoint.core.csv_text import csv_text
    from ridgepoint.core.frames import parquet
    from ridgepoint.kept.files import replace_file

    content = parquet(table) if kind == "parquet" else csv_text(table).encode()
    if name != _STDOUT:
        replace_file(Path(name), content, what="the table")
        return
    # Not as text, which would end lines twice.
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
