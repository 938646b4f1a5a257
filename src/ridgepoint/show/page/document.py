"""The content of a page: what its charts, tables and panels show, as frozen values.

The page's script draws, filters and sorts this and computes nothing: numbers come with their
units, intervals and origins as text. ``web/src/document.ts`` has the same classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ridgepoint.show.chart import Chart, Tags

SCHEMA = 1
"""Of the document; a page reads its own alone."""

RecordKind = Literal["measurement", "machine", "cluster", "timing", "operators"]
SubjectKind = Literal[
    "program", "region", "function", "line", "rank", "machine", "case", "operator"
]
ColumnKind = Literal["text", "number", "share", "change"]
"""``change`` is relative: 0.05 is 5 % more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A quantity that a fact was computed from.

    Parameters
    ----------
    name, text : str
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A quantity, and how it is known.

    Parameters
    ----------
    key : str
        Unique among the facts of a subject.
    name : str
    text : str
        With its unit and interval, or that it is unknown, and why.
    how : str
        How it was measured or computed: a sentence, or a formula with its numbers.
    inputs : tuple of Input
    samples : tuple of float or None
        In `samples_unit`, in the order in which they were taken; None: there are none.
    samples_unit : str
    source : str
        Publication and equation, or page of the documentation; empty: none.
    """

    key: str
    name: str
    text: str
    how: str = ""
    inputs: tuple[Input, ...] = ()
    samples: tuple[float, ...] | None = None
    samples_unit: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine:
    """A line of source code, and what it did.

    Parameters
    ----------
    file : str
    line : int
        From 1.
    text : str or None
        None: not kept.
    facts : tuple of Input
    """

    file: str
    line: int
    text: str | None = None
    facts: tuple[Input, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Advised:
    """What to do next.

    Parameters
    ----------
    seen, what : str
    gain : str
        How much faster it could be at most.
    """

    seen: str
    what: str
    gain: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledOut:
    """What does not hold a program back, and the evidence; or what may, and is not known to.

    Parameters
    ----------
    what, why : str
    is_open : bool
        Whether it is not ruled out: `why` says then what is missing.
    """

    what: str
    why: str
    is_open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A caution.

    Parameters
    ----------
    code, text : str
    matters : bool
        Whether it could change a verdict.
    """

    code: str
    text: str
    matters: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What marks, rows and panels speak of.

    Parameters
    ----------
    key : str
        Unique in its view.
    name : str
    kind : str
    parent : str or None
        Key of what it is a part of; None: of nothing.
    share : float or None
        Share of its program's time, 0 to 1; None: not known.
    facts : tuple of Fact
    advice : tuple of Advised
    ruled_out : tuple of RuledOut
    cautions : tuple of Doubt
    lines : tuple of SourceLine
    """

    key: str
    name: str
    kind: SubjectKind
    parent: str | None = None
    share: float | None = None
    facts: tuple[Fact, ...] = ()
    advice: tuple[Advised, ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()
    cautions: tuple[Doubt, ...] = ()
    lines: tuple[SourceLine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    key, title : str
    unit : str
        Of the cells' values; empty: none.
    kind : {"text", "number", "share", "change"}
    help : str
        What it is, in a sentence; empty: the title says it.
    """

    key: str
    title: str
    unit: str = ""
    kind: ColumnKind = "text"
    help: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell of a table.

    Parameters
    ----------
    text : str
    value : float or str or None
        To sort and filter by, in the unit of its column; None: unknown, or the text.
    fact : str
        Key of the fact of the row's subject that it shows; empty: none.
    """

    text: str
    value: float | str | None = None
    fact: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a table.

    Parameters
    ----------
    cells : tuple of Cell
        One for each column.
    subject : str
        Key of what it speaks of; empty: nothing else does.
    tags : mapping of str to str
        As for marks of a chart.
    """

    cells: tuple[Cell, ...]
    subject: str = ""
    tags: Tags = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of a view.

    Parameters
    ----------
    name : str
    columns : tuple of Column
    rows : tuple of Row
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        if any(len(row.cells) != len(self.columns) for row in self.rows):
            raise ValueError(f"a row of {self.name!r} has not one cell for each column")


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A value that can be chosen.

    Parameters
    ----------
    value, title : str
    """

    value: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What can be chosen about a view: the values of a tag of its lines, marks and rows.

    Parameters
    ----------
    tag, title : str
    options : tuple of Option
    initial : tuple of str
        Values that are chosen at first.
    exclusive : bool
        Whether exactly one value is chosen.
    """

    tag: str
    title: str
    options: tuple[Option, ...]
    initial: tuple[str, ...]
    exclusive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of the time the counts explain.

    Parameters
    ----------
    share : float or None
        0 to 1; None: not known.
    text : str
    """

    share: float | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One way to look at records: charts, a table, and what they speak of.

    Parameters
    ----------
    key : str
        Unique on the page.
    kind : str
        ``roofline``, ``dc-roofline``, ``ridgeline``, ``scaling``, ``pipeline``, ``latency``,
        ``miss-curve``, ``network``, ``compare``, ``history``, ``fleet``, ``samples``, ...
    title : str
    charts : tuple of Chart
    controls : tuple of Control
    table : Table or None
    subjects : tuple of Subject
    coverage : Coverage or None
        None: nothing in it was counted.
    notes : tuple of str
        What a reader must know and the charts do not say.
    """

    key: str
    kind: str
    title: str
    charts: tuple[Chart, ...] = ()
    controls: tuple[Control, ...] = ()
    table: Table | None = None
    subjects: tuple[Subject, ...] = ()
    coverage: Coverage | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecord:
    """A record that the page shows.

    Parameters
    ----------
    key : str
        Value of the tag ``record``; unique on the page.
    kind : {"measurement", "machine", "cluster", "timing", "operators"}
    name : str
    label, note, created, host : str or None
        Name and note that a user gave it; when it was kept (ISO 8601, UTC); where.
    report : mapping or None
        What ``--json`` prints of it.
    facts : tuple of Fact
        System, caches, versions, protocol.
    """

    key: str
    kind: RecordKind
    name: str
    label: str | None = None
    note: str | None = None
    created: str | None = None
    host: str | None = None
    report: Mapping[str, Any] | None = None
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDocument:
    """Everything on a page.

    Parameters
    ----------
    version : str
        Version of Ridgepoint that made it.
    title : str
    records : tuple of PageRecord
    views : tuple of View
    schema : int
    """

    version: str
    title: str
    records: tuple[PageRecord, ...] = ()
    views: tuple[View, ...] = ()
    schema: int = SCHEMA
