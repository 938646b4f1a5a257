"""A fleet for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.fleet.outliers import Model
from ridgepoint.models.fleet.programs import ProgramOnFleet, There
from ridgepoint.models.fleet.ranks import Ranked
from ridgepoint.show.data_tables.fleet import Ranking
from ridgepoint.show.fleet_text import (
    cost_text,
    notes,
    outlier_lines,
    rank_text,
    shown_money,
    time_text,
    within,
)
from ridgepoint.show.tables.layout import (
    caution_list,
    one_of_each_kind,
    plain_table,
    sections,
    titled,
)
from ridgepoint.show.words import (
    UNKNOWN,
    WITHIN,
    limit_text,
    measured_name,
    printable,
    shown_name,
    shown_time,
)

_PETA = 1e15
_SOURCES = {
    "simulated": "its caches, simulated",
    "miss curve": "miss curve",
    "other caches": "other caches",
}


def ceilings(ranking: Ranking, *, most: int | None) -> RenderableType:
    """Return the machines by each of their ceilings.

    Parameters
    ----------
    ranking : mapping of str to sequence of Ranked
    most : int or None
        Number of machines of each ceiling that are shown; None: all.
    """
    has_prices = any(one.cost is not None for ranked in ranking.values() for one in ranked)
    right = ("rank", "rate", *(("price",) if has_prices else ()))
    table = plain_table("ceiling", "rank", "machine", *right[1:], right=right)
    for resource, ranked in ranking.items():
        shown = ranked[:most]
        for number, one in enumerate(shown):
            table.add_row(
                shown_name(resource) if not number else "",
                rank_text(one.rank, one.ties),
                Text(printable(one.member.name)),
                within(one.value, RESOURCES[resource].rate_unit),
                *((_price_of_unit(one, resource),) if has_prices else ()),
            )
        if len(shown) < len(ranked):
            table.add_row("", "", f"and {len(ranked) - len(shown)} more")
    return Group(
        *titled("Machines by their ceilings, all cores busy", table),
        Text(f"{WITHIN}; =: there are others that cannot be told apart from it"),
    )


def _price_of_unit(one: Ranked, resource: str) -> str:
    if one.cost is None or one.member.price is None:
        return UNKNOWN
    unit = RESOURCES[resource].unit.replace("byte", "B")
    return f"{shown_money(one.cost * _PETA, one.member.price)} / P{unit}"


def outliers(models: Sequence[Model]) -> RenderableType:
    """Return the machines that are out of line among those of their model."""
    lines = map(Text, outlier_lines(models))
    return Group(*titled("Machines out of line among the same model", Group(*lines)))


def program(found: ProgramOnFleet) -> RenderableType:
    """Return a program on every machine, the best one first, and doubts."""
    has_prices = any(one.cost is not None for one in found.there)
    can_expect = any(found.as_here_s(one) is not None for one in found.there)
    columns = ["rank", "machine", "cores", "least time", "limited by", "traffic from"]
    columns += ["same efficiency"] if can_expect else []
    columns += ["price of a run"] if has_prices else []
    right = ("rank", "cores", "least time", "same efficiency", "price of a run")
    table = plain_table(*columns, right=right)
    for one in found.there:
        table.add_row(
            rank_text(one.rank, one.ties),
            Text(printable(one.member.name)),
            f"{one.placement.cores:.3g}",
            time_text(one),
            _limit(one),
            _SOURCES[one.source],
            *((_expected(found.as_here_s(one)),) if can_expect else ()),
            *((cost_text(one),) if has_prices else ()),
        )
    order = "the cheapest run first" if found.by_cost else "the shortest time first"
    title = f"{measured_name(found.measurement)} on each machine, {order}"
    cautions = [caution for one in found.there for caution in one.cautions]
    return sections(
        Group(*titled(title, table)),
        Group(*(Text(note) for note in notes(found))),
        caution_list(one_of_each_kind(cautions)) if cautions else None,
    )


def _limit(one: There) -> str:
    missing = one.placement.missing_roofs
    limit = limit_text(one.placement) or UNKNOWN
    return f"{limit}; no {' and '.join(map(shown_name, missing))}" if missing else limit


def _expected(seconds: float | None) -> str:
    return UNKNOWN if seconds is None else shown_time(seconds)
