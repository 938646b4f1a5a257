"""What a roofline figure is: frozen values in base units, ready to be drawn by anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Coordinates = tuple[float, float]
Role = Literal["outer", "own", "lower", "beside"]

_LONGEST_LABEL = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane:
    """Two logarithmic axes, framed.

    Parameters
    ----------
    title, subtitle, x_label, y_label : str
    x_limits, y_limits : tuple of float
        In base units.
    x_ticks, y_ticks : tuple of (float, str)
        Positions and their texts.
    """

    title: str
    subtitle: str
    x_label: str
    y_label: str
    x_limits: Coordinates
    y_limits: Coordinates
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoofLine:
    """One roof: a straight line on the log-log plane.

    Parameters
    ----------
    resource : str
        ``fp64``, ... for a horizontal roof, ``dram``, ... for a diagonal one.
    role : {"outer", "own", "lower", "beside"}
        ``outer``: bounds the programs drawn; ``own``: what a program's own mix of instructions
        allows; ``lower``: a ceiling below the outer compute roof;
        ``beside``: the same roof for another number of cores.
    label : str
        Resource, pattern and value, to be written on the line.
    tag : str
        The same in one short word, for where there is no room.
    rate : float
        flop/s or byte/s.
    cores : float
        Cores that it is the roof of.
    start, end : tuple of float
        Intensity in flop/byte and performance in flop/s of both ends, left end first.
    """

    resource: str
    role: Role
    label: str
    tag: str
    rate: float
    cores: float
    start: Coordinates
    end: Coordinates

    @property
    def is_diagonal(self) -> bool:
        """Whether it is a bandwidth."""
        return self.start[1] != self.end[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class RidgeMark:
    """Where a bandwidth meets a peak.

    Parameters
    ----------
    level, precision : str
    at : tuple of float
        Intensity in flop/byte (the machine balance) and performance in flop/s.
    label : str
        The intensity as text.
    """

    level: str
    precision: str
    at: Coordinates
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A program at one memory level.

    Parameters
    ----------
    level : str
        Whose traffic the intensity is over.
    at : tuple of float
        Intensity in flop/byte and median performance in flop/s.
    low, high : float
        Quartiles of the performance, flop/s.
    is_infinite : bool
        No byte moved at this level: drawn at the right edge, since it lies at infinity.
    """

    level: str
    at: Coordinates
    low: float
    high: float
    is_infinite: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attainable:
    """What bounds a program, over or under its point at DRAM, or alone if its time is unknown.

    The line that it would lie on may not be drawn: one direction of a bandwidth, or a level
    at which the program has no point.

    Parameters
    ----------
    at : tuple of float
        Intensity at DRAM in flop/byte and attainable performance in flop/s.
    limit : str
        Which roof it is, in a few words.
    is_alone : bool
        The program has no point, as its time is unknown: of its place only the intensity and
        the height that it cannot pass are known.
    """

    at: Coordinates
    limit: str
    is_alone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionPoint:
    """A region or a function of a program, over its traffic at DRAM.

    One that is faster than its roof allows stands over its traffic at the level of that roof.

    Parameters
    ----------
    kind : {"region", "function"}
    name : str
    summary : str
        Its share of the time and its place in figures, for the key.
    point : Point
        Of one of unknown time: its intensity, and the height that it cannot pass.
    is_timed : bool
    share : float or None
        Of the program's runtime; None: one of the two is unknown.
    roof : tuple of float or None
        Of one that is above its roof, where that lies; None: it is not above it.
    """

    kind: Literal["region", "function"] = "region"
    name: str
    summary: str
    point: Point
    is_timed: bool
    share: float | None
    roof: Coordinates | None = None

    @property
    def label(self) -> str:
        """Its name, short enough to stand beside its point."""
        is_long = len(self.name) > _LONGEST_LABEL
        return f"{self.name[: _LONGEST_LABEL - 1]}…" if is_long else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program of the figure.

    Parameters
    ----------
    letter : str
        Names its points.
    name : str
    summary : str
        Its place in figures, for the key.
    points : tuple of Point
        From the core outwards; empty where there is nothing to draw, and a note says why.
    attainable : Attainable or None
        None: not known, or there is no point at DRAM at a finite intensity.
    regions : tuple of RegionPoint
        Of its regions and functions, those that are drawn.
    """

    letter: str
    name: str
    summary: str
    points: tuple[Point, ...]
    attainable: Attainable | None = None
    regions: tuple[RegionPoint, ...] = ()

    @property
    def is_capped(self) -> bool:
        """Whether what bounds it is marked over its point."""
        return self.attainable is not None and not self.attainable.is_alone


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineFigure(Plane):
    """A roofline, framed and placed: limits are whole decades of flop/byte and flop/s.

    Parameters
    ----------
    roofs : tuple of RoofLine
        What bounds the programs first, then lower ceilings, then what stands beside.
    ridges : tuple of RidgeMark
    programs : tuple of Program
    notes : tuple of str
        What a reader must know and the plane cannot show.
    """

    roofs: tuple[RoofLine, ...]
    ridges: tuple[RidgeMark, ...]
    programs: tuple[Program, ...]
    notes: tuple[str, ...]

    @property
    def levels(self) -> tuple[str, ...]:
        """Memory levels at which a program has a point, from the core outwards."""
        seen = [point.level for program in self.programs for point in program.points]
        return tuple(sorted(set(seen), key=lambda name: (name == "dram", name)))

    def region_label(self, program: Program, region: RegionPoint) -> str:
        """Return what stands beside a region's point; whose it is, if there are several."""
        return region.label if len(self.programs) == 1 else f"{program.letter} {region.label}"

    @property
    def attainable_note(self) -> str | None:
        """What bounds the programs with a mark over their point; None: there is none."""
        over = [program for program in self.programs if program.is_capped]
        marked = [(p.letter, p.attainable.limit) for p in over if p.attainable]
        if not marked:
            return None
        limits = list(dict.fromkeys(limit for _, limit in marked))
        if len(limits) == 1:
            return f"attainable: what bounds it ({limits[0]})"
        named = (
            f"{', '.join(letter for letter, own in marked if own == limit)} {limit}"
            for limit in limits
        )
        return f"attainable: what bounds it ({'; '.join(named)})"
