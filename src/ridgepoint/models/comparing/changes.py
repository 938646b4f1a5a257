"""The change of one amount between two measurements: how large, and whether it is one at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.estimate import Estimate
from ridgepoint.models.gains import gain
from ridgepoint.models.independence import is_dependent, range_with_drift

Verdict = Literal["equal", "same", "more", "less", "no difference seen", "unknown"]
"""``equal``: to the last digit; ``same``: within the tolerance; ``no difference seen``: the
interval holds 1; ``unknown``: an amount is not known, or too little is known of its noise."""

TIME_TOLERANCE = 0.02
"""Two measurements of one program, each after the other, differ by as much: the address space is
laid out anew, and the clock and the neighbours are those of another moment."""

COUNT_TOLERANCE = 0.001
"""Loader, environment and process number change the counts of one program by less."""

NOT_MEASURED = "not measured"
TOO_FEW = "too few runs"
DRIFT = "the runs of one measurement drift, or vary in bursts, by as much"
DISTURBED = "other programs used the CPUs, and CPU time does not confirm it"
WITHIN = "within the tolerance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One amount before and after.

    Parameters
    ----------
    quantity : str
        What it is, as a gate names it: ``runtime``, ``work``, ``dram read``, ...
    unit : str
        Base unit: ``s``, ``flop``, ``BOP``, ``B``; empty for numbers of instructions.
    before, after : Estimate or None
        None: not measured.
    ratio : float or None
        After over before; None: one is not known, or it was 0 before.
    low, high : float or None
        Ends of the 95 % interval of the ratio, both the ratio itself for exact counts; None: there
        is none.
    has_drift : bool
        Whether the runs of either measurement depend on each other, so that the ends are those of
        the range with drift, which has no stated confidence.
    verdict : {"equal", "same", "more", "less", "no difference seen", "unknown"}
    why : str
        Reason for an ``unknown``, or why a difference is not counted as one; else empty.
    """

    quantity: str
    unit: str
    before: Estimate | None
    after: Estimate | None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    has_drift: bool = False
    verdict: Verdict
    why: str = ""

    @property
    def is_change(self) -> bool:
        """Whether a difference was told apart from noise and tolerance."""
        return self.verdict in {"more", "less"}

    @property
    def interval_name(self) -> str:
        """What the ends are the ends of."""
        return "range with drift" if self.has_drift else "95 % interval"

    @property
    def is_known(self) -> bool:
        """Whether both amounts are known."""
        return self.before is not None and self.after is not None


def time_change(
    quantity: str,
    before: Estimate | None,
    after: Estimate | None,
    *,
    tolerance: float = TIME_TOLERANCE,
    confirmed_by: Change | None = None,
) -> Change:
    """Return the change of a measured time.

    Parameters
    ----------
    quantity : str
    before, after : Estimate or None
        Times, s, from runs that were not taken in turn; None: not measured.
    tolerance : float
        Relative difference that is no difference, >= 0.
    confirmed_by : Change or None
        Change of the CPU time, if other programs used the CPUs during either measurement: they
        prolong the runtime, but hardly the CPU time. None: nothing disturbed them.

    Notes
    -----
    A time is longer if the 95 % interval of the ratio of both medians
    (`ridgepoint.models.gains.gain`) lies above 1 and the ratio above ``1 + tolerance``; it is
    shorter if the same holds with both swapped.

    That interval assumes independent runs. Where the runs of one measurement depend on each other
    (`ridgepoint.models.independence.is_dependent`), the ends of their range, and half of it beyond,
    take the place of the ends of the median's interval: the machine changes with time, and
    the difference must be larger than that change.

    In simulations of machines whose speed walks at random or reverts to a mean, up to 8 % of the
    pairs of one program are taken for different with 10 runs each, and up to 5 % with 15 and more.
    """
    if before is None or after is None:
        return _unknown(quantity, "s", before, after)
    change = gain(after, before)
    if change is None:
        return _unknown(quantity, "s", before, after, why="a time is 0")
    low, high, is_drifting = change.low, change.high, False
    if low is not None and high is not None and min(*before.samples, *after.samples) > 0:
        ends = [_ends_of_time(each) for each in (before, after)]
        is_drifting = any(drifts for _, drifts in ends)
        (first, last), (others_first, others_last) = (interval for interval, _ in ends)
        if is_drifting:
            low, high = others_first / last, others_last / first
    verdict: Verdict = "unknown"
    why = TOO_FEW
    if low is not None and high is not None:
        verdict, why = _verdict(change.ratio, low, high, tolerance)
        if is_drifting and verdict == "no difference seen":
            why = DRIFT
        if confirmed_by is not None and verdict in {"more", "less"}:
            is_confirmed = confirmed_by.verdict == verdict
            verdict, why = (verdict, "") if is_confirmed else ("unknown", DISTURBED)
    return Change(
        quantity=quantity,
        unit="s",
        before=before,
        after=after,
        ratio=change.ratio,
        low=low,
        high=high,
        has_drift=is_drifting,
        verdict=verdict,
        why=why,
    )


def _ends_of_time(time: Estimate) -> tuple[tuple[float, float], bool]:
    """Return between what a time lies, and whether its runs depend on each other."""
    is_free = time.interval is None and time.batches is None
    if is_free and is_dependent(time.samples):
        return range_with_drift(time), True
    low, high = time.low, time.high
    return (time.median if low is None else low, time.median if high is None else high), False


def count_change(
    quantity: str,
    unit: str,
    before: Estimate | None,
    after: Estimate | None,
    *,
    tolerance: float = COUNT_TOLERANCE,
) -> Change:
    """Return the change of a count.

    Parameters
    ----------
    quantity, unit : str
    before, after : Estimate or None
        Counts, >= 0, with an interval where they were estimated, or counted several times; None:
        not measured.
    tolerance : float
        Relative difference up to which counts are the same, >= 0.
    """
    if before is None or after is None:
        return _unknown(quantity, unit, before, after)
    (first, last), (others_first, others_last) = _ends(before), _ends(after)
    is_exact = first == last and others_first == others_last
    ratio = after.median / before.median if before.median else None
    low = others_first / last if last else None
    high = others_last / first if first else None
    verdict: Verdict
    why = ""
    if before.median == after.median:
        verdict = "equal" if is_exact else "no difference seen"
    elif ratio is None:
        verdict = "more" if others_first > last else "no difference seen"
    elif is_exact or low is None or high is None:
        is_same = max(ratio, 1 / ratio if ratio else float("inf")) <= 1 + tolerance
        verdict = "same" if is_same else "more" if ratio > 1 else "less"
        why = WITHIN if is_same else ""
    else:
        verdict, why = _verdict(ratio, low, high, tolerance)
    return Change(
        quantity=quantity,
        unit=unit,
        before=before,
        after=after,
        ratio=ratio,
        low=low,
        high=high,
        verdict=verdict,
        why=why,
    )


def _verdict(ratio: float, low: float, high: float, tolerance: float) -> tuple[Verdict, str]:
    """Return what an interval of a ratio shows, and why that is not counted as a difference."""
    if low <= 1 <= high:
        return "no difference seen", ""
    if max(ratio, 1 / ratio) <= 1 + tolerance:
        return "same", WITHIN
    return ("more" if ratio > 1 else "less"), ""


def _ends(count: Estimate) -> tuple[float, float]:
    return count.interval or (count.median, count.median)


def _unknown(
    quantity: str,
    unit: str,
    before: Estimate | None,
    after: Estimate | None,
    *,
    why: str = NOT_MEASURED,
) -> Change:
    return Change(
        quantity=quantity, unit=unit, before=before, after=after, verdict="unknown", why=why
    )
