"""The look of every picture as data for renderers that are not Python: colours, strokes, sizes.

The page of a report draws with what `look` returns, which is kept in ``web/src/look.json`` and,
for what stands around its pictures, in ``web/src/look.css``. ``python -m ridgepoint.show.look
FOLDER`` writes both.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ridgepoint.show import theme

_PALETTES = {
    "light": (theme.PALETTE, theme.INKS),
    "dark": (theme.DARK_PALETTE, theme.DARK_INKS),
}
_LINEAR = 0.04045
"""Below it, sRGB is proportional to light."""


def look() -> dict[str, object]:
    """Return colours by ground and ink, strokes by kind of line, shapes and sizes.

    Returns
    -------
    dict
        ``colours`` of each ground, light and dark: a series by its number, any other ink by its
        name, the mixture of each with the paper as ``pale NAME``, what is read best on each as
        ``on NAME``, ``grid`` for lines of a grid.
        ``strokes``: width in points, dashes in widths, ink, cost for a label, order.
        ``band_alpha``, and ``shapes`` of series.
    """
    return {
        "colours": {ground: colours(ground) for ground in _PALETTES},
        "strokes": {
            kind: {
                "width": stroke.width,
                "dashes": list(stroke.dashes),
                "ink": stroke.ink,
                "cost": stroke.cost,
                "order": stroke.order,
            }
            for kind, stroke in theme.STROKES.items()
        },
        "series": len(theme.PALETTE),
        "band_alpha": theme.BAND_ALPHA,
    }


def colours(ground: str) -> dict[str, str]:
    """Return the colours of all inks on a light or a dark ground, as ``#rrggbb``."""
    palette, inks = _PALETTES[ground]
    named = {**{str(number): colour for number, colour in enumerate(palette)}, **inks}
    pale = {f"pale {name}": _hex(theme.pale(named[name], inks["paper"])) for name in named}
    on = {f"on {name}": _read_best(named[name], inks["ink"], inks["paper"]) for name in named}
    return {**named, **pale, **on}


def _read_best(ground: str, *inks: str) -> str:
    return max(inks, key=lambda ink: _contrast(ink, ground))


def _contrast(one: str, other: str) -> float:
    """Return how well two colours are told apart, from 1 to 21 (WCAG 2.2, contrast ratio)."""
    darker, lighter = sorted(_luminance(colour) for colour in (one, other))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (
        part / 12.92 if part <= _LINEAR else ((part + 0.055) / 1.055) ** 2.4
        for part in (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _hex(colour: theme.Rgb) -> str:
    return "#" + "".join(f"{round(part * 255):02X}" for part in colour)


def look_json() -> str:
    """Return the look as the content of a JSON file."""
    return json.dumps(look(), indent=1, ensure_ascii=False) + "\n"


def look_css() -> str:
    """Return style rules that name every colour: as the system asks, or as the reader chose."""
    light, dark = ("".join(f"  {line}\n" for line in _variables(ground)) for ground in _PALETTES)
    return (
        "/* Written from ridgepoint/show/theme.py by python -m ridgepoint.show.look. */\n"
        f":root {{\n  color-scheme: light;\n{light}}}\n"
        "@media screen and (prefers-color-scheme: dark) {\n"
        f":root:not([data-theme=light]) {{\n  color-scheme: dark;\n{dark}}}\n}}\n"
        f"@media screen {{\n:root[data-theme=dark] {{\n  color-scheme: dark;\n{dark}}}\n}}\n"
    )


def _variables(ground: str) -> list[str]:
    return [f"--rp-{name.replace(' ', '-')}: {colour};" for name, colour in colours(ground).items()]


def main(folder: str) -> None:
    """Write both files into a folder."""
    (Path(folder) / "look.json").write_text(look_json(), encoding="utf-8")
    (Path(folder) / "look.css").write_text(look_css(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
