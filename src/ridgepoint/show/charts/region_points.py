"""The regions of a measured program as points beside that of the whole."""

from __future__ import annotations

from ridgepoint.show.charts.part_points import PartsDrawn, part_subject, parts_drawn
from ridgepoint.show.charts.subjects import Subject
from ridgepoint.show.words import printable

MOST_REGIONS = 8
"""More points with a name each hide the roofs."""


def regions_drawn(whole: Subject) -> PartsDrawn:
    """Return the points of a program's regions on a machine's roofline.

    Parameters
    ----------
    whole : Subject
        The program. Of one of which a part was counted alone no region is shown: the times of
        those within it are not known, and the point of the whole is that of the part.
    """
    counted = whole.measurement.counted
    if counted.selected is not None:
        return PartsDrawn()
    regions = (
        part_subject(printable(region.name), part)
        for region, part in zip(counted.regions, whole.analysis.regions, strict=True)
    )
    return parts_drawn("region", regions, whole, most=MOST_REGIONS)
