"""Peaks of integer arithmetic: independent chains of one operation in registers.

    for r in range(repeats):
        for u in range(unroll):
            for k in range(chains):
                x[k] = x[k] + (a, b)[u % 2]                # add
                x[k] = x[k] ^ (a, b)[u % 2]                # xor
                x[k] = x[k] * (a, b)[u % 2]                # mul; odd stays odd
                x[k] = -1 if x[k] > (a, b)[u % 2] else 0   # compare, signed; a > 0 > b

One op is one operation of one lane. LLVM would fold two steps into one, with a + b before the loop
or by an instruction that does both: what it cannot see through stands between them, and emits
nothing. Twelve chains of vectors, ten of scalars, which have fewer registers.

Compares are of vectors alone, and where they write vectors: scalars need a second instruction to
keep the result, and so do vectors whose compares write masks. LLVM may write a vector's xor as
VXORPS, which some older Intel cores do on one pipe only.
"""

from __future__ import annotations

import struct
from typing import Literal

from ridgepoint.kernels.chains import chains_ir, value
from ridgepoint.kernels.isa import element_bits
from ridgepoint.kernels.kernel import Claim, Kernel, lanes, width_name

IntegerOperation = Literal["add", "xor", "mul", "compare"]
Integer = Literal["int32", "int64"]

_VECTOR_CHAINS, _VECTOR_UNROLL = 12, 4
# A scalar loop's counter competes with its work: 160 operations make it less than 1 %.
_SCALAR_CHAINS, _SCALAR_UNROLL = 10, 16

_FORMULA = {
    "add": "x[k] = x[k] + (a, b)[u % 2]",
    "xor": "x[k] = x[k] ^ (a, b)[u % 2]",
    "mul": "x[k] = x[k] * (a, b)[u % 2]",
    "compare": "x[k] = -1 if x[k] > (a, b)[u % 2] else 0",
}


def _operand(high: int, low: int) -> float:
    """Return the float whose two halves, read as integers, are these."""
    return float(struct.unpack("<d", struct.pack("<II", low, high))[0])


# Odd in both halves: a product of odd numbers is never 0. Positive, and negative, in both.
OPERANDS = (
    _operand(0x3FF12345, 0x12345679),
    _operand(0xBFF12345, 0x92345679),
    *(_operand(0x3FF54321 + 2 * k, 0x7654321F + 2 * k) for k in range(_VECTOR_CHAINS)),
)
"""Two operands, and what chains start from: numbers of either width."""


def integer_peak(operation: IntegerOperation, *, integer: Integer, width_bits: int) -> Kernel:
    """Return the kernel that keeps one integer operation as busy as it can be.

    Parameters
    ----------
    operation : {"add", "xor", "mul", "compare"}
    integer : {"int32", "int64"}
    width_bits : int
        128, 256 or 512; 0: scalar. `Isa.integer_widths` says which are one instruction.
    """
    bits, n_lanes = element_bits(integer), lanes(integer, width_bits)
    vector = f"<{n_lanes} x i{bits}>" if width_bits else f"i{bits}"
    mask = f"<{n_lanes} x i1>"
    chains = _VECTOR_CHAINS if width_bits else _SCALAR_CHAINS
    unroll = _VECTOR_UNROLL if width_bits else _SCALAR_UNROLL
    # There is a fence for vectors of floating-point numbers, and assembly without registers' names
    # for scalars.
    fenced = f"<{n_lanes} x {'float' if bits == 32 else 'double'}>"
    fence = f"@llvm.arithmetic.fence.v{n_lanes}f{bits}"

    def step(result: str, u: int, k: int) -> str:
        x, operand = value(k, u), ("%a", "%b")[u % 2]
        if operation == "compare":
            above = f"  {result}_m = icmp sgt {vector} {x}, {operand}"
            return f"{above}\n  {result} = sext {mask} {result}_m to {vector}"
        computed = f"  {result}_i = {operation} {vector} {x}, {operand}"
        if not width_bits:
            return f'{computed}\n  {result} = call {vector} asm "", "=r,0"({vector} {result}_i)'
        return "\n".join(
            (
                computed,
                f"  {result}_f = bitcast {vector} {result}_i to {fenced}",
                f"  {result}_g = call {fenced} {fence}({fenced} {result}_f)",
                f"  {result} = bitcast {fenced} {result}_g to {vector}",
            )
        )

    return Kernel(
        name=f"{operation} {width_name(width_bits)}",
        ir=chains_ir(
            step,
            vector=vector,
            chains=chains,
            unroll=unroll,
            declare=f"declare {fenced} {fence}({fenced})" if width_bits else "",
        ),
        claim=Claim(
            operation=operation,
            precision=integer,
            width_bits=width_bits,
            executes=((operation, chains * unroll),),
        ),
        work_per_repeat=chains * unroll * n_lanes,
        operands=OPERANDS[: 2 + chains],
        pseudo_code=f"""\
for u in range({unroll}):
    for k in range({chains}):
        {_FORMULA[operation]}   # {n_lanes} {integer} each""",
    )
