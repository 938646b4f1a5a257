"""The regions of a measured program as points beside that of the whole."""

from __future__ import annotations

from ridgepoint.figures.part_points import PartsDrawn, part_subject, parts_drawn
from ridgepoint.figures.subjects import Subject
from ridgepoint.figures.words import printable
from ridgepoint.machine import Machine
from ridgepoint.models.regions import region_alone

MOST_REGIONS = 8
"""More points with a name each hide the roofs."""


def regions_drawn(whole: Subject, machine: Machine) -> PartsDrawn:
    """Return the points of a program's regions on a machine's roofline.

    Parameters
    ----------
    whole : Subject
        The program. Of one of which a part was counted alone no region is shown: the times of
        those within it are not known, and the point of the whole is that of the part.
    machine : Machine
    """
    if whole.measurement.counted.selected is not None:
        return PartsDrawn()
    regions = (
        part_subject(
            printable(region.name),
            region_alone(whole.measurement, region),
            machine,
            metric=whole.placement.metric,
        )
        for region in whole.measurement.counted.regions
    )
    return parts_drawn("region", regions, whole, most=MOST_REGIONS)
