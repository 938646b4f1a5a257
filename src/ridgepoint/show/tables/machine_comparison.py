"""A comparison for the terminal: the ceilings that changed, and how many did not."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.models.comparing.machines import CeilingChange, MachineComparison, Verdict
from ridgepoint.models.gains import Gain
from ridgepoint.show.tables.layout import caution_list, plain_table
from ridgepoint.show.words import printable, shown_amount, shown_name, shown_pattern, shown_place

_SHOWN: tuple[Verdict, ...] = ("fell", "rose", "missing", "new")


def comparison(comparison: MachineComparison) -> RenderableType:
    """Return the ceilings that changed, a line that counts the others, and doubts.

    Parameters
    ----------
    comparison : MachineComparison
    """
    parts: list[RenderableType] = []
    changed = [one for verdict in _SHOWN for one in comparison.ceilings if one.verdict == verdict]
    if changed:
        right = ("baseline", "now", "change", "95 % interval")
        table = plain_table("ceiling", "on", *right, "verdict", right=right)
        for change in changed:
            table.add_row(*map(Text, _cells(change)))
        parts.append(table)
    same, unknown = comparison.count("same"), comparison.count("unknown")
    others = "other ceilings" if changed else "ceilings"
    parts.append(Text(f"{others}: {same} same within noise and tolerance, {unknown} unknown"))
    if comparison.cautions:
        parts.append(caution_list(comparison.cautions))
    return Group(*parts)


def _cells(change: CeilingChange) -> tuple[str, ...]:
    gain, unit = change.gain, change.unit.replace("byte", "B")
    return (
        f"{shown_name(change.resource)} {shown_pattern(printable(change.name))}",
        shown_place(change.threads, change.part),
        shown_amount(change.baseline, unit),
        shown_amount(change.rate, unit),
        "" if gain is None else _percent(gain.ratio),
        _interval(gain),
        change.verdict,
    )


def _interval(gain: Gain | None) -> str:
    if gain is None or gain.low is None or gain.high is None:
        return ""
    return f"{_percent(gain.low)} to {_percent(gain.high)}"


def _percent(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.1f} %"
