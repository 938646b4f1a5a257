"""Rules of PyTorch's factorisations, solutions of equations, and Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ridgepoint.core.operators import Asked, Call, Tensor
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
from ridgepoint.demands.operators.rule import Rule

KIND = "linear algebra"


def _factored(work: Callable[[float, float], float], rule: str) -> Rule:
    """Return the rule of what is done with each m by n matrix of the first argument."""

    def stated(call: Call) -> Asked:
        matrix = _matrix(call)
        flop = math.prod(matrix.shape[:-2]) * work(matrix.shape[-2], matrix.shape[-1])
        return _asked(call, flop, rule)

    return stated


def _asked(call: Call, flop: float, rule: str) -> Asked:
    # Half of it is multiplications, so complex numbers have four times as much.
    return ask(
        call, KIND, flop=flop, complex_flop=4 * flop, dtype=_matrix(call).dtype,
        workspace_bytes=None, rule=rule,
    )  # fmt: skip


def _matrix(call: Call) -> Tensor:
    return array(call.arguments[0] if call.arguments else None, "self")


def _solved(names: str, *, factored: bool, times: int) -> Rule:
    """Return the rule of equations, `times` triangular ones for each right side."""

    def rule(call: Call) -> Asked:
        args = given(call, *names.split())
        matrix, right = array(args.matrix, "A"), array(args.right, "B")
        n = matrix.shape[-1]
        # A vector is one right side.
        columns = right.size / max(math.prod(matrix.shape[:-2]) * n, 1)
        work = times * triangular(n, columns) + (lower_upper(n, n) if factored else 0.0)
        return _asked(call, math.prod(matrix.shape[:-2]) * work, "n^2 for each triangle and column")

    return rule


def _qr(call: Call) -> Asked:
    args = given(call, "A", mode="reduced")
    matrix = array(args.A, "A")
    m, n = matrix.shape[-2:]
    work = orthogonal(m, n)
    if args.mode == "reduced":
        work += reflections(m, min(m, n), min(m, n))
    elif args.mode == "complete":
        work += reflections(m, m, min(m, n))
    return _asked(call, math.prod(matrix.shape[:-2]) * work, "Householder's reflections")


def _householder(call: Call) -> Asked:
    args = given(call, "input", "tau")
    matrix, tau = array(args.input, "input"), array(args.tau, "tau")
    work = reflections(matrix.shape[-2], matrix.shape[-1], tau.shape[-1])
    return _asked(call, math.prod(matrix.shape[:-2]) * work, "Householder's reflections")


def _iterated(call: Call) -> Asked:
    return ask(
        call, KIND, workspace_bytes=None,
        unknown="its algorithm iterates, or is chosen, by what the data are",
    )  # fmt: skip


def _transform(call: Call) -> Asked:
    """Return what Fourier transforms along some dimensions ask for, split-radix."""
    args = given(call, "self", "dim")
    source, result = _matrix(call), call.outputs[0]
    whole, halved = (source, result) if call.name.endswith("r2c") else (result, source)
    real = not call.name.endswith("c2c")
    flop = 0.0
    for at, dimension in enumerate(args.dim):
        last = real and at == len(args.dim) - 1
        # Of real numbers only half of the frequencies are there, and half of the work is.
        over = whole if last or not real else halved
        points = over.shape[dimension]
        flop += over.size / max(points, 1) * fourier(points) / (2 if last else 1)
    return ask(
        call, "Fourier transform", dtype=_real(source.dtype), flop=flop, workspace_bytes=None,
        rule="4 n log2 n - 6 n + 8 for each, half of real numbers",
    )  # fmt: skip


def _real(dtype: str) -> str:
    return {"complex128": "fp64", "complex64": "fp32", "complex32": "fp16"}.get(dtype, dtype)


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(
        ("linalg_cholesky_ex", "linalg_cholesky", "cholesky", "linalg_ldl_factor_ex"),
        _factored(lambda m, n: cholesky(n), "n^3 / 3"),
    ),
    **dict.fromkeys(
        ("linalg_lu_factor_ex", "linalg_lu_factor", "linalg_lu", "_linalg_det", "_linalg_slogdet",
         "linalg_det", "linalg_slogdet"),
        _factored(lower_upper, "2 n^3 / 3"),
    ),
    **dict.fromkeys(
        ("linalg_inv_ex", "linalg_inv", "inverse"), _factored(lambda m, n: inverse(n), "2 n^3")
    ),
    "cholesky_inverse": _factored(lambda m, n: inverse(n) - 2 * cholesky(n), "2 n^3 / 3"),
    **dict.fromkeys(
        ("_linalg_solve_ex", "linalg_solve_ex", "linalg_solve"),
        _solved("matrix right", factored=True, times=2),
    ),
    "linalg_solve_triangular": _solved("matrix right", factored=False, times=1),
    "triangular_solve": _solved("right matrix", factored=False, times=1),
    "cholesky_solve": _solved("right matrix", factored=False, times=2),
    "linalg_lu_solve": _solved("matrix pivots right", factored=False, times=2),
    "linalg_qr": _qr,
    **dict.fromkeys(("linalg_householder_product", "orgqr"), _householder),
    **dict.fromkeys(
        ("_linalg_svd", "linalg_svd", "_linalg_eigh", "linalg_eigh", "linalg_eig",
         "linalg_eigvals", "linalg_eigvalsh", "linalg_svdvals", "linalg_lstsq", "linalg_pinv",
         "linalg_matrix_exp"),
        _iterated,
    ),
    **dict.fromkeys(("_fft_r2c", "_fft_c2r", "_fft_c2c"), _transform),
}  # fmt: skip
