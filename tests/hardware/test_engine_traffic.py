"""Traffic in simulated caches, against sums by hand and callgrind; see tests/programs/streams.c.

The last cache holds 8192 lines, the arrays 32768 and more, so that no line is met again.
"""

import subprocess

import pytest

from ridgepoint.core.machine import Cache
from ridgepoint.meters.engine.build import engine
from ridgepoint.meters.engine.profile import read_profile

pytestmark = pytest.mark.valgrind

LINE = 64
LINES = 32768
REPEATS = 3
STREAMED = LINE * LINES * REPEATS
HELD = LINE * 8192


@pytest.fixture
def streams(compiled, counted, small_caches):
    """Count tests/programs/streams.c."""

    def count(kernel, *arguments, lines=LINES, repeats=REPEATS, caches=small_caches, **options):
        program = compiled("streams.c", "-O2", "-mavx2")
        return counted(program, kernel, lines, repeats, *arguments, caches=caches, **options)

    return count


def at(part, level):
    """Return what a part of a program moved at a level."""
    (traffic,) = [one for one in part.traffic if one.level == level]
    return traffic


@pytest.mark.parametrize(
    ("kernel", "read", "written"),
    [
        ("readonly", 1, 0),
        ("writeonly", 1, 1),
        ("copyto", 2, 1),
        ("triad", 3, 1),
        ("update", 1, 1),
        ("ahead", 1, 0),
    ],
)
def test_streams_move_their_arrays_through_every_level(kernel, read, written, streams, of_function):
    """Reads are those of the arrays and of the write-allocation; writes all arrays but the rest.

    Within 2 %: lines of the program's own.
    """
    result = streams(kernel)
    part = of_function(result, kernel)

    for level in ("l2", "l3", "dram"):
        moved = at(part, level)
        assert moved.read_bytes == pytest.approx(read * STREAMED, rel=0.02)
        assert moved.write_bytes <= written * STREAMED + 0.01 * STREAMED
        assert moved.write_bytes >= written * (STREAMED - HELD * 1.15)
    total = at(result, "dram")
    assert total.write_bytes + total.pending_write_bytes == pytest.approx(
        written * STREAMED, rel=0.02, abs=2e5
    )


def test_strided_reads_move_whole_lines(streams, of_function):
    """Eight byte of every second line."""
    result = of_function(streams("strided", 128), "strided")

    assert at(result, "l1").read_bytes == pytest.approx(STREAMED // 2 // LINE * 8, rel=0.001)
    assert at(result, "dram").read_bytes == pytest.approx(STREAMED // 2, rel=0.001)


def test_non_temporal_stores_go_past_the_caches(streams, of_function):
    """Their bytes reach memory as they are, and nothing is read for them."""
    part = of_function(streams("nontemporal"), "nontemporal")

    assert part.counts.non_temporal_store_bytes == STREAMED
    assert at(part, "dram").write_bytes == STREAMED
    assert at(part, "dram").read_bytes < 0.001 * STREAMED
    assert at(part, "l2").write_bytes == 0


def test_prefetches_of_every_kind_bring_lines_in(streams, of_function):
    """Of eight lines T1 leaves one out of L1, T2 another, and that one out of L2 as well."""
    part = of_function(streams("prefetched"), "prefetched")

    assert at(part, "dram").read_bytes == pytest.approx(STREAMED, rel=0.001)
    assert at(part, "l3").read_bytes == pytest.approx(STREAMED * 7 / 8, rel=0.001)
    assert at(part, "l2").read_bytes == pytest.approx(STREAMED * 6 / 8, rel=0.001)


def test_what_was_prefetched_is_not_read_again(streams, of_function):
    """An array that fits is read again only where NTA left a line in L1 alone: one in eight."""
    lines = 4096
    result = streams("both", lines=lines, repeats=1)
    prefetched, readonly = (of_function(result, name) for name in ("prefetched", "readonly"))

    assert at(prefetched, "dram").read_bytes == pytest.approx(LINE * lines, rel=0.01)
    assert at(readonly, "dram").read_bytes == pytest.approx(LINE * lines / 8, rel=0.02)


def test_a_prefetch_relative_to_its_instruction_brings_its_line_in(streams, of_function):
    """One line, and the few that the function itself is fetched from."""
    part = of_function(streams("relative", repeats=1), "relative")

    assert LINE <= at(part, "dram").read_bytes <= 5 * LINE


def test_caches_larger_than_everything_miss_once(streams, of_function):
    """However often the arrays are passed through."""
    large = tuple(
        Cache(level=level, kind="data", size_bytes=64 << 20, line_bytes=LINE, ways=16)
        for level in (1, 2, 3)
    )
    once, often = (streams("triad", repeats=n, caches=large) for n in (1, 5))

    assert at(of_function(often, "triad"), "dram").read_bytes == pytest.approx(
        3 * LINE * LINES, rel=0.001
    )
    assert at(often, "dram") == at(once, "dram")
    assert at(often, "dram").write_bytes == 0
    assert at(often, "dram").pending_write_bytes >= LINE * LINES


def test_cold_caches_make_each_call_read_its_array_again(streams):
    """Warm, an array that fits is read once; cold, at every call."""
    warm, cold = (
        at(streams("readonly", lines=4096, repeats=5, function="readonly", cold=cold), "dram")
        for cold in (False, True)
    )

    assert warm.read_bytes == pytest.approx(LINE * 4096, rel=0.01)
    assert cold.read_bytes == pytest.approx(5 * LINE * 4096, rel=0.01)


def test_what_a_cold_function_leaves_dirty_is_written_by_it(streams):
    """The caches hold everything: without being emptied they would write nothing."""
    large = tuple(
        Cache(level=level, kind="data", size_bytes=64 << 20, line_bytes=LINE, ways=16)
        for level in (1, 2, 3)
    )
    warm, cold = (
        streams("triad", repeats=5, function="triad", cold=cold, caches=large)
        for cold in (False, True)
    )

    assert at(warm, "dram").write_bytes == 0
    assert at(cold, "dram").write_bytes == pytest.approx(5 * LINE * LINES, rel=0.001)
    assert at(cold, "dram").read_bytes == pytest.approx(5 * 3 * LINE * LINES, rel=0.001)
    assert "pending-unknown" not in {caution.code for caution in cold.cautions}


def test_other_caches_in_the_same_run_give_what_they_give_alone(streams, small_caches):
    """Exactly, whichever of the two is the main one."""
    others = tuple(
        Cache(level=level, kind="data", size_bytes=size << 10, line_bytes=LINE, ways=ways)
        for level, size, ways in ((1, 16, 8), (2, 256, 4))
    )
    together = streams("triad", alternatives=(others,))
    swapped = streams("triad", caches=others, alternatives=(small_caches,))

    assert together.traffic == streams("triad").traffic == swapped.alternatives[0].traffic
    assert together.alternatives[0].traffic == swapped.traffic


def under_valgrind(tool, *arguments):
    """Run a tool of Valgrind with an environment that is always the same."""
    subprocess.run(
        ["valgrind", f"--tool={tool}", "-q", "--vgdb=no", "--run-libc-freeres=no",
         "--run-cxx-freeres=no", *arguments],
        check=True, capture_output=True,
        env={"PATH": "/usr/bin:/bin", "VALGRIND_LIB": str(engine().library)},
    )  # fmt: skip


@pytest.mark.parametrize("size_kib", [4, 64, 1024])
def test_the_miss_curve_is_that_of_a_fully_associative_cache(size_kib, compiled, tmp_path):
    """At any capacity, exactly what simulating it gives, dirty lines included."""
    size = size_kib << 10
    shapes = f"64,1,0,1,1,{size},{size // LINE},1"  # no cache for instructions
    under_valgrind(
        "ridgepoint", f"--caches={shapes}", "--miss-curve=1000000",
        f"--counts-file={tmp_path}/engine", compiled("blas.c", "-O2"), "spmv", "5000", "2",
    )  # fmt: skip
    profile = read_profile(tmp_path / "engine.0")
    row = profile.miss_curve.traffic_at(size)

    assert profile.miss_curve.sampling == 1
    assert row.read_bytes == LINE * int(profile.moved["read_lines"][:, 0].sum())
    assert row.write_bytes == LINE * int(profile.moved["write_lines"][:, 0].sum())
    assert row.pending_write_bytes == LINE * profile.pending_lines


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("streams.c", ("triad", LINES, 2)),
        ("streams.c", ("readonly", LINES, 2)),
        ("blas.c", ("sort", 20000)),
        ("blas.c", ("dgemm", 150)),
        ("blas.c", ("spmv", 20000, 2)),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else value,
)
def test_two_levels_agree_with_callgrind(program, arguments, compiled, tmp_path):
    """Misses and write-backs of all code, within 1 %."""
    command = (compiled(program, "-O2", "-mavx2"), *map(str, arguments))
    under_valgrind(
        "callgrind", "--cache-sim=yes", "--simulate-wb=yes", "--I1=8192,4,64", "--D1=8192,4,64",
        "--LL=524288,16,64", f"--callgrind-out-file={tmp_path}/callgrind", *command,
    )  # fmt: skip
    shapes = "64,1,8192,4,1,8192,4,1,524288,16,1"
    under_valgrind("ridgepoint", f"--caches={shapes}", f"--counts-file={tmp_path}/engine", *command)
    totals = dict.fromkeys(("ILdmr", "DLdmr", "DLdmw"), 0)  # left out where nothing was written
    lines = (tmp_path / "callgrind").read_text().splitlines()
    (names,) = [line.split()[1:] for line in lines if line.startswith("events:")]
    (values,) = [line.split()[1:] for line in lines if line.startswith("totals:")]
    totals.update(zip(names, map(int, values), strict=False))

    moved = read_profile(tmp_path / "engine.0").moved
    read, written = (moved[name].sum(axis=0).tolist() for name in ("read_lines", "write_lines"))
    near = {"rel": 0.01, "abs": 20}
    assert read[0] == pytest.approx(sum(totals[n] for n in ("I1mr", "D1mr", "D1mw")), **near)
    assert read[1] == pytest.approx(sum(totals[n] for n in ("ILmr", "DLmr", "DLmw")), **near)
    assert written[1] == pytest.approx(sum(totals[n] for n in ("ILdmr", "DLdmr", "DLdmw")), **near)
