"""The roofs of the page's roofline: each level, direction, precision and number of cores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ridgepoint.core.machine import Machine
from ridgepoint.core.resources import LEVELS, RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.every_roof import (
    Direction,
    Roof,
    every_bandwidth,
    every_peak,
)
from ridgepoint.models.roofs import shown_roofs
from ridgepoint.show.chart import Interval, Label, Line, LineKind, Place, Tags
from ridgepoint.show.charts.roof_lines import RANK_OF_LIMITS, RANK_OF_REST
from ridgepoint.show.words import printable, shown_cores, shown_name, shown_pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class RoofSet:
    """The roofs of one machine with one number of busy cores.

    Parameters
    ----------
    machine : Machine
    cores : float
    precisions : tuple of str
        Whose peaks are drawn; known to the machine.
    directions : tuple of str
        Which bytes can be chosen.
    tags : mapping of str to str
        Of all of them: the machine and the cores, where these can be chosen.
    ink : int or None
        Their colour; None: that of roofs.
    is_named : bool
        Whether their labels name the machine, since there are others.
    """

    machine: Machine
    cores: float
    precisions: tuple[str, ...]
    directions: tuple[Direction, ...]
    tags: Tags
    ink: int | None = None
    is_named: bool = False

    def lines(self, x_limits: Interval, y_limits: Interval) -> Iterator[Line]:
        """Yield the roofs within the frame, each in the pieces that can be chosen apart."""
        peaks = every_peak(self.machine, cores=self.cores, precisions=self.precisions)
        bandwidths = every_bandwidth(self.machine, cores=self.cores)
        for direction in self.directions:
            along = [roof for roof in bandwidths if roof.direction == direction]
            tags = {**self.tags, "bandwidth": direction}
            yield from self._slopes(along, peaks, tags, x_limits, y_limits)
            yield from self._peaks(along, peaks, tags, x_limits)
        yield from self._lower(bandwidths, peaks, x_limits, y_limits)

    def _slopes(
        self,
        along: Sequence[Roof],
        peaks: Sequence[Roof],
        tags: Tags,
        x_limits: Interval,
        y_limits: Interval,
    ) -> Iterator[Line]:
        """Yield bandwidths up to the lowest peak, and on to each higher one."""
        rates = sorted(peak.rate for peak in peaks)
        for slope in along:
            own = {**tags, "roof": str(slope.level)}
            left = max(x_limits[0], y_limits[0] / slope.rate)
            ridge = min(rates[0] / slope.rate, x_limits[1]) if rates else x_limits[1]
            if left < ridge:
                yield self._piece(slope, "roof", (left, ridge), own, is_named=True)
            for peak in peaks:
                beyond = min(peak.rate / slope.rate, x_limits[1])
                if max(ridge, left) < beyond:
                    further = {**own, "precision": peak.resource}
                    yield self._piece(slope, "roof", (max(ridge, left), beyond), further)

    def _peaks(
        self, along: Sequence[Roof], peaks: Sequence[Roof], tags: Tags, x_limits: Interval
    ) -> Iterator[Line]:
        """Yield peaks from the last bandwidth's ridge on, and in pieces before it."""
        for peak in peaks:
            own = {**tags, "precision": peak.resource}
            ridges = {roof.level: max(peak.rate / roof.rate, x_limits[0]) for roof in along}
            last = min(max(ridges.values(), default=x_limits[0]), x_limits[1])
            yield self._piece(peak, "roof", (last, x_limits[1]), own, is_named=True)
            for level, ridge in ridges.items():
                if ridge < last:
                    yield self._piece(peak, "roof", (ridge, last), {**own, "roof": str(level)})

    def _lower(
        self,
        bandwidths: Sequence[Roof],
        peaks: Sequence[Roof],
        x_limits: Interval,
        y_limits: Interval,
    ) -> Iterator[Line]:
        """Yield what some patterns reached, well below a peak or a bandwidth."""
        slopes = [roof.rate for roof in bandwidths if roof.direction == "both"]
        highest = max((peak.rate for peak in peaks), default=math.inf)
        for precision in self.precisions:
            tags = {**self.tags, "precision": precision}
            for ceiling in shown_roofs(self.machine, precisions=[precision], cores=self.cores):
                if ceiling.role != "lower":
                    continue
                roof = Roof(
                    resource=ceiling.resource, cores=self.cores, rate=ceiling.rate,
                    level=None if ceiling.is_peak else RESOURCES[ceiling.resource].path,
                    pattern=ceiling.pattern,
                )  # fmt: skip
                if ceiling.is_peak:
                    begin = ceiling.rate / min(slopes) if slopes else x_limits[0]
                    across = min(max(begin, x_limits[0]), x_limits[1]), x_limits[1]
                    yield self._piece(roof, "lower", across, tags, is_named=True)
                    continue
                own = {**tags, "roof": str(roof.level), "bandwidth": "both"}
                begin = max(x_limits[0], y_limits[0] / roof.rate)
                across = begin, min(highest / roof.rate, x_limits[1])
                yield self._piece(roof, "lower", across, own, is_named=True)

    def _piece(
        self,
        roof: Roof,
        kind: LineKind,
        across: Interval,
        tags: Tags,
        *,
        is_named: bool = False,
    ) -> Line:
        name = self._name(roof)
        ends = () if roof.interval is None else roof.interval
        bands = tuple(tuple(_height(roof, end, x) for x in across) for end in ends)
        is_limit = kind == "roof" and roof.level in {None, "dram"}
        label = Label(
            text=name,
            short=shown_name(roof.resource),
            rank=RANK_OF_LIMITS if is_limit else RANK_OF_REST,
            is_optional=kind == "lower",
        )
        places: tuple[Place, ...] = tuple((x, _height(roof, roof.rate, x)) for x in across)
        return Line(
            kind=kind if self.ink is None or kind != "roof" else "other",
            ink=self.ink,
            places=places,
            low=bands[0] if bands else (),
            high=bands[1] if bands else (),
            label=label if is_named else None,
            name=name,
            summary=self._summary(roof),
            tags=tags,
        )

    def _name(self, roof: Roof) -> str:
        rate = format_si(roof.rate, RESOURCES[roof.resource].rate_unit)
        parts = (shown_name(roof.resource), shown_pattern(roof.pattern), rate)
        name = " ".join(filter(None, parts))
        return f"{printable(self.machine.name)}: {name}" if self.is_named else name

    def _summary(self, roof: Roof) -> str:
        """Return between what a roof lies, and for what it holds."""
        unit = RESOURCES[roof.resource].rate_unit
        on = f"{shown_cores(roof.cores)} of {printable(self.machine.name)}"
        if roof.interval is None:
            why = "it follows from measurements with other numbers of cores"
            if roof.pattern:
                why = "too few samples, or published"
            return f"{on}; 95 % interval unknown: {why}"
        low, high = (format_si(end, unit) for end in roof.interval)
        return f"{on}; 95 % interval {low} to {high}"


def _height(roof: Roof, rate: float, x: float) -> float:
    return rate if roof.level is None else rate * x


def levels_of(roofs: Sequence[Roof]) -> list[str]:
    """Return the memory levels that roofs are of, from the core outwards."""
    found = {roof.level for roof in roofs}
    return [level for level in LEVELS if level in found]
