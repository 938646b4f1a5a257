"""Peaks of floating-point arithmetic: independent chains of one operation in registers.

    for r in range(repeats):
        for u in range(UNROLL):
            for k in range(CHAINS):
                x[k] = x[k] + a * (a, b)[u % 2]  # fma; b = -a keeps x where it is
                x[k] = x[k] + (a, b)[u % 2]      # add; b = -a
                x[k] = x[k] * (a, b)[u % 2]      # mul; b = 1/a
                x[k] = x[k] / (a, b)[u % 2]      # div; b = 1/a
                x[k] = sqrt(x[k])                # sqrt; for u = 0 of x[k] + a

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

from ridgepoint.core.machine import CHAIN
from ridgepoint.kernels.chains import OPERANDS, WORKING_BYTES, chains_ir, value
from ridgepoint.kernels.isa import FLOP_PER_LANE
from ridgepoint.kernels.kernel import Claim, Kernel, lanes, vector_type, width_name

__all__ = ["CHAINS", "MIXES", "UNROLL", "WORKING_BYTES", "chain", "mix", "peak"]

CHAINS = 12
UNROLL = 4

_ROOTS = 8
"""Steps of chains of square roots, with one addition. LLVM may write down a chain's steps one
after the other: a core must see several chains at once all the same."""

_DEPENDENT_UNROLL = 64
_DEPENDENT_ROOTS = 16

MIXES: tuple[tuple[int, int], ...] = ((2, 1), (1, 1))
"""Multiply-adds to additions that are tried. A Zen 4 core sustains 24 fp64 flop a cycle where
multiply-adds alone do 16, a Zen 5 core with pipes of 512 bit 48 where they do 32."""

Operation = Literal["add", "mul", "fma", "div", "sqrt"]
Precision = Literal["fp64", "fp32"]
_FUSED: tuple[Operation, ...] = ("fma",)
_ADDED: tuple[Operation, ...] = ("add",)

# Chosen so that no value grows, vanishes, or becomes denormal however long the loop runs:
# From the values of `_starts` x + a - a and x + a * a - a * a are exact, in fp32 too, and x * a * b
# is rounded back to x. So is x / a / b, since a * b is within 1e-4 units in the last place of 1,
# and x less than a: the error of x / a is then less than half a unit of x.
_OPERANDS: dict[Operation, dict[Precision, tuple[float, float]]] = {
    "add": dict.fromkeys(("fp64", "fp32"), (0.375, -0.375)),
    "mul": dict.fromkeys(("fp64", "fp32"), (1.25, 0.8)),
    "fma": dict.fromkeys(("fp64", "fp32"), (0.375, -0.375)),
    "div": {
        "fp64": (1.3718868807621618, 0.7289230723195215),
        "fp32": (1.3909615278244019, 0.7189271450042725),
    },
    "sqrt": {"fp64": (1.2345678912345678e300, 0.0), "fp32": (1.23456789e38, 0.0)},
}
_FORMULA: dict[Operation, str] = {
    "add": "x[k] = x[k] + (a, b)[u % 2]",
    "mul": "x[k] = x[k] * (a, b)[u % 2]",
    "fma": "x[k] = x[k] + a * (a, b)[u % 2]",
    "div": "x[k] = x[k] / (a, b)[u % 2]",
    "sqrt": "x[k] = sqrt(x[k])",
}
_GOLDEN = 0.6180339887498949


def peak(operation: Operation, *, precision: Precision, width_bits: int) -> Kernel:
    """Return the kernel that keeps one floating-point operation as busy as it can be.

    Parameters
    ----------
    operation : {"add", "mul", "fma", "div", "sqrt"}
    precision : {"fp64", "fp32"}
    width_bits : int
        128, 256 or 512; 0: scalar.
    """
    return _alone(
        operation,
        name=f"{operation} {width_name(width_bits)}",
        precision=precision,
        width_bits=width_bits,
        chains=CHAINS,
        unroll=_ROOTS if operation == "sqrt" else UNROLL,
    )


def chain(operation: Operation, *, precision: Precision) -> Kernel:
    """Return the kernel of scalar operations that each wait for the one before.

    Parameters
    ----------
    operation : {"add", "mul", "fma", "div", "sqrt"}
        A multiply-add waits for what it adds to.
    precision : {"fp64", "fp32"}
    """
    return _alone(
        operation,
        name=f"{operation} {CHAIN}",
        precision=precision,
        width_bits=0,
        chains=1,
        unroll=_DEPENDENT_ROOTS if operation == "sqrt" else _DEPENDENT_UNROLL,
    )


def _alone(
    operation: Operation,
    *,
    name: str,
    precision: Precision,
    width_bits: int,
    chains: int,
    unroll: int,
) -> Kernel:
    """Return the kernel of chains of one operation."""
    number, n_lanes = unroll * chains, lanes(precision, width_bits)
    executes: tuple[tuple[str, int], ...] = ((operation, number),)
    first = ""
    if operation == "sqrt":
        executes += (("add", chains),)
        first = "        if u == 0: x[k] = x[k] + a   # which is a: nothing of the root is left\n"
    return Kernel(
        name=name,
        ir=_ir((operation,) * chains, precision, width_bits, unroll),
        claim=Claim(
            operation=name if chains == 1 else operation,
            precision=precision,
            width_bits=width_bits,
            flop=n_lanes * sum(FLOP_PER_LANE[operation] * times for operation, times in executes),
            executes=executes,
        ),
        work_per_repeat=n_lanes * FLOP_PER_LANE[operation] * number,
        operands=(*_OPERANDS[operation][precision], *_starts(operation, chains)),
        pseudo_code=f"""\
for u in range({unroll}):
    for k in range({chains}):
{first}        {_FORMULA[operation]}   # {FLOP_PER_LANE[operation]} flop x {n_lanes}""",
    )


def mix(
    ratio: tuple[int, int],
    *,
    precision: Precision,
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
    flop = UNROLL * lanes(precision, width_bits) * sum(FLOP_PER_LANE[o] for o in chains)
    return Kernel(
        name=f"fma+add {fma}:{add} {width_name(width_bits)}",
        ir=_ir(chains, precision, width_bits, UNROLL),
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
        operands=(*_OPERANDS["fma"][precision], *_starts("fma", len(chains))),
        pseudo_code=f"""\
for u in range({UNROLL}):
    for k in range({len(chains)}):
        if k % {len(period)} < {fma}:
            {_FORMULA["fma"]}   # 2 flop x {lanes(precision, width_bits)}
        else:
            {_FORMULA["add"]}   # 1 flop x {lanes(precision, width_bits)}""",
    )


def _starts(operation: Operation, chains: int) -> tuple[float, ...]:
    """Return the chains' first values: of few digits, but for those that are divided."""
    if operation == "div":
        return tuple(1.0 + 0.37 * (k * _GOLDEN % 1.0) for k in range(1, chains + 1))
    return tuple(1.0 + k / 64 for k in range(chains))


def _ir(operations: Sequence[Operation], precision: str, width_bits: int, unroll: int) -> str:
    """Return the code of one chain for each of the operations."""
    vector = vector_type(precision, width_bits)
    suffix = "f64" if precision == "fp64" else "f32"
    if width_bits:
        suffix = f"v{lanes(precision, width_bits)}{suffix}"
    fma, sqrt = f"@llvm.fma.{suffix}", f"@llvm.sqrt.{suffix}"

    def step(result: str, u: int, k: int) -> str:
        x, operand = value(k, u), ("%a", "%b")[u % 2]
        if operations[k] == "fma":
            return (
                f"  {result} = call {vector} {fma}({vector} %a, {vector} {operand}, {vector} {x})"
            )
        if operations[k] == "sqrt":
            if u > 0:
                return f"  {result} = call {vector} {sqrt}({vector} {x})"
            return (
                f"  {result}_large = fadd {vector} {x}, %a\n"
                f"  {result} = call {vector} {sqrt}({vector} {result}_large)"
            )
        return f"  {result} = f{operations[k]} {vector} {x}, {operand}"

    return chains_ir(
        step,
        vector=vector,
        chains=len(operations),
        unroll=unroll,
        declare=(
            f"declare {vector} {fma}({vector}, {vector}, {vector})\n"
            f"declare {vector} {sqrt}({vector})"
        ),
    )
