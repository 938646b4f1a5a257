"""Profile jitted functions of JAX: what XLA compiled, and how long each of its kernels takes."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.operators import Operator, OperatorProfile
from ridgepoint.core.presenting import amount
from ridgepoint.core.units import format_si
from ridgepoint.demands.operators.hlo.asked import (
    asked_of_instruction,
    call_of,
    outer_bytes,
)
from ridgepoint.demands.operators.hlo.program import Step, steps_of
from ridgepoint.demands.operators.hlo.scopes import common_scope, fused_modules, scopes_of
from ridgepoint.demands.operators.hlo.text import Module, NotHlo, read_module
from ridgepoint.demands.operators.hlo.work import CONTROL
from ridgepoint.host import usable_cpus
from ridgepoint.models.operators.agreement import disagreements
from ridgepoint.profiling.context import context_here
from ridgepoint.profiling.operators.options import Options
from ridgepoint.profiling.operators.repeating import (
    refusing_failures,
    timed_in_turn,
    warm_up,
)
from ridgepoint.profiling.operators.xla.trace import Run, traced

_UNCHECKED = "the kernels that XLA compiles are part of one program, and cannot be called alone"
_VARIES = "how often it runs depends on data, and varied from run to run"
_UNSEEN = "how often it runs depends on data, and is seen on CPUs only"
_OVERLAP = 1.05
"""Sum of the operators' times over the time in which any ran, above which they overlap."""


def profile(
    function: Callable[..., object], inputs: tuple[object, ...], options: Options
) -> OperatorProfile:
    """Profile a jitted function: its compiled instructions, each with its demand and time.

    Parameters
    ----------
    function : callable
        Result of ``jax.jit``.
    inputs : tuple
    options : Options

    Raises
    ------
    CannotMeasure
        If it is not jitted, or raises, or takes longer than the time limit.
    """
    jax = importlib.import_module("jax")
    jitted = _with_backward(jax, _jitted(function, options), inputs, options)
    options.report("compiling")
    with refusing_failures(options):
        compiled = jitted if _is_compiled(jitted) else jitted.lower(*inputs).compile()
        module = _module(compiled, options)
        run, doubts = _runner(jax, jitted, compiled, inputs)
    runs: list[Run] = []
    controls = {
        one.instruction.name for one in steps_of(module) if one.instruction.opcode in CONTROL
    }
    device = _device(jax, compiled)

    def recorded() -> int:
        runs.append(traced(jax, run, module.name, controls=controls))
        return len(runs)

    options.report("timing plain runs and operators, in turn")
    warm_up(run, options)
    timed = timed_in_turn(run, recorded if device == "cpu" else None, options)
    operators, cautions = _operators(module, runs)
    if options.check:
        operators = tuple(replace(one, unchecked=_UNCHECKED) for one in operators)
    return OperatorProfile(
        program=options.name,
        library=f"JAX {jax.__version__}",
        device=device,
        operators=operators,
        timed=timed,
        attached_s=Estimate([one.wall_s for one in runs]) if runs else None,
        threads=_threads(device),
        context=context_here(),
        cautions=(*cautions, *doubts, *timed.cautions, *disagreements(operators)),
        outer_bytes=outer_bytes(module),
        library_says=_said_by_xla(compiled, module),
    )


def _jitted(function: Callable[..., object], options: Options) -> Any:
    if hasattr(function, "lower") or _is_compiled(function):
        return function
    raise CannotMeasure(
        options.what,
        reason="the function is not jitted, so JAX would run each operation by itself, and "
        "nothing would be fused as in a compiled program",
        remedy="pass jax.jit(function)",
    )


def _is_compiled(function: object) -> bool:
    return hasattr(function, "as_text") and hasattr(function, "cost_analysis")


def _with_backward(jax: Any, jitted: Any, inputs: tuple[object, ...], options: Options) -> Any:
    """Return the function, or its gradient by all floating-point inputs where that is asked for."""
    if options.optimizer is not None:
        raise CannotMeasure(
            options.what,
            reason="optimizer= is for PyTorch; in JAX a step of the optimizer is part of the "
            "function",
            remedy="pass the whole jitted step",
        )
    if options.backward is None:
        return jitted
    numpy = jax.numpy

    def loss(*arguments: object) -> object:
        result = jitted(*arguments)
        if options.backward != "sum":
            return options.backward(result)
        return sum(numpy.sum(leaf) for leaf in jax.tree.leaves(result))

    floating = [
        at
        for at, given in enumerate(inputs)
        if (leaves := jax.tree.leaves(given))
        and all(numpy.issubdtype(numpy.asarray(leaf).dtype, numpy.floating) for leaf in leaves)
    ]
    if not floating:
        raise CannotMeasure(
            options.what,
            reason="none of its inputs is of floating-point numbers only, so there is nothing to "
            "differentiate by",
            remedy="pass parameters as an input of their own, or leave backward= out",
        )
    return jax.jit(jax.value_and_grad(loss, argnums=tuple(floating)))


def _module(compiled: Any, options: Options) -> Module:
    """Return what XLA compiled.

    Raises
    ------
    CannotMeasure
    """
    try:
        return read_module(compiled.as_text() or "")
    except NotHlo as error:
        raise CannotMeasure(
            options.what,
            reason=f"the compiled program cannot be read: {error}",
            remedy="report this with the versions of JAX and of this package",
        ) from error


def _runner(
    jax: Any, jitted: Any, compiled: Any, inputs: tuple[object, ...]
) -> tuple[Callable[[], object], tuple[Caution, ...]]:
    """Return a function that runs the program to its end, and what is doubtful of its time.

    A program that is given its inputs' memory for its results gets copies of them each time.
    """
    if not any(getattr(leaf, "donated", False) for leaf in jax.tree.leaves(compiled.args_info)):
        return lambda: jax.block_until_ready(jitted(*inputs)), ()

    def copies() -> Any:
        return jax.tree.map(
            lambda leaf: leaf.copy() if isinstance(leaf, jax.Array) else leaf, inputs
        )

    def run() -> object:
        return jax.block_until_ready(jitted(*copies()))

    run()
    begun = perf_counter()
    jax.block_until_ready(copies())
    took_s = perf_counter() - begun
    return run, (
        Caution(
            "donated-copies",
            f"it is given the memory of its inputs, which are copied before each run: about "
            f"{format_si(took_s, 's')} of the runtime",
            "subtract that, or profile it without donate_argnums",
            on="time",
        ),
    )


def _operators(
    module: Module, runs: Sequence[Run]
) -> tuple[tuple[Operator, ...], tuple[Caution, ...]]:
    """Return an operator for each instruction that runs, and what is doubtful of them."""
    operators = []
    by_data = lost = 0
    for step in steps_of(module):
        calls = step.times if step.times is not None else _seen(step, runs)
        if calls == 0:
            continue
        by_data += step.times is None
        lost += bool(runs) and step.times is not None and _seen(step, runs) != step.times
        operators.append(_operator(step, module, calls, runs))
    return tuple(operators), tuple(_cautions(by_data, lost, runs))


def _cautions(by_data: int, lost: int, runs: Sequence[Run]) -> Iterator[Caution]:
    if not runs:
        yield Caution(
            "operators-untimed",
            "its operators have no times: those of JAX's profiler are used on CPUs only",
            "read what each asks for, and the runtime of the whole",
        )
    if by_data:
        yield Caution(
            "data-dependent",
            f"how often {amount(by_data, 'operator')} {'runs' if by_data == 1 else 'run'} depends "
            "on data: a loop or a branch decides that while it runs",
            "profile it with data that are typical: what these inputs made it do is what counts",
        )
    if lost:
        yield Caution(
            "not-all-timed",
            f"JAX's profiler did not report every run of {amount(lost, 'operator')}",
            "profile fewer steps in one call: its memory for events is limited",
        )
    together = sum(sum(run.time_s.values()) for run in runs)
    busy = sum(run.busy_s for run in runs)
    if together > _OVERLAP * busy:
        yield Caution(
            "operators-overlap",
            f"operators ran at the same time, on several threads: their times add up to "
            f"{together / busy:.2g} times the time in which any of them ran",
            "read the times of operators as what each took, not as parts of the runtime",
        )


def _seen(step: Step, runs: Sequence[Run]) -> int | None:
    """Return how often an instruction ran in every run; None: it varied, or nothing was seen."""
    counts = {run.times.get(step.instruction.name, 0) for run in runs}
    return counts.pop() if len(counts) == 1 else None


def _operator(step: Step, module: Module, calls: int | None, runs: Sequence[Run]) -> Operator:
    name = step.instruction.name
    asked = asked_of_instruction(step.instruction, step.computation, module)
    if calls is None:
        why = _VARIES if runs else _UNSEEN
        asked = replace(asked, work=None, read_bytes=None, write_bytes=None, unknown=why)
    samples = [run.time_s[name] for run in runs if name in run.time_s]
    scopes = scopes_of(step, module)
    scope = common_scope(scopes)
    call = call_of(step.instruction, step.computation, module)
    if len(modules := fused_modules(scopes)) > 1:
        named = ", ".join(one or "(outermost)" for one in modules)
        call = replace(call, options={**call.options, "modules": named})
    return Operator(
        call=call,
        module=scope.module,
        phase="backward" if scope.is_backward else "forward",
        asked=asked,
        calls=calls,
        time_s=Estimate(samples) if samples and len(samples) == len(runs) else None,
    )


def _said_by_xla(compiled: Any, module: Module) -> dict[str, float]:
    """Return XLA's own analysis, for all devices; it is negative where it knows nothing."""
    names = {"flop": "flops", "functions": "transcendentals", "bytes": "bytes accessed"}
    costs = compiled.cost_analysis() or {}
    return {
        ours: module.devices * float(costs[xla])
        for ours, xla in names.items()
        if costs.get(xla, -1) >= 0
    }


def _device(jax: Any, compiled: Any) -> str:
    """Return the kind of device that runs a program."""
    shardings = jax.tree.leaves(compiled.output_shardings)
    devices = {one.platform for sharding in shardings for one in sharding.device_set}
    return ", ".join(sorted(devices)) or str(jax.default_backend())


def _threads(device: str) -> int | None:
    """Return the threads of XLA's pool on the CPU: one for each CPU, or as NPROC says."""
    if device != "cpu":
        return None
    given = os.environ.get("NPROC", "")
    return int(given) if given.isdigit() and int(given) else len(usable_cpus())
