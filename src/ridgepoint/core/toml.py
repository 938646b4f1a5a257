"""TOML files, read strictly: an error names the file, the line, the key and what to write."""

from __future__ import annotations

import errno
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources.abc import Traversable
from typing import Any, TypeVar

import msgspec

from ridgepoint.core.errors import InvalidDocument, reason_of
from ridgepoint.core.faults import Path, decode_own, fault, shown
from ridgepoint.core.toml_lines import line_of, lines_of

Kind = TypeVar("Kind")

_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of a TOML file, or the whole file, with its position.

    Parameters
    ----------
    what : str
        What the file should hold, for messages: ``"the pipeline"``.
    file : str
    values : mapping
    text : str
        Text of the whole file.
    form : str
        Where the file's form is documented, added to every remedy; empty: nowhere.
    path : Path
        Keys that lead to it; empty: the whole file.
    elsewhere : mapping
        Paths of the values that were merged from other tables.
    """

    what: str
    file: str
    values: Mapping[str, Any]
    text: str
    form: str = ""
    path: Path = ()
    elsewhere: Mapping[str, Path] = field(default_factory=dict)

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def wrong(self, key: str | None, reason: str, remedy: str | None = None) -> InvalidDocument:
        """Return an error about a key, or about the table if `key` is None."""
        return self._wrong(() if key is None else (key,), reason, remedy)

    def take(self, kind: type[Kind]) -> Kind:
        """Return the table as a msgspec Struct of quantities and other classes with ``of``.

        Raises
        ------
        InvalidDocument
            If the table does not match the Struct.
        """
        try:
            return msgspec.convert(self.values, kind, dec_hook=decode_own)
        except msgspec.ValidationError as error:
            wrong = fault(error, self.values, kind)
            raise self._wrong(wrong.path, wrong.reason, wrong.remedy) from error

    def table(self, key: str) -> Table:
        """Return the table at a key; any other value is an error."""
        path = self._place(key)
        return replace(self, path=path, values=self.values[key], elsewhere={})

    def tables(self, key: str) -> dict[str, Table]:
        """Return the tables within a table, by name; any other value in it is an error."""
        within = self.table(key)
        return {name: within.table(name) for name in within.values}

    def over(self, other: Table, keys: Iterable[str]) -> Table:
        """Return this table with those keys that it lacks taken from another table."""
        wanted = set(keys) - self.values.keys()
        taken = [key for key in other.values if key in wanted]
        return replace(
            self,
            values={**{key: other.values[key] for key in taken}, **self.values},
            elsewhere={**self.elsewhere, **{key: other._place(key) for key in taken}},
        )

    def _place(self, key: str | int) -> Path:
        return self.elsewhere.get(str(key), (*self.path, key))

    def _wrong(self, within: Path, reason: str, remedy: str | None) -> InvalidDocument:
        path = (*self._place(within[0]), *within[1:]) if within else self.path
        line = line_of(lines_of(self.text), path)
        place = self.file if line is None else f"{self.file}:{line}"
        return InvalidDocument(
            f"cannot read {self.what} of {place}{', ' if path else ''}{shown(path)}",
            reason=reason,
            remedy=f"{remedy or 'correct it'}{'; ' if self.form else ''}{self.form}",
        )


def open_table(path: Traversable, *, what: str, remedy: str, form: str = "") -> Table:
    """Return the whole of a TOML file.

    Parameters
    ----------
    path : Path, or a file of a package
    what, form : str
        As in `Table`.
    remedy : str
        What to do if the file cannot be read.

    Raises
    ------
    InvalidDocument
        If it cannot be read, or is not TOML.
    """
    unread = f"cannot read {what} of {path}"
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise OSError(errno.EFBIG, "it is larger than 1 MB")
        text = content.decode("utf-8-sig")
        values = tomllib.loads(text)
    except OSError as error:
        raise InvalidDocument(unread, reason=reason_of(error), remedy=remedy) from error
    except RecursionError as error:
        reason = "it is nested too deeply"
        raise InvalidDocument(unread, reason=reason, remedy=remedy) from error
    except ValueError as error:
        reason = f"it is not TOML: {error}"
        raise InvalidDocument(unread, reason=reason, remedy=remedy) from error
    return Table(what=what, file=str(path), values=values, text=text, form=form)


def read(path: Traversable, kind: type[Kind], *, what: str, remedy: str, form: str = "") -> Kind:
    """Return a TOML file as a msgspec Struct; see `open_table` and `Table.take`."""
    return open_table(path, what=what, remedy=remedy, form=form).take(kind)
