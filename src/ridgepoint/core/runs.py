"""Measured runs of one program on various cores and nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.whole_numbers import require_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One program on some cores of some nodes, run once or several times.

    Parameters
    ----------
    cores, nodes : int
        Cores of each node, and nodes.
    time_s : Estimate
        Runtime, > 0.
    size : float or None
        Size of the problem, where runs differ in it.

    Raises
    ------
    ValueError
        If a number is not positive.
    """

    cores: int
    nodes: int
    time_s: Estimate
    size: float | None = None

    def __post_init__(self) -> None:
        require_whole(cores=self.cores, nodes=self.nodes)
        if min(self.time_s.samples) <= 0:
            raise ValueError(f"time_s must be > 0, got {min(self.time_s.samples)!r}")
        if self.size is not None and not (math.isfinite(self.size) and self.size > 0):
            raise ValueError(f"size must be finite and > 0, got {self.size!r}")

    @property
    def processors(self) -> int:
        """Cores of all nodes together."""
        return self.cores * self.nodes
