"""What to do next about a program of operators, where a number supports it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ridgepoint.core.operators import Operator, shown_calls
from ridgepoint.core.resources import LEVELS
from ridgepoint.core.units import format_si
from ridgepoint.models.advice.subject import Advice, percent
from ridgepoint.models.operators.placed import (
    CALLS,
    UNEXPLAINED,
    OperatorGroup,
    PlacedOperator,
    grouped,
)
from ridgepoint.models.thresholds import LEAST_GAIN, LEAST_PART

if TYPE_CHECKING:
    from ridgepoint.models.operators import OperatorAnalysis

_MOST_ADVICE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Means:
    """What a library offers to make its programs faster.

    Parameters
    ----------
    fewer_calls, fuse, faster : str
        How calls become fewer, arrays in between are not stored, an operator comes nearer to its
        roof.
    lower : mapping of str to tuple of str
        The precision in which a program could compute instead, and how it does.
    """

    fewer_calls: str
    fuse: str
    faster: str
    lower: Mapping[str, tuple[str, str]]


_PYTORCH = _Means(
    fewer_calls="compile the program (torch.compile, jax.jit, CUDA graphs) or give it larger "
    "batches, so that fewer calls do more work",
    fuse="fuse them with the operators around them (torch.compile, jax.jit, a fused kernel), so "
    "that the arrays in between are never stored",
    faster="try another layout or contiguous arrays, larger arrays, another number of threads or "
    "another library; measure one call by itself to see what holds it back",
    lower={"fp64": ("fp32", "autocast"), "fp32": ("bf16", "autocast")},
)
_JAX = _Means(
    fewer_calls="let one call of a jitted function do more: several steps (jax.lax.scan), or "
    "larger batches",
    fuse="XLA has fused what it fuses by itself: make the arrays smaller (narrower types), work on "
    "blocks that a cache holds, or write one kernel for several of these (Pallas)",
    faster="try larger arrays, another order of their axes, or another formulation; the "
    "instruction that its call.options name is found in the text of the compiled program "
    "(jax.jit(function).lower(...).compile().as_text())",
    lower={
        "fp64": ("fp32", "arrays of jax.numpy.float32"),
        "fp32": ("bf16", "arrays of jax.numpy.bfloat16"),
    },
)
_NUMPY = _Means(
    fewer_calls="work on whole arrays instead of their parts, or compile the function (jax.jit, "
    "numba), so that fewer calls do more work",
    fuse="write results over arrays that are there already (out=, +=), work on blocks that a cache "
    "holds, or compile the function (jax.jit, numba, numexpr), so that the arrays in between are "
    "never stored",
    faster="try contiguous arrays and larger ones, or a library that runs it on several threads: "
    "NumPy does so only with products and factorisations of matrices; measure one call by itself "
    "to see what holds it back",
    lower={"fp64": ("fp32", "arrays of numpy.float32")},
)

_FUSIBLE = frozenset(("elementwise", "normalisation", "reduction", "softmax", "copy"))
"""Families of operators whose arrays need not reach memory if others are fused with them."""


def operator_advice(analysis: OperatorAnalysis) -> tuple[Advice, ...]:
    """Return what to do next, the largest gain for the program first.

    Returns
    -------
    tuple of Advice
        At most 5. A gain is that of the whole run, an upper limit: the time that would be left if
        what is advised took no more than its bound. Empty where the operators were not timed, or
        were timed on another device than the machine.
    """
    if analysis.machine is None or analysis.is_elsewhere or not run_s(analysis) > 0:
        return ()
    steps = (*_calls(analysis), *_fusion(analysis), *_slow(analysis), *_precision(analysis))
    worth = [step for step in steps if step.gain is None or step.gain >= LEAST_GAIN]
    return tuple(sorted(worth, key=lambda step: -(step.gain or 1.0))[:_MOST_ADVICE])


def run_s(analysis: OperatorAnalysis) -> float:
    """Return the seconds of a run: its operators, and what is outside of them."""
    inside = analysis.whole.time_s
    return (0.0 if inside is None else inside.median) + (analysis.outside_s or 0.0)


def _calls(analysis: OperatorAnalysis) -> Iterator[Advice]:
    """Yield the advice to make fewer calls, where calling takes the time."""
    short = [one for one in analysis.operators if one.explained_by == CALLS]
    outside_s = analysis.outside_s or 0.0
    lost_s = outside_s + sum(one.excess_s or 0.0 for one in short)
    if lost_s < LEAST_PART * run_s(analysis):
        return
    seen = [f"{percent(lost_s / run_s(analysis))} of a run is spent in calls and between them"]
    if short:
        calls = shown_calls(one.operator for one in short)
        seen.append(f"{calls} too short for a roof to matter")
    if outside_s:
        seen.append(f"{format_si(outside_s, 's', digits=2)} outside of all operators")
    yield Advice(
        code="fewer-calls",
        about=analysis.profile.program,
        seen=", ".join(seen),
        what=_means(analysis).fewer_calls,
        gain=_gain(analysis, lost_s),
    )


def _fusion(analysis: OperatorAnalysis) -> Iterator[Advice]:
    """Yield the advice to fuse operators that only move data."""
    moving = [
        one
        for one in analysis.operators
        if one.operator.asked.kind in _FUSIBLE and one.explained_by in LEVELS
    ]
    time_s = sum(_time_s(one) for one in moving)
    if time_s < LEAST_PART * run_s(analysis):
        return
    kinds = dict.fromkeys(one.operator.asked.kind for one in moving)
    yield Advice(
        code="fuse",
        about=analysis.profile.program,
        seen=f"{percent(time_s / run_s(analysis))} of a run is spent in "
        f"{shown_calls(one.operator for one in moving)} ({', '.join(kinds)}) that "
        "take as long as their bytes need",
        what=_means(analysis).fuse,
        gain=_gain(analysis, time_s),
    )


_INSTEAD = {
    "random": "draw fewer numbers: a model whose weights are read from a file need not be "
    "initialised before (in PyTorch: torch.nn.utils.skip_init, or the device 'meta')",
}
"""What helps operators of a kind of which being slow is not the reason."""


def _slow(analysis: OperatorAnalysis) -> Iterator[Advice]:
    """Yield the operators that take much longer than their roofs allow."""
    for group in grouped(analysis.operators, _named):
        slow = [one for one in group.operators if one.explained_by == UNEXPLAINED]
        excess_s = sum(one.excess_s or 0.0 for one in slow)
        if excess_s >= LEAST_PART * run_s(analysis):
            yield Advice(
                code="slow-operator",
                about=group.name,
                seen=_slowness(group, slow),
                what=_INSTEAD.get(group.operators[0].operator.asked.kind, _means(analysis).faster),
                gain=_gain(analysis, excess_s),
            )


def _named(placed: PlacedOperator) -> str:
    """Return an operator's name; all fusions of XLA have one, and are named by what they fuse."""
    call = placed.operator.call
    return f"{call.name} ({call.inside})" if call.inside else call.name


def _slowness(group: OperatorGroup, slow: list[PlacedOperator]) -> str:
    time_s = sum(_time_s(one) for one in slow)
    least_s = sum(float(one.bound.time_s) for one in slow if one.bound is not None)
    calls = shown_calls(one.operator for one in slow)
    functions = sum(one.operator.asked.functions * (one.operator.calls or 0) for one in slow)
    drawn = group.operators[0].operator.asked.kind == "random"
    evaluated = "random numbers" if drawn else "evaluations of exp and the like"
    without = f", without {format_si(functions, '', digits=2)} {evaluated}"
    return (
        f"{calls} of {group.name} took {format_si(time_s, 's', digits=2)}; their "
        f"roofs explain {format_si(least_s, 's', digits=2)}{without if functions else ''}"
    )


def _precision(analysis: OperatorAnalysis) -> Iterator[Advice]:
    """Yield the advice to compute in a lower precision, where that has a higher roof."""
    machine = analysis.machine
    assert machine is not None
    for high, (low, how) in _means(analysis).lower.items():
        if not (machine.knows(high) and machine.knows(low)):
            continue
        rates = [float(machine.rate(name, cores=analysis.cores)) for name in (high, low)]
        if rates[1] < LEAST_GAIN * rates[0]:
            continue
        computing = [one for one in analysis.operators if _is_limited_by(one.operator, one, high)]
        share = sum(_time_s(one) for one in computing) / run_s(analysis)
        if share >= LEAST_PART:
            yield Advice(
                code="lower-precision",
                about=analysis.profile.program,
                seen=f"{percent(share)} of a run is spent near the {high} roof, "
                f"{format_si(rates[0], 'flop/s')}; that of {low} is "
                f"{format_si(rates[1], 'flop/s')}",
                what=f"compute these operators in {low} ({how}), if their results allow it",
                gain=_gain(analysis, share * run_s(analysis) * (1 - rates[0] / rates[1])),
            )


def _means(analysis: OperatorAnalysis) -> _Means:
    """Return what the library of a program offers; others of the array API are as NumPy."""
    library = analysis.profile.library.partition(" ")[0]
    return {"PyTorch": _PYTORCH, "JAX": _JAX}.get(library, _NUMPY)


def _is_limited_by(operator: Operator, placed: PlacedOperator, precision: str) -> bool:
    work = operator.asked.work or {}
    return placed.explained_by == "compute" and set(work) == {precision}


def _time_s(placed: PlacedOperator) -> float:
    time_s = placed.operator.time_s
    return 0.0 if time_s is None else time_s.median


def _gain(analysis: OperatorAnalysis, saved_s: float) -> float | None:
    """Return the largest speed-up of a run if so many seconds vanish; None: it has no limit."""
    left_s = run_s(analysis) - saved_s
    return run_s(analysis) / left_s if left_s > 0 else None
