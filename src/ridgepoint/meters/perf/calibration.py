"""Whether this CPU counts what kernels of known work and traffic do.

Encodings and weights come from documents; a factor of two between a document and a CPU is no
rarity. A factor is never applied: it says whether a metric can be believed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

TOLERANCES = {"dram_read": 0.1, "dram_write": 0.1}
"""Share by which a metric may be off; traffic also holds page walks and what others do."""

_TOLERANCE = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a kernel does, and what was counted of it.

    Parameters
    ----------
    kernel : str
    metric : str
    expected, counted : int
        In flop, instructions or bytes.
    """

    kernel: str
    metric: str
    expected: int
    counted: int

    def __post_init__(self) -> None:
        if self.expected <= 0 or self.counted < 0:
            raise ValueError(f"expected must be > 0 and counted >= 0, got {self!r}")

    @property
    def factor(self) -> float:
        """Counted over expected."""
        return self.counted / self.expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How well each metric is counted on one CPU.

    Parameters
    ----------
    factors : mapping of str to float
        Counted over expected, the median over kernels.
    refused : mapping of str to str
        Metrics that are not to be believed, and why.
    """

    factors: Mapping[str, float]
    refused: Mapping[str, str]


def calibrate(known: Iterable[Known]) -> Calibration:
    """Return how well metrics are counted.

    Parameters
    ----------
    known : iterable of Known
        One or more kernels per metric.

    Returns
    -------
    Calibration
        A metric is refused if any of its kernels is off by more than `TOLERANCES` allow.
    """
    by_metric: dict[str, list[Known]] = {}
    for kernel in known:
        by_metric.setdefault(kernel.metric, []).append(kernel)
    refused = {}
    for metric, kernels in by_metric.items():
        worst = max(kernels, key=lambda one: abs(one.factor - 1))
        tolerance = TOLERANCES.get(metric, _TOLERANCE)
        if abs(worst.factor - 1) > tolerance:
            refused[metric] = (
                f"this CPU counts {worst.factor:.3g} times the work that the kernel "
                f"{worst.kernel} does ({worst.counted} instead of {worst.expected}; "
                f"{tolerance:.0%} are allowed)"
            )
    return Calibration(
        factors={
            metric: median(kernel.factor for kernel in kernels)
            for metric, kernels in by_metric.items()
        },
        refused=refused,
    )
