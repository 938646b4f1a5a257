"""Measure a machine: run the kernels, keep every sample, state the uncertainty of each ceiling."""

from __future__ import annotations

import statistics
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from ridgepoint import __version__
from ridgepoint.ceilings import cautions
from ridgepoint.ceilings.plan import Task
from ridgepoint.ceilings.pool import Pool
from ridgepoint.ceilings.rounds import QUICK, THOROUGH, Progress
from ridgepoint.ceilings.session import Outcome, measure
from ridgepoint.ceilings.survey import Survey, surveyed
from ridgepoint.ceilings.trial import Trial
from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Cache, Ceiling, Host, Machine
from ridgepoint.core.notebook import shows_progress
from ridgepoint.core.resources import resource_named
from ridgepoint.core.units import format_size
from ridgepoint.host import System, fingerprint, hostname, of_activity, usable_cpus
from ridgepoint.kernels.jit import Compiler
from ridgepoint.published.theory import Theory
from ridgepoint.published.theory_choice import settle, theory_choices


@shows_progress("fraction")
def characterize(
    *,
    progress: Progress | None = None,
    system: System | None = None,
    caches: Sequence[Cache] | None = None,
    quick: bool = False,
    only: Collection[tuple[str, str]] | None = None,
    survey: Survey | None = None,
) -> Machine:
    """Measure this machine's ceilings.

    Parameters
    ----------
    progress : callable or None
        As for `machine_here`.
    system : System or None
        Description of the host; None: detect it.
    caches : sequence of Cache or None
        Caches to assume for this host, whatever is measured; None: as the host describes them,
        or as measured where a program gets others.
    quick : bool
        Whether to measure only the ceilings that bound most programs, in 5 s.
    only : collection of (str, str) or None
        Resources and names of the ceilings to measure; None: all.
    survey : Survey or None
        Earlier survey of the caches; None: measure them.

    Returns
    -------
    Machine
        Every ceiling on one core, on all, and on each part of the machine, with its samples.

    Raises
    ------
    CannotMeasure
        If no kernel can run at all.
    InvalidDocument
        If the user's file of this microarchitecture's theory is invalid.

    Notes
    -----
    Each sample is one run of a kernel of about 1 ms on pinned threads that start together; the
    rate is all threads' work over the time from the first start to the last end. The whole set
    is measured 25 times, one sample of each ceiling per round, so that any drift shows in every
    interval. Then ceilings that are not settled (`samples.Judged.is_settled`) are measured again.
    All of it ends with the budget (`rounds.Effort`) on any machine: ceilings then have fewer
    samples, and those without any say so.
    """
    started = time.perf_counter()
    system = system or System()
    # Before any long step: a user's file may be refused.
    compiler = Compiler()
    identity = system.identity(called=compiler.microarchitecture)
    choices = theory_choices(identity, cpu=system.cpu)

    outcome = measure(
        system,
        compiler,
        lambda task: (only is None or task.key in only) and (task.essential or not quick),
        effort=QUICK if quick else THOROUGH,
        caches=caches,
        survey=survey,
        theory=choices.common,
        report=progress,
    )
    settled = settle(choices, reached(outcome.trials))
    ceilings = (
        *(measured(trial, outcome.pool, settled.theory) for trial in outcome.trials),
        *(_ceiling(task, cautions=(caution,)) for task, caution in outcome.refused),
    )
    limit, n_cpus = system.cpu_limit, len(usable_cpus())
    frequencies = outcome.frequencies_hz
    return Machine(
        name=hostname(),
        host=Host(
            cpu=system.cpu,
            microarchitecture=compiler.microarchitecture,
            cores=n_cpus if limit is None else min(n_cpus, max(1, int(limit))),
            frequency_hz=statistics.median(frequencies) if frequencies else None,
            virtualized=system.virtualized,
            memory_bytes=system.memory_bytes,
            identity=identity,
        ),
        caches=outcome.survey.caches,
        ceilings=ceilings,
        cautions=(
            *cautions.of_effort(quick=quick),
            *cautions.of_identity(identity),
            *settled.cautions,
            *cautions.of_pinning(pinned=outcome.pool.is_pinned),
            *cautions.of_clock(frequencies),
            *cautions.of_limit(limit, n_cpus),
            *of_activity(outcome.before, outcome.after),
            *outcome.survey.cautions,
            *cautions.of_caches(outcome.survey.caches, ceilings),
            *cautions.of_pages(_dram_shares(outcome)),
        ),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        elapsed_s=time.perf_counter() - started,
        fingerprint=fingerprint(system, __version__, quick=quick) if only is None else None,
        stated_caches=outcome.survey.stated,
        capacities=outcome.survey.capacities,
        latency_curves=outcome.survey.curves,
    )


def measured_again(
    machine: Machine,
    only: Collection[tuple[str, str]],
    *,
    progress: Progress | None = None,
) -> Machine:
    """Return a machine with some of its ceilings measured a second time.

    The faster of the two measurements of a ceiling counts: disturbances slow down, and may have
    lasted throughout the first one.

    Parameters
    ----------
    machine : Machine
        This host's machine, as `characterize` measured it.
    only : collection of (str, str)
        Resources and names of the ceilings to measure again.
    progress : callable or None

    Notes
    -----
    Caches are not measured again: the ceilings refer to the same ones.
    """
    known = surveyed(machine)
    again = {
        ceiling.key: ceiling
        for ceiling in characterize(progress=progress, only=only, survey=known).ceilings
    }
    faster = tuple(
        max((ceiling, again.get(ceiling.key, ceiling)), key=_median) for ceiling in machine.ceilings
    )
    return replace(machine, ceilings=faster)


def _median(ceiling: Ceiling) -> float:
    return 0.0 if ceiling.rate is None else ceiling.rate.median


def _dram_shares(outcome: Outcome) -> list[float]:
    """Return the share of each main-memory buffer that is on huge pages, where known."""
    shares = (
        outcome.pool.huge_share(trial.job, cpus=trial.task.place.cpus)
        for trial in outcome.trials
        if trial.task.resource == "dram" and not trial.kernel.small_pages
    )
    return [share for share in shares if share is not None]


def reached(trials: Iterable[Trial]) -> dict[tuple[str, str], float]:
    """Return the best amount per cycle of one core, by resource and name."""
    best: dict[tuple[str, str], float] = {}
    for trial in trials:
        judged, task = trial.judged, trial.task
        if len(task.place.cpus) == 1 and judged.frequency_hz:
            per_cycle = judged.undisturbed.median / judged.frequency_hz
            best[task.key] = max(per_cycle, best.get(task.key, 0.0))
    return best


def measured(trial: Trial, pool: Pool, theory: Theory | None) -> Ceiling:
    """Return a ceiling with the result of its samples, and its theory."""
    judged, task = trial.judged, trial.task
    ceiling = _ceiling(
        task,
        rate=judged.undisturbed,
        cautions=judged.cautions,
        detail=_detail(trial, pool),
        disturbed=judged.disturbed,
        frequency_hz=judged.frequency_hz,
    )
    figure = None if theory is None else theory.per_cycle(*task.key)
    if figure is None or judged.frequency_hz is None:
        return ceiling
    return replace(
        ceiling,
        theoretical=figure.value * task.place.cores * judged.frequency_hz,
        theory=f"{figure.value:g} {figure.unit} on each core ({figure.rule}; {figure.source})",
    )


def _detail(trial: Trial, pool: Pool) -> str | None:
    """Return a description of what ran, for memory levels."""
    task, width = trial.task, trial.kernel.claim.width_bits
    if task.shares is None:
        return None
    parts = [f"{width}-bit"] if width else []
    streams = max(trial.kernel.streams, 1)
    parts.append(f"{format_size(trial.job.size_bytes * streams)} per core")
    share = pool.huge_share(trial.job, cpus=task.place.cpus)
    if trial.kernel.small_pages and not share:
        parts.append("the smallest pages")
    elif share is not None:
        parts.append("huge pages" if share >= cautions.HUGE else f"{share:.0%} on huge pages")
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
