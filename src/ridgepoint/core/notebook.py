"""Whether a notebook runs this, and progress there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Literal, ParamSpec, TypeVar

from ridgepoint.core.presenting import presenter

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def is_notebook() -> bool:
    """Return whether a kernel of Jupyter runs this program: a shell of IPython has none."""
    ipython = sys.modules.get("IPython")
    if ipython is None:
        return False
    return getattr(ipython.get_ipython(), "kernel", None) is not None


def shows_progress(
    how: Literal["step", "fraction"], *, keyword: str = "progress"
) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result]]:
    """Return a decorator: in a notebook, the progress of a function is shown below its cell.

    Elsewhere, and where a caller gives a progress of its own, nothing changes.

    Parameters
    ----------
    how : {"step", "fraction"}
        Method of `ridgepoint.core.presenting.NotebookProgress` that is given.
    keyword : str
        Keyword argument that takes it.
    """

    def decorated(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
        @wraps(function)
        def measured(*arguments: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
            if options.get(keyword) is not None or not is_notebook():
                return function(*arguments, **options)
            shown = presenter().notebook_progress()
            try:
                options[keyword] = getattr(shown, how)
                return function(*arguments, **options)
            finally:
                shown.close()

        return measured

    return decorated
