"""Shape of the report of what is drawn on a roofline."""

from __future__ import annotations

from typing import Any

from ridgepoint.core.machine import Host
from ridgepoint.show.schemas.shape import (
    BOOLEAN,
    NUMBER,
    STRING,
    array,
    maybe,
    obj,
    one_of,
)

_VALUE = maybe(
    obj(
        "A value with its interval.",
        value=(NUMBER, "The value."),
        low=(maybe(NUMBER), "Lower end; null: exact, or not known."),
        high=(maybe(NUMBER), "Upper end."),
    )
)
_GIVEN = (
    *("work", "traffic", "read", "write", "network", "remote", "storage", "intensity"),
    *("runtime", "performance"),
)
PLOT: dict[str, Any] = obj(
    "What is drawn on a roofline: measured programs, and points of which figures were given.",
    unit=(one_of("flop", "BOP"), "Unit of work."),
    machines=(
        array(obj("A machine.", name=(STRING, "Name."), host=(Host, "The hardware."))),
        "Machines whose roofs are drawn.",
    ),
    points=(
        array(
            obj(
                "A given point on one machine.",
                name=(STRING, "Name."),
                machine=(STRING, "The machine."),
                resource=(STRING, "What its work is: fp64, bop, ..."),
                cores=(maybe(NUMBER), "Cores whose roofs apply."),
                given=(
                    obj(
                        "What was given; null: not given.",
                        {
                            **{name: (_VALUE, f"The {name}, in base units.") for name in _GIVEN},
                            "is_in_cycles": (BOOLEAN, "Whether the runtime is in cycles."),
                        },
                    ),
                    "What was given.",
                ),
                intensity=(_VALUE, "Work per byte."),
                performance_per_s=(_VALUE, "Work over time."),
                bound=(
                    obj(
                        "What bounds it.",
                        limiter=(array(STRING), "Every limit that binds."),
                        attainable_per_s=(_VALUE, "Attainable performance."),
                        efficiency=(_VALUE, "Efficiency."),
                        left_out=(array(STRING), "What the machine has no roof for."),
                    ),
                    "What bounds it.",
                ),
                is_above_roof=(BOOLEAN, "Whether it is faster than its roof allows."),
            )
        ),
        "Given points.",
    ),
    programs=(array({"$ref": "#/$defs/run"}), "Measured programs, each as `run` prints it."),
)
