"""Kernels of basic operations: their machine code in LLVM's own listing, counted by hand."""

import platform
import re
from dataclasses import replace

import pytest

from ridgepoint.ceilings.probe import deadly
from ridgepoint.ceilings.verify import why_refused
from ridgepoint.kernels.basic import addressing, compare, dependent, mixed
from ridgepoint.kernels.jit import Compiler
from ridgepoint.kernels.kernel import ENTRY

pytestmark = [
    pytest.mark.hardware,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="listings are of x86-64"),
]

_FEATURE = {0: "sse2", 128: "sse4.2", 256: "avx2", 512: "avx512f"}
_REGISTER = {0: "%r", 128: "%xmm", 256: "%ymm", 512: "%zmm"}
_ADD = {0: "addq", 128: "paddq", 256: "vpaddq", 512: "vpaddq"}
_LOGIC = {0: "xorq", 128: "pxor", 256: "vpxor", 512: "vpxorq"}
_COMPARE = {0: "cmpq", 128: "pcmpgtq", 256: "vpcmpgtq", 512: "vpcmpgtq"}
# Steps of nine chains: a pass has so many instructions.
_PASS = {0: 144, 128: 72, 256: 72, 512: 72}
_LOAD = {0: "movq", 128: "movdqu", 256: "vmovdqu", 512: "vmovdqu64"}


@pytest.fixture(scope="module")
def compiler():
    """Give one compiler for all."""
    return Compiler(lists=True)


def compiled(compiler, kernel):
    """Return a kernel's function, or skip, and say why, where this CPU cannot execute it."""
    width = kernel.claim.width_bits
    if not compiler.has(_FEATURE[width]):
        pytest.skip(f"this CPU has no {_FEATURE[width]}")
    return compiler.compile(kernel.ir, ENTRY, width_bits=width)


def loop_of(listing):
    """Return the lines of the one loop in LLVM's AT&T listing."""
    lines = [line.strip() for line in listing.splitlines() if not line.strip().startswith("#")]
    end = next(i for i, line in enumerate(lines) if re.match(r"jne\s+\.LBB", line))
    label = lines[end].split()[1] + ":"
    return [line for line in lines[lines.index(label) + 1 : end + 1] if line]


def number(loop, name):
    """Return how many lines begin with an instruction."""
    return sum(line.split()[0] == name for line in loop)


@pytest.mark.parametrize("width", [0, 128, 256, 512])
@pytest.mark.parametrize(
    ("mix", "adds", "logics", "compares", "addressed", "bops"),
    [
        # Of 72 instructions: 17 BOPs of nine, eight of them addresses; 4 of three; 6 of four;
        # 5 of three; 6 of three.
        ("8:3:2:4", 24, 16, 32, 64, 136),
        ("1:1:1:1", 24, 24, 24, 24, 96),
        ("2:2:1:1", 36, 18, 18, 36, 108),
        ("2:1:1:1", 24, 24, 24, 48, 120),
        ("3:1:1:1", 24, 24, 24, 72, 144),
    ],
)
def test_mix_holds_its_operations_in_their_proportion(
    compiler, mix, adds, logics, compares, addressed, bops, width
):
    """Of every instruction one lane's operation counts one, and each operand in memory one more."""
    kernel = mixed(mix, width_bits=width)
    function = compiled(compiler, kernel)
    loop = loop_of(function.assembly)
    in_memory = [line for line in loop if re.search(r"\(%r\w+,%r\w+,8\)", line)]
    times = _PASS[width] // 72

    assert number(loop, _ADD[width]) == adds * times
    assert number(loop, _LOGIC[width]) == logics * times
    assert number(loop, _COMPARE[width]) == compares * times
    assert len(in_memory) == addressed * times
    assert len(loop) == _PASS[width] + 2
    assert sum(_REGISTER[width] in line for line in loop if "dec" not in line) == _PASS[width]
    assert kernel.work_per_repeat == bops * times * max(width // 64, 1)
    assert why_refused(function, kernel.claim) is None


@pytest.mark.parametrize("width", [0, 128, 256, 512])
def test_dependent_operations_are_one_chain(compiler, width):
    """Each of 128 additions and exclusive-ors, in turn, works on the result of the one before."""
    kernel = dependent(width_bits=width)
    function = compiled(compiler, kernel)
    loop = loop_of(function.assembly)
    chain = [line for line in loop if line.split()[0] in {_ADD[width], _LOGIC[width]}]
    targets = {line.rsplit("%", 1)[1] for line in chain}

    assert [line.split()[0] for line in chain] == [_ADD[width], _LOGIC[width]] * 64
    assert len(targets) == 1
    assert len(loop) == 128 + 2
    assert kernel.work_per_repeat == 128 * max(width // 64, 1)
    assert why_refused(function, kernel.claim) is None


@pytest.mark.parametrize("width", [0, 512])
def test_compares_keep_no_result(compiler, width):
    """144 scalars, or 72 vectors: flags, or a mask, are written over."""
    kernel = compare(width_bits=width)
    function = compiled(compiler, kernel)
    loop = loop_of(function.assembly)

    assert number(loop, _COMPARE[width]) == _PASS[width]
    assert not any("(" in line for line in loop)
    assert len(loop) == _PASS[width] + 2
    assert kernel.work_per_repeat == _PASS[width] * max(width // 64, 1)
    assert why_refused(function, kernel.claim) is None


@pytest.mark.parametrize(
    ("kind", "width", "name"),
    [("lea", 0, "leaq"), *(("load", width, name) for width, name in _LOAD.items())],
)
def test_addresses_are_of_base_and_index(compiler, kind, width, name):
    """144 scalars, or 72 vectors, at 8 byte per element; a vector brings one in each lane."""
    kernel = addressing(kind, width_bits=width)
    function = compiled(compiler, kernel)
    own = [line for line in loop_of(function.assembly) if line.split()[0] == name]

    assert len(own) == _PASS[width]
    assert all(re.search(r"\(%r\w+,%r\w+,8\), ", line) for line in own)
    assert kernel.work_per_repeat == _PASS[width] * max(width // 64, 1)
    assert why_refused(function, kernel.claim) is None


def test_mix_of_another_proportion_is_refused(compiler):
    """Of code that addresses less than it claims no rate may be shown."""
    kernel = mixed("1:1:1:1", width_bits=0)
    function = compiled(compiler, kernel)
    other = replace(kernel.claim, load_bytes=96 * 8)
    independent = replace(kernel.claim, operation="dependent")

    assert why_refused(function, other) == "a pass of its loop does 384 bytes loaded, not 768"
    assert why_refused(function, independent) == "its operations are not one chain"


def test_compares_of_narrower_vectors_are_refused(compiler):
    """The width of a compare into a mask is that of what it compares."""
    kernel = compare(width_bits=512)
    function = compiled(compiler, kernel)
    reason = why_refused(function, replace(kernel.claim, width_bits=256))

    assert reason is not None
    assert reason.endswith("is not 256 bit wide")


def test_they_can_be_executed(compiler):
    """One pass over little memory ends no process."""
    kernels = [mixed("8:3:2:4", width_bits=0), dependent(width_bits=0), compare(width_bits=0)]

    assert deadly([(kernel, compiled(compiler, kernel)) for kernel in kernels]) == {}
