"""Rules of products of matrices, sums of products by indices, and convolutions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ridgepoint.core.operators import Asked, Call, Tensor
from ridgepoint.demands.operators.asking import arrays, ask, given
from ridgepoint.demands.operators.forms import MULTIPLY
from ridgepoint.demands.operators.rule import NoRule, Rule

KIND = "matrix product"


def _product(call: Call, pairs: float, rule: str = "2 m n k") -> Asked:
    return ask(call, KIND, dtype=_factor(call), products=2 * pairs, rule=rule)


def _factor(call: Call) -> str:
    """Return the type of the factors, which is that of the result."""
    return call.outputs[0].dtype if call.outputs else call.inputs[0].dtype


def _results(call: Call) -> int:
    return call.outputs[0].size if call.outputs else 1


def _matmul(call: Call) -> Asked:
    args = given(call, "x1", "x2")
    if _is_own_transpose(args.x1, args.x2):
        return _own_product(call, args.x1)
    return _product(call, _results(call) * float(args.x1.shape[-1]))


def _own_product(call: Call, factor: Tensor) -> Asked:
    """Return what a matrix times its own transpose asks for: each pair of rows, once.

    NumPy leaves it to BLAS's syrk, and copies the other half of the result.
    """
    rows, inner = factor.shape[-2:]
    pairs = factor.size / max(rows * inner, 1) * rows * (rows + 1) / 2
    return _product(call, pairs * inner, "n (n + 1) k, the other half being the same")


_OF_BLAS = ("fp64", "fp32", "complex128", "complex64")


def _is_own_transpose(one: object, other: object, *, transposed: bool = True) -> bool:
    """Return whether a factor is another's transpose, or where that is meant, the factor itself."""
    if not (isinstance(one, Tensor) and isinstance(other, Tensor) and len(one.shape) > 1):
        return False
    if not one.key or (one.key, one.start) != (other.key, other.start):
        return False
    if one.dtype not in _OF_BLAS or one.dtype != other.dtype or len(one.shape) != len(other.shape):
        return False
    step = -1 if transposed else 1
    return all(
        (*first[:-2], *first[-2:][::step]) == second
        for first, second in ((one.shape, other.shape), (_strides(one), _strides(other)))
    )


def _strides(tensor: Tensor) -> tuple[int, ...]:
    """Return the elements between neighbours, also of an array without gaps."""
    if tensor.strides is not None:
        return tensor.strides
    return tuple(math.prod(tensor.shape[at + 1 :]) for at in range(len(tensor.shape)))


def _dot(call: Call) -> Asked:
    args = given(call, "a", "b")
    if not (_shape(args.a) and _shape(args.b)):
        flop = MULTIPLY.flop * _results(call)
        factor = MULTIPLY.complex_flop or 0.0
        return ask(call, "elementwise", flop=flop, complex_flop=factor * flop, rule="1 n")
    is_inner = call.name.endswith("inner")
    if len(_shape(args.a)) == 2 and _is_own_transpose(args.a, args.b, transposed=not is_inner):
        return _own_product(call, args.a)
    return _product(call, _results(call) * float(_shape(args.a)[-1]))


def _vdot(call: Call) -> Asked:
    return _product(call, float(math.prod(_shape(given(call, "a", "b").a))), "2 n")


def _shape(value: object) -> tuple[int, ...]:
    return value.shape if isinstance(value, Tensor) else ()


def _vecdot(call: Call) -> Asked:
    # Axes are broadcast; the one that is summed is the last unless another is named.
    args = given(call, "x1", "x2", axis=-1)
    if not isinstance(args.axis, int):
        raise NoRule("its axis is not given as a number")
    return _product(call, _results(call) * float(_shape(args.x1)[args.axis]), "2 n k")


def _tensordot(call: Call) -> Asked:
    args = given(call, "a", "b", axes=2)
    shape, axes = _shape(args.a), args.axes
    if isinstance(axes, int):
        summed: Sequence[int] = shape[len(shape) - axes :]
    else:
        first = axes[0]
        summed = [shape[at] for at in ((first,) if isinstance(first, int) else first)]
    return _product(call, _results(call) * float(math.prod(summed)))


def _outer(call: Call) -> Asked:
    n = float(_results(call))
    return ask(
        call, "elementwise", flop=n, complex_flop=(MULTIPLY.complex_flop or 0.0) * n, rule="1 n"
    )


def _cross(call: Call) -> Asked:
    # Each component is the difference of two products; in two dimensions there is one.
    return ask(call, "elementwise", flop=3.0 * _results(call), complex_flop=None, rule="3 n")


def _einsum(call: Call) -> Asked:
    """Sum products over all indices at once, or pair by pair where a path is asked for."""
    equation, *operands = call.arguments
    shapes = [_shape(one) for one in arrays(operands)]
    if not isinstance(equation, str) or len(shapes) != len(operands):
        raise NoRule("its indices are not given as a text")
    sizes, inputs, output = _indices(equation, shapes)
    optimised = call.options.get("optimize", False) is not False
    if optimised and len(inputs) > 2:
        raise NoRule("in which order it takes its factors is NumPy's choice")
    points = math.prod(sizes.values())
    results = math.prod(sizes[one] for one in output)
    if len(inputs) == 1:
        work = float(points - results)
        return ask(call, "reduction", flop=work, complex_flop=2 * work, rule="sums over indices")
    if points == results:
        work = float(points * (len(inputs) - 1))
        return ask(call, "elementwise", flop=work, complex_flop=6 * work, rule="1 n")
    if len(inputs) > 2 and _factor(call).startswith("complex"):
        raise NoRule("no rule says what products of several complex numbers ask for")
    return _product(call, points * len(inputs) / 2, "products over all indices")


def _indices(
    equation: str, shapes: Sequence[tuple[int, ...]]
) -> tuple[dict[str, int], list[str], str]:
    """Return the size of each index, the indices of each input, and those of the result."""
    left, arrow, output = equation.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != len(shapes):
        raise NoRule("its indices do not fit its arrays")
    dots = "".join(chr(0x3B1 + at) for at in range(max(map(len, shapes), default=0)))
    sizes: dict[str, int] = {}
    named = []
    for labels, shape in zip(inputs, shapes, strict=True):
        more = len(shape) - len(labels.replace("...", ""))
        full = labels.replace("...", dots[len(dots) - more :] if more else "")
        named.append(full)
        for label, size in zip(full, shape, strict=True):
            sizes[label] = max(sizes.get(label, 1), size)
    used = [label for label in sizes if label in dots]
    if not arrow:
        every = "".join(named)
        free = sorted(one for one in sizes if every.count(one) == 1 and one not in dots)
        return sizes, named, "".join((*used, *free))
    return sizes, named, output.replace("...", "".join(used))


def _convolve(call: Call) -> Asked:
    args = given(call, "a", "v", mode="full" if call.name.endswith("convolve") else "valid")
    n, m = sorted((math.prod(_shape(args.a)), math.prod(_shape(args.v))), reverse=True)
    if args.mode in ("full", 2):
        pairs = n * m
    elif args.mode in ("valid", 0):
        pairs = (n - m + 1) * m
    else:
        begin = (m - 1) // 2
        pairs = sum(min(o, n - 1) - max(o - m + 1, 0) + 1 for o in range(begin, begin + n))
    return ask(call, "convolution", dtype=_factor(call), products=2.0 * pairs, rule="2 per pair")


RULES: Mapping[str, Rule] = {
    "matmul": _matmul,
    **dict.fromkeys(("dot", "inner"), _dot),
    "vdot": _vdot,
    "vecdot": _vecdot,
    "matvec": _matmul,
    "tensordot": _tensordot,
    **dict.fromkeys(("outer", "kron"), _outer),
    "cross": _cross,
    "einsum": _einsum,
    **dict.fromkeys(("convolve", "correlate"), _convolve),
    **{f"linalg.{name}": rule for name, rule in (
        ("matmul", _matmul), ("tensordot", _tensordot), ("vecdot", _vecdot), ("outer", _outer),
        ("cross", _cross),
    )},
}  # fmt: skip
