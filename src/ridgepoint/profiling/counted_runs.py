"""Run commands wrapped by a meter: the first as the user would, all within the time limits."""

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
    """The runs of one program under a meter, as `ridgepoint.meters.Launch` requires.

    Parameters
    ----------
    command : sequence of str
        The program as the user named it: a meter wraps it in other commands.
    stdin : StandardInput
    output : {"own", "stderr", "discard"}
        Where the output of the first run goes; that of later runs is discarded.
    timeout_s : float or None
        Time limit of each single run.
    limit_s : float or None
        Time limit of all runs together, from the start of the first.
    native_s : float or None
        Native runtime; None: unknown.
    runs : list of Run
        Runs that have ended.
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
            If it exceeds a time limit.
        """
        if self._began_s is None:
            self._began_s = time.monotonic()
        allowed_s, which = self.timeout_s, ("--timeout", self.timeout_s)
        if self.limit_s is not None:
            # If no time is left, the run is ended at once.
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
        """Return the error for a run that was ended by the limit of an option."""
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
    """Return the expected duration of counting, in words.

    Parameters
    ----------
    native_s : float
        Median of the native runs, in seconds.
    slowdown : str
        As in `ridgepoint.meters.Meter.slowdown`: "2 to 200".

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
