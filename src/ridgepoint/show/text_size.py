"""How wide texts are, measured by the font without drawing them."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

_MEASURED_AT = 100.0
_PER_CENT = "\u00a0%"


def text_width(text: str, size: float, *, is_bold: bool = False) -> float:
    """Return the width of a text, in the unit of its size; of several rows, that of the widest."""
    family = _family()
    return max(_relative_width(row, is_bold, family) for row in text.split("\n")) * size


def wrapped(text: str, width: float, size: float) -> list[str]:
    """Return a text in rows that fit a width; a word that is wider has a row of its own.

    What a no-break space joins is one word, and so is a number with its per cent.
    """
    rows = [""]
    for word in text.replace("\n", " ").replace(" %", _PER_CENT).split(" "):
        longer = f"{rows[-1]} {word}" if rows[-1] else word
        if rows[-1] and text_width(longer, size) > width:
            rows.append(word)
        else:
            rows[-1] = longer
    return [row.replace(_PER_CENT, " %") for row in rows]


def _family() -> tuple[str, ...]:
    """Return the fonts that matplotlib's settings ask for: a notebook may have its own."""
    from matplotlib import rcParams

    families = cast("dict[str, list[str]]", rcParams)
    return tuple(
        font
        for family in families["font.family"]
        for font in families.get(f"font.{family}", [family])
    )


@lru_cache(maxsize=4096)
def _relative_width(text: str, is_bold: bool, family: tuple[str, ...]) -> float:
    """Return the width of a text, over the size of its letters.

    The family only tells results apart: matplotlib finds the font by its settings, as it does
    when it draws the text.
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    weight = "bold" if is_bold else "normal"
    font = FontProperties(size=_MEASURED_AT, weight=weight)
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / _MEASURED_AT
