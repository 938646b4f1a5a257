"""Time per access over the size of a working set: dependent loads from random lines of it.

Unlike the chase, which goes through all lines before it comes back to one, each line is drawn
independently of those before, so that a cache of C bytes answers C / S of the accesses to a set of
S bytes whatever it replaces first (see `ridgepoint.models.caches.capacity_fit`):

    for r in range(repeats):
        for u in range(UNROLL):
            x = A x + B                          # mod 2^64: a linear congruential generator
            if u % PER_PAGE == 0:
                page = data + 4096 * (x n_pages >> 64)
            waited = mask & *(page + 64 (x >> 26) % 4096 + waited)      # mask is 0

Several lines of a page follow each other, so that translating its address weighs little: what is
sought are the caches, and a virtual machine's page walks may take longer than they. The next
address needs the value loaded, of which nothing is left, and the generator's next number, which is
there long before. Nothing is laid out in memory; a set of any size is the beginning of a larger.
"""

from __future__ import annotations

from ridgepoint.kernels.isa import Architecture
from ridgepoint.kernels.kernel import ENTRY, VECTOR_ALIGNMENT, Claim, Kernel

UNROLL = 32
"""Accesses of one repeat."""

PER_PAGE = 8
PAGE_BYTES = 4096
_VALUE_BYTES = 8

# Knuth's, of MMIX (The Art of Computer Programming, volume 2, 3.3.4, table 1, line 26).
_FACTOR = 6364136223846793005
_INCREMENT = 1442695040888963407

_LINE_SHIFT = 26  # bits 32 to 37 of the number choose the line: its low bits have short periods
_LINE_MASK = PAGE_BYTES - 64

NO_MASK = 0.0
"""The operand that leaves nothing of what is loaded: its bits are 0."""

# On x86-64, where the machine code is decoded, the loads are known by their bytes.
_WIDTH_BITS: dict[Architecture, int] = {"x86_64": 8 * _VALUE_BYTES, "aarch64": 0}
_INSTRUCTIONS: dict[Architecture, tuple[tuple[str, int], ...]] = {
    "x86_64": (),
    "aarch64": (
        ("LDR", UNROLL),
        ("MADD", UNROLL),
        ("UMULH", UNROLL // PER_PAGE),
        ("LSR", UNROLL),
        ("AND", 2 * UNROLL),
    ),
}


def visit(*, seed: float = 1.5, architecture: Architecture = "x86_64") -> Kernel:
    """Return the kernel of dependent loads from random lines.

    Parameters
    ----------
    seed : float
        Its bits are where the generator begins: the same seed visits the same lines again.
    architecture : {"x86_64", "aarch64"}

    Notes
    -----
    It is called with the size of the working set, a multiple of `PAGE_BYTES`, and keeps its place
    in `data`. Its work is counted in accesses.
    """
    lines = [
        f"define void @{ENTRY}(ptr %data, i64 %size, i64 %repeats) #0 {{",
        "entry:",
        "  %x0 = load i64, ptr %data, align 8",
        f"  %mask_at = getelementptr i8, ptr %data, i64 {VECTOR_ALIGNMENT}",
        "  %mask = load i64, ptr %mask_at, align 8",
        f"  %pages = udiv i64 %size, {PAGE_BYTES}",
        "  %n = zext i64 %pages to i128",
        "  br label %loop",
        "loop:",
        "  %r = phi i64 [%repeats, %entry], [%r_next, %loop]",
        f"  %y0 = phi i64 [%x0, %entry], [%y{UNROLL}, %loop]",
        f"  %w0 = phi i64 [0, %entry], [%w{UNROLL}, %loop]",
        *(line for u in range(UNROLL) for line in _access(u)),
        "  %r_next = add i64 %r, -1",
        "  %more = icmp ne i64 %r_next, 0",
        "  br i1 %more, label %loop, label %done",
        "done:",
        f"  %end = add i64 %y{UNROLL}, %w{UNROLL}",
        "  store i64 %end, ptr %data, align 8",
        "  ret void",
        "}",
    ]
    return Kernel(
        name="visit",
        ir="\n".join(lines),
        claim=Claim(
            operation="visit",
            width_bits=_WIDTH_BITS[architecture],
            load_bytes=UNROLL * _VALUE_BYTES,
            instructions=_INSTRUCTIONS[architecture],
        ),
        work_per_repeat=UNROLL,
        operands=(seed, NO_MASK),
        pseudo_code=(
            f"repeat {UNROLL} times:\n"
            f"    line = one of a page, the page one of the set anew after {PER_PAGE}, at random\n"
            "    wait for the first 8 byte of line"
        ),
    )


def _access(u: int) -> list[str]:
    """Return the code of one access."""
    page = u // PER_PAGE * PER_PAGE
    choose = [
        f"  %z{u} = zext i64 %y{u + 1} to i128",
        f"  %p{u} = mul i128 %z{u}, %n",
        f"  %h{u} = lshr i128 %p{u}, 64",
        f"  %k{u} = trunc i128 %h{u} to i64",
        f"  %o{u} = mul i64 %k{u}, {PAGE_BYTES}",
        f"  %page{u} = getelementptr i8, ptr %data, i64 %o{u}",
    ]
    return [
        f"  %f{u} = mul i64 %y{u}, {_FACTOR}",
        f"  %y{u + 1} = add i64 %f{u}, {_INCREMENT}",
        *(choose if u == page else ()),
        f"  %s{u} = lshr i64 %y{u + 1}, {_LINE_SHIFT}",
        f"  %l{u} = and i64 %s{u}, {_LINE_MASK}",
        # The line's address first: it must not wait for the value.
        f"  %a{u} = getelementptr i8, ptr %page{page}, i64 %l{u}",
        f"  %b{u} = getelementptr i8, ptr %a{u}, i64 %w{u}",
        f"  %v{u} = load i64, ptr %b{u}, align 8",
        f"  %w{u + 1} = and i64 %v{u}, %mask",
    ]
