"""A matplotlib figure that a notebook shows wherever it is the value of a cell."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

_DOTS_PER_INCH = 110


class Picture(Figure):
    """A figure that belongs to no window, and so needs no backend and no closing.

    A notebook shows figures of pyplot by itself, and others only once pyplot is loaded.
    """

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.savefig(content, format="png", dpi=_DOTS_PER_INCH)
        return content.getvalue()
