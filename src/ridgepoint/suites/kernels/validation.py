"""Measured over expected, for workloads whose work and compulsory traffic are known.

Table IV of Ofenbeck et al., "Applying the Roofline Model", ISPASS 2014: for each kernel the median
and the maximum, over its sizes, of the measured over the expected W, Q_r, Q_w and Q.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ridgepoint.suites.kernels.results import Result

QUANTITIES = ("W", "Q_r", "Q_w", "Q")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """Measured over expected, over several sizes.

    Parameters
    ----------
    median, minimum, maximum : float
    """

    median: float
    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """Measured counts of one workload compared with expected ones.

    Parameters
    ----------
    workload : str
    threads : int
    sizes : tuple of int
        n of the compared cases, ascending.
    ratios : dict of str to Ratio or None
        By quantity: ``W``, ``Q_r``, ``Q_w``, ``Q``. None: no expected or no measured value.
    """

    workload: str
    threads: int
    sizes: tuple[int, ...]
    ratios: dict[str, Ratio | None]


def validate(results: Sequence[Result]) -> tuple[Validation, ...]:
    """Compare measured counts with expected ones.

    Parameters
    ----------
    results : sequence of Result
        Only results with cold caches and data that the last-level cache holds are used: only
        they should have just the compulsory traffic.

    Returns
    -------
    tuple of Validation
        By workload and threads, in the order of the results.
    """
    groups: dict[tuple[str, int], list[Result]] = {}
    for result in results:
        if result.case.state == "cold" and _fits(result):
            groups.setdefault((result.case.workload, result.case.threads), []).append(result)
    return tuple(
        Validation(
            workload=workload,
            threads=threads,
            sizes=tuple(sorted(result.case.n for result in group)),
            ratios={
                name: _ratio([_values(result)[name] for result in group]) for name in QUANTITIES
            },
        )
        for (workload, threads), group in groups.items()
    )


def _fits(result: Result) -> bool:
    """Return whether it was measured, and the last-level cache holds its data."""
    if result.measurement is None or result.measurement.protocol is None:
        return False
    caches = [c for c in result.measurement.counted.caches if c.kind != "instruction"]
    data_bytes = result.measurement.protocol.data_bytes
    return bool(caches and data_bytes and data_bytes <= max(c.size_bytes for c in caches))


def _values(result: Result) -> dict[str, tuple[float | None, float | None]]:
    """Return what was measured, and what is expected, by quantity."""
    measurement, expected = result.measurement, result.expected
    assert measurement is not None
    dram = measurement.traffic_at("dram")
    read = None if dram is None else dram.read_bytes
    written = None if dram is None else dram.write_bytes
    total = None if read is None or written is None else read + written
    return {
        "W": (measurement.counted.counts.work_flop, expected.work_flop),
        "Q_r": (read, expected.read_bytes),
        "Q_w": (written, expected.write_bytes),
        "Q": (total, expected.read_bytes + expected.write_bytes),
    }


def _ratio(pairs: Sequence[tuple[float | None, float | None]]) -> Ratio | None:
    """Return the ratio over several sizes; None if the expected value is 0."""
    ratios = [
        measured / expected for measured, expected in pairs if measured is not None and expected
    ]
    if not ratios:
        return None
    return Ratio(median=statistics.median(ratios), minimum=min(ratios), maximum=max(ratios))
