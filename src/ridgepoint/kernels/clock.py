"""The core clock, without a counter: a chain of dependent operations of one cycle each.

    for r in range(repeats):
        for u in range(UNROLL):
            x = (x + a) ^ b

Cycles over time is the frequency at which the core really runs.
"""

from __future__ import annotations

from ridgepoint.kernels.chains import chains_ir, value
from ridgepoint.kernels.kernel import Claim, Kernel

UNROLL = 64


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
