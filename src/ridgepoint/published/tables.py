"""What papers print about their programs, to be recomputed beside what is printed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files

import msgspec

from ridgepoint.published.documents import read_shipped

_FOLDER = files("ridgepoint") / "data" / "published"
_NUMBER = re.compile(r"(\d+(?:\.(\d+))?)(?:E(\d+))?([GM%]?)")
_POWERS = {"": 0, "M": 6, "G": 9, "%": -2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A number that is known no better than between two ends.

    Parameters
    ----------
    value, low, high : float
    """

    value: float
    low: float
    high: float

    def meets(self, other: Span) -> bool:
        """Return whether both may be the same number."""
        return self.low <= other.high and other.low <= self.high


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table as printed.

    Parameters
    ----------
    title : str
    columns : list of str
    rows : dict of str to list of str
        By name, a text for each column.
    claims : dict of str to str
        Numbers of the text that belong to the table.
    """

    title: str
    columns: list[str]
    rows: dict[str, list[str]]
    claims: dict[str, str] = {}

    def __post_init__(self) -> None:
        for name, cells in self.rows.items():
            if len(cells) != len(self.columns):
                raise ValueError(f"row {name!r} must have {len(self.columns)} cells")

    def cell(self, row: str, column: str) -> str:
        """Return what stands in a row under a column."""
        return self.rows[row][self.columns.index(column)]


class Publication(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The tables of a paper, by number."""

    source: str
    table: dict[str, Table]


def publication(name: str = "dc_roofline") -> Publication:
    """Return what a paper prints.

    Examples
    --------
    >>> publication().table["12"].cell("Sort", "OI")
    '11.7'
    """
    return read_shipped(_FOLDER / f"{name}.toml", Publication, what="the tables")


def printed(text: str) -> Span:
    """Return the number of a text such as ``8.8G``: half a unit of its last digit either way.

    Raises
    ------
    ValueError
        If it is not a number with at most an exponent, a prefix or a per cent sign.

    Examples
    --------
    >>> printed("13.2G")
    Span(value=13200000000.0, low=13150000000.0, high=13250000000.0)
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a number as papers print them")
    unit = Decimal(10) ** (_POWERS[match[4]] + int(match[3] or 0))
    value, half = Decimal(match[1]), Decimal("0.5") * Decimal(10) ** -len(match[2] or "")
    low, middle, high = (float((value + half * side) * unit) for side in (-1, 0, 1))
    return Span(value=middle, low=low, high=high)


def recomputed(formula: Callable[..., float], *inputs: Span) -> Span:
    """Return what a formula, monotone in each input, makes of numbers that are rounded."""
    corners = [
        formula(*corner)
        for corner in itertools.product(*((given.low, given.high) for given in inputs))
    ]
    value = formula(*(given.value for given in inputs))
    return Span(value=value, low=min(corners), high=max(corners))


def spans(table: Table, column: str) -> Mapping[str, Span]:
    """Return the numbers of a column, by row."""
    return {row: printed(table.cell(row, column)) for row in table.rows}
