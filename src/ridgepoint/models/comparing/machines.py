"""Comparison of a machine with an earlier measurement: which ceilings fell, which rose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling, Machine
from ridgepoint.core.presenting import Presentable
from ridgepoint.models.gains import Gain, gain

Verdict = Literal["fell", "rose", "same", "unknown", "missing", "new"]

TOLERANCE = 0.05
"""A median may fall by this share of the baseline's before it counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CeilingChange:
    """One ceiling in both measurements.

    Parameters
    ----------
    resource, name : str
    threads : int
    part : str or None
    verdict : {"fell", "rose", "same", "unknown", "missing", "new"}
        ``missing``: only the baseline has it; ``new``: the baseline lacks it.
    unit : str
    baseline, rate : Estimate or None
        Rate in `unit`, before and now; None: not measured.
    """

    resource: str
    name: str
    threads: int
    part: str | None = None
    verdict: Verdict
    unit: str
    baseline: Estimate | None
    rate: Estimate | None

    @property
    def gain(self) -> Gain | None:
        """Current rate over the baseline's, with its interval; None: either is not known."""
        return gain(self.rate, self.baseline)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MachineComparison(Presentable):
    """Every ceiling of two measurements, and cautions about comparing them."""

    ceilings: tuple[CeilingChange, ...]
    cautions: tuple[Caution, ...]

    @property
    def headline(self) -> str:
        """How many ceilings fell, rose and stayed."""
        return ", ".join(f"{self.count(each)} {each}" for each in ("fell", "rose", "same"))

    def count(self, verdict: Verdict) -> int:
        """Return how many ceilings have this verdict."""
        return sum(change.verdict == verdict for change in self.ceilings)


def compare(
    baseline: Machine, machine: Machine, *, tolerance: float = TOLERANCE
) -> MachineComparison:
    """Compare every ceiling of a machine with a baseline's.

    Parameters
    ----------
    baseline, machine : Machine
    tolerance : float
        Relative difference of medians that is tolerated, as a share of the larger one, in [0, 1).

    Raises
    ------
    ValueError
        If `tolerance` is not in [0, 1).

    Notes
    -----
    A ceiling fell if its 95 % interval lies wholly below the baseline's *and* its median is below
    ``(1 - tolerance)`` of the baseline's; it rose if the baseline fell against it, so that
    swapping the two swaps the verdicts. Where either has no rate, or fewer than six samples and
    so no interval, the verdict is ``unknown``.

    This is stricter than that the interval of their ratio (`CeilingChange.gain`) leaves out 1: a
    machine has many ceilings, and each is a chance of a false alarm.

    Assumes that samples within a run are independent. An interval speaks of its own run only:
    clocks, neighbours and page placement differ between runs by more than within one, which is
    what the tolerance is for. No correction is made for comparing many ceilings.
    """
    if not 0 <= tolerance < 1:
        raise ValueError(f"tolerance must be in [0, 1), got {tolerance!r}")
    before = {ceiling.key: ceiling for ceiling in baseline.ceilings}
    now = {ceiling.key: ceiling for ceiling in machine.ceilings}
    changes = tuple(
        _change(before.get(key), now.get(key), tolerance) for key in dict.fromkeys([*before, *now])
    )
    cautions = _other_machine(baseline, machine)
    if not any(change.verdict in {"fell", "rose", "same"} for change in changes):
        cautions.append(
            Caution(
                "nothing-compared",
                "no ceiling has six samples or more on both sides",
                "use a baseline that was measured with 'ridgepoint machine'",
            )
        )
    return MachineComparison(ceilings=changes, cautions=tuple(cautions))


def _change(before: Ceiling | None, now: Ceiling | None, tolerance: float) -> CeilingChange:
    known = now or before
    assert known is not None  # a key comes from one of them
    verdict: Verdict
    if now is None:
        verdict = "missing"
    elif before is None:
        verdict = "new"
    else:
        verdict = _verdict(before.rate, now.rate, tolerance)
    return CeilingChange(
        resource=known.resource,
        name=known.name,
        threads=known.threads,
        part=known.part,
        verdict=verdict,
        unit=known.unit,
        baseline=None if before is None else before.rate,
        rate=None if now is None else now.rate,
    )


def _verdict(before: Estimate | None, now: Estimate | None, tolerance: float) -> Verdict:
    if before is None or now is None or before.low is None or now.low is None:
        return "unknown"
    if _is_below(now, before, tolerance):
        return "fell"
    return "rose" if _is_below(before, now, tolerance) else "same"


def _is_below(rate: Estimate, other: Estimate, tolerance: float) -> bool:
    """Return whether one rate lies below the other beyond noise and tolerance."""
    if rate.high is None or other.low is None:
        return False
    return rate.high < other.low and rate.median < (1 - tolerance) * other.median


def _other_machine(baseline: Machine, machine: Machine) -> list[Caution]:
    """Return a caution for each sign that the baseline is of another machine."""
    was, is_now = baseline.host, machine.host
    remedy = "compare with a baseline of the same kind of machine"
    cautions = []
    if was.cpu != is_now.cpu:
        seen = f"the baseline is of {was.cpu!r}, this machine is {is_now.cpu!r}"
        cautions.append(Caution("other-cpu", seen, remedy))
    if was.cores != is_now.cores:
        seen = f"the baseline had {was.cores} usable cores, this machine has {is_now.cores}"
        cautions.append(Caution("other-cores", seen, remedy))
    if set(baseline.caches) != set(machine.caches):
        cautions.append(
            Caution("other-caches", "the baseline has other caches than this machine", remedy)
        )
    return cautions
