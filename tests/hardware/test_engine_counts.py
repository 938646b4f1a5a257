"""What the engine counts, against sums by hand, callgrind, and the code itself."""

import subprocess
import sys

import pytest
from known_work import BLAS_WORK

from ridgepoint.meters.engine.build import engine
from ridgepoint.meters.engine.profile import read_profile

pytestmark = pytest.mark.valgrind

VECTORS = ("-O2", "-ftree-vectorize", "-mavx2", "-mfma")


@pytest.mark.parametrize(("kernel", "n", "work"), BLAS_WORK)
@pytest.mark.parametrize("options", [VECTORS, ("-O2",), ("-O0",)], ids=" ".join)
def test_work_is_exactly_that_of_the_algorithm(
    kernel, n, work, options, compiled, counted, of_function
):
    """However the compiler vectorises, the work is what the source says, to the flop."""
    result = counted(compiled("blas.c", *options), kernel, n)

    assert of_function(result, kernel).counts.work == work
    assert result.counts.work == work


@pytest.mark.parametrize("simulated", [False, True], ids=["counts", "caches"])
@pytest.mark.parametrize(
    "options", [("-no-pie",), ("-static",), ("-s",), ("-static", "-s"), ("-g",)], ids=" ".join
)
def test_programs_of_every_make_are_counted(options, simulated, compiled, counted, small_caches):
    """Static, stripped and position-dependent programs give the same work."""
    program = compiled("blas.c", *VECTORS, *options)
    result = counted(program, "dgemm", 45, caches=small_caches if simulated else None)

    assert result.counts.work == {"fp64": 2 * 45**3}
    assert result.counts.undecoded == 0


def test_vector_code_is_counted_by_width_and_kind(compiled, counted, of_function):
    """Of 1003 elements AVX2 does 1000 in 250 FMAs of four and 3 in scalar ones."""
    daxpy = of_function(counted(compiled("blas.c", *VECTORS), "daxpy", 1003), "daxpy").counts
    kinds = {(kind.precision, kind.width_bits, kind.fma): kind.instructions for kind in daxpy.flop}

    assert kinds.pop(("fp64", 256, True)) == 250
    assert sum(kinds.values()) in (2, 3)  # one of two lanes and one of one, or three
    assert all(fma for _, _, fma in kinds)


def test_loads_and_stores_of_daxpy_are_exact(compiled, counted, of_function):
    """It reads x, y and its return address, and writes y."""
    result = counted(compiled("blas.c", *VECTORS), "daxpy", 1000)
    daxpy = of_function(result, "daxpy").counts

    assert (daxpy.stores, daxpy.store_bytes) == (250, 8000)
    assert daxpy.load_bytes == 16000 + 8


def under_valgrind(library, tool, *command, **files):
    """Run a command under a tool of Valgrind, with an environment that is always the same."""
    options = (f"--{name.replace('_', '-')}={path}" for name, path in files.items())
    subprocess.run(
        ["valgrind", f"--tool={tool}", "-q", "--vgdb=no", "--run-libc-freeres=no",
         "--run-cxx-freeres=no", *options, *command],
        check=True, capture_output=True, env={"PATH": "/usr/bin:/bin", "VALGRIND_LIB": library},
    )  # fmt: skip


def callgrind_instructions(path):
    """Return callgrind's total of instructions."""
    (totals,) = [line for line in path.read_text().splitlines() if line.startswith("totals:")]
    return int(totals.split()[1])


@pytest.mark.parametrize(
    ("program", "arguments"),
    [("blas.c", ("sort", "3000")), ("blas.c", ("spmv", "500")), ("family.c", ("plain",))],
)
@pytest.mark.parametrize("options", [("-O2",), ("-O0",), ("-O2", "-static")], ids=" ".join)
def test_every_instruction_is_counted_as_often_as_callgrind_does(
    program, arguments, options, compiled, tmp_path
):
    """Of startup, C library and program, to the instruction.

    But for those that end the process: callgrind counts a piece of code when it is left.
    """
    command = (compiled(program, *options), *arguments)
    library = str(engine().library)
    under_valgrind(library, "callgrind", *command, callgrind_out_file=tmp_path / "callgrind")
    under_valgrind(library, "ridgepoint", *command, counts_file=tmp_path / "engine")

    passes = int(read_profile(tmp_path / "engine.0").executed["passes"].sum())
    assert 0 < passes - callgrind_instructions(tmp_path / "callgrind") < 10


def test_code_made_at_run_time_is_counted_for_what_it_was(compiled, counted):
    """Different code at the same address, also code that writes itself."""
    n = 1000
    counts = counted(compiled("jit.c", "-O1"), n).counts

    assert counts.work == {"fp64": 3 * n, "fp32": (5 + 2) * n}
    assert counts.undecoded == 0


def test_a_repeated_instruction_counts_once_and_its_bytes_as_often_as_it_iterates(
    compiled, counted
):
    """Code of known length, in which REP MOVSB copies 40 bytes."""
    n = 1000
    parts = [part for part in counted(compiled("jit.c", "-O1"), n).functions if not part.object]

    # 3 additions, ret; 5 multiplications, mov, rep movsb, ret; addss, mov, ret and addss, ret
    assert sum(part.counts.instructions for part in parts) == (4 + 8 + 5) * n
    assert sum(part.counts.store_bytes for part in parts) == (40 + 4) * n


PYTHON_JIT = """
import ctypes, mmap
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
run = ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
for code in (b"\\xf2\\x0f\\x58\\xc1", b"\\xc5\\xf4\\x58\\xc1"):
    memory[:5] = code + b"\\xc3"
    for _ in range({n}): run()
"""


def test_code_that_a_python_program_makes_is_counted(counted):
    """One addition of fp64, then eight of fp32 at the same address."""
    result = counted(sys.executable, "-S", "-c", PYTHON_JIT.format(n=500))
    (made,) = [part for part in result.functions if part.object is None and part.counts.work_flop]

    assert made.counts.work == {"fp64": 500, "fp32": 8 * 500}


def test_a_python_program_is_counted(counted):
    """The interpreter's own additions of floats are found: 1 flop per `+=`."""
    program = "x = 0.0\nfor i in range({}): x += 1.5"
    few = counted(sys.executable, "-S", "-c", program.format(1_000)).counts.work
    many = counted(sys.executable, "-S", "-c", program.format(6_000)).counts.work

    assert many["fp64"] - few["fp64"] == 5_000


@pytest.mark.parametrize("simulated", [False, True], ids=["counts", "caches"])
@pytest.mark.parametrize(
    ("name", "instructions", "load_bytes", "store_bytes"),
    [
        ("copy_n", 3, 7, 7),
        ("copy_40", 4, 40, 40),
        ("copy_none", 4, 0, 0),
        ("store_48", 4, 0, 48),
        ("find_3rd", 3, 3, 0),
        ("find_none", 3, 13, 0),
        ("find_10th", 4, 10, 0),
        ("skip_same", 3, 22, 0),
        ("skip_1", 3, 2, 0),
    ],
)
def test_repeated_string_instructions_are_executed_once_and_move_what_they_iterate(
    name, instructions, load_bytes, store_bytes, simulated, compiled, counted, of_function,
    small_caches,
):  # fmt: skip
    """However they end: by their count, known or not, by the flag, or before they begin."""
    n = 100
    caches = small_caches if simulated else None
    counts = of_function(counted(compiled("strings.c"), n, caches=caches), name).counts

    assert counts.instructions == instructions * n
    assert (counts.load_bytes, counts.store_bytes) == ((load_bytes + 8) * n, store_bytes * n)
