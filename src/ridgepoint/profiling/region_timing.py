"""The times of the regions that a program marks, from its native runs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import TimedRegion
from ridgepoint.core.units import format_si
from ridgepoint.host.run import Run
from ridgepoint.meters import Selection
from ridgepoint.meters.region_times import RegionTime
from ridgepoint.models.thresholds import LEAST_PART
from ridgepoint.profiling.sample_cautions import Remedies, sample_cautions

OTHERS = 0.10
"""Of the CPU time of those inside: less of other threads' is not worth a caution."""

_SHORT_ENTRY_S = 300e-6  # the marks in Python take less than 1 % of it
_CPU_CLOCK_S = 10e-6  # per entry: time that reading the CPU-time clock may add


_MORE = Remedies(
    few="ask for at least 6 runs: --repeat 6",
    noisy="stop other programs, give the region more to do, or ask for more runs: --repeat",
)


def wanted_times(
    runs: Sequence[tuple[Run, Mapping[str, RegionTime]]], selection: Selection | None
) -> list[list[float]]:
    """Return the times of a program that are to be known well, for each a sample of every run.

    Parameters
    ----------
    runs : sequence of (Run, mapping)
        Runs with the times in each region.
    selection : Selection or None
        The part that is measured alone: of a region, its time alone is wanted. None: those of the
        whole program, and of the regions that take `LEAST_PART` of it or more.
    """
    whole_s = [run.wall_s for run, _ in runs]
    known_s = {
        name: times_s
        for name, times in _in_every_run([times for _, times in runs])
        if (times_s := _known([time.wall_s for time in times]))
    }
    if selection is not None and selection.kind == "region" and selection.name in known_s:
        return [known_s[selection.name]]
    least_s = LEAST_PART * median(whole_s)
    return [whole_s, *(times_s for times_s in known_s.values() if median(times_s) >= least_s)]


def timed_regions(
    runs: Sequence[Mapping[str, RegionTime]], selection: Selection | None
) -> tuple[TimedRegion, ...]:
    """Return the times of the regions that every run entered, each with its own doubts.

    Parameters
    ----------
    runs : sequence of mapping
        Times in each region, run by run.
    selection : Selection or None
        The part that is measured alone. If the work of all threads counts in it, that of others
        than those inside is no reason for doubt.
    """
    has_all_threads = selection is not None and selection.all_threads
    selected = selection.name if selection is not None and selection.kind == "region" else None
    return tuple(
        _timed_region(name, times, all_threads=has_all_threads, is_alone=name == selected)
        for name, times in _in_every_run(runs)
    )


def _in_every_run(
    runs: Sequence[Mapping[str, RegionTime]],
) -> Iterator[tuple[str, list[RegionTime]]]:
    for name in runs[0]:
        if all(name in times for times in runs):
            yield name, [times[name] for times in runs]


def _timed_region(
    name: str, times: Sequence[RegionTime], *, all_threads: bool, is_alone: bool
) -> TimedRegion:
    runtime = _known_estimate([time.wall_s for time in times])
    return TimedRegion(
        name=name,
        entries=times[0].entries,
        runtime_s=runtime,
        busy_s=Estimate(time.busy_s for time in times),
        cpu_s=_known_estimate([time.cpu_s for time in times]),
        cautions=(
            *(() if runtime is None else _sample_cautions(name, runtime, is_alone=is_alone)),
            *_region_cautions(name, times),
            *(() if all_threads else _other_threads_caution(name, times)),
        ),
    )


def _sample_cautions(name: str, runtime: Estimate, *, is_alone: bool) -> Iterator[Caution]:
    """Yield doubts of a region's time; that there are few runs is said of the whole program."""
    if is_alone or runtime.relative_spread is not None:
        yield from sample_cautions(runtime, what=f"the runtime of region {name!r}", more=_MORE)


def _known(times_s: Sequence[float | None]) -> list[float]:
    """Return times that are all known, or else none."""
    known = [time_s for time_s in times_s if time_s is not None]
    return known if len(known) == len(times_s) else []


def _known_estimate(times_s: Sequence[float | None]) -> Estimate | None:
    """Return the estimate of times that are all known."""
    known = _known(times_s)
    return Estimate(known) if known else None


def _other_threads_caution(name: str, times: Sequence[RegionTime]) -> tuple[Caution, ...]:
    """Doubt a region during which other threads worked: it holds only its own threads' work."""
    others_s = _known_estimate([None if t.cpu_s is None else t.cpu_s - t.busy_s for t in times])
    if others_s is None:
        return ()
    busy_s = Estimate(time.busy_s for time in times).median
    if others_s.median <= max(OTHERS * busy_s, _CPU_CLOCK_S * times[0].entries):
        return ()
    return (
        Caution(
            "region-other-threads",
            f"other threads used at least {format_si(others_s.median, 's')} of CPU time while "
            f"region {name!r} was active, in addition to the {format_si(busy_s, 's')} of the "
            "threads inside: their work is not counted in it",
            f"if that work belongs to it, count it too: --region {shlex.quote(name)} --all-threads",
        ),
    )


def _region_cautions(name: str, times: Sequence[RegionTime]) -> tuple[Caution, ...]:
    cautions = []
    if len({time.entries for time in times}) > 1:
        counts = sorted({time.entries for time in times})
        cautions.append(
            Caution(
                "region-entries-differ",
                f"region {name!r} was entered {counts[0]} to {counts[-1]} times in different runs",
                "its runs differ: do not trust its time",
            )
        )
    per_entry_s = min(time.busy_s / max(1, time.entries) for time in times)
    if per_entry_s < _SHORT_ENTRY_S:
        cautions.append(
            Caution(
                "region-short",
                f"an entry of region {name!r} takes {per_entry_s * 1e6:.2g} us; timing its "
                "marks takes 0.05 us (C) to 2 us (Python) of that, and each pair of marks "
                "inside it 1 us to 5 us",
                "mark a longer part: the loop and not its body",
            )
        )
    if any(time.wall_s is None for time in times):
        cautions.append(
            Caution(
                "region-time-unknown",
                f"the time of region {name!r} is not known exactly: several processes were in "
                "it at the same time, or one ended inside it",
                "mark the region in one process only, and leave it before the process ends",
            )
        )
    return tuple(cautions)
