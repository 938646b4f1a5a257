"""Counts of callgrind against counts by hand; the sums are in the comments of the C sources."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from known_work import BLAS_WORK

from ridgepoint.core.errors import CannotMeasure, CannotStart, UnsupportedInstruction
from ridgepoint.core.machine import Cache
from ridgepoint.host.run import Run
from ridgepoint.meters.callgrind import CallgrindMeter
from ridgepoint.meters.callgrind.counts import count_functions
from ridgepoint.meters.object_file import holds_avx512

pytestmark = [
    pytest.mark.valgrind,
    pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed"),
]

PROGRAMS = Path(__file__).parents[1] / "programs"
VECTORS = ("-O2", "-ftree-vectorize", "-mavx2", "-mfma")
CACHES = (
    Cache(level=1, kind="data", size_bytes=32 << 10, line_bytes=64, ways=8),
    Cache(level=1, kind="instruction", size_bytes=32 << 10, line_bytes=64, ways=8),
    Cache(level=2, kind="unified", size_bytes=256 << 10, line_bytes=64, ways=8),
    Cache(level=3, kind="unified", size_bytes=1 << 20, line_bytes=64, ways=16),
)


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    """Compile tests/programs/NAME.c with some options and return the path of the program."""
    built = {}

    def compiled(name, *options):
        key = (name, *options)
        if key not in built:
            path = tmp_path_factory.mktemp(name) / name
            source = PROGRAMS / f"{name}.c"
            subprocess.run(["gcc", *options, "-pthread", "-o", path, source], check=True)
            built[key] = str(path)
        return built[key]

    return compiled


def launch(command):
    """Run a command to its end."""
    started = time.perf_counter()
    done = subprocess.run(command, check=False, stderr=subprocess.DEVNULL)
    wall_s = time.perf_counter() - started
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return Run(exit_status=status, wall_s=wall_s, cpu_s=wall_s)


@pytest.fixture
def count(tmp_path, monkeypatch):
    """Count a command, and see that no temporary file is left whatever happens."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def counted(*command, launch=launch):
        return CallgrindMeter().count(command, launch=launch, caches=CACHES)

    yield counted
    assert list(tmp_path.iterdir()) == []


def function(counted, name):
    """Return the one function of a name."""
    (found,) = [one for one in counted.functions if one.name == name]
    return found


def codes(counted):
    """Return the codes of all cautions."""
    return {caution.code for caution in counted.cautions}


@pytest.mark.parametrize(("kernel", "n", "work"), BLAS_WORK)
@pytest.mark.parametrize("options", [VECTORS, ("-O2",), ("-O0",)], ids=" ".join)
def test_work_is_exactly_that_of_the_algorithm(kernel, n, work, options, build, count):
    """However the compiler vectorises, the work is what the source says, to the flop."""
    counted = count(build("blas", *options), kernel, str(n))

    assert function(counted, kernel).counts.work == work
    assert counted.counts.work == work


def test_vector_code_is_counted_by_width_and_kind(build, count):
    """Of 1003 elements AVX2 does 1000 in 250 FMAs of four and 3 in scalar ones."""
    daxpy = function(count(build("blas", *VECTORS), "daxpy", "1003"), "daxpy")
    kinds = {(kind.precision, kind.width_bits, kind.fma): kind for kind in daxpy.counts.flop}

    assert sum(kind.flop for kind in kinds.values()) == 2006
    assert kinds["fp64", 256, True].instructions == 250
    assert all(fma for _, _, fma in kinds)


def test_loads_and_stores_of_daxpy_are_exact(build, count):
    """It reads x, y and its return address, and writes y."""
    n = 1000
    daxpy = function(count(build("blas", *VECTORS), "daxpy", str(n)), "daxpy").counts

    assert (daxpy.stores, daxpy.store_bytes) == (n // 4, 8 * n)
    assert daxpy.load_bytes == 16 * n + 8


def test_loads_and_stores_are_those_that_callgrind_sees(build, count, monkeypatch):
    """Where the code has neither FMA nor read-modify-write, callgrind's Dr and Dw agree."""
    seen = {}

    def noted(costs, **others):
        seen.update({name: (one.events[1], one.events[2]) for (_, name), one in costs.items()})
        return count_functions(costs, **others)

    monkeypatch.setattr("ridgepoint.meters.callgrind.count_functions", noted)
    counted = count(build("blas", "-O1"), "spmv", "500")

    spmv = function(counted, "spmv").counts
    main = function(counted, "main").counts
    assert (spmv.loads, spmv.stores) == seen["spmv"]
    assert (main.loads, main.stores) == seen["main"]


@pytest.mark.parametrize("kernel", ["daxpy", "copy"])
def test_memory_traffic_is_that_of_the_arrays(kernel, build, count):
    """From a cache much smaller than the data: read x and y, write y back, 24 bytes a time.

    copy has a write-allocate read of y. Within 1 %: lines that the last level still held.
    """
    n, repeats = 200_000, 10
    found = function(count(build("blas", *VECTORS), kernel, str(n), str(repeats)), kernel)
    dram = found.traffic[-1]

    assert dram.level == "dram"
    assert dram.read_bytes == pytest.approx(16 * n * repeats, rel=0.01)
    assert dram.write_bytes == pytest.approx(8 * n * repeats, rel=0.05)
    assert dram.total_bytes == pytest.approx(24 * n * repeats, rel=0.02)
    assert dram.pending_write_bytes is None


@pytest.mark.parametrize(
    ("mode", "before", "work", "processes"),
    [
        (("plain",), 10_000, 1_000, 1),
        (("fork",), 10_000, 6_000, 2),
        (("closing",), 10_000, 6_000, 2),
        (("badexec",), 10_000, 2_000, 2),
        (("threads",), 10_000, 4_000, 1),
        (("exec", "plain"), 20_000, 1_000, 1),
        (("exec", "exec", "fork"), 30_000, 6_000, 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_every_process_and_thread_counts_once(mode, before, work, processes, build, count):
    """Forked children, threads and what came before an exec count, and count once."""
    counted = count(build("family", "-O2"), *mode)

    assert function(counted, "before").counts.work_flop == before
    assert function(counted, "work").counts.work_flop == work
    assert counted.counts.work_flop == before + work
    assert counted.processes == processes
    assert ("simulated-apart" in codes(counted)) is (processes > 1)
    assert ("threads-serialized" in codes(counted)) is (mode == ("threads",))


@pytest.mark.parametrize(
    "options", [("-no-pie",), ("-static",), ("-s",), ("-static", "-s"), ("-g",)], ids=" ".join
)
def test_programs_of_every_make_are_counted(options, build, count):
    """Static, stripped and position-dependent programs give the same work."""
    counted = count(build("family", "-O2", *options), "threads")

    assert counted.counts.work == {"fp64": 14_000}


def test_a_forked_child_that_cannot_be_told_from_its_parent_is_refused(build, count):
    """Without symbols a static fork goes unnoticed, and its child repeats the past: no guess."""
    with pytest.raises(CannotMeasure, match="repeats what its parent had done"):
        count(build("family", "-O2", "-static", "-s"), "fork")


def test_a_shell_script_is_counted_with_what_it_starts(build, count, tmp_path_factory):
    """A script that runs one program and becomes another counts all of it."""
    family = build("family", "-O2")
    script = tmp_path_factory.mktemp("script") / "script"
    script.write_text(f"#!/bin/sh\n{family} plain\nexec {family} fork\n")
    script.chmod(0o755)

    assert count(str(script)).counts.work == {"fp64": 11_000 + 16_000}


def test_a_python_program_is_counted(count):
    """The interpreter's own additions of floats are found: 1 flop per `+=`."""
    program = "x = 0.0\nfor i in range({}): x += 1.5"
    few = count(sys.executable, "-S", "-c", program.format(1_000)).counts.work
    many = count(sys.executable, "-S", "-c", program.format(6_000)).counts.work

    assert many["fp64"] - few["fp64"] == 5_000


@pytest.mark.parametrize("mode", [(), ("catch",), ("child",)], ids=lambda m: " ".join(m) or "dies")
@pytest.mark.parametrize("options", [("-O2",), ("-O2", "-g")], ids=" ".join)
def test_avx512_is_refused_by_name(mode, options, build, count):
    """The message names instruction, function and object, even if the program survived."""
    program = build("wide", *options)

    with pytest.raises(UnsupportedInstruction) as refused:
        count(program, *mode)
    assert "zmm" in refused.value.reason
    assert f"function 'wide' of {program}" in refused.value.reason
    assert "-mno-avx512f" in refused.value.remedy


def test_avx512_that_is_not_executed_is_no_obstacle(build):
    """That an object holds AVX-512 is seen without running it."""
    assert holds_avx512(build("wide", "-O2"))
    assert not holds_avx512(build("blas", *VECTORS))


def test_x87_is_a_precision_of_its_own(build, count):
    """Additions of long double are fp80."""
    assert function(count(build("odd", "-O2"), "x87", "5000"), "extended").counts.work == {
        "fp80": 5_000
    }


def test_non_temporal_stores_are_counted_and_doubted(build, count):
    """Streamed bytes are counted apart, and a caution says how callgrind takes them."""
    counted = count(build("odd", "-O2"), "stream", "5000")

    assert counted.counts.non_temporal_store_bytes == 80_000
    assert "non-temporal-stores" in codes(counted)


def test_code_made_at_run_time_is_undecoded(build, count):
    """Its instructions are counted as undecoded, with the most flop that they could hide."""
    counted = count(build("odd", "-O2"), "jit", "5000")
    (caution,) = [one for one in counted.cautions if one.code == "undecoded"]

    assert counted.counts.undecoded == 10_000
    assert "at most 160000 flop" in caution.seen


def test_an_object_that_changed_since_is_undecoded(build, count, tmp_path_factory):
    """Bytes of a file that changed after its code ran are not taken for those that ran."""
    program = tmp_path_factory.mktemp("changing") / "family"
    shutil.copy(build("family", "-O2"), program)

    def changing(command):
        run = launch(command)
        os.utime(program)
        return run

    counted = count(str(program), "plain", launch=changing)
    assert counted.counts.work_flop == 0
    assert counted.counts.undecoded > 11_000
    assert "undecoded" in codes(counted)


def test_a_program_that_crashes_is_refused_with_the_signal(build, count):
    """What Valgrind says of the end is in the message."""
    with pytest.raises(CannotMeasure, match="SIGSEGV"):
        count(build("family", "-O2"), "crash")


def test_a_profile_cut_short_is_refused(build, count):
    """A disk that was full leaves a cut profile: a clear refusal, no partial count."""

    def cutting(command):
        run = launch(command)
        (option,) = [one for one in command if one.startswith("--callgrind-out-file=")]
        directory = Path(option.partition("=")[2]).parent
        for path in directory.glob("profile.*-01*"):
            os.truncate(path, path.stat().st_size // 2)
        return run

    with pytest.raises(CannotMeasure, match=r"cut short|not of the format"):
        count(build("family", "-O2"), "plain", launch=cutting)


def test_a_program_that_was_killed_is_refused(build, count):
    """SIGKILL leaves no profile of the program itself."""

    def killing(command):
        child = subprocess.Popen(command)
        time.sleep(0.3)
        child.kill()
        child.wait()
        return Run(exit_status=137, wall_s=0.3, cpu_s=0.3)

    with pytest.raises(CannotMeasure, match="killed"):
        count(shutil.which("sleep"), "30", launch=killing)


def test_a_program_that_cannot_be_is_refused_before_it_runs(count, tmp_path_factory):
    """Missing programs and those of another architecture are named."""
    foreign = tmp_path_factory.mktemp("foreign") / "prog"
    header = bytearray(64)
    header[:6] = b"\x7fELF\x02\x01"
    header[18:20] = (183).to_bytes(2, "little")  # EM_AARCH64
    foreign.write_bytes(header)
    foreign.chmod(0o755)

    with pytest.raises(CannotStart, match="AARCH64"):
        count(str(foreign))
    with pytest.raises(CannotStart):
        count("/nonexistent/program")


def test_valgrind_that_is_missing_is_said(monkeypatch):
    """Without valgrind in PATH the meter says what to install."""
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setenv("RIDGEPOINT_VALGRIND", "system")

    unavailable = CallgrindMeter().why_unavailable()
    assert unavailable is not None
    assert "install" in unavailable.remedy


def test_a_valgrind_that_does_not_start_is_said(monkeypatch, tmp_path):
    """A valgrind that fails is reported with its status."""
    broken = tmp_path / "valgrind"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("RIDGEPOINT_VALGRIND", "system")

    unavailable = CallgrindMeter().why_unavailable()
    assert unavailable is not None
    assert "does not start" in unavailable.reason


def test_the_geometry_that_was_simulated_is_reported(build, count):
    """The last level given is the one simulated, and L2 in between is not."""
    counted = count(build("family", "-O2"), "plain")

    assert [(c.level, c.kind, c.size_bytes, c.ways) for c in counted.caches] == [
        (1, "instruction", 32 << 10, 8),
        (1, "data", 32 << 10, 8),
        (3, "unified", 1 << 20, 16),
    ]
    assert [part.level for part in counted.traffic] == ["l1", "l2", "dram"]
    assert counted.traffic[1].write_bytes is None
