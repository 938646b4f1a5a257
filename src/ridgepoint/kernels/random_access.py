"""Random accesses: what a memory level gives to a program that no prefetcher can help.

chase: each load says where the next one is, so that there is one at a time. One cycle, in random
order, goes through all lines of the extent:

    for r in range(repeats):
        for u in range(UNROLL):
            line = next[line]

gather: the accesses are independent, so that as many are under way as the core can keep. Every
line has its turn once, in random order, before any has another:

    for r in range(repeats):
        for u in range(UNROLL):                # vectors: several at once, by one instruction
            s = s + x[index[i]]
            i = (i + 1) % n

Both keep their place in `data` and go on from there when they are called again: a sample visits
few of a large extent's lines, and the next one would find the same in a cache.

`fill` lays out as much as fits its extent, which need not be a multiple of anything:

    chase:  [place] [next] [next] ...                        lines; all numbers are offsets, byte
    gather: [place, n, s] [index[0], index[1], ...] x        a line, n indices, n lines of values

The code finds all that it must know in the first line, not in `size_bytes`, and writes nowhere
else. Of data that `fill` has not laid out, zeros alone are safe: one place is visited ever again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from ridgepoint.kernels.isa import Architecture
from ridgepoint.kernels.kernel import ENTRY, Claim, Kernel, width_name

LINE_BYTES = 64
UNROLL = 32
"""Accesses of one repeat."""

VALUE_BYTES = 8
INDEX_BYTES = 4

CHASE_LEAST_BYTES = 2 * LINE_BYTES
GATHER_LEAST_BYTES = LINE_BYTES + UNROLL * (INDEX_BYTES + LINE_BYTES)
"""Bytes of the smallest extent: beside the first line, one line, and what one repeat visits."""

_VALUES_PER_LINE = LINE_BYTES // VALUE_BYTES
# Additions to one sum would wait for each other where a core loads more than one value a cycle.
_SUMS = 4

# Regular expressions of mnemonics, of which each access needs one.
_CHASE_INSTRUCTIONS: dict[Architecture, str] = {"x86_64": "MOV", "aarch64": "LDR"}
_GATHER_INSTRUCTIONS: dict[int, tuple[str, ...]] = {
    0: ("MOVSXD", "ADD"),
    # Indices; a mask, which the gather clears, and a register that it merges with; gather; sum.
    **{
        width: (
            r"VMOVDQ[AU]\w*",
            r"VPCMPEQD|KXNOR\w",
            r"VPXORD?",
            "VPGATHERDQ",
            "VPADDQ",
        )
        for width in (256, 512)
    },
}


def chase(*, architecture: Architecture = "x86_64") -> Kernel:
    """Return the kernel whose every load waits for the one before: time per load is latency.

    Parameters
    ----------
    architecture : {"x86_64", "aarch64"}
    """
    lines = [
        f"define void @{ENTRY}(ptr %data, i64 %size, i64 %repeats) #0 {{",
        "entry:",
        "  %place = load i64, ptr %data, align 8",
        "  br label %loop",
        "loop:",
        "  %r = phi i64 [%repeats, %entry], [%r_next, %loop]",
        f"  %o0 = phi i64 [%place, %entry], [%o{UNROLL}, %loop]",
        *(
            f"  %a{u} = getelementptr i8, ptr %data, i64 %o{u}\n"
            f"  %o{u + 1} = load i64, ptr %a{u}, align 8"
            for u in range(UNROLL)
        ),
        "  %r_next = add i64 %r, -1",
        "  %more = icmp ne i64 %r_next, 0",
        "  br i1 %more, label %loop, label %done",
        "done:",
        f"  store i64 %o{UNROLL}, ptr %data, align 8",
        "  ret void",
        "}",
    ]
    return Kernel(
        name="chase",
        ir="\n".join(lines),
        claim=Claim(
            operation="chase",
            width_bits=0,
            load_bytes=UNROLL * VALUE_BYTES,
            instructions=((_CHASE_INSTRUCTIONS[architecture], UNROLL),),
        ),
        work_per_repeat=UNROLL * VALUE_BYTES,
        fill=_fill_chase,
        pseudo_code=(
            f"repeat {UNROLL} times:\n"
            "    line = next[line]    # 8 byte; every line of the buffer once, in random order"
        ),
    )


def gather(*, width_bits: int) -> Kernel:
    """Return the kernel of independent random accesses, for x86-64.

    Parameters
    ----------
    width_bits : int
        0: a load for each access. 256 (AVX2) or 512 (AVX-512): gathers of so wide vectors.
    """
    lanes = _lanes(width_bits)
    return Kernel(
        name=f"gather {width_name(width_bits)}",
        ir=_gather_ir(width_bits),
        claim=Claim(
            operation="gather",
            width_bits=width_bits,
            load_bytes=UNROLL * (INDEX_BYTES + VALUE_BYTES),
            instructions=tuple(
                (name, UNROLL // lanes) for name in _GATHER_INSTRUCTIONS[width_bits]
            ),
        ),
        work_per_repeat=UNROLL * (INDEX_BYTES + VALUE_BYTES),
        fill=_fill_gather,
        pseudo_code=(
            f"repeat {UNROLL} times{f', {lanes} at once' if width_bits else ''}:\n"
            "    s += x[index[i]]    # 4 + 8 byte; every line of x once, in random order\n"
            "    i = (i + 1) % n"
        ),
    )


def chase_shares(level: str) -> tuple[float, float]:
    """Return bytes read and written at a level per byte that `chase` counts.

    Between core and L1 that is what the loads say. Below, a whole line moves for each.
    """
    return (1.0 if level == "l1" else LINE_BYTES / VALUE_BYTES), 0.0


def gather_shares(level: str) -> tuple[float, float]:
    """Return bytes read and written at a level per byte that `gather` counts.

    Between core and L1 that is what the loads say. Below, a whole line moves for each value; of
    the indices, which are read in order, all bytes of a line are used.
    """
    counted = INDEX_BYTES + VALUE_BYTES
    return (1.0 if level == "l1" else (INDEX_BYTES + LINE_BYTES) / counted), 0.0


def gather_widths(widths: Iterable[int], has: Callable[[str], bool]) -> tuple[int, ...]:
    """Return in which of some vector widths an x86-64 CPU gathers by one instruction.

    Parameters
    ----------
    widths : iterable of int
    has : callable
        Whether the CPU has a feature, by LLVM's name of it.
    """
    features = {256: "avx2", 512: "avx512f"}
    return tuple(w for w in widths if w in features and has(features[w]))


def _lanes(width_bits: int) -> int:
    """Return how many values one instruction loads."""
    return max(1, width_bits // (8 * VALUE_BYTES))


def _gather_ir(width_bits: int) -> str:
    """Return the code of `gather`."""
    lanes = _lanes(width_bits)
    groups = UNROLL // lanes
    numbers = f"<{lanes} x i64>" if width_bits else "i64"
    zero = "zeroinitializer" if width_bits else "0"
    ends = [f"%s{k}_{groups // _SUMS}" for k in range(_SUMS)]
    declared, access = _access(width_bits)
    new = "%u4" if width_bits else "%u3"
    reduced = f"  %u4 = call i64 @llvm.vector.reduce.add.v{lanes}i64({numbers} %u3)"

    def body(u: int) -> list[str]:
        k, step = u % _SUMS, u // _SUMS
        return [
            f"  %p{u} = getelementptr i32, ptr %p, i64 {u * lanes}",
            *access(u),
            f"  %s{k}_{step + 1} = add {numbers} %s{k}_{step}, %v{u}",
        ]

    lines = [
        *declared,
        "declare i64 @llvm.umin.i64(i64, i64)",
        "declare i64 @llvm.umax.i64(i64, i64)",
        f"define void @{ENTRY}(ptr %data, i64 %size, i64 %repeats) #0 {{",
        "entry:",
        "  %n_at = getelementptr i8, ptr %data, i64 8",
        "  %s_at = getelementptr i8, ptr %data, i64 16",
        f"  %index = getelementptr i8, ptr %data, i64 {LINE_BYTES}",
        "  %place = load i64, ptr %data, align 8",
        "  %n = load i64, ptr %n_at, align 8",
        "  %x = getelementptr i32, ptr %index, i64 %n",
        "  br label %pass",
        # As many repeats as there are before the last index: the loop need not look out for it.
        "pass:",
        "  %r = phi i64 [%repeats, %entry], [%r_next, %end]",
        "  %i = phi i64 [%place, %entry], [%i_next, %end]",
        *(f"  %t{k} = phi {numbers} [{zero}, %entry], [{ends[k]}, %end]" for k in range(_SUMS)),
        "  %left = sub i64 %n, %i",
        f"  %room = udiv i64 %left, {UNROLL}",
        # No room at all is there in zeros alone, over which a kernel may be tried.
        "  %fit = call i64 @llvm.umax.i64(i64 %room, i64 1)",
        "  %now = call i64 @llvm.umin.i64(i64 %r, i64 %fit)",
        f"  %accesses = mul i64 %now, {UNROLL}",
        "  %first = getelementptr i32, ptr %index, i64 %i",
        "  %last = getelementptr i32, ptr %first, i64 %accesses",
        "  br label %loop",
        "loop:",
        "  %p = phi ptr [%first, %pass], [%p_next, %loop]",
        *(f"  %s{k}_0 = phi {numbers} [%t{k}, %pass], [{ends[k]}, %loop]" for k in range(_SUMS)),
        *(line for u in range(groups) for line in body(u)),
        f"  %p_next = getelementptr i32, ptr %p, i64 {UNROLL}",
        "  %inside = icmp ne ptr %p_next, %last",
        "  br i1 %inside, label %loop, label %end",
        "end:",
        "  %i_last = add i64 %i, %accesses",
        "  %over = icmp uge i64 %i_last, %n",
        "  %i_next = select i1 %over, i64 0, i64 %i_last",
        "  %r_next = sub i64 %r, %now",
        "  %more = icmp ne i64 %r_next, 0",
        "  br i1 %more, label %pass, label %done",
        "done:",
        "  store i64 %i_next, ptr %data, align 8",
        "  %before = load i64, ptr %s_at, align 8",
        f"  %u1 = add {numbers} {ends[0]}, {ends[1]}",
        f"  %u2 = add {numbers} {ends[2]}, {ends[3]}",
        f"  %u3 = add {numbers} %u1, %u2",
        *((reduced,) if width_bits else ()),
        f"  %s = add i64 %before, {new}",
        "  store i64 %s, ptr %s_at, align 8",
        "  ret void",
        "}",
    ]
    return "\n".join(lines)


def _access(width_bits: int) -> tuple[list[str], Callable[[int], list[str]]]:
    """Return declarations, and the lines by which the indices at %p{u} become values %v{u}."""
    if not width_bits:
        return [], lambda u: [
            f"  %j{u} = load i32, ptr %p{u}, align 4",
            f"  %k{u} = sext i32 %j{u} to i64",
            f"  %x{u} = getelementptr i64, ptr %x, i64 %k{u}",
            f"  %v{u} = load i64, ptr %x{u}, align 8",
        ]
    lanes = _lanes(width_bits)
    values, indices = f"<{lanes} x i64>", f"<{lanes} x i32>"
    # The CPU's own: LLVM takes its general gather apart where it believes that to be faster.
    if width_bits == 256:
        function, mask, scale = "@llvm.x86.avx2.gather.d.q.256", f"<{lanes} x i64>", "i8"
        every = ", ".join(["i64 -1"] * lanes)
    else:
        function, mask, scale = "@llvm.x86.avx512.mask.gather.dpq.512", f"<{lanes} x i1>", "i32"
        every = ", ".join(["i1 true"] * lanes)
    return [
        f"declare {values} {function}({values}, ptr, {indices}, {mask}, {scale})",
        f"declare i64 @llvm.vector.reduce.add.v{lanes}i64({values})",
    ], lambda u: [
        f"  %j{u} = load {indices}, ptr %p{u}, align {4 * lanes}",
        f"  %v{u} = call {values} {function}({values} zeroinitializer, ptr %x, {indices} %j{u}, "
        f"{mask} <{every}>, {scale} {VALUE_BYTES})",
    ]


def _fill_chase(data: npt.NDArray[np.uint8], rng: np.random.Generator) -> None:
    """Lay out the cycle of `chase` in all whole lines but the first."""
    n_lines = data.size // LINE_BYTES
    if data.size < CHASE_LEAST_BYTES:
        raise ValueError(f"an extent of {data.size} byte has no line beside the first")
    words = data[: n_lines * LINE_BYTES].view(np.int64).reshape(n_lines, -1)
    # Lines in the order of a random permutation, the last followed by the first, are a random
    # one among all single cycles, as Sattolo's algorithm finds, but without a loop in Python.
    offsets = LINE_BYTES * (1 + rng.permutation(n_lines - 1))
    words[offsets // LINE_BYTES, 0] = np.roll(offsets, -1)
    words[0, 0] = offsets[0]


def _fill_gather(data: npt.NDArray[np.uint8], rng: np.random.Generator) -> None:
    """Lay out place and indices of `gather`; the values are what is there already."""
    n = (data.size - LINE_BYTES) // (INDEX_BYTES + LINE_BYTES) // UNROLL * UNROLL
    if data.size < GATHER_LEAST_BYTES:
        raise ValueError(f"an extent of {data.size} byte is less than one repeat visits")
    if n * _VALUES_PER_LINE > np.iinfo(np.int32).max:
        raise ValueError(f"an index of 4 byte does not reach over {data.size} byte")
    data[:LINE_BYTES].view(np.int64)[:3] = 0, n, 0
    index = data[LINE_BYTES : LINE_BYTES + INDEX_BYTES * n].view(np.int32)
    # Anywhere in its line: some cores' L1 cannot load from one bank twice in a cycle.
    index[:] = _VALUES_PER_LINE * rng.permutation(n) + rng.integers(_VALUES_PER_LINE, size=n)
