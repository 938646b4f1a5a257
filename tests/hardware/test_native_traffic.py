"""Caches simulated from recording copies, against Valgrind's engine and sums by hand."""

import signal
import subprocess
import time
from functools import partial

import pytest

from ridgepoint.host.run import Run
from ridgepoint.meters.native import NativeMeter

pytestmark = pytest.mark.valgrind

LINE = 64
LINES = 4096  # of the arrays of wide_moves.c
EACH = 1000  # flop of crowd.c
FIXED = ("-O2", "-mavx2", "-fno-pie", "-no-pie")
WIDE = ("-O2", "-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw")
KERNELS = (
    *("triad", "stencil", "randomly", "matmul", "gather", "masked", "nontemporal"),
    *("prefetching", "strings", "update", "unaligned", "pointers", "pushes"),
)


@pytest.fixture(scope="module")
def recorded(natively, small_caches):
    """Count a command with the copying engine, small caches simulated."""
    if (lack := NativeMeter().why_unavailable()) is not None:
        pytest.skip(f"{lack.reason}; {lack.remedy}")
    return partial(natively, caches=small_caches)


def said(command):
    """Return what a command prints."""
    return subprocess.run(command, check=True, capture_output=True).stdout


def lines(part):
    """Return what a part of a program moved beyond L1, as lines read and written by level."""
    return {t.level: (t.read_bytes // LINE, t.write_bytes // LINE) for t in part.traffic[1:]}


def touched(part):
    """Return what a part of a program loaded and stored."""
    return part.traffic[0].read_bytes, part.traffic[0].write_bytes


@pytest.fixture(scope="module")
def both(compiled, counted, recorded, small_caches, of_function):
    """Count a kernel of moves.c in its region, beginning with empty caches, with both engines."""

    def count(kernel):
        program = compiled("moves.c", *FIXED)
        options = {"region": "hot", "cold": True}
        native = recorded(program, kernel, 2, **options)
        valgrind = counted(program, kernel, 2, caches=small_caches, **options)
        return of_function(native, kernel), of_function(valgrind, kernel)

    return count


@pytest.mark.parametrize("kernel", KERNELS)
def test_both_engines_move_the_same_lines(kernel, both):
    """Every line at every level: code, data and stack lie at the same addresses."""
    native, valgrind = both(kernel)

    assert touched(native) == touched(valgrind)
    assert lines(native) == lines(valgrind)


def test_valgrind_reads_the_stack_for_lanes_under_a_mask(both):
    """For lanes that do nothing it reads a word at the stack pointer: that line stays in L1."""
    native, valgrind = both("gather_some")

    assert touched(native) == touched(valgrind)
    for level, moved in lines(valgrind).items():
        assert lines(native)[level] == pytest.approx(moved, rel=1e-3, abs=10)


@pytest.mark.parametrize(
    ("kernel", "read", "written", "of_memory"),
    [
        ("whole", LINES * LINE, LINES * LINE, (2 * LINES, LINES)),
        ("under_mask", LINES * LINE // 2, LINES * LINE // 2, (LINES // 2, LINES // 2)),
        ("tail", LINES // 4 * LINE, 0, (LINES // 4, 0)),
        ("gather", LINES // 32 * 2 * 64, 0, (LINES // 32 * 20, 0)),
        ("scatter", 0, LINES // 16 * 64, (LINES // 2, LINES // 2)),
        ("compress", 0, LINES // 16 * 64, (LINES // 16, LINES // 16)),
        ("bytes", LINES // 4 * 64, LINES // 4 * 64, (LINES // 2, LINES // 4)),
        ("added", LINES // 4 * 64, 0, (LINES // 4, 0)),
    ],
)
def test_avx512_moves_the_lines_that_its_lanes_lie_in(
    kernel, read, written, of_memory, compiled, recorded, of_function
):
    """No cache holds the arrays; L1 holds 128 lines that may be dirty at the end."""
    program = compiled("wide_moves.c", *WIDE)
    if subprocess.run([program, kernel], check=False).returncode:
        pytest.skip("this CPU has no AVX-512")
    part = of_function(recorded(program, kernel), kernel)
    last = part.traffic[-1]

    assert touched(part) == pytest.approx((read, written), abs=300)
    assert last.read_bytes // LINE == pytest.approx(of_memory[0], abs=12)
    assert part.traffic[1].write_bytes // LINE == pytest.approx(of_memory[1], abs=140)


def test_stores_past_the_caches_are_counted_in_bytes(compiled, recorded, of_function):
    """Nothing is read for them."""
    program = compiled("wide_moves.c", *WIDE)
    if subprocess.run([program, "past"], check=False).returncode:
        pytest.skip("this CPU has no AVX-512")
    last = of_function(recorded(program, "past"), "past").traffic[-1]

    assert last.write_bytes == pytest.approx(LINES * LINE, abs=300)
    assert last.read_bytes < 12 * LINE


@pytest.mark.parametrize("kernel", ["whole", "gather", "compress", "added"])
def test_vector_registers_and_masks_are_as_they_were(kernel, compiled, recorded):
    """The caches are simulated with vector instructions, in the middle of the program's own."""
    program, heard = compiled("wide_moves.c", *WIDE), []
    if subprocess.run([program, kernel], check=False).returncode:
        pytest.skip("this CPU has no AVX-512")

    def listening(command):
        heard.append(said(command))
        return Run(exit_status=0, wall_s=1.0, cpu_s=1.0)

    recorded(program, kernel, launch=listening)
    assert heard == [said([program, kernel])]


@pytest.mark.parametrize(
    ("mode", "n", "times", "processes"),
    [
        ("waves", 50, 51, 1),
        ("alive", 50, 51, 1),
        ("fork", 10, 11, 11),
        ("rawfork", 5, 6, 6),
        ("rawclone", 5, 6, 6),
        ("suicide", 5, 6, 6),
        ("vfork", 2, 3, 3),
        ("spawn", 2, 3, 3),
        ("together", 10, 11, 11),
        ("grandchild", 5, 11, 11),
        ("chain", 3, 4, 1),
        ("killed", 3, 4, 4),
    ],
)
def test_every_thread_and_process_moves_its_own(mode, n, times, processes, compiled, recorded):
    """Whoever works reads 8000 bytes, also who is killed then."""
    result = recorded(compiled("crowd.c", "-O2"), mode, n, cpus=2)
    (part,) = [one for one in result.functions if one.name == "work"]

    assert part.counts.work == {"fp64": times * EACH}
    assert touched(part)[0] == pytest.approx(times * 8 * EACH, rel=0.01)
    assert lines(part)["l2"][0] >= 125  # the first time
    assert result.processes == processes


@pytest.mark.parametrize("cpus", [1, 2, 4])
def test_threads_move_what_each_of_them_streams(cpus, compiled, recorded, of_function):
    """Four threads, each with arrays of its own that no cache holds."""
    n = 20_000
    part = of_function(recorded(compiled("crowd.c", "-O2"), "private", n, cpus=cpus), "reads")

    assert part.counts.work == {"fp64": 4 * 4 * n}
    assert part.traffic[-1].read_bytes == pytest.approx(4 * 4 * n * LINE, rel=0.02)


def test_what_a_killed_program_moved_is_there(compiled, recorded, of_function):
    """Rows are in shared memory; only what was in its ring is lost."""

    def killing(command):
        child = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        time.sleep(2)
        child.kill()
        child.wait()
        return Run(exit_status=128 + signal.SIGKILL, wall_s=1.0, cpu_s=1.0)

    program = compiled("streams.c", "-O2", "-mavx2")
    result = recorded(program, "readonly", 32768, 10**8, launch=killing)
    loaded, last = touched(of_function(result, "readonly"))[0], result.traffic[-1]

    assert loaded > 64 << 20
    assert last.read_bytes == pytest.approx(loaded, rel=0.02)
    assert last.pending_write_bytes is None


def test_a_miss_curve_comes_with_the_caches(compiled, recorded):
    """An array of 32768 lines, read three times: a cache of more holds it, others nothing."""
    curve = recorded(
        compiled("streams.c", "-O2", "-mavx2"), "readonly", 32768, 3, miss_curve=True
    ).miss_curve

    assert curve.traffic_at(LINE * 20_000).read_bytes == pytest.approx(3 * 32768 * LINE, rel=0.05)
    assert curve.traffic_at(LINE * 40_000).read_bytes == pytest.approx(32768 * LINE, rel=0.05)


def test_tiles_move_the_lines_of_their_rows(compiled, recorded, of_function):
    """As many rows, and bytes of each, as the configuration says."""
    program = compiled("tile_moves.c", "-O2", "-mamx-tile")
    if subprocess.run([program], check=False).returncode:
        pytest.skip("this CPU has no AMX, or its kernel keeps it back")
    result = recorded(program)
    loads, stores = of_function(result, "loads"), of_function(result, "stores")

    assert lines(loads)["dram"][0] == pytest.approx(64 * 12, abs=6)
    assert lines(stores)["dram"][0] == pytest.approx(64 * 16, abs=6)
    assert lines(stores)["l2"][1] == pytest.approx(64 * 16 - 128, abs=130)


def test_libraries_that_come_and_go_move_their_lines_each_time(compiled, recorded):
    """Code that was unloaded may be in rings that are replayed later."""
    program = compiled("reloads.c", "-O2", "-fno-pic", "-no-pie")
    libraries = [compiled("reloads.c", level, "-shared", "-fPIC") for level in ("-O1", "-O2")]
    result = recorded(program, 50, *libraries)
    parts = [one for one in result.functions if one.name == "touch"]

    assert sum(touched(part)[0] for part in parts) == pytest.approx(100 * 4096 * 8, rel=0.01)
    assert sum(lines(part)["l2"][0] for part in parts) == pytest.approx(100 * 512, rel=0.05)
