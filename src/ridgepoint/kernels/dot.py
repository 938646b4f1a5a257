"""Peaks of low precision: independent chains of dot products, or of half-precision multiply-adds.

    for r in range(repeats):
        for u in range(UNROLL):
            for k in range(CHAINS):
                x[k] = x[k] + a[0] * b[0] + a[1] * b[1]                  # bf16; x, a lane, is fp32
                x[k] = x[k] + a[0] * b[0] + ... + a[3] * b[3]            # int8; x is int32
                x[k] = x[k] + a * (a, b)[u % 2]                          # fp16; b = -a

Every multiplication and every addition counts: 4 flop of bf16 or 8 op of int8 for each lane of
32 bit, 2 flop of fp16 for each of 16. The factors' width names the resource, not the sums'.

As many chains as there are registers for before AVX-512: on a Zen 5 core, where VDPBF16PS takes 6
cycles and two start in each, twelve chains reach 95 % of what fourteen do.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from ridgepoint.kernels.chains import chains_ir, value
from ridgepoint.kernels.isa import Architecture
from ridgepoint.kernels.kernel import Claim, Kernel, width_name

Kind = Literal["bf16", "int8", "fp16"]

CHAINS = 14
UNROLL = 4

_X86_64_WIDTHS = (128, 256, 512)
_AARCH64_WIDTHS = (128,)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arithmetic:
    """What one instruction computes, and from what.

    Parameters
    ----------
    operation : str
    lane : str
        LLVM type of a chain's lanes.
    lane_bits : int
    work_per_lane : int
        Flop or op.
    a, b : bytes
        The 8 bytes that each operand repeats.
    start : str
        Format by which `struct` fills 8 bytes with a chain's first value.
    """

    operation: str
    lane: str
    lane_bits: int
    work_per_lane: int
    a: bytes
    b: bytes
    start: str


# No value grows, vanishes or becomes denormal: what is added is taken away again, and the chains'
# lanes hold it exactly. Integers wrap.
_ARITHMETIC: dict[Kind, _Arithmetic] = {
    "bf16": _Arithmetic(
        operation="dot",
        lane="float",
        lane_bits=32,
        work_per_lane=4,
        a=struct.pack("<4H", *(0x3FA7, 0x3FA7, 0x3FA7, 0x3FA7)),
        b=struct.pack("<4H", *(0x3F40, 0xBF40, 0x3F40, 0xBF40)),
        start="<2f",
    ),
    "int8": _Arithmetic(
        operation="dot",
        lane="i32",
        lane_bits=32,
        work_per_lane=8,
        a=bytes((113, 57, 91, 38, 87, 29, 75, 104)),
        b=bytes((101, 45, 77, 62, 33, 118, 94, 51)),
        start="<2f",
    ),
    "fp16": _Arithmetic(
        operation="fma",
        lane="half",
        lane_bits=16,
        work_per_lane=2,
        a=struct.pack("<4e", 0.375, 0.375, 0.375, 0.375),
        b=struct.pack("<4e", -0.375, -0.375, -0.375, -0.375),
        start="<4e",
    ),
}

# Regular expressions of mnemonics.
_MNEMONICS: dict[tuple[Architecture, Kind], str] = {
    ("x86_64", "bf16"): "VDPBF16PS",
    ("x86_64", "int8"): "VPDPBUSD",
    ("x86_64", "fp16"): "VFMADD(132|213|231)PH",
    ("aarch64", "bf16"): "BFDOT",
    ("aarch64", "int8"): "SDOT",
    ("aarch64", "fp16"): "FMLA",
}


def dot_peak(kind: Kind, *, width_bits: int, architecture: Architecture = "x86_64") -> Kernel:
    """Return the kernel that keeps one kind of low-precision arithmetic as busy as it can be.

    Parameters
    ----------
    kind : {"bf16", "int8", "fp16"}
        Also the resource.
    width_bits : int
        One of `dot_widths`.
    architecture : {"x86_64", "aarch64"}
    """
    arithmetic = _ARITHMETIC[kind]
    lanes = width_bits // arithmetic.lane_bits
    vector = f"<{lanes} x {arithmetic.lane}>"
    function, factors = _instruction(kind, width_bits, architecture)

    def step(result: str, u: int, k: int) -> str:
        x = value(k, u)
        if kind == "fp16":
            # Arm's multiply-add overwrites what it adds to: that must be the chain.
            b = ("%a", "%b")[u % 2]
            return f"  {result} = call {vector} {function}({vector} %a, {vector} {b}, {vector} {x})"
        # The chains' loop loads all vectors as one type; to read the factors so costs nothing.
        return "\n".join(
            (
                *(f"  {result}_{n} = bitcast {vector} %{n} to {factors}" for n in "ab"),
                f"  {result} = call {vector} {function}"
                f"({vector} {x}, {factors} {result}_a, {factors} {result}_b)",
            )
        )

    work = CHAINS * UNROLL * lanes * arithmetic.work_per_lane
    starts = ([1.0 + k / 64] * (64 // arithmetic.lane_bits) for k in range(CHAINS))
    return Kernel(
        name=f"{arithmetic.operation} {width_name(width_bits)}",
        ir=chains_ir(
            step,
            vector=vector,
            chains=CHAINS,
            unroll=UNROLL,
            declare=f"declare {vector} {function}({vector}, {factors}, {factors})",
        ),
        claim=Claim(
            operation=arithmetic.operation,
            precision=kind,
            width_bits=width_bits,
            flop=0 if kind == "int8" else work,
            instructions=((_MNEMONICS[architecture, kind], CHAINS * UNROLL),),
        ),
        work_per_repeat=work,
        operands=(
            operand(arithmetic.a),
            operand(arithmetic.b),
            *(operand(struct.pack(arithmetic.start, *start)) for start in starts),
        ),
        pseudo_code=_pseudo_code(kind, lanes),
    )


def dot_widths(
    kind: Kind,
    widths: Iterable[int],
    has: Callable[[str], bool],
    *,
    architecture: Architecture = "x86_64",
) -> tuple[int, ...]:
    """Return in which of some vector widths a CPU has the arithmetic as one instruction.

    Parameters
    ----------
    kind : {"bf16", "int8", "fp16"}
    widths : iterable of int
    has : callable
        Whether the CPU has a feature, by LLVM's name of it.
    architecture : {"x86_64", "aarch64"}

    Examples
    --------
    >>> dot_widths("int8", (128, 256), {"avxvnni"}.__contains__)
    (128, 256)
    """
    if architecture == "aarch64":
        feature = {"bf16": "bf16", "int8": "dotprod", "fp16": "fullfp16"}[kind]
        return tuple(w for w in widths if w in _AARCH64_WIDTHS and has(feature))
    wide = has({"bf16": "avx512bf16", "int8": "avx512vnni", "fp16": "avx512fp16"}[kind])
    # Narrow vectors of AVX-512 are AVX512VL; those of VNNI are also in AVX_VNNI, without AVX-512.
    narrow = (wide and has("avx512vl")) or (kind == "int8" and has("avxvnni"))
    return tuple(w for w in widths if w in _X86_64_WIDTHS and (wide if w == 512 else narrow))


def _instruction(kind: Kind, width_bits: int, architecture: Architecture) -> tuple[str, str]:
    """Return the LLVM function that becomes one instruction, and the type of its factors."""
    if kind == "fp16":
        lanes = width_bits // 16
        return f"@llvm.fma.v{lanes}f16", f"<{lanes} x half>"
    if architecture == "aarch64":
        return {
            "bf16": ("@llvm.aarch64.neon.bfdot.v4f32.v8bf16", "<8 x bfloat>"),
            "int8": ("@llvm.aarch64.neon.sdot.v4i32.v16i8", "<16 x i8>"),
        }[kind]
    # LLVM has since given the factors types of their own; it still reads the first, of integers.
    name = {"bf16": "avx512bf16.dpbf16ps", "int8": "avx512.vpdpbusd"}[kind]
    return f"@llvm.x86.{name}.{width_bits}", f"<{width_bits // 32} x i32>"


def operand(eight_bytes: bytes) -> float:
    """Return the double that stands for these bytes: operands reach the buffer as doubles."""
    return float(struct.unpack("<d", eight_bytes)[0])


def _pseudo_code(kind: Kind, lanes: int) -> str:
    step = {
        "bf16": "x[k][i] += a[2*i] * b[2*i] + a[2*i + 1] * b[2*i + 1]    # 4 flop; x is fp32",
        "int8": "x[k][i] += sum(a[4*i + j] * b[4*i + j] for j in range(4))    # 8 op; x is int32",
        "fp16": "x[k][i] += a[i] * b[i]    # 2 flop; b is a and -a in turn",
    }[kind]
    return (
        f"repeat {UNROLL} times:\n"
        f"    for k in range({CHAINS}):    # independent chains\n"
        f"        for i in range({lanes}):    # one instruction\n"
        f"            {step}"
    )
