"""Independent chains in registers: the loop that all kernels without memory traffic share.

    for r in range(repeats):
        for u in range(unroll):
            for k in range(chains):
                x[k] = step(u, k)           # of x[k] and the operands a and b

Two operands and fourteen chains fit the 16 vector registers that code before AVX-512 has; with
AVX-512, and on other architectures, there are 32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ridgepoint.kernels.kernel import ENTRY, VECTOR_ALIGNMENT

OPERANDS = 2
MOST_CHAINS = 32 - OPERANDS

WORKING_BYTES = (OPERANDS + 2 * MOST_CHAINS) * VECTOR_ALIGNMENT
"""Bytes of `data` that any kernel of chains needs: operands, first and last values."""

Step = Callable[[str, int, int], str]
"""Called with the name of a step's result, u and k; returns the IR that computes it."""


def value(k: int, u: int) -> str:
    """Return the name of chain `k` after `u` steps."""
    return f"%x{k}_{u}"


def chains_ir(
    step: Step,
    *,
    vector: str,
    chains: int,
    unroll: int,
    declare: str = "",
    prologue: Sequence[str] = (),
) -> str:
    """Return the IR of a function that runs chains.

    Parameters
    ----------
    step : callable
        May use ``%a``, ``%b`` and `value`.
    vector : str
        LLVM type of chains and operands.
    chains, unroll : int
    declare : str
        Declaration of what the steps call.
    prologue : sequence of str
        Lines before the loop, of ``%data`` and ``%size``.
    """

    def load(name: str, slot: int) -> tuple[str, str]:
        offset = slot * VECTOR_ALIGNMENT
        return (
            f"  %p_{name} = getelementptr i8, ptr %data, i64 {offset}",
            f"  %{name} = load {vector}, ptr %p_{name}, align {VECTOR_ALIGNMENT}",
        )

    lines = [
        declare,
        f"define void @{ENTRY}(ptr %data, i64 %size, i64 %repeats) #0 {{",
        "entry:",
        *load("a", 0),
        *load("b", 1),
        *prologue,
        # Chains start apart, or an optimiser might see that they are one.
        *(line for k in range(chains) for line in load(f"s{k}", OPERANDS + k)),
        "  br label %loop",
        "loop:",
        "  %r = phi i64 [%repeats, %entry], [%r_next, %loop]",
        *(
            f"  {value(k, 0)} = phi {vector} [%s{k}, %entry], [{value(k, unroll)}, %loop]"
            for k in range(chains)
        ),
        *(step(value(k, u + 1), u, k) for u in range(unroll) for k in range(chains)),
        "  %r_next = add i64 %r, -1",
        "  %more = icmp ne i64 %r_next, 0",
        "  br i1 %more, label %loop, label %done",
        "done:",
        *(
            line
            for k in range(chains)
            for line in (
                f"  %q{k} = getelementptr i8, ptr %data, i64 "
                f"{(OPERANDS + chains + k) * VECTOR_ALIGNMENT}",
                f"  store {vector} {value(k, unroll)}, ptr %q{k}, align {VECTOR_ALIGNMENT}",
            )
        ),
        "  ret void",
        "}",
    ]
    return "\n".join(lines)
