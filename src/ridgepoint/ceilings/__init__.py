"""Measure a machine: run the kernels, keep every sample, say how sure each ceiling is."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ridgepoint import __version__
from ridgepoint.caution import Caution
from ridgepoint.ceilings.plan import Task, plan
from ridgepoint.ceilings.pool import Job, Pool
from ridgepoint.ceilings.verify import why_refused
from ridgepoint.errors import CannotMeasure
from ridgepoint.estimate import Estimate
from ridgepoint.host import (
    System,
    data_caches,
    fingerprint,
    hostname,
    usable_cpus,
)
from ridgepoint.jit import Compiler, Function
from ridgepoint.kernels.clock import clock
from ridgepoint.kernels.kernel import ENTRY, Kernel
from ridgepoint.kernels.peak import WORKING_BYTES
from ridgepoint.machine import Ceiling, Host, Machine
from ridgepoint.resources import resource_named
from ridgepoint.units import format_size

ROUNDS = 3
"""Times that the whole set is gone through, so that a slow drift shows in every interval."""

SAMPLES_PER_ROUND = 5
_SAMPLE_S = 0.006
_CALIBRATION_S = 0.002
_PILOTS = 3
_UNSTABLE = 0.05
_FREQUENCY_MOVED = 0.02

Progress = Callable[[str, int, int], None]
"""Called with what is being done, steps done, and steps in all."""


@dataclass(slots=True)
class _Trial:
    """A task under way: the kernel that was chosen for it, and its samples."""

    task: Task
    kernel: Kernel
    job: Job
    rates: list[float]


def characterize(*, progress: Progress | None = None, system: System | None = None) -> Machine:
    """Measure this machine's ceilings.

    Parameters
    ----------
    progress : callable or None
    system : System or None
        The host's description; None: this host's.

    Returns
    -------
    Machine
        Every ceiling on one core and on all, with its samples.

    Raises
    ------
    CannotMeasure
        If the caches are not known, or no kernel can run at all.

    Notes
    -----
    Each sample is one run of a kernel of about 6 ms on pinned threads that start together; the
    rate is all threads' work over the time from the first start to the last end. The whole set is
    gone through three times, each time with one run that is not counted (it warms the caches and
    lets the clock settle) and five that are.
    """
    report = progress or (lambda what, done, total: None)
    system = system or System()
    started = time.perf_counter()
    cpus = usable_cpus()
    caches = data_caches(system.caches)
    _require_memory(system, caches[max(caches)].size_bytes)
    compiler = Compiler()
    tasks = plan(
        caches,
        cores=len(cpus),
        instances=system.cache_instances(caches[max(caches)]),
        has=compiler.has,
    )
    steps = len(tasks) * (ROUNDS + 1)
    code: dict[str, Function] = {}
    trials: list[_Trial] = []
    refused: list[Ceiling] = []
    # The last CPU first: interrupts prefer the first.
    with Pool(cpus[::-1], compiler) as pool:
        core_clock = _calibrate_clock(pool, compiler)
        for index, task in enumerate(tasks):
            report(f"preparing {task.resource} {task.name}", index, steps)
            found = _choose(task, pool, compiler, code)
            if isinstance(found, Caution):
                refused.append(_ceiling(task, None, (found,)))
            else:
                trials.append(found)
        done = len(tasks)
        for number in range(ROUNDS):
            _sample(core_clock, pool)
            for trial in trials:
                report(f"round {number + 1} of {ROUNDS}: {trial.task.resource}", done, steps)
                _sample(trial, pool)
                done += 1
    report("done", steps, steps)
    frequency = Estimate(core_clock.rates)
    return Machine(
        name=hostname(),
        host=Host(
            cpu=system.cpu,
            microarchitecture=compiler.microarchitecture,
            cores=len(cpus),
            frequency_hz=frequency.median,
            virtualized=system.virtualized,
            memory_bytes=system.memory_bytes,
        ),
        caches=system.caches,
        ceilings=(*(_measured(trial) for trial in trials), *refused),
        cautions=_clock_cautions(frequency),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        elapsed_s=time.perf_counter() - started,
        fingerprint=fingerprint(system, __version__),
    )


def _require_memory(system: System, last_cache_bytes: int) -> None:
    available = system.available_bytes
    needed = 12 * last_cache_bytes  # 4 for one thread, 4 for all, and as much again to breathe
    if available is not None and available < needed:
        raise CannotMeasure(
            "cannot measure the bandwidth of main memory",
            reason=f"{available / 1e6:.0f} MB are free and {needed / 1e6:.0f} MB are needed",
            remedy="free some memory, or use a measured machine: --machine FILE",
        )


def _job(task: Task, kernel: Kernel, function: Function, repeats: int) -> Job:
    return Job(
        function=function,
        size_bytes=task.size_bytes(kernel),
        extent_bytes=task.extent_bytes,
        repeats=repeats,
        operands=kernel.operands,
        precision=kernel.claim.precision,
    )


def _calibrated(job: Job, pool: Pool, *, threads: int) -> tuple[Job, float]:
    """Return the job with repeats for one sample's time, and the seconds of one repeat."""
    repeats = 1
    while True:
        job = replace(job, repeats=repeats)
        seconds = pool.run(job, threads=threads)
        if seconds >= _CALIBRATION_S:
            break
        repeats = int(repeats * max(2.0, 1.2 * _CALIBRATION_S / max(seconds, 1e-7)))
    # The best of some: a candidate must not lose because it was disturbed.
    per_repeat = min(pool.run(job, threads=threads) for _ in range(_PILOTS)) / repeats
    return replace(job, repeats=max(1, round(_SAMPLE_S / per_repeat))), per_repeat


def _choose(
    task: Task, pool: Pool, compiler: Compiler, code: dict[str, Function]
) -> _Trial | Caution:
    """Return the fastest candidate of a task, or why there is none."""
    best: tuple[float, _Trial] | None = None
    refusal = "it has no candidate on this CPU"
    for kernel in task.candidates:
        function = code.get(kernel.ir)
        if function is None:
            function = code[kernel.ir] = compiler.compile(kernel.ir, ENTRY)
        reason = why_refused(function.machine_code, kernel.claim)
        if reason is not None:
            refusal = reason
            continue
        job, per_repeat = _calibrated(_job(task, kernel, function, 1), pool, threads=task.threads)
        rate = task.work(kernel) / per_repeat
        if best is None or rate > best[0]:
            best = (rate, _Trial(task=task, kernel=kernel, job=job, rates=[]))
    if best is None:
        return Caution(
            "kernel-refused",
            f"the machine code of {task.resource} {task.name} is not what it claims: {refusal}",
            "this ceiling is unknown here; report it with the output of 'ridgepoint doctor'",
        )
    return best[1]


def _calibrate_clock(pool: Pool, compiler: Compiler) -> _Trial:
    kernel = clock()
    task = Task(
        resource="clock", name="clock", threads=1, candidates=(kernel,), extent_bytes=WORKING_BYTES
    )
    trial = _choose(task, pool, compiler, {})
    if isinstance(trial, Caution):
        raise CannotMeasure("cannot measure this machine", reason=trial.seen, remedy=trial.remedy)
    return trial


def _sample(trial: _Trial, pool: Pool) -> None:
    """Take one round's samples of a trial, after one run that is not counted."""
    threads, work = trial.task.threads, trial.task.work(trial.kernel) * trial.job.repeats
    pool.run(trial.job, threads=threads)
    for _ in range(SAMPLES_PER_ROUND):
        trial.rates.append(threads * work / pool.run(trial.job, threads=threads))


def _measured(trial: _Trial) -> Ceiling:
    rate = Estimate(trial.rates)
    spread = rate.relative_spread
    unstable = spread is not None and spread > _UNSTABLE
    caution = Caution(
        "unstable",
        f"the 95 % interval is {spread or 0:.0%} of the median (n = {rate.n})",
        "measure again on a quiet machine",
    )
    width = trial.kernel.claim.width_bits
    detail = f"{width}-bit, {format_size(trial.job.size_bytes * trial.kernel.streams)} per core"
    return _ceiling(
        trial.task,
        rate,
        (caution,) if unstable else (),
        detail=detail if trial.task.shares else None,
    )


def _ceiling(
    task: Task, rate: Estimate | None, cautions: tuple[Caution, ...], detail: str | None = None
) -> Ceiling:
    read_share, write_share = task.shares or (None, None)
    return Ceiling(
        resource=task.resource,
        name=task.name,
        threads=task.threads,
        unit=f"{resource_named(task.resource).unit}/s",
        rate=rate,
        read_share=read_share,
        write_share=write_share,
        cautions=cautions,
        detail=detail,
    )


def _clock_cautions(frequency: Estimate) -> tuple[Caution, ...]:
    low, high = statistics.quantiles(frequency.samples, n=10)[0::8]
    if (high - low) / frequency.median <= _FREQUENCY_MOVED:
        return ()
    return (
        Caution(
            "frequency-moved",
            f"the core clock went from {low / 1e9:.2f} to {high / 1e9:.2f} GHz meanwhile",
            "fix the frequency governor, or let the machine cool and rest, and measure again",
        ),
    )
