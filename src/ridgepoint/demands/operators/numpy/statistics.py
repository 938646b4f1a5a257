"""Rules of covariances, histograms and interpolation, computed in the way of NumPy."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ridgepoint.core.operators import Asked, Call, Tensor
from ridgepoint.demands.operators.asking import array, ask, given
from ridgepoint.demands.operators.numpy.products import KIND
from ridgepoint.demands.operators.rule import NoRule, Rule


def _covariance(call: Call) -> Asked:
    """Subtract means, and multiply the rest with its own transpose: its other half is the same."""
    args = given(
        call, "m", y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None
    )
    if args.fweights is not None or args.aweights is not None:
        raise NoRule("no rule says what weights ask for")
    n, k = _variables(call, args.m, args.y)
    return _centred_product(call, n, k, n * n, "n (n + 1) k + 2 n k + n^2")


def _correlation(call: Call) -> Asked:
    args = given(call, "x", y=None)
    n, k = _variables(call, args.x, args.y)
    scaled = n + 2 * n * n if n > 1 else 1
    return _centred_product(call, n, k, n * n + scaled, "n (n + 1) k + 2 n k + 3 n^2 + n")


def _variables(call: Call, first: object, second: object) -> tuple[int, int]:
    """Return the number of variables, by the result that has a row for each, and of samples."""
    n = math.isqrt(call.outputs[0].size)
    values = array(first, "m").size + (second.size if isinstance(second, Tensor) else 0)
    if second is not None and not isinstance(second, Tensor):
        raise NoRule("its argument 'y' is not an array")
    return n, values // max(n, 1)


def _centred_product(call: Call, n: int, k: int, more: int, rule: str) -> Asked:
    dtype = call.outputs[0].dtype
    if dtype.startswith("complex"):
        raise NoRule("the rule says nothing of complex numbers")
    return ask(
        call,
        KIND,
        products=float(n * (n + 1) * k),
        flop=float(2 * n * k + more),
        workspace_bytes=None,  # the values without their means
        rule=rule,
    )


def _counted(call: Call) -> Asked:
    """Count integers, without flop; with weights these are added up, and the result is of fp64."""
    n = array(given(call, "x").x, "x").size
    return ask(call, "scatter", flop=float(n), rule="n with weights")


def _histogram(call: Call) -> Asked:
    """Compute the bin of each value, or search for it where bins are given as an array."""
    args = given(call, "a", bins=10, range=None, density=None, weights=None, elements=None)
    counts, edges = call.outputs
    if isinstance(args.bins, str):
        raise NoRule("how many bins there are is in the data")
    if args.weights is not None or args.density:
        raise NoRule("no rule says what weights and densities ask for")
    if not _is_number(args.bins):
        # The edges that are given are returned, not written.
        return ask(call, "search", written=(counts,), rule="comparisons")
    within = array(args.a, "a").size if args.range is None else args.elements
    if not isinstance(within, int):
        raise NoRule("how many values are within its range is in the data")
    return ask(
        call,
        "scatter",
        dtype=edges.dtype,
        flop=3.0 * within + 2 * (counts.size + 1),
        rule="3 n + 2 (m + 1)",
    )


def _is_number(value: object) -> bool:
    """Return whether an argument is a number, of Python or of NumPy."""
    return isinstance(value, int) or (isinstance(value, Tensor) and not value.shape)


def _interpolation(call: Call) -> Asked:
    """Compute slopes once for all where points are few, and a line for each value between points.

    Values outside of the points, and upon one, have no flop: the recording counts the others.
    """
    args = given(call, "x", "xp", "fp", left=None, right=None, period=None, elements=None)
    if args.period is not None:
        raise NoRule("no rule says what a period asks for")
    if not isinstance(args.elements, int):
        raise NoRule("how many values are between its points is in the data")
    n, points = array(args.x, "x").size, array(args.xp, "xp").size
    slopes = points - 1 if points <= n else args.elements
    return ask(
        call,
        "search",
        flop=3.0 * (slopes + args.elements),
        rule="3 for each slope, 3 for each value between points",
    )


RULES: Mapping[str, Rule] = {
    "cov": _covariance,
    "corrcoef": _correlation,
    "bincount": _counted,
    "histogram": _histogram,
    "interp": _interpolation,
}
