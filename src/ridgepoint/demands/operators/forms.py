"""What elementary computations ask for, each once, for the operators of every library.

Counted as instructions are: a multiply-add is 2 flop; an addition, subtraction, multiplication,
division and square root is 1; comparing, minimum, maximum, absolute value, sign, rounding and
conversion are 0. A function (exp, log, sin, ...) is counted as such, besides.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations


@dataclass(frozen=True, slots=True)
class Cost:
    """What one element of a result costs.

    Parameters
    ----------
    flop : float
    functions : float
    complex_flop : float or None
        Flop where the elements are complex numbers; None: unknown.
    formula : str
        How it is computed, where that is a choice.
    """

    flop: float
    functions: float = 0.0
    complex_flop: float | None = None
    formula: str = ""


FREE = Cost(0, complex_flop=0)
FUNCTION = Cost(0, 1, complex_flop=0)
ADD = Cost(1, complex_flop=2)
MULTIPLY = Cost(1, complex_flop=6)
DIVIDE = Cost(1, complex_flop=11)
SQUARE_ROOT = Cost(1)

ELEMENTWISE: Mapping[str, Cost] = {
    **dict.fromkeys(
        (
            "abs", "neg", "sign", "floor", "ceil", "round", "trunc", "rint", "clamp", "maximum",
            "minimum", "relu", "where", "eq", "ne", "lt", "le", "gt", "ge", "isnan", "conj",
            "positive", "copysign", "nan_to_num", "convert",
        ),
        FREE,
    ),
    **dict.fromkeys(
        (
            "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin",
            "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf",
            "erfc", "erfinv", "lgamma", "digamma", "pow", "cbrt", "fmod", "remainder",
            "i0", "i1", "xlogy", "logaddexp", "logaddexp2", "ldexp",
        ),
        FUNCTION,
    ),
    "add": ADD,
    "sub": ADD,
    "mul": MULTIPLY,
    "div": DIVIDE,
    "sqrt": SQUARE_ROOT,
    "rsqrt": Cost(2, formula="1 / sqrt(x)"),
    "reciprocal": Cost(1, complex_flop=5, formula="1 / x"),
    "square": Cost(1, complex_flop=5, formula="x x"),
    "hypot": Cost(4, formula="sqrt(x x + y y)"),
    "sigmoid": Cost(2, 1, formula="1 / (1 + exp(-x))"),
    "logit": Cost(2, 1, formula="log(x / (1 - x))"),
    "sinc": Cost(2, 1, formula="sin(c x) / (c x)"),
    "log_sigmoid": Cost(1, 2, formula="min(x, 0) - log1p(exp(-|x|))"),
    "silu": Cost(2, 1, formula="x / (1 + exp(-x))"),
    "gelu": Cost(4, 1, formula="x / 2 (1 + erf(x / sqrt(2)))"),
    "gelu tanh": Cost(8, 1, formula="x / 2 (1 + tanh(c x (1 + d x x)))"),
    "softplus": Cost(0, 2, formula="log1p(exp(x))"),
    "mish": Cost(1, 3, formula="x tanh(log1p(exp(x)))"),
}  # fmt: skip
"""Costs of one element, by the usual name of the function."""


def power(exponent: object) -> Cost:
    """Return the cost of a power whose exponent is known, by the fewest operations."""
    if isinstance(exponent, bool) or not isinstance(exponent, int | float):
        return FUNCTION
    known = {0: 0, 1: 0, 2: 1, 3: 2, 0.5: 1, -0.5: 2, -1: 1, -2: 2}
    if exponent in known:
        return Cost(known[exponent], formula=f"x^{exponent:g}")
    return FUNCTION


def taps(
    inputs: int, outputs: int, kernel: int, *, stride: int, padding: int, dilation: int
) -> int:
    """Return how often a window's elements lie within the input, along one dimension.

    Parameters
    ----------
    inputs, outputs, kernel : int
        Elements of the input, of the result, and of the window.
    stride, padding, dilation : int

    Returns
    -------
    int
        Summed over all places of the window; `outputs` times `kernel` if nothing is padded.
    """
    total = 0
    for at in range(kernel):
        # Places o with 0 <= o stride + offset < inputs.
        offset = at * dilation - padding
        first = max(-(offset // stride), 0)
        last = min((inputs - 1 - offset) // stride, outputs - 1)
        total += max(last - first + 1, 0)
    return total


def pooled(inputs: int, outputs: int) -> int:
    """Return the elements of all windows of an adaptive pooling along one dimension.

    Window number o reaches from o inputs / outputs, rounded down, to (o + 1) inputs / outputs,
    rounded up.
    """
    return sum(-(-(at + 1) * inputs // outputs) - at * inputs // outputs for at in range(outputs))


def fourier(points: int) -> float:
    """Return the flop of a complex FFT by the split-radix algorithm, near what good codes do.

    ``4 n log2 n - 6 n + 8``, which holds for powers of two; of real numbers it is half.

    References
    ----------
    .. [1] H. Sorensen, M. Heideman, C. Burrus, "On computing the split-radix FFT", IEEE Trans.
       ASSP 34(1), 1986, :doi:`10.1109/TASSP.1986.1164804`.
    """
    if points < 2:
        return 0.0
    return max(4 * points * math.log2(points) - 6 * points + 8, 0.0)


def contraction(
    operands: Sequence[Mapping[str, int]], kept: Collection[str]
) -> tuple[float, float]:
    """Return the work of a product of several arrays, two at a time in the order of least work.

    Parameters
    ----------
    operands : sequence of mapping of str to int
        Sizes of each array's dimensions, by name; dimensions of the same name are joined.
    kept : collection of str
        Names of the dimensions of the result; the others are summed.

    Returns
    -------
    products, multiplications : float
        Flop in products that are summed, two for each; and in products without a sum.
    """
    sizes: dict[str, int] = {}
    for operand in operands:
        for name, size in operand.items():
            sizes[name] = max(size, sizes.get(name, 1))
    every = frozenset(range(len(operands)))

    def names(of: frozenset[int]) -> frozenset[str]:
        """Return the dimensions of the product of some arrays that are still needed."""
        outside = {name for at in every - of for name in operands[at]} | set(kept)
        return frozenset(name for at in of for name in operands[at] if name in outside)

    @cache
    def least(of: frozenset[int]) -> tuple[float, float]:
        if len(of) < 2:
            return 0.0, 0.0
        found, first = [], min(of)
        for count in range(1, len(of)):
            for chosen in combinations(sorted(of - {first}), count):
                one = frozenset(chosen)
                other = of - one
                joined = names(one) | names(other)
                steps = float(math.prod(sizes[name] for name in joined))
                summed = joined != names(of)
                parts = (least(one), least(other), (2 * steps, 0.0) if summed else (0.0, steps))
                found.append((sum(part[0] for part in parts), sum(part[1] for part in parts)))
        return min(found, key=sum)

    return least(every)


def attended_pairs(
    queries: int,
    keys: int,
    *,
    causal: bool = False,
    from_end: bool = False,
    window: tuple[int | None, int | None] = (None, None),
) -> int:
    """Return the pairs of query and key that attention joins.

    Parameters
    ----------
    queries, keys : int
    causal : bool
        Query number i sees no key after its own.
    from_end : bool
        Query and key of the same number are those counted from the end, as for queries that
        continue a sequence whose keys are kept; else from the beginning.
    window : tuple of int or None
        Keys before and after its own that a query sees; None: all.
    """
    before, after = window
    if causal:
        after = 0
    if before is None and after is None:
        return queries * keys
    apart = keys - queries if from_end else 0
    total = 0
    for query in range(apart, apart + queries):
        first = 0 if before is None else max(query - before, 0)
        last = keys - 1 if after is None else min(query + after, keys - 1)
        total += max(last - first + 1, 0)
    return total
