"""Text about a measured program in a picture: its name, its place, what is missing."""

from __future__ import annotations

from dataclasses import dataclass

from ridgepoint.core.measurement import Measurement
from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.one_bandwidth import bytes_of
from ridgepoint.models.placement import Placement
from ridgepoint.models.points import limit_of, says_nothing
from ridgepoint.models.work import WORK_UNITS, used_precisions, work_by_resource
from ridgepoint.show.cycles import shown_rate
from ridgepoint.show.words import (
    limit_text,
    percent,
    shown_cores,
    shown_intensity,
    shown_name,
)
from ridgepoint.show.work import hardly_any_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A program to be drawn.

    Parameters
    ----------
    name : str
    analysis : Analysis
        Its analysis on the machine of the picture.
    """

    name: str
    analysis: Analysis

    @property
    def measurement(self) -> Measurement:
        """The program's measurement."""
        return self.analysis.measurement

    @property
    def placement(self) -> Placement:
        """The program's place on the machine."""
        placement = self.analysis.placement
        assert placement is not None  # a picture has a machine
        return placement

    @property
    def limit(self) -> str:
        """Its limit in a few words; empty: it has no bound."""
        return limit_text(self.placement)


def summary_of(program: Subject, *, say_cores: bool, clock_hz: float | None = None) -> str:
    """Return a program's place in one line; with a clock, its rates are per cycle."""
    placement, parts = program.placement, []
    unit = WORK_UNITS[placement.metric]
    if not says_nothing(program.analysis):
        if placement.performance_per_s is not None:
            parts.append(shown_rate(placement.performance_per_s.median, unit, clock_hz=clock_hz))
        else:
            parts.append("time unknown")
        if placement.intensity:
            over = {"read": " read", "write": " written"}.get(placement.bandwidth or "", "")
            parts.append(f"{shown_intensity(placement.intensity)} {unit}/byte{over}")
    limit = limit_of(program.analysis)
    if placement.efficiency is None and limit is not None:
        parts.append(f"at most {shown_rate(limit[1], unit, clock_hz=clock_hz)} ({program.limit})")
    if placement.efficiency is not None and placement.bound is not None:
        roof = "roof" if str(placement.bound.binding) in RESOURCES else ""
        above = " (above it)" if placement.is_above_roof else ""
        share = f"{percent(placement.efficiency)} of {program.limit} {roof}"
        parts.append(f"{share.rstrip()}{above}")
    if say_cores:
        parts.append(shown_cores(placement.cores))
    return ", ".join(parts)


def absences_of(program: Subject) -> list[str]:
    """Return why points of a program are missing, or not at their true place."""
    counts, metric = program.measurement.counted.counts, program.placement.metric
    if says_nothing(program.analysis):
        little = hardly_any_text(counts, metric)
        return [f"{little}: the {WORK_UNITS[metric]} roofline says nothing about it"]
    if program.placement.performance_per_s is None:
        if limit_of(program.analysis) is None:
            return ["counted but not timed: its performance is unknown, so there is no point"]
        return [
            "its time is unknown: the mark is the most that its limit allows, at its intensity "
            "at DRAM"
        ]
    notes = []
    bandwidth = program.analysis.bandwidth
    what = {"read": "reads", "write": "writes"}.get(bandwidth or "", "traffic")
    for part in program.measurement.counted.traffic:
        if bandwidth is not None and part.level != "dram":
            continue
        level, moved = shown_name(part.level), bytes_of(part, bandwidth)
        if moved is None:
            notes.append(f"{level} writes are unknown, so there is no point at {level}")
        elif moved == 0:
            notes.append(
                f"no {level} {what}: its intensity is infinite, so its point is at the right edge"
            )
    if program.measurement.traffic_at("dram") is None:
        notes.append("DRAM traffic is unknown, so there is no point at DRAM")
    shares = used_precisions(work_by_resource(counts, metric))
    mixed = [f"{percent(share)} {name}" for name, share in shares.items()]
    if len(mixed) > 1:
        notes.append(f"{' and '.join(mixed)}: its peak lies between theirs")
    return notes
