"""Kernels of AMX's tiles: LLVM's listing against counts by hand, what they compute, and refusals.

Code for other CPUs than this one is compiled and read, not run.
"""

import ctypes
import errno
import platform
import re

import numpy as np
import pytest

from ridgepoint.ceilings.trial import Codes
from ridgepoint.ceilings.verify import why_refused
from ridgepoint.cli.main import main
from ridgepoint.doctor import examine
from ridgepoint.host import System, tiles
from ridgepoint.host.tiles import why_no_tiles
from ridgepoint.kernels.chains import WORKING_BYTES
from ridgepoint.kernels.clock import clock
from ridgepoint.kernels.jit import Compiler, emit
from ridgepoint.kernels.kernel import ENTRY, VECTOR_ALIGNMENT
from ridgepoint.kernels.tiles import has_tiles, tile_peak

pytestmark = [
    pytest.mark.hardware,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="AMX is of x86-64"),
]

_TILE_STATE = 1 << 18 | 1 << 17
# Which parts of this thread's state are in use.
_IN_USE = """
define i64 @in_use() #0 {
  %both = call { i32, i32 } asm sideeffect "xgetbv", "={ax},={dx},{cx}"(i32 1)
  %low = extractvalue { i32, i32 } %both, 0
  %long = zext i32 %low to i64
  ret i64 %long
}
"""


def emitted(kernel, cpu="graniterapids", **changes):
    """Return the code of a kernel that LLVM compiles for a CPU with all tiles."""
    ir = kernel.ir
    for old, new in changes.get("instead", ()):
        assert old in ir
        ir = ir.replace(old, new)
    return emit(ir, ENTRY, triple="x86_64-unknown-linux-gnu", cpu=cpu, width_bits=8192)


@pytest.mark.parametrize(
    ("kind", "mnemonic", "work"),
    [
        # 16 instructions x 16 rows x 16 sums x (32 or 64 products and as many additions)
        ("bf16", "tdpbf16ps", 16 * 16 * 16 * 32 * 2),
        ("int8", "tdpbssd", 16 * 16 * 16 * 64 * 2),
        ("fp16", "tdpfp16ps", 16 * 16 * 16 * 32 * 2),
    ],
)
def test_loop_is_16_products_of_four_sums_a_counter_and_a_jump(kind, mnemonic, work):
    """Each sum has its turn four times, of two tiles from either side; nothing else is in it."""
    kernel = tile_peak(kind)
    code = emitted(kernel)
    lines = [line.strip() for line in code.assembly.splitlines()]
    first = next(n for n, line in enumerate(lines) if line.startswith(mnemonic))
    loop = lines[first : next(n for n, line in enumerate(lines) if line.startswith("jne")) + 1]
    products = [re.findall(r"%tmm(\d)", line) for line in loop if line.startswith(mnemonic)]
    instructions = [line.split()[0] for line in lines if re.match(r"[a-z]+\b", line)]

    # AT&T: right factor, left factor, sum
    assert products == [["6", "4", "0"], ["7", "4", "1"], ["6", "5", "2"], ["7", "5", "3"]] * 4
    assert len(loop) == 16 + 2
    assert instructions[-2:] == ["tilerelease", "retq"]
    assert instructions.index("ldtilecfg") < instructions.index("tileloadd")
    assert instructions.count("tileloadd") == 8
    assert (kernel.name, kernel.work_per_repeat) == ("amx", work)
    assert why_refused(code, kernel.claim) is None


@pytest.mark.parametrize(
    ("found", "instead", "reason"),
    [
        ("  call void @llvm.x86.tilerelease()\n", "", "it has 0 TILERELEASE"),
        ("  call void @llvm.x86.ldtilecfg(ptr @configuration)\n", "", "it has 0 LDTILECFG"),
        (
            "  call void @llvm.x86.tdpbf16ps(i8 3, i8 5, i8 7)\n  %r_next",
            "  %r_next",
            "a pass of its loop does 245760 flop, not 262144",
        ),
        (
            "  %r_next",
            "  call void @llvm.x86.tileloadd64(i8 4, ptr %p4, i64 0)\n  %r_next",
            "a pass of its loop does 1024 bytes loaded, not 0",
        ),
    ],
)
def test_code_that_differs_from_its_claim_is_refused(found, instead, reason):
    """Whatever is missing, or too much."""
    kernel = tile_peak("bf16")

    assert why_refused(emitted(kernel, instead=[(found, instead)]), kernel.claim) == reason


@pytest.fixture(scope="module")
def compiler():
    """Give a compiler where tiles can be used."""
    compiler = Compiler()
    if not compiler.has("amx-tile"):
        pytest.skip("this CPU has no AMX")
    if (reason := why_no_tiles()) is not None:
        pytest.skip(reason)
    return compiler


def slots_after(compiler, kernel, repeats):
    """Return what `data` holds after a run: a row of bytes for each slot."""
    function = compiler.compile(kernel.ir, ENTRY, width_bits=kernel.claim.width_bits)
    room = np.zeros(WORKING_BYTES + VECTOR_ALIGNMENT, np.uint8)
    begin = -room.ctypes.data % VECTOR_ALIGNMENT
    slots = room[begin : begin + WORKING_BYTES].reshape(-1, VECTOR_ALIGNMENT)
    slots.view(np.float64)[: len(kernel.operands)] = np.reshape(kernel.operands, (-1, 1))
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    run(function.address)(slots.ctypes.data, 0, repeats)
    return slots


def test_sums_of_int8_are_those_of_numpy(compiler):
    """A hundred repeats add 400 products of 16 equal rows with 16 equal rows, modulo 2**32."""
    if not has_tiles("int8", compiler.has):
        pytest.skip("this CPU has no tiles of int8")
    slots = slots_after(compiler, tile_peak("int8"), 100)
    left, right = (slots[n].view(np.int8).astype(np.int64) for n in (4, 6))
    # Row k of the right factor holds what column n takes of rows 4k to 4k + 3.
    added = 400 * np.einsum("kp,np->n", left.reshape(16, 4), right.reshape(16, 4))

    for n in range(4):
        expected = (slots[n].view(np.uint32) + added).astype(np.uint32)
        assert slots[8 + n].view(np.uint32).tolist() == expected.tolist()


@pytest.mark.parametrize("kind", ["bf16", "fp16"])
def test_sums_of_floats_stay_where_they_are(compiler, kind):
    """Each product is added and taken away again, exactly."""
    if not has_tiles(kind, compiler.has):
        pytest.skip(f"this CPU has no tiles of {kind}")
    slots = slots_after(compiler, tile_peak(kind), 100)

    for n in range(4):
        assert slots[8 + n].view(np.float32).tolist() == [1 + n / 64] * 16


def test_tiles_were_whole_and_nothing_is_left_of_them(compiler):
    """16 rows of 64 byte by the processor's own word; after the run no tile state is in use."""
    configured = slots_after(compiler, tile_peak("bf16"), 1)[12]
    in_use = ctypes.CFUNCTYPE(ctypes.c_int64)(compiler.compile(_IN_USE, "in_use").address)

    assert configured[0] == 1
    assert configured[16:48].view(np.uint16).tolist() == [64] * 8 + [0] * 8
    assert configured[48:64].tolist() == [16] * 8 + [0] * 8
    if "xgetbv1" in System().flags:
        assert in_use() & _TILE_STATE == 0


@pytest.mark.parametrize(
    ("number", "because"),
    [
        (errno.EPERM, "(operation not permitted): a sandbox (seccomp) or a policy forbids it"),
        (errno.EINVAL, "(invalid argument): Linux before 5.16 does not support the request"),
    ],
)
def test_refusal_of_the_kernel_costs_the_ceilings_of_tiles_alone(monkeypatch, number, because):
    """Other kernels are timed; the reason says what refused."""
    monkeypatch.setattr(tiles, "_refusal", lambda: number)
    tiled, other = tile_peak("bf16"), clock()
    compiler = Compiler()
    if not compiler.has("amx-tile"):
        pytest.skip("LLVM compiles tiles for CPUs alone that have them")
    codes = Codes(compiler, [tiled, other])

    assert (
        codes.why_refused(tiled) == f"the kernel does not allow this process to use AMX {because}"
    )
    assert codes.why_refused(other) is None


def test_refusal_is_one_clear_line(monkeypatch, capsys):
    """The ceiling cannot be explained, and the doctor says the same."""
    monkeypatch.setattr(tiles, "_refusal", lambda: errno.EPERM)
    if "amx_tile" not in System().flags:
        pytest.skip("this CPU has no AMX")

    assert main(["machine", "--explain", "bf16 amx"]) == 2
    assert (
        "does not allow this process to use AMX (operation not permitted)"
        in capsys.readouterr().err
    )
    (found,) = (finding for finding in examine() if finding.what == "AMX")
    assert (found.works, "seccomp" in found.detail) == (False, True)
