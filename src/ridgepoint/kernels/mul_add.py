"""Products beside additions: how many pipes there are for both together.

    for r in range(repeats):
        for u in range(UNROLL):
            for k in range(chains):             # in turn: mul, add, mul, add
                x[k] = x[k] * (a, b)[u % 2]     # a = 1, b = -1: x keeps its size
                x[k] = x[k] + (a, b)[u % 2]

Many long instructions may not fit where a core keeps them decoded, and few chains do not hide
their latency: several numbers of chains are tried (`REGISTERS`).

Where additions have pipes of their own this is faster than either alone, and on cores without
multiply-adds it is the peak. It tells what bounds a program of both (`ridgepoint.models.mix`).
"""

from __future__ import annotations

from typing import Literal

from ridgepoint.kernels.chains import OPERANDS, chains_ir, value
from ridgepoint.kernels.kernel import Claim, Kernel, lanes, vector_type, width_name

__all__ = ["REGISTERS", "mul_add"]

REGISTERS = (16, 24, 32)
"""Numbers of registers that are tried, as far as there are so many."""

_UNROLL = 4
# a + b = 0 and |a b| = 1: neither sums nor products grow, vanish, or become denormal.
_OPERANDS = (1.0, -1.0)
_OPERATIONS = ("mul", "add")


def mul_add(*, precision: Literal["fp64", "fp32"], width_bits: int, registers: int = 16) -> Kernel:
    """Return the kernel that keeps as many products as additions busy together.

    Parameters
    ----------
    precision : {"fp64", "fp32"}
    width_bits : int
        128, 256 or 512; 0: scalar.
    registers : int
        That the code may use, one of `REGISTERS`: all but two hold a chain.
    """
    vector, n_lanes = vector_type(precision, width_bits), lanes(precision, width_bits)
    chains = (registers - OPERANDS) // 2 * 2
    number = _UNROLL * chains // 2

    def step(result: str, u: int, k: int) -> str:
        operand = ("%a", "%b")[u % 2]
        return f"  {result} = f{_OPERATIONS[k % 2]} {vector} {value(k, u)}, {operand}"

    return Kernel(
        name=f"mul+add {chains} chains {width_name(width_bits)}",
        ir=chains_ir(step, vector=vector, chains=chains, unroll=_UNROLL),
        claim=Claim(
            operation="mul+add",
            precision=precision,
            width_bits=width_bits,
            flop=2 * number * n_lanes,
            executes=(("mul", number), ("add", number)),
        ),
        work_per_repeat=2 * number * n_lanes,
        operands=(*_OPERANDS, *(1.0 + k / 64 for k in range(chains))),
        pseudo_code=f"""\
for u in range({_UNROLL}):
    for k in range({chains}):
        if k % 2 == 0:
            x[k] = x[k] * (a, b)[u % 2]   # 1 flop x {n_lanes}
        else:
            x[k] = x[k] + (a, b)[u % 2]   # 1 flop x {n_lanes}""",
    )
