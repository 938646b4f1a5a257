"""The core clock, without a counter: chains of dependent operations.

    for r in range(repeats):
        for u in range(UNROLL):
            x = (x + a) ^ b             # clock: integers, one cycle each
            y = (y + c) - c             # steady clock: fp64, some whole number of cycles each

Cycles over time is the frequency at which the core really runs.

The integer chain needs no more knowledge of the core, but runs some per cent slow where another
hardware thread of the core, of a neighbour perhaps that a virtual machine does not see, competes
for the issue of its instructions. Additions of floating point leave room between them. How many
cycles one takes follows from both chains, since it is a whole number.
"""

from __future__ import annotations

from ridgepoint.kernels.chains import chains_ir, value
from ridgepoint.kernels.kernel import Claim, Kernel

UNROLL = 64


_WHOLE = 0.2
"""How far from a whole number the cycles of an addition may seem to be."""


def clock() -> Kernel:
    """Return the kernel whose repeats take ``2 UNROLL`` cycles each.

    Adding and exclusive-or of registers have a latency of one cycle on every core that we
    know of; both operands are registers, since some cores add a small constant for free, and
    the two alternate, since a run of either could be folded into one.
    """

    def step(result: str, u: int, k: int) -> str:
        return f"  %y{u} = add i64 {value(k, u)}, %a\n  {result} = xor i64 %y{u}, %b"

    return Kernel(
        name="clock",
        ir=chains_ir(step, vector="i64", chains=1, unroll=UNROLL),
        claim=Claim(
            operation="clock",
            precision="int64",
            width_bits=0,
            executes=(("add", UNROLL), ("xor", UNROLL)),
        ),
        work_per_repeat=2 * UNROLL,
        operands=(0.7, 0.3, 0.7),
        pseudo_code=f"""\
for u in range({UNROLL}):
    x = (x + a) ^ b   # 64-bit integers; 2 cycles, each operation waits for the one before""",
    )


def steady_clock() -> Kernel:
    """Return the kernel whose repeats take ``2 UNROLL`` additions of fp64, one after the other."""

    def step(result: str, u: int, k: int) -> str:
        return f"  %y{u} = fadd double {value(k, u)}, %a\n  {result} = fadd double %y{u}, %b"

    return Kernel(
        name="steady clock",
        ir=chains_ir(step, vector="double", chains=1, unroll=UNROLL),
        claim=Claim(
            operation="clock",
            precision="fp64",
            width_bits=0,
            flop=2 * UNROLL,
            executes=(("add", 2 * UNROLL),),
        ),
        work_per_repeat=2 * UNROLL,
        operands=(0.375, -0.375, 1.0),
        pseudo_code=f"""\
for u in range({UNROLL}):
    x = (x + a) - a   # fp64; each operation waits for the one before""",
    )


def cycles_of_addition(one_cycle_s: float, addition_s: float) -> int | None:
    """Return how many cycles an addition of fp64 takes, or None if that is not clear.

    Parameters
    ----------
    one_cycle_s, addition_s : float
        Least times seen of an operation of one cycle, and of an addition.

    Examples
    --------
    >>> cycles_of_addition(0.286e-9, 0.558e-9), cycles_of_addition(0.3e-9, 0.75e-9)
    (2, None)
    """
    ratio = addition_s / one_cycle_s
    whole = round(ratio)
    return whole if whole >= 1 and abs(ratio - whole) <= _WHOLE else None
