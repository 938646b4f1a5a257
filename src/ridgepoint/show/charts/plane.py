"""What a roofline figure is: frozen values in base units, ready to be drawn by anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Coordinates = tuple[float, float]
Role = Literal["outer", "own", "lower", "beside"]


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
