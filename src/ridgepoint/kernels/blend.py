"""Blends: floating-point instructions of several kinds in one loop, to see which share a pipe.

    for r in range(repeats):
        for each step, kinds taken in turn by their shares:
            d = a + b                   # add
            d = a * b                   # mul
            d = a / b                   # div
            d = sqrt(b)                 # sqrt
            x[k] = x[k] + a * b         # fma; a register of its own, or of a few

All but the multiply-adds read nothing that the loop computes, so no result waits for another;
multiply-adds have as many registers as are left. The loop is one piece of assembly, for x86-64 with
AVX: LLVM would vectorise, fuse or move what it may, and here the mix is what is measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ridgepoint.kernels.isa import FLOP_PER_LANE
from ridgepoint.kernels.kernel import ENTRY, VECTOR_ALIGNMENT, lanes, width_name

Operation = Literal["add", "mul", "fma", "div", "sqrt"]

_NAMES: dict[Operation, str] = {
    "add": "vadd",
    "mul": "vmul",
    "fma": "vfmadd231",
    "div": "vdiv",
    "sqrt": "vsqrt",
}
_PREFIX = {0: "xmm", 128: "xmm", 256: "ymm", 512: "zmm"}
# Of both precisions and every width, operands lie here, filled by the kernel's operands: the
# registers that read them are loaded as widely as the CPU's vectors are.
_SCRATCH = 3
_SOURCES = 2  # per precision


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Instructions of one kind.

    Parameters
    ----------
    operation : {"add", "mul", "fma", "div", "sqrt"}
    precision : {"fp64", "fp32"}
    width_bits : int
        128, 256 or 512; 0: scalar.
    number : int
        Of them in one pass of the loop.
    """

    operation: Operation
    precision: Literal["fp64", "fp32"] = "fp64"
    width_bits: int
    number: int

    @property
    def flop(self) -> int:
        """Flop of all of them."""
        per_lane = FLOP_PER_LANE.get(self.operation, 1)
        return self.number * per_lane * lanes(self.precision, self.width_bits)

    @property
    def name(self) -> str:
        """As readers see it."""
        return f"{self.number} {self.operation} {width_name(self.width_bits)} {self.precision}"
