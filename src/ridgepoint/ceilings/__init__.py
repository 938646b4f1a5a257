"""Measure a machine: run the kernels, keep every sample, say how sure each ceiling is."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ridgepoint import __version__
from ridgepoint.caution import Caution
from ridgepoint.ceilings import doubts
from ridgepoint.ceilings.places import places
from ridgepoint.ceilings.plan import Task, plan
from ridgepoint.ceilings.pool import CLOCK, Pool
from ridgepoint.ceilings.samples import judge
from ridgepoint.ceilings.trial import Codes, Contest, Trial, prepare
from ridgepoint.errors import CannotMeasure
from ridgepoint.estimate import Estimate
from ridgepoint.host import System, fingerprint, hostname, usable_cpus
from ridgepoint.jit import Compiler
from ridgepoint.machine import Cache, Ceiling, Host, Machine
from ridgepoint.resources import resource_named
from ridgepoint.units import format_size

Progress = Callable[[str, int, int], None]
"""Called with what is being done, steps done, and steps in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long a machine is measured.

    Parameters
    ----------
    rounds : int
        Times that the whole set is gone through, one sample of each ceiling a time: a slow drift
        then shows in every interval.
    fewest_rounds : int
        However long they take: fewer samples have no interval.
    sample_s : float
        Time of one sample.
    budget_s : float
        No round begins later than this after the start.
    """

    rounds: int
    fewest_rounds: int
    sample_s: float
    budget_s: float


THOROUGH = Effort(rounds=15, fewest_rounds=6, sample_s=0.005, budget_s=22.0)
QUICK = Effort(rounds=7, fewest_rounds=6, sample_s=0.002, budget_s=3.5)


def characterize(
    *,
    progress: Progress | None = None,
    system: System | None = None,
    caches: Sequence[Cache] | None = None,
    quick: bool = False,
) -> Machine:
    """Measure this machine's ceilings.

    Parameters
    ----------
    progress : callable or None
    system : System or None
        The host's description; None: this host's.
    caches : sequence of Cache or None
        Where the host describes its caches wrongly, or not; None: as it describes them.
    quick : bool
        Only the ceilings that bound most programs, in about 5 s.

    Returns
    -------
    Machine
        Every ceiling on one core, on all, and on each part of the machine, with its samples.

    Raises
    ------
    CannotMeasure
        If no kernel can run at all.

    Notes
    -----
    Each sample is one run of a kernel of about 5 ms on pinned threads that start together; the
    rate is all threads' work over the time from the first start to the last end. The whole set is
    gone through fifteen times, one sample each, so that what drifts meanwhile shows in every
    interval. Then the ceilings of which fewer than ten samples were undisturbed, or whose
    interval is wide, are measured again, as long as 22 s have not passed.
    """
    effort = QUICK if quick else THOROUGH
    started = time.perf_counter()
    system = system or System()
    known_caches = system.caches if caches is None else tuple(caches)
    levels = {c.level: c for c in known_caches if c.kind != "instruction"}
    limit, cpus = system.cpu_limit, usable_cpus()
    compiler = Compiler()
    tasks = plan(
        dict(sorted(levels.items())),
        places(system.topology, limit=limit),
        has=compiler.has,
        quick=quick,
    )
    before = system.activity()
    codes = Codes(compiler, [CLOCK, *(k for task in tasks for k in task.candidates)])
    if (refusal := codes.why_refused(CLOCK)) is not None:
        raise CannotMeasure(
            "cannot measure this machine",
            reason=refusal,
            remedy="use a published or measured machine: --machine FILE",
        )
    tasks, refused = _affordable(tasks, system.available_bytes)
    with Pool(cpus, compiler) as pool:
        run = _Run(pool, codes, effort, progress or (lambda what, done, total: None))
        run.measure(tasks, until=started + effort.budget_s)
        ceilings = (*(_measured(trial, pool) for trial in run.trials), *run.refused, *refused)
        pinned = pool.is_pinned
    frequencies = run.frequencies_hz
    return Machine(
        name=hostname(),
        host=Host(
            cpu=system.cpu,
            microarchitecture=compiler.microarchitecture,
            cores=len(cpus) if limit is None else min(len(cpus), max(1, int(limit))),
            frequency_hz=statistics.median(frequencies) if frequencies else None,
            virtualized=system.virtualized,
            memory_bytes=system.memory_bytes,
        ),
        caches=known_caches,
        ceilings=ceilings,
        cautions=(
            *doubts.of_effort(quick=quick),
            *doubts.of_pinning(pinned=pinned),
            *doubts.of_clock(frequencies),
            *doubts.of_limit(limit, len(cpus)),
            *doubts.of_activity(before, system.activity()),
            *doubts.of_caches(levels, ceilings),
        ),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        elapsed_s=time.perf_counter() - started,
        fingerprint=fingerprint(system, __version__, quick=quick),
    )


def _affordable(
    tasks: tuple[Task, ...], available: int | None
) -> tuple[tuple[Task, ...], list[Ceiling]]:
    """Return the tasks for whose buffers there is memory, and the ceilings of the others.

    Each thread streams over one buffer, as long as the longest that is asked of it; what a kernel
    arranges for itself comes on top.
    """
    if available is None:
        return tasks, []
    kept: list[Task] = []
    refused = []
    streamed: dict[int, int] = {}
    own: dict[tuple[int, object, int], int] = {}
    for task in sorted(tasks, key=lambda task: task.extent_bytes):
        longer, more = dict(streamed), dict(own)
        for cpu in task.place.cpus:
            for kernel in task.candidates:
                if kernel.fill is None:
                    longer[cpu] = max(longer.get(cpu, 0), task.extent_bytes)
                else:
                    more[cpu, kernel.fill, task.extent_bytes] = task.extent_bytes
        needed = sum(longer.values()) + sum(more.values())
        if needed > available * _MEMORY_SHARE:
            seen = f"{needed / 1e6:.0f} MB are needed, and {available / 1e6:.0f} MB can be had"
            remedy = "free some memory, or allow more (ulimit -v, the container's limit)"
            refused.append(_ceiling(task, cautions=(Caution("no-memory", seen, remedy),)))
        else:
            streamed, own = longer, more
            kept.append(task)
    return tuple(task for task in tasks if task in kept), refused


_MEMORY_SHARE = 0.7
"""Of the memory that can be had: the rest is the program's, and everyone else's."""


class _Run:
    """One measurement of a machine under way."""

    def __init__(self, pool: Pool, codes: Codes, effort: Effort, report: Progress) -> None:
        self._pool, self._codes, self._effort, self._report = pool, codes, effort, report
        self._contests: list[Contest] = []
        self.refused: list[Ceiling] = []

    @property
    def trials(self) -> list[Trial]:
        """The best trial of each task."""
        return [contest.best for contest in self._contests]

    @property
    def frequencies_hz(self) -> list[float]:
        """Core clocks right after each sample on one core."""
        return [
            sample.frequency_hz
            for trial in self.trials
            if len(trial.task.place.cpus) == 1 and trial.task.place.part is None
            for sample in trial.samples
            if sample.frequency_hz is not None
        ]

    def measure(self, tasks: Sequence[Task], *, until: float) -> None:
        """Take every sample."""
        effort, total = self._effort, len(tasks) * (self._effort.rounds + 3)
        for index, task in enumerate(tasks):
            self._report(f"preparing {task.resource} {task.name}", 3 * index, total)
            found = prepare(task, self._pool, self._codes, sample_s=effort.sample_s)
            if isinstance(found, Caution):
                self.refused.append(_ceiling(task, cautions=(found,)))
            else:
                self._contests.append(found)
        for number in range(effort.rounds):
            if number >= effort.fewest_rounds and time.perf_counter() > until:
                return
            for index, contest in enumerate(self._contests):
                done = (number + 3) * len(tasks) + index
                self._report(
                    f"round {number + 1} of {effort.rounds}: {contest.task.resource}", done, total
                )
                contest.take(self._pool)
        for _ in range(effort.rounds):
            for contest in self._contests:
                if judge(contest.best.samples).is_settled:
                    continue
                if time.perf_counter() > until:
                    return
                what = f"again, since it was disturbed: {contest.task.resource}"
                self._report(what, total, total)
                contest.take(self._pool)


def _measured(trial: Trial, pool: Pool) -> Ceiling:
    judged = judge(trial.samples)
    return _ceiling(
        trial.task,
        rate=judged.undisturbed,
        cautions=judged.cautions,
        detail=_detail(trial, pool),
        disturbed=judged.disturbed,
        frequency_hz=judged.frequency_hz,
    )


def _detail(trial: Trial, pool: Pool) -> str | None:
    """Return what exactly ran, for memory levels."""
    task, width = trial.task, trial.kernel.claim.width_bits
    if task.shares is None:
        return None
    parts = [f"{width}-bit"] if width else []
    streams = max(trial.kernel.streams, 1)
    parts.append(f"{format_size(trial.job.size_bytes * streams)} per core")
    share = pool.huge_share(trial.job, cpus=task.place.cpus)
    if share is not None:
        parts.append("huge pages" if share > 0.9 else f"{share:.0%} on huge pages")
    return ", ".join(parts)


def _ceiling(
    task: Task,
    *,
    rate: Estimate | None = None,
    cautions: tuple[Caution, ...],
    detail: str | None = None,
    disturbed: tuple[float, ...] = (),
    frequency_hz: float | None = None,
) -> Ceiling:
    read_share, write_share = task.shares or (None, None)
    return Ceiling(
        resource=task.resource,
        name=task.name,
        threads=len(task.place.cpus),
        part=task.place.part,
        unit=f"{resource_named(task.resource).unit}/s",
        rate=rate,
        read_share=read_share,
        write_share=write_share,
        cautions=cautions,
        detail=detail,
        disturbed=disturbed,
        frequency_hz=frequency_hz,
    )
