"""The page's views of a program's operators: each as a point and as a row, and its modules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ridgepoint.core.presenting import first_of
from ridgepoint.core.table import Table as DataTable
from ridgepoint.core.units import format_si
from ridgepoint.models.operators import OperatorAnalysis, OperatorGroup
from ridgepoint.models.operators.doubts import UNKNOWN_OPERATORS
from ridgepoint.show.charts.operators import operators_chart, subject_of
from ridgepoint.show.data_tables.operators import operators_tables
from ridgepoint.show.operators_text import (
    libraries_of,
    reached_by,
    shown_operator,
    shown_shapes,
    shown_title,
    unknown_sentences,
)
from ridgepoint.show.page.document import Advised, Fact, Subject, Table, View
from ridgepoint.show.page.fleet import page_table
from ridgepoint.show.page.subjects import doubt
from ridgepoint.show.tables.time_and_advice import shown_gain_of
from ridgepoint.show.words import (
    UNKNOWN,
    percent,
    printable,
    shown_amount,
    shown_intensity,
    with_quartiles,
)

_METHOD = "docs/operators.md"
_MOST_NAMED = 6


def operator_views(
    key: str, name: str, analysis: OperatorAnalysis, *, is_alone: bool
) -> Iterator[View]:
    """Yield the operators of a program, and its modules.

    Parameters
    ----------
    key, name : str
        Of the record.
    analysis : OperatorAnalysis
    is_alone : bool
        Whether there is no other such record, so that titles need not name it.
    """
    of = "" if is_alone else f": {name}"
    tables = {table.name: table for table in operators_tables(analysis)}
    yield View(
        key=f"operators/{key}",
        kind="operators",
        title=f"Operators{of}",
        charts=() if analysis.machine is None else (operators_chart(analysis),),
        table=_operators(tables["operators"], analysis),
        subjects=(_whole(key, analysis), *_subjects(key, analysis)),
        notes=(
            *(printable(f"{text[:1].upper()}{text[1:]}.") for text in analysis.verdict),
            *(f"Of unknown demand: {text}" for text in unknown_sentences(analysis)),
        ),
    )
    if len(analysis.modules) > 1:
        yield View(
            key=f"modules/{key}",
            kind="operators",
            title=f"Modules{of}",
            table=page_table(
                tables["modules"].without_empty_columns(), name="modules, with all inside them"
            ),
        )


def _operators(table: DataTable, analysis: OperatorAnalysis) -> Table:
    """Return a row for each operator of each module, which speaks of all that are alike."""
    number = {
        id(placed): index
        for index, group in enumerate(analysis.alike)
        for placed in group.operators
    }
    page = page_table(table.without_empty_columns(), name="operators")
    rows = zip(page.rows, analysis.operators, strict=True)
    return replace(
        page, rows=tuple(replace(row, subject=subject_of(number[id(one)])) for row, one in rows)
    )


def _whole(key: str, analysis: OperatorAnalysis) -> Subject:
    """Return the program with its totals, advice and doubts."""
    profile, whole = analysis.profile, analysis.whole
    runtime = UNKNOWN
    if profile.timed is not None:
        runtime = with_quartiles(profile.timed.runtime_s, "s")
    facts = [
        Fact(key="runtime", name="T, runtime", text=runtime, source=_METHOD,
             how="Runs with nothing attached.",
             samples=None if profile.timed is None else profile.timed.runtime_s.samples,
             samples_unit="s"),
        *_facts(whole),
    ]  # fmt: skip
    return Subject(
        key=f"program/{key}",
        name=shown_title(profile),
        kind="program",
        share=1.0,
        facts=tuple(facts),
        advice=tuple(
            Advised(
                seen=printable(advice.seen),
                what=printable(f"{advice.about}: {advice.what}"),
                gain=shown_gain_of(advice),
            )
            for advice in analysis.advice
        ),
        cautions=tuple(
            doubt(caution, matters=True)
            for caution in analysis.doubts
            if caution.code != UNKNOWN_OPERATORS
        ),
    )


def _subjects(key: str, analysis: OperatorAnalysis) -> Iterator[Subject]:
    libraries = libraries_of(analysis.profile)
    for index, group in enumerate(analysis.alike):
        call = group.operators[0].operator.call
        name = shown_operator(call, libraries=libraries)
        yield Subject(
            key=subject_of(index),
            name=f"{name} {shown_shapes(call)}".rstrip(),
            kind="operator",
            parent=f"program/{key}",
            share=group.share,
            facts=(*_facts(group), *_rule(group)),
        )


def _facts(group: OperatorGroup) -> Iterator[Fact]:
    """Yield what is known of operators together, each with how."""
    time_s, demand = group.time_s, group.demand
    calls = group.shown_calls if group.calls is None else f"all {group.shown_calls}"
    yield Fact(
        key="time", name="time in operators", text=shown_amount(time_s, "s"), source=_METHOD,
        how=f"{calls.capitalize()} of a run, without operators that they call.",
        samples=None if time_s is None else time_s.samples, samples_unit="s",
    )  # fmt: skip
    if demand is not None:
        work, moved = float(demand.amount("compute")), float(demand.amount("dram"))
        yield Fact(key="work", name="W, work", text=format_si(work, "flop"), source=_METHOD,
                   how="By the shapes and types of the arrays.")  # fmt: skip
        yield Fact(key="bytes", name="Q, least bytes", text=format_si(moved, "B"), source=_METHOD,
                   how="Every distinct byte of inputs and outputs once.")  # fmt: skip
    if group.intensity:
        yield Fact(key="intensity", name="I, intensity", source=_METHOD,
                   text=f"{shown_intensity(group.intensity)} flop/byte",
                   how="W / Q, over the least bytes.")  # fmt: skip
    if group.performance is not None:
        yield Fact(key="performance", name="P, performance", how="W / T", source=_METHOD,
                   text=format_si(group.performance.median, "flop/s"))  # fmt: skip
    if group.bound is not None:
        least = float(group.bound.time_s)
        yield Fact(key="least", name="least time", text=format_si(least, "s"), source=_METHOD,
                   how="Demand over capacity, operator by operator.")  # fmt: skip
    yield Fact(key="roof", name="of its roof", text=reached_by(group), source=_METHOD,
               how="The least time over the time.")  # fmt: skip
    if group.unknown_share:
        yield Fact(key="unknown", name="time in operators of unknown demand",
                   text=percent(group.unknown_share), source=_METHOD)  # fmt: skip


def _rule(group: OperatorGroup) -> Iterator[Fact]:
    """Yield how the work of a call was computed, or why it is not known, and who called it."""
    asked = group.operators[0].operator.asked
    if asked.rule:
        yield Fact(key="rule", name="rule", text=printable(asked.rule), source=_METHOD)
    if asked.unknown:
        yield Fact(key="why", name="unknown", text=printable(asked.unknown), source=_METHOD)
    modules = [placed.operator.module or "the outermost" for placed in group.operators]
    yield Fact(
        key="modules",
        name="called by",
        text=printable(first_of(modules, _MOST_NAMED)),
        source=_METHOD,
    )
