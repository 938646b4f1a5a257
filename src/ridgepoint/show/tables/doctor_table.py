"""The table of what works on this host, and what to do about the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ridgepoint.show.words import printable

if TYPE_CHECKING:
    from ridgepoint.doctor.finding import Finding


def doctor(findings: Sequence[Finding]) -> RenderableType:
    """Return what works on this host, why the rest does not, what to do, what it costs.

    Parameters
    ----------
    findings : sequence of Finding
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=True)
    table.add_column("what", overflow="fold", min_width=10)
    table.add_column("works", no_wrap=True)
    table.add_column("found", overflow="fold")
    for finding in findings:
        lines = [finding.detail]
        if finding.remedy is not None:
            lines.append(f"what to do: {finding.remedy}")
        if finding.cost is not None:
            lines.append(f"{'cost' if finding.works else 'without it'}: {finding.cost}")
        works = Text("yes") if finding.works else Text("no", style="bold")
        table.add_row(Text(finding.what), works, Text("\n".join(map(printable, lines))))
    return table
