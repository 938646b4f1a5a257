"""One ceiling under way: a kernel for it, calibrated, and its samples."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ridgepoint.ceilings.plan import DRAM_OVER_CACHES, Task
from ridgepoint.ceilings.pool import Pool
from ridgepoint.ceilings.probe import deadly
from ridgepoint.ceilings.samples import Judged, Sample, judge
from ridgepoint.ceilings.verify import why_refused
from ridgepoint.ceilings.worker import Job
from ridgepoint.core.caution import Caution
from ridgepoint.host.tiles import why_no_tiles
from ridgepoint.kernels.bandwidth import LOAD, bandwidth
from ridgepoint.kernels.jit import Compiler, Function
from ridgepoint.kernels.kernel import ENTRY, Kernel
from ridgepoint.published.theory import Figure

READER = bandwidth(LOAD, width_bits=128)
"""Brings data into a cache."""

_READINGS = 3

_FIRST_WINDOW = 4 << 20
"""Bytes, of all streams, with which the length of a sample in main memory is found."""

_LEAST_WINDOW = 1 << 20
_LONGEST_FLUSH = 20
"""Samples that it may take at most to bring what other jobs stored out of the caches."""

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
                what = f"the machine code of {kernel.name!r} does not do what it should"
                self._refusals[ir] = f"{what}: {reason}"
        tiled = [ir for ir, kernel in unique.items() if kernel.claim.tiles is not None]
        if tiled and (reason := why_no_tiles()) is not None:
            self._refusals |= dict.fromkeys(tiled, reason)
        sound = [(unique[ir], self._functions[ir]) for ir in unique if ir not in self._refusals]
        for ir, name in deadly(sound).items():
            self._refusals[ir] = f"{unique[ir].name!r} cannot be executed here: {name} ended it"

    def function(self, kernel: Kernel) -> Function:
        """Return a kernel's function in this process."""
        return self._functions[kernel.ir]

    def why_refused(self, kernel: Kernel) -> str | None:
        """Return why a kernel must not be timed, or None."""
        return self._refusals.get(kernel.ir)


@dataclass(slots=True)
class Windows:
    """Parts of a buffer in main memory, taken in turn: what comes back has left the caches.

    Parameters
    ----------
    kernel : Kernel
    extent_bytes : int
        Of the buffer.
    flush_bytes : int
        What is streamed over before each sample.
    begin : int
        Where the next window begins.
    """

    kernel: Kernel
    extent_bytes: int
    flush_bytes: int
    begin: int = 0

    def size_for(self, wanted_bytes: float) -> int:
        """Return the length of each stream for about so many bytes in all, within the buffer."""
        most = self.extent_bytes - (self.kernel.streams - 1) * self.kernel.padding_bytes
        total = min(max(wanted_bytes, _LEAST_WINDOW), most)
        quantum = self.kernel.quantum_bytes
        return max(int(total) // self.kernel.streams // quantum, 1) * quantum

    def flush(self, job: Job) -> Job:
        """Return the job over what other jobs' data is to make room for, and go on behind it."""
        return self._at_next(replace(job, size_bytes=self.size_for(self.flush_bytes)))

    def next(self, job: Job) -> Job:
        """Return the job over the next window."""
        return self._at_next(job)

    def _at_next(self, job: Job) -> Job:
        kernel = self.kernel
        length = kernel.streams * (job.size_bytes + kernel.padding_bytes)
        if self.begin + length > self.extent_bytes:
            self.begin = 0
        begin = self.begin
        # The next one's operands want to be aligned.
        self.begin += -(-length // mmap.PAGESIZE) * mmap.PAGESIZE
        return replace(job, offset_bytes=begin)


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
    windows : Windows or None
        The parts of main memory that samples take in turn; None: each takes all of its data.
    samples : list of Sample
    """

    task: Task
    kernel: Kernel
    job: Job
    figure: Figure | None = None
    windows: Windows | None = None
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
        """The second highest rate so far: noise slows down, but for a rare slip of the clock.

        0 before the first sample.
        """
        rates = sorted((sample.rate for sample in self.samples), reverse=True)
        return rates[min(1, len(rates) - 1)] if rates else 0.0

    def take(self, pool: Pool) -> None:
        """Take one sample."""
        place, job = self.task.place, self.job
        if self.windows is not None:
            # What other jobs stored would be written back in this one's time.
            pool.run(self.windows.flush(job), cpus=place.cpus)
            job = self.windows.next(job)
        timing = pool.run(job, cpus=place.cpus)
        amount = self.task.work(self.kernel, size_bytes=job.size_bytes) * job.repeats
        work = len(place.cpus) * amount
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
    reason = "no kernel for this ceiling runs on this CPU"
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
            small_pages=kernel.small_pages,
        )
        windows = None
        if task.is_windowed(kernel):
            job, windows = _windowed(job, pool, task, kernel, sample_s=sample_s)
        else:
            job = _calibrated(job, pool, cpus=task.place.cpus, sample_s=sample_s)
        if kernel.fill is not None and task.resource != "dram":
            # It visits part of its extent at a time, and slowly: what it is to find in a cache
            # must be brought there quickly, or neighbours drive the first out before the last.
            job = replace(job, warmer=codes.function(READER), warm_repeats=_READINGS)
        trials.append(Trial(task=task, kernel=kernel, job=job, figure=figure, windows=windows))
    if trials:
        return Contest(trials)
    return Caution(
        "kernel-refused",
        reason,
        "treat this ceiling as unknown here; 'ridgepoint doctor' says more",
    )


def _windowed(
    job: Job, pool: Pool, task: Task, kernel: Kernel, *, sample_s: float
) -> tuple[Job, Windows]:
    """Return the job over windows of one sample's time, and the windows."""
    share = task.extent_bytes // DRAM_OVER_CACHES
    windows = Windows(kernel=kernel, extent_bytes=task.extent_bytes, flush_bytes=share)
    first = replace(job, size_bytes=windows.size_for(_FIRST_WINDOW))
    cpus = task.place.cpus
    seconds = min(pool.run(windows.next(first), cpus=cpus).seconds for _ in range(_READINGS))
    in_a_sample = kernel.streams * first.size_bytes * sample_s / seconds
    windows.flush_bytes = min(share, int(in_a_sample * _LONGEST_FLUSH))
    return replace(job, size_bytes=windows.size_for(in_a_sample)), windows


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
