"""What is done below each line of a Python program: one more counted run, line by line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import RegionCounts
from ridgepoint.core.errors import CannotMeasure, MeterUnavailable, TimedOut
from ridgepoint.core.lines import PythonLine, PythonLines, Tracing
from ridgepoint.host.scratch import scratch_folder
from ridgepoint.meters import Meter
from ridgepoint.meters.first_choice import FirstChoice
from ridgepoint.meters.native import NativeMeter
from ridgepoint.meters.native.arena import OPTION_LINES
from ridgepoint.meters.python_lines import (
    LINE_MARK,
    LINES_VARIABLE,
    MOST_TRACED,
    OTHERS_MARK,
    TRACED_VARIABLE,
    line_sampler,
    traced_list,
)
from ridgepoint.meters.python_lines.samples import LineSamples
from ridgepoint.profiling.sleeping import SLEEPING

_MOST_EVENTS = 50_000_000
_ALIKE = 0.01
_LITTLE_TRAFFIC = 0.05
_LEAST_BYTES = 1 << 20
_CODE = "lines-not-counted"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Traced:
    """A counted run in which each thread said on which line it was."""

    counted: Counted
    samples: LineSamples


def count_lines(
    times: PythonLines, meter: Meter, whole: Counted, count: Callable[[Meter], Counted]
) -> PythonLines:
    """Return lines with what was executed and moved below them.

    Parameters
    ----------
    times : PythonLines
        The sampled lines; those with most of the time are counted, each apart.
    meter : Meter
        What counted the whole program: lines are counted by the copying engine.
    whole : Counted
        What it counted.
    count : callable
        Counts one more run of the program with a meter.

    Notes
    -----
    The whole program's counts are those of the run without lines. A difference between the two in
    flop is the program's own, as telling lines takes none; a caution says so.
    """
    native = _native(meter)
    if not times.lines:
        return times
    if native is None:
        reason = f"only the copying engine counts by line, and {meter.name} was asked for"
        return _not_counted(times, reason, "leave out --meter")
    if not whole.traffic or not whole.caches:
        native = native.counting_alone()
    try:
        traced = _traced(times.lines[:MOST_TRACED], native, count)
    except (CannotMeasure, MeterUnavailable) as error:
        return _not_counted(times, error.reason, error.remedy)
    lack = _why_unknown(traced.samples)
    return _joined(times, traced, whole) if lack is None else _not_counted(times, *lack)


def _why_unknown(samples: LineSamples) -> tuple[str, str] | None:
    """Return why the traced run tells nothing of lines, and what to do; None: it does."""
    if samples.refused["too-many"]:
        most = f"{_MOST_EVENTS / 1e6:g} million times"
        return f"lines of its own files began more than {most}", "give the program less to do"
    if samples.refused or not samples.processes:
        reason = "the interpreter told nothing of its lines in the counted run"
        return reason, "use CPython 3.11 to 3.14, started from its executable"
    return None


def _native(meter: Meter) -> NativeMeter | None:
    """Return the copying engine as it was asked for, without other caches; None: another meter."""
    native = meter.native if isinstance(meter, FirstChoice) else meter
    if not isinstance(native, NativeMeter):
        return None
    if native.estimates:
        return native.counting_alone()  # bursts say too little of a line
    return replace(native, alternatives=(), ends=(), miss_curve=False)


def _traced(
    lines: Sequence[PythonLine], native: NativeMeter, count: Callable[[Meter], Counted]
) -> _Traced:
    """Count the lines, without traffic where the engine has no room for that."""
    library, _ = line_sampler()
    with scratch_folder() as name:
        listed = Path(name) / "traced"
        listed.write_text(
            traced_list([(line.file, line.line) for line in lines], most_events=_MOST_EVENTS),
            encoding="utf-8",
            errors="surrogateescape",
        )
        variables = {LINES_VARIABLE: name, TRACED_VARIABLE: str(listed), **SLEEPING}
        meter = replace(
            native,
            beside=(library,),
            variables=tuple(f"{key}={value}" for key, value in variables.items()),
            options=native.options | OPTION_LINES,
        )
        samples = LineSamples()
        try:
            counted = count(meter)
        except TimedOut:
            raise
        except CannotMeasure:
            if meter.without_traffic is None:
                raise
            for path in Path(name).glob("*.lines"):
                os.unlink(path)
            counted = count(meter.without_traffic)
        samples.read(Path(name))
    return _Traced(counted=counted, samples=samples)


def _joined(times: PythonLines, traced: _Traced, whole: Counted) -> PythonLines:
    """Return lines with their counts; a line that never began in that run has none."""
    of = {region.name: region for region in traced.counted.regions}
    lines = []
    for number, line in enumerate(times.lines, start=1):
        region, others = of.get(f"{LINE_MARK}{number}"), of.get(f"{OTHERS_MARK}{number}")
        counted = line if region is None else _with_counts(line, region, others, traced.samples)
        lines.append(counted)
    factors = dict(_factors(whole, traced.counted))
    return replace(
        times,
        lines=tuple(lines),
        tracing=Tracing(
            events=sum(share.samples for share in traced.samples.of.values()), factors=factors
        ),
        cautions=(
            *times.cautions,
            *_doubts(factors, whole, traced.counted),
            *_doubts_of_threads(traced.counted, of.get(OTHERS_MARK)),
        ),
    )


def _with_counts(
    line: PythonLine, region: RegionCounts, others: RegionCounts | None, samples: LineSamples
) -> PythonLine:
    share = samples.of.get((line.file, line.line))
    return replace(
        line,
        executions=None if share is None else share.samples,
        counts=region.counts,
        # What passes between core and L1 is the interpreter's most of all, and its tracing's.
        traffic=tuple(moved for moved in region.traffic if moved.level != "l1"),
        other_threads_flop=0 if others is None else others.counts.work_flop,
    )


def _factors(whole: Counted, traced: Counted) -> Iterator[tuple[str, float]]:
    """Yield by what and by how much the traced run did more."""
    pairs = [
        ("instructions", whole.counts.instructions, traced.counts.instructions),
        ("flop", whole.counts.work_flop, traced.counts.work_flop),
    ]
    levels = {moved.level: moved.known_bytes for moved in traced.traffic}
    pairs += [
        (moved.level, moved.known_bytes, levels[moved.level])
        for moved in whole.traffic
        if moved.level in levels
    ]
    for name, plain, with_lines in pairs:
        if plain and with_lines:
            yield name, with_lines / plain


def _doubts(factors: dict[str, float], whole: Counted, traced: Counted) -> Iterator[Caution]:
    if abs(factors.get("flop", 1.0) - 1) > _ALIKE:
        yield Caution(
            "lines-differ",
            f"the run in which lines were counted did {traced.counts.work_flop:.4g} flop, and the "
            f"run without {whole.counts.work_flop:.4g}",
            "its runs differ: fix random seeds and the number of threads",
        )
    moved = next((part for part in whole.traffic if part.level == "dram"), None)
    factor = factors.get("dram")
    if (
        moved is not None
        and factor is not None
        and moved.known_bytes > _LEAST_BYTES
        and abs(factor - 1) > _LITTLE_TRAFFIC
    ):
        yield Caution(
            "line-traffic-traced",
            f"telling lines changed the traffic at DRAM by a factor of {factor:.3g}",
            "trust the traffic of lines no better than that; the whole program's is not affected",
        )


def _doubts_of_threads(traced: Counted, apart: RegionCounts | None) -> Iterator[Caution]:
    """Yield what is not known of the work of threads without Python frames."""
    late = next((one for one in traced.cautions if one.code == "threads-late"), None)
    if late is not None and late.effect is not None:
        yield Caution(
            "line-threads-late",
            f"for {late.effect:.2%} of the CPU time it is not known in which line the work of "
            "threads without Python frames belongs: they did not wait when another line began",
            "use OMP_NUM_THREADS=1 (or OPENBLAS_NUM_THREADS=1) to have it in the right line",
        )
    if apart is not None and apart.counts.work_flop > _ALIKE * traced.counts.work_flop:
        share = apart.counts.work_flop / traced.counts.work_flop
        yield Caution(
            "line-threads-apart",
            f"{share:.0%} of the flop are in no line: threads without Python frames executed them "
            "while no line, or more than one, of its own files was executed",
            "use OMP_NUM_THREADS=1 (or OPENBLAS_NUM_THREADS=1) to have them in the lines that "
            "call for them",
        )


def _not_counted(times: PythonLines, reason: str, remedy: str) -> PythonLines:
    remedy = f"{remedy}; the times of lines do not need it"
    doubt = Caution(_CODE, f"the work of lines is not known: {reason}", remedy)
    return replace(times, cautions=(*times.cautions, doubt))
