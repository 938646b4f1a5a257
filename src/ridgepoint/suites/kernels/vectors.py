"""Vectors, hand-written: daxpy and STREAM's four.

Scalars are such that results stay as large as their operands, however often they are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ridgepoint.suites.kernels.ir import Body, Element, Function, Vectors
from ridgepoint.suites.kernels.native import NativeCall, SharedCall, native, slices
from ridgepoint.suites.kernels.operands import Array, Operand
from ridgepoint.suites.kernels.results import Expected
from ridgepoint.suites.kernels.workload import Call, Workload

ALPHA = 1e-9
"""Of daxpy: y grows by a thousandth of x in a million calls."""

_DOUBLES_OF_A_LINE = 8

SCALAR = 3.0
"""Of STREAM, as in J. McCalpin's program."""

DAXPY_SIZES = tuple(10_000 + 30_000 * i * i for i in range(10))
DAXPY_QUICK_SIZES = (10_000, 130_000, 1_090_000)
"""Fig. 2 of Ofenbeck et al., "Applying the roofline model", ISPASS 2014: 160 KB to 39 MB."""

_STREAM_SIZES = (1_000, 4_000, 16_000, 64_000, 256_000, 1_024_000, 4_096_000, 8_192_000)
_STREAM_QUICK_SIZES = (16_000, 256_000, 1_024_000)


def vector_operands(count: int) -> Callable[[int], tuple[Operand, ...]]:
    """Return operands that are vectors of n numbers."""
    return lambda n: (Operand(shape=(n,)),) * count


def daxpy_expected(n: int) -> Expected:
    """Return what daxpy must do: n multiplications and n additions; x and y read, y written."""
    return Expected(work_flop=2 * n, read_bytes=16 * n, write_bytes=8 * n)


def daxpy_reference(x: Array, y: Array) -> Array:
    """Return y after a call."""
    return y + ALPHA * x


def _element_wise(name: str, reads: Sequence[str], write: str, body: Body) -> Callable[..., str]:
    """Return the source of a loop over the named arrays, with the scalar ``s`` as its last."""
    pointers = sorted({*reads, write})

    def source(function: str, vectors: Vectors) -> str:
        parameters = ", ".join(["i64 %n", *(f"ptr %{p}" for p in pointers), "double %s"])
        code = Function(function, parameters, vectors)
        code.spread("s")
        arrays = {pointer: f"%{pointer}" for pointer in reads}
        code.each("i", "%n", reads=arrays, write=f"%{write}", body=body)
        return code.text()

    source.__name__ = name
    return source


def _compiled(
    name: str, reads: Sequence[str], write: str, body: Body, scalar: float
) -> Callable[[int, int], Call]:
    source = _element_wise(name, reads, write, body)

    def compile_part(n: int) -> NativeCall:
        pointers = len({*reads, write})
        return native(source, name, sizes=(n,), pointers=pointers, scalars=(scalar,))

    def compile_for(n: int, threads: int) -> Call:
        if threads == 1:
            return compile_part(n)
        parts = slices(n, threads, multiple=_DOUBLES_OF_A_LINE)
        return SharedCall([(compile_part(part.stop - part.start), part) for part in parts])

    return compile_for


def _daxpy(e: Element) -> list[str]:
    return [e.muladd("out", e.scalar("s"), e.value("x"), e.value("y"))]


def _copy(e: Element) -> list[str]:
    # A move of a register: the code generator drops it.
    return [f"{e.value('out')} = bitcast {e.type} {e.value('a')} to {e.type}"]


def _scale(e: Element) -> list[str]:
    return [e.op("out", "fmul", e.scalar("s"), e.value("a"))]


def _add(e: Element) -> list[str]:
    return [e.op("out", "fadd", e.value("a"), e.value("b"))]


def _triad(e: Element) -> list[str]:
    return [e.muladd("out", e.scalar("s"), e.value("b"), e.value("a"))]


def _stream(
    kind: str, formula: str, *, reads: Sequence[str], flop: int, body: Body,
    reference: Callable[..., Array],
) -> Workload:  # fmt: skip
    """Return one of STREAM's kernels, which writes the array c."""
    n_reads = len(reads)

    def expect(n: int) -> Expected:
        # c is read before it is written.
        return Expected(work_flop=flop * n, read_bytes=8 * n * (n_reads + 1), write_bytes=8 * n)

    return Workload(
        name=f"stream.{kind}",
        formula=formula,
        sizes=_STREAM_SIZES,
        quick_sizes=_STREAM_QUICK_SIZES,
        operands=vector_operands(n_reads + 1),
        expect=expect,
        compile=_compiled(f"stream_{kind}", reads, "c", body, SCALAR),
        reference=reference,
        parallel=True,
        is_handwritten=True,
    )


WORKLOADS = (
    Workload(
        name="daxpy.llvm",
        formula="y = a x + y",
        sizes=DAXPY_SIZES,
        quick_sizes=DAXPY_QUICK_SIZES,
        operands=vector_operands(2),
        expect=daxpy_expected,
        compile=_compiled("daxpy", ("x", "y"), "y", _daxpy, ALPHA),
        reference=daxpy_reference,
        parallel=True,
        is_handwritten=True,
    ),
    _stream("copy", "c = a", reads="a", flop=0, body=_copy, reference=lambda a, c: a.copy()),
    _stream("scale", "c = s a", reads="a", flop=1, body=_scale, reference=lambda a, c: SCALAR * a),
    _stream("add", "c = a + b", reads="ab", flop=1, body=_add, reference=lambda a, b, c: a + b),
    _stream(
        "triad", "c = a + s b", reads="ab", flop=2, body=_triad,
        reference=lambda a, b, c: a + SCALAR * b,
    ),
)  # fmt: skip
