"""Grids and what they become as matrices, hand-written: a 5-point stencil, a sparse product."""

from __future__ import annotations

import numpy as np

from ridgepoint.suites.kernels.ir import Element, Function, Vectors
from ridgepoint.suites.kernels.native import native
from ridgepoint.suites.kernels.operands import Array, Operand
from ridgepoint.suites.kernels.results import Expected
from ridgepoint.suites.kernels.workload import Call, Workload

_CENTRE, _NEIGHBOUR = 0.5, 0.125

ROW_NONZEROS = 16
"""Of each row of the sparse matrix, at random columns."""

_STENCIL_SIZES = (64, 128, 256, 512, 1024, 2048, 4096)
_STENCIL_QUICK_SIZES = (128, 512, 1024)
_SPARSE_SIZES = (1_000, 4_000, 16_000, 64_000, 256_000, 640_000)
_SPARSE_QUICK_SIZES = (1_000, 16_000, 64_000)


def _stencil_operands(n: int) -> tuple[Operand, ...]:
    return (Operand(shape=(n, n)),) * 2


def _stencil_expected(n: int) -> Expected:
    """Return what a sweep must do: 6 flop for each point inside.

    3 additions of neighbours, their product with a coefficient (1), and an FMA with the centre.
    Without the corners the input is read, and the inside of the output is read and written.
    """
    inside = max(0, n - 2) ** 2
    read = 8 * (inside + 4 * max(0, n - 2))
    return Expected(work_flop=6 * inside, read_bytes=read + 8 * inside, write_bytes=8 * inside)


def _stencil_reference(x: Array, y: Array) -> Array:
    result = y.copy()
    around = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    result[1:-1, 1:-1] = _CENTRE * x[1:-1, 1:-1] + _NEIGHBOUR * around
    return result


def _stencil_source(name: str, vectors: Vectors) -> str:
    """Return the source of a sweep, row by row; the border is left as it is."""
    code = Function(name, "i64 %n, ptr %x, ptr %y, double %c, double %d", vectors)
    code.spread("c", "d")
    code.add("%last = sub i64 %n, 1", "%inside = sub i64 %n, 2")

    def body(e: Element) -> list[str]:
        return [
            e.op("vertical", "fadd", e.value("north"), e.value("south")),
            e.op("horizontal", "fadd", e.value("west"), e.value("east")),
            e.op("around", "fadd", e.value("vertical"), e.value("horizontal")),
            e.op("share", "fmul", e.scalar("d"), e.value("around")),
            e.muladd("out", e.scalar("c"), e.value("centre"), e.value("share")),
        ]

    with code.loop("i", "1", "%last"):
        code.add("%row = mul i64 %i, %n", "%first = add i64 %row, 1")
        code.add("%above = sub i64 %first, %n", "%below = add i64 %first, %n")
        code.add("%left = sub i64 %first, 1", "%right = add i64 %first, 1")
        places = {
            "north": "above", "south": "below", "west": "left", "east": "right",
            "centre": "first",
        }  # fmt: skip
        for value, place in places.items():
            code.add(f"%{value} = getelementptr double, ptr %x, i64 %{place}")
        code.add("%out = getelementptr double, ptr %y, i64 %first")
        reads = {value: f"%{value}" for value in places}
        code.each("j", "%inside", reads=reads, write="%out", body=body)
    return code.text()


def _compile_stencil(n: int, threads: int) -> Call:
    if n < 3:
        raise ValueError(f"n must be 3 or more: a grid without an inside, got {n!r}")
    return native(_stencil_source, "stencil", sizes=(n,), pointers=2, scalars=(_CENTRE, _NEIGHBOUR))


def _nonzeros(n: int) -> int:
    """Return those of each of n rows."""
    return min(n, ROW_NONZEROS)


def _fill_columns(flat: Array, rng: np.random.Generator, *, n: int) -> None:
    """Write random columns, ascending in each row."""
    columns = rng.integers(n, size=(n, _nonzeros(n)))
    columns.sort(axis=1)
    flat[:] = columns.reshape(-1)


def _fill_begins(flat: Array, rng: np.random.Generator, *, n: int) -> None:
    flat[:] = _nonzeros(n) * np.arange(n + 1)


def _sparse_operands(n: int) -> tuple[Operand, ...]:
    """Return where the rows begin, the columns, the values, x and y."""
    stored = n * _nonzeros(n)
    return (
        Operand(shape=(n + 1,), dtype="i4", fill=lambda flat, rng: _fill_begins(flat, rng, n=n)),
        Operand(shape=(stored,), dtype="i4", fill=lambda flat, rng: _fill_columns(flat, rng, n=n)),
        Operand(shape=(stored,)),
        Operand(shape=(n,)),
        Operand(shape=(n,)),
    )


def _sparse_expected(n: int) -> Expected:
    """Return what the product must do: an FMA for each number that is stored.

    Read are 8 + 4 byte for each of them, 4 for the begin of each row and the end, x, and y, which
    is then written.
    """
    stored = n * _nonzeros(n)
    return Expected(
        work_flop=2 * stored,
        read_bytes=12 * stored + 4 * (n + 1) + 16 * n,
        write_bytes=8 * n,
    )


def _sparse_reference(begins: Array, columns: Array, values: Array, x: Array, y: Array) -> Array:
    sums: Array = np.add.reduceat(values * x[columns], begins[:-1])
    return sums


def _sparse_source(name: str, vectors: Vectors) -> str:
    """Return the source of y = A x, the matrix in compressed sparse rows."""
    code = Function(name, "i64 %n, ptr %begins, ptr %columns, ptr %values, ptr %x, ptr %y", vectors)
    with code.loop("i", "0", "%n"):
        code.add(
            "%begin.at = getelementptr i32, ptr %begins, i64 %i",
            "%end.at = getelementptr i32, ptr %begin.at, i64 1",
            "%begin.short = load i32, ptr %begin.at, align 4",
            "%end.short = load i32, ptr %end.at, align 4",
            "%begin = sext i32 %begin.short to i64",
            "%end = sext i32 %end.short to i64",
        )
        with code.loop("k", "%begin", "%end", carried={"sum": "0.0"}):
            code.add(
                "%value.at = getelementptr double, ptr %values, i64 %k",
                "%value = load double, ptr %value.at, align 8",
                "%column.at = getelementptr i32, ptr %columns, i64 %k",
                "%column.short = load i32, ptr %column.at, align 4",
                "%column = sext i32 %column.short to i64",
                "%x.at = getelementptr double, ptr %x, i64 %column",
                "%x.k = load double, ptr %x.at, align 8",
                "%sum.next = call double @llvm.fmuladd.f64("
                "double %value, double %x.k, double %sum)",
            )
        code.add(
            "%y.at = getelementptr double, ptr %y, i64 %i",
            "store double %sum.end, ptr %y.at, align 8",
        )
    return code.text()


def _compile_sparse(n: int, threads: int) -> Call:
    return native(_sparse_source, "spmv", sizes=(n,), pointers=5)


WORKLOADS = (
    Workload(
        name="stencil.5point",
        formula="y = c x + d (north + south + west + east)",
        sizes=_STENCIL_SIZES,
        quick_sizes=_STENCIL_QUICK_SIZES,
        operands=_stencil_operands,
        expect=_stencil_expected,
        compile=_compile_stencil,
        reference=_stencil_reference,
        is_handwritten=True,
    ),
    Workload(
        name="spmv.csr",
        formula=f"y = A x, {ROW_NONZEROS} numbers in each row",
        sizes=_SPARSE_SIZES,
        quick_sizes=_SPARSE_QUICK_SIZES,
        operands=_sparse_operands,
        expect=_sparse_expected,
        compile=_compile_sparse,
        reference=_sparse_reference,
        is_handwritten=True,
    ),
)
