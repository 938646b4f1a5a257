"""Peaks of floating-point arithmetic: independent chains of one operation in registers.

    for r in range(repeats):
        for u in range(UNROLL):
            for k in range(CHAINS):
                x[k] = x[k] + a * (a, b)[u % 2]  # fma; b = -a keeps x where it is
                x[k] = x[k] + (a, b)[u % 2]      # add; b = -a
                x[k] = x[k] * (a, b)[u % 2]      # mul; b = 1/a

The chain is what a multiply-add adds to, since that is what Arm's vector instruction overwrites:
a chain of ``x * a + b`` would take a move of b for each.

Twelve chains cover latency x throughput of every x86-64 core (4 cycles x 2 or 3 cycles x 2),
and with the two operands they fit the 16 registers that code before AVX-512 has.

Some cores add on pipes of their own beside the multiply-adds: `mix` has chains of both, as many
as there are registers for: a Zen 5 core needs twenty-four to fill four pipes.

    for r in range(repeats):
        for u in range(UNROLL):
            for k in range(fma_chains + add_chains):   # in turn: fma, fma, add, fma, fma, add
                x[k] = x[k] + a * (a, b)[u % 2]    # 2 flop per lane; b = -a
                x[k] = x[k] + (a, b)[u % 2]        # 1 flop per lane
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ridgepoint.kernels.chains import OPERANDS, WORKING_BYTES, chains_ir, value
from ridgepoint.kernels.kernel import Claim, Kernel, lanes, vector_type, width_name

__all__ = ["CHAINS", "MIXES", "UNROLL", "WORKING_BYTES", "mix", "peak"]

CHAINS = 12
UNROLL = 4

MIXES: tuple[tuple[int, int], ...] = ((2, 1), (1, 1))
"""Multiply-adds to additions that are tried. A Zen 4 core sustains 24 fp64 flop a cycle where
multiply-adds alone do 16, a Zen 5 core with pipes of 512 bit 48 where they do 32."""

Operation = Literal["add", "mul", "fma"]
_FUSED: tuple[Operation, ...] = ("fma",)
_ADDED: tuple[Operation, ...] = ("add",)
_FLOP: dict[Operation, int] = {"add": 1, "mul": 1, "fma": 2}

# Chosen so that no value grows, vanishes, or becomes denormal however long the loop runs:
# From the values of `_starts` x + a - a and x + a * a - a * a are exact, in fp32 too, and x * a * b
# is rounded back to x.
_OPERANDS: dict[Operation, tuple[float, float]] = {
    "add": (0.375, -0.375),
    "mul": (1.25, 0.8),
    "fma": (0.375, -0.375),
}
_FORMULA: dict[Operation, str] = {
    "add": "x[k] = x[k] + (a, b)[u % 2]",
    "mul": "x[k] = x[k] * (a, b)[u % 2]",
    "fma": "x[k] = x[k] + a * (a, b)[u % 2]",
}


def peak(operation: Operation, *, precision: Literal["fp64", "fp32"], width_bits: int) -> Kernel:
    """Return the kernel that keeps one floating-point operation as busy as it can be.

    Parameters
    ----------
    operation : {"add", "mul", "fma"}
    precision : {"fp64", "fp32"}
    width_bits : int
        128, 256 or 512; 0: scalar.
    """
    chains = (operation,) * CHAINS
    flop = UNROLL * lanes(precision, width_bits) * sum(_FLOP[o] for o in chains)
    return Kernel(
        name=f"{operation} {width_name(width_bits)}",
        ir=_ir(chains, precision, width_bits),
        claim=Claim(
            operation=operation,
            precision=precision,
            width_bits=width_bits,
            flop=flop,
            executes=((operation, UNROLL * CHAINS),),
        ),
        work_per_repeat=flop,
        operands=(*_OPERANDS[operation], *_starts(CHAINS)),
        pseudo_code=f"""\
for u in range({UNROLL}):
    for k in range({CHAINS}):
        {_FORMULA[operation]}   # {_FLOP[operation]} flop x {lanes(precision, width_bits)}""",
    )


def mix(
    ratio: tuple[int, int],
    *,
    precision: Literal["fp64", "fp32"],
    width_bits: int,
    registers: int = 16,
) -> Kernel:
    """Return the kernel that keeps multiply-adds and additions busy together.

    Parameters
    ----------
    ratio : tuple of int
        Multiply-adds to additions.
    precision : {"fp64", "fp32"}
    width_bits : int
        128, 256 or 512; 0: scalar.
    registers : int
        That the code may use, 16 or 32: all but two hold a chain.
    """
    fma, add = ratio
    period: tuple[Operation, ...] = _FUSED * fma + _ADDED * add
    chains: tuple[Operation, ...] = period * ((registers - OPERANDS) // len(period))
    flop = UNROLL * lanes(precision, width_bits) * sum(_FLOP[o] for o in chains)
    return Kernel(
        name=f"fma+add {fma}:{add} {width_name(width_bits)}",
        ir=_ir(chains, precision, width_bits),
        claim=Claim(
            operation="fma+add",
            precision=precision,
            width_bits=width_bits,
            flop=flop,
            executes=(
                ("fma", UNROLL * chains.count("fma")),
                ("add", UNROLL * chains.count("add")),
            ),
        ),
        work_per_repeat=flop,
        operands=(*_OPERANDS["fma"], *_starts(len(chains))),
        pseudo_code=f"""\
for u in range({UNROLL}):
    for k in range({len(chains)}):
        if k % {len(period)} < {fma}:
            {_FORMULA["fma"]}   # 2 flop x {lanes(precision, width_bits)}
        else:
            {_FORMULA["add"]}   # 1 flop x {lanes(precision, width_bits)}""",
    )


def _starts(chains: int) -> tuple[float, ...]:
    return tuple(1.0 + k / 64 for k in range(chains))


def _ir(operations: Sequence[Operation], precision: str, width_bits: int) -> str:
    """Return the code of one chain for each of the operations."""
    vector = vector_type(precision, width_bits)
    suffix = "f64" if precision == "fp64" else "f32"
    if width_bits:
        suffix = f"v{lanes(precision, width_bits)}{suffix}"
    fma = f"@llvm.fma.{suffix}"

    def step(result: str, u: int, k: int) -> str:
        x, operand = value(k, u), ("%a", "%b")[u % 2]
        if operations[k] == "fma":
            return (
                f"  {result} = call {vector} {fma}({vector} %a, {vector} {operand}, {vector} {x})"
            )
        return f"  {result} = f{operations[k]} {vector} {x}, {operand}"

    return chains_ir(
        step,
        vector=vector,
        chains=len(operations),
        unroll=UNROLL,
        declare=f"declare {vector} {fma}({vector}, {vector}, {vector})",
    )
