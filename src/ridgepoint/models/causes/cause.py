"""A cause that could hold a program back, and whether it does."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.estimate import Estimate, quotient
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.advice.mix import used_mix
from ridgepoint.models.advice.subject import Subject, percent
from ridgepoint.models.conclusion import Conclusion
from ridgepoint.models.distributed import Verdict
from ridgepoint.models.explanations import DIVIDE, Sense
from ridgepoint.models.mix import Mix
from ridgepoint.models.own_roofs import COMPUTE, ISSUE
from ridgepoint.models.thresholds import EXPLAINS, LEAST_GAIN
from ridgepoint.models.work import used_precisions

Standing = Literal["limits", "contributes", "unknown", "ruled out"]
"""It is what limits the program, or takes a large part of its time; it takes a part; whether it
does is not known; a number shows that it does not."""

_SEVERAL = 2.0
# Options that need the simulation of the caches.
_SIMULATE = {"--miss-curve", "--what-if", "--cold"}

STANDINGS: tuple[Standing, ...] = ("limits", "contributes", "unknown", "ruled out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """What would settle whether a cause is one.

    Parameters
    ----------
    text : str
        A command or a sentence; empty: nothing known would.
    again : tuple of str
        Options to measure the program again with; empty: it is something else.
    """

    text: str = ""
    again: tuple[str, ...] = ()


NOTHING = Settle()
MEASURE = Settle(text="ridgepoint machine")

Finding = tuple[Standing, str, Settle]
"""Where a cause stands, why, and what would settle it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A resource, or another known cause of lost time, and what the numbers say of it.

    Parameters
    ----------
    code : str
        Short stable identifier: a path of a bound (``dram``, ``compute``, ...), or for example
        ``misses`` or ``imbalance``.
    what : str
        Its name in words.
    standing : {"limits", "contributes", "unknown", "ruled out"}
    why : str
        The number that shows it, or why it is not known: a sentence without a full stop.
    share : Estimate or None
        Part of the time that it takes, with its range; None: not known, or not a part of time.
    sense : {"took", "least", "most"} or None
        Whether that part was observed, is a lower limit, or an upper limit.
    settle : str
        What to do where it is not known: a command, or a sentence; empty: nothing known helps.
    again : tuple of str
        Options of 'ridgepoint run' that would tell; empty: none would.
    """

    code: str
    what: str
    standing: Standing
    why: str
    share: Estimate | None = None
    sense: Sense | None = None
    settle: str = ""
    again: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """All that causes are judged by.

    Parameters
    ----------
    subject : Subject
    conclusion : Conclusion
    ranks : Verdict or None
        What bounds its ranks; None: it is not distributed.
    runtime : Estimate or None
        Its time [s]; None: not timed, or timed on another machine.
    inside : Estimate or None
        The part of it to which roofs apply [s].
    needs : mapping of str to Estimate
        Least time at the full rate of each path, of issue and of the divider [s], with a range.
    limits : frozenset of str
        Codes of what limits it.
    is_above : bool
        Whether it is faster than a roof allows, so that a count or a ceiling is wrong.
    """

    subject: Subject
    conclusion: Conclusion
    ranks: Verdict | None
    runtime: Estimate | None
    inside: Estimate | None
    needs: Mapping[str, Estimate]
    limits: frozenset[str]
    is_above: bool

    def share(self, seconds: Estimate) -> Estimate | None:
        """Return a time as a part of the time to which roofs apply; None: not timed."""
        return None if self.inside is None else quotient(seconds, self.inside)

    @property
    def limiter(self) -> str | None:
        """What limits it and has a known least time, the longest; None: nothing that has."""
        known = [code for code in self.limits if code in self.needs]
        return max(known, key=lambda code: self.needs[code].median, default=None)

    @property
    def nothing_left(self) -> str | None:
        """Why nothing else can matter: what limits it needs nearly all of the time; None: it can.

        Without any other cause the program would still take that time.
        """
        share = None if self.limiter is None else self.share(self.needs[self.limiter])
        if share is None or ends(share)[0] < 1 / LEAST_GAIN:
            return None
        gain = 1 / ends(share)[0]
        most = "nothing" if gain <= 1 else f"at most {gain:.3g}x"
        return (
            f"{path_name(self.limiter or '', self)} alone needs "
            f"{part_of(share, self.its_time)}, so that anything else gains {most}"
        )

    @property
    def its_time(self) -> str:
        """What shares are of, in words."""
        return "its time" if self.at_work is None else "its time at work"

    @property
    def at_work(self) -> str | None:
        """What its time at work is; None: it is all of its time."""
        explained = self.conclusion.explained
        if explained is None or not explained.outside:
            return None
        part = percent(explained.inside_s / explained.runtime_s)
        return f"its time at work is the {part} in which it computes and moves data"

    @property
    def mix(self) -> Mix | None:
        """Its flop by kind, whatever it is placed by; None: not known for certain."""
        if self.subject.doubted("avx2-path") or self.subject.doubted("undecoded"):
            return None
        return used_mix(self.subject.counts)

    @property
    def options(self) -> tuple[str, ...]:
        """The options that it was measured with."""
        asked = self.subject.measurement.asked
        return () if asked is None else asked.options

    def settled_by(self, *options: str) -> Settle:
        """Return the command that measures it again with more options."""
        return Settle(text=run_again(self.subject.measurement, *options), again=options)


def run_again(measurement: Measurement, *options: str) -> str:
    """Return the command line that measures a program again, with more options.

    A call of a function, or a region measured in place, has no command line: a sentence then says
    what to do.
    """
    if measurement.protocol is not None:
        return f"measure it again in Python (what 'ridgepoint run {' '.join(options)}' does)"
    asked = () if measurement.asked is None else measurement.asked.options
    new = {option.split(" ")[0] for option in options}
    if new & _SIMULATE:
        new.add("--no-traffic")  # which forbids them
    given = [option for option in asked if option.split(" ")[0] not in new]
    launcher, program = _launched(measurement)
    if any(option.startswith("--mpi") for option in given):
        launcher = ()
    words = ("ridgepoint run", *given, *options, "--", shlex.join(program))
    return " ".join((*launcher, *words))


def _launched(measurement: Measurement) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the launcher of a distributed program (``mpirun -n 4``), and the program."""
    command = measurement.command
    if measurement.distributed is None or command[1:2] != ("-n",):
        return (), command
    return command[:3], command[3:]


def ends(estimate: Estimate) -> tuple[float, float]:
    """Return the ends of an interval, or the median twice if there is none."""
    if estimate.low is None or estimate.high is None:
        return estimate.median, estimate.median
    return estimate.low, estimate.high


def ranged(share: Estimate) -> str:
    """Return a share with its range where that is wider than the digits shown.

    It is in percent; of what is several times as long as the whole, in times.
    """
    if share.median >= _SEVERAL:
        low, high = (f"{end:.3g}" for end in ends(share))
        shown = f"{share.median:.3g} times"
        return shown if low == high else f"{shown} ({low} to {high})"
    low, high = map(percent, ends(share))
    shown = percent(share.median)
    return shown if low == high else f"{shown} ({low.removesuffix(' %')} to {high})"


def part_of(share: Estimate, whole: str) -> str:
    """Return a share of something: ``45 % of its time``, ``3 times its time``."""
    return f"{ranged(share)} {'' if share.median >= _SEVERAL else 'of '}{whole}"


def is_small(share: Estimate) -> bool:
    """Return whether a part of the time is certainly too small to be what is short."""
    return ends(share)[1] < EXPLAINS


def path_name(path: str, case: Case) -> str:
    """Return a path of a bound, or another limit with a rate, in words."""
    if path == ISSUE:
        return "the rate at which cores start instructions"
    if path == DIVIDE:
        return "the divider"
    if path == COMPUTE:
        used = used_precisions(case.subject.placement.demand.amounts)
        labels = " and ".join(RESOURCES[name].label for name in used)
        return f"peak {labels} performance" if labels else "peak performance"
    return f"{RESOURCES[path].label} bandwidth"
