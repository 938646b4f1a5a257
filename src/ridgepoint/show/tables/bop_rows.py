"""Basic operations in the report of a measured program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.counts import Counts
from ridgepoint.core.units import format_si
from ridgepoint.models.work import bop_source
from ridgepoint.show.words import UNKNOWN, percent

_SHOWN_CLASSES = {
    "arithmetic": "arithmetic",
    "fp_arithmetic": "fp arithmetic",
    "logic": "logic",
    "compare": "compare",
    "fp_compare": "fp compare",
    "addressing": "addressing",
}


def bop_rows(counts: Counts) -> Iterator[tuple[str, str]]:
    """Yield the work in basic operations, how it was counted, and Eq. (3) beside it."""
    refined, source = counts.basic_operations, bop_source(counts)
    by_equation = UNKNOWN if counts.eq3_bop is None else _amount(counts.eq3_bop)
    if refined is None:
        said = f"{by_equation} by Eq. (3)" if source == "eq3" else UNKNOWN
        yield "W  work", said
        return
    yield "W  work", f"{_amount(refined.total)} refined{_classes(refined)}"
    yield "   by Eq. (3)", by_equation


def _classes(done: BasicOperations) -> str:
    """Return the share of each class that occurs, the largest first."""
    each = {field.name: getattr(done, field.name) for field in fields(done)}
    shares = [
        f"{percent(part / done.total)} {_SHOWN_CLASSES[name]}"
        for name, part in sorted(each.items(), key=lambda pair: -pair[1])
        if part
    ]
    return f": {', '.join(shares)}" if shares else ""


def _amount(bops: int) -> str:
    return format_si(bops, "BOP") if bops > 0 else f"{bops} BOP"
