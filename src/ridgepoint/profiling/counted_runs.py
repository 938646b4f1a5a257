"""Run what a meter wrapped: once as its user would, for as long as it may, and never longer."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from ridgepoint.core.errors import TimedOut
from ridgepoint.core.units import format_duration
from ridgepoint.host.run import Output, Run, run
from ridgepoint.host.standard_input import StandardInput

_RANGE = re.compile(r"(\d+) to (\d+)")


@dataclass(slots=True, kw_only=True)
class CountedRuns:
    """The runs of one program under a meter: what `ridgepoint.meters.Launch` asks for.

    Parameters
    ----------
    command : sequence of str
        The program, as the user named it: a meter runs other commands around it.
    stdin : StandardInput
    output : {"own", "stderr", "discard"}
        Where the output of the first run goes; that of others goes nowhere.
    timeout_s : float or None
        Limit of each single run.
    limit_s : float or None
        Limit of all together, from the first one's start.
    native_s : float or None
        What it takes natively; None: unknown.
    runs : list of Run
        Those that have ended.
    """

    command: Sequence[str]
    stdin: StandardInput
    output: Output
    timeout_s: float | None
    limit_s: float | None
    native_s: float | None
    runs: list[Run] = field(default_factory=list)
    _began_s: float | None = None

    def __call__(self, wrapped: Sequence[str]) -> Run:
        """Run a command line that a meter has wrapped.

        Raises
        ------
        TimedOut
            If it takes longer than it may.
        """
        if self._began_s is None:
            self._began_s = time.monotonic()
        allowed_s, which = self.timeout_s, ("--timeout", self.timeout_s)
        if self.limit_s is not None:
            # A limit that is used up already ends the run at once.
            left_s = max(self.limit_s - (time.monotonic() - self._began_s), 1e-3)
            if allowed_s is None or left_s < allowed_s:
                allowed_s, which = left_s, ("--limit", self.limit_s)
        try:
            done = run(
                wrapped,
                stdin=self.stdin,
                output="discard" if self.runs else self.output,
                timeout_s=allowed_s,
            )
        except TimedOut as error:
            raise self._took_too_long(*which) from error
        self.runs.append(done)
        return done

    def _took_too_long(self, option: str, limit_s: float | None) -> TimedOut:
        """Return the error of a run that the limit of an option ended."""
        natively = "" if self.native_s is None else f" ({format_duration(self.native_s)} natively)"
        return TimedOut(
            f"cannot count {self.command[0]!r}",
            reason=f"counting took longer than {limit_s or 0:g} s{natively} and was stopped",
            remedy=(
                f"give the program less to do, or a longer {option}; counting is faster with "
                "--no-traffic"
            ),
        )


def expected_time(native_s: float, slowdown: str) -> str:
    """Return how long counting will take, in words.

    Parameters
    ----------
    native_s : float
        Median of the native runs.
    slowdown : str
        As `ridgepoint.meters.Meter.slowdown`: "2 to 200".

    Examples
    --------
    >>> expected_time(1.6, "2 to 200")
    '1.6 s natively, 3.2 s to 5.3 min expected'
    """
    natively = f"{format_duration(native_s)} natively"
    if (ends := _RANGE.fullmatch(slowdown)) is None:
        return natively
    least, most = (format_duration(native_s * float(end)) for end in ends.groups())
    return f"{natively}, {least} to {most} expected"
