"""The look of the page: the one of every other picture, and safe for the colour-blind."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from ridgepoint.show import theme
from ridgepoint.show.chart import LineKind
from ridgepoint.show.look import colours, look, look_css, look_json, main

_WEB = Path(__file__).parents[2] / "web" / "src"
# Machado, Oliveira and Fernandes (2009), table 1, severity 1: from linear RGB to what is seen.
_SEEN_BY = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
               (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
               (-0.011820, 0.042940, 0.968881)),
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
}  # fmt: skip
# sRGB, D65.
_TO_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750),
           (0.0193339, 0.1191920, 0.9503041))  # fmt: skip
_TOLD_APART = 8.0
"""Distance in L*a*b*: 2.3 is just noticed side by side."""


@pytest.mark.skipif(not _WEB.is_dir(), reason="the sources of the page are not part of a package")
def test_the_page_is_drawn_with_the_theme(tmp_path: Path) -> None:
    """What `web/` draws with is what Python says."""
    main(str(tmp_path))

    for name in ("look.json", "look.css"):
        assert (_WEB / name).read_text(encoding="utf-8") == (tmp_path / name).read_text(
            encoding="utf-8"
        ), f"write {name} again: python -m ridgepoint.show.look web/src"
    assert json.loads(look_json()) == look()


def test_every_ink_has_a_colour_on_each_ground() -> None:
    """Also mixed with the paper; the first mixture by hand."""
    light, dark = colours("light"), colours("dark")

    assert light.keys() == dark.keys()
    assert light["0"] == theme.hex_of(0)
    assert light["remote memory"] == theme.hex_of("remote memory")
    # A quarter of #0072B2 with three of white: (191, 220, 236).
    assert light["pale 0"] == "#BFDCEC"
    assert "--rp-remote-memory: #E39CC5;" in look_css()


def test_every_kind_of_line_has_a_stroke() -> None:
    """One of them as the theme says it."""
    strokes = look()["strokes"]

    assert isinstance(strokes, dict)
    assert set(strokes) == set(LineKind.__args__)  # type: ignore[attr-defined]
    assert strokes["lower"] == {
        "width": 0.8, "dashes": [4, 2], "ink": "undecided", "cost": 2, "order": 2.1,
    }  # fmt: skip


@pytest.mark.parametrize("ground", ["light", "dark"])
@pytest.mark.parametrize("eyes", _SEEN_BY)
def test_series_are_told_apart_by_every_colour_vision(ground: str, eyes: str) -> None:
    """Any two, simulated as published."""
    shown = colours(ground)
    series = [_lab(shown[str(number)], eyes) for number in range(len(theme.PALETTE))]

    distances = [np.linalg.norm(a - b) for a, b in itertools.combinations(series, 2)]

    assert min(distances) > _TOLD_APART


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_texts_have_the_contrast_that_wcag_asks_for(ground: str) -> None:
    """4.5 for small texts, 3 for what is drawn and for bold labels."""
    shown = colours(ground)

    for ink in ("ink", "note", "alarm"):
        assert _contrast(shown[ink], shown["paper"]) >= 4.5, ink
    for ink in ("0", "1", "2", "3", "4", "5", "faint"):
        assert _contrast(shown[f"on {ink}"], shown[ink]) >= 4.0, ink
    for ink in ("0", "1", "2", "compute", "memory", "network", "storage"):
        assert _contrast(shown[ink], shown["paper"]) >= 3.0, ink


def _linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _contrast(one: str, other: str) -> float:
    lights = sorted(float(np.array(_TO_XYZ)[1] @ _linear(colour)) for colour in (one, other))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def _lab(colour: str, eyes: str) -> np.ndarray:
    seen = np.clip(np.array(_SEEN_BY[eyes]) @ _linear(colour), 0, 1)
    xyz = np.array(_TO_XYZ) @ seen / np.array((0.95047, 1.0, 1.08883))
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array((116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])))
