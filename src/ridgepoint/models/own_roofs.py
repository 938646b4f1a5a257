"""Limits from a program's own instructions: the roof of its mix, and the rate of issue.

The roofs of a machine are the rates of its best instructions. The roofs in this module are those of
the program's own instructions: its flop by the pipes that they need (`ridgepoint.models.mix`), and
all instructions by the number of the simplest kind that a core starts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ridgepoint.core.bound import Bound, bound, combined
from ridgepoint.core.caution import Caution
from ridgepoint.core.demand import Demand
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.models.mix import Mix, MixBound, mix_bound, mix_of
from ridgepoint.models.thresholds import ABOVE_MIX, NEAR

ISSUE = "issue"
"""The resource of instructions, and the limit that their rate is."""

COMPUTE = "compute"

# Under the meter, libraries saw another CPU than in the native run: instructions may differ.
_OTHER_PATH = "avx2-path"


@dataclass(frozen=True, slots=True, kw_only=True)
class MixPlace:
    """A program under the roof of its own mix.

    Parameters
    ----------
    mix : Mix
        Its flop by kind of instruction.
    bound : MixBound or None
        Bound of its flop alone; None: not known, and `unknown` says why.
    whole : Bound or None
        Bound of its flop with its own mix, and of its traffic.
    efficiency : float or None
        The least time over the runtime's median; None: it was not timed.
    unknown : tuple of str
        Unknown quantities of the mix; the bound holds without them.
    """

    mix: Mix
    bound: MixBound | None = None
    whole: Bound | None = None
    efficiency: float | None = None
    unknown: tuple[str, ...] = ()

    @property
    def time_s(self) -> float | None:
        """The least time with its own mix [s]: of its flop, or of its traffic if that is longer."""
        return None if self.whole is None else float(self.whole.time_s)

    @property
    def limiter(self) -> str | None:
        """``compute``, or the memory level that takes longest."""
        return None if self.whole is None else str(self.whole.limiter)

    @property
    def attainable_per_s(self) -> float | None:
        """The work over the least time, flop/s."""
        return float(self.whole.attainable) if self.whole is not None and self.time_s else None


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuePlace:
    """A program under the rate at which cores start instructions.

    Parameters
    ----------
    instructions : int
    per_cycle : float or None
        Instructions per cycle of a busy core; None: not timed, or the clock is not known.
    most_per_cycle : float or None
        Highest measured instructions per cycle of a core; None: not measured.
    time_s : float or None
        The least time for its instructions; None: the machine has no such ceiling.
    efficiency : float or None
        That time over the runtime's median.
    """

    instructions: int
    per_cycle: float | None
    most_per_cycle: float | None = None
    time_s: float | None = None
    efficiency: float | None = None


def place_mix(
    measurement: Measurement, machine: Machine, limit: Bound | None, *, cores: float
) -> MixPlace | None:
    """Place a program under the roof of its own mix.

    Parameters
    ----------
    measurement : Measurement
    machine : Machine
    limit : Bound or None
        Bound by the machine's roofs; its memory times hold here too.
    cores : float
        Number of cores whose roofs apply.

    Returns
    -------
    MixPlace or None
        None: it does no floating-point work.
    """
    mix = mix_of(measurement.counted.counts)
    if not mix:
        return None
    if any(caution.code == _OTHER_PATH for caution in measurement.all_cautions):
        why = "which instructions a native run uses: its libraries choose others when counted"
        return MixPlace(mix=mix, unknown=(why,))
    own = mix_bound(mix, machine, cores=cores)
    if own is None or limit is None:
        return MixPlace(mix=mix, unknown=("the machine has no ceiling for these precisions",))
    times_s = {**limit.times_s, COMPUTE: own.time_s}
    whole = replace(
        limit, constraints_s=times_s, times_s=times_s, time_s=combined(times_s.values())
    )
    return MixPlace(
        mix=mix,
        bound=own,
        whole=whole,
        efficiency=_efficiency(whole, measurement),
        unknown=own.unknown,
    )


def place_issue(measurement: Measurement, machine: Machine, *, cores: float) -> IssuePlace:
    """Place a program under the rate at which cores start instructions.

    Parameters
    ----------
    measurement : Measurement
    machine : Machine
    cores : float
        Number of cores whose roofs apply.

    Notes
    -----
    The clock is that of the machine's measurement; the program may have run at another one, which
    usually differs by a few per cent. CPU time includes the kernel's, whose instructions are not
    counted.
    """
    counts, timed = measurement.counted.counts, measurement.timed
    clock_hz = machine.host.frequency_hz
    per_cycle = None
    # The machine's clock only applies if the program was timed on this machine.
    is_here = measurement.context.cpu == machine.host.cpu
    if timed is not None and timed.runtime_s.median and timed.cores_busy and clock_hz and is_here:
        busy_s = timed.runtime_s.median * timed.cores_busy
        per_cycle = counts.instructions / (busy_s * clock_hz)
    if not machine.knows(ISSUE):
        return IssuePlace(instructions=counts.instructions, per_cycle=per_cycle)
    least = bound(Demand({ISSUE: counts.instructions}), machine, cores=cores)
    on_one = machine.best(ISSUE, threads=1)
    most = None
    if on_one is not None and on_one.rate is not None:
        clock_hz = on_one.frequency_hz or clock_hz
        most = on_one.rate.median / clock_hz if clock_hz else None
    return IssuePlace(
        instructions=counts.instructions,
        per_cycle=per_cycle,
        most_per_cycle=most,
        time_s=float(least.time_s),
        efficiency=_efficiency(least, measurement),
    )


def _efficiency(least: Bound, measurement: Measurement) -> float | None:
    timed = measurement.timed
    return None if timed is None else float(least.efficiency(timed.runtime_s.median))


def is_explained(mix: MixPlace | None, issue: IssuePlace) -> bool:
    """Return whether a program's own instructions explain its time."""
    reached = (None if mix is None else mix.efficiency, issue.efficiency)
    return any(share is not None and share >= NEAR for share in reached)


def mix_cautions(mix: MixPlace | None) -> tuple[Caution, ...]:
    """Return a caution if a program is faster than its own instructions allow."""
    if mix is None or mix.efficiency is None or mix.efficiency <= ABOVE_MIX:
        return ()
    return (
        Caution(
            "above-mix",
            f"the program is {mix.efficiency:.2f} times as fast as its own mix of floating-point "
            "instructions allows",
            "a ceiling is too low, or the native run takes another code path than the counted "
            "run: measure the machine again",
        ),
    )
