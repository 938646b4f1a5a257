"""Ceilings of basic operations as measured, and as the equations of the DC-Roofline have them."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling, Machine
from ridgepoint.models.dc_roofline import ceiling_bop_per_s
from ridgepoint.show.tables.layout import plain_table
from ridgepoint.show.words import UNKNOWN, machine_title, percent, shown_amount

PORT_EFFICIENCY = 0.5
ILP_EFFICIENCY = 2 / 4
"""The paper's efficiencies for Eq. (8), of a Xeon E5645: half of the ports, IPC 2 of 4."""

_LANE_BITS = 64
_WHY_THEY_DIFFER = """\
Eq. (4) has the ports that compute. What was measured takes operands from memory besides, whose
addresses come from ports of their own in the same cycles: it may be more than 100 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByDesign:
    """One ceiling by both ways.

    Parameters
    ----------
    name : str
    design : float or None
        By the equation, BOP/s; None: what it needs is not known.
    measured : Estimate or None
        BOP/s; None: not measured.
    equation, pattern : str
        How `design` follows, and what was measured.
    """

    name: str
    design: float | None
    measured: Estimate | None
    equation: str
    pattern: str


def by_design(machine: Machine) -> tuple[ByDesign, ...]:
    """Return peak, ILP and SIMD ceiling of all cores, by Eqs. (4) and (8) and measured.

    Parameters
    ----------
    machine : Machine
        Measured.

    Notes
    -----
    Eq. (4) takes the ports that compute, and their lanes, from what is known of the
    microarchitecture: it counts no addresses, as the paper's 6 BOPs per cycle (three ports of two
    lanes) do not. The measured peak has them, in the same cycles.
    """
    all_cores = [c for c in machine.ceilings if c.resource == "bop" and c.threads == machine.cores]
    widest = max((bits for c in all_cores if (bits := _bits(c)) is not None), default=0)
    wide = {c.name: c for c in all_cores}
    adds = wide.get(f"add {widest}-bit")
    peak = None if adds is None else adds.theoretical
    lanes = widest // _LANE_BITS
    rows = (
        ("peak", None, f"mixed {widest}-bit", "Eq. (4): ports x lanes x clock x cores"),
        ("ILP", 1, "mixed scalar", "Eq. (8): peak x 0.5 x 2/4"),
        ("SIMD", max(lanes, 1), f"mixed {widest}-bit", f"Eq. (8): peak x 0.5 x 2/4 x {lanes}"),
    )
    return tuple(
        ByDesign(
            name=name,
            design=_designed(peak, scale),
            measured=wide[pattern].rate if pattern in wide else None,
            equation=equation,
            pattern=pattern,
        )
        for name, scale, pattern, equation in rows
    )


def ceilings(machine: Machine) -> RenderableType:
    """Return `by_design` as a table for the terminal."""
    table = plain_table("ceiling", "design", "measured", "of design", "how", right=("design",))
    for row in by_design(machine):
        design, rate = row.design, row.measured
        table.add_row(
            row.name,
            shown_amount(design, "BOP/s", digits=3),
            shown_amount(rate, "BOP/s", digits=3),
            UNKNOWN if rate is None or design is None else percent(rate.median / design),
            f"{row.equation} | {row.pattern}",
        )
    return Group(Text(machine_title(machine), style="bold"), table, Text(_WHY_THEY_DIFFER))


def _designed(peak: float | None, scale: int | None) -> float | None:
    """Return the peak itself for no scale; None: it is not known."""
    if peak is None or scale is None:
        return peak
    found = ceiling_bop_per_s(
        peak,
        port_efficiency=PORT_EFFICIENCY,
        ilp_efficiency=ILP_EFFICIENCY,
        simd_scale=float(scale),
    )
    return float(found)


def _bits(ceiling: Ceiling) -> int | None:
    """Return the width of the vectors that add; None: another ceiling, or scalar."""
    kind, _, width = ceiling.name.partition(" ")
    return int(width.removesuffix("-bit")) if kind == "add" and width.endswith("-bit") else None
