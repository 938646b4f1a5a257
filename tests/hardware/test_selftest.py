"""The built-in programs on this CPU, and under every meter.

Three witnesses of what the formulae say: the CPU that steps through each program, GNU's
disassembler, and two of Valgrind's own tools.
"""

import platform
import re
import shutil
import subprocess
import sys

import pytest

from ridgepoint.core.geometry import parse_geometry
from ridgepoint.doctor.selftest import default_meters, programs, selftest
from ridgepoint.doctor.selftest.arithmetic import arithmetic
from ridgepoint.doctor.selftest.assembly import listing
from ridgepoint.doctor.selftest.streams import streams
from ridgepoint.host import System

pytestmark = [
    pytest.mark.hardware,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the programs are for x86-64"),
    pytest.mark.skipif("avx2" not in System().flags, reason="this CPU has no AVX2"),
    pytest.mark.skipif("fma" not in System().flags, reason="this CPU has no FMA"),
]

TINY = {
    program.name: program
    for program in (*arithmetic(7), *streams(parse_geometry("l1=128:1,l2=256:2,l3=512:2")))
}
ALL = {program.name: program for program in programs()}


def written(program, folder, *, interpreted=False):
    """Write a program's file and return its path."""
    path = folder / "program"
    path.write_bytes(program.built(interpreted=interpreted))
    path.chmod(0o700)
    return path


@pytest.mark.parametrize("interpreted", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", ALL)
def test_program_ends_by_itself_with_status_0(name, interpreted, tmp_path):
    """On the CPU as it is, alone and after the dynamic loader."""
    path = written(ALL[name], tmp_path, interpreted=interpreted)
    done = subprocess.run([path], capture_output=True, timeout=60)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


# ptrace(2): 0 lets this process be traced, 9 lets it execute one instruction. A process of its own,
# since pytest's may have threads, which a fork leaves behind.
STEPPER = """
import ctypes, os, sys
ptrace = ctypes.CDLL(None).ptrace
ptrace.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
child = os.fork()
if child == 0:
    os._exit(77) if ptrace(0, 0, None, None) else os.execv(sys.argv[1], sys.argv[1:])
n, status = 0, os.waitpid(child, 0)[1]
while os.WIFSTOPPED(status):
    ptrace(9, child, None, None)
    n, status = n + 1, os.waitpid(child, 0)[1]
print(n, os.waitstatus_to_exitcode(status))
"""


def steps(path):
    """Return how many instructions the CPU executes one by one until the process ends."""
    done = subprocess.run(
        [sys.executable, "-c", STEPPER, path], capture_output=True, text=True, timeout=60
    )
    n, status = map(int, done.stdout.split())
    if status == 77:
        pytest.skip("this system lets no process trace its child")
    assert status == 0
    return n


@pytest.mark.parametrize("name", TINY)
def test_cpu_executes_as_many_instructions_as_the_formula_says(name, tmp_path):
    """Stepped through, one trap each."""
    assert steps(written(TINY[name], tmp_path)) == TINY[name].expected.instructions


@pytest.mark.skipif(shutil.which("objdump") is None, reason="there is no objdump")
@pytest.mark.parametrize("name", ALL)
def test_other_disassembler_reads_the_same_instructions(name, tmp_path):
    """Of GNU: names, registers and numbers, in their order."""
    program = ALL[name]
    done = subprocess.run(
        ["objdump", "-d", "-M", "intel", "--no-show-raw-insn", written(program, tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    read = [line.split("\t")[1] for line in done.stdout.splitlines() if line.count("\t") == 1]

    assert [words(line) for line in read] == [words(line) for line in listing(program.code)]


def words(text):
    """Return a line's mnemonic, registers and numbers, the last as values."""
    if text.startswith("jn"):
        return ["jnz"]
    plain = re.sub(r"\w*WORD PTR |\bds:", "", text)
    return [int(word, 0) if word[0].isdigit() else word for word in re.findall(r"\w+", plain)]


@pytest.mark.valgrind
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="there is no valgrind")
@pytest.mark.parametrize("name", ["fma", "triad", "random"])
def test_second_tool_counts_as_many_instructions_loads_and_stores(name, tmp_path):
    """Cachegrind counts by itself; it takes a 256-bit FMA's operand for several loads."""
    program, expected = ALL[name], ALL[name].expected
    done = subprocess.run(
        [
            *("valgrind", "--tool=cachegrind", "--cachegrind-out-file=/dev/null"),
            *("--cache-sim=yes", "--D1=8192,4,64", "--LL=524288,16,64"),
            written(program, tmp_path),
        ],
        capture_output=True,
        text=True,
        check=True,
    )

    assert total(done.stderr, "I   refs") == (expected.instructions,)
    assert total(done.stderr, "D   refs")[1:] == (expected.loads, expected.stores)
    # Lines: those of the frame, and what is read of the arrays.
    assert 64 * total(done.stderr, "LL misses")[0] == expected.dram_read_bytes


def total(summary, what):
    """Return the numbers of a line of cachegrind's summary."""
    line = re.search(rf"{what}:(.*)", summary)[1]
    return tuple(int(number.replace(",", "")) for number in re.findall(r"[\d,]+\d|\d", line))


@pytest.mark.valgrind
@pytest.mark.parametrize("meter", default_meters(), ids=lambda meter: meter.name)
def test_meter_counts_every_program_right(meter):
    """All that it knows: work, instructions, loads and stores exactly, traffic nearly so."""
    if (lack := meter.why_unavailable()) is not None:
        pytest.skip(lack.reason)
    found = selftest([meter])
    wrong = [
        f"{trial.program}: {trial.failure or check}"
        for trial in found.trials
        for check in (trial.failed_checks or [None] * (trial.failure is not None))
    ]

    assert wrong == []
    assert len(found.trials) == len(ALL)
