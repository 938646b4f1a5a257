"""One ceiling under way: a kernel for it, calibrated, and its samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ridgepoint.caution import Caution
from ridgepoint.ceilings.plan import Task
from ridgepoint.ceilings.pool import Pool
from ridgepoint.ceilings.probe import deadly
from ridgepoint.ceilings.samples import Judged, Sample, judge
from ridgepoint.ceilings.verify import why_refused
from ridgepoint.ceilings.worker import Job
from ridgepoint.jit import Compiler, Function
from ridgepoint.kernels.bandwidth import LOAD, bandwidth
from ridgepoint.kernels.kernel import ENTRY, Kernel
from ridgepoint.theory import Figure

READER = bandwidth(LOAD, width_bits=128)
"""Brings data into a cache."""

_READINGS = 3

_CALIBRATION = 0.2
_WARMING = 0.2
"""Of a sample's time."""

_CONTEST_ROUNDS = 6
_PATIENT_FROM = 12
"""Samples after which a trial that is not settled waits for cores that nobody shares."""

_FEWEST_TO_COMPARE = 2
_HOPELESS = 0.8
"""Of what the best candidate reached: below it, a candidate leaves the contest at once."""


class Codes:
    """Kernels compiled and checked, each once, however many levels and threads use it.

    Parameters
    ----------
    compiler : Compiler
    kernels : iterable of Kernel
        All that will be asked for. Make this before there are threads: it forks.
    """

    def __init__(self, compiler: Compiler, kernels: Iterable[Kernel]) -> None:
        unique = {kernel.ir: kernel for kernel in kernels}
        self._functions = {
            ir: compiler.compile(ir, ENTRY, width_bits=kernel.claim.width_bits)
            for ir, kernel in unique.items()
        }
        self._refusals: dict[str, str] = {}
        for ir, kernel in unique.items():
            reason = why_refused(self._functions[ir], kernel.claim)
            if reason is not None:
                what = f"the machine code of {kernel.name!r} is not what it claims"
                self._refusals[ir] = f"{what}: {reason}"
        sound = [(unique[ir], self._functions[ir]) for ir in unique if ir not in self._refusals]
        for ir, name in deadly(sound).items():
            self._refusals[ir] = f"{unique[ir].name!r} cannot be executed here: {name} ends it"

    def function(self, kernel: Kernel) -> Function:
        """Return a kernel's function in this process."""
        return self._functions[kernel.ir]

    def why_refused(self, kernel: Kernel) -> str | None:
        """Return why a kernel must not be timed, or None."""
        return self._refusals.get(kernel.ir)


@dataclass(slots=True, eq=False)
class Trial:
    """A task with a kernel that may serve it.

    Parameters
    ----------
    task : Task
    kernel : Kernel
    job : Job
        With repeats for one sample's time.
    figure : Figure or None
        What theory says of one core and cycle; None: not known.
    samples : list of Sample
    """

    task: Task
    kernel: Kernel
    job: Job
    figure: Figure | None = None
    samples: list[Sample] = field(default_factory=list)

    @property
    def per_cycle(self) -> float | None:
        """What theory says of all its cores together; None: not known."""
        return None if self.figure is None else self.figure.value * self.task.place.cores

    @property
    def judged(self) -> Judged:
        """What the samples say."""
        return judge(self.samples, per_cycle=self.per_cycle)

    @property
    def reached(self) -> float:
        """The second highest rate so far: noise slows down, but for a rare slip of the clock."""
        rates = sorted((sample.rate for sample in self.samples), reverse=True)
        return rates[min(1, len(rates) - 1)]

    def take(self, pool: Pool) -> None:
        """Take one sample."""
        place = self.task.place
        timing = pool.run(self.job, cpus=place.cpus)
        work = len(place.cpus) * self.task.work(self.kernel) * self.job.repeats
        self.samples.append(
            Sample(
                rate=work / timing.seconds,
                waited=timing.waited,
                migrated=timing.migrated,
                frequency_hz=timing.frequency_hz,
                issue=None if place.shares_cores else timing.issue,
            )
        )
        unsettled = len(self.samples) == _PATIENT_FROM and not self.judged.is_settled
        if unsettled and not place.shares_cores:
            self.job = replace(self.job, patient=True)


@dataclass(slots=True)
class Contest:
    """The trials of one task, until the fastest is known.

    Parameters
    ----------
    trials : list of Trial
        At least one; the others are dropped as they fall behind.
    lost : list of Trial
        Those that were dropped.
    """

    trials: list[Trial]
    lost: list[Trial] = field(default_factory=list)

    @property
    def task(self) -> Task:
        """What is measured."""
        return self.trials[0].task

    @property
    def best(self) -> Trial:
        """The trial that reached most so far."""
        return max(self.trials, key=lambda trial: trial.reached)

    def take(self, pool: Pool) -> None:
        """Take one sample of each trial that is still in the contest."""
        for trial in self.trials:
            trial.take(pool)
        if len(self.trials) > 1:
            self._narrow()

    def _narrow(self) -> None:
        """Drop who cannot win: over several rounds, since a moment's disturbance is no defeat."""
        if len(self.trials[0].samples) < _FEWEST_TO_COMPARE:
            return
        if len(self.trials[0].samples) >= _CONTEST_ROUNDS:
            kept = [self.best]
        else:
            needed = _HOPELESS * self.best.reached
            kept = [trial for trial in self.trials if trial.reached >= needed]
        self.lost += [trial for trial in self.trials if trial not in kept]
        self.trials = kept


def prepare(
    task: Task, pool: Pool, codes: Codes, *, sample_s: float, figure: Figure | None
) -> Contest | Caution:
    """Return a trial for each candidate of a task, or why there is none.

    Parameters
    ----------
    task : Task
    pool : Pool
    codes : Codes
    sample_s : float
        Time of one sample.
    figure : Figure or None
        What theory says of one core and cycle; None: not known.
    """
    trials = []
    reason = "no kernel for it runs on this CPU"
    for kernel in task.candidates:
        refusal = codes.why_refused(kernel)
        if refusal is not None:
            reason = refusal
            continue
        job = Job(
            function=codes.function(kernel),
            size_bytes=task.size_bytes(kernel),
            extent_bytes=task.extent_bytes,
            repeats=1,
            operands=kernel.operands,
            precision=kernel.claim.precision,
            fill=kernel.fill,
        )
        job = _calibrated(job, pool, cpus=task.place.cpus, sample_s=sample_s)
        if kernel.fill is not None and task.resource != "dram":
            # It visits part of its extent at a time, and slowly: what it is to find in a cache
            # must be brought there quickly, or neighbours drive the first out before the last.
            job = replace(job, warmer=codes.function(READER), warm_repeats=_READINGS)
        trials.append(Trial(task=task, kernel=kernel, job=job, figure=figure))
    if trials:
        return Contest(trials)
    return Caution(
        "kernel-refused",
        reason,
        "take this ceiling as unknown here; 'ridgepoint doctor' tells more",
    )


def _calibrated(job: Job, pool: Pool, *, cpus: Sequence[int], sample_s: float) -> Job:
    """Return the job with repeats for one sample's time, and a fifth of them to warm up."""
    repeats, enough = 1, sample_s * _CALIBRATION
    while True:
        seconds = pool.run(replace(job, repeats=repeats), cpus=cpus).seconds
        if seconds >= enough:
            break
        repeats = int(repeats * max(2.0, 1.2 * enough / max(seconds, 1e-7)))
    # Once more: the first run also brings the data in.
    again = pool.run(replace(job, repeats=repeats), cpus=cpus).seconds
    repeats = max(1, round(repeats * sample_s / min(seconds, again)))
    # Once at least: the caches must be full of its own lines. Those that another job stored to
    # would be written back in this one's time.
    return replace(job, repeats=repeats, warm_repeats=max(1, round(repeats * _WARMING)))
