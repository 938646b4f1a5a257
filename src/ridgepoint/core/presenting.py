"""How results present themselves in Python and in notebooks, independent of any renderer.

Results are values and stand below the tables and figures that show them, so they cannot import
these. They ask a presenter instead, which is held here and registered by the package
(`use_presenter` in ``ridgepoint/__init__.py``): it is imported when something is first shown, so
that a script that only measures never loads rich or matplotlib. Methods were chosen over formatters
registered with IPython, since they work in every notebook, and in a script too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ridgepoint.core.table import Table

_FEW = 3
_LONGEST = 60


class NotebookProgress(Protocol):
    """Progress below a notebook's cell."""

    def step(self, what: str, output_is_shown: bool = False) -> None:
        """Say what begins now."""

    def fraction(self, what: str, done: int, total: int) -> None:
        """Say what begins now and how much of all is done."""

    def close(self) -> None:
        """Take it away."""


class Presenter(Protocol):
    """Shows results as text, HTML and figures."""

    def summary(self, value: Presentable, /, **options: Any) -> str:
        """Return a result as the command line prints it."""

    def explain(self, value: Any, /) -> str:
        """Return a diagnosis of an analysis in Markdown."""

    def html(self, value: Presentable, /) -> str:
        """Return a result as HTML: no network, no script, texts from outside escaped."""

    def plot(self, *values: Any, **options: Any) -> Figure:
        """Return a picture of results together."""

    def table(self, value: Presentable, /, name: str = "") -> Table:
        """Return one table of a result."""

    def frame(self, value: Presentable, /, name: str = "") -> pd.DataFrame:
        """Return one table of a result as a frame of pandas."""

    def save_table(self, table: Presentable, path: str | Path, /) -> None:
        """Write a table to a file, in the format of its ending."""

    def notebook_progress(self) -> NotebookProgress:
        """Return a progress for a cell of a notebook, not shown yet."""

    def arrow_stream(self, table: Presentable, schema: object, /) -> object:
        """Return a table as a stream of Arrow, for other libraries."""


_LOADERS: list[Callable[[], Presenter]] = []


def use_presenter(load: Callable[[], Presenter]) -> None:
    """Register the loader of the presenter; it is called whenever something is shown."""
    _LOADERS[:] = [load]


def presenter() -> Presenter:
    """Return the presenter in use."""
    return _LOADERS[0]()


class Brief:
    """A value with a short repr: long tuples and dicts are shown by their lengths."""

    __slots__ = ()

    def __repr__(self) -> str:
        shown = (
            f"{field.name}={_brief(getattr(self, field.name))}"
            for field in fields(self)  # type: ignore[arg-type]
            if field.repr and getattr(self, field.name) not in (None, (), {})
        )
        return f"{type(self).__name__}({', '.join(shown)})"


def _brief(value: object) -> str:
    if isinstance(value, tuple | dict) and len(value) > _FEW:
        return f"<{len(value)} entries>"
    return repr(value)


class Presentable:
    """A result that presents itself: in one line, as a report, in a notebook, and as a figure."""

    __slots__ = ()

    @property
    def headline(self) -> str:
        """Description in one line."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.headline}>"

    def summary(self) -> str:
        """Return the report that the command line prints, as text."""
        return presenter().summary(self)

    def plot(self, *, ax: Axes | None = None) -> Figure:
        """Draw the result; see `ridgepoint.plot`.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None
            Axes of their final size to draw on; None: new ones.
        """
        return presenter().plot(self, ax=ax)

    def table(self, name: str = "") -> Table:
        """Return one of its tables of raw values, as ``--csv`` and ``--parquet`` write them.

        Parameters
        ----------
        name : str
            As ``--table``, such as ``levels``; empty: the main one.

        Raises
        ------
        RidgepointError
            If it has no such table.
        """
        return presenter().table(self, name)

    def frame(self, name: str = "") -> pd.DataFrame:
        """Return one of its tables as a frame of pandas, whose `attrs` hold the units.

        Parameters
        ----------
        name : str
            As for `table`.

        Raises
        ------
        RidgepointError
            If it has no such table, or pandas is not installed.
        """
        return presenter().frame(self, name)

    def _repr_html_(self) -> str:
        return presenter().html(self)


def quoted(text: str) -> str:
    """Return a text from outside for a headline: on one line and shortened.

    Examples
    --------
    >>> quoted("./prog")
    "'./prog'"
    """
    return repr(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")


def first_of(names: Iterable[str], most: int) -> str:
    """Return a few names, and how many others there are.

    Examples
    --------
    >>> first_of(["add", "mul", "exp"], 2)
    'add, mul and 1 more'
    """
    every = list(names)
    more = len(every) - most
    return ", ".join(every[:most]) + (f" and {more} more" if more > 0 else "")


def amount(n: int, what: str) -> str:
    """Return a number with its noun, in the plural where needed.

    Examples
    --------
    >>> amount(1, "core"), amount(2, "core")
    ('1 core', '2 cores')
    """
    return f"{n} {what}{'' if n == 1 else 's'}"
