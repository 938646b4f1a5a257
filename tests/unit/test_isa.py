"""What CPUs of three architectures have instructions for, and how those are written."""

import re

import pytest

from ridgepoint.kernels.isa import Isa, instruction_pattern

_AVX512 = {"sse2", "sse4.1", "sse4.2", "avx", "avx2", "fma", "avx512f", "avx512dq", "avx512vl"}
_HASWELL = {"sse2", "sse4.1", "sse4.2", "avx", "avx2", "fma"}
_SANDY_BRIDGE = {"sse2", "sse4.1", "sse4.2", "avx"}


def isa(architecture, *features, vector_bits=0):
    """Return an instruction set with these features."""
    return Isa(architecture=architecture, has=set(features).__contains__, vector_bits=vector_bits)


@pytest.mark.parametrize(
    ("given", "widths"),
    [
        (isa("x86_64", "sse2"), (128,)),
        (isa("x86_64", *_SANDY_BRIDGE), (128, 256)),
        (isa("x86_64", *_AVX512), (128, 256, 512)),
        (isa("aarch64", "neon"), (128,)),
        (isa("aarch64", "neon", "sve", vector_bits=128), (128,)),
        (isa("aarch64", "neon", "sve", vector_bits=256), (128, 256)),
        (isa("aarch64", "neon", "sve", vector_bits=512), (128, 512)),
        (isa("aarch64", "neon", "sve", vector_bits=2048), (128,)),
        (isa("riscv64", "d"), ()),
        (isa("riscv64", "d", "v", vector_bits=128), (128,)),
        (isa("riscv64", "d", "v", vector_bits=256), (256,)),
        (isa("riscv64", "d", "v", vector_bits=1024), ()),
        (isa("ppc64le", "vsx"), ()),
    ],
)
def test_vectors_are_as_wide_as_registers_and_at_most_512_bit(given, widths):
    """SVE's and V's have one length, that of their registers; NEON's 128 bit remain."""
    assert given.vector_widths == widths


@pytest.mark.parametrize(
    ("given", "fused"),
    [
        (isa("x86_64", *_SANDY_BRIDGE), False),
        (isa("x86_64", *_HASWELL), True),
        (isa("aarch64"), True),
        (isa("riscv64", "f", "d"), True),
        (isa("riscv64"), False),
        (isa("ppc64le"), False),
    ],
)
def test_multiply_adds_are_an_extension_on_x86_alone(given, fused):
    """Elsewhere they came with floating point."""
    assert given.has_fma is fused


@pytest.mark.parametrize(
    ("features", "operation", "integer", "widths"),
    [
        ({"sse2"}, "add", "int32", (128,)),
        ({"sse2"}, "mul", "int32", ()),
        ({"sse2"}, "compare", "int32", (128,)),
        ({"sse2"}, "compare", "int64", ()),
        (_SANDY_BRIDGE, "xor", "int64", (128,)),
        (_SANDY_BRIDGE, "mul", "int32", (128,)),
        (_HASWELL, "add", "int64", (128, 256)),
        (_HASWELL, "mul", "int64", ()),
        (_HASWELL, "compare", "int64", (128, 256)),
        (_AVX512, "add", "int64", (128, 256, 512)),
        (_AVX512, "mul", "int64", (128, 256, 512)),
        (_AVX512 - {"avx512vl"}, "mul", "int64", (512,)),
        (_AVX512, "compare", "int32", (128, 256)),
    ],
)
def test_x86_integers_have_the_widths_of_their_extensions(features, operation, integer, widths):
    """SSE2, SSE4.1, SSE4.2, AVX2, AVX512DQ and AVX512VL each added some; masks are no vectors."""
    assert isa("x86_64", *features).integer_widths(operation, integer) == widths


@pytest.mark.parametrize(
    ("vector_bits", "operation", "integer", "widths"),
    [
        (0, "add", "int64", (128,)),
        (0, "mul", "int32", (128,)),
        (0, "mul", "int64", ()),
        (0, "compare", "int64", (128,)),
        (128, "mul", "int64", (128,)),
        (256, "xor", "int32", (128, 256)),
        (256, "mul", "int64", (256,)),
        (256, "compare", "int64", (128,)),
    ],
)
def test_arm_multiplies_long_integers_by_sve_and_compares_by_neon(
    vector_bits, operation, integer, widths
):
    """NEON has no MUL of 64-bit lanes, and SVE's compares write predicates."""
    features = {"neon", "sve"} if vector_bits else {"neon"}
    given = isa("aarch64", *features, vector_bits=vector_bits)

    assert given.integer_widths(operation, integer) == widths


@pytest.mark.parametrize(
    ("operation", "widths"), [("add", (256,)), ("xor", (256,)), ("mul", (256,)), ("compare", ())]
)
def test_risc_v_compares_write_masks(operation, widths):
    """The other operations keep vectors."""
    given = isa("riscv64", "d", "v", vector_bits=256)

    assert given.integer_widths(operation, "int32") == widths
    assert given.integer_widths(operation, "int64") == widths


@pytest.mark.parametrize(
    ("architecture", "operation", "precision", "width", "instruction"),
    [
        ("x86_64", "add", "fp64", 0, "ADDSD"),
        ("x86_64", "add", "fp32", 512, "VADDPS"),
        ("x86_64", "fma", "fp64", 256, "VFMADD231PD"),
        ("x86_64", "mul", "int64", 0, "IMUL"),
        ("x86_64", "mul", "int64", 512, "VPMULLQ"),
        ("x86_64", "xor", "int32", 128, "PXOR"),
        ("aarch64", "fma", "fp64", 0, "fmadd d3, d1, d0, d3"),
        ("aarch64", "mul", "fp32", 0, "fmul s3, s3, s0"),
        ("aarch64", "fma", "fp32", 128, "fmla v1.4s, v0.4s, v0.4s"),
        ("aarch64", "fma", "fp64", 256, "fmla z2.d, p0/m, z0.d, z1.d"),
        ("aarch64", "add", "fp64", 512, "fadd z2.d, z2.d, z0.d"),
        ("aarch64", "add", "int32", 0, "add w10, w10, w8"),
        ("aarch64", "xor", "int64", 128, "eor v2.16b, v2.16b, v0.16b"),
        ("aarch64", "mul", "int64", 128, "mul z2.d, p0/m, z2.d, z0.d"),
        ("aarch64", "compare", "int64", 128, "cmgt v2.2d, v2.2d, v0.2d"),
        ("riscv64", "fma", "fp64", 0, "fmadd.d fa1, fa5, fa5, fa1"),
        ("riscv64", "fma", "fp32", 256, "vfmacc.vv v9, v8, v8"),
        ("riscv64", "add", "int32", 0, "addw a6, a3, t6"),
        ("riscv64", "xor", "int64", 256, "vxor.vv v10, v10, v8"),
    ],
)
def test_operation_is_one_instruction(architecture, operation, precision, width, instruction):
    """As the manuals of the three have it."""
    pattern = instruction_pattern(architecture, operation, precision=precision, width_bits=width)

    assert re.fullmatch(pattern, instruction)


@pytest.mark.parametrize(
    ("architecture", "operation", "precision", "width", "instruction"),
    [
        ("x86_64", "add", "fp64", 256, "VADDPS"),
        ("x86_64", "add", "fp64", 256, "VADDSD"),
        ("x86_64", "fma", "fp64", 256, "VFNMADD231PD"),
        ("aarch64", "fma", "fp64", 128, "fmla v1.4s, v0.4s, v0.4s"),
        ("aarch64", "fma", "fp64", 128, "fmla z2.d, p0/m, z0.d, z1.d"),
        ("aarch64", "fma", "fp64", 256, "fmad z2.d, p0/m, z0.d, z1.d"),
        ("aarch64", "xor", "int64", 128, "eor3 v2.16b, v2.16b, v0.16b, v1.16b"),
        ("aarch64", "add", "int64", 0, "add x2, x2, #1"),
        ("riscv64", "add", "int32", 0, "add a6, a3, t6"),
        ("riscv64", "add", "int64", 0, "addi a6, a3, 1"),
        ("riscv64", "fma", "fp64", 256, "vfmadd.vv v9, v8, v8"),
    ],
)
def test_another_instruction_is_not_taken_for_it(
    architecture, operation, precision, width, instruction
):
    """Of another width, precision or kind, or the loop's own counter."""
    pattern = instruction_pattern(architecture, operation, precision=precision, width_bits=width)

    assert not re.fullmatch(pattern, instruction)


def test_operation_that_takes_several_instructions_has_no_pattern():
    """RISC-V's compare needs a merge."""
    with pytest.raises(KeyError):
        instruction_pattern("riscv64", "compare", precision="int64", width_bits=256)
