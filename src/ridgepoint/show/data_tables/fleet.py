"""Tables of a fleet: its machines' ceilings, what is out of line, and a program on each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ridgepoint.core.columns import count, number, rate, text
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.table import Table
from ridgepoint.models.fleet.outliers import Model
from ridgepoint.models.fleet.programs import ProgramOnFleet, There
from ridgepoint.models.fleet.ranks import Ranked
from ridgepoint.show.words import limit_text

Ranking = Mapping[str, Sequence[Ranked]]
"""The machines that have a ceiling of each resource, the fastest first."""

_RANKS = (
    text("resource", "Resource that the ceiling is of."),
    count("rank", "1 plus the number of machines that are faster beyond their intervals."),
    count("ties", "Number of machines that cannot be told apart from it."),
    text("machine", "Name of the machine."),
    text("cluster", "The cluster that it is a node of."),
    text("cpu", "Its processor."),
    count("cores", "Its usable cores."),
    text("unit", "Unit of the rate."),
    *rate("rate", "Highest rate that was reached.").ends(),
    number("price_per_h", "Price of the machine for an hour, as given."),
    number("price_of_unit", "Price of one operation, byte or instruction at this rate."),
    text("currency", "Of the prices."),
)
_OUTLIERS = (
    text("machine", "Name of the machine."),
    text("cpu", "Its processor."),
    count("cores", "Its usable cores."),
    text("resource", "Resource whose ceiling is out of line."),
    text("on", "Busy cores: one or all."),
    text("unit", "Unit of the rate."),
    *rate("rate", "Its rate.").ends(),
    rate("median", "Median rate of the machines of its model."),
    number("deviation", "Rate over median, minus 1."),
    number("score", "Deviation in robust standard deviations."),
    number("critical", "Score from which on a ceiling is out of line."),
    count("machines", "Machines of its model."),
)
_PLACEMENTS = (
    count("rank", "1 plus the number of machines that are better beyond their intervals."),
    count("ties", "Number of machines that cannot be told apart from it."),
    text("machine", "Name of the machine."),
    number("cores_used", "Cores whose roofs bound the program."),
    *number("time_s", "Least time of the program there.", "least time", unit="s").ends(),
    text("limit", "What bounds it there.", "limited by"),
    *number("cost", "Price of a run that takes the least time.", "price of a run").ends(),
    text("currency", "Of the price."),
    text("traffic_source", "Where its traffic there comes from.", "traffic from"),
    number("dram_bytes", "Bytes moved at DRAM there.", "Q DRAM", unit="byte"),
    number(
        "as_here_s",
        "Time if it came as near to its limit as where it was measured.",
        "same efficiency",
        unit="s",
    ),
)
COLUMNS = {"fleet_ranks": _RANKS, "outliers": _OUTLIERS, "placements": _PLACEMENTS}
"""By table."""


def ranks_table(ranking: Ranking) -> Table:
    """Return a row for each machine and resource."""
    return Table.of(
        "fleet_ranks",
        _RANKS,
        (
            {
                "resource": resource,
                "rank": one.rank,
                "ties": one.ties,
                "machine": one.member.name,
                "cluster": one.member.cluster,
                "cpu": one.member.machine.host.cpu,
                "cores": one.member.machine.cores,
                "unit": f"{RESOURCES[resource].unit}/s",
                "rate": one.value,
                "price_per_h": None if one.member.price is None else one.member.price.per_h,
                "price_of_unit": one.cost,
                "currency": None if one.member.price is None else one.member.price.currency or None,
            }
            for resource, ranked in ranking.items()
            for one in ranked
        ),
    )


def outliers_table(models: Sequence[Model]) -> Table:
    """Return a row for each ceiling that is out of line."""
    return Table.of(
        "outliers",
        _OUTLIERS,
        (
            {
                "machine": one.member.name,
                "cpu": model.cpu,
                "cores": model.cores,
                "resource": one.resource,
                "on": "all" if one.cores is None else "one",
                "unit": f"{RESOURCES[one.resource].unit}/s",
                "rate": one.rate,
                "median": one.median,
                "deviation": one.deviation,
                "score": one.score,
                "critical": one.critical,
                "machines": one.machines,
            }
            for model in models
            for one in model.outliers or ()
        ),
    )


def placements_table(program: ProgramOnFleet) -> Table:
    """Return a row for each machine, the best one first."""
    return Table.of("placements", _PLACEMENTS, (_row(one, program) for one in program.there))


def _row(one: There, program: ProgramOnFleet) -> dict[str, object]:
    dram = one.placement.measurement.traffic_at("dram")
    return {
        "rank": one.rank,
        "ties": one.ties if one.rank is not None else None,
        "machine": one.member.name,
        "cores_used": one.placement.cores,
        "time_s": one.time_s,
        "limit": limit_text(one.placement) or None,
        "cost": one.cost,
        "currency": None if one.member.price is None else one.member.price.currency or None,
        "traffic_source": one.source,
        "dram_bytes": None if dram is None else dram.total_bytes,
        "as_here_s": program.as_here_s(one),
    }
