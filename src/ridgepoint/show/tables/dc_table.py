"""A program on the DC-Roofline: what it attains below each ceiling."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.dc_ceilings import PEAK, Below, DCPlace
from ridgepoint.show.tables.layout import plain_table
from ridgepoint.show.words import UNKNOWN, percent, shown_amount, shown_intensity, shown_share

_BEYOND = {
    "no SIMD": "vector instructions", "with ILP, no SIMD": "vector instructions",
    "no ILP": "operations that do not wait for each other",
    "no SIMD, no ILP": "vector instructions, or operations that do not wait for each other",
    "no prefetching": "accesses in sequence, which prefetchers follow",
}  # fmt: skip
"""What takes a program beyond a ceiling."""


def dc_table(place: DCPlace) -> RenderableType:
    """Return a row for each ceiling, and what follows: Eqs. (4) to (8)."""
    is_designed = any(below.ceiling.design is not None for below in place.below)
    designed = ["Eqs. (4), (8)"] * is_designed
    right = ("rate", *designed, "attained", "reached")
    table = plain_table(
        "ceiling", "known as", "rate", *designed, "attained", "bottleneck", "reached", right=right
    )
    for below in place.below:
        table.add_row(*_cells(below, is_designed=is_designed))
    return Group(Text("DC-Roofline", style="bold"), table, Text(_sentences(place)))


def _cells(below: Below, *, is_designed: bool) -> tuple[str, ...]:
    ceiling = below.ceiling
    unit = RESOURCES[ceiling.resource].rate_unit
    design = "" if ceiling.design is None else shown_amount(ceiling.design, unit, digits=3)
    return (
        f"{'DRAM, ' if ceiling.resource == 'dram' else ''}{ceiling.name}",
        ceiling.pattern,
        "" if ceiling.rate is None else shown_amount(ceiling.rate, unit, digits=3),
        *([design] * is_designed),
        shown_amount(below.attained, "BOP/s", digits=3),
        below.bottleneck or UNKNOWN,
        shown_share(below.share),
    )


def _sentences(place: DCPlace) -> str:
    """Return Eqs. (5) and (6), and below which ceiling the program is."""
    figures = []
    if place.intensity is not None:
        figures.append(f"OI {shown_intensity(place.intensity)} BOP/byte by Eq. (6)")
    if place.peak_share is not None:
        figures.append(f"efficiency {percent(place.peak_share)} of the peak by Eq. (5)")
    text = f"{'; '.join(figures)}. " if figures else ""
    return f"{text[:1].upper()}{text[1:]}{_ceiling_sentence(place)}"


def _ceiling_sentence(place: DCPlace) -> str:
    """Return below which ceiling the program is, and what takes it beyond."""
    last = place.next
    if last is None:
        return "It was not timed, so it is not known below which ceiling it is."
    ceiling = last.ceiling
    if ceiling.name == PEAK:
        if last.bottleneck == "memory access":
            return "No ceiling of calculation bounds it: the bandwidth does."
        return "It has passed every lower ceiling: only the peak is above it."
    beyond = _BEYOND.get(ceiling.name.removesuffix(" by design"))
    to_do = f"; beyond it lead {beyond}" if beyond else ""
    return (
        f"The next ceiling above it is '{ceiling.name}', which allows "
        f"{shown_amount(last.attained, 'BOP/s', digits=3)}{to_do}."
    )
