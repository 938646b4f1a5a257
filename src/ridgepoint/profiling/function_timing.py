"""Time the part of a program that one function takes, by native runs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import Timed
from ridgepoint.core.units import format_si
from ridgepoint.host.run import Run
from ridgepoint.meters import Selection
from ridgepoint.meters.sampling.function_clock import HIT_S, FunctionClock, Stay
from ridgepoint.profiling.region_timing import OTHERS
from ridgepoint.profiling.repeats import wants_another
from ridgepoint.profiling.timing import Native, time_cautions

# Of a function's time: what stops there may add.
_MOST_ADDED, _NOTICED = 0.10, 0.01


def time_function(native: Native, selection: Selection) -> tuple[Timed, Timed]:
    """Return the native time in a function and its callees, and in the whole program.

    Parameters
    ----------
    native : Native
        Native runs of the program, whose output was shown before.
    selection : Selection
        Selection of a function.

    Raises
    ------
    MeterUnavailable
        If breakpoints cannot be used.
    """
    clock = FunctionClock(pattern=selection.name, all_threads=selection.all_threads)

    def launch() -> Run:
        return native.once("discard")[0]

    native.report(f"finding {selection}", False)
    clock.prepare(launch)
    native.report(f"timing {selection}, and its CPU time", False)
    sampled = clock.time(launch, sample=True)
    stays: list[Stay] = []
    elapsed_s = sampled.run.wall_s
    while wants_another([stay.wall_s for stay in stays], elapsed_s=elapsed_s, repeat=native.repeat):
        limit = f" of {native.repeat}" if native.repeat else ""
        native.report(f"timing {selection}, run {len(stays) + 1}{limit}", False)
        stays.append(clock.time(launch))
        elapsed_s += stays[-1].run.wall_s
    runtime = Estimate(stay.wall_s for stay in stays)
    entries = max(stay.entries for stay in stays)
    if entries * HIT_S > _MOST_ADDED * runtime.median:
        raise MeterUnavailable(
            f"cannot time {selection}",
            reason=(
                f"it is entered {entries} times and takes {format_si(runtime.median, 's')}: "
                "too short for stopping the processor at each entry"
            ),
            remedy="name the function that contains the loop around it",
        )
    cpu_s, system_s = _cpu_of(sampled, stays)
    part = Timed(
        runtime_s=runtime,
        cpu_s=Estimate([cpu_s]),
        exit_status=stays[0].run.exit_status,
        cautions=_stay_cautions(selection, runtime, stays, sampled),
        system_s=Estimate([system_s]),
        entries=entries,
    )
    return part, whole_of([stay.run for stay in stays])


def whole_of(runs: Sequence[Run]) -> Timed:
    """Return the time of the whole program in runs in which a part of it was timed."""
    return Timed(
        runtime_s=Estimate(run.wall_s for run in runs),
        cpu_s=Estimate(run.cpu_s for run in runs),
        exit_status=runs[0].exit_status,
        system_s=Estimate(run.system_s for run in runs),
    )


def _cpu_of(sampled: Stay, stays: Sequence[Stay]) -> tuple[float, float]:
    """Return the CPU time inside, and the kernel's part of it, of one run on average.

    The sampled run shows which part of the CPU time is inside: neighbours change the wall-clock
    time, but not that part. When the kernel's time occurred is not known: its share inside is taken
    to be that of the rest.
    """
    inside_s, run = sampled.user_s or 0.0, sampled.run
    user_s = max(run.cpu_s - run.system_s, inside_s)
    share = inside_s / user_s if user_s else 0.0
    cpu_s = share * sum(stay.run.cpu_s for stay in stays) / len(stays)
    return cpu_s, share * sum(stay.run.system_s for stay in stays) / len(stays)


def _stay_cautions(
    selection: Selection, runtime: Estimate, stays: Sequence[Stay], sampled: Stay
) -> tuple[Caution, ...]:
    cautions = list(time_cautions(runtime, [stay.run for stay in stays]))
    counts = sorted({stay.entries for stay in stays})
    if len(counts) > 1:
        cautions.append(
            Caution(
                "function-entries-differ",
                f"{selection} was entered {counts[0]} to {counts[-1]} times in different runs",
                "its runs differ: do not trust its time",
            )
        )
    if sampled.others_s > OTHERS * (sampled.user_s or 0.0):
        cautions.append(
            Caution(
                "function-other-threads",
                f"other threads used {format_si(sampled.others_s, 's')} of CPU time while "
                f"{selection} was active: their work is not counted in it",
                "if that work belongs to it, count it too: --function "
                f"{shlex.quote(selection.name)} --all-threads",
            )
        )
    added = counts[-1] * HIT_S / runtime.median if runtime.median else 0.0
    if added > _NOTICED:
        cautions.append(
            Caution(
                "function-short",
                f"{selection} was entered {counts[-1]} times, and each stop of the processor "
                f"there may take {format_si(HIT_S, 's')}: up to {added:.1%} of its time may be "
                "due to these stops",
                "name the function that contains the loop around it",
            )
        )
    return tuple(cautions)
