"""Kernels that bound mixes of instructions: their machine code, in LLVM's own listing.

The product checks its kernels with iced-x86; LLVM's assembly printer is the second opinion.
"""

import importlib.util
import platform
import re
import sys
from pathlib import Path

import pytest

from ridgepoint.ceilings.verify import innermost_loop, why_refused
from ridgepoint.kernels.issue import MIXES, issue
from ridgepoint.kernels.jit import Compiler
from ridgepoint.kernels.kernel import ENTRY
from ridgepoint.kernels.mul_add import REGISTERS, mul_add

pytestmark = [
    pytest.mark.hardware,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="listings are of x86-64"),
]

_FEATURE = {0: "sse2", 128: "sse2", 256: "avx", 512: "avx512f"}


@pytest.fixture(scope="module")
def compiler():
    """Give one compiler for all."""
    return Compiler(lists=True)


@pytest.fixture(scope="module")
def benchmark():
    """Give the benchmark of mixes, which is a script."""
    path = Path(__file__).parents[2] / "benchmarks" / "mix.py"
    spec = importlib.util.spec_from_file_location("benchmark_of_mixes", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there for the types of their fields
    spec.loader.exec_module(module)
    return module


def count(function, pattern):
    """Return how many lines of LLVM's listing a pattern matches."""
    lines = (line.strip() for line in function.assembly.splitlines())
    return sum(re.match(rf"{pattern}\b", line) is not None for line in lines)


@pytest.mark.parametrize("mix", MIXES, ids="-".join)
def test_the_issue_loop_is_what_it_claims(compiler, mix):
    """Sixty instructions or more of the mix, the counter and the jump; every one is work."""
    kernel = issue(mix)
    function = compiler.compile(kernel.ir, ENTRY)
    loop = innermost_loop(function.machine_code)

    assert why_refused(function, kernel.claim) is None
    assert len(loop) == kernel.work_per_repeat >= 60
    compares = count(function, "cmpq")
    assert count(function, "jne") == compares + 1
    times = compares // mix.count("compare") if compares else count(function, "nop")
    assert count(function, "nop") == times * mix.count("nop")


@pytest.mark.parametrize("registers", REGISTERS)
@pytest.mark.parametrize("width", [0, 128, 256, 512])
@pytest.mark.parametrize("precision", ["fp64", "fp32"])
def test_products_and_additions_are_as_many(compiler, precision, width, registers):
    """Four passes over all registers but two, half of each; LLVM fuses none of them."""
    if not compiler.has(_FEATURE[width]):
        pytest.skip(f"this CPU has no {_FEATURE[width]}")
    if registers > 16 and not compiler.has("avx512vl"):
        pytest.skip("this CPU has sixteen vector registers")
    kernel = mul_add(precision=precision, width_bits=width, registers=registers)
    function = compiler.compile(kernel.ir, ENTRY, width_bits=width)

    assert why_refused(function, kernel.claim) is None
    half = 4 * (registers - 2) // 2
    assert (count(function, "v?mul[ps][sd]"), count(function, "v?add[ps][sd]")) == (half, half)
    assert count(function, "vfn?m") == 0


def test_the_benchmarks_kernels_do_what_their_names_say(compiler, benchmark):
    """Flop of each kind, decoded from the machine code, against the numbers in the table."""
    if not compiler.has("avx2"):
        pytest.skip("this CPU has no AVX2")
    wide = compiler.has("avx512vl")
    lanes = {"fp64": 64, "fp32": 32}
    for parts in benchmark.FIXED:
        if max(part.width_bits for part in parts) == 512 and not wide:
            continue
        ir = benchmark.kernel_ir(parts, wide=wide)
        mix = benchmark.decoded(compiler.compile(ir, ENTRY, width_bits=512).machine_code)
        passes = len(benchmark.in_turn(parts)) // sum(part.number for part in parts)

        assert mix == {
            (part.precision, part.width_bits, part.operation): passes
            * part.number
            * (2 if part.operation == "fma" else 1)
            * max(1, part.width_bits // lanes[part.precision])
            for part in parts
        }
