"""What is known of a program below the ceilings for basic operations."""

from __future__ import annotations

from collections.abc import Iterator

from ridgepoint.models.dc_ceilings import dc_place
from ridgepoint.models.placement import Placement
from ridgepoint.show.page.document import Fact, Input
from ridgepoint.show.words import UNKNOWN, percent, shown_amount, shown_name, shown_share

DC_ROOFLINE = "Wang et al., BOPS, not FLOPS!, arXiv:1801.09212, Eqs. (4) to (8)"


def dc_facts(placement: Placement) -> Iterator[Fact]:
    """Yield a program's place below the ceilings for basic operations: Eqs. (4) to (8)."""
    place = dc_place(placement)
    if place is None:
        return
    peak, last = place.peak_share, place.next
    yield Fact(
        key="peak-share",
        name="efficiency by Eq. (5)",
        text=f"{UNKNOWN}: it was not timed" if peak is None else percent(peak),
        how="Its BOPS over the peak.",
        source=DC_ROOFLINE,
    )
    yield Fact(
        key="ceiling",
        name="next ceiling",
        text=f"{UNKNOWN}: it was not timed"
        if last is None
        else f"{last.ceiling.name}, which allows {shown_amount(last.attained, 'BOP/s')}",
        how="The lowest ceiling that it does not pass, by Eq. (7) with each ceiling in place of "
        "the peak or the bandwidth.",
        inputs=tuple(
            Input(
                name=f"{shown_name(below.ceiling.resource)}, {below.ceiling.name}",
                text=f"attained {shown_amount(below.attained, 'BOP/s')}, "
                f"reached {shown_share(below.share)}",
            )
            for below in place.below
        ),
        source=DC_ROOFLINE,
    )
