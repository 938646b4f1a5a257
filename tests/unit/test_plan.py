"""What a machine is measured with: sizes worked out by hand for known caches."""

import pytest

from ridgepoint.ceilings.plan import buffer_bytes, plan
from ridgepoint.kernels.bandwidth import COPY, COPY_NT, LOAD, STORE, STORE_NT, TRIAD
from ridgepoint.machine import Cache

KIB, MIB = 1 << 10, 1 << 20


def caches(l1, l2, l3, *, l3_cores):
    """Return three data caches with lines of 64 byte."""
    return {
        1: Cache(level=1, kind="data", size_bytes=l1, line_bytes=64, ways=8),
        2: Cache(level=2, kind="unified", size_bytes=l2, line_bytes=64, ways=8),
        3: Cache(level=3, kind="unified", size_bytes=l3, line_bytes=64, ways=16, cores=l3_cores),
    }


ZEN4 = caches(32 * KIB, 1 * MIB, 32 * MIB, l3_cores=8)
SKYLAKE_SP = caches(32 * KIB, 1 * MIB, 22 * MIB, l3_cores=16)


@pytest.mark.parametrize(
    ("level", "threads", "expected"),
    [
        ("l1", 1, 24 * KIB),
        ("l2", 1, 512 * KIB),
        ("l3", 1, 8 * MIB),
        ("l3", 8, 3 * MIB),  # 4 MiB each: three L2, three quarters of the part
        ("dram", 1, 128 * MIB),
        ("dram", 2, 64 * MIB),
    ],
)
def test_buffers_lie_within_their_level_and_beyond_the_one_before(level, threads, expected):
    """On a Zen 4 part: 32 KiB, 1 MiB, 32 MiB for eight cores."""
    assert buffer_bytes(level, ZEN4, threads=threads, instances=1) == expected


def test_small_exclusive_l3_is_measured_beyond_l2():
    """Skylake-SP's part of L3 is 1.375 MiB a core: three quarters of it, more than one L2."""
    size = buffer_bytes("l3", SKYLAKE_SP, threads=16, instances=1)

    assert size == 22 * MIB // 16 * 3 // 4
    assert size > 1 * MIB


def test_dram_buffers_are_four_times_every_last_cache_together():
    """Two sockets with 32 MiB each: 256 MiB in all, half for each of two threads."""
    assert buffer_bytes("dram", ZEN4, threads=2, instances=2) == 128 * MIB


def test_plan_of_two_avx512_cores_holds_every_ceiling():
    """2 core counts x (2 precisions x 4 kinds x 4 widths + 2 x 7 integers + 3 levels x 4 + 6).

    The kinds are add, mul, fma, and the better of two mixes of fma and add; integers add, xor and
    mul as scalars and in 512 bit, and compare in 256 bit.
    """
    tasks = plan(ZEN4, cores=2, instances=1, has=lambda feature: True)

    assert len(tasks) == 2 * (2 * 4 * 4 + 2 * 7 + 3 * 4 + 6)
    assert len({(t.resource, t.name, t.threads) for t in tasks}) == len(tasks)


def test_plan_without_avx_has_scalar_and_128_bit_alone():
    """An SSE2 part has neither fused multiply-add nor wider vectors."""
    tasks = plan(ZEN4, cores=1, instances=1, has=lambda feature: feature == "sse2")

    assert {t.name for t in tasks if t.resource == "fp64"} == {
        "add scalar",
        "add 128-bit",
        "mul scalar",
        "mul 128-bit",
    }


def test_integers_are_measured_where_they_are_one_instruction():
    """Haswell has no 64-bit vector multiply, and nothing of 512 bit."""
    haswell = {"sse2", "sse4.1", "sse4.2", "avx", "avx2", "fma"}
    tasks = plan(ZEN4, cores=1, instances=1, has=lambda feature: feature in haswell)

    assert [t.name for t in tasks if t.resource == "int64"] == [
        "add scalar",
        "add 256-bit",
        "xor scalar",
        "xor 256-bit",
        "mul scalar",
        "compare 256-bit",
    ]


def test_streams_fit_their_buffer():
    """Streams and what is between them never reach past the buffer's end."""
    for task in plan(ZEN4, cores=2, instances=1, has=lambda feature: True):
        for kernel in task.candidates:
            if kernel.streams:
                size = task.size_bytes(kernel)
                used = kernel.streams * size + (kernel.streams - 1) * 2304

                assert 0 < used <= task.extent_bytes
                assert task.work(kernel) == kernel.streams * size


@pytest.mark.parametrize(
    ("pattern", "level", "read", "write"),
    [
        (LOAD, "l1", 1, 0),
        (STORE, "l1", 0, 1),
        (COPY, "l1", 1 / 2, 1 / 2),
        (TRIAD, "l1", 2 / 3, 1 / 3),
        (LOAD, "dram", 1, 0),
        (STORE, "dram", 1, 1),
        (COPY, "l2", 1, 1 / 2),
        (TRIAD, "dram", 1, 1 / 3),
        (STORE_NT, "dram", 0, 1),
        (COPY_NT, "dram", 1 / 2, 1 / 2),
    ],
)
def test_shares_count_write_allocate_reads_below_l1(pattern, level, read, write):
    """A store stream moves its lines twice below L1; a non-temporal one does not."""
    assert pattern.shares(level) == (read, write)
