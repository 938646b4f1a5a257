"""One ceiling under way: a kernel for it, calibrated, and its samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ridgepoint.caution import Caution
from ridgepoint.ceilings.plan import Task
from ridgepoint.ceilings.pool import Job, Pool
from ridgepoint.ceilings.probe import deadly
from ridgepoint.ceilings.samples import Sample, judge
from ridgepoint.ceilings.verify import why_refused
from ridgepoint.jit import Compiler, Function
from ridgepoint.kernels.kernel import ENTRY, Kernel

SAMPLES_PER_ROUND = 5
_SAMPLE_S = 0.005
_CALIBRATION_S = 0.002


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
            reason = why_refused(self._functions[ir].machine_code, kernel.claim)
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
    reason = "no kernel for it runs on this CPU"
    for kernel in task.candidates:
        refusal = codes.why_refused(kernel)
        if refusal is not None:
            reason = refusal
            continue
        job = _calibrated(_job(task, kernel, codes.function(kernel)), pool, threads=task.threads)
        trials.append(Trial(task=task, kernel=kernel, job=job))
    return trials or Caution(
        "kernel-refused",
        reason,
        "take this ceiling as unknown here; 'ridgepoint doctor' tells more",
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
