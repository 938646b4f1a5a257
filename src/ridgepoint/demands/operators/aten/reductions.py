"""Rules of PyTorch's sums, extremes and other reductions, running sums, and softmax."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ridgepoint.core.operators import Asked, Call, Tensor
from ridgepoint.demands.operators.asking import array, ask, given
from ridgepoint.demands.operators.rule import Rule

KIND = "reduction"


def _reduction(
    flop: Callable[[float, float], float],
    rule: str,
    *,
    functions: Callable[[float, float], float] = lambda n, m: 0.0,
    kind: str = KIND,
    complex_factor: float | None = 2.0,
) -> Rule:
    """Return a rule by what n elements cost that are reduced to m results."""

    def stated(call: Call) -> Asked:
        n, m = float(_source(call).size), _results(call)
        work = max(flop(n, m), 0.0)
        return ask(
            call,
            kind,
            dtype=_summed_in(call),
            flop=work,
            complex_flop=None if complex_factor is None else complex_factor * work,
            functions=functions(n, m),
            rule=rule,
        )

    return stated


def _source(call: Call) -> Tensor:
    return array(given(call, "self").self, "self")


def _results(call: Call) -> float:
    return float(call.outputs[0].size if call.outputs else 1)


def _summed_in(call: Call) -> str:
    """Return the type in which a sum is made: that of its result, unless that says nothing."""
    source = _source(call).dtype
    result = call.outputs[0].dtype if call.outputs else source
    return source if result in ("bool", "int64") and not source.startswith("int") else result


def _norm(call: Call) -> Asked:
    args = given(call, "self", order=2)
    order = 2 if args.order is None else args.order
    n, m = float(_source(call).size), _results(call)
    flop, functions = 2 * n, 0.0
    if order in (math.inf, -math.inf):
        flop = 0.0
    elif order in (0, 1):
        flop = n - m
    elif order != 2:
        flop, functions = n - m, n + m
    return ask(call, KIND, flop=max(flop, 0.0), functions=functions, rule=f"norm of order {order}")


def _trace(call: Call) -> Asked:
    source = _source(call)
    terms = min(source.shape)
    flop = max(terms - 1, 0)
    read = terms * source.nbytes / max(source.size, 1)
    return ask(call, KIND, flop=flop, complex_flop=2 * flop, read=read, rule="n - 1")


def _distance(call: Call) -> Asked:
    n = float(_source(call).size)
    order = given(call, "self", "other", p=2).p
    each = {2: 3, 1: 2, 0: 1, math.inf: 1}.get(order, 2)
    functions = 0.0 if order in (0, 1, 2, math.inf) else n
    return ask(call, KIND, flop=each * n, functions=functions, rule=f"{each} n")


def _renormed(call: Call) -> Asked:
    # The norm of each slice, and its elements scaled.
    n = float(_source(call).size)
    each = {2: 3, 1: 2, math.inf: 1}.get(given(call, "self", "p").p, 2)
    return ask(call, KIND, flop=each * n, rule=f"{each} n")


def _running(flop: float) -> Rule:
    """Return the rule of running sums or products along one dimension."""

    def rule(call: Call) -> Asked:
        args = given(call, "self", dim=0)
        source = _source(call)
        length = source.shape[args.dim] if source.shape and isinstance(args.dim, int) else 1
        steps = source.size - source.size / max(length, 1)
        return ask(
            call, KIND, flop=flop * steps, complex_flop=2 * flop * steps, rule="n - n / length"
        )

    return rule


def _softmax(call: Call) -> Asked:
    # The greatest is subtracted, the exp summed, and divided by the sum.
    source, rows = _source(call), _rows(call)
    return ask(
        call,
        "softmax",
        flop=3 * source.size - rows,
        functions=source.size,
        rule="3 n - rows",
    )


def _log_softmax(call: Call) -> Asked:
    # The greatest is subtracted, the exp summed, and the log of the sum subtracted.
    source, rows = _source(call), _rows(call)
    return ask(
        call,
        "softmax",
        flop=3 * source.size - rows,
        functions=source.size + rows,
        rule="3 n - rows",
    )


def _softmax_backward(call: Call) -> Asked:
    """Y (g - sum(g y))."""
    source, rows = _source(call), _rows(call)
    return ask(call, "softmax", flop=4 * source.size - rows, rule="4 n - rows")


def _log_softmax_backward(call: Call) -> Asked:
    """G - exp(y) sum(g)."""
    source, rows = _source(call), _rows(call)
    return ask(
        call, "softmax", flop=3 * source.size - rows, functions=source.size, rule="3 n - rows"
    )


def _rows(call: Call) -> float:
    source = _source(call)
    names = ("self", "output", "dim") if "backward" in call.name else ("self", "dim")
    at = given(call, *names).dim
    length = source.shape[at] if source.shape and isinstance(at, int) else 1
    return source.size / max(length, 1)


_FREE = _reduction(lambda n, m: 0.0, "comparisons", complex_factor=None)

RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("sum", "nansum", "prod"), _reduction(lambda n, m: n - m, "n - m")),
    **dict.fromkeys(("mean", "nanmean"), _reduction(lambda n, m: n, "n - m, and m divisions")),
    **dict.fromkeys(
        ("var", "var_mean"), _reduction(lambda n, m: 4 * n, "4 n", complex_factor=None)
    ),
    **dict.fromkeys(
        ("std", "std_mean"), _reduction(lambda n, m: 4 * n + m, "4 n + m", complex_factor=None)
    ),
    **dict.fromkeys(
        ("max", "min", "amax", "amin", "aminmax", "argmax", "argmin", "any", "all",
         "count_nonzero", "median", "nanmedian", "is_nonzero", "equal", "allclose", "cummax",
         "cummin", "_is_all_true", "_is_any_true", "_aminmax"),
        _FREE,
    ),
    "logsumexp": _reduction(
        lambda n, m: 2 * n, "2 n", functions=lambda n, m: n + m, complex_factor=None
    ),
    **dict.fromkeys(("norm", "linalg_vector_norm", "linalg_norm"), _norm),
    "trace": _trace,
    "dist": _distance,
    "renorm": _renormed,
    **dict.fromkeys(("cumsum", "cumprod"), _running(1.0)),
    "logcumsumexp": _running(2.0),
    **dict.fromkeys(("_softmax", "softmax", "_safe_softmax"), _softmax),
    **dict.fromkeys(("_log_softmax", "log_softmax"), _log_softmax),
    "_softmax_backward_data": _softmax_backward,
    "_log_softmax_backward_data": _log_softmax_backward,
}  # fmt: skip
