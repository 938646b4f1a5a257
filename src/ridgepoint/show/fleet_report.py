"""A fleet as a document for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ridgepoint.core.documents import report
from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.fleet import Member
from ridgepoint.models.fleet.outliers import FEWEST, Model
from ridgepoint.models.fleet.programs import ProgramOnFleet, There
from ridgepoint.show.data_tables.fleet import Ranking
from ridgepoint.show.words import limit_text


def fleet_report(
    members: Sequence[Member],
    ranking: Ranking,
    models: Sequence[Model],
    program: ProgramOnFleet | None,
) -> dict[str, Any]:
    """Return all that is known of a fleet."""
    return report(
        "fleet",
        {
            "machines": [_member(member) for member in members],
            "ceilings": [
                {
                    "resource": resource,
                    "unit": f"{RESOURCES[resource].unit}/s",
                    "machines": [
                        {
                            "name": one.member.name,
                            "rank": one.rank,
                            "ties": one.ties,
                            "rate": one.value,
                            "price_of_unit": one.cost,
                        }
                        for one in ranked
                    ],
                }
                for resource, ranked in ranking.items()
            ],
            "models": [
                {
                    "cpu": model.cpu,
                    "cores": model.cores,
                    "machines": [member.name for member in model.members],
                    "fewest": FEWEST,
                    "outliers": None
                    if model.outliers is None
                    else [
                        {
                            "name": one.member.name,
                            "resource": one.resource,
                            "cores": one.cores,
                            "rate": one.rate,
                            "median": one.median,
                            "deviation": one.deviation,
                            "score": one.score,
                            "critical": one.critical,
                            "is_apart": one.is_apart,
                        }
                        for one in model.outliers
                    ],
                }
                for model in models
            ],
            "program": None if program is None else _program(program),
        },
    )


def _member(member: Member) -> dict[str, Any]:
    host, price = member.machine.host, member.price
    return {
        "name": member.name,
        "cluster": member.cluster,
        "cpu": host.cpu,
        "cores": host.cores,
        "created": member.machine.created,
        "source": member.machine.source,
        "price_per_h": None if price is None else price.per_h,
        "currency": None if price is None else price.currency,
    }


def _program(found: ProgramOnFleet) -> dict[str, Any]:
    return {
        "command": found.measurement.command,
        "metric": found.metric,
        "by": "cost" if found.by_cost else "time",
        "efficiency": found.efficiency,
        "curve_over_simulation": found.curve_over_simulation,
        "machines": [{**_there(one), "as_here_s": found.as_here_s(one)} for one in found.there],
    }


def _there(one: There) -> dict[str, Any]:
    placement = one.placement
    return {
        "name": one.member.name,
        "rank": one.rank,
        "ties": one.ties,
        "cores": placement.cores,
        "time_s": one.time_s,
        "cost": one.cost,
        "limiter": one.limiter,
        "limit": limit_text(placement) or None,
        "missing": placement.missing_roofs,
        "traffic_source": one.source,
        "traffic": placement.measurement.counted.traffic,
        "cautions": one.cautions,
    }
