"""Kernels of random accesses: their data walked by hand, their code run and read."""

import ctypes
import mmap
import platform
import re
import resource

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.ceilings.buffer import Buffer
from ridgepoint.ceilings.verify import why_refused
from ridgepoint.kernels.jit import Compiler, emit
from ridgepoint.kernels.kernel import ENTRY
from ridgepoint.kernels.random_access import (
    CHASE_LEAST_BYTES,
    GATHER_LEAST_BYTES,
    chase,
    chase_shares,
    gather,
    gather_shares,
    gather_widths,
)

pytestmark = pytest.mark.hardware

x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the code is of x86-64")

_GUARD = 0xA5
_RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


@pytest.fixture(scope="module")
def compiler():
    """Give one compiler for all."""
    return Compiler(lists=True)


def filled(kernel, size, *, seed=0):
    """Return an extent that a kernel has laid out, and the memory around it, 64 byte each side."""
    room = np.full(size + 3 * 64, _GUARD, np.uint8)
    begin = 64 - room.ctypes.data % 64 + 64
    extent = room[begin : begin + size]
    kernel.fill(extent, np.random.default_rng(seed))
    assert (room[:begin] == _GUARD).all()
    assert (room[begin + size :] == _GUARD).all()
    return extent, room


def walk(extent, steps):
    """Return the offsets that a chase visits, from its place on."""
    words = extent[: extent.size // 8 * 8].view(np.int64)
    visited = [int(words[0])]
    for _ in range(steps):
        visited.append(int(words[visited[-1] // 8]))
    return visited


def gathered(extent):
    """Return the indices of a gather, and the values that they are of."""
    n = int(extent[8:16].view(np.int64)[0])
    values = extent[64 + 4 * n : 64 + 4 * n + 64 * n]
    return extent[64 : 64 + 4 * n].view(np.int32), values.view(np.int64)


def loop_of(listing):
    """Return the lines of the shortest loop in LLVM's AT&T listing."""
    lines = [line.strip() for line in listing.splitlines()]
    lines = [line for line in lines if line and not re.match(r"#|\.(?!LBB)", line)]
    loops = []
    for end, line in enumerate(lines):
        if jump := re.match(r"j\w+\s+(\.LBB\w+)", line):
            begin = next(i for i, each in enumerate(lines) if each.startswith(jump[1] + ":"))
            if begin < end:
                loops.append(lines[begin + 1 : end + 1])
    return min(loops, key=len)


def require(compiler, width):
    """Skip, and say why, where this CPU cannot gather vectors of a width."""
    if width and width not in gather_widths((width,), compiler.has):
        pytest.skip(f"this CPU has no {width}-bit gather")


@given(st.integers(CHASE_LEAST_BYTES, 20_000), st.integers(0, 2**32))
def test_chase_is_one_cycle_of_all_lines_but_the_first(size, seed):
    """From its place, a walk is at every line once and then back."""
    extent, _ = filled(chase(), size, seed=seed)
    n_lines = size // 64 - 1
    visited = walk(extent, n_lines)

    assert sorted(visited[:-1]) == [64 * line for line in range(1, n_lines + 1)]
    assert visited[-1] == visited[0]


def test_all_cycles_are_as_likely():
    """Of 1000 cycles of four lines, each of the six possible ones is about a sixth."""
    cycles = {}
    for seed in range(1000):
        extent, _ = filled(chase(), 5 * 64, seed=seed)
        visited = walk(extent, 3)
        first = visited.index(64)
        cycle = tuple(visited[first:] + visited[:first])
        cycles[cycle] = cycles.get(cycle, 0) + 1

    assert len(cycles) == 6
    assert min(cycles.values()) > 100


@x86_64
@pytest.mark.parametrize("size", [128, 192, 4096, 100_000])
def test_chase_goes_on_from_where_it_ended(compiler, size):
    """Three repeats and then four more are 7 x 32 steps; nothing but the place is written."""
    kernel = chase()
    extent, room = filled(kernel, size)
    way = walk(extent, 7 * 32)
    before = room.copy()
    run = _RUN(compiler.compile(kernel.ir, ENTRY).address)
    places = []
    for repeats in (3, 4):
        run(extent.ctypes.data, size, repeats)
        places.append(int(extent[:8].view(np.int64)[0]))
    begin = extent.ctypes.data - room.ctypes.data
    room[begin : begin + 8] = before[begin : begin + 8]

    assert places == [way[3 * 32], way[7 * 32]]
    assert (room == before).all()


@given(st.integers(GATHER_LEAST_BYTES, 100_000), st.integers(0, 2**32))
def test_gather_has_an_index_into_every_line(size, seed):
    """Indices and lines are as many as fit in whole repeats; each line has one index."""
    extent, _ = filled(gather(width_bits=0), size, seed=seed)
    index, values = gathered(extent)

    assert index.size % 32 == 0
    assert 64 + 68 * index.size <= size < 64 + 68 * (index.size + 32)
    assert sorted(index // 8) == list(range(index.size))
    assert values.size == 8 * index.size
    assert (values.ctypes.data - extent.ctypes.data) % 64 == 0


@x86_64
@pytest.mark.parametrize("width", [0, 256, 512])
@pytest.mark.parametrize("size", [GATHER_LEAST_BYTES, 10_000, 100_000])
def test_gather_sums_what_the_indices_name_and_goes_on(compiler, size, width):
    """Runs of 1, 2, 50 and 3 repeats, which pass the last index, sum as NumPy does."""
    require(compiler, width)
    kernel = gather(width_bits=width)
    extent, room = filled(kernel, size)
    index, values = gathered(extent)
    values[:] = np.random.default_rng(1).integers(-(2**62), 2**62, values.size)
    before = room.copy()
    run = _RUN(compiler.compile(kernel.ir, ENTRY, width_bits=width).address)
    place, _, total = (extent[slot : slot + 8].view(np.int64) for slot in (0, 8, 16))
    done = 0
    for repeats in (1, 2, 50, 3):
        run(extent.ctypes.data, size, repeats)
        done += 32 * repeats
        expected = values[np.resize(index, done)].sum()

        assert place[0] == done % index.size
        assert total[0] == expected
    place[0] = total[0] = 0

    assert (room == before).all()


@x86_64
@pytest.mark.parametrize("kernel", [chase(), *(gather(width_bits=w) for w in (0, 256, 512))])
def test_zeros_are_safe_to_try_a_kernel_over(compiler, kernel):
    """Nothing says where to go: it stays within the least extent, and writes zeros."""
    require(compiler, kernel.claim.width_bits)
    data = np.zeros(GATHER_LEAST_BYTES + 64, np.uint8)
    begin = -data.ctypes.data % 64
    function = compiler.compile(kernel.ir, ENTRY, width_bits=kernel.claim.width_bits)
    _RUN(function.address)(data.ctypes.data + begin, 0, 3)

    assert not data.any()


@x86_64
def test_chase_loop_is_32_loads_that_wait_for_each_other(compiler):
    """Each loads into the register of which it took its address."""
    kernel = chase()
    function = compiler.compile(kernel.ir, ENTRY)
    loop = loop_of(function.assembly)
    loads = [line for line in loop if re.match(r"movq\s+\(%(\w+),%(\w+)\), %\2$", line)]

    assert len(loads) == 32
    assert len(loop) <= 32 + 3
    assert (kernel.claim.load_bytes, kernel.work_per_repeat) == (256, 256)
    assert why_refused(function, kernel.claim) is None


def test_chase_is_as_tight_on_arm():
    """One register goes through all 32 loads."""
    kernel = chase(architecture="aarch64")
    code = emit(kernel.ir, ENTRY, triple="aarch64-unknown-linux-gnu", cpu="neoverse-n1")

    assert len(re.findall(r"ldr\s+(x\d+), \[x0, \1\]\n", code.assembly)) == 32
    assert kernel.claim.instructions == (("LDR", 32),)


@x86_64
def test_chase_of_narrower_loads_is_refused(compiler):
    """As many loads, but of 4 byte, are not what it claims."""
    kernel = chase()
    narrow = kernel.ir.replace("= load i64, ptr %a7,", "= load i32, ptr %a7,").replace(
        "%o8 = load i32", "%n8 = load i32"
    ).replace("  %a8 =", "  %o8 = zext i32 %n8 to i64\n  %a8 =")  # fmt: skip

    assert why_refused(compiler.compile(narrow, ENTRY), kernel.claim) == (
        "a pass of its loop does 252 bytes loaded, not 256"
    )


@x86_64
def test_scalar_gather_loop_is_32_loads_of_an_index_and_32_of_a_value(compiler):
    """The second is part of the addition."""
    kernel = gather(width_bits=0)
    function = compiler.compile(kernel.ir, ENTRY)
    loop = loop_of(function.assembly)
    indices = [line for line in loop if re.match(r"movslq\s+\d*\(%\w+\), %\w+$", line)]
    values = [line for line in loop if re.match(r"addq\s+\(%\w+,%\w+,8\), %\w+$", line)]

    assert (len(indices), len(values)) == (32, 32)
    assert len(loop) <= 64 + 3
    assert (kernel.claim.load_bytes, kernel.work_per_repeat) == (384, 384)
    assert why_refused(function, kernel.claim) is None


@x86_64
@pytest.mark.parametrize(("width", "number", "register"), [(256, 8, "ymm"), (512, 4, "zmm")])
def test_vector_gather_loop_has_no_other_access(compiler, width, number, register):
    """32 accesses in vectors of 64-bit values: as many gathers, and loads of their indices."""
    require(compiler, width)
    kernel = gather(width_bits=width)
    function = compiler.compile(kernel.ir, ENTRY, width_bits=width)
    loop = loop_of(function.assembly)
    gathers = [line for line in loop if re.match(rf"vpgatherdq\s.*%{register}", line)]
    indices = [line for line in loop if re.match(r"vmovdq\w+\s+\d*\(%\w+\), %[xy]mm", line)]

    assert (len(gathers), len(indices)) == (number, number)
    assert sum("(" in line for line in loop) == 2 * number
    assert len(loop) <= 5 * number + 3
    assert (kernel.claim.load_bytes, kernel.work_per_repeat) == (384, 384)
    assert why_refused(function, kernel.claim) is None


@pytest.mark.skipif(not hasattr(mmap, "MADV_NOHUGEPAGE"), reason="pages have one size here")
def test_small_pages_are_faulted_in_one_by_one():
    """By the kernel's count of faults; and none of the buffer lies on huge pages."""
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    buffer = Buffer(16 << 20, 0, small_pages=True)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults

    assert faults >= (16 << 20) // mmap.PAGESIZE
    assert buffer.huge_share in {0.0, None}


def test_below_l1_whole_lines_move():
    """A chase uses 8 byte of 64; a gather 8 of 64, and all 4 of its index."""
    assert chase_shares("l1") == gather_shares("l1") == (1, 0)
    for level in ("l2", "l3", "dram"):
        assert chase_shares(level) == (8, 0)
        assert gather_shares(level) == (pytest.approx(68 / 12), 0)


def test_gathers_are_of_avx2_and_avx512():
    """128-bit gathers exist and are no use."""
    widths = (128, 256, 512)

    assert gather_widths(widths, {"sse2", "avx"}.__contains__) == ()
    assert gather_widths(widths, {"avx2"}.__contains__) == (256,)
    assert gather_widths(widths, {"avx2", "avx512f"}.__contains__) == (256, 512)


@pytest.mark.parametrize(
    ("kernel", "size", "words"),
    [
        (chase(), CHASE_LEAST_BYTES - 1, "has no line beside the first"),
        (gather(width_bits=0), GATHER_LEAST_BYTES - 1, "less than one repeat visits"),
        (gather(width_bits=0), 20 << 30, "an index of 4 byte does not reach"),
    ],
)
def test_extents_that_cannot_be_laid_out_are_refused(kernel, size, words):
    """Before anything is written: the largest of them is no memory at all."""
    with pytest.raises(ValueError, match=words):
        kernel.fill(np.broadcast_to(np.uint8(0), size), np.random.default_rng(0))
