"""What runs on a GPU, as CUDA C source, and what each launch of it does: pure.

Every operand comes from memory or an argument, every result may be stored: a compiler can
neither fold nor drop anything. A thread's work is a whole number of passes, so that a launch
does exactly what is claimed; there is no rest.
"""

from __future__ import annotations

from dataclasses import dataclass

BLOCK_THREADS = 256
WORD_BYTES = 16
"""What a thread loads or stores at once: the widest that there is before compute capability 10."""

WORDS_IN_FLIGHT = 4
"""Loads of one thread that wait for none of the others."""

CHAINS = 8
"""Dependent multiply-adds that each thread has under way at once."""

CLOCK_STEPS = 1_000_000
"""Dependent multiply-adds, of 4 cycles each, that the clock is measured over: about 2 ms."""

_UNROLLED = 16

# All blocks of a launch are to be resident at once: else the last ones run alone. Left to itself,
# NVRTC gives the load so many registers that only 6 blocks of 8 are.
_RESIDENT = f"""
#ifndef RESIDENT_BLOCKS
#define RESIDENT_BLOCKS 8
#endif
#define RESIDENT __launch_bounds__({BLOCK_THREADS}, RESIDENT_BLOCKS)
"""

_STREAMS = """
#define FOR_EACH_PASS \\
    const long long stride = (long long)gridDim.x * blockDim.x; \\
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x; \\
    for (long long pass = 0; pass < passes; ++pass, at += 4 * stride)

extern "C" __global__ void RESIDENT stream_load(
    const uint4* __restrict__ from, uint4* to, long long passes, unsigned int never)
{
    uint4 sum = {never, never, never, never};
    FOR_EACH_PASS {
        const uint4 a = from[at], b = from[at + stride];
        const uint4 c = from[at + 2 * stride], d = from[at + 3 * stride];
        sum.x ^= a.x ^ b.x ^ c.x ^ d.x;
        sum.y ^= a.y ^ b.y ^ c.y ^ d.y;
        sum.z ^= a.z ^ b.z ^ c.z ^ d.z;
        sum.w ^= a.w ^ b.w ^ c.w ^ d.w;
    }
    if ((sum.x & sum.y & sum.z & sum.w) == never)
        to[(long long)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void RESIDENT stream_store(
    const uint4* __restrict__ from, uint4* to, long long passes, unsigned int never)
{
    uint4 value = {never ^ threadIdx.x, never ^ blockIdx.x, ~threadIdx.x, ~blockIdx.x};
    FOR_EACH_PASS {
        to[at] = value;
        to[at + stride] = value;
        to[at + 2 * stride] = value;
        to[at + 3 * stride] = value;
        value.x += 1;
    }
}

extern "C" __global__ void RESIDENT stream_copy(
    const uint4* __restrict__ from, uint4* to, long long passes, unsigned int never)
{
    FOR_EACH_PASS {
        const uint4 a = from[at], b = from[at + stride];
        const uint4 c = from[at + 2 * stride], d = from[at + 3 * stride];
        to[at] = a;
        to[at + stride] = b;
        to[at + 2 * stride] = c;
        to[at + 3 * stride] = d;
    }
}
"""

_CHAIN = """
extern "C" __global__ void RESIDENT chain_{precision}(
    const {type}* from, {type}* to, long long passes, {type} factor, {type} term)
{{
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const {type} start = from[at];
    {type} x0 = start, x1 = start * factor, x2 = x1 * factor, x3 = x2 * factor;
    {type} x4 = x3 * factor, x5 = x4 * factor, x6 = x5 * factor, x7 = x6 * factor;
    for (long long pass = 0; pass < passes; ++pass) {{
        #pragma unroll
        for (int step = 0; step < {unrolled}; ++step) {{
            x0 = {fma}(x0, factor, term);
            x1 = {fma}(x1, factor, term);
            x2 = {fma}(x2, factor, term);
            x3 = {fma}(x3, factor, term);
            x4 = {fma}(x4, factor, term);
            x5 = {fma}(x5, factor, term);
            x6 = {fma}(x6, factor, term);
            x7 = {fma}(x7, factor, term);
        }}
    }}
    to[at] = ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7));
}}
"""

_FILL = """
extern "C" __global__ void fill(
    unsigned long long* to, long long passes, unsigned long long keep, unsigned long long set)
{
    const long long stride = (long long)gridDim.x * blockDim.x;
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (long long pass = 0; pass < passes; ++pass, at += stride) {
        unsigned long long mixed = (unsigned long long)at + 0x9e3779b97f4a7c15ull;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ull;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebull;
        to[at] = ((mixed ^ (mixed >> 31)) & keep) | set;
    }
}
"""

_CLOCK = """
extern "C" __global__ void clock_rate(long long* to, long long passes, float factor, float term)
{
    unsigned long long began_ns, ended_ns;
    float x = term;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(began_ns));
    const long long began = clock64();
    asm volatile("" : "+f"(x) : : "memory");  // the chain begins and ends between the two readings
    for (long long pass = 0; pass < passes; ++pass)
        x = fmaf(x, factor, term);
    asm volatile("" : "+f"(x) : : "memory");
    const long long ended = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ended_ns));
    to[0] = ended - began;
    to[1] = (long long)(ended_ns - began_ns);
    to[2] = (long long)x;
}
"""

SOURCE = "\n".join(
    (
        _RESIDENT,
        _STREAMS,
        _CHAIN.format(precision="fp64", type="double", fma="fma", unrolled=_UNROLLED),
        _CHAIN.format(precision="fp32", type="float", fma="fmaf", unrolled=_UNROLLED),
        _FILL,
        _CLOCK,
    )
)
"""All kernels, in the C that NVRTC compiles without any header.

``RESIDENT_BLOCKS`` says how many blocks a multiprocessor is to hold.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How numbers in [1, 2) look in memory: random where `keep` has bits, `set` elsewhere.

    Parameters
    ----------
    keep, set : int
        Of 64 bit, which hold one to four numbers.
    item_bytes : int
    """

    keep: int
    set: int
    item_bytes: int


FORMATS = {
    "fp64": Format(keep=0x000FFFFFFFFFFFFF, set=0x3FF0000000000000, item_bytes=8),
    "fp32": Format(keep=0x007FFFFF007FFFFF, set=0x3F8000003F800000, item_bytes=4),
    "fp16": Format(keep=0x03FF03FF03FF03FF, set=0x3C003C003C003C00, item_bytes=2),
    "bf16": Format(keep=0x007F007F007F007F, set=0x3F803F803F803F80, item_bytes=2),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Loads, stores, or copies a buffer that no cache holds.

    Parameters
    ----------
    operation : str
        ``load``, ``store`` or ``copy``.
    """

    operation: str

    @property
    def kernel(self) -> str:
        """Name of the function."""
        return f"stream_{self.operation}"

    @property
    def shares(self) -> tuple[float, float]:
        """Bytes read from and written to memory per byte that the program moves.

        A GPU writes whole sectors without reading them before: there is no write-allocate.
        """
        return {"load": (1.0, 0.0), "store": (0.0, 1.0), "copy": (0.5, 0.5)}[self.operation]

    def work(self, *, blocks: int, passes: int) -> int:
        """Return the bytes that one launch loads and stores."""
        moved = 2 if self.operation == "copy" else 1
        return moved * blocks * pass_bytes() * passes


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Independent chains of multiply-adds in registers.

    Parameters
    ----------
    precision : str
        ``fp64`` or ``fp32``.
    """

    precision: str

    @property
    def kernel(self) -> str:
        """Name of the function."""
        return f"chain_{self.precision}"

    def work(self, *, blocks: int, passes: int) -> int:
        """Return the flop of the multiply-adds of one launch."""
        return 2 * CHAINS * _UNROLLED * passes * blocks * BLOCK_THREADS


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """The product of two square matrices, by the vendor's library.

    Parameters
    ----------
    precision : str
        Of the factors: ``fp64``, ``fp32``, ``fp16``, ``bf16``; or ``tf32``, which are rounded on
        the way from fp32.
    """

    precision: str

    @property
    def stored(self) -> str:
        """Precision in which factors and result lie in memory."""
        return "fp32" if self.precision == "tf32" else self.precision

    def work(self, *, size: int) -> int:
        """Return the flop of one product: a multiplication and an addition for each triple."""
        return 2 * size**3

    def needed_bytes(self, *, size: int) -> int:
        """Return the memory of both factors and the result."""
        return 3 * FORMATS[self.stored].item_bytes * size**2


Task = Stream | Chain | Product
"""What one ceiling is measured with."""


def pass_bytes() -> int:
    """Return the bytes of a buffer that one block goes through in one pass.

    Examples
    --------
    >>> pass_bytes()  # 256 threads, each 4 words of 16 byte
    16384
    """
    return BLOCK_THREADS * WORDS_IN_FLIGHT * WORD_BYTES
