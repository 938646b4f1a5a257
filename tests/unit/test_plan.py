"""What a machine is measured with: sizes worked out by hand for known caches."""

import mmap

import pytest

from ridgepoint.ceilings.places import Place
from ridgepoint.ceilings.plan import buffer_bytes, plan
from ridgepoint.core.machine import Cache
from ridgepoint.kernels.bandwidth import COPY, COPY_NT, LOAD, MIX, STORE, STORE_NT, TRIAD
from ridgepoint.kernels.isa import Isa

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


def x86(*features):
    """Return the instruction set of an x86-64 CPU with these features."""
    return Isa(architecture="x86_64", has=features.__contains__)


EVERYTHING = Isa(architecture="x86_64", has=lambda feature: True)


def cores(n, siblings=1):
    """Return a place of so many cores, one thread on each."""
    return Place(cpus=tuple(range(n)), cores=n, siblings=n * siblings)


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
    assert buffer_bytes(level, ZEN4, cores(threads)) == expected


def test_small_exclusive_l3_is_measured_beyond_l2():
    """Skylake-SP's part of L3 is 1.375 MiB a core: three quarters of it, more than one L2."""
    size = buffer_bytes("l3", SKYLAKE_SP, cores(16))

    assert size == 22 * MIB // 16 * 3 // 4
    assert size > 1 * MIB


def test_random_accesses_stay_near_beyond_l2():
    """Three L2 of 1 MiB, where streams take a quarter of 32 MiB; other levels are alike."""
    assert buffer_bytes("l3", ZEN4, cores(1), at_random=True) == 3 * MIB
    assert buffer_bytes("l2", ZEN4, cores(1), at_random=True) == 512 * KIB


def test_dram_buffers_are_four_times_every_last_cache_together():
    """Two parts with 32 MiB for eight cores each: 256 MiB in all, shared by sixteen threads.

    Never less than 64 MiB each.
    """
    large = caches(32 * KIB, 1 * MIB, 512 * MIB, l3_cores=8)

    assert buffer_bytes("dram", ZEN4, cores(16)) == 64 * MIB
    assert buffer_bytes("dram", large, cores(16)) == 2 * 4 * 512 * MIB // 16


def test_idle_siblings_leave_a_core_its_whole_cache():
    """Two hardware threads share L1 and L2; with one of them idle the other has all."""
    smt = {
        1: Cache(level=1, kind="data", size_bytes=48 * KIB, line_bytes=64, ways=12, cores=2),
        2: Cache(level=2, kind="unified", size_bytes=2 * MIB, line_bytes=64, ways=16, cores=2),
        3: Cache(level=3, kind="unified", size_bytes=32 * MIB, line_bytes=64, ways=16, cores=16),
    }
    both = Place(cpus=tuple(range(16)), cores=8, siblings=16)

    assert buffer_bytes("l1", smt, cores(8, siblings=2)) == 36 * KIB
    assert buffer_bytes("l1", smt, both) == 18 * KIB
    assert buffer_bytes("l2", smt, cores(1, siblings=2)) == 1 * MIB
    assert cores(8, siblings=2).sharers(smt[3]) == 8
    assert both.sharers(smt[3]) == 16


def test_page_walks_are_measured_from_one_core_in_main_memory_alone():
    """The same kernels over as much data, on the smallest pages."""
    pages = f" {mmap.PAGESIZE // 1024} KiB pages"
    tasks = plan(ZEN4, [cores(1), cores(2)], isa=EVERYTHING)
    small = {t.key: t for t in tasks if any(k.small_pages for k in t.candidates)}
    usual = {t.key: t for t in tasks if len(t.place.cpus) == 1}

    assert set(small) == {("dram", f"chase{pages}"), ("dram", f"gather{pages}")}
    for (level, name), task in small.items():
        same = usual[level, name.removesuffix(pages)]
        assert (len(task.place.cpus), task.essential) == (1, False)
        assert (task.extent_bytes, task.shares) == (same.extent_bytes, same.shares)
        assert [k.ir for k in task.candidates] == [k.ir for k in same.candidates]


def test_unknown_caches_leave_main_memory():
    """With more than any cache holds."""
    tasks = plan({}, [cores(2)], isa=x86("sse2"))
    memory = {task.resource for task in tasks if task.shares is not None}

    assert memory == {"dram"}
    assert buffer_bytes("dram", {}, cores(2)) == 1 << 30


def test_node_is_measured_by_its_memory_alone():
    """Its cores are like all others."""
    node = Place(part="node 1", cpus=(4, 5), cores=2, siblings=2, memory_only=True)

    assert {t.resource for t in plan(ZEN4, [node], isa=EVERYTHING)} == {"dram"}


def test_plan_of_two_avx512_cores_holds_every_ceiling():
    """2 core counts x (2 precisions x 7 kinds x 4 widths + 2 x 7 integers + 12 dots + 14 BOPs ...).

    The kinds are add, mul, fma, div, sqrt, the better of two mixes of fma and add, and mul with
    add; on one core a chain of each of the first five in both precisions. Integers add, logic
    and mul as scalars and in 512 bit, and compare in 256 bit; bf16, fp16 and int8 in three
    widths and in tiles.
    Basic operations: seven kinds, as scalars and in 512 bit.
    Memory: 3 cache levels x 7 + main memory x 9; on one core two ways on small pages.
    And the issue rate.
    """
    tasks = plan(ZEN4, [cores(1), cores(2)], isa=EVERYTHING)

    assert len(tasks) == 2 * (2 * 7 * 4 + 2 * 7 + 12 + 14 + 3 * 7 + 9 + 1) + 2 * 5 + 2
    assert len({(t.resource, t.name, t.place) for t in tasks}) == len(tasks)


def test_quick_plan_is_what_bounds_most_programs():
    """Sums and FMA as wide as they get, and every level of memory."""
    tasks = plan(ZEN4, [cores(1)], isa=EVERYTHING)
    found = [(t.resource, t.name) for t in tasks if t.essential]

    assert [name for resource, name in found if resource == "fp64"] == [
        "add 512-bit",
        "fma scalar",
        "fma 512-bit",
        "fma+add 512-bit",
    ]
    assert [name for resource, name in found if resource == "l2"] == ["load", "copy"]
    memory = [name for resource, name in found if resource == "dram"]
    assert memory == ["load", "store", "copy", "triad", "mix 2:1", "store nt", "copy nt", "chase"]
    assert not any(
        t.name == "chase" and t.essential for t in plan(ZEN4, [cores(2)], isa=EVERYTHING)
    )


def test_plan_without_avx_has_scalar_and_128_bit_alone():
    """An SSE2 part has neither fused multiply-add nor wider vectors."""
    tasks = plan(ZEN4, [cores(1)], isa=x86("sse2"))

    assert {t.name for t in tasks if t.resource == "fp64"} == {
        f"{operation} {how}"
        for operation in ("add", "mul", "div", "sqrt")
        for how in ("scalar", "128-bit", "chain")
    } | {"mul+add scalar", "mul+add 128-bit"}


def test_integers_are_measured_where_they_are_one_instruction():
    """Haswell has no 64-bit vector multiply, and nothing of 512 bit."""
    haswell = {"sse2", "sse4.1", "sse4.2", "avx", "avx2", "fma"}
    tasks = plan(ZEN4, [cores(1)], isa=x86(*haswell))

    assert [t.name for t in tasks if t.resource == "int64"] == [
        "add scalar",
        "add 256-bit",
        "logic scalar",
        "logic 256-bit",
        "mul scalar",
        "compare 256-bit",
    ]


@pytest.mark.parametrize(
    ("features", "widest"),
    [(("sse2",), 128), (("sse2", "sse4.2"), 128), (("sse2", "sse4.2", "avx", "avx2"), 256)],
)
def test_basic_operations_are_measured_scalar_and_widest(features, widest):
    """What cannot compare 64-bit lanes in one instruction mixes none in vectors."""
    tasks = plan(ZEN4, [cores(1)], isa=x86(*features))
    names = [task.name for task in tasks if task.resource == "bop"]
    compares = ("compare", "mixed") if "sse4.2" in features else ()
    kinds = ("add", "logic", "addressing", "dependent", *compares)

    assert {name for name in names if "bit" in name} == {f"{kind} {widest}-bit" for kind in kinds}
    assert sum("scalar" in name for name in names) == 6
    assert {t.name for t in tasks if t.resource == "bop" and t.essential} == {
        "mixed scalar",
        *(f"mixed {widest}-bit" for _ in compares),
    }


def test_floating_point_is_of_the_basic_operations():
    """With what multiplies and adds in one instruction, which counts two."""
    haswell = {"sse2", "sse4.1", "sse4.2", "avx", "avx2", "fma"}
    tasks = plan(ZEN4, [cores(1)], isa=x86(*haswell))
    floating = {t.name: t for t in tasks if t.resource == "bop" and "floating" in t.name}

    assert set(floating) == {"floating scalar", "floating 256-bit"}
    # Four steps of eight multiply-adds and four additions, four lanes each.
    assert floating["floating 256-bit"].candidates[0].work_per_repeat == 4 * (8 * 2 + 4) * 4


def test_other_architectures_add_and_combine_basic_operations():
    """What needs assembly of x86-64 is unknown there, and not guessed."""
    neon = Isa(architecture="aarch64", has=lambda feature: False)
    names = [t.name for t in plan(ZEN4, [cores(1)], isa=neon) if t.resource == "bop"]

    assert names == [
        "add scalar",
        "add 128-bit",
        "logic scalar",
        "logic 128-bit",
        "floating scalar",
        "floating 128-bit",
    ]


def test_streams_fit_their_buffer():
    """Streams and what is between them never reach past the buffer's end."""
    for task in plan(ZEN4, [cores(1), cores(2)], isa=EVERYTHING):
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
        (MIX, "l1", 2 / 3, 1 / 3),
        (MIX, "dram", 1, 1 / 3),
        (STORE_NT, "dram", 0, 1),
        (COPY_NT, "dram", 1 / 2, 1 / 2),
    ],
)
def test_shares_count_write_allocate_reads_below_l1(pattern, level, read, write):
    """A store stream moves its lines twice below L1; a non-temporal one does not."""
    assert pattern.shares(level) == (read, write)
