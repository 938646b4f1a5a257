"""The report of a program's operators, for the terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from ridgepoint.core.presenting import amount
from ridgepoint.core.units import format_si
from ridgepoint.models.operators import OperatorAnalysis, OperatorGroup
from ridgepoint.models.operators.doubts import UNKNOWN_OPERATORS
from ridgepoint.models.operators.shown import modules_shown
from ridgepoint.show.cells import NOTHING
from ridgepoint.show.operators_text import (
    PHASES,
    WHOLE,
    least_there,
    libraries_of,
    limit_of_group,
    reached_by,
    roof_of_group,
    shown_operator,
    shown_shapes,
    shown_title,
    shown_work_of,
    unknown_sentences,
)
from ridgepoint.show.tables.layout import Row, caution_list, grid, sections
from ridgepoint.show.tables.operator_checks import checks
from ridgepoint.show.tables.parts_table import Cells, parts_table
from ridgepoint.show.tables.time_and_advice import advice_list
from ridgepoint.show.words import (
    UNKNOWN,
    machine_title,
    percent,
    printable,
    shown_amount,
    shown_cores,
    shown_intensity,
    shown_share,
    with_quartiles,
)

_MOST_OPERATORS = 20
_MOST_MODULES = 16
_LEAST_SHARE = 0.001
_SHAPES = "inputs"


def operators(
    analysis: OperatorAnalysis,
    *,
    most_operators: int = _MOST_OPERATORS,
    most_modules: int = _MOST_MODULES,
) -> RenderableType:
    """Return the report of a program's operators: where its time goes, and what bounds each.

    Parameters
    ----------
    analysis : OperatorAnalysis
    most_operators, most_modules : int
        Rows of either table; what is left out is summed in one more row, or said below.

    Returns
    -------
    RenderableType
        What is unknown reads "unknown", never 0.
    """
    profile = analysis.profile
    parts: list[RenderableType | None] = [
        Text(shown_title(profile), style="bold", overflow="fold"),
        grid(_rows(analysis)),
    ]
    parts.append(Text(_sentences(analysis.verdict), style="bold"))
    if analysis.advice:
        parts.append(advice_list(analysis.advice))
    if unknown := unknown_sentences(analysis):
        parts.append(_list("of unknown demand", unknown))
    parts.append(_operators(analysis, most_operators))
    if len(analysis.kinds) > 1:
        parts.append(_groups("kind", analysis.kinds, analysis.is_elsewhere))
    if len(analysis.phases) > 1:
        order: dict[str, int] = {name: at for at, name in enumerate(PHASES)}
        phases = sorted(analysis.phases, key=lambda group: order[group.name])
        parts.append(_groups("phase", phases, analysis.is_elsewhere))
    if len(analysis.modules) > 1:
        parts.append(_modules(analysis, most_modules))
    parts.append(checks(analysis))
    # Which operators are unknown stands above, each with its share of the time.
    if doubts := [doubt for doubt in analysis.doubts if doubt.code != UNKNOWN_OPERATORS]:
        parts.append(caution_list(doubts))
    return sections(*parts)


def _sentences(sentences: Iterable[str]) -> str:
    return "\n".join(printable(f"{text[:1].upper()}{text[1:]}.") for text in sentences)


def _rows(analysis: OperatorAnalysis) -> Iterator[Row]:
    """Yield the totals of the program."""
    profile, whole, machine = analysis.profile, analysis.whole, analysis.machine
    if profile.timed is None:
        yield "T  runtime", f"{UNKNOWN} (not timed)"
    else:
        yield "T  runtime", with_quartiles(profile.timed.runtime_s, "s")
    if profile.startup_s is not None:
        share = _share_of_run(analysis, profile.startup_s)
        rest = ": imports, start and end of the process"
        yield "   start, end", f"{format_si(profile.startup_s, 's', digits=3)}{share}{rest}"
    yield "   operators", _inside(analysis)
    yield "   outside", _outside(analysis)
    yield "W  work", f"{shown_work_of(whole.demand)}{_but(whole)}"
    if whole.demand is not None:
        read, written = (
            format_si(float(whole.demand.amount(name)), "B") for name in ("dram_read", "dram_write")
        )
        moved = f"read {read}, written {written}, if no cache keeps any between operators"
        yield "Q  least bytes", moved
    if whole.intensity is not None:
        yield "I  intensity", f"{shown_intensity(whole.intensity)} flop/byte of least bytes"
    if says := profile.library_says:
        units = {"flop": "flop", "bytes": "B"}
        told = (f"{format_si(amount, units.get(key, key))}" for key, amount in says.items())
        yield "   library says", f"{', '.join(told)}: its own analysis of one run"
    if machine is None:
        yield "   roofs", f"{UNKNOWN}: there is no machine to bound it by"
        return
    on = machine_title(machine)
    if analysis.cores is not None:
        on = f"{shown_cores(analysis.cores)} of {on}"
    if whole.bound is None:
        yield "   attainable", f"{UNKNOWN} on {on}"
        return
    yield "   attainable", f"{format_si(float(whole.bound.time_s), 's')} at least, on {on}"
    if not analysis.is_elsewhere:
        known = "" if whole.efficiency is None else _of_known(whole)
        yield "   efficiency", f"{shown_share(whole.efficiency)}{known}"


def _inside(analysis: OperatorAnalysis) -> str:
    whole, kinds = analysis.whole, {each.name for each in analysis.profile.operators}
    calls = f"{whole.shown_calls} of {amount(len(kinds), 'operator')}"
    if whole.time_s is None:
        return f"{calls}, not timed"
    return f"{format_si(whole.time_s.median, 's')} in {calls}"


def _outside(analysis: OperatorAnalysis) -> str:
    """Return the time outside of operators in plain words."""
    timed, outside_s = analysis.profile.timed, analysis.outside_s
    if timed is not None and analysis.whole.time_s is not None and outside_s is None:
        return f"{UNKNOWN}: less than equal runs, start included, differ by"
    if timed is None or outside_s is None:
        return UNKNOWN
    if outside_s == 0:
        if analysis.profile.startup_s is None:
            return f"{UNKNOWN}: timed one by one, the operators take longer than a plain run"
        return f"{UNKNOWN}: start, operators and end took longer, in other runs, than a plain run"
    seconds, share = format_si(outside_s, "s", digits=3), _share_of_run(analysis, outside_s)
    return f"{seconds}{share}: Python, calling operators, all that is no operator"


def _share_of_run(analysis: OperatorAnalysis, seconds: float) -> str:
    timed = analysis.profile.timed
    if timed is None or seconds > timed.runtime_s.median:  # of other runs, which took longer
        return ""
    return f", {percent(seconds / timed.runtime_s.median)} of a run"


def _but(whole: OperatorGroup) -> str:
    """Return which share of the time the known work leaves out."""
    if whole.demand is None or all(each.operator.asked.is_known for each in whole.operators):
        return ""
    if whole.unknown_share is None:
        return " at least: that of some operators is unknown"
    return (
        f" at least: that of operators with {percent(whole.unknown_share)} of the time is unknown"
    )


def _of_known(whole: OperatorGroup) -> str:
    if whole.unknown_share:
        known = percent(1 - whole.unknown_share)
        return f" of the roofs in operators whose demand is known ({known} of the time)"
    return " of the roofs, over the time in operators"


def _list(title: str, sentences: Sequence[str]) -> RenderableType:
    return Group(Text(title, style="bold"), *(Text(f"  {sentence}") for sentence in sentences))


def _operators(analysis: OperatorAnalysis, most: int) -> RenderableType:
    """Return a row for each operator with its shapes, over all modules."""
    groups, profile, there = analysis.alike, analysis.profile, analysis.is_elsewhere
    libraries, phases = libraries_of(profile), len(analysis.phases) > 1
    shown = [g for g in groups[:most] if g.share is None or g.share >= _LEAST_SHARE]
    rows: list[tuple[str, Cells]] = [
        (
            shown_operator(group.operators[0].operator.call, libraries=libraries),
            {
                "in": PHASES[group.operators[0].operator.phase],
                _SHAPES: shown_shapes(group.operators[0].operator.call),
                **_time_cells(group),
                **_placed_cells(group, is_elsewhere=there),
            },
        )
        for group in shown
    ]
    if rest := groups[len(shown) :]:
        rows.append((f"{len(rest)} more", _rest(rest, is_elsewhere=there)))
    return _Fitting(rows=rows, phases=phases, is_elsewhere=there)


_REACHED = "of its roof"
_PLACED = ("flop/byte", "flop/s", _REACHED)
_LEAST_WIDTH, _WIDE = 14, 96


@dataclass(frozen=True, slots=True)
class _Fitting:
    """The table of operators, with fewer columns where there is less room."""

    rows: Sequence[tuple[str, Cells]]
    phases: bool
    is_elsewhere: bool

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        is_wide = options.max_width >= _WIDE
        columns = (
            *(["in"] if self.phases else []),
            *(_SHAPES, "calls"),
            *(["time"] if is_wide else []),
            *("share", "flop/byte"),
            *(["flop/s"] if is_wide and not self.is_elsewhere else []),
            _REACHED,
        )
        table = parts_table("operator", columns, self.rows, words=["in", _REACHED], names=[_SHAPES])
        if self.is_elsewhere:
            table.columns[-1].header = "at least there"
        yield _uncut(table, names=("operator", _SHAPES))


def _uncut(table: Table, *, names: Collection[str]) -> Table:
    """Return a table of which only names are cut where there is little room: no number is."""
    for column in table.columns:
        if column.header not in names:
            cells = [str(column.header), *(str(cell) for cell in column.cells)]
            column.min_width, column.no_wrap = max(map(len, cells)), True
    table.columns[0].min_width = _LEAST_WIDTH
    return table


def _time_cells(group: OperatorGroup) -> dict[str, str]:
    return {
        "calls": UNKNOWN if group.calls is None else str(group.calls),
        "time": shown_amount(group.time_s, "s", digits=3),
        "share": shown_share(group.share),
    }


def _placed_cells(group: OperatorGroup, *, is_elsewhere: bool) -> dict[str, str]:
    """Return where operators are under the roofs; what does no flop has no rate."""
    roof = least_there(group) if is_elsewhere else reached_by(group)
    demand = group.demand
    if group.has_unknown or demand is None:
        return dict.fromkeys(_PLACED, UNKNOWN)
    if not demand.amount("compute"):
        return {"flop/byte": NOTHING, "flop/s": NOTHING, _REACHED: roof}
    return {
        "flop/byte": UNKNOWN if group.intensity is None else shown_intensity(group.intensity),
        "flop/s": shown_amount(group.performance, digits=3),
        _REACHED: roof,
    }


def _rest(rest: Sequence[OperatorGroup], *, is_elsewhere: bool) -> Cells:
    """Return what the operators that are left out take together."""
    together = OperatorGroup(
        name="", operators=tuple(placed for group in rest for placed in group.operators)
    )
    roof = least_there(together) if is_elsewhere else roof_of_group(together)
    return {**_time_cells(together), _REACHED: roof}


def _groups(kind: str, groups: Sequence[OperatorGroup], is_elsewhere: bool) -> Table:
    """Return a row for each group."""
    rows = [(printable(group.name), _group_cells(group)) for group in groups]
    return _groups_table(kind, rows, is_elsewhere)


def _groups_table(kind: str, rows: Sequence[tuple[str, Cells]], is_elsewhere: bool) -> Table:
    columns = ["time", "share", "work", "bytes", "limiter", _LEAST if is_elsewhere else _OF_ROOF]
    columns += ["unknown"] * any(cells["unknown"] for _, cells in rows)
    return _uncut(parts_table(kind, columns, rows, words=["limiter"]), names=(kind,))


_OF_ROOF, _LEAST = "of roof", "least there"


def _group_cells(group: OperatorGroup) -> dict[str, str]:
    """Return the totals of operators that are not alike; work is in flop or op."""
    demand = group.demand
    work = None if demand is None else float(demand.amount("compute"))
    moved = None if demand is None else float(demand.amount("dram"))
    unknown = group.unknown_share
    return {
        **_time_cells(group),
        "work": shown_amount(work, "", digits=3) if work != 0 else NOTHING,
        "bytes": shown_amount(moved, "B", digits=3) if moved != 0 else NOTHING,
        "limiter": limit_of_group(group),
        _OF_ROOF: roof_of_group(group),
        _LEAST: least_there(group).partition(",")[0],
        "unknown": percent(unknown) if unknown else "",
    }


def _modules(analysis: OperatorAnalysis, most: int) -> RenderableType:
    """Return a row for each module down to the depth at which there is room for all."""
    shown, hidden = modules_shown(analysis, most=most)
    rows = [(_indented(group), _group_cells(group)) for group in shown]
    table = _groups_table("module", rows, analysis.is_elsewhere)
    if not hidden:
        return table
    left_out = (
        f"A module counts with all inside it; {amount(hidden, 'more module')}, inside of these or "
        "with less of the time, are in --json and --csv."
    )
    return Group(table, Text(left_out))


def _indented(group: OperatorGroup) -> str:
    if not group.name:
        return WHOLE
    depth = group.name.count(".") + 1
    return f"{'  ' * depth}{printable(group.name.rpartition('.')[2])}"
