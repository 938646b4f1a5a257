"""Built-in programs that move memory: arrays far larger than the caches, and one that fits.

Arrays of s bytes lie one behind the other. What a program reads it has filled before: pages that
nobody has written to are all one page of zeros. The caches are taken to be LRU, to write back and
to write-allocate, whatever their levels; the last one holds c bytes.

With s = 4 c every line of a pass has left the caches before the next pass comes to it, so each
pass reads all that it touches, and whatever is dirtied is written but for what the last level
holds at the end: of what passes through it, the dirty share of c. That share is exact where all
is dirty. Where loads and stores take turns, lines that come back dirty from the level within stay
longer than others, by as many as that level holds of them: with an L2 of c / 8 a sixteenth of c,
and 0.6 % of what is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ridgepoint.core.machine import Cache
from ridgepoint.doctor.selftest.assembly import ARRAYS, DATA, LINE_BYTES, Loop
from ridgepoint.doctor.selftest.program import FRAME, Expected, Program, frame_read_bytes, framed

_VECTOR_BYTES = 32
_PASSES = 2
_PASSES_WITHIN = 16
_CONSTANTS = f"vmovapd ymm0, [{DATA}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stream:
    """A loop over the vectors of arrays, which is passed several times.

    Parameters
    ----------
    array_bytes : int
        The s of this module.
    filled : int
        Arrays that are filled first.
    begin : tuple of (str, int)
        Registers, without the letter for their width, and the array at which each begins.
    body : tuple of str
        With one vector of each array, but for the registers' step to the next.
    flop, loads, stores : int
        Of one execution of the body; the flop are fp64.
    passes : int
    """

    array_bytes: int
    filled: int
    begin: tuple[tuple[str, int], ...]
    body: tuple[str, ...]
    flop: int = 0
    loads: int = 0
    stores: int = 0
    passes: int = _PASSES

    @property
    def vectors(self) -> int:
        """Vectors of one array."""
        return self.array_bytes // _VECTOR_BYTES

    @property
    def code(self) -> tuple[str | Loop, ...]:
        """The whole program."""
        fill = (
            f"mov edi, {ARRAYS}",
            Loop("ecx", self.filled * self.vectors or 1, ("vmovapd [rdi], ymm0", "add rdi, 32")),
        )
        starts = (f"mov e{register}, {ARRAYS + n * self.array_bytes}" for register, n in self.begin)
        steps = (f"add r{register}, {_VECTOR_BYTES}" for register, _ in self.begin)
        over_all = Loop("ecx", self.vectors, (*self.body, *steps))
        passes = Loop("edx", self.passes, (*starts, over_all))
        return framed(_CONSTANTS, *(fill if self.filled else ()), passes)

    def expected(
        self, *, read_bytes: int, write_bytes: int, pending_bytes: int, non_temporal: bool = False
    ) -> Expected:
        """Return what the program does.

        Parameters
        ----------
        read_bytes, write_bytes, pending_bytes : int
            Of its memory traffic, without the frame.
        non_temporal : bool
            Whether the body's stores are.

        Notes
        -----
        N vectors in each array, f arrays filled, p passes, a body of k instructions, j registers
        that begin and step:

        - instructions: the frame's; to fill 1 + (1 + 4 f N); to pass 1 + p (j + 1 + N (k + j + 2)
          + 2)
        - branches: f N + p (N + 1)
        - loads: the frame's 1, p N times the body's
        - stores: f N, p N times the body's
        """
        filling, turns = self.filled * self.vectors, self.passes * self.vectors
        k, j = len(self.body), len(self.begin)
        one_pass = j + 1 + self.vectors * (k + j + 2) + 2
        return Expected(
            work={"fp64": turns * self.flop} if self.flop else {},
            instructions=FRAME + (2 + 4 * filling if filling else 0) + (1 + self.passes * one_pass),
            branches=filling + turns + self.passes,
            loads=1 + turns * self.loads,
            stores=filling + turns * self.stores,
            non_temporal_store_bytes=turns * self.stores * _VECTOR_BYTES * non_temporal,
            dram_read_bytes=frame_read_bytes(self.code) + read_bytes,
            dram_write_bytes=write_bytes,
            pending_write_bytes=pending_bytes,
        )


def streams(caches: Sequence[Cache]) -> tuple[Program, ...]:
    """Return the programs that move memory.

    Parameters
    ----------
    caches : sequence of Cache
        That are to be simulated; from their sizes follows how long the arrays are.
    """
    data = sorted((c for c in caches if c.kind != "instruction"), key=lambda cache: cache.level)
    last_bytes = data[-1].size_bytes
    within_bytes = data[min(1, len(data) - 1)].size_bytes // 2
    return (
        _read(last_bytes),
        _write(last_bytes),
        _write_non_temporal(last_bytes),
        _copy(last_bytes),
        _triad(last_bytes),
        _daxpy(last_bytes),
        _within(within_bytes),
        _random(last_bytes),
    )


def _read(c: int) -> Program:
    """Fill a and read it p times: s + p s read, s dirtied, of which nothing is left at the end."""
    s = 4 * c
    stream = _Stream(
        array_bytes=s, filled=1, begin=(("si", 0),), body=("vmovapd ymm1, [rsi]",), loads=1
    )
    expected = stream.expected(read_bytes=s + _PASSES * s, write_bytes=s, pending_bytes=0)
    return _program("read", "x = a[i]", stream, expected)


def _write(c: int) -> Program:
    """Store to a, p times: p s read by write-allocate, p s dirtied, of which c is left."""
    s = 4 * c
    stream = _Stream(
        array_bytes=s, filled=0, begin=(("di", 0),), body=("vmovapd [rdi], ymm0",), stores=1
    )
    expected = stream.expected(read_bytes=_PASSES * s, write_bytes=_PASSES * s - c, pending_bytes=c)
    return _program("write", "a[i] = v", stream, expected)


def _write_non_temporal(c: int) -> Program:
    """Store to a past the caches, p times: p s written, and nothing read or left."""
    s = 4 * c
    stream = _Stream(
        array_bytes=s, filled=0, begin=(("di", 0),), body=("vmovntpd [rdi], ymm0",), stores=1
    )
    expected = stream.expected(
        read_bytes=0, write_bytes=_PASSES * s, pending_bytes=0, non_temporal=True
    )
    ordinary = stream.expected(
        read_bytes=_PASSES * s,
        write_bytes=_PASSES * s - c,
        pending_bytes=c,
        non_temporal=True,
    )
    program = _program("write nt", "a[i] = v, past the caches", stream, expected)
    return replace(program, if_ordinary=ordinary)


def _copy(c: int) -> Program:
    """Fill a (s read, s dirtied), copy it to b p times: 2 s read, s dirtied; half of c is left."""
    s = 4 * c
    stream = _Stream(
        array_bytes=s,
        filled=1,
        begin=(("si", 0), ("di", 1)),
        body=("vmovapd ymm1, [rsi]", "vmovapd [rdi], ymm1"),
        loads=1,
        stores=1,
    )
    expected = stream.expected(
        read_bytes=s + _PASSES * 2 * s,
        write_bytes=s + _PASSES * s - c // 2,
        pending_bytes=c // 2,
    )
    return _program("copy", "b[i] = a[i]", stream, expected)


def _triad(c: int) -> Program:
    """Fill a and b (2 s read and dirtied), then p times: 3 s read, s dirtied; c / 3 is left."""
    s = 4 * c
    stream = _Stream(
        array_bytes=s,
        filled=2,
        begin=(("si", 0), ("bx", 1), ("di", 2)),
        body=(
            "vmovapd ymm1, [rbx]",
            "vmulpd ymm1, ymm1, ymm0",
            "vaddpd ymm1, ymm1, [rsi]",
            "vmovapd [rdi], ymm1",
        ),
        flop=2 * 4,
        loads=2,
        stores=1,
    )
    expected = stream.expected(
        read_bytes=2 * s + _PASSES * 3 * s,
        write_bytes=2 * s + _PASSES * s - c // 3,
        pending_bytes=c // 3,
    )
    return _program("triad", "c[i] = a[i] + v * b[i]", stream, expected)


def _daxpy(c: int) -> Program:
    """Fill x and y (2 s read and dirtied), then p times: 2 s read, s dirtied; c / 2 is left."""
    s = 4 * c
    stream = _Stream(
        array_bytes=s,
        filled=2,
        begin=(("si", 0), ("di", 1)),
        body=(
            "vmovapd ymm1, [rdi]",
            "vfmadd231pd ymm1, ymm0, [rsi]",
            "vmovapd [rdi], ymm1",
        ),
        flop=2 * 4,
        loads=2,
        stores=1,
    )
    expected = stream.expected(
        read_bytes=2 * s + _PASSES * 2 * s,
        write_bytes=2 * s + _PASSES * s - c // 2,
        pending_bytes=c // 2,
    )
    return _program("daxpy", "y[i] += v * x[i], fused", stream, expected)


def _within(s: int) -> Program:
    """Fill a, which fits the second level, and read it many times: s read, s dirtied and left."""
    stream = _Stream(
        array_bytes=s,
        filled=1,
        begin=(("si", 0),),
        body=("vmovapd ymm1, [rsi]",),
        loads=1,
        passes=_PASSES_WITHIN,
    )
    expected = stream.expected(read_bytes=s, write_bytes=0, pending_bytes=s)
    return _program(
        "within L2", f"x = a[i], {_PASSES_WITHIN} times: cold misses only", stream, expected
    )


def _random(c: int) -> Program:
    """Store to every line of a in an order of chance, then read them in this order, p times.

    The order is that of i -> (1664525 i + 1013904223) mod 2^k over the 2^k lines of 4 c bytes or
    more, which visits each once and begins anew (Hull and Dobell, 1962: an odd increment, a
    factor of 1 modulo 4). A line is thus come back to after all the others, and the traffic is
    that of a stream of s = 2^k lines: s + p s read, s dirtied, nothing left. L lines:

    - instructions: the frame's; to fill 1 + 8 L; to pass 1 + p (1 + 8 L + 2)
    - branches: L + p (L + 1); loads: 1 + p L; stores: L
    """
    lines = 1 << (4 * c // LINE_BYTES - 1).bit_length()
    s, p = lines * LINE_BYTES, _PASSES
    step = (
        "imul eax, eax, 1664525",
        "add eax, 1013904223",
        "mov esi, eax",
        f"and esi, {lines - 1}",
        "shl esi, 6",
    )
    code = framed(
        _CONSTANTS,
        Loop("ecx", lines, (*step, f"mov [rsi+{ARRAYS}], rax")),
        Loop("edx", p, (Loop("ecx", lines, (*step, f"mov rbx, [rsi+{ARRAYS}]")),)),
    )
    return Program(
        name="random",
        does="x = a[8 k] in an order of chance, each line once",
        code=code,
        arrays_bytes=s,
        needs=("avx",),
        expected=Expected(
            work={},
            instructions=FRAME + (1 + 8 * lines) + (1 + p * (1 + 8 * lines + 2)),
            branches=lines + p * (lines + 1),
            loads=1 + p * lines,
            stores=lines,
            dram_read_bytes=frame_read_bytes(code) + s + p * s,
            dram_write_bytes=s,
        ),
    )


def _program(name: str, does: str, stream: _Stream, expected: Expected) -> Program:
    arrays = 1 + max(n for _, n in stream.begin)
    return Program(
        name=name,
        does=does,
        code=stream.code,
        arrays_bytes=arrays * stream.array_bytes,
        needs=("avx", "fma") if name == "daxpy" else ("avx",),
        expected=expected,
    )
