"""The source of a Python program with its lines' time, work and traffic, for the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.counts import traffic_at
from ridgepoint.core.lines import PythonLine, PythonLines
from ridgepoint.core.timed import Timed
from ridgepoint.show.annotated import AnnotatedLine, Sources, annotated
from ridgepoint.show.tables.layout import plain_table, sections
from ridgepoint.show.words import percent, printable, shown_amount
from ridgepoint.show.work import shown_work

_MOST_LINES = 200
_COLUMNS = ("CPU time", "native", "work", "DRAM", "line")


def annotated_source(times: PythonLines, timed: Timed, sources: Sources) -> RenderableType:
    """Return each file of the program with its measured lines, those with most time first.

    Parameters
    ----------
    times : PythonLines
    timed : Timed
        The program's unsampled runs.
    sources : mapping of str to sequence of str
        Of files that are as they were measured.
    """
    cpu_s = timed.cpu_s.median or sum(line.cpu_s.median for line in times.lines)
    parts: list[RenderableType | None] = []
    for file, passages in annotated(times.lines[:_MOST_LINES], sources):
        table = plain_table(*_COLUMNS, "source", right=_COLUMNS)
        table.columns[-1].overflow = "ellipsis"
        table.columns[-1].no_wrap = True
        for index, passage in enumerate(passages):
            if index:
                table.add_row(*[""] * len(_COLUMNS), "...")
            for line in passage:
                table.add_row(*_cells(line, cpu_s), Text(printable(line.text)))
        unknown = (
            "" if file in sources else ": it is not there, or was changed since it was measured"
        )
        parts.append(Group(Text(f"{printable(file)}{unknown}", style="bold"), table))
    return sections(*parts)


def _cells(line: AnnotatedLine, cpu_s: float) -> tuple[str, ...]:
    """Return what is known of a line; a part that is 0 is left out."""
    measured = line.measured
    if measured is None:
        return ("", "", "", "", str(line.number))
    time_s = measured.cpu_s.median
    native_s = measured.native_s + measured.other_threads_s
    return (
        percent(time_s / cpu_s) if cpu_s else "",
        percent(native_s / time_s) if native_s else "",
        *_done(measured),
        str(line.number),
    )


def _done(line: PythonLine) -> tuple[str, str]:
    if line.counts is None:
        return "", ""
    dram = traffic_at(line.traffic, "dram")
    return (
        shown_work(line.counts, "flop") if line.counts.work_flop else "",
        "" if dram is None else shown_amount(dram.known_bytes, "B"),
    )
