"""Rules of linear algebra and Fourier transforms, where the work is known."""

from __future__ import annotations

from collections.abc import Mapping

from ridgepoint.core.operators import Asked, Call
from ridgepoint.demands.operators.asking import array, ask, given
from ridgepoint.demands.operators.factorisations import cholesky_flop, lu_flop, solve_flop
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


def _algebra(call: Call, flop: float, rule: str) -> Asked:
    source = array(call.arguments[0], "a")
    worked_on = call.outputs[0] if call.outputs else source
    return ask(
        call, KIND, dtype=worked_on.dtype, flop=flop, complex_flop=None, workspace_bytes=None,
        rule=rule,
    )  # fmt: skip


def _cholesky(call: Call) -> Asked:
    count, n, _ = _matrices(given(call, "a").a)
    return _algebra(call, count * cholesky_flop(n), "n^3/3 + n^2/2 + n/6")


def _solve(call: Call) -> Asked:
    args = given(call, "a", "b")
    count, n, _ = _matrices(args.a)
    results = call.outputs[0].size if call.outputs else n
    sides = results / max(n * count, 1)
    return _algebra(call, count * (lu_flop(n, n) + sides * solve_flop(n)), "LU + 2 n^2 - n a side")


def _inverse(call: Call) -> Asked:
    count, n, _ = _matrices(given(call, "a").a)
    return _algebra(call, count * (lu_flop(n, n) + n * solve_flop(n)), "LU + n (2 n^2 - n)")


def _determinant(call: Call) -> Asked:
    count, n, _ = _matrices(given(call, "a").a)
    return _algebra(call, count * (lu_flop(n, n) + n - 1), "LU + n - 1")


def _iterative(call: Call) -> Asked:
    raise NoRule("its work depends on how fast an iteration converges")


def _qr(call: Call) -> Asked:
    raise NoRule("its work depends on the block size that LAPACK chooses")


def _transform(call: Call) -> Asked:
    raise NoRule("the flop of a Fourier transform depend on the library's algorithm")


RULES: Mapping[str, Rule] = {
    "linalg.cholesky": _cholesky,
    "linalg.solve": _solve,
    "linalg.inv": _inverse,
    "linalg.det": _determinant,
    "linalg.qr": _qr,
    **{f"linalg.{name}": _iterative for name in _ITERATIVE},
    **{f"fft.{name}": _transform for name in _TRANSFORMS},
}
