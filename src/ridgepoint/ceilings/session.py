"""One measurement of ceilings under way: what is measured, where, and its samples."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ridgepoint.caution import Caution
from ridgepoint.ceilings.driver import CLOCK, PROBE, STEADY_CLOCK
from ridgepoint.ceilings.places import Place, places
from ridgepoint.ceilings.plan import Task, plan
from ridgepoint.ceilings.pool import Pool
from ridgepoint.ceilings.trial import READER, Codes, Contest, Trial, prepare
from ridgepoint.errors import CannotMeasure
from ridgepoint.host import Activity, System, data_caches, usable_cpus
from ridgepoint.jit import Compiler
from ridgepoint.kernels.isa import Isa
from ridgepoint.machine import Cache
from ridgepoint.theory import Theory

Progress = Callable[[str, int, int], None]
"""Called with what is being done, steps done, and steps in all."""

_MEMORY_SHARE = 0.7
"""Of the memory that can be had: the rest is the program's, and everyone else's."""

_PREPARING = 3
"""Steps that preparing a ceiling counts for in the progress; a sample counts for one."""


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


THOROUGH = Effort(rounds=25, fewest_rounds=8, sample_s=0.001, budget_s=25.0)
QUICK = Effort(rounds=9, fewest_rounds=7, sample_s=0.0005, budget_s=3.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a session measured.

    Parameters
    ----------
    pool : Pool
        Ended; it still tells of its buffers.
    contests : list of Contest
        Of each task, with the samples of the best candidate.
    refused : list of (Task, Caution)
        Tasks without a rate, and why.
    before, after : Activity
        Of the host's CPUs.
    """

    pool: Pool
    contests: list[Contest]
    refused: list[tuple[Task, Caution]]
    before: Activity
    after: Activity

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
    """Return every ceiling that this host can be asked for.

    Parameters
    ----------
    system : System
    compiler : Compiler
    caches : sequence of Cache
        As the host describes them, or as the user does; empty: unknown.
    """
    isa = Isa(
        architecture=compiler.architecture, has=compiler.has, vector_bits=compiler.vector_bits
    )
    where = places(system.topology, limit=system.cpu_limit)
    return plan(data_caches(caches), where, isa=isa)


def measure(
    system: System,
    compiler: Compiler,
    tasks: Sequence[Task],
    *,
    effort: Effort,
    theory: Theory | None = None,
    report: Progress | None = None,
) -> Outcome:
    """Measure ceilings of this host.

    Parameters
    ----------
    system : System
    compiler : Compiler
    tasks : sequence of Task
    effort : Effort
    theory : Theory or None
        Of this CPU: what reaches it need not be measured again.
    report : callable or None

    Raises
    ------
    CannotMeasure
        If no kernel can run at all.
    """
    started = time.perf_counter()
    before = system.activity()
    clocks = (CLOCK, STEADY_CLOCK, PROBE)
    codes = Codes(compiler, [*clocks, READER, *(k for task in tasks for k in task.candidates)])
    if refusal := next(filter(None, map(codes.why_refused, clocks)), None):
        raise CannotMeasure(
            "cannot measure this machine",
            reason=refusal,
            remedy="use a published or measured machine: --machine FILE",
        )
    affordable, refused = _affordable(tasks, system.available_bytes)
    kinds = tuple(system.topology.kinds.values())
    with Pool(usable_cpus(), compiler, kinds=kinds) as pool:
        affordable = _on_quiet_cores(affordable, pool)
        run = _Run(
            pool=pool,
            codes=codes,
            effort=effort,
            theory=theory,
            report=report or (lambda what, done, total: None),
            refused=refused,
        )
        run.prepare(affordable)
        run.take(until=started + effort.budget_s)
    return Outcome(
        pool=pool,
        contests=run.contests,
        refused=run.refused,
        before=before,
        after=system.activity(),
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
    arranged: dict[tuple[int, object, int], int] = {}
    for task in sorted(tasks, key=lambda task: task.extent_bytes):
        longer, more = dict(streamed), dict(arranged)
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
            refused.append((task, Caution("no-memory", seen, remedy)))
        else:
            streamed, arranged = longer, more
    without = {id(task) for task, _ in refused}
    return [task for task in tasks if id(task) not in without], refused


@dataclass(slots=True, kw_only=True)
class _Run:
    """The contests of all tasks, from preparing to the last sample."""

    pool: Pool
    codes: Codes
    effort: Effort
    theory: Theory | None
    report: Progress
    refused: list[tuple[Task, Caution]]
    contests: list[Contest] = field(default_factory=list)
    steps: int = 1

    def prepare(self, tasks: Sequence[Task]) -> None:
        """Have a contest for each task that can be measured."""
        self.steps = max(1, len(tasks) * (self.effort.rounds + _PREPARING))
        for index, task in enumerate(tasks):
            what = f"preparing {task.resource} {task.name}"
            self.report(what, _PREPARING * index, self.steps)
            figure = None if self.theory is None else self.theory.per_cycle(*task.key)
            found = prepare(
                task, self.pool, self.codes, sample_s=self.effort.sample_s, figure=figure
            )
            if isinstance(found, Caution):
                self.refused.append((task, found))
            else:
                self.contests.append(found)

    def take(self, *, until: float) -> None:
        """Take every sample, round by round; then those again that are not settled."""
        effort, n = self.effort, len(self.contests)
        for number in range(effort.rounds):
            if number >= effort.fewest_rounds and time.perf_counter() > until:
                return
            for index, contest in enumerate(self.contests):
                what = f"round {number + 1} of {effort.rounds}: {contest.task.resource}"
                self.report(what, (number + _PREPARING) * n + index, self.steps)
                contest.take(self.pool)
        for _ in range(effort.rounds):
            for contest in self.contests:
                if contest.best.judged.is_settled:
                    continue
                if time.perf_counter() > until:
                    return
                what = f"again, since it was disturbed: {contest.task.resource}"
                self.report(what, self.steps, self.steps)
                contest.take(self.pool)
