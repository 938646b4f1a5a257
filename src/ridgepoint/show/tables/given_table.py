"""Points of which only figures are given: their place below a machine's roofs, as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.units import read_quantity
from ridgepoint.models.given_machine import is_per_cycle
from ridgepoint.models.given_points import PlacedPoint
from ridgepoint.models.work import WORK_UNITS
from ridgepoint.show.cycles import shown_rate
from ridgepoint.show.given_text import limits_of, notes_of
from ridgepoint.show.tables.layout import plain_table
from ridgepoint.show.words import UNKNOWN, percent, printable, shown_intensity


def given_table(points: Sequence[PlacedPoint], *, in_cycles: bool = False) -> RenderableType:
    """Return a row for each point on each machine, with its intervals below it.

    Parameters
    ----------
    points : sequence of PlacedPoint
        At least one; all in one unit of work.
    in_cycles : bool
        Whether rates are per cycle of each machine's clock, where it is known.
    """
    unit = WORK_UNITS[points[0].metric]
    several = len({point.machine.name for point in points}) > 1
    columns = ("point", *(["on"] if several else []), "I", "P", "attainable", "limit", "efficiency")
    table = plain_table(*columns, right=("I", "P", "attainable", "efficiency"))
    for placed in points:
        names = (placed.point.name, *([placed.machine.name] if several else []))
        texts = tuple(Text(printable(name)) for name in names)
        values, intervals = zip(*_cells(placed, unit, in_cycles=in_cycles), strict=True)
        table.add_row(*texts, *values)
        if any(intervals):
            table.add_row(*("" for _ in texts), *intervals)
    notes = dict.fromkeys(
        f"{printable(placed.point.name)}: {note}"
        for placed in points
        if placed.machine == points[0].machine
        for note in notes_of(placed)
    )
    legend = f"I in {unit}/byte"
    if any(estimate and estimate.interval for each in points for estimate in _estimates(each)):
        legend += "; below a value, the interval that follows from those given"
    return Group(table, Text(legend), *map(Text, notes))


def _estimates(placed: PlacedPoint) -> tuple[Estimate | None, ...]:
    return placed.intensity, placed.performance, placed.attainable, placed.efficiency


def _cells(placed: PlacedPoint, unit: str, *, in_cycles: bool) -> list[tuple[str, str]]:
    """Return values, each with the ends of its interval."""
    in_cycles = in_cycles or placed.point.is_in_cycles or is_per_cycle(placed.machine)
    clock_hz = placed.machine.host.frequency_hz if in_cycles else None

    def rate(value: float) -> str:
        return shown_rate(value, unit, clock_hz=clock_hz)

    is_infinite = placed.intensity is None
    return [
        ("infinite", "") if is_infinite else _shown(placed.intensity, shown_intensity),
        _shown(placed.performance, rate),
        _shown(placed.attainable, rate),
        (limits_of(placed) or UNKNOWN, ""),
        _shown(placed.efficiency, percent),
    ]


def _shown(estimate: Estimate | None, show: Callable[[float], str]) -> tuple[str, str]:
    """Return a value, and the ends of its interval, whose unit is written once if it is one."""
    if estimate is None:
        return UNKNOWN, ""
    if estimate.interval is None:
        return show(estimate.median), ""
    low, high = map(show, estimate.interval)
    unit = high.rpartition(" ")[2] if " " in high else ""
    number = low.removesuffix(f" {unit}")
    if unit and number == low:  # in the prefix of the upper end
        number = shown_intensity(read_quantity(low)[0] / read_quantity(f"1 {unit}")[0])
    return show(estimate.median), f"{number} to {high}"
