"""One ceiling in detail: its kernel's instructions, its samples, and reasons for its value."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ridgepoint.ceilings import measured, reached
from ridgepoint.ceilings.plan import Task
from ridgepoint.ceilings.rounds import Effort, Progress
from ridgepoint.ceilings.samples import Sample
from ridgepoint.ceilings.session import every_task, measure
from ridgepoint.ceilings.trial import Contest
from ridgepoint.ceilings.verify import loop_listing
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.machine import Cache, Ceiling
from ridgepoint.core.units import format_si
from ridgepoint.host import System
from ridgepoint.kernels.jit import Compiler
from ridgepoint.kernels.kernel import Kernel
from ridgepoint.published.theory import Figure, Theory
from ridgepoint.published.theory_choice import settle, theory_choices

_EFFORT = Effort(rounds=25, first_rounds=10, curve_rounds=3, sample_s=0.005, budget_s=15.0)
_ALMOST = 0.95
"""Of theory: below it, there is something to explain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A ceiling at one place, with its kernel and samples.

    Parameters
    ----------
    ceiling : Ceiling
    kernel : Kernel
        The fastest candidate.
    loop : tuple of str
        Instructions of its innermost loop, disassembled.
    samples : tuple of Sample
        All samples taken, in their order.
    figure : Figure or None
        Theoretical value for one core and cycle; None: not known.
    remarks : tuple of str
        Reasons for the value, one sentence each.
    """

    ceiling: Ceiling
    kernel: Kernel
    loop: tuple[str, ...]
    samples: tuple[Sample, ...]
    figure: Figure | None
    remarks: tuple[str, ...]


def explain(
    text: str,
    *,
    progress: Progress | None = None,
    system: System | None = None,
    caches: Sequence[Cache] | None = None,
) -> tuple[Explanation, ...]:
    """Measure one ceiling at every place that has it, and explain it.

    Parameters
    ----------
    text : str
        Resource and name, for example ``fp64 fma 512-bit`` or ``l1 copy``, in upper or lower case.
        The beginning suffices if it is unique.
    progress, system, caches
        As for `characterize`.

    Raises
    ------
    RidgepointError
        If this machine has no such ceiling, or several, or it cannot be measured here.
    """
    system = system or System()
    compiler = Compiler()
    identity = system.identity(called=compiler.microarchitecture)
    choices = theory_choices(identity, cpu=system.cpu)
    wanted = named_task(text, every_task(system, compiler, caches or system.caches))
    outcome = measure(
        system,
        compiler,
        lambda task: task.key == wanted,
        effort=_EFFORT,
        caches=caches,
        theory=choices.common,
        report=progress,
    )
    if not outcome.contests:
        _, caution = outcome.refused[0]
        raise RidgepointError(
            f"cannot explain {' '.join(wanted)!r}", reason=caution.seen, remedy=caution.remedy
        )
    theory = settle(choices, reached(outcome.trials)).theory
    return tuple(
        _explanation(contest, measured(contest.best, outcome.pool, theory), theory)
        for contest in outcome.contests
    )


def named_task(text: str, tasks: Sequence[Task]) -> tuple[str, str]:
    """Return resource and name of the ceiling that a text denotes.

    Raises
    ------
    RidgepointError
        If there is none, or several.
    """
    known = {f"{task.resource} {task.name}".lower(): task.key for task in tasks}
    sought = " ".join(text.lower().replace("/", " ").split())
    if sought in known:
        return known[sought]
    begun = [name for name in known if sought and name.startswith(sought)]
    if len(begun) == 1:
        return known[begun[0]]
    near = begun or difflib.get_close_matches(sought, known, n=3) or list(known)
    raise RidgepointError(
        f"cannot explain {text!r}",
        reason=(
            "several ceilings begin with this name" if begun else "this machine has no such ceiling"
        ),
        remedy=f"name one of: {', '.join(' '.join(known[name]) for name in near)}",
    )


def _explanation(contest: Contest, ceiling: Ceiling, theory: Theory | None) -> Explanation:
    trial, task = contest.best, contest.task
    figure = None if theory is None else theory.per_cycle(*task.key)
    loop = loop_listing(trial.job.function)
    return Explanation(
        ceiling=ceiling,
        kernel=trial.kernel,
        loop=tuple(loop),
        samples=tuple(trial.samples),
        figure=figure,
        remarks=tuple(
            (
                *_about_candidates(contest),
                *_about_data(task, trial.kernel, ceiling),
                *_about_cycles(task, trial.kernel, ceiling, len(loop)),
                *_about_theory(ceiling, trial.kernel, figure, theory),
            )
        ),
    )


def _about_candidates(contest: Contest) -> Iterator[str]:
    """Yield which of several candidate kernels was the fastest."""
    if contest.lost:
        best = contest.best
        medians = {trial.kernel: trial.judged.undisturbed.median for trial in contest.lost}
        reached = best.judged.undisturbed.median
        others = ", ".join(
            f"{_described(kernel)} reached {rate / reached:.0%}" for kernel, rate in medians.items()
        )
        yield (
            f"{_described(best.kernel)} was the fastest of {len(medians) + 1} kernels: "
            f"{others} of its rate"
        )


def _described(kernel: Kernel) -> str:
    width = kernel.claim.width_bits
    return f"{kernel.name}, {width} bit" if width and str(width) not in kernel.name else kernel.name


def _about_data(task: Task, kernel: Kernel, ceiling: Ceiling) -> Iterator[str]:
    """Yield where the data are, and how many bytes move per byte that is counted."""
    if task.shares is None:
        touched = (
            f"one iteration of the loop loads {kernel.claim.load_bytes} bytes, all of them from L1"
        )
        in_registers = "it works in registers: no memory is touched"
        yield touched if kernel.claim.load_bytes else in_registers
        return
    yield f"each thread's data lies in {task.resource}: {ceiling.detail}"
    read, write = task.shares
    if task.resource != "l1" and read + write != 1:
        why = (
            "a cache line is read before it is stored to"
            if write
            else "a cache line moves as a whole"
        )
        yield f"for each byte that the program counts, {read + write:.3g} bytes move here: {why}"


def _about_cycles(
    task: Task, kernel: Kernel, ceiling: Ceiling, n_instructions: int
) -> Iterator[str]:
    """Yield how many cycles a pass of the loop takes."""
    claim, clock, rate = kernel.claim, ceiling.frequency_hz, ceiling.rate
    if clock is None or rate is None or not n_instructions:
        return
    in_pass = claim.load_bytes + claim.store_bytes if task.shares else kernel.work_per_repeat
    one_core = rate.median / len(task.place.cpus)
    cycles = clock * in_pass / one_core
    unit = ceiling.unit.removesuffix("/s")
    yield (
        f"at {format_si(clock, 'Hz')} one iteration of the loop, {n_instructions} "
        f"instructions, takes {cycles:.1f} cycles: {n_instructions / cycles:.2f} instructions "
        f"and {one_core / clock:.3g} {unit} per cycle on each CPU"
    )
    if claim.operation == "chase":
        loads = claim.load_bytes / 8
        yield (
            f"each load waits for the previous one: {cycles / loads:.1f} cycles, "
            f"{format_si(cycles / loads / clock, 's')}"
        )


def _about_theory(
    ceiling: Ceiling, kernel: Kernel, figure: Figure | None, theory: Theory | None
) -> Iterator[str]:
    """Yield the theoretical value, and how far the measurement is from it."""
    if figure is None or ceiling.theoretical is None or ceiling.rate is None:
        of = "this CPU" if theory is None else theory.name
        yield f"no theoretical value of this ceiling is known for {of}"
        return
    ports = f", on {figure.ports}" if figure.ports else ""
    yield f"theory: {figure.value:g} {figure.unit} ({figure.rule}{ports}); {figure.source}"
    if figure.note:
        yield f"note: {figure.note}"
    attained = ceiling.rate.median / ceiling.theoretical
    yield f"{attained:.1%} of theory at the clock that was measured"
    if attained < _ALMOST and kernel.claim.tiles is not None:
        yield (
            "a core may lower its clock while it multiplies tiles, by a seventh for example, "
            "and may have raised it again when the clock is read"
        )
    elif attained < _ALMOST:
        yield (
            "the cause of the rest is not known: a limit that the theory does not describe, or "
            "one that this kernel does not avoid"
        )
