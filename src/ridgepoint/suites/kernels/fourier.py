"""The FFT, hand-written: radix 2, its twiddle factors computed as it goes."""

from __future__ import annotations

import numpy as np

from ridgepoint.suites.kernels.ir import Function, Vectors
from ridgepoint.suites.kernels.native import native
from ridgepoint.suites.kernels.operands import Array, Operand
from ridgepoint.suites.kernels.results import Expected
from ridgepoint.suites.kernels.workload import Call, Workload

SIZES = tuple(1 << k for k in range(5, 23))
"""Ofenbeck et al., "Applying the roofline model", ISPASS 2014, Fig. 2."""

QUICK_SIZES = (1 << 10, 1 << 14, 1 << 17)

_COMPLEX_BYTES = 16


def transform_operands(n: int) -> tuple[Operand, ...]:
    """Return the input and the output: in place, numbers would grow from call to call."""
    return (Operand(shape=(n,), dtype="c16"),) * 2


def reference(x: Array, out: Array) -> Array:
    """Return the output after a call."""
    transformed: Array = np.fft.fft(x)
    return transformed


def pseudo_flop(n: int) -> float:
    """Return 5 n log2 n, whatever a code executes."""
    return float(5 * n * np.log2(n))


def moved_bytes(n: int) -> tuple[int, int]:
    """Return bytes read and written: the input, and the output, which is read first."""
    return 2 * _COMPLEX_BYTES * n, _COMPLEX_BYTES * n


def radix2_work_flop(n: int) -> int:
    """Return the flop of the radix-2 code, n being a power of two.

    Notes
    -----
    A stage that combines transforms of length m to such of 2 m has n/(2 m) butterflies for each
    of m twiddle factors: n/2 in all. The flop are

    - of a butterfly a, b -> a + w b, a - w b: 6 of the product (3 for each part, the one with
      the FMA 2 and the other multiplication 1), and 4 of the sum and the difference: 10;
    - of the step from one factor to the next, w + w p: 3 for each part of the product and 1
      for its sum: 8, m times in a stage;
    - of the half of the angle: 1 and 1 (v / 2 and its root), 2 (the cosine), 2 (the new v): 6.

    With m = 1, 2, 4, ..., n/2, which are log2 n stages and sum to n - 1::

        W = 10 (n/2) log2 n + 8 (n - 1) + 6 log2 n = 5 n log2 n + 8 (n - 1) + 6 log2 n

    n = 2 by hand: one butterfly, one step, one half: 10 + 8 + 6 = 24.
    """
    stages = _stages(n)
    return 5 * n * stages + 8 * (n - 1) + 6 * stages


def _stages(n: int) -> int:
    """Return log2 n, or refuse n."""
    if n < 2 or n & (n - 1):
        raise ValueError(f"n must be a power of two, 2 or more, got {n!r}")
    return n.bit_length() - 1


def _expected(n: int) -> Expected:
    read, written = moved_bytes(n)
    return Expected(
        work_flop=radix2_work_flop(n),
        read_bytes=read,
        write_bytes=written,
        pseudo_flop=pseudo_flop(n),
    )


def _source(name: str, vectors: Vectors) -> str:
    """Return the source of the transform of n = 2^stages numbers.

    The input is copied in bit-reversed order. Then, for the angle t = pi / m of each stage, w
    goes from 1 by w + w p, p = exp(-i t) - 1: the sum of a large and a small number loses less
    than a product with exp(-i t). With v = 1 - cos t and s = sin t, p = -v - i s, and half the
    angle has ::

        h = v / 2,    s' = sqrt(h),    v' = 1 - cos(t / 2) = h / (1 + sqrt(1 - h))
    """
    code = Function(name, "i64 %n, i64 %stages, ptr %x, ptr %y", vectors)
    code.add("%unused = sub i64 64, %stages")
    with code.loop("r", "0", "%n"):
        code.add(
            "%mirrored = call i64 @llvm.bitreverse.i64(i64 %r)",
            "%place = lshr i64 %mirrored, %unused",
            "%from = getelementptr {double, double}, ptr %x, i64 %r",
            "%to = getelementptr {double, double}, ptr %y, i64 %place",
            "%moved = load <2 x double>, ptr %from, align 16",
            "store <2 x double> %moved, ptr %to, align 16",
        )
    # The first stage's angle is pi: 1 - cos pi = 2, sin pi = 0.
    with code.loop("stage", "0", "%stages", carried={"v": "2.0", "s": "0.0"}):
        code.add(
            "%m = shl i64 1, %stage",
            "%pair = shl i64 2, %stage",
            "%pr = fneg double %v",
            "%pi = fneg double %s",
        )
        with code.loop("k", "0", "%m", carried={"wr": "1.0", "wi": "0.0"}):
            with code.loop("i", "%k", "%n", step="%pair"):
                _butterfly(code)
            code.add(
                *_product("w", ("%wr", "%wi"), ("%pr", "%pi")),
                "%wr.next = fadd double %wr, %w.re",
                "%wi.next = fadd double %wi, %w.im",
            )
        code.add(
            "%h = fmul double %v, 0.5",
            "%s.next = call double @llvm.sqrt.f64(double %h)",
            "%square = fsub double 1.0, %h",
            "%cosine = call double @llvm.sqrt.f64(double %square)",
            "%above = fadd double 1.0, %cosine",
            "%v.next = fdiv double %h, %above",
        )
    return code.text()


def _product(result: str, a: tuple[str, str], b: tuple[str, str]) -> list[str]:
    """Return the lines of the product of two complex numbers: 6 flop."""
    (ar, ai), (br, bi) = a, b
    muladd = "call double @llvm.fmuladd.f64"
    return [
        f"%{result}.ii = fmul double {ai}, {bi}",
        f"%{result}.minus = fneg double %{result}.ii",
        f"%{result}.re = {muladd}(double {ar}, double {br}, double %{result}.minus)",
        f"%{result}.ir = fmul double {ai}, {br}",
        f"%{result}.im = {muladd}(double {ar}, double {bi}, double %{result}.ir)",
    ]


def _butterfly(code: Function) -> None:
    """Write y[i], y[i + m] = y[i] + w y[i + m], y[i] - w y[i + m]: 10 flop."""
    code.add("%j = add i64 %i, %m")
    for name in "ij":
        code.add(
            f"%{name}.re.at = getelementptr {{double, double}}, ptr %y, i64 %{name}",
            f"%{name}.im.at = getelementptr double, ptr %{name}.re.at, i64 1",
            f"%{name}.re = load double, ptr %{name}.re.at, align 8",
            f"%{name}.im = load double, ptr %{name}.im.at, align 8",
        )
    code.add(*_product("t", ("%wr", "%wi"), ("%j.re", "%j.im")))
    for part in ("re", "im"):
        code.add(
            f"%sum.{part} = fadd double %i.{part}, %t.{part}",
            f"%difference.{part} = fsub double %i.{part}, %t.{part}",
            f"store double %sum.{part}, ptr %i.{part}.at, align 8",
            f"store double %difference.{part}, ptr %j.{part}.at, align 8",
        )


def _compile(n: int, threads: int) -> Call:
    return native(_source, "fft_radix2", sizes=(n, _stages(n)), pointers=2)


WORKLOADS = (
    Workload(
        name="fft.radix2",
        formula="y = FFT(x), complex",
        sizes=SIZES,
        quick_sizes=QUICK_SIZES,
        operands=transform_operands,
        expect=_expected,
        compile=_compile,
        reference=reference,
        is_handwritten=True,
    ),
)
