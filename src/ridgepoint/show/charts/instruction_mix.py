"""What kinds of instructions and of integer operations programs consist of, as bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ridgepoint.show.axes import decimal_ticks
from ridgepoint.show.chart import Axis, Bar, Chart, Entry, Label, Page
from ridgepoint.show.words import percent, printable
from ridgepoint.suites.datacenter.mix import CLASSES, INSTRUCTIONS, Mix

_ROW_HEIGHT = 0.07
"""Of the plane, over its width."""


def mix_page(mixes: Sequence[Mix], *, where: str) -> Page | None:
    """Return the mix of each program: of its instructions, and of its integer operations.

    Parameters
    ----------
    mixes : sequence of Mix
    where : str
        The machine, for the subtitle.

    Returns
    -------
    Page or None
        Without the rows of those whose mix is not known. None: no mix is known.
    """
    charts = [
        chart
        for chart in (
            _chart(
                "Instruction mix",
                f"{where}; executed",
                "Share of the instructions [%]",
                INSTRUCTIONS,
                {mix.name: mix.instructions for mix in mixes},
                notes=(
                    "an instruction that reads memory and adds is in both classes, so that bars "
                    "may exceed 100 %; the last class is what Eq. (3) leaves",
                ),
            ),
            _chart(
                "Integer operations",
                "as the source defines them",
                "Share of the integer operations [%]",
                CLASSES,
                {mix.name: mix.classes for mix in mixes},
            ),
        )
        if chart is not None
    ]
    return Page(charts=tuple(charts)) if charts else None


def _chart(
    title: str,
    subtitle: str,
    label: str,
    kinds: Sequence[str],
    shares: Mapping[str, Mapping[str, float] | None],
    *,
    notes: tuple[str, ...] = (),
) -> Chart | None:
    known = {name: own for name, own in shares.items() if own is not None}
    if not known:
        return None
    bars = [
        bar for row, (name, own) in enumerate(known.items()) for bar in _pieces(-row, name, own)
    ]
    limits = (0.0, max(100.0, *(bar.end for bar in bars)))
    return Chart(
        title=title,
        subtitle=subtitle,
        x=Axis(label=label, limits=limits, ticks=decimal_ticks(limits), scale="linear"),
        y=Axis(
            label="",
            limits=(0.5 - len(known), 0.5),
            ticks=tuple((float(-row), printable(name)) for row, name in enumerate(known)),
            scale="rows",
        ),
        bars=tuple(bars),
        key=tuple(
            Entry(text=kind, ink=number, shape="square", is_abreast=True)
            for number, kind in enumerate(kinds)
        ),
        notes=notes,
        height=_ROW_HEIGHT * (len(known) + 0.5),
    )


def _pieces(row: int, name: str, shares: Mapping[str, float]) -> Iterator[Bar]:
    """Yield the pieces of a bar, one after the other; a share below 0 has none."""
    end = 0.0
    for number, (kind, share) in enumerate(shares.items()):
        if share <= 0:
            continue
        yield Bar(
            row=row,
            begin=end,
            end=end + 100 * share,
            ink=number,
            label=Label(text=f"{100 * share:.0f}", is_bold=True),
            name=f"{printable(name)}, {kind}",
            summary=percent(share),
        )
        end += 100 * share
