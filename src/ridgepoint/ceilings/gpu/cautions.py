"""Doubts about a measured GPU."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence

from ridgepoint.ceilings.gpu.device import Facts
from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.units import format_si

_CLOCK_MOVED = 0.02
_NOISY = 0.05
_FEWEST_FOR_DECILES = 2
_HELD_BACK_S = 0.01


def of_effort(*, quick: bool) -> Iterator[Caution]:
    """Yield a caution if the device was measured quickly."""
    if quick:
        yield Caution(
            "quick",
            "each ceiling has few samples",
            "measure without --quick before you rely on these numbers",
        )


def of_clock(clocks_hz: Sequence[float]) -> Iterator[Caution]:
    """Yield a caution if the clock moved, or is not known."""
    if len(clocks_hz) < _FEWEST_FOR_DECILES:
        yield Caution(
            "clock-unknown",
            "the clock of the multiprocessors is not known",
            "watch the clock during the measurement: nvidia-smi --query-gpu=clocks.sm "
            "--format=csv -l 1",
        )
        return
    low, high = statistics.quantiles(clocks_hz, n=10)[0::8]
    if (high - low) / statistics.median(clocks_hz) > _CLOCK_MOVED:
        yield Caution(
            "frequency-moved",
            f"the clock of the multiprocessors varied from {low / 1e9:.2f} to {high / 1e9:.2f} "
            "GHz during the measurement",
            "lock the clock, as root: nvidia-smi --lock-gpu-clocks=MHZ; matrix products still "
            "lower it when they reach the power limit",
        )


def of_restraint(
    before: Mapping[str, float] | None, after: Mapping[str, float] | None
) -> Iterator[Caution]:
    """Yield a caution if the driver held the clock back meanwhile, or does not tell."""
    if before is None or after is None:
        yield Caution(
            "restraint-unknown",
            "this driver does not report for how long power or heat held the clock back",
            "watch the device during the measurement: nvidia-smi -q -d PERFORMANCE",
        )
        return
    held = {
        reason: after[reason] - before[reason]
        for reason in after
        if reason in before and after[reason] - before[reason] > _HELD_BACK_S
    }
    if held:
        reasons = ", ".join(f"{reason} for {format_si(s, 's')}" for reason, s in held.items())
        yield Caution(
            "held-back",
            f"the driver held the clock back: {reasons}",
            "these peaks are what the device sustains within its limits; for higher ones let "
            "it cool, or raise its power limit: nvidia-smi --power-limit=W",
        )


def of_memory(facts: Facts) -> Iterator[Caution]:
    """Yield a caution if it is not known whether errors of the memory are corrected."""
    if facts.ecc is None:
        yield Caution(
            "ecc-unknown",
            "the driver does not report whether the memory corrects errors (ECC), which costs "
            "GDDR memory some per cent of its bandwidth and HBM nothing",
            "check with: nvidia-smi -q -d ECC",
        )


def of_partition(facts: Facts) -> Iterator[Caution]:
    """Yield a caution if the device is a part of a GPU."""
    if facts.partitioned:
        yield Caution(
            "partition",
            "this is a part of a GPU (MIG): other parts share its power and clock",
            "measure when the other parts are idle; the ceilings are those of this part",
        )


def of_rate(rate: Estimate) -> Iterator[Caution]:
    """Yield a caution if the samples of a ceiling spread."""
    spread = rate.relative_spread
    if spread is not None and spread > _NOISY:
        yield Caution(
            "noisy",
            f"the 95 % interval is {spread:.0%} of the median (n = {rate.n})",
            "end other programs on the device (nvidia-smi lists them), and measure again",
        )
