"""Time programs that are to be compared: a run of each in every round."""

from __future__ import annotations

from collections.abc import Sequence

from ridgepoint.core.errors import RidgepointError
from ridgepoint.host.run import resolve
from ridgepoint.host.standard_input import own_standard_input
from ridgepoint.meters import Selection
from ridgepoint.profiling.native_times import NativeTimes
from ridgepoint.profiling.repeats import Progress
from ridgepoint.profiling.timing import Native, time_in_turn


def native_times_in_turn(
    commands: Sequence[Sequence[str]],
    *,
    selection: Selection | None = None,
    repeat: int | None = None,
    timeout_s: float | None = None,
    progress: Progress | None = None,
) -> list[NativeTimes | RidgepointError]:
    """Return the times of programs, from runs in turn; they show no output.

    Parameters
    ----------
    commands : sequence of sequence of str
        Programs and arguments.
    selection : Selection or None
        The region that is measured alone in all of them; None: the whole programs.
    repeat, timeout_s, progress
        As for `ridgepoint.profiling.program.measure_program`, which takes the times.

    Returns
    -------
    list
        For each program its times, or why it has none; one that fails does not stop the others.

    Raises
    ------
    CannotStart
        If there is no such program.
    """
    with own_standard_input() as stdin:
        natives = [
            Native(
                command=resolve(command),
                stdin=stdin,
                repeat=repeat,
                timeout_s=timeout_s,
                ignore_status=False,
                output="discard",
                report=progress or (lambda what, output_is_shown: None),
            )
            for command in commands
        ]
        return [
            times
            if isinstance(times, RidgepointError)
            else NativeTimes(timed=times[0], regions=times[1])
            for times in time_in_turn(natives, selection=selection)
        ]
