"""Kernels compiled for CPUs that are not here: LLVM's listing against counts written by hand."""

import re
from dataclasses import replace

import pytest

from ridgepoint.ceilings.verify import why_refused
from ridgepoint.kernels.bandwidth import COPY, COPY_NT, LOAD, MIX, STORE, STORE_NT, TRIAD, bandwidth
from ridgepoint.kernels.clock import clock
from ridgepoint.kernels.integer import integer_peak
from ridgepoint.kernels.jit import Code, emit
from ridgepoint.kernels.kernel import ENTRY
from ridgepoint.kernels.peak import chain, mix, peak
from ridgepoint.kernels.random_access import chase

_V = "+m,+a,+f,+d,+v"
CPUS = {
    "n1": {"triple": "aarch64-linux-gnu", "cpu": "neoverse-n1"},
    "v1": {"triple": "aarch64-linux-gnu", "cpu": "neoverse-v1"},
    "v2": {"triple": "aarch64-linux-gnu", "cpu": "neoverse-v2"},
    "a64fx": {"triple": "aarch64-linux-gnu", "cpu": "a64fx"},
    "rvv": {"triple": "riscv64-linux-gnu", "cpu": "generic-rv64", "features": f"{_V},+zvl256b"},
    "rvv-ntl": {
        "triple": "riscv64-linux-gnu",
        "cpu": "generic-rv64",
        "features": f"{_V},+zvl256b,+zihintntl",
    },
}

# Where vectors are: a CPU, their width, and how a register of fp64 and one of fp32 is written.
VECTORS = [
    ("n1", 128, r"v\d+\.2d", r"v\d+\.4s"),
    ("v1", 128, r"v\d+\.2d", r"v\d+\.4s"),
    ("v1", 256, r"z\d+\.d", r"z\d+\.s"),
    ("v2", 128, r"v\d+\.2d", r"v\d+\.4s"),
    ("a64fx", 512, r"z\d+\.d", r"z\d+\.s"),
    ("rvv", 256, r"v\d+", r"v\d+"),
]


def emitted(kernel, cpu):
    """Return a kernel's code for a CPU."""
    return emit(kernel.ir, ENTRY, width_bits=kernel.claim.width_bits, **CPUS[cpu])


def loop_of(code):
    """Return the instructions of the one block of a listing that branches to itself."""
    text = re.sub(r"(//|#(?!-?\d)).*|^\s+\.\w.*", "", code.assembly, flags=re.MULTILINE)
    blocks = re.split(r"^(?=\.LBB\w+:)", text, flags=re.MULTILINE)[1:]
    own = [b for b in blocks if re.search(rf"\s{re.escape(b.split(':')[0])}$", b, re.MULTILINE)]
    (block,) = own
    block = block[: re.search(rf"\s{re.escape(block.split(':')[0])}$", block, re.MULTILINE).end()]
    lines = [" ".join(line.split()) for line in block.splitlines()[1:]]
    return [line for line in lines if line]


def count(lines, pattern):
    """Return how many lines a pattern matches from end to end."""
    return sum(re.fullmatch(pattern, line) is not None for line in lines)


@pytest.mark.parametrize(("cpu", "width", "fp64", "fp32"), VECTORS)
@pytest.mark.parametrize("precision", ["fp64", "fp32"])
@pytest.mark.parametrize(
    ("operation", "arm", "risc_v"),
    [("add", "fadd", "vfadd"), ("mul", "fmul", "vfmul"), ("fma", "fmla", "vfmacc")],
)
def test_vector_loop_is_48_operations_a_counter_and_a_branch(
    operation, arm, risc_v, precision, cpu, width, fp64, fp32
):
    """No moves: twelve chains, four steps each, in registers of the width that is claimed."""
    kernel = peak(operation, precision=precision, width_bits=width)
    code = emitted(kernel, cpu)
    register = fp64 if precision == "fp64" else fp32
    name = rf"{risc_v}\.vv" if cpu == "rvv" else arm
    loop = loop_of(code)

    assert count(loop, rf"{name} {register}, (p\d/m, )?{register}, {register}") == 48
    assert len(loop) == 48 + 2
    assert kernel.work_per_repeat == (48 * width // int(precision[2:])) * (
        2 if operation == "fma" else 1
    )
    assert why_refused(code, kernel.claim) is None


@pytest.mark.parametrize("precision", ["fp64", "fp32"])
@pytest.mark.parametrize(
    ("operation", "cpu", "instruction"),
    [
        ("add", "n1", r"fadd L\d+, L\d+, L\d+"),
        ("mul", "n1", r"fmul L\d+, L\d+, L\d+"),
        ("fma", "n1", r"fmadd L\d+, L\d+, L\d+, L\d+"),
        ("add", "rvv", r"fadd\.L f\w+, f\w+, f\w+"),
        ("mul", "rvv", r"fmul\.L f\w+, f\w+, f\w+"),
        ("fma", "rvv", r"fmadd\.L f\w+, f\w+, f\w+, f\w+"),
    ],
)
def test_scalar_loop_is_48_operations_a_counter_and_a_branch(
    operation, cpu, instruction, precision
):
    """Scalars have the same chains."""
    pattern = instruction.replace("L", {"fp64": "d", "fp32": "s"}[precision])
    kernel = peak(operation, precision=precision, width_bits=0)
    code = emitted(kernel, cpu)
    loop = loop_of(code)

    assert count(loop, pattern) == 48
    assert len(loop) == 48 + 2
    assert why_refused(code, kernel.claim) is None


@pytest.mark.parametrize(("cpu", "width", "fp64", "fp32"), VECTORS)
@pytest.mark.parametrize("precision", ["fp64", "fp32"])
@pytest.mark.parametrize(
    ("operation", "own", "added", "arm", "risc_v"),
    [
        ("div", 48, 0, "fdiv V, (p0/m, )?V, V", r"vfdiv\.vv V, V, V"),
        ("sqrt", 96, 12, "fsqrt V, (p0/m, )?V", r"vfsqrt\.v V, V"),
    ],
)
def test_vector_loop_of_the_divider_holds_its_operations(
    operation, own, added, arm, risc_v, precision, cpu, width, fp64, fp32
):
    """Twelve chains of four divisions, or of an addition and eight square roots."""
    kernel = peak(operation, precision=precision, width_bits=width)
    code = emitted(kernel, cpu)
    register = fp64 if precision == "fp64" else fp32
    loop = loop_of(code)

    assert count(loop, (risc_v if cpu == "rvv" else arm).replace("V", register)) == own
    assert count(loop, rf"v?fadd(\.vv)? {register}, {register}, {register}") == added
    assert len(loop) == own + added + 2
    assert why_refused(code, kernel.claim) is None


@pytest.mark.parametrize("cpu", ["n1", "v2", "a64fx", "rvv"])
@pytest.mark.parametrize("precision", ["fp64", "fp32"])
@pytest.mark.parametrize(
    ("operation", "number"), [("add", 64), ("mul", 64), ("fma", 64), ("div", 64), ("sqrt", 17)]
)
def test_chain_writes_one_register(operation, number, precision, cpu):
    """And each operation reads it: the last operand of Arm's multiply-add is what it adds to."""
    kernel = chain(operation, precision=precision)
    code = emitted(kernel, cpu)
    operands = [line.split(" ", 1)[1].split(", ") for line in loop_of(code) if line[0] == "f"]

    assert len(operands) == number
    assert len({own[0] for own in operands}) == 1
    assert all(own[0] in own[1:] for own in operands)
    assert len(loop_of(code)) == number + 2
    assert why_refused(code, kernel.claim) is None


@pytest.mark.parametrize(("cpu", "width", "fp64", "_fp32"), VECTORS)
@pytest.mark.parametrize(("ratio", "fused", "added"), [((2, 1), 80, 40), ((1, 1), 60, 60)])
def test_mix_holds_both_operations_in_their_ratio(ratio, fused, added, cpu, width, fp64, _fp32):
    """Of four steps of thirty chains two thirds, or half, are multiply-adds."""
    kernel = mix(ratio, precision="fp64", width_bits=width, registers=32)
    code = emitted(kernel, cpu)
    loop = loop_of(code)

    assert count(loop, rf"(fmla|vfmacc\.vv) {fp64}, (p\d/m, )?{fp64}, {fp64}") == fused
    assert count(loop, rf"v?fadd(\.vv)? {fp64}, {fp64}, {fp64}") == added
    assert len(loop) == 120 + 2
    assert why_refused(code, kernel.claim) is None


@pytest.mark.parametrize(
    ("operation", "integer", "cpu", "width", "instruction"),
    [
        ("add", "int32", "n1", 128, r"add v\d+\.4s, v\d+\.4s, v\d+\.4s"),
        ("xor", "int64", "n1", 128, r"eor v\d+\.16b, v\d+\.16b, v\d+\.16b"),
        ("mul", "int32", "n1", 128, r"mul v\d+\.4s, v\d+\.4s, v\d+\.4s"),
        ("compare", "int32", "n1", 128, r"cmgt v\d+\.4s, v\d+\.4s, v\d+\.4s"),
        ("compare", "int64", "n1", 128, r"cmgt v\d+\.2d, v\d+\.2d, v\d+\.2d"),
        # These CPUs have an exclusive-or of three operands.
        ("xor", "int32", "v1", 128, r"eor v\d+\.16b, v\d+\.16b, v\d+\.16b"),
        ("xor", "int32", "v2", 128, r"eor v\d+\.16b, v\d+\.16b, v\d+\.16b"),
        ("mul", "int64", "v2", 128, r"mul z\d+\.d, z\d+\.d, z\d+\.d"),
        ("add", "int64", "v1", 256, r"add z\d+\.d, z\d+\.d, z\d+\.d"),
        ("xor", "int32", "v1", 256, r"eor z\d+\.d, z\d+\.d, z\d+\.d"),
        ("mul", "int64", "a64fx", 512, r"mul z\d+\.d, p0/m, z\d+\.d, z\d+\.d"),
        ("add", "int32", "rvv", 256, r"vadd\.vv v\d+, v\d+, v\d+"),
        ("xor", "int32", "rvv", 256, r"vxor\.vv v\d+, v\d+, v\d+"),
        ("mul", "int64", "rvv", 256, r"vmul\.vv v\d+, v\d+, v\d+"),
    ],
)
def test_integer_vector_loop_is_48_operations(operation, integer, cpu, width, instruction):
    """None is folded into another."""
    kernel = integer_peak(operation, integer=integer, width_bits=width)
    code = emitted(kernel, cpu)
    loop = loop_of(code)

    assert count(loop, instruction) == 48
    assert len(loop) == 48 + 2
    assert why_refused(code, kernel.claim) is None


@pytest.mark.parametrize(
    ("operation", "integer", "cpu", "instruction"),
    [
        ("add", "int32", "n1", r"add w\d+, w\d+, w\d+"),
        ("xor", "int64", "n1", r"eor x\d+, x\d+, x\d+"),
        ("mul", "int64", "n1", r"mul x\d+, x\d+, x\d+"),
        ("add", "int32", "rvv", r"addw \w+, \w+, \w+"),
        ("add", "int64", "rvv", r"add \w+, \w+, \w+"),
        ("xor", "int32", "rvv", r"xor \w+, \w+, \w+"),
        ("mul", "int32", "rvv", r"mulw \w+, \w+, \w+"),
    ],
)
def test_integer_scalar_loop_is_160_operations(operation, integer, cpu, instruction):
    """Ten chains, sixteen steps each."""
    kernel = integer_peak(operation, integer=integer, width_bits=0)
    code = emitted(kernel, cpu)
    loop = loop_of(code)

    assert count(loop, instruction) == 160
    assert len(loop) == 160 + 2
    assert why_refused(code, kernel.claim) is None


@pytest.mark.parametrize(
    ("pattern", "cpu", "width", "load", "loads", "store", "stores"),
    [
        (LOAD, "n1", 128, "ldr q0", 48, "", 0),
        (STORE, "n1", 128, "", 0, "stp q0, q0", 24),
        (COPY, "n1", 128, "ldr q0", 12, "str q0", 12),
        (TRIAD, "n1", 128, r"ldr q\d", 24, r"str q\d", 12),
        (STORE_NT, "n1", 128, "", 0, "stnp d0, d1", 48),
        (COPY_NT, "n1", 128, "ldr q0", 12, "stnp d0, d1", 12),
        (LOAD, "v1", 256, "ldr z0", 48, "", 0),
        (STORE, "v1", 256, "", 0, "str z0", 48),
        (COPY, "v1", 256, "ldr z0", 12, "str z0", 12),
        (TRIAD, "v1", 256, r"ldr z\d", 24, r"str z\d", 12),
        (MIX, "v1", 256, r"ldr z\d", 32, r"str z\d", 16),
        (STORE_NT, "v1", 256, "", 0, r"stnt1d \{ z0.d \}, p0", 48),
        (COPY_NT, "v1", 256, "ldr z0", 12, r"stnt1d \{ z0.d \}, p0", 12),
        (LOAD, "a64fx", 512, "ldr z0", 24, "", 0),
        (STORE, "a64fx", 512, "", 0, "str z0", 24),
        (COPY, "a64fx", 512, "ldr z0", 12, "str z0", 12),
        (TRIAD, "a64fx", 512, r"ldr z\d", 24, r"str z\d", 12),
        (STORE_NT, "a64fx", 512, "", 0, r"stnt1d \{ z0.d \}, p0", 24),
        (LOAD, "rvv", 256, r"vl1re64\.v v8", 48, "", 0),
        (STORE, "rvv", 256, "", 0, r"vs1r\.v v8", 48),
        (COPY, "rvv", 256, r"vl1re64\.v v8", 12, r"vs1r\.v v8", 12),
        (TRIAD, "rvv", 256, r"vl1re64\.v v\d+", 24, r"vs1r\.v v\d+", 12),
        (MIX, "rvv", 256, r"vl1re64\.v v\d+", 32, r"vs1r\.v v\d+", 16),
        (STORE_NT, "rvv-ntl", 256, "", 0, r"vs1r\.v v8", 48),
        (COPY_NT, "rvv-ntl", 256, r"vl1re64\.v v8", 12, r"vs1r\.v v8", 12),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_stream_loop_holds_the_accesses_it_claims(pattern, cpu, width, load, loads, store, stores):
    """Full vectors, one after the other, and no other access to memory."""
    kernel = bandwidth(pattern, width_bits=width)
    code = emitted(kernel, cpu)
    loop = loop_of(code)

    assert count(loop, rf"{load}, [\[(].*[\])]") == loads
    assert count(loop, rf"{store}, [\[(].*[\])]") == stores
    assert count(loop, r".*[\[(].*[\])]") - count(loop, r"mov d1, v0\.d\[1\]") == loads + stores
    assert count(loop, r"(c\.)?ntl\.all") == (stores if cpu == "rvv-ntl" else 0)
    assert why_refused(code, kernel.claim) is None


@pytest.mark.parametrize(
    ("cpu", "add", "xor"),
    [("n1", "add", "eor"), ("v2", "add", "eor"), ("a64fx", "add", "eor"), ("rvv", "add", "xor")],
)
def test_clock_loop_is_one_chain_of_128_operations(cpu, add, xor):
    """Each works on the result of the one before, in one register, in turn."""
    kernel = clock()
    code = emitted(kernel, cpu)
    loop = loop_of(code)
    chain = [line for line in loop if re.fullmatch(rf"({add}|{xor}) (\w+), \2, \w+", line)]

    assert [line.split()[0] for line in chain] == [add, xor] * 64
    assert len({line.split()[1] for line in chain}) == 1
    assert len(loop) == 128 + 2
    assert why_refused(code, kernel.claim) is None


def test_chase_is_one_chain_of_32_loads():
    """Each load's result is the offset of the next."""
    kernel = chase(architecture="aarch64")
    code = emitted(kernel, "n1")
    loop = loop_of(code)

    assert count(loop, r"ldr (x\d+), \[x0, \1\]") == 32
    assert len(loop) == 32 + 2
    assert why_refused(code, kernel.claim) is None


def test_stores_without_the_hint_are_not_taken_for_non_temporal():
    """A RISC-V CPU without Zihintntl has no way to go past its caches."""
    kernel = bandwidth(STORE_NT, width_bits=256)

    assert why_refused(emitted(kernel, "rvv"), kernel.claim) == "it stores by vs1r.v v8, (a5)"


@pytest.mark.parametrize(
    ("cpu", "width", "found", "instead", "reason"),
    [
        ("n1", 128, "\tfmla\tv2.2d, v0.2d, v0.2d\n", "",
         r"a pass of its loop has 47 fmla v\d+\.2d, v\d+\.2d, v\d+\.2d, not 48"),
        ("n1", 128, "\tsubs\t", "\tmov\tv1.16b, v0.16b\n\tsubs\t",
         "its loop also has mov v1.16b, v0.16b"),
        ("n1", 128, "\tsubs\t", "\tldr\tq0, [x0]\n\tsubs\t",
         "a pass of its loop does 16 bytes loaded, not 0"),
        ("n1", 128, "\tsubs\t", "\tldr\tx9, [sp]\n\tsubs\t",
         "ldr x9, [sp] does not move 16 byte at a time"),
        ("n1", 128, "\tsubs\t", "\tadd\tx8, x8, #1\n\tadd\tx9, x9, #1\n\tsubs\t",
         "its loop has 4 other instructions"),
        ("n1", 128, "\tb.ne\t.LBB0_1", "\tnop", "it has no loop"),
        ("v1", 256, "\tptrue\tp0.d", "\tptrue\tp0.d, vl2",
         "its lanes are switched by ptrue p0.d, vl2"),
        ("v1", 256, "\tptrue\tp0.d", "\twhilelo\tp0.d, xzr, x1",
         "its lanes are switched by whilelo p0.d, xzr, x1"),
        ("v1", 256, "\tsubs\t", "\tprfm\tpldl1keep, [x0]\n\tsubs\t",
         "its loop also has prfm pldl1keep, [x0]"),
        ("rvv", 256, "zero, 4, e64, m1", "zero, 2, e64, m1",
         "its vectors are set by vsetivli zero, 2, e64, m1, ta, ma"),
        ("rvv", 256, "e64, m1", "e64, m2",
         "its vectors are set by vsetivli zero, 4, e64, m2, ta, ma"),
        ("rvv", 256, "e64, m1", "e32, m1",
         "its vectors are set by vsetivli zero, 4, e32, m1, ta, ma"),
        ("rvv", 256, "\tbnez\t", "\tld\ta1, 8(sp)\n\tbnez\t",
         "ld a1, 8(sp) does not move 32 byte at a time"),
    ],
)  # fmt: skip
def test_listing_that_differs_from_its_claim_is_refused(cpu, width, found, instead, reason):
    """Whatever the loop has beside what is claimed, no rate may be shown."""
    kernel = peak("fma", precision="fp64", width_bits=width)
    code = emitted(kernel, cpu)
    doctored = replace(code, assembly=code.assembly.replace(found, instead, 1))

    assert doctored != code
    assert why_refused(doctored, kernel.claim) == reason


def test_access_of_another_width_is_refused():
    """Two NEON registers are not one of 256 bit."""
    kernel = bandwidth(LOAD, width_bits=128)
    claim = replace(kernel.claim, width_bits=256)

    assert why_refused(emitted(kernel, "n1"), claim) == (
        "ldr q0, [x10] does not move 32 byte at a time"
    )


def test_clock_of_two_chains_is_refused():
    """Operations that do not wait for each other take no cycle each."""
    kernel = clock()
    code = emitted(kernel, "n1")
    doctored = replace(code, assembly=code.assembly.replace("x10, x10, x9", "x11, x10, x9", 1))

    assert why_refused(doctored, kernel.claim) == "its operations are not one chain"


def test_code_that_nothing_here_reads_is_refused():
    """No decoder, and no listing that is understood."""
    code = Code(architecture="ppc64le", machine_code=b"", assembly="")

    assert why_refused(code, clock().claim) == "the code for ppc64le cannot be verified here"
