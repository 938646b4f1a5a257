"""Calls of libraries in compiled programs: LAPACK, BLAS, and selections of the largest."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ridgepoint.demands.operators.factorisations import (
    cholesky,
    lower_upper,
    orthogonal,
    reflections,
    triangular,
)
from ridgepoint.demands.operators.hlo.text import Computation, Instruction, Shape
from ridgepoint.demands.operators.hlo.work import Tally, precision
from ridgepoint.demands.operators.rule import NoRule

_LAPACK = re.compile(r"^(?:lapack|blas)_([sdcz])(\w+?)(?:_ffi)?$")


def custom_call(instruction: Instruction, computation: Computation) -> tuple[Tally, str, str]:
    """Return work, kind and rule of a call of a library.

    Parameters
    ----------
    instruction : Instruction
    computation : Computation
        That holds it.

    Raises
    ------
    NoRule
        If the target is not known, or its work depends on data.
    """
    target = instruction.attributes.get("custom_call_target", "").strip('"')
    if target in ("TopK", "__gpu$TopK"):
        return Tally(), "sort", "comparisons only"
    found = _LAPACK.match(target)
    rule = None if found is None else _RULES.get(found[2])
    if found is None or rule is None:
        raise NoRule(f"no rule says what {target or 'a custom call'} computes")
    if found[1] in "cz":
        raise NoRule(f"no rule says what {target} computes with complex numbers")
    operands = [one.shape for one in computation.operands(instruction)]
    flop, symbols = rule(operands, instruction)
    return Tally({precision(operands[0].dtype): flop}), "linear algebra", symbols


def _matrix(shape: Shape) -> tuple[int, int, int]:
    """Return number of matrices, rows and columns."""
    *batch, rows, columns = shape.sizes
    count = 1
    for size in batch:
        count *= size
    return count, rows, columns


def _potrf(operands: list[Shape], instruction: Instruction) -> tuple[float, str]:
    count, n, _ = _matrix(operands[0])
    return count * cholesky(n), "n^3/3 + n^2/2 + n/6"


def _getrf(operands: list[Shape], instruction: Instruction) -> tuple[float, str]:
    count, m, n = _matrix(operands[0])
    return count * lower_upper(m, n), "sum over k of (m - k) (1 + 2 (n - k))"


def _trsm(operands: list[Shape], instruction: Instruction) -> tuple[float, str]:
    count, m, n = _matrix(operands[1])
    _, order, _ = _matrix(operands[0])
    sides = n if order == m else m
    return count * triangular(order, sides), "n^2 for each right-hand side"


def _geqrf(operands: list[Shape], instruction: Instruction) -> tuple[float, str]:
    count, m, n = _matrix(operands[0])
    return count * orthogonal(m, n), "Householder's reflections"


def _orgqr(operands: list[Shape], instruction: Instruction) -> tuple[float, str]:
    count, m, n = _matrix(operands[0])
    return count * reflections(m, n, operands[1].sizes[-1]), "Householder's reflections"


_RULES: Mapping[str, Callable[[list[Shape], Instruction], tuple[float, str]]] = {
    "potrf": _potrf,
    "getrf": _getrf,
    "trsm": _trsm,
    "geqrf": _geqrf,
    **dict.fromkeys(("orgqr", "ungqr"), _orgqr),
}
