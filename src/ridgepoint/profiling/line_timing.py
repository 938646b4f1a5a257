"""The time per line of a Python program, from native runs beside the timed ones."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.lines import PythonLine, PythonLines
from ridgepoint.core.timed import Timed
from ridgepoint.host.run import Run
from ridgepoint.host.scratch import scratch_folder
from ridgepoint.kept.source_files import unchanged_lines
from ridgepoint.meters.native.refusals import preload
from ridgepoint.meters.python_lines import LINES_VARIABLE, line_sampler
from ridgepoint.meters.python_lines.samples import LineSamples, LineShare
from ridgepoint.meters.sampling.shares import interval
from ridgepoint.profiling.repeats import MAX_RUNS
from ridgepoint.profiling.timing import Native

_ENOUGH_SAMPLES = 5000  # a line with a fiftieth of the time then has a hundred
_BUDGET_S = 10.0
_UNSAMPLED = 0.10
_LEAST_CPU_S = 0.05
_LONGEST_TEXT = 200

_WHY_REFUSED = {
    "other-version": (
        "it was run by another version of Python than 3.11 to 3.14",
        "run it with CPython 3.11 to 3.14",
    ),
    "free-threaded": (
        "it was run by a free-threaded Python, whose frames are laid out in another way",
        "run it with a Python that has the global interpreter lock",
    ),
    "no-timer": (
        "the system allows its threads no timer of their CPU time",
        "raise the limit of pending signals (ulimit -i), or run it outside of the sandbox",
    ),
}


def time_lines(native: Native, timed: Timed) -> PythonLines:
    """Return the time in each line of the user's Python files.

    Parameters
    ----------
    native : Native
    timed : Timed
        The timed runs, whose CPU time is divided: neither sampling nor a neighbour on the same
        core counts.

    Raises
    ------
    MeterUnavailable
        If the sampler cannot be built.
    CannotMeasure
        If it cannot be preloaded, or what it wrote is damaged.
    ProgramFailed, TimedOut
        If a sampled run fails.
    """
    library, built_cautions = line_sampler(report=lambda what: native.report(what, False))
    began = datetime.now(UTC).isoformat()  # files that change from now on are not quoted
    samples, runs = LineSamples(), list[Run]()
    elapsed_s = 0.0
    while not runs or (
        samples.processes
        and samples.samples < _ENOUGH_SAMPLES
        and len(runs) < (native.repeat or MAX_RUNS)
        and elapsed_s + timed.runtime_s.median < _BUDGET_S
    ):
        native.report(f"sampling lines, run {len(runs) + 1}", False)
        with scratch_folder() as name:
            variables = {LINES_VARIABLE: name, "LD_PRELOAD": preload(library)}
            runs.append(native.again(variables)[0])
            samples.read(Path(name))
        elapsed_s += runs[-1].wall_s
    return _line_times(samples, runs, timed, began, built_cautions)


def _line_times(
    samples: LineSamples,
    runs: list[Run],
    timed: Timed,
    began: str,
    built_cautions: tuple[Caution, ...],
) -> PythonLines:
    cpu_s = sum(run.cpu_s for run in runs)
    scale = timed.cpu_s.median / cpu_s if cpu_s and timed.cpu_s.median else 1 / len(runs)
    error = (timed.cpu_s.relative_spread or 0.0) / 2
    texts = unchanged_lines((os.path.abspath(file) for file, _ in samples.of), since=began)
    lines = [
        _line_time(key, share, texts, samples.samples, scale=scale, error=error)
        for key, share in samples.of.items()
    ]
    unsampled_s = max(cpu_s - samples.cpu_s, 0.0) * scale
    return PythonLines(
        runs=len(runs),
        samples=samples.samples,
        lines=tuple(sorted(lines, key=lambda line: (-line.cpu_s.median, line.file, line.line))),
        outside_s=samples.outside.cpu_s * scale,
        unlocated_s=samples.unlocated.cpu_s * scale,
        unsampled_s=unsampled_s,
        cautions=(*built_cautions, *_doubts(samples, unsampled_s, timed)),
    )


def _line_time(
    key: tuple[str, int],
    share: LineShare,
    texts: dict[str, tuple[str, ...]],
    samples: int,
    *,
    scale: float,
    error: float,
) -> PythonLine:
    """Return the time of one line; its share of the samples has an error of its own."""
    file, line = os.path.abspath(key[0]), key[1]
    low, high = interval(share.samples, samples)
    middle = share.samples / samples
    time_s = share.cpu_s * scale
    ends = (
        time_s * max(1 - math.hypot(1 - low / middle, error), 0.0),
        time_s * (1 + math.hypot(high / middle - 1, error)),
    )
    text = texts.get(file, ())[line - 1 : line]
    return PythonLine(
        file=file,
        line=line,
        text=text[0].strip()[:_LONGEST_TEXT] if text else None,
        samples=share.samples,
        cpu_s=Estimate([time_s], interval=ends),
        interpreter_s=share.interpreter_s * scale,
        native_s=share.native_s * scale,
        system_s=share.system_s * scale,
        other_threads_s=share.other_threads_s * scale,
    )


def _doubts(samples: LineSamples, unsampled_s: float, timed: Timed) -> Iterator[Caution]:
    """Yield what speaks against the samples: processes without any, lines without room."""
    for refused, n in samples.refused.items():
        reason, remedy = _WHY_REFUSED[refused]
        what = "the program has" if not samples.processes else f"{n} of its processes have"
        yield Caution("lines-unknown", f"{what} no time per line: {reason}", remedy)
    if not samples.processes and not samples.refused:
        yield Caution(
            "lines-unknown",
            "the program has no time per line: it started no Python interpreter that a library "
            "can be preloaded into",
            "name a Python program: ridgepoint run --lines -- python script.py",
        )
        return
    if samples.without_room:
        yield Caution(
            "lines-without-room",
            f"{samples.without_room} samples were in more lines than there is room for",
            "their time is that of unknown lines",
        )
    cpu_s = timed.cpu_s.median
    if cpu_s > _LEAST_CPU_S and unsampled_s > _UNSAMPLED * cpu_s and samples.processes:
        yield Caution(
            "line-samples-missing",
            f"no sample stands for {unsampled_s / cpu_s:.0%} of the CPU time: other programs that "
            "it starts, or threads and processes that end within milliseconds",
            "trust the shares of lines no more than the samples cover",
        )
