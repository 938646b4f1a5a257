"""Take the samples of all ceilings within a budget: the most important first, then all in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ridgepoint.ceilings.places import Place
from ridgepoint.ceilings.plan import Task
from ridgepoint.ceilings.pool import Pool
from ridgepoint.ceilings.trial import READER, Codes, Contest, prepare
from ridgepoint.ceilings.worker import Job
from ridgepoint.core.caution import Caution
from ridgepoint.published.theory import Theory

Progress = Callable[[str, int, int], None]
"""Called with what is being done, steps done, and steps in all."""

Clock = Callable[[], float]
"""Seconds since some moment."""

_TOUCHED_BYTES = 32 << 20
"""With which it is found how fast memory is had: that of a virtual machine that nobody used before
takes ten times as long."""

_PREPARING_SHARE = 0.7
"""Of the budget, until which ceilings are prepared: without samples they are none."""

_STEPS = 1000
"""Of the progress: thousandths of the budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """Extent of a machine's measurement.

    Parameters
    ----------
    rounds : int
        Number of passes through the whole set, with one sample of each ceiling per pass: a slow
        drift then shows in every interval.
    first_rounds : int
        Rounds for ceilings that bound most programs, before anything else is prepared.
    curve_rounds : int
        Rounds of latency over size before the ceilings are measured; as many follow at the end.
    sample_s : float
        Time of one sample.
    budget_s : float
        Time after which nothing begins: no sample, and no preparation of a ceiling.
    """

    rounds: int
    first_rounds: int
    curve_rounds: int
    sample_s: float
    budget_s: float


THOROUGH = Effort(rounds=25, first_rounds=6, curve_rounds=5, sample_s=0.001, budget_s=26.0)
QUICK = Effort(rounds=9, first_rounds=7, curve_rounds=2, sample_s=0.0005, budget_s=4.2)


@dataclass(slots=True, kw_only=True)
class Run:
    """The contests of all tasks, from preparing to the last sample.

    Parameters
    ----------
    pool : Pool
    codes : Codes
    effort : Effort
    theory : Theory or None
        Theory of this CPU: a ceiling that reaches it need not be measured again.
    report : callable
    clock : callable
        Clock for the budget.
    started : float
        Time of the start, by `clock`.
    refused : list of (Task, Caution)
        Tasks without a rate, and why.
    contests : list of Contest
        Contests of all other tasks.
    touched_bytes_per_s : float
        Rate at which a core gets untouched memory; 0 before `touch`.
    """

    pool: Pool
    codes: Codes
    effort: Effort
    theory: Theory | None
    report: Progress
    clock: Clock
    started: float
    refused: list[tuple[Task, Caution]] = field(default_factory=list)
    contests: list[Contest] = field(default_factory=list)
    touched_bytes_per_s: float = 0.0

    def has_time(self, share: float = 1.0) -> bool:
        """Return whether less than a share of the budget has passed."""
        return self.clock() - self.started < share * self.effort.budget_s

    def tell(self, what: str) -> None:
        """Report what is being done."""
        done = (self.clock() - self.started) / self.effort.budget_s
        self.report(what, min(int(done * _STEPS), _STEPS), _STEPS)

    def touch(self, place: Place) -> None:
        """Measure how fast a core gets memory that it has not touched."""
        begin = self.clock()
        probe = Job(
            function=self.codes.function(READER),
            size_bytes=0,
            extent_bytes=_TOUCHED_BYTES,
            repeats=1,
        )
        self.pool.prepare(probe, cpus=place.cpus)
        self.touched_bytes_per_s = _TOUCHED_BYTES / max(self.clock() - begin, 1e-6)

    def touched_in(self, share: float, *, most: int | None = None) -> int:
        """Return how many bytes a core can touch in a share of the budget, `most` at most."""
        size = int(self.touched_bytes_per_s * share * self.effort.budget_s)
        return size if most is None else min(size, most)

    def measure(self, tasks: Sequence[Task]) -> None:
        """Measure what bounds most programs first, then all."""
        first = sorted((task for task in tasks if task.essential), key=_importance)
        self._prepare(first)
        # Some of them may have been refused.
        n_first, done = len(self.contests), self.effort.first_rounds
        self._take(done, self.contests)
        self._prepare([task for task in tasks if not task.essential])
        # Those of the first rounds wait until the others have as many samples.
        self._take(done, self.contests[n_first:])
        self._take(self.effort.rounds - done, self.contests)
        self._again()
        unmeasured = [contest for contest in self.contests if not contest.best.samples]
        self.refused += [(contest.task, self._no_time()) for contest in unmeasured]
        measured = [contest for contest in self.contests if contest.best.samples]
        # Within a resource, readers want them as they were planned, and not as they mattered.
        order = {id(task): index for index, task in enumerate(tasks)}
        self.contests = sorted(measured, key=lambda contest: order[id(contest.task)])

    def _prepare(self, tasks: Sequence[Task]) -> None:
        """Have a contest for each task that can be measured while there is time."""
        for task in tasks:
            if task.refusal is not None:
                self.refused.append((task, task.refusal))
                continue
            if not self.has_time(_PREPARING_SHARE):
                self.refused.append((task, self._no_time()))
                continue
            self.tell(f"preparing {task.resource} {task.name}")
            figure = None if self.theory is None else self.theory.per_cycle(*task.key)
            prepared = prepare(
                task, self.pool, self.codes, sample_s=self.effort.sample_s, figure=figure
            )
            if isinstance(prepared, Caution):
                self.refused.append((task, prepared))
            else:
                self.contests.append(prepared)

    def _take(self, rounds: int, contests: Sequence[Contest]) -> None:
        """Take a sample of some contests, round by round, while there is time."""
        for number in range(rounds):
            for contest in contests:
                if not self.has_time():
                    return
                self.tell(f"round {number + 1} of {rounds}: {contest.task.resource}")
                contest.take(self.pool)

    def _again(self) -> None:
        """Take further samples of ceilings that are not settled, while there is time."""
        for _ in range(self.effort.rounds):
            for contest in self.contests:
                if contest.best.samples and contest.best.judged.is_settled:
                    continue
                if not self.has_time():
                    return
                self.tell(f"again, because it was disturbed: {contest.task.resource}")
                contest.take(self.pool)

    def _no_time(self) -> Caution:
        return Caution(
            "no-time",
            f"the time limit of {self.effort.budget_s:.0f} s ended before this ceiling's turn",
            "measure this ceiling alone ('ridgepoint machine --explain' with its name), or "
            "when the machine is quiet",
        )


def _importance(task: Task) -> tuple[bool, bool, bool]:
    """Return the order of what is prepared first: the machine, one core of it, and its memory."""
    return task.place.part is not None, len(task.place.cpus) > 1, task.shares is None
