"""Peaks of floating-point arithmetic: independent chains of one operation in registers.

    for r in range(repeats):
        for u in range(UNROLL):
            for k in range(CHAINS):
                x[k] = x[k] * a + b        # fma
                x[k] = x[k] + (a, b)[u % 2]  # add; b = -a keeps x where it is
                x[k] = x[k] * (a, b)[u % 2]  # mul; b = 1/a

Twelve chains cover latency x throughput of every x86-64 core (4 cycles x 2 or 3 cycles x 2),
and with the two operands they fit the 16 registers that code before AVX-512 has.
"""

from __future__ import annotations

from typing import Literal

from ridgepoint.kernels.kernel import (
    ENTRY,
    VECTOR_ALIGNMENT,
    Claim,
    Kernel,
    attributes,
    lanes,
    vector_type,
)

CHAINS = 12
UNROLL = 4

Operation = Literal["add", "mul", "fma"]

# Chosen so that no value grows, vanishes, or becomes denormal however long the loop runs:
# x * 0.999 + 0.001 tends to 1; x + a - a and x * a / a stay where they are.
_OPERANDS: dict[Operation, tuple[float, float]] = {
    "add": (0.375, -0.375),
    "mul": (1.25, 0.8),
    "fma": (0.999, 0.001),
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
    vector = vector_type(precision, width_bits)
    suffix = "f64" if precision == "fp64" else "f32"
    if width_bits:
        suffix = f"v{lanes(precision, width_bits)}{suffix}"
    fma = f"llvm.fma.{suffix}"
    flop = CHAINS * UNROLL * lanes(precision, width_bits) * (2 if operation == "fma" else 1)

    def step(u: int, k: int) -> str:
        x, result, operand = f"%x{k}_{u}", f"%x{k}_{u + 1}", ("%a", "%b")[u % 2]
        if operation == "fma":
            return f"  {result} = call {vector} @{fma}({vector} {x}, {vector} %a, {vector} %b)"
        return f"  {result} = f{operation} {vector} {x}, {operand}"

    def load(name: str, slot: int) -> list[str]:
        offset = slot * VECTOR_ALIGNMENT
        return [
            f"  %p_{name} = getelementptr i8, ptr %data, i64 {offset}",
            f"  %{name} = load {vector}, ptr %p_{name}, align {VECTOR_ALIGNMENT}",
        ]

    lines = [
        f"declare {vector} @{fma}({vector}, {vector}, {vector})",
        f"define void @{ENTRY}(ptr %data, i64 %size, i64 %repeats) {attributes(width_bits)} {{",
        "entry:",
        *load("a", 0),
        *load("b", 1),
        # Chains start apart, or an optimiser might see that they are one.
        *(line for k in range(CHAINS) for line in load(f"s{k}", 2 + k)),
        "  br label %loop",
        "loop:",
        "  %r = phi i64 [%repeats, %entry], [%r_next, %loop]",
        *(
            f"  %x{k}_0 = phi {vector} [%s{k}, %entry], [%x{k}_{UNROLL}, %loop]"
            for k in range(CHAINS)
        ),
        *(step(u, k) for u in range(UNROLL) for k in range(CHAINS)),
        "  %r_next = add i64 %r, -1",
        "  %more = icmp ne i64 %r_next, 0",
        "  br i1 %more, label %loop, label %done",
        "done:",
        *(
            line
            for k in range(CHAINS)
            for line in (
                f"  %q{k} = getelementptr i8, ptr %data, i64 {(2 + CHAINS + k) * VECTOR_ALIGNMENT}",
                f"  store {vector} %x{k}_{UNROLL}, ptr %q{k}, align {VECTOR_ALIGNMENT}",
            )
        ),
        "  ret void",
        "}",
    ]
    return Kernel(
        name=f"{operation} {f'{width_bits}-bit' if width_bits else 'scalar'}",
        ir="\n".join(lines),
        claim=Claim(operation=operation, precision=precision, width_bits=width_bits, flop=flop),
        work_per_repeat=flop,
        operands=(*_OPERANDS[operation], *(1.0 + k / 64 for k in range(CHAINS))),
    )


WORKING_BYTES = (2 + 2 * CHAINS) * VECTOR_ALIGNMENT
"""Bytes of `data` that a peak kernel needs."""
