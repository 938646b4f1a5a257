"""Matrices, hand-written: dgemv by columns; dgemm as three loops, and as six."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ridgepoint.suites.kernels.ir import Element, Function, Vectors
from ridgepoint.suites.kernels.native import native
from ridgepoint.suites.kernels.operands import Array, Operand
from ridgepoint.suites.kernels.results import Expected
from ridgepoint.suites.kernels.workload import Call, Workload

BETA = 0.5
"""Of dgemv and dgemm, beside alpha = 1/n: results converge to a few times their operands."""

BLOCK = 50
"""Side of the blocks of the six-fold loop, Ofenbeck et al., "Applying the roofline model"."""

_VALIDATED = tuple(100 * i for i in range(1, 7))
_PLOTTED = tuple(100 + 300 * i for i in range(10))
SQUARE_SIZES = tuple(sorted({*_VALIDATED, *_PLOTTED}))
"""The same paper's series: of its validation, and of its Fig. 2."""

SQUARE_QUICK_SIZES = (100, 300, 600)

_NAIVE_SIZES = (*_VALIDATED, 700, 1000)
_NAIVE_QUICK_SIZES = (100, 200, 300)

_LINE = 8  # numbers in a cache line
_BYTES = 8  # of a number
_COUNTED_WHOLE = 400  # the largest n of the loops whose calls are all counted whole

# The more rounds, the less what surrounds the calls disturbs. The first that save half of them.
_COUNTED_ROUNDS = ((4, 16, 28, 40, 52), (2, 4, 6, 8, 10), (1, 2, 3, 4), (1, 2, 3))

_COLUMNS = 4
_GROWTH = 1e-9  # of the product that a call of the loops adds to C


def dgemv_operands(n: int) -> tuple[Operand, ...]:
    """Return a, in Fortran's order, x and y."""
    return Operand(shape=(n, n), order="F"), Operand(shape=(n,)), Operand(shape=(n,))


def dgemv_expected(n: int) -> Expected:
    """Return what dgemv must do: n² FMAs, alpha times x and beta times y; y alone is written."""
    return Expected(work_flop=2 * n * n + 2 * n, read_bytes=8 * n * n + 16 * n, write_bytes=8 * n)


def dgemv_reference(a: Array, x: Array, y: Array) -> Array:
    """Return y after a call."""
    result: Array = a @ x / len(x) + BETA * y
    return result


def _dgemv_source(name: str, vectors: Vectors) -> str:
    """Return the source of y = beta y, then y += (alpha x[j]) a[:, j], four columns at once.

    n flop for beta y and n for alpha x, whatever the vectors; n² FMAs.
    """
    code = Function(name, "i64 %n, ptr %a, ptr %x, ptr %y, double %alpha, double %beta", vectors)
    code.spread("beta")
    code.each(
        "b", "%n", reads={"y": "%y"}, write="%y",
        body=lambda e: [e.op("out", "fmul", e.scalar("beta"), e.value("y"))],
    )  # fmt: skip
    code.add(f"%fours = and i64 %n, {-_COLUMNS}")
    with code.loop("j", "0", "%fours", step=str(_COLUMNS)):
        _add_columns(code, "j", _COLUMNS)
    with code.loop("k", "%fours", "%n"):
        _add_columns(code, "k", 1)
    return code.text()


def _add_columns(code: Function, index: str, columns: int) -> None:
    """Write y += sum of (alpha x[index + c]) a[:, index + c] over some columns."""
    for c in range(columns):
        at, factor = f"{index}{c}", f"t{index}{c}"
        code.add(
            f"%{at} = add i64 %{index}, {c}",
            f"%x.{at}.at = getelementptr double, ptr %x, i64 %{at}",
            f"%x.{at} = load double, ptr %x.{at}.at, align 8",
            f"%{factor} = fmul double %alpha, %x.{at}",
            f"%offset.{at} = mul i64 %{at}, %n",
            f"%a.{at} = getelementptr double, ptr %a, i64 %offset.{at}",
        )
        code.spread(factor)

    def body(e: Element) -> list[str]:
        lines, total = [], e.value("y")
        for c in range(columns):
            result = "out" if c == columns - 1 else f"sum{c}"
            lines.append(e.muladd(result, e.scalar(f"t{index}{c}"), e.value(f"a{c}"), total))
            total = e.value(result)
        return lines

    reads = {"y": "%y"} | {f"a{c}": f"%a.{index}{c}" for c in range(columns)}
    code.each(f"i{index}", "%n", reads=reads, write="%y", body=body)


_LOOPS_PARAMETERS = "i64 %n, i64 %rounds, i64 %stride, i64 %rows, ptr %a, ptr %b, ptr %c"


def _loops_operands(n: int) -> tuple[Operand, ...]:
    square = Operand(shape=(n, n))
    return Operand(shape=(n, n), scale=_GROWTH), square, square


def _loops_expected(n: int) -> Expected:
    """Return what C += A B must do: n³ FMAs; all three are read, C is written."""
    return Expected(work_flop=2 * n**3, read_bytes=24 * n * n, write_bytes=8 * n * n)


def _naive_source(name: str, vectors: Vectors) -> str:
    """Return the source of ``for i: for j: for k: c[i, j] += a[i, k] * b[k, j]``.

    The i are those of `_of_rounds`.
    """
    code = Function(name, _LOOPS_PARAMETERS, vectors)
    with _of_rounds(code), code.loop("i", "%begin", "%end"), code.loop("j", "0", "%n"):
        _add_dot(code, "0", "%n")
    return code.text()


def _blocked_source(name: str, vectors: Vectors) -> str:
    """Return the source of the same three loops within three over blocks."""
    code = Function(name, _LOOPS_PARAMETERS, vectors)

    def blocks(index: str) -> None:
        code.add(
            f"%{index}.far = add i64 %{index}0, {BLOCK}",
            f"%{index}.end = call i64 @llvm.smin.i64(i64 %{index}.far, i64 %n)",
        )

    step = str(BLOCK)
    with (
        _of_rounds(code),
        code.loop("i0", "%begin", "%end", step=step),
        code.loop("j0", "0", "%n", step=step),
        code.loop("k0", "0", "%n", step=step),
    ):
        for index in "ijk":
            blocks(index)
        with code.loop("i", "%i0", "%i.end"), code.loop("j", "%j0", "%j.end"):
            _add_dot(code, "%k0", "%k.end")
    return code.text()


@contextlib.contextmanager
def _of_rounds(code: Function) -> Iterator[None]:
    """Write the loop over rounds, each of `rows` rows from ``%begin`` to ``%end``.

    One round of n rows is the whole product; fewer rows, `stride` apart, are a part of it.
    """
    with code.loop("round", "0", "%rounds"):
        code.add(
            "%begin = mul i64 %round, %stride",
            "%far = add i64 %begin, %rows",
            "%end = call i64 @llvm.smin.i64(i64 %far, i64 %n)",
        )
        yield


def _add_dot(code: Function, begin: str, end: str) -> None:
    """Write c[i, j] += sum of a[i, k] b[k, j] over k, one after the other."""
    code.add(
        "%row = mul i64 %i, %n",
        "%c.place = add i64 %row, %j",
        "%c.at = getelementptr double, ptr %c, i64 %c.place",
        "%c.old = load double, ptr %c.at, align 8",
    )
    with code.loop("k", begin, end, carried={"sum": "%c.old"}):
        code.add(
            "%a.place = add i64 %row, %k",
            "%a.at = getelementptr double, ptr %a, i64 %a.place",
            "%a.k = load double, ptr %a.at, align 8",
            "%b.row = mul i64 %k, %n",
            "%b.place = add i64 %b.row, %j",
            "%b.at = getelementptr double, ptr %b, i64 %b.place",
            "%b.k = load double, ptr %b.at, align 8",
            "%sum.next = call double @llvm.fmuladd.f64(double %a.k, double %b.k, double %sum)",
        )
    code.add("store double %sum.end, ptr %c.at, align 8")


def _compile_dgemv(n: int, threads: int) -> Call:
    return native(_dgemv_source, "dgemv", sizes=(n,), pointers=3, scalars=(1 / n, BETA))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rounds:
    """The outermost loop of a product, in rounds of whole cache lines of A and C.

    Parameters
    ----------
    name : str
    source : callable
    rows : callable
        Maps n to the number of rows of a round.
    """

    name: str
    source: Callable[[str, Vectors], str]
    rows: Callable[[int], int]

    def length(self, n: int) -> float:
        """Return how many rounds the whole product has."""
        return n / self.rows(n)

    def parts(self, n: int) -> tuple[int, ...]:
        """Return the rounds of each call to count; none: it is counted whole."""
        if n <= _COUNTED_WHOLE:
            return ()
        shorter = (rounds for rounds in _COUNTED_ROUNDS if 2 * sum(rounds) <= self.length(n))
        return next(shorter, ())

    def size_reusing(self, nbytes: int) -> int:
        """Return the n with which B has about so many bytes.

        A row is an odd number of lines, so that the lines of a column lie in different sets.
        """
        step = 2 * _LINE
        return max(0, round((math.sqrt(nbytes / _BYTES) - _LINE) / step)) * step + _LINE

    def compile(self, n: int, rounds: int | None) -> Call:
        """Return the call of some rounds, evenly apart; None: of all."""
        sizes = (n, 1, n, n)
        if rounds is not None:
            rows = self.rows(n)
            sizes = (n, rounds, n // rows // rounds * rows, rows)
        return native(self.source, f"dgemm_{self.name}", sizes=sizes, pointers=3)


def _loops(outer: _Rounds) -> Workload:
    name = outer.name
    return Workload(
        name=f"dgemm.{name}",
        formula="C = C + A B",
        sizes=_NAIVE_SIZES,
        quick_sizes=_NAIVE_QUICK_SIZES,
        operands=_loops_operands,
        expect=_loops_expected,
        compile=lambda n, threads: outer.compile(n, None),
        reference=lambda a, b, c: c + a @ b,
        is_handwritten=True,
        outer=outer,
    )


WORKLOADS = (
    Workload(
        name="dgemv.llvm",
        formula="y = alpha A x + beta y",
        sizes=SQUARE_SIZES,
        quick_sizes=SQUARE_QUICK_SIZES,
        operands=dgemv_operands,
        expect=dgemv_expected,
        compile=_compile_dgemv,
        reference=dgemv_reference,
        is_handwritten=True,
    ),
    _loops(
        _Rounds(
            name="naive",
            source=_naive_source,
            rows=lambda n: _LINE // math.gcd(n, _LINE),
        )
    ),
    _loops(
        _Rounds(
            name="blocked",
            source=_blocked_source,
            rows=lambda n: BLOCK,
        )
    ),
)
