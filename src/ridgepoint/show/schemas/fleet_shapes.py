"""Shape of the report of a fleet."""

from __future__ import annotations

from typing import Any

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import Traffic
from ridgepoint.core.estimate import Estimate
from ridgepoint.models.caches.elsewhere import Source
from ridgepoint.models.fleet.outliers import Outlier
from ridgepoint.show.schemas.of_types import fields
from ridgepoint.show.schemas.run_shapes import COMMAND, METRIC
from ridgepoint.show.schemas.shape import (
    INTEGER,
    NUMBER,
    STRING,
    Described,
    array,
    literal,
    maybe,
    obj,
    one_of,
)

_NAME: Described = (STRING, "Name of the machine.")
_MACHINE = obj(
    "A machine of the fleet.",
    name=_NAME,
    cluster=(maybe(STRING), "Cluster that it is a node of; null: none."),
    cpu=(STRING, "Model name of its processor."),
    cores=(INTEGER, "Cores that a program may use."),
    created=(maybe(STRING), "When it was measured, ISO 8601, UTC."),
    source=(maybe(STRING), "Publication that describes it; null: it was measured."),
    price_per_h=(maybe(NUMBER), "Price of an hour; null: not given."),
    currency=(maybe(STRING), "Of the price."),
)
_RANKED = obj(
    "A machine's ceiling among those of the others.",
    name=_NAME,
    rank=(INTEGER, "Place, from 1."),
    ties=(INTEGER, "How many others cannot be told apart from it."),
    rate=(Estimate, "Its ceiling."),
    price_of_unit=(maybe(NUMBER), "Price of one unit of work or byte; null: no price."),
)
_THERE = obj(
    "The program on one machine.",
    name=_NAME,
    rank=(maybe(INTEGER), "Place, from 1; null: its time is not known."),
    ties=(INTEGER, "How many others cannot be told apart from it."),
    cores=(NUMBER, "Cores whose roofs apply."),
    time_s=(maybe(Estimate), "Least time; null: not known."),
    cost=(maybe(Estimate), "What that time costs; null: no price."),
    limiter=(maybe(STRING), "What limits it there."),
    limit=(maybe(STRING), "The same in words."),
    missing=(array(STRING), "What it uses and the machine has no roof of."),
    traffic_source=(literal(Source), "Where its traffic there is from."),
    traffic=(array(Traffic), "Its traffic there."),
    cautions=(array(Caution), "Doubts."),
    as_here_s=(maybe(NUMBER), "Time there at the efficiency that was measured; null: not known."),
)
FLEET: dict[str, Any] = obj(
    "Machines compared, and what would bound a program on each of them.",
    machines=(array(_MACHINE), "The machines."),
    ceilings=(
        array(
            obj(
                "One resource.",
                resource=(STRING, "The resource."),
                unit=(STRING, "Unit of its rates."),
                machines=(array(_RANKED), "Machines that have such a ceiling, fastest first."),
            )
        ),
        "Machines ranked by each resource.",
    ),
    models=(
        array(
            obj(
                "Machines with the same processor.",
                cpu=(STRING, "Model name."),
                cores=(INTEGER, "Cores."),
                machines=(array(STRING), "Names of the machines."),
                fewest=(INTEGER, "Fewest machines of which outliers can be told."),
                outliers=(
                    maybe(
                        array(
                            obj(
                                "A ceiling far from those of the others.",
                                {
                                    "name": _NAME,
                                    **fields(
                                        Outlier, "resource", "cores", "rate", "median",
                                        "deviation", "score", "critical", "is_apart",
                                    ),
                                },
                            )
                        )
                    ),
                    "Ceilings that are out of line; null: too few machines to tell.",
                ),
            )
        ),
        "Machines by their processors.",
    ),
    program=(
        maybe(
            obj(
                "A program on each machine.",
                command=COMMAND,
                metric=(METRIC, "Unit of its work."),
                by=(one_of("time", "cost"), "What machines are ranked by."),
                efficiency=(maybe(NUMBER), "How near its roof it came where it was measured."),
                curve_over_simulation=(
                    maybe(NUMBER),
                    "Traffic by the miss curve over simulated traffic; null: not known.",
                ),
                machines=(array(_THERE), "Each machine, best first."),
            )
        ),
        "The program; null: none was given.",
    ),
)  # fmt: skip
