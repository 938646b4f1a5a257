"""Every kernel's machine code, in LLVM's own listing, against counts written by hand.

The product checks its kernels with iced-x86; LLVM's assembly printer is the second opinion.
"""

import ctypes
import platform
import re
from dataclasses import replace

import numpy as np
import pytest

from ridgepoint.ceilings.probe import deadly
from ridgepoint.ceilings.verify import innermost_loop, why_refused
from ridgepoint.kernels.bandwidth import COPY, COPY_NT, LOAD, MIX, STORE, STORE_NT, TRIAD, bandwidth
from ridgepoint.kernels.clock import clock
from ridgepoint.kernels.integer import integer_peak
from ridgepoint.kernels.jit import Code, Compiler, emit
from ridgepoint.kernels.kernel import ENTRY, VECTOR_ALIGNMENT, Claim
from ridgepoint.kernels.peak import WORKING_BYTES, chain, mix, peak

pytestmark = [
    pytest.mark.hardware,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="listings are of x86-64"),
]

_FEATURE = {0: "sse2", 128: "sse2", 256: "avx", 512: "avx512f"}
_REGISTER = {0: "xmm", 128: "xmm", 256: "ymm", 512: "zmm"}


@pytest.fixture(scope="module")
def compiler():
    """Give one compiler for all."""
    return Compiler(lists=True)


def require(compiler, width, *features):
    """Skip, and say why, where this CPU cannot execute such code."""
    for feature in (_FEATURE[width], *features):
        if not compiler.has(feature):
            pytest.skip(f"this CPU has no {feature}")


def loop_of(listing):
    """Return the lines of the innermost loop in LLVM's AT&T listing."""
    lines = [line.strip() for line in listing.splitlines() if not line.strip().startswith("#")]
    end = next(i for i, line in enumerate(lines) if re.match(r"j(ne|b|ae)\s+\.LBB", line))
    label = lines[end].split()[1] + ":"
    return lines[lines.index(label) + 1 : end + 1]


@pytest.mark.parametrize("width", [0, 128, 256, 512])
@pytest.mark.parametrize("precision", ["fp64", "fp32"])
@pytest.mark.parametrize(
    ("operation", "mnemonic"), [("add", "v?add"), ("mul", "v?mul"), ("fma", "vfmadd")]
)
def test_peak_loop_holds_48_operations_and_touches_no_memory(
    compiler, operation, mnemonic, precision, width
):
    """Twelve chains, four steps each, all in registers of the width that is claimed."""
    require(compiler, width, *(["fma"] if operation == "fma" else []))
    kernel = peak(operation, precision=precision, width_bits=width)
    function = compiler.compile(kernel.ir, ENTRY, width_bits=kernel.claim.width_bits)
    suffix = ("s" if width == 0 else "p") + {"fp64": "d", "fp32": "s"}[precision]
    loop = loop_of(function.assembly)
    arithmetic = [line for line in loop if re.match(rf"{mnemonic}\d*{suffix}\s", line)]

    assert len(arithmetic) == 48
    assert all(f"%{_REGISTER[width]}" in line for line in arithmetic)
    assert not any("(" in line for line in loop)
    assert len(loop) <= 48 + 3
    assert why_refused(function, kernel.claim) is None


@pytest.mark.parametrize("width", [0, 128, 256, 512])
@pytest.mark.parametrize("precision", ["fp64", "fp32"])
@pytest.mark.parametrize(("operation", "own", "added"), [("div", 4 * 12, 0), ("sqrt", 8 * 12, 12)])
def test_loop_of_the_divider_holds_its_operations(
    compiler, operation, own, added, precision, width
):
    """Twelve chains of four divisions, or of an addition and eight square roots."""
    require(compiler, width)
    kernel = peak(operation, precision=precision, width_bits=width)
    function = compiler.compile(kernel.ir, ENTRY, width_bits=kernel.claim.width_bits)
    suffix = ("s" if width == 0 else "p") + {"fp64": "d", "fp32": "s"}[precision]
    loop = loop_of(function.assembly)
    lanes = {0: 1, 128: 2, 256: 4, 512: 8}[width] * (2 if precision == "fp32" and width else 1)
    divided = [line for line in loop if re.match(rf"v?{operation}{suffix}\s", line)]

    assert len(divided) == own
    assert len([line for line in loop if re.match(rf"v?add{suffix}\s", line)]) == added
    assert all(f"%{_REGISTER[width]}" in line for line in divided)
    assert not any("(" in line for line in loop)
    assert len(loop) <= own + added + 3
    assert kernel.work_per_repeat == own * lanes
    assert why_refused(function, kernel.claim) is None


@pytest.mark.parametrize("precision", ["fp64", "fp32"])
@pytest.mark.parametrize(
    ("operation", "mnemonic", "number"),
    [
        ("add", "v?add", 64),
        ("mul", "v?mul", 64),
        ("fma", r"vfmadd\d+", 64),
        ("div", "v?div", 64),
        ("sqrt", "v?(sqrt|add)", 16 + 1),
    ],
)
def test_chain_is_of_one_register(compiler, operation, mnemonic, number, precision):
    """Each scalar operation reads what the one before wrote; no other writes a register."""
    require(compiler, 0, *(["fma"] if operation == "fma" else []))
    kernel = chain(operation, precision=precision)
    function = compiler.compile(kernel.ir, ENTRY)
    loop = loop_of(function.assembly)
    suffix = {"fp64": "sd", "fp32": "ss"}[precision]
    own = [line for line in loop if re.match(rf"{mnemonic}{suffix}\s", line)]
    written = {line.rsplit("%", 1)[1] for line in own}

    assert len(own) == number
    assert len(written) == 1
    # AT&T has the result last: it must be among what is given, or be overwritten.
    (register,) = written
    assert all(line.count(f"%{register}") >= (1 if "fmadd" in line else 2) for line in own)
    assert len(loop) <= number + 3
    assert why_refused(function, kernel.claim) is None


@pytest.mark.parametrize("operation", ["div", "sqrt"])
@pytest.mark.parametrize("precision", ["fp64", "fp32"])
def test_dividers_are_kept_busy_before_avx_too(operation, precision):
    """The plainest x86-64, as some hypervisors show it: two operands, one of them overwritten."""
    kernels = [peak(operation, precision=precision, width_bits=width) for width in (0, 128)]
    for kernel in (*kernels, chain(operation, precision=precision)):
        code = emit(
            kernel.ir,
            ENTRY,
            triple="x86_64-unknown-linux-gnu",
            cpu="x86-64",
            width_bits=kernel.claim.width_bits,
        )
        loop = loop_of(code.assembly)

        assert not [line for line in loop if line.startswith("v")]
        assert (
            len([line for line in loop if line.startswith(operation)])
            == (kernel.claim.executes[0][1])
        )
        assert why_refused(code, kernel.claim) is None


@pytest.mark.parametrize(("precision", "number"), [("fp64", np.float64), ("fp32", np.float32)])
def test_quotients_come_back_to_where_they_began(compiler, precision, number):
    """As NumPy divides, and with so many digits that no divider ends early."""
    kernel = peak("div", precision=precision, width_bits=0)
    a, b, *starts = map(number, kernel.operands)

    assert last_values(compiler, kernel, number) == starts
    assert all(x / a / b == x for x in starts)
    assert all(digits(x) > 0.7 * digits(number(1 / 3)) for x in [a, b, *starts])
    assert all(digits(x / a) > 0.7 * digits(number(1 / 3)) for x in starts)


@pytest.mark.parametrize(("precision", "number"), [("fp64", np.float64), ("fp32", np.float32)])
@pytest.mark.parametrize(("make", "chains", "steps"), [(peak, 12, 8), (chain, 1, 16)])
def test_roots_begin_again_before_they_come_to_one(
    compiler, make, chains, steps, precision, number
):
    """As NumPy takes them, from a number beside which the last root is nothing."""
    kernel = make("sqrt", precision=precision, **({"width_bits": 0} if make is peak else {}))
    large, _, *starts = map(number, kernel.operands)
    roots = [large]
    for _ in range(steps):
        roots.append(np.sqrt(roots[-1]))

    assert all(large + x == large for x in [roots[-1], *starts])
    assert last_values(compiler, kernel, number) == [roots[-1]] * chains
    assert roots[-1] > 1.001


def digits(x):
    """Return how many bits a number's fraction needs."""
    fraction = int(np.frexp(np.float64(x))[0] * 2**53)
    return 53 - (fraction & -fraction).bit_length()


def last_values(compiler, kernel, number):
    """Return where the chains of a scalar kernel end after 1000 repeats."""
    function = compiler.compile(kernel.ir, ENTRY)
    room = np.zeros((WORKING_BYTES + VECTOR_ALIGNMENT) // number().itemsize, number)
    per_slot = VECTOR_ALIGNMENT // number().itemsize
    slots = room[-room.ctypes.data % VECTOR_ALIGNMENT // number().itemsize :]
    slots[: per_slot * len(kernel.operands) : per_slot] = kernel.operands
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    run(function.address)(slots.ctypes.data, 0, 1000)
    chains = len(kernel.operands) - 2
    return slots[per_slot * len(kernel.operands) :: per_slot][:chains].tolist()


@pytest.mark.parametrize("width", [0, 128, 256, 512])
@pytest.mark.parametrize("precision", ["fp64", "fp32"])
@pytest.mark.parametrize(
    ("ratio", "registers", "fma", "add", "flop_per_lane"),
    [
        ((2, 1), 16, 32, 16, 80),
        ((1, 1), 16, 28, 28, 84),
        ((2, 1), 32, 80, 40, 200),
        ((1, 1), 32, 60, 60, 180),
    ],
)
def test_mix_loop_holds_both_operations_in_their_ratio(
    compiler, ratio, registers, fma, add, flop_per_lane, precision, width
):
    """Two thirds, or half, are multiply-adds of 2 flop, the rest additions.

    Four steps of as many chains as fit the registers beside two operands: 12 and 14 of 16, 30 of
    32.
    """
    require(compiler, width, "fma", *(["avx512vl"] if registers == 32 else []))
    kernel = mix(ratio, precision=precision, width_bits=width, registers=registers)
    function = compiler.compile(kernel.ir, ENTRY, width_bits=kernel.claim.width_bits)
    suffix = ("s" if width == 0 else "p") + {"fp64": "d", "fp32": "s"}[precision]
    loop = loop_of(function.assembly)
    lanes = {0: 1, 128: 2, 256: 4, 512: 8}[width] * (2 if precision == "fp32" and width else 1)
    fused = [line for line in loop if re.match(rf"vfmadd\d+{suffix}\s", line)]
    added = [line for line in loop if re.match(rf"vadd{suffix}\s", line)]

    assert (len(fused), len(added)) == (fma, add)
    assert all(f"%{_REGISTER[width]}" in line for line in fused + added)
    assert not any("(" in line for line in loop)
    assert len(loop) <= fma + add + 3
    assert kernel.work_per_repeat == flop_per_lane * lanes
    assert why_refused(function, kernel.claim) is None


def test_mix_of_another_ratio_is_refused(compiler):
    """A loop of another ratio is not what the kernel claims, whatever its flop."""
    require(compiler, 128, "fma")
    even = mix((1, 1), precision="fp64", width_bits=128)
    other = mix((2, 1), precision="fp64", width_bits=128)
    function = compiler.compile(even.ir, ENTRY)

    assert why_refused(function, other.claim) == ("a pass of its loop does 168 flop, not 160")
    assert why_refused(function, replace(other.claim, flop=168)) == (
        "a pass of its loop has 28 VFMADD(132|213|231)PD, not 32"
    )


@pytest.mark.parametrize(
    ("operation", "integer", "width", "feature", "mnemonic", "operations", "op"),
    [
        ("add", "int32", 0, "sse2", "addl", 160, 160),
        ("add", "int64", 0, "sse2", "addq", 160, 160),
        ("xor", "int32", 0, "sse2", "xorl", 160, 160),
        ("xor", "int64", 0, "sse2", "xorq", 160, 160),
        ("mul", "int32", 0, "sse2", "imull", 160, 160),
        ("mul", "int64", 0, "sse2", "imulq", 160, 160),
        ("add", "int32", 128, "sse2", "v?paddd", 48, 192),
        ("add", "int64", 256, "avx2", "vpaddq", 48, 192),
        ("add", "int32", 512, "avx512f", "vpaddd", 48, 768),
        ("add", "int64", 512, "avx512f", "vpaddq", 48, 384),
        ("xor", "int32", 512, "avx512f", "v(pxor|xorps)", 48, 768),
        ("xor", "int64", 256, "avx2", "v(pxor|xorps)", 48, 192),
        ("xor", "int64", 512, "avx512f", "v(pxor|xorps)", 48, 384),
        ("mul", "int32", 256, "avx2", "vpmulld", 48, 384),
        ("mul", "int32", 512, "avx512f", "vpmulld", 48, 768),
        ("mul", "int64", 512, "avx512dq", "vpmullq", 48, 384),
        ("compare", "int32", 256, "avx2", "vpcmpgtd", 48, 384),
        ("compare", "int64", 256, "avx2", "vpcmpgtq", 48, 192),
    ],
)
def test_integer_loop_holds_its_operations_and_no_other(
    compiler, operation, integer, width, feature, mnemonic, operations, op
):
    """Scalars: ten chains, sixteen steps. Vectors: twelve chains, four steps; op per lane."""
    require(compiler, width, feature)
    kernel = integer_peak(operation, integer=integer, width_bits=width)
    function = compiler.compile(kernel.ir, ENTRY, width_bits=kernel.claim.width_bits)
    loop = loop_of(function.assembly)
    own = [line for line in loop if re.match(rf"{mnemonic}[dq]?\s+%", line)]

    assert len(own) == operations
    assert width == 0 or all(f"%{_REGISTER[width]}" in line for line in own)
    assert not any("(" in line for line in loop)
    assert len(loop) <= operations + 3
    assert kernel.work_per_repeat == op
    assert why_refused(function, kernel.claim) is None


@pytest.mark.parametrize(
    ("pattern", "width", "loads", "stores", "store"),
    [
        (LOAD, 128, 48, 0, "mova|movu"),
        (LOAD, 256, 48, 0, "mova|movu"),
        (LOAD, 512, 24, 0, "mova|movu"),
        (STORE, 128, 0, 48, "mova|movu"),
        (STORE, 256, 0, 48, "mova|movu"),
        (STORE, 512, 0, 24, "mova|movu"),
        (COPY, 128, 12, 12, "mova|movu"),
        (COPY, 256, 12, 12, "mova|movu"),
        (COPY, 512, 12, 12, "mova|movu"),
        (TRIAD, 128, 24, 12, "mova|movu"),
        (TRIAD, 256, 24, 12, "mova|movu"),
        (TRIAD, 512, 24, 12, "mova|movu"),
        (MIX, 128, 64, 32, "mova|movu"),
        (MIX, 256, 32, 16, "mova|movu"),
        (MIX, 512, 16, 8, "mova|movu"),
        (STORE_NT, 128, 0, 48, "movnt"),
        (STORE_NT, 256, 0, 48, "movnt"),
        (STORE_NT, 512, 0, 24, "movnt"),
        (COPY_NT, 128, 12, 12, "movnt"),
        (COPY_NT, 256, 12, 12, "movnt"),
        (COPY_NT, 512, 12, 12, "movnt"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_stream_loop_holds_the_accesses_it_claims(compiler, pattern, width, loads, stores, store):
    """So many loads and stores of full vectors, and no other access to memory."""
    require(compiler, width)
    kernel = bandwidth(pattern, width_bits=width)
    function = compiler.compile(kernel.ir, ENTRY, width_bits=kernel.claim.width_bits)
    loop = loop_of(function.assembly)
    stored = [line for line in loop if re.match(rf"v?({store})\w*\s+%\wmm\d+, .*\)$", line)]
    loaded = [
        line for line in loop if "(" in line and not line.startswith("lea") and line not in stored
    ]

    assert len(stored) == stores
    assert len(loaded) == loads
    assert all(f"%{_REGISTER[width]}" in line for line in stored + loaded)
    assert why_refused(function, kernel.claim) is None


def test_mix_stores_to_every_third_line(compiler):
    """Two lines of 64 byte are loaded, the third is stored to: by addresses, not by order."""
    require(compiler, 256)
    kernel = bandwidth(MIX, width_bits=256)
    function = compiler.compile(kernel.ir, ENTRY, width_bits=256)
    found = {False: set(), True: set()}
    for line in loop_of(function.assembly):
        if (match := re.search(r"(-?\w*)\(%\w+\)", line)) and not line.startswith("lea"):
            offset = int(match[1] or "0", 0)
            found[line.endswith(match[0])].add(offset // 64)

    assert found[True] == {2, 5, 8, 11, 14, 17, 20, 23}
    assert found[False] == set(range(24)) - found[True]


def test_clock_loop_is_one_chain_of_128_operations(compiler):
    """Each addition and exclusive-or works on the result of the one before."""
    kernel = clock()
    function = compiler.compile(kernel.ir, ENTRY, width_bits=kernel.claim.width_bits)
    chain = [line for line in loop_of(function.assembly) if re.match(r"(add|xor)q\s+%", line)]
    targets = {line.rsplit("%", 1)[1] for line in chain}

    assert len(chain) == 128
    assert len(targets) == 1
    assert kernel.work_per_repeat == 128
    assert why_refused(function, kernel.claim) is None


def test_kernel_that_folds_an_operation_away_is_refused(compiler):
    """Of a loop of 47 operations that claims 48, no rate may be shown."""
    kernel = peak("add", precision="fp64", width_bits=128)
    doctored = re.sub(
        r"%x0_2 = fadd <2 x double> %x0_1, %b", "%x0_2 = select i1 true, "
        "<2 x double> %x0_1, <2 x double> %b", kernel.ir,
    )  # fmt: skip
    function = compiler.compile(doctored, ENTRY)

    assert why_refused(function, kernel.claim) == ("a pass of its loop does 94 flop, not 96")


def test_kernel_of_another_width_is_refused(compiler):
    """A vector that LLVM halves does the work, but not as it claims."""
    kernel = peak("add", precision="fp64", width_bits=128)
    function = compiler.compile(kernel.ir, ENTRY, width_bits=kernel.claim.width_bits)
    wider = Claim(operation="add", precision="fp64", width_bits=256, flop=kernel.claim.flop)

    assert why_refused(function, wider) == "ADDPD is fp64, 128 bit wide" or (
        why_refused(function, wider) == "VADDPD is fp64, 128 bit wide"
    )


def test_code_without_a_loop_is_refused():
    """A bare return holds nothing to time."""
    assert innermost_loop(b"\xc3") == []
    code = Code(architecture="x86_64", machine_code=b"\xc3", assembly="")
    assert why_refused(code, Claim(operation="add", width_bits=128)) == "it has no loop"


def test_instruction_that_the_hypervisor_traps_costs_one_kernel_not_the_run(compiler):
    """UD2 raises SIGILL, as an instruction does that is reported and trapped."""
    sound = peak("add", precision="fp64", width_bits=128)
    trapped = replace(
        sound,
        ir=sound.ir.replace("  ret void", "  call void @llvm.trap()\n  ret void")
        + "\ndeclare void @llvm.trap()\n",
    )
    candidates = [
        (kernel, compiler.compile(kernel.ir, ENTRY, width_bits=kernel.claim.width_bits))
        for kernel in (sound, trapped, sound, clock())
    ]

    assert deadly(candidates) == {trapped.ir: "SIGILL"}
