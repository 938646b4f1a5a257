"""How pictures look: one font, one palette, one set of strokes, shapes and sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ridgepoint.show.chart import Face, Ink, LineKind, Shape

Rgb = tuple[float, float, float]
"""Red, green and blue, from 0 to 1."""

INK, NOTE, GREY, FAINT, GRID = "#222222", "#555555", "#777777", "#B0B0B0", "#E6E6E6"
ALARM = "#B00020"
"""Of what cannot be: a point above its roof."""
# Okabe and Ito's palette, told apart by readers of every colour vision; yellow and black, which
# vanish on white and among the roofs, are left out.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_FACES: tuple[Face, ...] = ("full", "hatched", "hollow", "pale")
INKS: Mapping[str, str] = {
    "ink": INK,
    "paper": "#FFFFFF",
    "note": NOTE,
    "faint": FAINT,
    "alarm": ALARM,
    "interval": GREY,
    "undecided": GREY,
    "compute": "#0072B2",
    "memory": "#009E73",
    "network": "#D55E00",
    "remote memory": "#CC79A7",
    "storage": "#B07A00",
    "grid": GRID,
}
DARK_PALETTE = ("#4DA3E6", "#F58138", "#2FC89E", "#E39CC5", "#F2BC45", "#A9DCFF")
"""The palette in the same order for a dark ground, each colour light enough to be read there."""
DARK_INKS: Mapping[str, str] = {
    "ink": "#E8E8E8",
    "paper": "#15181C",
    "note": "#B9BDC2",
    "faint": "#6B7077",
    "alarm": "#FF6B7D",
    "interval": "#9DA2A8",
    "undecided": "#9DA2A8",
    "compute": "#4DA3E6",
    "memory": "#2FC89E",
    "network": "#F58138",
    "remote memory": "#E39CC5",
    "storage": "#D9A441",
    "grid": "#2C3137",
}
SHAPES: tuple[Shape, ...] = ("circle", "square", "triangle", "diamond", "down", "plus", "cross")
"""A shape for each series, for readers who see no colours."""
REGION_SHAPES: dict[str, Shape] = {
    "compute": "circle", "memory": "square", "network": "triangle", "remote memory": "down",
    "storage": "plus", "total": "diamond",
}  # fmt: skip
_PALE = 0.25
"""How much of a colour is left in a pale one."""

BAND_ALPHA = 0.18
POINTS_PER_INCH = 72


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """How a kind of line is drawn.

    Parameters
    ----------
    width : float
        Points.
    dashes : tuple of float
        Lengths on and off in widths; empty: solid.
    ink : str or None
        None: the line has its own.
    cost : int
        How much a label loses by lying on it.
    order : float
        What has a higher one lies on others.
    """

    width: float
    dashes: tuple[float, ...] = ()
    ink: Ink | None = "ink"
    cost: int = 1
    order: float = 2.2


STROKES: Mapping[LineKind, Stroke] = {
    "roof": Stroke(width=1.3, cost=6),
    "own": Stroke(width=1.1, dashes=(1, 1.2), cost=6, order=2.15),
    "lower": Stroke(width=0.8, dashes=(4, 2), ink="undecided", cost=2, order=2.1),
    "beside": Stroke(width=1.1, ink="faint", cost=3, order=2.0),
    "other": Stroke(width=1.2, dashes=(6, 1.5, 1, 1.5), ink=None, cost=4, order=2.12),
    "balance": Stroke(width=1.0, dashes=(5, 2.5), cost=2, order=2.1),
    "iso": Stroke(width=0.6, dashes=(1, 2), ink="undecided", order=1.8),
    "curve": Stroke(width=1.4, ink=None, cost=4, order=3.0),
    "second": Stroke(width=1.4, dashes=(3, 1.5), ink=None, cost=4, order=3.05),
    "fit": Stroke(width=1.0, dashes=(4, 2), ink=None, cost=2, order=2.5),
    "total": Stroke(width=1.2, dashes=(4, 2), cost=2, order=2.4),
    "limit": Stroke(width=1.0, dashes=(4, 2), cost=3),
    "level": Stroke(width=1.1, ink="faint", cost=2, order=2.0),
    "size": Stroke(width=0.8, dashes=(4, 2), ink="undecided", order=2.0),
    "path": Stroke(width=0.8, ink=None, cost=1, order=2.6),
    "change": Stroke(width=0.8, ink=None, cost=1, order=2.6),
    "stem": Stroke(width=0.9, dashes=(1, 1.5), ink=None, cost=2, order=2.5),
    "above": Stroke(width=1.2, ink="alarm", cost=3, order=4.6),
    "points": Stroke(width=0.0, ink=None, cost=1, order=3.1),
}


def hex_of(ink: Ink) -> str:
    """Return the colour of an ink; beyond the palette, colours come again."""
    return PALETTE[ink % len(PALETTE)] if isinstance(ink, int) else INKS[ink]


def face_of(number: int) -> Face:
    """Return how the shapes of a series are filled: in another way where its colour comes again."""
    return _FACES[number // len(PALETTE) % len(_FACES)]


def shape_of(number: int) -> Shape:
    """Return the shape of a series."""
    return SHAPES[number % len(SHAPES)]


def pale(colour: str, paper: str = "#FFFFFF") -> Rgb:
    """Return a colour mixed with that of the paper."""
    red, green, blue = (
        ground + (part - ground) * _PALE
        for part, ground in zip(_rgb(colour), _rgb(paper), strict=True)
    )
    return red, green, blue


def _rgb(colour: str) -> Rgb:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def paper_of(area: Ink | None) -> Rgb:
    """Return the colour of an area, or of what lies in none."""
    return pale(hex_of("paper" if area is None else area))


def font_for(width: float) -> float:
    """Return the size of text that suits axes of a width, both in points."""
    return min(max(4.9 + 0.6 * width / POINTS_PER_INCH, 6.0), 12.0)
