"""A fleet as bars: its machines by a ceiling, and a program's least time on each."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.resources import LINKS, RESOURCES
from ridgepoint.models.fleet.programs import ProgramOnFleet, There
from ridgepoint.models.fleet.ranks import Ranked
from ridgepoint.show.axes import linear_ticks, with_prefix
from ridgepoint.show.chart import Axis, Bar, Chart, Entry, Ink, Mark, Page, Tags
from ridgepoint.show.charts.pipeline_bars import at_the_end, row_axis
from ridgepoint.show.fleet_text import cost_text, notes, rank_text, time_text
from ridgepoint.show.words import (
    limit_text,
    measured_name,
    percent,
    printable,
    shown_amount,
    shown_name,
)

MOST_ROWS = 30
_LETTERS = 32
"""Of the name of a machine."""
_ROW_HEIGHT = 0.055
"""Of an axis of rows, over its width."""
_ROOM = 0.55
"""Beside the longest bar, over its length, for the texts at the ends."""
_PATHS: dict[str, Ink] = {"compute": "compute", "network": "network"}


def program_chart(found: ProgramOnFleet) -> Chart:
    """Return a program's least time, or the price of a run, on each machine."""
    known = [one for one in found.there if _number(one, found) is not None]
    shown = known[:MOST_ROWS]
    rows = [
        _Row(
            name=one.member.name,
            value=value,
            text=_text(one, found),
            ink=_ink(one),
            at=-float(number),
        )
        for number, one in enumerate(shown)
        if (value := _number(one, found)) is not None
    ]
    price = next((one.member.price for one in shown if one.member.price is not None), None)
    unit = "s" if not found.by_cost or price is None else printable(price.currency)
    what = "Price of a run in the least time" if found.by_cost else "Least time"
    paths = list(dict.fromkeys(_path(one) for one in shown))
    more = len(found.there) - len(shown)
    return _bars(
        title=f"{measured_name(found.measurement)} on each machine",
        label=f"{what} [{unit}]" if unit else what,
        names=[row.name for row in rows],
        rows=rows,
        key=tuple(Entry(text=f"limited by {path}", ink=_PATHS.get(path, "memory"), shape="square")
                  for path in paths),
        notes=(*((f"{more} more machines",) if more else ()), *notes(found, in_table=False)),
    )  # fmt: skip


def _number(one: There, found: ProgramOnFleet) -> Estimate | None:
    return one.cost if found.by_cost else one.time_s


def _text(one: There, found: ProgramOnFleet) -> str:
    value = cost_text(one) if found.by_cost else time_text(one)
    return f"{value}, {limit_text(one.placement)}" + ("" if one.is_comparable else ", incomplete")


def _path(one: There) -> str:
    limiter = one.limiter or ""
    path = RESOURCES[limiter].path if limiter in RESOURCES else limiter
    return path if path in ("compute", *LINKS) else "memory"


def _ink(one: There) -> Ink:
    return _PATHS.get(_path(one), "memory")


def ceilings_page(ranking: Mapping[str, Sequence[Ranked]]) -> Page:
    """Return a chart for each ceiling: the machines, the fastest first."""
    return Page(
        charts=tuple(
            ceiling_chart(resource, ranked) for resource, ranked in ranking.items() if ranked
        ),
        columns=2,
    )


def ceiling_chart(resource: str, ranked: Sequence[Ranked]) -> Chart:
    """Return the machines by one ceiling."""
    unit = RESOURCES[resource].rate_unit
    shown = ranked[:MOST_ROWS]
    more = len(ranked) - len(shown)
    return _bars(
        title=f"Machines by {shown_name(resource)}",
        label=f"Rate, all cores busy [{unit}]",
        names=[f"{rank_text(one.rank, one.ties)} {one.member.name}" for one in shown],
        rows=[
            _Row(
                name=one.member.name,
                value=one.value,
                text=shown_amount(one.value, unit),
                ink=0,
                at=-float(number),
            )
            for number, one in enumerate(shown)
        ],
        notes=(f"{more} more machines",) if more else (),
    )


def relative_chart(ranking: Mapping[str, Sequence[Ranked]], names: Sequence[str]) -> Chart:
    """Return every ceiling of machines as a share of the fastest, of which a reader chooses one.

    Parameters
    ----------
    ranking : mapping of str to sequence of Ranked
        By resource, which is the tag of its bars.
    names : sequence of str
        Machines, from the top.
    """
    places = {name: -float(number) for number, name in enumerate(names)}
    rows = [
        _Row(
            name=one.member.name,
            value=one.value.map(partial(_over, max(each.value.median for each in ranked))),
            text=f"{rank_text(one.rank, one.ties)}: "
            f"{shown_amount(one.value, RESOURCES[resource].rate_unit)}",
            ink=0,
            at=places[one.member.name],
            tags={"resource": resource},
        )
        for resource, ranked in ranking.items()
        for one in ranked
    ]
    return _bars(
        title="Machines by a ceiling",
        subtitle="rank, and rate with all cores busy",
        label="Share of the fastest",
        names=names,
        rows=rows,
        shown=percent,
    )


def _over(largest: float, rate: float) -> float:
    return rate / largest


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A bar of a machine, with its interval and the text at its end.

    Parameters
    ----------
    name : str
        Of the machine.
    value : Estimate
    text : str
    ink : int or str
    at : float
        Its row.
    tags : mapping of str to str
    """

    name: str
    value: Estimate
    text: str
    ink: Ink
    at: float
    tags: Tags = field(default_factory=dict)

    @property
    def end(self) -> float:
        """Where its text begins: beyond its interval."""
        return self.value.median if self.value.high is None else self.value.high

    @property
    def bar(self) -> Bar:
        """Its bar."""
        return Bar(
            row=self.at, begin=0.0, end=self.value.median, ink=self.ink, face="pale",
            name=printable(self.name), summary=self.text, tags=self.tags, subject=self.name,
        )  # fmt: skip

    @property
    def marks(self) -> Iterator[Mark]:
        """Its interval, and its text."""
        low, high = self.value.low, self.value.high
        if low is not None and high is not None:
            yield Mark(
                at=(self.value.median, self.at), shape="none", x_interval=(low, high),
                tags=self.tags, subject=self.name,
            )  # fmt: skip
        text = at_the_end(self.end, self.at, self.text)
        yield replace(text, tags=self.tags, subject=self.name)


def _bars(
    *,
    title: str,
    subtitle: str = "",
    label: str,
    names: Sequence[str],
    rows: Sequence[_Row],
    shown: Callable[[float], str] = with_prefix,
    key: tuple[Entry, ...] = (),
    notes: tuple[str, ...] = (),
) -> Chart:
    marks = tuple(mark for row in rows for mark in row.marks)
    has_intervals = any(mark.x_interval for mark in marks)
    limits = (0.0, (1 + _ROOM) * max([row.end for row in rows], default=1.0) or 1.0)
    short = [textwrap.shorten(printable(name), _LETTERS, placeholder="…") for name in names]
    return Chart(
        title=title,
        subtitle=subtitle,
        x=Axis(
            label=label,
            limits=limits,
            ticks=linear_ticks(limits, shown, most=6),
            scale="linear",
        ),
        y=row_axis(short),
        bars=tuple(row.bar for row in rows),
        marks=marks,
        key=key,
        notes=(*(("error bars: 95 % intervals",) if has_intervals else ()), *notes),
        height=_ROW_HEIGHT * (len(names) + 0.5),
    )
