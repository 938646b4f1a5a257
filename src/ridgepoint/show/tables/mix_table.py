"""The instruction mix of the datacenter workloads for the terminal, beside the paper's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rich.console import RenderableType
from rich.text import Text

from ridgepoint.show.tables.layout import plain_table, titled
from ridgepoint.show.words import UNKNOWN, percent, shown_amount
from ridgepoint.suites.datacenter.mix import CLASSES, INSTRUCTIONS, shown_mixes
from ridgepoint.suites.datacenter.work import MeasuredCase

_PER_FP = "integer / floating point"
_OVERLAP = (
    "An instruction that does several of these is in each of their columns; the last is what Eq. "
    "(3)\nleaves without the floating-point instructions."
)


def mix_tables(cases: Sequence[MeasuredCase]) -> list[RenderableType]:
    """Return the mix of each workload, beside the paper's; empty: there are no workloads."""
    rows = shown_mixes(cases)
    executed = [mix for mix in rows if mix.instructions is not None]
    defined = [mix for mix in rows if mix.classes is not None]
    parts: list[RenderableType] = []
    if executed:
        table = plain_table("workload", *INSTRUCTIONS, right=INSTRUCTIONS)
        for mix in executed:
            table.add_row(Text(mix.name), *_shares(mix.instructions, INSTRUCTIONS))
        parts += [*titled("Fig. 3: the instruction mix", table), Text(_OVERLAP)]
    if len(defined) > 1:  # more than the paper's
        table = plain_table("workload", *CLASSES, _PER_FP, right=(*CLASSES, _PER_FP))
        for mix in defined:
            row = (*_shares(mix.classes, CLASSES), _times(mix.integers_per_fp))
            table.add_row(Text(mix.name), *row)
        parts += titled("Section 3.2.3: integer operations, as the source defines them", table)
    return parts


def _shares(shares: Mapping[str, float] | None, names: Sequence[str]) -> list[str]:
    return [UNKNOWN if shares is None else percent(shares[name]) for name in names]


def _times(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return "no floating point" if math.isinf(value) else shown_amount(value, digits=3)
