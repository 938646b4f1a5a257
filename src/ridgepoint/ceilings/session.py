"""One measurement of ceilings: what is measured, where, and its samples."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ridgepoint.ceilings.driver import CLOCK, PROBE, STEADY_CLOCK
from ridgepoint.ceilings.latency import LONGEST_BYTES
from ridgepoint.ceilings.places import Place, places
from ridgepoint.ceilings.plan import Task, plan
from ridgepoint.ceilings.pool import Pool
from ridgepoint.ceilings.rounds import Clock, Effort, Progress, Run
from ridgepoint.ceilings.survey import Survey, Surveyor
from ridgepoint.ceilings.trial import READER, Codes, Contest, Trial
from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.machine import Cache
from ridgepoint.host import Activity, System, data_caches, usable_cpus
from ridgepoint.kernels.isa import Isa
from ridgepoint.kernels.jit import Compiler
from ridgepoint.kernels.latency import visit
from ridgepoint.published.theory import Theory

MEMORY_SHARE = 1 / 3
"""Of the memory that can be had: the rest is the program's, and everyone else's."""

_BUFFERS = 3
"""Of main memory on each thread, at most: one to stream over, two for random accesses."""

_TOUCHING_SHARE = 0.15
"""Of the budget, for the memory that a core streams over."""

_VISITING_SHARE = 0.05
"""Of the budget, for the memory that it visits to find the caches."""

_SURVEY_SHARE = 0.2
"""Of the budget, until which the caches are measured at first."""

_LAST_SURVEY_SHARE = 0.03
"""Of the budget, which they may take again at the end, beyond it."""

_ANY_CACHES = {
    level: Cache(
        level=level, kind="unified", size_bytes=1 << (15 + 5 * level), line_bytes=64, ways=8
    )
    for level in (1, 2, 3)
}
"""Whose kernels are compiled where the system describes no caches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The results of a session.

    Parameters
    ----------
    pool : Pool
        The ended pool, which still knows its buffers.
    contests : list of Contest
        One for each task, with the samples of the best candidate.
    refused : list of (Task, Caution)
        Tasks without a rate, and why.
    before, after : Activity
        Activity of the host's CPUs.
    survey : Survey
        Survey of the host's caches.
    """

    pool: Pool
    contests: list[Contest]
    refused: list[tuple[Task, Caution]]
    before: Activity
    after: Activity
    survey: Survey

    @property
    def trials(self) -> list[Trial]:
        """The best trial of each task."""
        return [contest.best for contest in self.contests]

    @property
    def frequencies_hz(self) -> list[float]:
        """Core clock of each round: the median right after all its samples on one core.

        A single reading takes 0.1 ms, and an interrupt in it makes it seem slow.
        """
        on_one_core = [
            trial.samples
            for trial in self.trials
            if len(trial.task.place.cpus) == 1 and trial.task.place.part is None
        ]
        rounds = (
            [sample.frequency_hz for sample in samples if sample and sample.frequency_hz]
            for samples in itertools.zip_longest(*on_one_core)
        )
        return [statistics.median(readings) for readings in rounds if readings]


def every_task(system: System, compiler: Compiler, caches: Sequence[Cache]) -> tuple[Task, ...]:
    """Return every ceiling that can be measured on this host.

    Parameters
    ----------
    system : System
    compiler : Compiler
    caches : sequence of Cache
        Caches as the host or the user describes them; empty: unknown.
    """
    where = places(system.topology, limit=system.cpu_limit)
    return plan(data_caches(caches), where, isa=_isa(compiler))


def _isa(compiler: Compiler) -> Isa:
    return Isa(
        architecture=compiler.architecture, has=compiler.has, vector_bits=compiler.vector_bits
    )


def measure(
    system: System,
    compiler: Compiler,
    wanted: Callable[[Task], bool],
    *,
    effort: Effort,
    caches: Sequence[Cache] | None = None,
    survey: Survey | None = None,
    theory: Theory | None = None,
    report: Progress | None = None,
    clock: Clock = time.perf_counter,
) -> Outcome:
    """Measure ceilings of this host.

    Parameters
    ----------
    system : System
    compiler : Compiler
    wanted : callable
        Returns whether a ceiling is wanted.
    effort : Effort
    caches : sequence of Cache or None
        Caches as the user describes them; None: as the host does.
    survey : Survey or None
        Earlier survey of the caches; None: measure them if a ceiling of theirs is wanted.
    theory : Theory or None
        Theory of this CPU: a ceiling that reaches it need not be measured again.
    report : callable or None
    clock : callable
        Clock for the budget.

    Raises
    ------
    CannotMeasure
        If no kernel can run at all.

    Notes
    -----
    The budget begins when the kernels are compiled. What bounds most programs is prepared first,
    and measured a few times, before anything else is prepared; then all is gone through, round by
    round. Before each step the clock is looked at, and no step is long: a sample in main memory
    is of a part of the buffer, buffers are as large as can be touched in time.
    """
    before = system.activity()
    clocks = (CLOCK, STEADY_CLOCK, PROBE)
    isa, where = _isa(compiler), places(system.topology, limit=system.cpu_limit)
    stated = tuple(system.caches)
    # Which kernels there are does not depend on sizes; which levels, on measurement perhaps.
    nominal = plan(data_caches(caches or stated) or _ANY_CACHES, where, isa=isa)
    asked = [task for task in nominal if wanted(task)]
    # Only x86-64 and AArch64 have the kernel that visits.
    known = isa.known_architecture
    visits = [] if known is None else [visit(architecture=known)]
    codes = Codes(
        compiler, [*clocks, READER, *visits, *(k for task in asked for k in task.candidates)]
    )
    if refusal := next(filter(None, map(codes.why_refused, clocks)), None):
        raise CannotMeasure(
            "cannot measure this machine",
            reason=refusal,
            remedy="use a machine that was published or measured elsewhere: --machine FILE",
        )
    started = clock()
    kinds = tuple(system.topology.kinds.values())
    with Pool(usable_cpus(), compiler, kinds=kinds) as pool:
        run = Run(
            pool=pool,
            codes=codes,
            effort=effort,
            theory=theory,
            report=report or (lambda what, done, total: None),
            clock=clock,
            started=started,
        )
        run.touch(where[0])
        surveyor = None
        if survey is None:
            survey = Survey(caches=tuple(stated if caches is None else caches), stated=stated)
            of_memory = any(task.shares for task in asked)
            if of_memory and visits and codes.why_refused(visits[0]) is None:
                surveyor = Surveyor(
                    pool=pool,
                    visit=codes.function(visits[0]),
                    reader=codes.function(READER),
                    places=where,
                    stated=stated,
                    given=None if caches is None else tuple(caches),
                    available_bytes=system.available_bytes,
                    longest_bytes=run.touched_in(_VISITING_SHARE, most=LONGEST_BYTES),
                    goes_on=lambda: run.has_time(_SURVEY_SHARE),
                )
                run.tell("how large the caches are")
                surveyor.take(effort.curve_rounds)
                survey = surveyor.survey
        _, most = survey.ends
        available = system.available_bytes
        tasks = plan(
            data_caches(survey.held(threads=1)),
            where,
            isa=isa,
            together=data_caches(survey.held(threads=len(usable_cpus()))),
            most=data_caches(most),
            dram_bytes=None if available is None else int(available * MEMORY_SHARE / _BUFFERS),
            touched_bytes=run.touched_in(_TOUCHING_SHARE),
        )
        affordable, run.refused = _affordable([t for t in tasks if wanted(t)], available)
        run.measure(_on_quiet_cores(affordable, pool))
        if surveyor is not None:
            surveyor.goes_on = lambda: run.has_time(1.0 + _LAST_SURVEY_SHARE)
            run.tell("how large the caches are now")
            surveyor.take(effort.curve_rounds)
            survey = surveyor.survey
    return Outcome(
        pool=pool,
        contests=run.contests,
        refused=run.refused,
        before=before,
        after=system.activity(),
        survey=survey,
    )


def _on_quiet_cores(tasks: Sequence[Task], pool: Pool) -> list[Task]:
    """Return the tasks, those that could be done on one of several cores on the quietest."""
    chosen: dict[Place, Place] = {}
    for place in {task.place: None for task in tasks}:
        if place.instead:
            quietest = pool.quietest((*place.cpus, *place.instead))
            chosen[place] = replace(place, cpus=(quietest,), instead=())
    return [replace(task, place=chosen.get(task.place, task.place)) for task in tasks]


def _affordable(
    tasks: Sequence[Task], available: int | None
) -> tuple[list[Task], list[tuple[Task, Caution]]]:
    """Return the tasks for whose buffers there is memory, and the others with the reason.

    Each thread streams over one buffer, as long as the longest that is asked of it; what a kernel
    arranges for itself comes on top.
    """
    if available is None:
        return list(tasks), []
    refused: list[tuple[Task, Caution]] = []
    streamed: dict[int, int] = {}
    arranged: dict[tuple[int, object, bool, int], int] = {}
    # What cannot be measured for another reason keeps that one, and needs nothing.
    possible = (task for task in tasks if task.refusal is None)
    for task in sorted(possible, key=lambda task: task.extent_bytes):
        longer, more = dict(streamed), dict(arranged)
        for cpu in task.place.cpus:
            for kernel in task.candidates:
                if kernel.fill is None:
                    longer[cpu] = max(longer.get(cpu, 0), task.extent_bytes)
                else:
                    own = cpu, kernel.fill, kernel.small_pages, task.extent_bytes
                    more[own] = task.extent_bytes
        needed = sum(longer.values()) + sum(more.values())
        if needed > available * MEMORY_SHARE:
            seen = (
                f"{needed / 1e6:.0f} MB are needed, but at most a third of the "
                f"{available / 1e6:.0f} MB available is used"
            )
            remedy = "free some memory, or allow more (ulimit -v, the container's limit)"
            refused.append((task, Caution("no-memory", seen, remedy)))
        else:
            streamed, arranged = longer, more
    without = {id(task) for task, _ in refused}
    return [task for task in tasks if id(task) not in without], refused
