"""All doubts about an analysis, and which of them could change a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ridgepoint.core.caution import Caution
from ridgepoint.models.ranking import matters
from ridgepoint.models.thresholds import LEAST_PART

if TYPE_CHECKING:
    from ridgepoint.models.analysis import Analysis


def doubts(analysis: Analysis) -> dict[Caution, bool]:
    """Return all cautions, each with whether it could change a verdict.

    A doubt about the time of a region is judged by what bounds that region. If the region takes
    less than `LEAST_PART` of the time, it changes no verdict.
    """
    placement = analysis.placement
    every = analysis.measurement.all_cautions if placement is None else placement.cautions
    found = {caution: matters(caution, placement) for caution in every}
    found.update(_of_region_times(analysis))
    return found


def _of_region_times(analysis: Analysis) -> Iterator[tuple[Caution, bool]]:
    measurement = analysis.measurement
    names = (region.name for region in measurement.counted.regions)
    places = {n: part.placement for n, part in zip(names, analysis.regions, strict=True)}
    whole_s = 0.0 if measurement.timed is None else measurement.timed.runtime_s.median
    for region in measurement.timed_regions:
        region_s = 0.0 if region.runtime_s is None else region.runtime_s.median
        for caution in region.cautions:
            if caution.on == "time":
                is_small = region_s < LEAST_PART * whole_s
                yield caution, not is_small and matters(caution, places.get(region.name))
