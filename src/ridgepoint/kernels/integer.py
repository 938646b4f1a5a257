"""Peaks of integer arithmetic: independent chains of one operation in registers.

    for r in range(repeats):
        for u in range(unroll):
            for k in range(chains):
                x[k] = x[k] + x[(k + 1) % chains]                # add
                x[k] = x[k] ^ x[(k + 1) % chains]                # xor
                x[k] = x[k] * x[(k + 1) % chains]                # mul; odd stays odd
                x[k] = -1 if x[k] > (a, b)[u % 2] else 0         # compare, signed; a > 0 > b

One op is one operation of one lane. The neighbour is what it has become last: every value is used
twice, so that LLVM can neither add two operands up before the loop (``x + a + b``) nor make one
VPTERNLOG of two operations. Twelve chains of vectors, ten of scalars, which have fewer registers.

Compares are of vectors alone, and where they write vectors: scalars need a second instruction to
keep the result, and so do vectors whose compares write masks. LLVM may write a vector's xor as
VXORPS, which some older Intel cores do on one pipe only.
"""

from __future__ import annotations

import struct
from typing import Literal

from ridgepoint.kernels.chains import chains_ir, value
from ridgepoint.kernels.kernel import Claim, Kernel, width_name

IntegerOperation = Literal["add", "xor", "mul", "compare"]
Integer = Literal["int32", "int64"]

_VECTOR_CHAINS, _VECTOR_UNROLL = 12, 4
# A scalar loop's counter competes with its work: 160 operations make it less than 1 %.
_SCALAR_CHAINS, _SCALAR_UNROLL = 10, 16

_SIGNS = {"add": "+", "xor": "^", "mul": "*"}


def _operand(high: int, low: int) -> float:
    """Return the float whose two halves, read as integers, are these."""
    return float(struct.unpack("<d", struct.pack("<II", low, high))[0])


# Odd in both halves: a product of odd numbers is never 0. Positive, and negative, in both.
_OPERANDS = (
    _operand(0x3FF12345, 0x12345679),
    _operand(0xBFF12345, 0x92345679),
    *(_operand(0x3FF54321 + 2 * k, 0x7654321F + 2 * k) for k in range(_VECTOR_CHAINS)),
)


def integer_peak(operation: IntegerOperation, *, integer: Integer, width_bits: int) -> Kernel:
    """Return the kernel that keeps one integer operation as busy as it can be.

    Parameters
    ----------
    operation : {"add", "xor", "mul", "compare"}
    integer : {"int32", "int64"}
    width_bits : int
        128, 256 or 512; 0: scalar. `Isa.integer_widths` says which are one instruction.
    """
    bits = {"int32": 32, "int64": 64}[integer]
    lanes = max(1, width_bits // bits)
    vector = f"<{lanes} x i{bits}>" if width_bits else f"i{bits}"
    mask = f"<{lanes} x i1>"
    chains = _VECTOR_CHAINS if width_bits else _SCALAR_CHAINS
    unroll = _VECTOR_UNROLL if width_bits else _SCALAR_UNROLL

    def step(result: str, u: int, k: int) -> str:
        x = value(k, u)
        if operation == "compare":
            above = f"  {result}_m = icmp sgt {vector} {x}, {('%a', '%b')[u % 2]}"
            return f"{above}\n  {result} = sext {mask} {result}_m to {vector}"
        neighbour = value(k + 1, u) if k + 1 < chains else value(0, u + 1)
        return f"  {result} = {operation} {vector} {x}, {neighbour}"

    if operation == "compare":
        formula = "x[k] = -1 if x[k] > (a, b)[u % 2] else 0"
    else:
        formula = f"x[k] = x[k] {_SIGNS[operation]} x[(k + 1) % {chains}]"
    return Kernel(
        name=f"{operation} {width_name(width_bits)}",
        ir=chains_ir(step, vector=vector, chains=chains, unroll=unroll),
        claim=Claim(
            operation=operation,
            precision=integer,
            width_bits=width_bits,
            executes=((operation, chains * unroll),),
        ),
        work_per_repeat=chains * unroll * lanes,
        operands=_OPERANDS[: 2 + chains],
        pseudo_code=f"""\
for u in range({unroll}):
    for k in range({chains}):
        {formula}   # {lanes} {integer} each""",
    )
