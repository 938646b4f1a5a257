"""What was counted of operators beside what their rules state, for the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.presenting import amount
from ridgepoint.models.operators import OperatorAnalysis
from ridgepoint.models.operators.agreement import Agreement, agreement_of
from ridgepoint.show.cells import NOTHING
from ridgepoint.show.operators_text import libraries_of, shown_operator, shown_shapes
from ridgepoint.show.tables.parts_table import Cells, parts_table
from ridgepoint.show.words import printable, shown_amount

_MOST = 20
_COLUMNS = ("inputs", "stated", "counted", "work", "least bytes", "moved, cold", "bytes")


def checks(analysis: OperatorAnalysis, *, most: int = _MOST) -> RenderableType | None:
    """Return a row for each operator whose instructions were counted; None: none was.

    Parameters
    ----------
    analysis : OperatorAnalysis
    most : int
        Rows: those of most time.
    """
    groups = [
        (group, found)
        for group in analysis.alike
        if (found := agreement_of(group.operators[0].operator)) is not None
    ]
    reasons = {
        placed.operator.unchecked: placed.operator.name
        for placed in analysis.operators
        if placed.operator.unchecked
    }
    if not groups and not reasons:
        return None
    libraries = libraries_of(analysis.profile)
    rows: list[tuple[str, Cells]] = [
        (shown_operator(group.operators[0].operator.call, libraries=libraries), _cells(found))
        for group, found in groups[:most]
    ]
    parts: list[RenderableType] = []
    if rows:
        parts.append(
            parts_table("one call", _COLUMNS, rows, words=["work", "bytes"], names=["inputs"])
        )
    if more := len(groups) - len(rows):
        parts.append(Text(f"{amount(more, 'more operator')} were counted: --json and --csv."))
    parts += [
        Text(printable(f"not counted, such as {name}: {why}")) for why, name in reasons.items()
    ]
    return Group(*parts)


def _cells(found: Agreement) -> dict[str, str]:
    """Return work and bytes of one call, by the rule and as counted."""
    asked, cold = found.operator.asked, found.cold
    moved = None if cold is None or cold.read_bytes is None else cold.read_bytes
    if moved is not None and cold is not None:
        moved = None if cold.write_bytes is None else moved + cold.write_bytes
    per_function = found.flop_per_function
    work: str = found.work
    if per_function is not None and found.work == "agrees":
        work = f"agrees, {per_function:.3g} for each function"
    return {
        "inputs": shown_shapes(found.operator.call),
        "stated": shown_amount(found.stated_flop, "flop", digits=3),
        "counted": shown_amount(found.counted_flop, "flop", digits=3),
        "work": work,
        "least bytes": shown_amount(asked.moved_bytes, "B", digits=3),
        "moved, cold": NOTHING if moved is None else shown_amount(moved, "B", digits=3),
        "bytes": _bytes(found),
    }


def _bytes(found: Agreement) -> str:
    """Return whether reads and writes agree, in as few words as possible."""
    if found.reads == found.writes:
        return found.reads
    return f"read {found.reads}, written {found.writes}"
