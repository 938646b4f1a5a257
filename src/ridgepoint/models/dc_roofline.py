"""The equations of the DC-Roofline paper: limits of a design in basic operations.

Eq. (7), the bound, is that of `ridgepoint.core.bound` with BOPs for work, and has its view in
`ridgepoint.models.roofline`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Amount, plain, positive
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling, Machine

PORT_EFFICIENCY = 0.5
ILP_EFFICIENCY = 2 / 4
"""The paper's efficiencies for Eq. (8), of a Xeon E5645: half of the ports, IPC 2 of 4."""

_LANE_BITS = 64


def peak_bop_per_s(
    *,
    cpus: npt.ArrayLike,
    cores: npt.ArrayLike,
    frequency_hz: npt.ArrayLike,
    bop_per_cycle: npt.ArrayLike,
) -> Amount:
    """Return the peak of a machine by its design, Eq. (4).

    Parameters
    ----------
    cpus : array_like
        Processors per node.
    cores : array_like
        Cores per processor.
    frequency_hz : array_like
    bop_per_cycle : array_like
        BOPs per cycle of one core: compute ports times 64-bit lanes of a vector.

    Returns
    -------
    float or ndarray
        BOP/s.

    Raises
    ------
    ValueError
        If an argument is not finite and positive.

    Notes
    -----
    Eq. (1), the peak in flop/s, is the same product with flop for BOP. The paper takes 6 BOP
    per cycle for its Xeons: three ports with two 64-bit lanes of SSE each.

    References
    ----------
    .. [1] L. Wang et al., "BOPS, Not FLOPS! A New Metric and Roofline Performance Model For
       Datacenter Computing", ACS/SSL-2018-2, :arxiv:`1801.09212`.

    Examples
    --------
    >>> peak_bop_per_s(cpus=1, cores=6, frequency_hz=2.4e9, bop_per_cycle=6)
    86400000000.0
    """
    factors = {
        "cpus": cpus, "cores": cores, "frequency_hz": frequency_hz, "bop_per_cycle": bop_per_cycle
    }  # fmt: skip
    return _product([positive(name, value) for name, value in factors.items()])


def efficiency(bop_per_s: npt.ArrayLike, *, peak: npt.ArrayLike) -> Amount:
    """Return the achieved share of the peak, Eq. (5).

    Parameters
    ----------
    bop_per_s, peak : array_like
        Achieved and peak rate, BOP/s; both may be in flop/s instead.
    """
    return plain(positive("bop_per_s", bop_per_s) / positive("peak", peak))


def intensity(bop: npt.ArrayLike, *, dram_bytes: npt.ArrayLike) -> Amount:
    """Return the operational intensity, Eq. (6).

    Parameters
    ----------
    bop : array_like
        Basic operations.
    dram_bytes : array_like
        Bytes moved between caches and memory in the same run, in both directions; > 0.

    Returns
    -------
    float or ndarray
        BOP/byte.

    Notes
    -----
    The paper writes BOPS / MT, a rate over an amount. Both are meant to be amounts, or both rates.
    """
    return plain(positive("bop", bop) / positive("dram_bytes", dram_bytes))


def ceiling_bop_per_s(
    peak: npt.ArrayLike,
    *,
    port_efficiency: npt.ArrayLike,
    ilp_efficiency: npt.ArrayLike,
    simd_scale: npt.ArrayLike = 1.0,
) -> Amount:
    """Return a ceiling below the peak, Eq. (8).

    Parameters
    ----------
    peak : array_like
        BOP/s.
    port_efficiency : array_like
        Share of the pipeline's ports that work, in (0, 1].
    ilp_efficiency : array_like
        Instructions per cycle over the core's maximum, in (0, 1].
    simd_scale : array_like
        Number of 64-bit lanes of an instruction; 1: scalar code.

    Returns
    -------
    float or ndarray
        BOP/s.

    Raises
    ------
    ValueError
        If an efficiency is not in (0, 1], or `simd_scale` is below 1.

    Notes
    -----
    The product may exceed the peak: with all ports at full IPC, SIMD doubles a peak that
    already counts the lanes in Eq. (4). It is the paper's estimate; the measured ceilings of
    `ridgepoint machine` need no such estimate.

    Examples
    --------
    >>> ilp = ceiling_bop_per_s(86.4e9, port_efficiency=0.5, ilp_efficiency=2 / 4)
    >>> ilp, ilp * 2  # without, and with SIMD
    (21600000000.0, 43200000000.0)
    """
    shares = {"port_efficiency": port_efficiency, "ilp_efficiency": ilp_efficiency}
    factors = [positive("peak", peak), positive("simd_scale", simd_scale)]
    if (factors[1] < 1).any():
        raise ValueError(f"simd_scale must be >= 1, got {simd_scale!r}")
    for name, value in shares.items():
        share = positive(name, value)
        if (share > 1).any():
            raise ValueError(f"{name} must be in (0, 1], got {value!r}")
        factors.append(share)
    return _product(factors)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByDesign:
    """One ceiling, by design and as measured.

    Parameters
    ----------
    name : str
    design : float or None
        Rate by the equation, BOP/s; None: a quantity that it needs is not known.
    measured : Estimate or None
        Measured rate, BOP/s; None: not measured.
    equation, pattern : str
        Equation behind `design`, and pattern that was measured.
    """

    name: str
    design: float | None
    measured: Estimate | None
    equation: str
    pattern: str

    @property
    def share(self) -> float | None:
        """Measured rate over the rate by design; None: one is not known."""
        if self.design is None or self.measured is None:
            return None
        return self.measured.median / self.design


def by_design(machine: Machine) -> tuple[ByDesign, ...]:
    """Return the peak, ILP and SIMD ceilings of all cores, by Eqs. (4) and (8) and as measured.

    Parameters
    ----------
    machine : Machine
        A measured machine.

    Notes
    -----
    Eq. (4) takes the compute ports and their lanes from the known microarchitecture. It counts
    no address calculations, as the paper's 6 BOPs per cycle (three ports of two lanes) do not.
    The measured peak includes them, in the same cycles.
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


def _designed(peak: float | None, scale: int | None) -> float | None:
    """Return a ceiling by Eq. (8), or the peak itself without a scale; None: no peak is known."""
    if peak is None or scale is None:
        return peak
    ceiling = ceiling_bop_per_s(
        peak,
        port_efficiency=PORT_EFFICIENCY,
        ilp_efficiency=ILP_EFFICIENCY,
        simd_scale=float(scale),
    )
    return float(ceiling)


def _bits(ceiling: Ceiling) -> int | None:
    """Return the width of the vectors that add, bits; None: another ceiling, or scalar."""
    kind, _, width = ceiling.name.partition(" ")
    return int(width.removesuffix("-bit")) if kind == "add" and width.endswith("-bit") else None


def _product(factors: list[npt.NDArray[np.float64]]) -> Amount:
    product: npt.NDArray[np.float64] = np.asarray(1.0)
    for factor in factors:
        product = np.multiply(product, factor)
    return plain(product)
