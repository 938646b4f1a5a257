"""The unit of a program's work: floating-point or basic operations, never both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ridgepoint.core.amounts import Amount
from ridgepoint.core.counts import Counts
from ridgepoint.core.demand import Demand
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.resources import PRECISIONS, RESOURCES
from ridgepoint.models.thresholds import USED

Metric = Literal["flop", "bop"]
"""Floating-point operations; or basic operations, which are those of integers too."""

WORK_UNITS: Mapping[Metric, str] = {"flop": "flop", "bop": "BOP"}

BopSource = Literal["refined", "eq3"]
"""How basic operations were counted: from what every instruction does, or by Eq. (3)."""

# A loop that computes does one floating-point operation in ten basic ones, indices and conditions
# included. In a program that does one in twenty, they do not determine the time.
_SIDE_MATTER = 0.05

# Share of all instructions. Start-up, formatting and hashing do a few flop in any program; a loop
# that computes does one in ten instructions.
_HARDLY_ANY = 1e-4


def bop_source(counts: Counts) -> BopSource | None:
    """Return which count of basic operations is best; None: none is known.

    Eq. (3) is meaningless where it is negative, as for code that mostly calls and returns.
    """
    if counts.basic_operations is not None:
        return "refined"
    return None if counts.eq3_bop is None or counts.eq3_bop < 0 else "eq3"


def flop_share(counts: Counts) -> float | None:
    """Return the flop over all basic operations; None: these are unknown, or there are none."""
    total = work_total(counts, "bop")
    return counts.work_flop / total if total else None


def yardstick(counts: Counts, *, knows_bop: bool) -> Metric:
    """Return the unit in which to count a program's work, by its operations.

    Parameters
    ----------
    counts : Counts
    knows_bop : bool
        Whether there is a ceiling for basic operations.

    Returns
    -------
    {"flop", "bop"}
        "bop" if less than a twentieth of its basic operations are flop.
    """
    share = flop_share(counts)
    return "bop" if knows_bop and share is not None and share < _SIDE_MATTER else "flop"


def yardstick_on(machine: Machine | None, measurement: Measurement) -> Metric:
    """Return the unit in which to count a program's work on a machine; None: not yet known."""
    knows_bop = machine is not None and machine.knows("bop")
    return yardstick(measurement.counted.counts, knows_bop=knows_bop)


def work_by_resource(counts: Counts, metric: Metric) -> dict[str, int]:
    """Return the non-zero work by resource; empty if the BOP are unknown."""
    if metric == "flop":
        return counts.work
    work = work_total(counts, metric)
    return {"bop": work} if work else {}


def work_total(counts: Counts, metric: Metric) -> int | None:
    """Return the total work; None: it is not known."""
    if metric == "flop":
        return counts.work_flop
    source = bop_source(counts)
    if source == "refined" and counts.basic_operations is not None:
        return counts.basic_operations.total
    return counts.eq3_bop if source == "eq3" else None


def hardly_any(counts: Counts, metric: Metric = "flop") -> bool:
    """Return whether the work is too little, or unknown, for a roofline to be meaningful."""
    work = work_total(counts, metric)
    return not work or work < _HARDLY_ANY * counts.instructions


def demand_of(measurement: Measurement, metric: Metric) -> Demand:
    """Return the known demand of a program, its work in one metric."""
    asked = measurement.demand
    if metric == "flop":
        return asked
    moved = {
        name: amount for name, amount in asked.amounts.items() if RESOURCES[name].path != "compute"
    }
    return Demand({**work_by_resource(measurement.counted.counts, metric), **moved})


def used_precisions(work: Mapping[str, Amount]) -> dict[str, float]:
    """Return the shares of the precisions that matter, in the order of `PRECISIONS`.

    Parameters
    ----------
    work : mapping of str to float
        Flop of one program by precision, or its BOP; other resources are passed over.
    """
    done = {name: float(work[name]) for name in (*PRECISIONS, "bop") if name in work}
    total = sum(done.values())
    return {name: part / total for name, part in done.items() if part > 0 and part / total >= USED}
