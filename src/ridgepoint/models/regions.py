"""A region of a program as a measurement of its own, to be placed as a program is."""

from __future__ import annotations

from ridgepoint.core.counts import RegionCounts
from ridgepoint.core.measurement import Measurement, Timed
from ridgepoint.models.parts import part_alone


def region_alone(measurement: Measurement, region: RegionCounts) -> Measurement:
    """Return the measurement of a region alone.

    Parameters
    ----------
    measurement : Measurement
        Of the whole program.
    region : RegionCounts
        One of its regions.

    Returns
    -------
    Measurement
        What the region did, and its time: wall-clock time in which a thread was inside, and time
        inside summed over threads. Not timed where the former is unknown.
    """
    timed = next((one for one in measurement.timed_regions if one.name == region.name), None)
    return part_alone(
        measurement,
        region,
        kind="region",
        timed=(
            None
            if timed is None or timed.runtime_s is None
            else Timed(runtime_s=timed.runtime_s, cpu_s=timed.busy_s, cautions=timed.cautions)
        ),
    )
