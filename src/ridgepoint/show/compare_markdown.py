"""Comparisons as Markdown, to paste into a pull request: the verdict first, details folded."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from ridgepoint.models.comparing.gates import Judgement
from ridgepoint.models.comparing.parts import PartChanges
from ridgepoint.models.comparing.programs import ProgramComparison, shown_quantities
from ridgepoint.show.compare_text import (
    amount_text,
    drift_note,
    headline,
    interval_cell,
    limits_text,
    quantity_name,
    ratio_text,
    verdict_text,
)
from ridgepoint.show.markdown import code, escaped, sentence, table
from ridgepoint.show.tables.compare_table import (
    MOST_PARTS,
    PART_COLUMNS,
    part_cells,
    part_name,
    rest_lines,
)
from ridgepoint.show.words import percent

Judged = Sequence[tuple[ProgramComparison, Judgement]]

_MARKS = {"passed": "✅", "failed": "❌", "unknown": "❔"}


def comparison_markdown(
    comparisons: Sequence[ProgramComparison], judged: Judged, *, threshold: float
) -> str:
    """Return comparisons with one program as Markdown.

    Parameters
    ----------
    comparisons : sequence of ProgramComparison
    judged : sequence of (ProgramComparison, Judgement)
        What became of each gate.
    threshold : float
        Functions that differ by a smaller share of the program's are not listed.
    """
    lines: list[str] = []
    for comparison in comparisons:
        own = [judgement for compared, judgement in judged if compared is comparison]
        lines += [*_one(comparison, own, threshold), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _one(
    comparison: ProgramComparison, judged: Sequence[Judgement], threshold: float
) -> Iterator[str]:
    before, after = comparison.before, comparison.after
    yield f"### {escaped(after.title)} compared with {escaped(before.title)}"
    yield ""
    if not comparison.is_same_work:
        yield f"**{sentence(comparison.differences[0].seen)}**"
        yield ""
    yield f"**{sentence(headline(comparison))}** {sentence(limits_text(comparison))}"
    yield ""
    for judgement in judged:
        yield (
            f"- {_MARKS[judgement.outcome]} {code(judgement.gate.text)} "
            f"{'' if judgement.outcome != 'unknown' else 'not judged: '}{escaped(judgement.reason)}"
        )
    if judged:
        yield ""
    yield from _amounts(comparison)
    yield ""
    for parts in (comparison.regions, comparison.functions):
        yield from _parts(parts, threshold, (comparison.before.title, comparison.after.title))
    yield from _details(comparison)


def _amounts(comparison: ProgramComparison) -> Iterator[str]:
    titles = (comparison.before.title, comparison.after.title)
    columns = ("", *titles, "ratio", "95 % interval", "verdict")
    rows = []
    for quantity in shown_quantities([comparison]):
        change = comparison.changes[quantity]
        rows.append(
            (
                quantity_name(quantity),
                amount_text(change.before, change.unit),
                amount_text(change.after, change.unit),
                ratio_text(change),
                interval_cell(change),
                verdict_text(change),
            )
        )
    yield from table(columns, rows, right=columns[1:-1])


def _parts(parts: PartChanges, threshold: float, titles: tuple[str, str]) -> Iterator[str]:
    listed = [change for change in parts.matched if change.weight >= threshold][:MOST_PARTS]
    rest = list(rest_lines(parts, threshold=threshold, sides=titles))
    if not listed and not rest:
        return
    differ = f"{len(listed)} {parts.kind}s differ"
    if len(listed) < 2:
        differ = f"1 {parts.kind} differs" if listed else f"{parts.kind.capitalize()}s"
    yield f"<details><summary>{differ}</summary>"
    yield ""
    if listed:
        cells = [part_cells(change) for change in listed]
        columns = [column for column in PART_COLUMNS if any(column in one for one in cells)]
        heads = [*map(quantity_name, columns), "of program"]
        rows = [
            (
                part_name(change.part),
                *(one.get(column, "") for column in columns),
                percent(change.weight),
            )
            for change, one in zip(listed, cells, strict=True)
        ]
        yield from table((parts.kind, *heads), rows, right=heads)
        yield ""
    yield from (f"- {escaped(line)}" for line in rest)
    yield ""
    yield "</details>"
    yield ""


def _details(comparison: ProgramComparison) -> Iterator[str]:
    yield "<details><summary>What was compared, and how</summary>"
    yield ""
    for program in (comparison.before, comparison.after):
        measured, context = program.measured, program.measured.context
        command = code(shlex.join(measured.command))
        runs = "" if measured.timed is None else f", {measured.timed.runtime_s.n} runs"
        yield (
            f"- {escaped(program.title)}: {command}, {escaped(context.started)}, "
            f"{escaped(context.cpu)}{runs}"
        )
    tolerances = comparison.tolerances
    yield (
        "- A time differs if the 95 % interval of the ratio of the medians does not include 1, and "
        f"the ratio differs from 1 by more than {percent(tolerances.time)}; a count, if its ratio "
        f"differs by more than {percent(tolerances.count)}."
    )
    if note := drift_note(comparison):
        yield f"- {escaped(note)}."
    for caution in comparison.differences[0 if comparison.is_same_work else 1 :]:
        yield f"- {escaped(caution.seen)}; {escaped(caution.remedy)}"
    yield ""
    yield "</details>"
