"""Bandwidths: streams of vector loads and stores over a buffer that fits one memory level.

    for r in range(repeats):
        for i in range(0, size, UNROLL * vector):     # unrolled
            load:   x = a[i]
            store:  a[i] = v
            copy:   b[i] = a[i]
            triad:  c[i] = a[i] + s * b[i]
            mix:    two lines of a are loaded, the third is stored to, in one stream

Each pass takes its addresses through an empty piece of assembly, so that LLVM knows no more than
that: it would otherwise have constants of a stream's place in every address, in registers that
RISC-V's vector instructions, which have no offsets, do not leave it, and would store a vector in
64 through the caches on AArch64, whose non-temporal stores cannot add two registers as they are.

`size_bytes` is the length of one stream; stream s begins at ``data + s (size_bytes + PADDING)``.
"""

from __future__ import annotations

from dataclasses import dataclass

from ridgepoint.kernels.kernel import ENTRY, Claim, Kernel, lanes, vector_type

PADDING = 2048 + 256
"""Bytes between two streams: a store must not stand in the way of the loads that follow it at the
same address modulo 4096 (Intel's memory disambiguation compares no more). Among the paddings that
avoid that, 2304 is one with which a Zen 4 core's L1 does not mistake one stream for another: with
2112 a copy of 20 KiB runs at 70 % of its speed."""

_LINE_BYTES = 64

_PASS_BYTES = 1536
"""Of a stream that one pass of the loop moves at most. From pass to pass an instruction's address
steps by as much: prefetchers that know strides by instruction follow less than 2 KiB, and with
more, a Zen 5 core streams from L2 at half its speed."""

_ACCESSES = 48
"""Of a pass to its one stream: so many that the loop's own instructions cost next to nothing. With
16, a Zen 4 core loads 5 % slower."""

_ACCESSES_OF_EACH = 12
"""The same where there are several streams."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A pattern of streams.

    Parameters
    ----------
    name : str
    loads, stores : int
        Streams that are read and written.
    non_temporal : bool
        Whether the stores go past the caches.
    one_stream : bool
        Whether lines of one stream are loaded and stored to in turn, instead.
    """

    name: str
    loads: int
    stores: int
    non_temporal: bool = False
    one_stream: bool = False

    @property
    def streams(self) -> int:
        """Streams in all."""
        return 1 if self.one_stream else self.loads + self.stores

    def shares(self, level: str) -> tuple[float, float]:
        """Return bytes read and written at a level per byte that the program counts.

        Between core and L1 that is what the instructions say. Below, the caches are taken to
        write-allocate: a store first reads its line. Non-temporal stores do not.
        """
        allocates = level != "l1" and not self.non_temporal
        read = self.loads + (self.stores if allocates else 0)
        accessed = self.loads + self.stores
        return read / accessed, self.stores / accessed


LOAD = Pattern(name="load", loads=1, stores=0)
STORE = Pattern(name="store", loads=0, stores=1)
COPY = Pattern(name="copy", loads=1, stores=1)
TRIAD = Pattern(name="triad", loads=2, stores=1)
MIX = Pattern(name="mix 2:1", loads=2, stores=1, one_stream=True)
STORE_NT = Pattern(name="store nt", loads=0, stores=1, non_temporal=True)
COPY_NT = Pattern(name="copy nt", loads=1, stores=1, non_temporal=True)

_FORMULA = {
    "load": "x = a[j]",
    "store": "a[j] = v",
    "copy": "b[j] = a[j]",
    "triad": "c[j] = a[j] + v * b[j]",
    "mix 2:1": "x = a[j] in two lines of three, a[j] = v in the third",
    "store nt": "a[j] = v, past the caches",
    "copy nt": "b[j] = a[j], stored past the caches",
}

CACHE_PATTERNS = (LOAD, STORE, COPY, TRIAD, MIX)
DRAM_PATTERNS = (*CACHE_PATTERNS, STORE_NT, COPY_NT)


def bandwidth(pattern: Pattern, *, width_bits: int, padding_bytes: int = PADDING) -> Kernel:
    """Return the kernel that streams a pattern with vectors of one width.

    Parameters
    ----------
    pattern : Pattern
    width_bits : int
        128, 256 or 512.
    padding_bytes : int
    """
    vector, vector_bytes = vector_type("fp64", width_bits), width_bits // 8
    most = _ACCESSES if pattern.streams == 1 else _ACCESSES_OF_EACH
    unroll = min(most, _PASS_BYTES // vector_bytes)
    if pattern.one_stream:
        in_turn = (pattern.loads + pattern.stores) * _LINE_BYTES // vector_bytes
        unroll = _PASS_BYTES // vector_bytes // in_turn * in_turn
    hint = ", !nontemporal !0" if pattern.non_temporal else ""

    def address(stream: int, u: int) -> tuple[str, str]:
        name = f"%a{stream}_{u}"
        return name, f"  {name} = getelementptr i8, ptr %i{stream}, i64 {u * vector_bytes}"

    def body(u: int) -> list[str]:
        if pattern.one_stream:
            name, line = address(0, u)
            turn = u * vector_bytes // _LINE_BYTES % (pattern.loads + pattern.stores)
            if turn < pattern.loads:
                load = f"  %x{u} = load volatile {vector}, ptr {name}, align {vector_bytes}"
                return [line, load]
            return [line, f"  store {vector} %v, ptr {name}, align {vector_bytes}"]
        lines, value = [], "%v"
        for stream in range(pattern.loads):
            name, line = address(stream, u)
            # Volatile: nothing uses what the load pattern loads.
            load = f"  %x{stream}_{u} = load volatile {vector}, ptr {name}, align {vector_bytes}"
            lines += [line, load]
            value = f"%x{stream}_{u}"
        if pattern is TRIAD:
            lines += [
                f"  %m_{u} = fmul {vector} {value}, %v",
                f"  %t_{u} = fadd {vector} %x0_{u}, %m_{u}",
            ]
            value = f"%t_{u}"
        for stream in range(pattern.loads, pattern.streams):
            name, line = address(stream, u)
            lines += [line, f"  store {vector} {value}, ptr {name}, align {vector_bytes}{hint}"]
        return lines

    # By each load, and by each store, of the pattern in a pass.
    moved = pattern.streams * unroll * vector_bytes // (pattern.loads + pattern.stores)
    lines = [
        f"define void @{ENTRY}(ptr %data, i64 %size, i64 %repeats) #0 {{",
        "entry:",
        f"  %v = load {vector}, ptr %data, align {vector_bytes}",
        f"  %pitch = add i64 %size, {padding_bytes}",
        "  %s0 = getelementptr i8, ptr %data, i64 0",
        *(
            f"  %s{s} = getelementptr i8, ptr %s{s - 1}, i64 %pitch"
            for s in range(1, pattern.streams)
        ),
        "  br label %pass",
        "pass:",
        "  %r = phi i64 [%repeats, %entry], [%r_next, %end]",
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [0, %pass], [%i_next, %loop]",
        *(
            line
            for s in range(pattern.streams)
            for line in (
                f"  %o{s} = getelementptr i8, ptr %s{s}, i64 %i",
                f'  %i{s} = call ptr asm "", "=r,0"(ptr %o{s})',
            )
        ),
        *(line for u in range(unroll) for line in body(u)),
        f"  %i_next = add i64 %i, {unroll * vector_bytes}",
        "  %inside = icmp ult i64 %i_next, %size",
        "  br i1 %inside, label %loop, label %end",
        "end:",
        "  %r_next = add i64 %r, -1",
        "  %more = icmp ne i64 %r_next, 0",
        "  br i1 %more, label %pass, label %done",
        "done:",
        "  ret void",
        "}",
        "!0 = !{i32 1}",
    ]
    return Kernel(
        name=pattern.name,
        ir="\n".join(lines),
        claim=Claim(
            operation=pattern.name,
            width_bits=width_bits,
            flop=2 * lanes("fp64", width_bits) * unroll if pattern is TRIAD else 0,
            load_bytes=pattern.loads * moved,
            store_bytes=pattern.stores * moved,
            executes=(("mul", unroll), ("add", unroll)) if pattern is TRIAD else (),
        ),
        streams=pattern.streams,
        quantum_bytes=unroll * vector_bytes,
        padding_bytes=padding_bytes,
        pseudo_code=f"""\
for i in range(0, size, {unroll * vector_bytes}):
    for j in range(i, i + {unroll * vector_bytes}, {vector_bytes}):   # unrolled
        {_FORMULA[pattern.name]}   # {vector_bytes} bytes each""",
    )
