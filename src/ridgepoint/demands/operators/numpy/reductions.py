"""Rules of sums, extremes and other reductions, of running sums, and of sorting and searching."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ridgepoint.core.operators import Asked, Call
from ridgepoint.demands.operators.asking import array, arrays, ask, given, written_by
from ridgepoint.demands.operators.numpy.elementwise import running
from ridgepoint.demands.operators.rule import NoRule, Rule, names

_COMPARING = names(
    "all any amax amin argmax argmin array_equal array_equiv count_nonzero max min ptp nanmax "
    "nanmin nanargmax nanargmin"
)
_SORTING = names("argpartition argsort partition sort sort_complex unique unique_values")
_SEARCHING = names("digitize flatnonzero isin lexsort nonzero searchsorted")


def _reduction(
    flop: Callable[[float, float], float], rule: str, *, complex_factor: float | None = None
) -> Rule:
    """Return a rule by what n elements cost that are reduced to m results."""

    def stated(call: Call) -> Asked:
        if not isinstance(call.options.get("where", True), bool):
            raise NoRule("how many elements its mask selects depends on data")
        source = array(call.arguments[0], "a")
        results = float(call.outputs[0].size if call.outputs else 1)
        work = max(flop(float(source.size), results), 0.0)
        return ask(
            call,
            "reduction",
            dtype=_summed_in(call),
            flop=work,
            complex_flop=None if complex_factor is None else complex_factor * work,
            rule=rule,
        )

    return stated


def _summed_in(call: Call) -> str:
    source = array(call.arguments[0], "a").dtype
    result = call.outputs[0].dtype if call.outputs else source
    return source if result == "bool" or source.startswith("complex") else result


def _running(call: Call) -> Asked:
    steps = running(call)
    return ask(call, "reduction", flop=steps, complex_flop=2 * steps, rule="n - n / length")


def _without_flop(kind: str) -> Rule:
    def rule(call: Call) -> Asked:
        return ask(call, kind, written=written(call), rule="comparisons")

    return rule


def written(call: Call) -> float | None:
    """Return what a method writes that changes its array and returns nothing; None: its results."""
    if call.outputs:
        return None
    return float(sum(one.nbytes for one in (written_by(call) or arrays(call.arguments)[:1])))


def _trace(call: Call) -> Asked:
    args = given(call, "a", offset=0, axis1=0, axis2=1)
    source = array(args.a, "a")
    rows, columns = source.shape[args.axis1], source.shape[args.axis2]
    length = min(rows + min(args.offset, 0), columns - max(args.offset, 0))
    sums = source.size / max(rows * columns, 1) * max(length - 1, 0)
    results = source.size / max(rows * columns, 1)
    read = results * max(length, 0) * source.nbytes / max(source.size, 1)
    return ask(
        call, "reduction", flop=sums, complex_flop=2 * sums, read=read, rule="n - 1 a diagonal"
    )


def _norm(call: Call) -> Asked:
    """Sum squares and take the root; for complex numbers the squares of both parts."""
    args = given(call, "x", ord=None, axis=None)
    source = array(args.x, "x")
    two = args.ord in (None, "fro") or (args.ord == 2 and len(source.shape) == 1)
    if not two:
        raise NoRule(f"no rule says what a norm of order {args.ord} asks for")
    n = float(source.size)
    return ask(
        call,
        "reduction",
        dtype=_summed_in(call),
        flop=2 * n,
        complex_flop=4 * n,
        rule="n products, n - m sums, m roots",
    )


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("sum", "nansum"), _reduction(lambda n, m: n - m, "n - m", complex_factor=2)),
    **dict.fromkeys(("prod", "nanprod"), _reduction(lambda n, m: n - m, "n - m", complex_factor=6)),
    "mean": _reduction(lambda n, m: n, "n - m, and m divisions", complex_factor=2),
    "var": _reduction(lambda n, m: 4 * n, "4 n"),
    "std": _reduction(lambda n, m: 4 * n + m, "4 n + m"),
    **dict.fromkeys(("trace", "linalg.trace"), _trace),
    **dict.fromkeys(("linalg.norm", "linalg.vector_norm"), _norm),
    **dict.fromkeys(("cumsum", "cumulative_sum"), _running),
    **dict.fromkeys(_COMPARING, _without_flop("reduction")),
    **dict.fromkeys(_SORTING, _without_flop("sort")),
    **dict.fromkeys(_SEARCHING, _without_flop("search")),
}
