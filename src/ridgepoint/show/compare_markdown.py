"""Comparisons as Markdown, to paste into a pull request: the verdict first, details folded."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from ridgepoint.models.comparing.gates import Judgement
from ridgepoint.models.comparing.parts import PartChanges
from ridgepoint.models.comparing.programs import ProgramComparison, shown_quantities
from ridgepoint.show.compare_text import (
    amount_text,
    headline,
    interval_text,
    limits_text,
    quantity_name,
    ratio_text,
    verdict_text,
)
from ridgepoint.show.tables.compare_table import (
    MOST_PARTS,
    PART_COLUMNS,
    part_cells,
    part_name,
    rest_lines,
)
from ridgepoint.show.words import one_line, percent, printable

Judged = Sequence[tuple[ProgramComparison, Judgement]]

# What Markdown or HTML would act upon; a mention of a user or an issue too.
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-!|~&@$:])")
_PLAIN = re.compile(r"[A-Za-z0-9 .,;/%=]*")
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
        yield f"**{_sentence(comparison.differences[0].seen)}**"
        yield ""
    yield f"**{_sentence(headline(comparison))}** {_sentence(limits_text(comparison))}"
    yield ""
    for judgement in judged:
        yield (
            f"- {_MARKS[judgement.outcome]} `{_code(judgement.gate.text)}` "
            f"{'' if judgement.outcome != 'unknown' else 'not judged: '}{escaped(judgement.reason)}"
        )
    if judged:
        yield ""
    yield from _amounts(comparison)
    yield ""
    for parts in (comparison.regions, comparison.functions):
        yield from _parts(parts, threshold)
    yield from _details(comparison)


def _amounts(comparison: ProgramComparison) -> Iterator[str]:
    before, after = escaped(comparison.before.title), escaped(comparison.after.title)
    yield f"| | {before} | {after} | ratio | 95 % interval | |"
    yield "|---|---:|---:|---:|---:|---|"
    for quantity in shown_quantities([comparison]):
        change = comparison.changes[quantity]
        cells = (
            quantity_name(quantity),
            amount_text(change.before, change.unit),
            amount_text(change.after, change.unit),
            ratio_text(change),
            interval_text(change),
            verdict_text(change),
        )
        shown = [escaped(cell) for cell in cells]
        if change.is_change:
            shown[-1] = f"**{shown[-1]}**"
        yield f"| {' | '.join(shown)} |"


def _parts(parts: PartChanges, threshold: float) -> Iterator[str]:
    listed = [change for change in parts.matched if change.weight >= threshold][:MOST_PARTS]
    rest = list(rest_lines(parts, threshold=threshold, most=MOST_PARTS))
    if not listed and not rest:
        return
    differ = f"{len(listed)} {parts.kind}s differ"
    if len(listed) == 1:
        differ = f"1 {parts.kind} differs"
    yield f"<details><summary>{differ}</summary>"
    yield ""
    if listed:
        cells = [part_cells(change) for change in listed]
        columns = [column for column in PART_COLUMNS if any(column in one for one in cells)]
        heads = [quantity_name(column) for column in columns]
        yield f"| {parts.kind} | {' | '.join(heads)} | of program |"
        yield f"|---|{'---:|' * (len(columns) + 1)}"
        for change, one in zip(listed, cells, strict=True):
            shown = [escaped(one.get(column, "")) for column in columns]
            name = escaped(part_name(change.part))
            yield f"| {' | '.join([name, *shown, percent(change.weight)])} |"
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
        command = _code(printable(one_line(shlex.join(measured.command))))
        runs = "" if measured.timed is None else f", {measured.timed.runtime_s.n} runs"
        yield (
            f"- {escaped(program.title)}: `{command}`, {escaped(context.started)}, "
            f"{escaped(context.cpu)}{runs}"
        )
    tolerances = comparison.tolerances
    yield (
        "- A time differs if the 95 % interval of the ratio of the medians leaves out 1, and the "
        f"ratio differs from 1 by more than {percent(tolerances.time)}; a count, if it differs by "
        f"more than {percent(tolerances.count)}."
    )
    for caution in comparison.differences[0 if comparison.is_same_work else 1 :]:
        yield f"- {escaped(caution.seen)}; {escaped(caution.remedy)}"
    yield ""
    yield "</details>"


def escaped(text: str) -> str:
    r"""Return text that Markdown shows as it is, on one line.

    Examples
    --------
    >>> print(escaped("a|b <b>"))
    a\|b \<b\>
    """
    line = printable(one_line(text))
    return line if _PLAIN.fullmatch(line) else _SPECIAL.sub(_without_meaning, line)


def _without_meaning(match: re.Match[str]) -> str:
    # A backslash keeps Markdown from acting, but GitHub looks for mentions in plain text.
    return {"@": "&#64;", "&": "&amp;", ":": ":", "-": "-", "+": "+", "(": "(", ")": ")"}.get(
        match[1], f"\\{match[1]}"
    )


def _code(text: str) -> str:
    """Return text for between backticks, which cannot be escaped there."""
    return text.replace("`", "'").replace("|", "¦") if "`" in text or "|" in text else text


def _sentence(text: str) -> str:
    return escaped(f"{text[:1].upper()}{text[1:]}") + "."
