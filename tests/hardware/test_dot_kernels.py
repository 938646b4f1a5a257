"""Kernels of low precision: LLVM's listing against counts by hand, and what they compute.

Code for other CPUs than this one is compiled and read, not run.
"""

import ctypes
import platform
import re

import numpy as np
import pytest

from ridgepoint.ceilings.verify import why_refused
from ridgepoint.kernels.chains import WORKING_BYTES
from ridgepoint.kernels.dot import CHAINS, dot_peak, dot_widths
from ridgepoint.kernels.jit import Compiler, emit
from ridgepoint.kernels.kernel import ENTRY, VECTOR_ALIGNMENT

pytestmark = pytest.mark.hardware

x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="runs, or decodes, x86-64")

_REGISTER = {128: "xmm", 256: "ymm", 512: "zmm"}


def emitted(kernel, *, triple, cpu):
    """Return the code of a kernel that LLVM compiles for some CPU."""
    return emit(kernel.ir, ENTRY, triple=triple, cpu=cpu, width_bits=kernel.claim.width_bits)


def loop_of(listing):
    """Return the lines of the only loop in a listing."""
    lines = [line.strip() for line in listing.splitlines()]
    end = next(i for i, line in enumerate(lines) if re.match(r"(jne|b\.ne|cbnz).*\.LBB", line))
    label = re.search(r"\.LBB\w+", lines[end]).group() + ":"
    begin = next(i for i, line in enumerate(lines) if line.startswith(label))
    return [line for line in lines[begin + 1 : end + 1] if not line.startswith(("#", "//"))]


def operands_in(buffer, kernel):
    """Place a kernel's operands as doubles, one vector each."""
    doubles = buffer.view(np.float64)
    for slot, operand in enumerate(kernel.operands):
        doubles[slot * 8 : slot * 8 + 8] = operand


@x86_64
@pytest.mark.parametrize(
    ("kind", "width", "cpu", "mnemonic", "name", "work"),
    [
        # 56 instructions x lanes of 32 bit x 4 flop
        ("bf16", 128, "znver4", "vdpbf16ps", "dot 128-bit", 56 * 4 * 4),
        ("bf16", 256, "znver4", "vdpbf16ps", "dot 256-bit", 56 * 8 * 4),
        ("bf16", 512, "znver4", "vdpbf16ps", "dot 512-bit", 56 * 16 * 4),
        # x lanes of 32 bit x 8 op
        ("int8", 128, "alderlake", "vpdpbusd", "dot 128-bit", 56 * 4 * 8),
        ("int8", 256, "alderlake", "vpdpbusd", "dot 256-bit", 56 * 8 * 8),
        ("int8", 256, "icelake-server", "vpdpbusd", "dot 256-bit", 56 * 8 * 8),
        ("int8", 512, "cascadelake", "vpdpbusd", "dot 512-bit", 56 * 16 * 8),
        # x lanes of 16 bit x 2 flop
        ("fp16", 128, "sapphirerapids", r"vfmadd\d+ph", "fma 128-bit", 56 * 8 * 2),
        ("fp16", 256, "sapphirerapids", r"vfmadd\d+ph", "fma 256-bit", 56 * 16 * 2),
        ("fp16", 512, "sapphirerapids", r"vfmadd\d+ph", "fma 512-bit", 56 * 32 * 2),
    ],
)
def test_loop_holds_56_instructions_and_touches_no_memory(kind, width, cpu, mnemonic, name, work):
    """Fourteen chains, four steps each, in registers of the width that is claimed."""
    kernel = dot_peak(kind, width_bits=width)
    code = emitted(kernel, triple="x86_64-unknown-linux-gnu", cpu=cpu)
    loop = loop_of(code.assembly)
    own = [line for line in loop if re.match(rf"(\{{vex\}}\s+)?{mnemonic}\s", line)]

    assert len(own) == 56
    assert all(line.count(f"%{_REGISTER[width]}") == 3 for line in own)
    assert not any("(" in line for line in loop)
    assert len(loop) <= 56 + 3
    assert (kernel.name, kernel.work_per_repeat) == (name, work)
    assert why_refused(code, kernel.claim) is None


@pytest.mark.parametrize(
    ("kind", "instruction", "work"),
    [
        ("bf16", r"bfdot\s+v\d+\.4s, v\d+\.8h, v\d+\.8h", 56 * 4 * 4),
        ("int8", r"sdot\s+v\d+\.4s, v\d+\.16b, v\d+\.16b", 56 * 4 * 8),
        ("fp16", r"fmla\s+v\d+\.8h, v\d+\.8h, v\d+\.8h", 56 * 8 * 2),
    ],
)
def test_arm_loop_holds_56_instructions(kind, instruction, work):
    """BFDOT and SDOT take two and four factors for each lane of 32 bit, FMLA eight halves."""
    kernel = dot_peak(kind, width_bits=128, architecture="aarch64")
    code = emitted(kernel, triple="aarch64-unknown-linux-gnu", cpu="neoverse-n2")
    loop = loop_of(code.assembly)

    assert len([line for line in loop if re.match(instruction, line)]) == 56
    assert len(loop) <= 56 + 3
    assert kernel.work_per_repeat == work
    assert why_refused(code, kernel.claim) is None


@x86_64
@pytest.mark.parametrize("width", [128, 256, 512])
def test_sums_of_bf16_products_stay_finite(width):
    """Each step adds 1.3 * 0.75 and takes it away again: a chain ends as it began."""
    compiler = Compiler()
    if width not in dot_widths("bf16", (width,), compiler.has):
        pytest.skip(f"this CPU has no {width}-bit VDPBF16PS")
    kernel = dot_peak("bf16", width_bits=width)
    sums = ended(compiler, kernel).view(np.float32)

    for k in range(CHAINS):
        assert sums[k][: width // 32].tolist() == [1 + k / 64] * (width // 32)


@x86_64
@pytest.mark.parametrize("width", [128, 256, 512])
def test_sums_of_int8_products_are_those_of_numpy(width):
    """1000 repeats of four steps add 4000 dot products, modulo 2**32."""
    compiler = Compiler()
    if width not in dot_widths("int8", (width,), compiler.has):
        pytest.skip(f"this CPU has no {width}-bit VPDPBUSD")
    kernel = dot_peak("int8", width_bits=width)
    a, b, *starts = (np.frombuffer(np.float64(x).tobytes(), np.uint8) for x in kernel.operands)
    products = a.astype(np.uint64) * b.astype(np.int8).astype(np.uint64)
    added = 4000 * products.reshape(2, 4).sum(axis=1)
    sums = ended(compiler, kernel).view(np.uint32)

    for k in range(CHAINS):
        expected = (starts[k].view(np.uint32) + added).astype(np.uint32)
        assert sums[k][: width // 32].tolist() == expected.tolist() * (width // 64)


def ended(compiler, kernel):
    """Return the chains' last values after 1000 repeats, one row of bytes for each chain."""
    function = compiler.compile(kernel.ir, ENTRY, width_bits=kernel.claim.width_bits)
    room = np.zeros(WORKING_BYTES + VECTOR_ALIGNMENT, np.uint8)
    begin = -room.ctypes.data % VECTOR_ALIGNMENT
    buffer = room[begin : begin + WORKING_BYTES]
    operands_in(buffer, kernel)
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    run(function.address)(buffer.ctypes.data, 0, 1000)
    return buffer.reshape(-1, VECTOR_ALIGNMENT)[2 + CHAINS : 2 + 2 * CHAINS]


@pytest.mark.parametrize(
    ("kind", "features", "widths"),
    [
        ("bf16", {"avx512bf16", "avx512vl"}, (128, 256, 512)),
        ("bf16", {"avx512bf16"}, (512,)),
        ("bf16", {"avx512f", "avxvnni"}, ()),
        ("int8", {"avxvnni"}, (128, 256)),
        ("int8", {"avx512vnni"}, (512,)),
        ("int8", {"avx512vnni", "avx512vl"}, (128, 256, 512)),
        ("int8", {"avx512vl"}, ()),
        ("fp16", {"avx512fp16", "avx512vl"}, (128, 256, 512)),
        ("fp16", {"f16c"}, ()),
    ],
)
def test_widths_are_those_with_one_instruction(kind, features, widths):
    """Of AVX-512 the narrow forms are AVX512VL; VNNI is in narrow vectors an extension of AVX2."""
    assert dot_widths(kind, (128, 256, 512), features.__contains__) == widths


@pytest.mark.parametrize(
    ("kind", "feature"), [("bf16", "bf16"), ("int8", "dotprod"), ("fp16", "fullfp16")]
)
def test_arm_widths_are_128_bit(kind, feature):
    """Each is an extension of Neon by itself."""
    widths = (128, 256, 512)

    assert dot_widths(kind, widths, {feature}.__contains__, architecture="aarch64") == (128,)
    assert dot_widths(kind, widths, {"neon"}.__contains__, architecture="aarch64") == ()
