import ctypes

import numpy as np
import pytest

from ridgepoint.ceilings.verify import why_refused
from ridgepoint.kernels.jit import Compiler, emit
from ridgepoint.kernels.kernel import ENTRY
from ridgepoint.kernels.latency import PAGE_BYTES, PER_PAGE, UNROLL, visit

pytestmark = pytest.mark.hardware
_M = (1 << 64) - 1


def interpreted(memory, *, size, repeats):
    """Do what the kernel's page says, one access after the other; return state and addresses."""
    x, mask = (int.from_bytes(memory[at : at + 8], "little") for at in (0, 64))
    waited, seen = 0, []
    for number in range(repeats * UNROLL):
        x = (6364136223846793005 * x + 1442695040888963407) & _M
        if number % PER_PAGE == 0:
            page = PAGE_BYTES * (x * (size // PAGE_BYTES) >> 64)
        at = page + (x >> 26 & 0xFC0) + waited
        seen.append(at)
        waited = int.from_bytes(memory[at : at + 8], "little") & mask
    return (x + waited) & _M, seen


@pytest.mark.parametrize("pages", [1, 3, 64])
def test_kernel_visits_the_lines_that_its_page_says(pages):
    """Against an interpreter in Python; a mask that leaves three bits shows each value loaded."""
    kernel, compiler = visit(), Compiler()
    function = compiler.compile(kernel.ir, ENTRY, width_bits=kernel.claim.width_bits)
    size = pages * PAGE_BYTES
    data = np.random.default_rng(pages).integers(0, 256, size=size + 4096, dtype=np.uint8)
    data[64:72] = [7, 0, 0, 0, 0, 0, 0, 0]
    expected, seen = interpreted(data.tobytes(), size=size, repeats=5)
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    run(function.address)(data.ctypes.data, size, 5)

    assert int(data[:8].view(np.uint64)[0]) == expected
    assert max(seen) < size


def test_every_line_is_visited_about_as_often():
    """As drawn independently: a chi-square of 4096 lines lies within six deviations."""
    memory = bytearray(64 * PAGE_BYTES)
    memory[0:8] = (123456789).to_bytes(8, "little")
    _, seen = interpreted(bytes(memory), size=len(memory), repeats=2560)
    counts = np.bincount(np.array(seen) // 64, minlength=4096)
    expected = len(seen) / 4096
    chi_square = float(((counts - expected) ** 2 / expected).sum())

    # Lines of a page are drawn eight at a time, which spreads the counts of pages eight times.
    assert abs(chi_square - 4096) < 6 * np.sqrt(2 * 4096) + 7 * 64 * 1.5


@pytest.mark.parametrize(
    ("triple", "cpu", "architecture"),
    [("x86_64-linux-gnu", "skylake", "x86_64"), ("aarch64-linux-gnu", "neoverse-n1", "aarch64")],
)
def test_machine_code_holds_every_access(triple, cpu, architecture):
    """On the architectures that have the kernel."""
    kernel = visit(architecture=architecture)
    code = emit(kernel.ir, ENTRY, triple=triple, cpu=cpu, width_bits=kernel.claim.width_bits)

    assert why_refused(code, kernel.claim) is None
