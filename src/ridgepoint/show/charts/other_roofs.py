"""The roofs of further machines beside those of the one that bounds the programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ridgepoint.core.machine import Machine
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.given_points import PlacedPoint
from ridgepoint.models.one_bandwidth import machine_with
from ridgepoint.models.points import says_nothing
from ridgepoint.models.roofs import ShownRoof, known_precisions, shown_roofs
from ridgepoint.models.work import WORK_UNITS, Metric
from ridgepoint.show.chart import Entry, Interval, Line
from ridgepoint.show.charts.roof_lines import roof_lines
from ridgepoint.show.charts.roofline_view import RooflineView
from ridgepoint.show.cycles import shown_rate
from ridgepoint.show.words import limit_text, machine_title, shown_cores, shown_name


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRoofs:
    """A further machine in a picture.

    Parameters
    ----------
    name : str
        What its roofs are called: no other machine of the picture has this name.
    title : str
    ink : int
    roofs : tuple of ShownRoof
        Its peaks and its bandwidth of main memory, at their places on the plane.
    scale : float
        Their rates over the machine's own: the ratio of the clocks where rates are per cycle.
    clock_hz : float or None
        None: rates are per second.
    analyses : tuple of Analysis
        The programs on this machine.
    missing : tuple of str
        Precisions that the programs use, and of which it has no peak.
    """

    name: str
    title: str
    ink: int
    roofs: tuple[ShownRoof, ...]
    scale: float
    clock_hz: float | None
    analyses: tuple[Analysis, ...]
    missing: tuple[str, ...] = ()

    @property
    def corners(self) -> Iterator[tuple[float, float]]:
        """Where its bandwidths meet its highest peak: intensity and performance."""
        peaks = [roof.rate for roof in self.roofs if roof.is_peak]
        for roof in self.roofs:
            if peaks and not roof.is_peak:
                yield max(peaks) / roof.rate, max(peaks)

    def lines(self, x_limits: Interval, y_limits: Interval) -> Iterator[Line]:
        """Yield its roofs."""
        drawn = roof_lines(
            self.roofs, x_limits=x_limits, y_limits=y_limits,
            clock_hz=None if self.clock_hz is None else self.clock_hz * self.scale,
        )  # fmt: skip
        for line in drawn:
            assert line.label is not None
            text = f"{self.name}: {line.label.text}"
            label = replace(line.label, text=text, short=self.name)
            yield replace(line, kind="other", ink=self.ink, label=label, name=text)

    def entry(self, letters: Sequence[str]) -> Entry:
        """Return its row of the key, with what it would allow each program."""
        limits = []
        for letter, analysis in zip(letters, self.analyses, strict=True):
            placement = analysis.placement
            if placement is None or placement.attainable_per_s is None:
                continue
            if placement.missing_roofs or says_nothing(analysis):
                continue  # what is left would promise too much, or there is hardly any work
            most = shown_rate(
                placement.attainable_per_s, WORK_UNITS[placement.metric], clock_hz=self.clock_hz
            )
            of_letter = f"{letter} " if len(letters) > 1 else ""
            limits.append(f"{of_letter}{most} ({limit_text(placement)})")
        told = f": at most {', '.join(limits)}" if limits else ""
        return Entry(text=f"{self.title}{told}", ink=self.ink, line="other")

    @property
    def notes(self) -> Iterator[str]:
        """Yield which of its roofs are not known."""
        for what in self.missing:
            yield f"{self.name} has no {what}: that roof is missing"


def other_roofs(
    machine: Machine,
    analyses: Sequence[Analysis],
    view: RooflineView,
    *,
    metric: Metric,
    precisions: Sequence[str],
    given: Sequence[PlacedPoint] = (),
) -> tuple[OtherRoofs, ...]:
    """Return the further machines of a view.

    Parameters
    ----------
    machine : Machine
        The one that bounds the programs.
    analyses : sequence of Analysis
        The programs on that machine.
    view : RooflineView
    metric : {"flop", "bop"}
    precisions : sequence of str
        Peaks that are drawn of `machine`.
    given : sequence of PlacedPoint
        Given points on that machine.
    """
    clock_hz, found = view.clock_hz(machine), list[OtherRoofs]()
    names = [machine.name]
    for index, other in enumerate(view.others):
        name, number = other.name, 1
        while name in names:
            number += 1
            name = f"{other.name} ({number})"
        names.append(name)
        there = tuple(analysis.on(other) for analysis in analyses)
        its_clock = view.clock_hz(other)
        scale = 1.0 if clock_hz is None or its_clock is None else clock_hz / its_clock
        seen = machine_with(other, view.bandwidth)
        wanted = precisions or (["bop"] if metric == "bop" else known_precisions(seen)[:1])
        counts = [on.placement.cores for on in there if on.placement]
        counts += [point.point.cores or other.cores for point in given]
        cores = min(max(counts, default=other.cores), other.cores)
        roofs = _outer(seen, [p for p in wanted if seen.knows(p)], cores, scale)
        missing = [f"{shown_name(p)} peak" for p in wanted if not seen.knows(p)]
        if all(roof.is_peak for roof in roofs):
            missing.append(f"{view.bandwidth or 'memory'} bandwidth")
        found.append(
            OtherRoofs(
                name=name,
                title=f"{machine_title(other)} ({shown_cores(cores)})",
                ink=len(analyses) + len(given) + index,
                roofs=roofs,
                scale=scale,
                clock_hz=its_clock,
                analyses=there,
                missing=tuple(missing),
            )
        )
    return tuple(found)


def _outer(
    machine: Machine, precisions: Sequence[str], cores: float, scale: float
) -> tuple[ShownRoof, ...]:
    """Return the peaks and the bandwidths of main memory, moved by a scale on the plane."""
    roofs = [
        roof
        for roof in shown_roofs(machine, precisions=precisions, cores=cores)
        if roof.role == "outer" and (roof.is_peak or roof.resource.startswith("dram"))
    ]
    highest = max((roof.rate for roof in roofs if roof.is_peak), default=float("inf"))
    steepest = max((roof.rate for roof in roofs if not roof.is_peak), default=float("inf"))
    return tuple(
        # Without caches between, peaks begin at the bandwidth of main memory.
        replace(
            roof,
            rate=roof.rate * scale,
            ridge=(roof.rate / steepest) if roof.is_peak else highest / roof.rate,
        )
        for roof in roofs
    )
