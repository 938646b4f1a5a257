"""What tables, pictures and pages of a fleet all say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.presenting import amount
from ridgepoint.core.price import Price
from ridgepoint.models.fleet.outliers import FEWEST, Model, Outlier
from ridgepoint.models.fleet.programs import ProgramOnFleet, There
from ridgepoint.show.words import (
    UNKNOWN,
    one_line,
    percent,
    printable,
    shown_amount,
    shown_name,
    shown_time,
    shown_within,
)


def rank_text(rank: int | None, ties: int) -> str:
    """Return a rank; one that is shared ends in =."""
    return "?" if rank is None else f"{rank}{'=' if ties else ''}"


def shown_money(amount_of_money: float, price: Price) -> str:
    """Return an amount of money in the currency of a price."""
    return f"{amount_of_money:.3g} {printable(price.currency)}".rstrip()


def outlier_lines(models: Sequence[Model]) -> list[str]:
    """Return what is out of line, of every model with enough machines, and where there are few."""
    lines = [line for model in models if model.outliers is not None for line in _of_model(model)]
    few = [f"{_model(model)} ({len(model.members)})" for model in models if model.outliers is None]
    if few:
        lines.append(
            f"too few machines of a model to judge ({FEWEST} are needed): {'; '.join(few)}"
        )
    return lines


def _model(model: Model) -> str:
    return f"{printable(one_line(model.cpu))}, {amount(model.cores, 'core')}"


def _of_model(model: Model) -> Iterator[str]:
    in_line = "" if model.outliers else ", all in line"
    yield f"{_model(model)}: {amount(len(model.members), 'machine')}{in_line}"
    for one in model.outliers or ():
        yield f"  {_outlier(one)}"


def _outlier(one: Outlier) -> str:
    on = "one core" if one.cores == 1 else "all cores"
    side = "above" if one.deviation > 0 else "below"
    sure = "apart from all others" if one.is_apart else "its interval reaches that of another"
    return (
        f"{printable(one.member.name)}: {shown_name(one.resource)} on {on} "
        f"{percent(abs(one.deviation))} {side} the median; score {one.score:.3g}, out of line "
        f"from {one.critical:.3g} on; {sure}"
    )


def within(value: Estimate, unit: str) -> str:
    """Return an amount, and how far the farther end of its interval is where there is one."""
    if value.low is None or value.high is None:
        return shown_amount(value, unit)
    return shown_within(value, unit, digits=4)


def time_text(one: There) -> str:
    """Return the least time with its interval."""
    if one.time_s is None:
        return UNKNOWN
    shown = shown_time(one.time_s.median)
    low, high = one.time_s.low, one.time_s.high
    if low is None or high is None or not one.time_s.median:
        return shown
    farthest = max(high - one.time_s.median, one.time_s.median - low)
    return f"{shown} ±{percent(farthest / one.time_s.median)}"


def cost_text(one: There) -> str:
    """Return the price of a run."""
    if one.cost is None or one.member.price is None:
        return UNKNOWN
    return shown_money(one.cost.median, one.member.price)


def notes(found: ProgramOnFleet, *, in_table: bool = True) -> tuple[str, ...]:
    """Return what a reader must know of a program on a fleet, where its table is shown or not."""
    said = ["least time: no run that does the same work and moves the same bytes takes less"]
    if any(one.source == "miss curve" for one in found.there):
        checked = ""
        if found.curve_over_simulation is not None:
            checked = (
                f"; for the caches with which it was counted, it gives "
                f"{found.curve_over_simulation:.3g} times the simulated traffic at DRAM"
            )
        said.append(
            "miss curve: traffic of fully associative LRU caches of each machine's sizes, with "
            f"the lines that were counted{checked}"
        )
    if in_table and found.efficiency is not None and 0 < found.efficiency <= 1:
        said.append(
            f"same efficiency: the time if it comes as near to its limit as where it was measured "
            f"({percent(found.efficiency)})"
        )
    if in_table and any(one.rank is None for one in found.there):
        said.append("?: no rank, since a ceiling that it needs, or a price, is not known there")
    return tuple(said)
