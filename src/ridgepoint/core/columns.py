"""Columns that several tables share, and short ways to write them."""

from __future__ import annotations

from dataclasses import replace

from ridgepoint.core.table import Column, Kind


def text(key: str, help: str, title: str = "") -> Column:
    """Return a column of texts."""
    return _column(key, help, title, "text")


def count(key: str, help: str, title: str = "", *, unit: str = "") -> Column:
    """Return a column of whole numbers."""
    return _column(key, help, title, "count", unit)


def number(key: str, help: str, title: str = "", *, unit: str = "") -> Column:
    """Return a column of numbers."""
    return _column(key, help, title, "number", unit)


def share(key: str, help: str, title: str = "") -> Column:
    """Return a column of shares: 1 is all."""
    return _column(key, help, title, "share")


def flag(key: str, help: str, title: str = "") -> Column:
    """Return a column of what is so or not."""
    return _column(key, help, title, "flag")


def _column(key: str, help: str, title: str, kind: Kind, unit: str = "") -> Column:
    return Column(key=key, title=title or key.replace("_", " "), kind=kind, unit=unit, help=help)


def rate(key: str, help: str, title: str = "") -> Column:
    """Return a column of rates, each in the unit that its row states."""
    return replace(number(key, f"{help[:-1]}, in the row's unit.", title), unit_key="unit")


CAUTIONS = (
    text("code", "Short stable name of the caution."),
    text("seen", "What was seen."),
    text("remedy", "What to do about it."),
    flag("matters", "Whether it could change a verdict."),
)
