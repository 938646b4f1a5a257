"""What to do next, as a section of a report."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ridgepoint.models.advice import Advice
from ridgepoint.show.words import printable

_TWO_DIGITS = 99.5


def advice_list(advised: Sequence[Advice]) -> RenderableType:
    """Return each advice with its largest gain, what it is about, what was seen, what to do.

    Parameters
    ----------
    advised : sequence of Advice
        At least one.
    """
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for advice in advised:
        text = Text(f"{printable(advice.about)}: ", style="bold")
        text.append(printable(f"{advice.seen}; {advice.what}"), style="not bold")
        table.add_row(f"  {_gain(advice)}", text)
    return Group(Text("what next", style="bold"), table)


def _gain(advice: Advice) -> str:
    """Return a gain in words, to two digits below a hundred."""
    if advice.gain is None:
        return "unknown gain"
    return f"at most {f'{advice.gain:.2g}' if advice.gain < _TWO_DIGITS else f'{advice.gain:.0f}'}x"
