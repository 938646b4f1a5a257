"""The source of a Python program with what was measured of its lines beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ridgepoint.core.lines import PythonLine

AROUND = 3
"""Lines that are shown before and behind one that was measured."""

_LONGEST_LINE = 200

Sources = Mapping[str, Sequence[str]]
"""The lines of files, by path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedLine:
    """A line of a file.

    Parameters
    ----------
    number : int
        From 1.
    text : str
        With its indentation where the file is known; else as it was kept.
    measured : PythonLine or None
        None: nothing was measured of it.
    """

    number: int
    text: str
    measured: PythonLine | None


def annotated(
    lines: Sequence[PythonLine], sources: Sources
) -> Iterator[tuple[str, list[list[AnnotatedLine]]]]:
    """Yield each file with its passages: measured lines, and the lines around them.

    Parameters
    ----------
    lines : sequence of PythonLine
        Those to show; the file of the first comes first.
    sources : mapping of str to sequence of str
        Of files that are as they were measured. Of other files only the measured lines are shown.
    """
    files: dict[str, dict[int, PythonLine]] = {}
    for line in lines:
        files.setdefault(line.file, {})[line.line] = line
    for file, measured in files.items():
        yield file, list(_passages(measured, sources.get(file, ())))


def _passages(
    measured: Mapping[int, PythonLine], source: Sequence[str]
) -> Iterator[list[AnnotatedLine]]:
    """Yield runs of lines that follow each other."""
    around = AROUND if source else 0
    numbers = sorted(
        {
            number
            for line in measured
            for number in range(line - around, line + around + 1)
            if number in measured or 1 <= number <= len(source)
        }
    )
    passage: list[AnnotatedLine] = []
    for number in numbers:
        if passage and number != passage[-1].number + 1:
            yield passage
            passage = []
        line = measured.get(number)
        kept = "" if line is None or line.text is None else line.text
        known = source[number - 1].expandtabs(4).rstrip() if number <= len(source) else kept
        passage.append(AnnotatedLine(number=number, text=known[:_LONGEST_LINE], measured=line))
    if passage:
        yield passage
