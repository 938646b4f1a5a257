"""Speed-up and efficiency of measured runs, as they are: no model is needed for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ridgepoint.core.runs import Run
from ridgepoint.models.gains import Gain, gain


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredScaling:
    """What a run gains over the run of its size on the fewest processors.

    Parameters
    ----------
    run : Run
    over : Run
        The run on the fewest processors; of several such, the one on the fewest nodes.
    speed_up : Gain or None
        Time of that run over the time of this one; None: it is that run.
    efficiency : Gain or None
        Speed-up over the ratio of the processors; None as the speed-up.
    """

    run: Run
    over: Run
    speed_up: Gain | None
    efficiency: Gain | None


def measured_scaling(runs: Sequence[Run]) -> tuple[MeasuredScaling, ...]:
    """Return what each run gains over the smallest run of its size, in the order of the runs.

    Parameters
    ----------
    runs : sequence of Run
        One for each setting, with its repeats.
    """
    return tuple(_scaling(run, _smallest(runs, run.size)) for run in runs)


def _smallest(runs: Sequence[Run], size: float | None) -> Run:
    alike = (run for run in runs if run.size == size)
    return min(alike, key=lambda run: (run.processors, run.nodes))


def _scaling(run: Run, over: Run) -> MeasuredScaling:
    speed_up = None if run is over else gain(over.time_s, run.time_s)
    return MeasuredScaling(
        run=run,
        over=over,
        speed_up=speed_up,
        efficiency=speed_up and speed_up.scaled(over.processors / run.processors),
    )
