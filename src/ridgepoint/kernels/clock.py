"""The core clock, without a counter: a chain of dependent operations of one cycle each.

    for r in range(repeats):
        for u in range(UNROLL):
            x = (x + a) ^ b

Cycles over time is the frequency at which the core really runs.
"""

from __future__ import annotations

from ridgepoint.kernels.kernel import ENTRY, Claim, Kernel, attributes

UNROLL = 64


def clock() -> Kernel:
    """Return the kernel whose repeats take ``2 UNROLL`` cycles each.

    Adding and exclusive-or of registers have a latency of one cycle on every core that we
    know of; both operands are registers, since some cores add a small constant for free, and
    the two alternate, since a run of either could be folded into one.
    """
    steps = [
        line
        for u in range(UNROLL)
        for line in (f"  %y{u} = add i64 %x{u}, %a", f"  %x{u + 1} = xor i64 %y{u}, %b")
    ]
    lines = [
        f"define void @{ENTRY}(ptr %data, i64 %size, i64 %repeats) {attributes(128)} {{",
        "entry:",
        "  %a = load i64, ptr %data, align 8",
        "  %p = getelementptr i8, ptr %data, i64 64",
        "  %b = load i64, ptr %p, align 8",
        "  br label %loop",
        "loop:",
        "  %r = phi i64 [%repeats, %entry], [%r_next, %loop]",
        f"  %x0 = phi i64 [%a, %entry], [%x{UNROLL}, %loop]",
        *steps,
        "  %r_next = add i64 %r, -1",
        "  %more = icmp ne i64 %r_next, 0",
        "  br i1 %more, label %loop, label %done",
        "done:",
        "  %q = getelementptr i8, ptr %data, i64 128",
        f"  store i64 %x{UNROLL}, ptr %q, align 8",
        "  ret void",
        "}",
    ]
    return Kernel(
        name="clock",
        ir="\n".join(lines),
        claim=Claim(operation="clock", width_bits=0),
        work_per_repeat=2 * UNROLL,
        operands=(0.7, 0.3),
    )
