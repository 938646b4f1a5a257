"""Basic operations that the engine counts, against sums by hand over known assembly."""

import subprocess

import pytest
from known_work import BLAS_WORK

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.host.run import Run
from ridgepoint.meters.callgrind import CallgrindMeter

pytestmark = pytest.mark.valgrind


def launch(command):
    """Run a command to its end."""
    done = subprocess.run(command, check=False, capture_output=True)
    return Run(exit_status=done.returncode, wall_s=1.0, cpu_s=1.0)


# Of `tests/programs/basic.c`, function by function: what each line does times how often it runs.
BY_HAND = {
    # 100 times addq and cmpq; the frame is no operation. 2 + 400 + 3 instructions, of which 100
    # jne and ret branch, 100 movq store, movl and ret load.
    "clear": (BasicOperations(arithmetic=100, compare=100), 405 - 101 - 100 - 2),
    # 1000 times addq with an element's address, incq, cmpq; 2 + 4000 + 1 instructions, of which
    # 1001 branch and 1001 load.
    "sum": (
        BasicOperations(arithmetic=2000, compare=1000, addressing=1000),
        4003 - 1001 - 1001,
    ),
    # 1000 times imulq, leaq, incq, decq; shrq, andl; an element's address. 1 + 8000 + 1
    # instructions, of which 1001 branch, 1001 load, 1000 store.
    "hash": (
        BasicOperations(arithmetic=4000, logic=2000, addressing=1000),
        8002 - 1001 - 1001 - 1000,
    ),
    # scasb passes 300 bytes; the zero lies at 300, in the 19th block of sixteen: 19 times pcmpeqb
    # of two words, addq, testl. 7 + 6 * 19 + 1 instructions, of which 19 je and ret branch; scasb,
    # popq, movdqu, ret load; pushq stores.
    "find": (
        BasicOperations(arithmetic=19, compare=300 + 2 * 19 + 19),
        122 - 20 - (1 + 1 + 19 + 1) - 1,
    ),
    # 500 times two products and two sums, an element's address, subq; one ucomisd. 2 + 2500 + 4
    # instructions, of which 500 jg and ret branch, 500 movupd and ret load.
    "norm": (
        BasicOperations(arithmetic=500, fp_arithmetic=2000, fp_compare=1, addressing=500),
        2506 - 501 - 501,
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.parametrize("simulated", [False, True], ids=["counts", "caches"])
def test_basic_operations_are_those_of_the_instructions(
    name, simulated, compiled, counted, of_function, small_caches
):
    """Each class, and Eq. (3) beside them, to the last operation."""
    result = counted(compiled("basic.c", "-O1"), name, caches=small_caches if simulated else None)
    counts = of_function(result, name).counts

    assert (counts.basic_operations, counts.eq3_bop) == BY_HAND[name]


def test_functions_make_up_the_whole(compiled, counted):
    """Nothing is lost between the parts, start-up and libraries included."""
    result = counted(compiled("basic.c", "-O1"), "sum")
    parts = [function.counts.basic_operations for function in result.functions]

    assert sum(parts, BasicOperations()) == result.counts.basic_operations


@pytest.mark.parametrize("times", [2, 5])
def test_processes_add_up(times, compiled, counted, of_function):
    """So many programs one after the other, started by a shell."""
    program = compiled("basic.c", "-O1")
    result = counted("sh", "-c", f"for i in $(seq {times}); do {program} sum; done")
    once, _ = BY_HAND["sum"]

    assert of_function(result, "sum").counts.basic_operations == once * times


@pytest.mark.parametrize("name", ["clear", "sum", "hash", "norm"])
def test_callgrind_counts_the_same(name, compiled, counted, of_function, small_caches):
    """Another tool says how often each instruction ran; of what repeats itself it cannot tell."""
    program = compiled("basic.c", "-O1")
    other = CallgrindMeter().count((program, name), launch=launch, caches=small_caches)
    own = counted(program, name)

    for function in (name, "main"):
        expected = of_function(other, function).counts
        counts = of_function(own, function).counts
        assert counts.basic_operations == expected.basic_operations
        assert counts.eq3_bop == expected.eq3_bop


@pytest.mark.parametrize("options", [("-O0",), ("-O3", "-mavx2", "-mfma")], ids=" ".join)
@pytest.mark.parametrize(("kernel", "n", "work"), BLAS_WORK)
def test_flop_are_among_the_basic_operations(
    kernel, n, work, options, compiled, counted, of_function
):
    """Kernels that compare no floating-point numbers: those of the algorithm, to the flop."""
    result = counted(compiled("blas.c", *options), kernel, n)

    assert of_function(result, kernel).counts.basic_operations.fp_arithmetic == sum(work.values())
