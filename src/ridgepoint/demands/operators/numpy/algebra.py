"""Rules of linear algebra and Fourier transforms, where the work is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ridgepoint.core.operators import Asked, Call
from ridgepoint.demands.operators.asking import array, ask, given
from ridgepoint.demands.operators.factorisations import (
    cholesky,
    inverse,
    lower_upper,
    orthogonal,
    reflections,
    triangular,
)
from ridgepoint.demands.operators.forms import fourier
from ridgepoint.demands.operators.rule import NoRule, Rule, names

KIND = "linear algebra"
_ITERATIVE = names("svd svdvals eig eigh eigvals eigvalsh cond pinv lstsq matrix_rank")
_TRANSFORMS = [
    f"{inverse}{real}fft{dimensions}"
    for inverse in ("", "i")
    for real in ("", "r", "h")
    for dimensions in ("", "2", "n")
]


def _matrices(value: object) -> tuple[float, int, int]:
    """Return number of matrices, rows and columns."""
    shape = array(value, "a").shape
    rows, columns = shape[-2:]
    return array(value, "a").size / max(rows * columns, 1), rows, columns


def _algebra(call: Call, flop: float, rule: str, *, functions: float = 0.0) -> Asked:
    source = array(call.arguments[0], "a")
    worked_on = call.outputs[0] if call.outputs else source
    return ask(
        call, KIND, dtype=worked_on.dtype, flop=flop, complex_flop=None, functions=functions,
        workspace_bytes=None, rule=rule,
    )  # fmt: skip


def _cholesky(call: Call) -> Asked:
    count, n, _ = _matrices(given(call, "a").a)
    return _algebra(call, count * cholesky(n), "n^3/3 + n^2/2 + n/6")


def _solve(call: Call) -> Asked:
    args = given(call, "a", "b")
    count, n, _ = _matrices(args.a)
    results = call.outputs[0].size if call.outputs else n
    sides = results / max(n * count, 1)
    both = triangular(n, sides, unit=True) + triangular(n, sides)
    return _algebra(call, count * (lower_upper(n, n) + both), "LU + 2 n^2 - n for each side")


def _inverse(call: Call) -> Asked:
    count, n, _ = _matrices(given(call, "a").a)
    return _algebra(call, count * inverse(n), "2 n^3")


def _determinant(call: Call) -> Asked:
    count, n, _ = _matrices(given(call, "a").a)
    return _algebra(call, count * (lower_upper(n, n) + n - 1), "LU + n - 1")


def _logarithm_of_determinant(call: Call) -> Asked:
    count, n, _ = _matrices(given(call, "a").a)
    flop = count * (lower_upper(n, n) + n - 1)
    return _algebra(call, flop, "LU + n - 1, n logarithms", functions=count * n)


def _iterative(call: Call) -> Asked:
    why = "its work depends on how fast an iteration converges"
    return ask(call, KIND, workspace_bytes=None, unknown=why)


def _qr(call: Call) -> Asked:
    args = given(call, "a", mode="reduced")
    count, m, n = _matrices(args.a)
    flop = orthogonal(m, n)
    if args.mode == "reduced":
        flop += reflections(m, min(m, n), min(m, n))
    elif args.mode == "complete":
        flop += reflections(m, m, min(m, n))
    return _algebra(call, count * flop, "Householder's reflections")


def _transform(call: Call) -> Asked:
    """Return what transforms along some axes ask for, split-radix; of real numbers half of it."""
    source, result = array(call.arguments[0], "a"), call.outputs[0]
    name = call.name.rpartition(".")[2].removeprefix("i")
    real = not name.startswith("fft")
    forward = source.dtype.startswith("complex") < result.dtype.startswith("complex")
    whole, spectrum = (source, result) if forward else (result, source)
    if not real:
        whole = spectrum = result
    *others, last = _axes(call, name, len(result.shape))
    # What is cut off or filled up to a length of its own is as long as that.
    points = result.shape[last] if not real or not forward else _length(call, whole.shape[last])
    rows = spectrum.size / max(spectrum.shape[last], 1)
    flop = rows * fourier(points) / (2 if real else 1)
    for axis in others:
        flop += spectrum.size / max(spectrum.shape[axis], 1) * fourier(spectrum.shape[axis])
    return ask(
        call,
        "Fourier transform",
        dtype={"complex128": "fp64", "complex64": "fp32"}.get(result.dtype, result.dtype),
        flop=flop,
        workspace_bytes=None,
        rule="4 n log2 n - 6 n + 8 for each, half of real numbers",
    )


def _length(call: Call, usual: int) -> int:
    args = given(call, "a", n=None)
    return args.n if isinstance(args.n, int) else usual


def _axes(call: Call, name: str, dimensions: int) -> Sequence[int]:
    if name.endswith("fft"):
        axis = given(call, "a", n=None, axis=-1).axis
        return (axis,)
    args = given(call, "a", s=None, axes=(-2, -1) if name.endswith("2") else None)
    if args.s is not None:
        raise NoRule("its lengths are given for each axis")
    return tuple(range(dimensions)) if args.axes is None else tuple(args.axes)


RULES: Mapping[str, Rule] = {
    "linalg.cholesky": _cholesky,
    "linalg.solve": _solve,
    "linalg.inv": _inverse,
    "linalg.det": _determinant,
    "linalg.slogdet": _logarithm_of_determinant,
    "linalg.qr": _qr,
    **{f"linalg.{name}": _iterative for name in _ITERATIVE},
    **{f"fft.{name}": _transform for name in _TRANSFORMS},
}
