"""A published table with what follows from its own numbers, as a figure value."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Self

from ridgepoint.core.documents import document_kind

DISAGREES = "!"
"""Marks what follows from a paper's other numbers, rounded as they are, and is not printed so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A number or word of a table.

    Parameters
    ----------
    printed : str or None
        As the paper has it; None: it prints none.
    recomputed : str or None
        From the paper's other numbers; None: it was given.
    agrees : bool or None
        Whether both may be the same, rounded as the numbers are; None: there is nothing to compare.
    """

    printed: str | None = None
    recomputed: str | None = None
    agrees: bool | None = None

    @property
    def text(self) -> str:
        """Both, with a mark where they disagree."""
        both = " | ".join(text for text in (self.printed, self.recomputed) if text is not None)
        return f"{both} {DISAGREES}" if self.agrees is False else both


@dataclass(frozen=True, slots=True, kw_only=True)
class RecomputedTable:
    """A table of the paper.

    Parameters
    ----------
    number : str
    title : str
    columns : tuple of str
        After the name of a row.
    rows : tuple of (str, tuple of Cell)
    remarks : tuple of str
        What its own arithmetic says of it, a sentence each.
    """

    number: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    remarks: tuple[str, ...] = ()

    def cell(self, row: str, column: str) -> Cell:
        """Return the cell of a row and a column."""
        return dict(self.rows)[row][self.columns.index(column)]

    def of(self, names: Collection[str]) -> Self | None:
        """Return the rows of these subjects, named before a comma; None: there are none."""
        rows = tuple(row for row in self.rows if row[0].partition(",")[0] in names)
        return replace(self, rows=rows) if rows else None


@document_kind("recomputed", remedy="give a file that '--published -o FILE.json' wrote")
@dataclass(frozen=True, slots=True, kw_only=True)
class RecomputedPaper:
    """Tables of a paper with what follows from their own numbers.

    Parameters
    ----------
    source : str
        The paper.
    tables : tuple of RecomputedTable
    """

    source: str
    tables: tuple[RecomputedTable, ...]
