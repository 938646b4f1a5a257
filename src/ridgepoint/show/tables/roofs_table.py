"""A program below other roofs: those of one bandwidth alone, and those of other machines."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ridgepoint.core.machine import Machine
from ridgepoint.core.units import format_si
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.cycles import per_cycle
from ridgepoint.models.distributed import machine_for
from ridgepoint.models.one_bandwidth import Bandwidth, resource_of
from ridgepoint.models.placement import Placement
from ridgepoint.models.points import says_nothing
from ridgepoint.models.traffic_ranges import IntensityRange
from ridgepoint.models.work import WORK_UNITS, hardly_any
from ridgepoint.show.tables.layout import Row, plain_table
from ridgepoint.show.words import (
    UNKNOWN,
    limit_text,
    machine_title,
    shown_amount,
    shown_cores,
    shown_intensity,
    shown_name,
    shown_share,
)

_MANY = 1000.0  # from here on three digits need an exponent
_OVER = {"read": "W/Qr", "write": "W/Qw", "copy": "W/Q"}


def one_bandwidth_table(analysis: Analysis, bandwidths: Sequence[Bandwidth]) -> Table:
    """Return a row for each bandwidth: the intensity over its bytes, and what it allows."""
    unit = WORK_UNITS[analysis.metric]
    table = plain_table(
        "bandwidth", "of", "intensity", "", "rate", "attainable", "efficiency", "limit",
        right=("intensity", "rate", "attainable", "efficiency"),
    )  # fmt: skip
    for bandwidth in bandwidths:
        placement = analysis.one_bandwidth[bandwidth]
        is_known = placement.moved_bytes is not None and not placement.missing_roofs
        efficiency = placement.efficiency if is_known else None
        table.add_row(
            bandwidth,
            _OVER[bandwidth],
            *_intensity(placement),
            _rate(placement, bandwidth),
            shown_amount(placement.attainable_per_s if is_known else None, f"{unit}/s"),
            shown_share(efficiency),
            (limit_text(placement) if is_known else "") or UNKNOWN,
        )
    return table


def _intensity(placement: Placement) -> tuple[str, str]:
    """Return an intensity, and its unit with its interval."""
    unit = f"{WORK_UNITS[placement.metric]}/byte"
    if placement.moved_bytes == 0:
        return "infinite", "(no byte moved)"
    counts = placement.measurement.counted.counts
    if placement.intensity is None or hardly_any(counts, placement.metric):
        return UNKNOWN, ""
    ends = range_text(placement.intensity_range)
    return shown_intensity(placement.intensity), f"{unit}{ends}"


def range_text(ends: IntensityRange | None) -> str:
    """Return between what an intensity lies, in brackets; empty: it has no range."""
    if ends is None:
        return ""
    above = shown_intensity(ends.high) if math.isfinite(ends.high) else "infinite"
    span = f"{shown_intensity(ends.low)} to {above}"
    if ends.runs is None:
        return f" (95 % interval {span})"
    if shown_intensity(ends.low) == above:
        return f" (alike in {ends.runs} counted runs)"
    return f" (quartiles {span}, n = {ends.runs})"


def _missing_text(missing: Sequence[str]) -> str:
    """Return which roofs a machine lacks."""
    names = (f"{shown_name(name)} {'rate' if name == 'dram' else 'peak'}" for name in missing)
    return f"no {' and no '.join(names)} is known"


def _factor(gain: float) -> str:
    return f"x {gain:.3g}" if gain < _MANY else f"x {gain:.0f}"


def _rate(placement: Placement, bandwidth: Bandwidth) -> str:
    resource, machine = resource_of(bandwidth), placement.machine
    if not machine.knows(resource):
        return UNKNOWN
    return format_si(float(machine.rate(resource, cores=placement.cores)), "B/s")


def cycle_row(placement: Placement) -> Row:
    """Return the rates per cycle, or that the core clock is not known."""
    rates = per_cycle(placement)
    if rates is None:
        return "   per cycle", f"{UNKNOWN}: the core clock of {placement.machine.name} is not known"
    unit, texts = f"{WORK_UNITS[placement.metric]}/cycle", []
    if rates.performance is not None:
        texts.append(f"{rates.performance.median:.4g} {unit}")
    if rates.attainable is not None:
        texts.append(f"at most {rates.attainable:.4g} {unit}")
    if rates.dram_bytes is not None:
        texts.append(f"DRAM {rates.dram_bytes:.3g} byte/cycle")
    clock = format_si(rates.clock_hz, "Hz", digits=3)
    return "   per cycle", f"{', '.join(texts)} ({shown_cores(placement.cores)} at {clock})"


def other_machines(analysis: Analysis, others: Sequence[Machine]) -> RenderableType:
    """Return what other machines would allow the program, a row for each.

    Returns
    -------
    RenderableType
        ``at best`` is the least time that their roofs allow, ``gain`` the measured runtime over
        it.
    """
    unit = WORK_UNITS[analysis.metric]
    right = ("cores", "attainable", "at best", "gain")
    table = plain_table("on", *right, "limit", "traffic", right=right)
    for machine in others:
        there = analysis.on(machine_for(analysis.measurement, machine))
        placement = there.placement
        assert placement is not None  # it has a machine
        missing, there_bytes = placement.missing_roofs, placement.moved_bytes
        limit = None if missing else placement.bound
        table.add_row(
            Text(machine_title(machine)),
            f"{placement.cores:.3g}",
            ""
            if says_nothing(there)
            else shown_amount(None if missing else placement.attainable_per_s, f"{unit}/s"),
            shown_amount(None if limit is None else float(limit.time_s), "s", digits=3),
            UNKNOWN if missing or not placement.efficiency else _factor(1 / placement.efficiency),
            _missing_text(missing) if missing else limit_text(placement) or UNKNOWN,
            UNKNOWN
            if there_bytes is None
            else ("of its caches" if there.has_traffic_of_machine else "as measured"),
        )
    note = (
        "gain: measured runtime over the least time that the roofs there allow; it is reached "
        "only at 100 % efficiency"
    )
    return Group(Text("on other machines", style="bold"), table, Text(note))
