"""The content of a picture: frozen values in base units, which every renderer draws in its way.

A chart says what things are (a roof, a measured point and its interval, the work they belong
to); the theme decides how each kind of thing looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Place = tuple[float, float]
"""In the units of the axes."""
Interval = tuple[float, float]
"""Its lower and upper end."""

Ink = (
    int
    | Literal[
        "ink",
        "paper",
        "note",
        "faint",
        "alarm",
        "interval",
        "undecided",
        "compute",
        "memory",
        "network",
        "remote memory",
        "storage",
    ]
)
"""A colour by its meaning; a number: that of a series, from 0."""
LineKind = Literal[
    "roof", "own", "lower", "beside", "other", "balance", "iso",
    "curve", "second", "fit", "total", "limit", "level", "size",
    "path", "change", "stem", "above", "points",
]  # fmt: skip
"""What a line is.

- ``roof`` bounds what is drawn, ``own`` is what a program's own mix of instructions allows,
  ``lower`` a ceiling below, ``beside`` the same roof for another number of cores, ``other`` that
  of another machine;
  ``balance`` is where two resources need equally long, ``iso`` where a value is the same.
- ``curve`` is a function of x, ``second`` another that may lie on it, ``fit`` what a model says
  of measured points, ``total`` a sum of curves; ``limit`` is what no curve passes, ``level`` a
  level of no unit, ``size`` where something of a known size ends.
- ``path`` joins points that belong together, ``change`` leads from one to the next by an arrow,
  ``stem`` joins a point to the axis or to what bounds it, ``above`` to the roof that it is above;
  ``points`` draws no stroke, but the shapes at its places.
"""
Shape = Literal[
    "circle", "square", "triangle", "diamond", "down", "plus", "cross", "star", "cap", "none"
]
"""What stands at a point; ``none``: nothing but its interval and its label."""
Face = Literal["full", "pale", "hollow", "hatched"]
"""How a shape is filled."""
Edge = Literal["left", "right", "top", "bottom"]
Where = Literal["along", "beside", "right", "upright", "inside"]
"""Where a label stands: turned with a line, around a point, right of it, upright above it, or in
the middle of what it labels."""
Ticks = tuple[tuple[float, str], ...]
"""Places on an axis, and their texts."""
Tags = Mapping[str, str]
"""When something is shown where a reader can choose: while each of these controls, by its name, has
this value chosen. Without tags: always, as in every picture that cannot be changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One axis.

    Parameters
    ----------
    label : str
    limits : tuple of float
    ticks : tuple of (float, str)
    scale : {"log", "linear", "rows"}
        ``rows``: the ticks name rows of bars, at 0, -1, -2, ... from the top.
    is_slanted : bool
        Whether its tick texts are slanted, since they are long.
    """

    label: str
    limits: Interval
    ticks: Ticks
    scale: Literal["log", "linear", "rows"] = "log"
    is_slanted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A text on the plane, placed where there is room.

    Parameters
    ----------
    text : str
        May have several rows in an area.
    short : str
        Text used where there is no room for the full one; empty: none is.
    where : str or None
        Placement; None: along a line, beside a mark, inside an area or a bar. A line's label may
        also stand ``beside`` one of its places, tried from the last one on; a mark's ``inside`` it
        if it is large enough.
    rank : int
        Labels of lower rank are placed first; then those of lines, marks and areas in turn.
    is_bold : bool
    is_optional : bool
        Whether it is left out where there is no room for it.
    """

    text: str = field(kw_only=False)
    short: str = ""
    where: Where | None = None
    rank: int = 0
    is_bold: bool = False
    is_optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line through points of the plane.

    Parameters
    ----------
    kind : str
    places : tuple of (float, float)
        Points of the line; it may leave the frame.
    ink : int or str or None
        Colour; None: that of its kind.
    low, high : tuple of float
        Ends of an interval of y at every place, drawn as a band; empty: none.
    shape : str or None
        Shape drawn at every place; None: no shape.
    label : Label or None
    name, summary : str
        Description for a reader who asks, such as a tooltip; empty: none.
    tags : mapping of str to str
        See `Tags`.
    subject : str
        Key of what it speaks of, such as a function; empty: nothing else does.
    """

    kind: LineKind
    places: tuple[Place, ...]
    ink: Ink | None = None
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    shape: Shape | None = None
    label: Label | None = None
    name: str = ""
    summary: str = ""
    tags: Tags = field(default_factory=dict)
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A point of the plane. Later marks are drawn over earlier ones.

    Parameters
    ----------
    at : tuple of float
        Position at which it is drawn.
    shape : str
    ink : int or str
    face : str
    x_interval, y_interval : tuple of float or None
        Interval along an axis; None: not known, or there is none.
    size : float
        Its diameter in those of the usual mark; 1: the usual size.
    edge : str or None
        Edge of the frame beyond which it lies, and at which it is drawn; None: it lies inside.
    beyond : tuple of float or None
        Where beyond the edge it lies, for a renderer that shows more of the plane on request;
        None: it lies inside, or at no finite place.
    is_alarming : bool
        Whether its position is impossible, such as above its roof.
    label : Label or None
    name, summary : str
        Description with its position, for a reader who asks.
    glyph : str
        Text used where only letters can be drawn; empty: the letter of its shape.
    tags : mapping of str to str
        See `Tags`.
    subject : str
        Key of what it speaks of, such as a function; empty: nothing else does.
    """

    at: Place
    shape: Shape = "circle"
    ink: Ink = "ink"
    face: Face = "full"
    x_interval: Interval | None = None
    y_interval: Interval | None = None
    size: float = 1.0
    edge: Edge | None = None
    beyond: Place | None = None
    is_alarming: bool = False
    label: Label | None = None
    name: str = ""
    summary: str = ""
    glyph: str = ""
    tags: Tags = field(default_factory=dict)
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A part of the plane.

    Parameters
    ----------
    corners : tuple of (float, float)
        Corners of a polygon whose sides are straight on the drawn axes, counterclockwise.
    ink : int or str or None
        Colour; None: white.
    label : Label or None
    name : str
    tags : mapping of str to str
        See `Tags`.
    subject : str
        Key of what it speaks of, such as a function; empty: nothing else does.
    """

    corners: tuple[Place, ...]
    ink: Ink | None
    label: Label | None = None
    name: str = ""
    tags: Tags = field(default_factory=dict)
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A horizontal bar, or a piece of one.

    Parameters
    ----------
    row : float
        Position on the axis of rows.
    begin, end : float
    ink : int or str
    face : str
    label : Label or None
        Written in the bar if it fits, else left out.
    name, summary : str
    tags : mapping of str to str
        See `Tags`.
    subject : str
        Key of what it speaks of, such as a function; empty: nothing else does.
    """

    row: float
    begin: float
    end: float
    ink: Ink
    face: Face = "full"
    label: Label | None = None
    name: str = ""
    summary: str = ""
    tags: Tags = field(default_factory=dict)
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A row of the key, or a part of one.

    Parameters
    ----------
    text : str
    ink : int or str or None
        Colour of its sample; None: that of the kind of line, or plain ink.
    line : str or None
        Kind of the sample line before the text; None: no line.
    has_band : bool
        Whether the sample line has an interval band.
    shape : str or None
        Shape before the text, on the sample line if there is one; None: no shape.
    face : str
    lead : str
        Bold, coloured text before the text.
    is_part : bool
        Whether it belongs to the entry above, so that it is smaller and indented.
    is_abreast : bool
        Whether it shares a row with neighbouring entries of this kind, as far as there is room.
    glyph : str
        Text in place of the sample where only letters can be drawn.
    tags : mapping of str to str
        See `Tags`.
    subject : str
        Key of what it speaks of, such as a function; empty: nothing else does.
    """

    text: str
    ink: Ink | None = None
    line: LineKind | None = None
    has_band: bool = False
    shape: Shape | None = None
    face: Face = "full"
    lead: str = ""
    is_part: bool = False
    is_abreast: bool = False
    glyph: str = ""
    tags: Tags = field(default_factory=dict)
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One pair of axes with everything drawn on it and said about it.

    Parameters
    ----------
    title, subtitle : str
    x, y : Axis
    right : Axis or None
        Second axis of y in other units, at the right; None: none.
    areas, lines, marks, bars : tuple
    key : tuple of Entry
    notes : tuple of str
        Facts that a reader must know and the chart cannot show.
    drawing_notes : tuple of str
        Meanings of sizes, colours and intervals; left out where only letters can be drawn.
    height : float
        Height of the axes, over their width.
    """

    title: str
    subtitle: str
    x: Axis
    y: Axis
    right: Axis | None = None
    areas: tuple[Area, ...] = ()
    lines: tuple[Line, ...] = ()
    marks: tuple[Mark, ...] = ()
    bars: tuple[Bar, ...] = ()
    key: tuple[Entry, ...] = ()
    notes: tuple[str, ...] = ()
    drawing_notes: tuple[str, ...] = ()
    height: float = 0.78


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Charts of one picture, in rows.

    Parameters
    ----------
    charts : tuple of Chart
        Charts from the top left, row by row.
    columns : int
        Number of columns, where there is room for as many.
    title, subtitle : str
        Title and subtitle of all charts together; empty: each chart has its own.
    key : tuple of Entry
        Key shared by all charts.
    notes : tuple of str
    """

    charts: tuple[Chart, ...]
    columns: int = 1
    title: str = ""
    subtitle: str = ""
    key: tuple[Entry, ...] = ()
    notes: tuple[str, ...] = ()
