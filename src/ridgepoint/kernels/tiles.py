"""Peaks of matrix units: products of tiles of low precision by Intel's AMX.

    for r in range(repeats):
        for u in range(UNROLL):
            for i in range(2):
                for j in range(2):
                    c[i][j] = c[i][j] + a[i] @ b[j]       # one instruction

A tile has up to 16 rows of 64 byte. One instruction multiplies and adds 16 x 16 x 32 pairs of bf16
or fp16 into sums of fp32, or 16 x 16 x 64 of int8 into int32; each multiplication and each addition
counts, and the factors' precision names the resource.

A product has a latency of about three times what the unit needs to take the next: four sums that do
not wait for each other keep it busy, of two tiles from the left and two from the right, which are
all eight registers. All rows of a tile are the same 64 byte of `data`, read at run time.

The configuration, which says how large the tiles are, is loaded when a kernel begins, and tiles are
released when it ends, so that nothing of their state is left to what runs next. Before that the
configuration in force is written to `data`, behind the sums, for who wants to check.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from ridgepoint.kernels.chains import WORKING_BYTES
from ridgepoint.kernels.dot import Kind, operand
from ridgepoint.kernels.kernel import ENTRY, VECTOR_ALIGNMENT, Claim, Kernel

NAME = "amx"

UNROLL = 4
_SIDE = 2
_SUMS = tuple((i, j) for i in range(_SIDE) for j in range(_SIDE))

_PALETTE = 1
_CONFIGURED = struct.Struct("<BB14x16H16B")
_REGISTERS = 8
_MOST_ROWS = 16
_MOST_ROW_BYTES = 64

_FEATURES: dict[Kind, str] = {"bf16": "amx-bf16", "int8": "amx-int8", "fp16": "amx-fp16"}
_INSTRUCTIONS: dict[Kind, str] = {"bf16": "tdpbf16ps", "int8": "tdpbssd", "fp16": "tdpfp16ps"}
# No sum grows: bf16 and fp16 are added and taken away again, which is exact, and integers wrap.
_FACTORS: dict[Kind, tuple[bytes, bytes]] = {
    "bf16": (
        struct.pack("<4H", *(0x3FA7, 0x3FA7, 0x3FA7, 0x3FA7)),
        struct.pack("<4H", *(0x3F40, 0xBF40, 0x3F40, 0xBF40)),
    ),
    "fp16": (struct.pack("<4e", 1.3, 1.3, 1.3, 1.3), struct.pack("<4e", 0.75, -0.75, 0.75, -0.75)),
    "int8": (
        bytes((113, 57, 91, 38, 87, 29, 75, 104)),
        bytes((101, 45, 77, 62, 33, 118, 94, 51)),
    ),
}
_PER_SUM: dict[Kind, int] = {"bf16": 2, "int8": 4, "fp16": 2}
"""Products that are added to a number of 32 bit, for each 4 byte of a factor's row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TileConfiguration:
    """How large the tiles of AMX are, which is set at run time.

    Parameters
    ----------
    rows, row_bytes : tuple of int
        Of each of the eight registers.
    """

    rows: tuple[int, ...]
    row_bytes: tuple[int, ...]

    @classmethod
    def decoded(cls, configured: bytes) -> Self | None:
        """Return what the 64 byte of LDTILECFG say; None: that there are no tiles."""
        palette, _, *sizes = _CONFIGURED.unpack(configured)
        if palette != _PALETTE:
            return None
        row_bytes, rows = sizes[:_REGISTERS], sizes[16 : 16 + _REGISTERS]
        return cls(rows=tuple(rows), row_bytes=tuple(row_bytes))

    @property
    def encoded(self) -> bytes:
        """The 64 byte that LDTILECFG loads."""
        none = (0,) * (16 - _REGISTERS)
        return _CONFIGURED.pack(_PALETTE, 0, *self.row_bytes, *none, *self.rows, *none)

    def multiplied(self, c: int, a: int, b: int) -> int | None:
        """Return how many pairs of 4 byte are multiplied for c + a @ b, by number of register.

        None: the tiles do not match, and the processor refuses.
        """
        if self.rows[c] != self.rows[a] or self.row_bytes[c] != self.row_bytes[b]:
            return None
        if 4 * self.rows[b] != self.row_bytes[a]:
            return None
        return self.rows[c] * self.row_bytes[c] // 4 * self.rows[b]


WHOLE = TileConfiguration(
    rows=(_MOST_ROWS,) * _REGISTERS, row_bytes=(_MOST_ROW_BYTES,) * _REGISTERS
)
"""All registers as large as they can be."""


def has_tiles(kind: Kind, has: Callable[[str], bool]) -> bool:
    """Return whether a CPU multiplies tiles of a precision.

    Parameters
    ----------
    kind : {"bf16", "int8", "fp16"}
    has : callable
        Whether the CPU has a feature, by LLVM's name of it.
    """
    return has("amx-tile") and has(_FEATURES[kind])


def tile_peak(kind: Kind) -> Kernel:
    """Return the kernel that keeps the matrix unit as busy as it can be; `has_tiles` says where.

    Parameters
    ----------
    kind : {"bf16", "int8", "fp16"}
        Also the resource.
    """
    instruction, per_sum = _INSTRUCTIONS[kind], _PER_SUM[kind]
    number = UNROLL * len(_SUMS)
    pairs = WHOLE.multiplied(0, len(_SUMS), len(_SUMS) + _SIDE)
    assert pairs is not None  # whole tiles match
    work = number * pairs * per_sum * 2
    a, b = map(operand, _FACTORS[kind])
    sums = [operand(struct.pack("<2f", *[1.0 + n / 64] * 2)) for n in range(len(_SUMS))]
    return Kernel(
        name=NAME,
        ir=_ir(instruction),
        claim=Claim(
            operation="tile product",
            precision=kind,
            width_bits=8 * _MOST_ROWS * _MOST_ROW_BYTES,
            flop=0 if kind == "int8" else work,
            instructions=((instruction.upper(), number),),
            tiles=WHOLE,
        ),
        work_per_repeat=work,
        operands=(*sums, a, a, b, b),
        pseudo_code=f"""\
for u in range({UNROLL}):
    for i, j in {", ".join(map(str, _SUMS))}:    # one instruction each
        for m, n, k in all of range(16), range(16), range(16):
            c[i][j][m][n] += sum(a[i][m][{per_sum} * k + p] * b[j][k][{per_sum} * n + p] \
for p in range({per_sum}))    # {2 * per_sum} {"op" if kind == "int8" else "flop"}""",
    )


def _ir(instruction: str) -> str:
    """Return the code of `tile_peak`: sums are the first four registers, factors the others."""
    product = f"@llvm.x86.{instruction}"
    n_sums, n_operands = len(_SUMS), len(_SUMS) + 2 * _SIDE
    products = [
        f"  call void {product}(i8 {n}, i8 {n_sums + i}, i8 {n_sums + _SIDE + j})"
        for n, (i, j) in enumerate(_SUMS)
    ]
    ends_at = VECTOR_ALIGNMENT * (n_operands + n_sums)
    assert ends_at + VECTOR_ALIGNMENT <= WORKING_BYTES

    def place(name: str, slot: int) -> str:
        return f"  %{name} = getelementptr i8, ptr %data, i64 {VECTOR_ALIGNMENT * slot}"

    # A stride of 0: each row is read from, or written to, the same place.
    return "\n".join(
        (
            f'@configuration = private constant [{len(WHOLE.encoded)} x i8] c"'
            + "".join(f"\\{byte:02X}" for byte in WHOLE.encoded)
            + f'", align {VECTOR_ALIGNMENT}',
            *(f"declare void @llvm.x86.{name}(ptr)" for name in ("ldtilecfg", "sttilecfg")),
            "declare void @llvm.x86.tilerelease()",
            *(
                f"declare void @llvm.x86.{name}(i8 immarg, ptr, i64)"
                for name in ("tileloadd64", "tilestored64")
            ),
            f"declare void {product}(i8 immarg, i8 immarg, i8 immarg)",
            f"define void @{ENTRY}(ptr %data, i64 %size, i64 %repeats) #0 {{",
            "entry:",
            "  call void @llvm.x86.ldtilecfg(ptr @configuration)",
            *(
                f"{place(f'p{n}', n)}\n  call void @llvm.x86.tileloadd64(i8 {n}, ptr %p{n}, i64 0)"
                for n in range(n_operands)
            ),
            "  br label %loop",
            "loop:",
            "  %r = phi i64 [%repeats, %entry], [%r_next, %loop]",
            *(products * UNROLL),
            "  %r_next = add i64 %r, -1",
            "  %more = icmp ne i64 %r_next, 0",
            "  br i1 %more, label %loop, label %done",
            "done:",
            *(
                f"{place(f'q{n}', n_operands + n)}\n"
                f"  call void @llvm.x86.tilestored64(i8 {n}, ptr %q{n}, i64 0)"
                for n in range(n_sums)
            ),
            place("in_force", n_operands + n_sums),
            "  call void @llvm.x86.sttilecfg(ptr %in_force)",
            "  call void @llvm.x86.tilerelease()",
            "  ret void",
            "}",
        )
    )
