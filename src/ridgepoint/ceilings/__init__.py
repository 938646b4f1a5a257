"""Measure a machine: run the kernels, keep every sample, say how sure each ceiling is."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime

from ridgepoint import __version__
from ridgepoint.caution import Caution
from ridgepoint.ceilings.plan import Task, plan
from ridgepoint.ceilings.pool import Pool
from ridgepoint.ceilings.samples import judge
from ridgepoint.ceilings.trial import Codes, Trial, fastest, prepare
from ridgepoint.errors import CannotMeasure
from ridgepoint.estimate import Estimate
from ridgepoint.host import System, data_caches, fingerprint, hostname, usable_cpus
from ridgepoint.jit import Compiler
from ridgepoint.kernels.clock import clock
from ridgepoint.kernels.peak import WORKING_BYTES
from ridgepoint.machine import Ceiling, Host, Machine
from ridgepoint.resources import resource_named
from ridgepoint.units import format_size

ROUNDS = 3
"""Times that the whole set is gone through, so that a slow drift shows in every interval."""

MOST_EXTRA_ROUNDS = 4
TIME_BUDGET_S = 22.0
"""No extra round begins later than this after the start."""

_FREQUENCY_MOVED = 0.02
_FEWEST_FOR_DECILES = 2

_CLOCK = Task(
    resource="clock", name="clock", threads=1, candidates=(clock(),), extent_bytes=WORKING_BYTES
)

Progress = Callable[[str, int, int], None]
"""Called with what is being done, steps done, and steps in all."""


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
    Each sample is one run of a kernel of about 5 ms on pinned threads that start together; the
    rate is all threads' work over the time from the first start to the last end. The whole set is
    gone through three times, five samples each; then the ceilings of which fewer than ten samples
    were undisturbed, or whose interval is wide, are measured again, up to four times, as long as
    22 s have not passed.
    """
    started = time.perf_counter()
    system = system or System()
    cpus = usable_cpus()
    limit = system.cpu_limit
    cores = len(cpus) if limit is None else min(len(cpus), max(1, int(limit)))
    caches = data_caches(system.caches)
    _require_memory(system, caches[max(caches)].size_bytes)
    compiler = Compiler()
    tasks = plan(
        caches,
        cores=cores,
        instances=system.cache_instances(caches[max(caches)]),
        has=compiler.has,
    )
    codes = Codes(compiler, [_CLOCK.candidates[0], *(k for task in tasks for k in task.candidates)])
    # The last CPU first: interrupts prefer the first.
    with Pool(cpus[::-1], compiler) as pool:
        core_clock = _clock_trial(pool, codes)
        trials, refused = _measure(
            tasks,
            core_clock,
            pool,
            codes,
            report=progress or (lambda what, done, total: None),
            until=started + TIME_BUDGET_S,
        )
    frequency = judge(core_clock.samples).undisturbed
    return Machine(
        name=hostname(),
        host=Host(
            cpu=system.cpu,
            microarchitecture=compiler.microarchitecture,
            cores=cores,
            frequency_hz=frequency.median,
            virtualized=system.virtualized,
            memory_bytes=system.memory_bytes,
        ),
        caches=system.caches,
        ceilings=(*(_measured(trial) for trial in trials), *refused),
        cautions=(*_clock_cautions(frequency), *_limit_cautions(limit, len(cpus))),
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


def _clock_trial(pool: Pool, codes: Codes) -> Trial:
    trials = prepare(_CLOCK, pool, codes)
    if isinstance(trials, Caution):
        raise CannotMeasure("cannot measure this machine", reason=trials.seen, remedy=trials.remedy)
    return trials[0]


def _measure(
    tasks: tuple[Task, ...],
    core_clock: Trial,
    pool: Pool,
    codes: Codes,
    *,
    report: Progress,
    until: float,
) -> tuple[list[Trial], list[Ceiling]]:
    """Return the trials with their samples, and the ceilings that cannot be measured."""
    steps = len(tasks) * (ROUNDS + 1)
    contests: list[list[Trial]] = []
    refused: list[Ceiling] = []
    for index, task in enumerate(tasks):
        report(f"preparing {task.resource} {task.name}", index, steps)
        found = prepare(task, pool, codes)
        if isinstance(found, Caution):
            refused.append(_ceiling(task, None, (found,)))
        else:
            contests.append(found)
    for number in range(ROUNDS):
        core_clock.take(pool)
        for index, contest in enumerate(contests):
            done = len(tasks) * (number + 1) + index
            report(f"round {number + 1} of {ROUNDS}: {contest[0].task.resource}", done, steps)
            for trial in contest:
                trial.take(pool)
        # After a whole round: a candidate must not lose because it was disturbed for a moment.
        contests = [[fastest(contest)] for contest in contests]
    trials = [trial for (trial,) in contests]
    for _ in range(MOST_EXTRA_ROUNDS):
        unsettled = [trial for trial in trials if not judge(trial.samples).is_settled]
        core_clock.take(pool)
        for trial in unsettled:
            if time.perf_counter() > until:
                return trials, refused
            report(f"again, since it was disturbed: {trial.task.resource}", steps, steps)
            trial.take(pool)
    return trials, refused


def _measured(trial: Trial) -> Ceiling:
    judged = judge(trial.samples)
    width = trial.kernel.claim.width_bits
    detail = f"{width}-bit, {format_size(trial.job.size_bytes * trial.kernel.streams)} per core"
    return _ceiling(
        trial.task,
        judged.undisturbed,
        judged.cautions,
        detail=detail if trial.task.shares else None,
        disturbed=judged.disturbed,
    )


def _ceiling(
    task: Task,
    rate: Estimate | None,
    cautions: tuple[Caution, ...],
    *,
    detail: str | None = None,
    disturbed: tuple[float, ...] = (),
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
        disturbed=disturbed,
    )


def _clock_cautions(frequency: Estimate) -> tuple[Caution, ...]:
    if frequency.n < _FEWEST_FOR_DECILES:
        return ()  # on a loaded machine: every ceiling says so itself
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


def _limit_cautions(limit: float | None, n_cpus: int) -> tuple[Caution, ...]:
    if limit is None or limit >= n_cpus:
        return ()
    return (
        Caution(
            "cpu-limit",
            f"a control group allows {limit:g} CPUs' worth of time on {n_cpus} CPUs",
            "rates are those while the threads run; over longer times the limit holds them back",
        ),
    )
