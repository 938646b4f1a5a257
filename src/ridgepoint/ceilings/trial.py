"""One ceiling under way: a kernel for it, calibrated, and its samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ridgepoint.caution import Caution
from ridgepoint.ceilings.plan import Task
from ridgepoint.ceilings.pool import Job, Pool
from ridgepoint.ceilings.samples import Sample, judge
from ridgepoint.ceilings.verify import why_refused
from ridgepoint.jit import Compiler, Function
from ridgepoint.kernels.kernel import ENTRY, Kernel

SAMPLES_PER_ROUND = 5
_SAMPLE_S = 0.006
_CALIBRATION_S = 0.002


class Codes:
    """Compiled kernels: each is compiled once, however many levels and threads use it.

    Parameters
    ----------
    compiler : Compiler
    """

    def __init__(self, compiler: Compiler) -> None:
        self._compiler = compiler
        self._known: dict[str, Function] = {}

    def of(self, kernel: Kernel) -> Function:
        """Return a kernel's function in this process."""
        if kernel.ir not in self._known:
            self._known[kernel.ir] = self._compiler.compile(kernel.ir, ENTRY)
        return self._known[kernel.ir]


@dataclass(slots=True)
class Trial:
    """A task with a kernel that may serve it.

    Parameters
    ----------
    task : Task
    kernel : Kernel
    job : Job
        With repeats for one sample's time.
    samples : list of Sample
    """

    task: Task
    kernel: Kernel
    job: Job
    samples: list[Sample] = field(default_factory=list)

    def take(self, pool: Pool) -> None:
        """Take one round's samples, after one run that is not counted.

        That run warms the caches and lets the clock settle.
        """
        work = self.task.threads * self.task.work(self.kernel) * self.job.repeats
        pool.run(self.job, threads=self.task.threads)
        for _ in range(SAMPLES_PER_ROUND):
            timing = pool.run(self.job, threads=self.task.threads)
            self.samples.append(Sample(rate=work / timing.seconds, waited=timing.waited))


def prepare(task: Task, pool: Pool, codes: Codes) -> list[Trial] | Caution:
    """Return a trial for each candidate of a task, or why there is none."""
    trials = []
    refusal = "it has no candidate on this CPU"
    for kernel in task.candidates:
        function = codes.of(kernel)
        reason = why_refused(function.machine_code, kernel.claim)
        if reason is not None:
            refusal = reason
            continue
        job = _calibrated(_job(task, kernel, function), pool, threads=task.threads)
        trials.append(Trial(task=task, kernel=kernel, job=job))
    return trials or Caution(
        "kernel-refused",
        f"the machine code of {task.resource} {task.name} is not what it claims: {refusal}",
        "this ceiling is unknown here; report it with the output of 'ridgepoint doctor'",
    )


def fastest(trials: Sequence[Trial]) -> Trial:
    """Return the trial that reached most in what it has sampled so far."""
    return max(trials, key=lambda trial: judge(trial.samples).undisturbed.median)


def _job(task: Task, kernel: Kernel, function: Function) -> Job:
    return Job(
        function=function,
        size_bytes=task.size_bytes(kernel),
        extent_bytes=task.extent_bytes,
        repeats=1,
        operands=kernel.operands,
        precision=kernel.claim.precision,
    )


def _calibrated(job: Job, pool: Pool, *, threads: int) -> Job:
    """Return the job with repeats for one sample's time."""
    repeats = 1
    while True:
        seconds = pool.run(replace(job, repeats=repeats), threads=threads).seconds
        if seconds >= _CALIBRATION_S:
            # Once more: the first run also brings the data in.
            again = pool.run(replace(job, repeats=repeats), threads=threads).seconds
            return replace(job, repeats=max(1, round(repeats * _SAMPLE_S / min(seconds, again))))
        repeats = int(repeats * max(2.0, 1.2 * _CALIBRATION_S / max(seconds, 1e-7)))
