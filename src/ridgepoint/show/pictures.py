"""Pictures as files, byte for byte the same each time; matplotlib is imported when one is drawn."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ridgepoint.core.errors import RidgepointError
from ridgepoint.kept.files import replace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ENDINGS = (".svg", ".png", ".pdf")


def write(make: Callable[[], Figure], path: str | Path) -> None:
    """Write what is drawn to a file; a file of that name is replaced, whole or not at all.

    Parameters
    ----------
    make : callable
        Draws it.
    path : str or Path
        Its ending chooses the format: ``.svg``, ``.png`` or ``.pdf``.

    Raises
    ------
    RidgepointError
        If the ending is another one, or the file cannot be written.

    Notes
    -----
    The same picture makes the same bytes, whatever the user's matplotlib settings are.
    """
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise RidgepointError(
            f"cannot write the figure {str(path)!r}",
            reason=f"{ending!r} is not a known format" if ending else "its name has no ending",
            remedy=f"let the name end in {', '.join(_ENDINGS[:-1])} or {_ENDINGS[-1]}",
        )
    replace_file(Path(path), picture(make, ending[1:]), what="the figure")


def picture(make: Callable[[], Figure], kind: str) -> bytes:
    """Return a picture as the content of a file of a kind, such as ``svg``; see `write`."""
    import matplotlib as mpl

    from ridgepoint.show.picture import HINTING

    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
    content = io.BytesIO()
    with mpl.rc_context(), warnings.catch_warnings():
        # A program's name may hold characters that the font lacks: a box is drawn for them.
        warnings.filterwarnings("ignore", message="Glyph")
        mpl.rcdefaults()
        # Text stays text in SVG; fonts of type 3 in PDF are refused by many journals.
        fixed = {"svg.hashsalt": "ridgepoint", "svg.fonttype": "none", "pdf.fonttype": 42}
        fixed["text.hinting"] = HINTING
        mpl.rcParams.update(fixed)  # type: ignore[arg-type]
        make().savefig(content, format=kind, dpi=200, metadata=undated)
    return content.getvalue()
