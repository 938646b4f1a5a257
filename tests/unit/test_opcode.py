"""The engine's own look at instructions, against iced-x86 over random and real code."""

import ctypes
from pathlib import Path

import iced_x86 as iced
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_code import library

OTHER, REP_STRING, DIVISION, SCALAR_FMA, NT_STORE, T0, T1, T2, NTA = range(9)
NO_REGISTER = 16
NON_TEMPORAL = {
    iced.Mnemonic.MOVNTPS, iced.Mnemonic.MOVNTPD, iced.Mnemonic.MOVNTI, iced.Mnemonic.MOVNTQ,
    iced.Mnemonic.MOVNTDQ, iced.Mnemonic.MASKMOVQ, iced.Mnemonic.MASKMOVDQU,
    iced.Mnemonic.MOVNTSS, iced.Mnemonic.MOVNTSD,
    iced.Mnemonic.VMOVNTPS, iced.Mnemonic.VMOVNTPD, iced.Mnemonic.VMOVNTDQ,
    iced.Mnemonic.VMASKMOVDQU,
}  # fmt: skip
PREFETCHES = {
    iced.Mnemonic.PREFETCHT0: T0, iced.Mnemonic.PREFETCHW: T0, iced.Mnemonic.PREFETCHWT1: T0,
    iced.Mnemonic.PREFETCH: T0,
    iced.Mnemonic.PREFETCHT1: T1, iced.Mnemonic.PREFETCHT2: T2, iced.Mnemonic.PREFETCHNTA: NTA,
}  # fmt: skip
PRIVILEGED = {
    iced.Mnemonic.INSB, iced.Mnemonic.INSW, iced.Mnemonic.INSD,
    iced.Mnemonic.OUTSB, iced.Mnemonic.OUTSW, iced.Mnemonic.OUTSD,
}  # fmt: skip
DIVISIONS = {iced.Mnemonic.DIV, iced.Mnemonic.IDIV}
GPRS = {
    getattr(iced.Register, name): number
    for number, name in enumerate(
        ("RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI",
         "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15")
    )
}  # fmt: skip


class Operand(ctypes.Structure):
    """An address as an instruction states it."""

    _fields_ = (
        ("base", ctypes.c_uint),
        ("index", ctypes.c_uint),
        ("scale", ctypes.c_uint),
        ("displacement", ctypes.c_int64),
        ("is_rip_relative", ctypes.c_bool),
    )


@pytest.fixture(scope="module")
def opcode():
    """Load the engine's decoder."""
    code = library("portable", ("opcode.c",), "")
    code.prefetched_operand.restype = ctypes.c_bool
    return code


def expected_opcode(instruction):
    """Return what iced-x86 says that an instruction is."""
    if instruction.is_string_instruction and (
        instruction.has_rep_prefix or instruction.has_repne_prefix
    ):
        return REP_STRING
    if instruction.mnemonic in DIVISIONS:
        return DIVISION
    if instruction.mnemonic in NON_TEMPORAL:
        return NT_STORE
    name = iced.Formatter(iced.FormatterSyntax.NASM).format_mnemonic(instruction)
    if name.startswith(("vfmadd", "vfmsub", "vfnmadd", "vfnmsub")) and name[-2:] in ("sd", "ss"):
        return SCALAR_FMA
    return PREFETCHES.get(instruction.mnemonic, OTHER)


def check(opcode, instruction, code):
    """Compare the engine's look at an instruction with iced-x86's."""
    assert opcode.opcode_of(code, len(code)) == expected_opcode(instruction), code.hex()
    if instruction.mnemonic not in PREFETCHES:
        return
    operand = Operand()
    is_plain = (
        instruction.segment_prefix in (iced.Register.NONE, iced.Register.DS, iced.Register.SS,
                                       iced.Register.ES, iced.Register.CS)
        and 0x67 not in prefixes(code)
    )  # fmt: skip
    assert opcode.prefetched_operand(code, len(code), ctypes.byref(operand)) == is_plain, code.hex()
    if not is_plain:
        return
    displacement = operand.displacement + (len(code) if operand.is_rip_relative else 0)
    assert displacement % 2**64 == instruction.memory_displacement, code.hex()
    assert operand.is_rip_relative == instruction.is_ip_rel_memory_operand
    if not operand.is_rip_relative:
        assert operand.base == GPRS.get(instruction.memory_base, NO_REGISTER), code.hex()
    assert operand.index == GPRS.get(instruction.memory_index, NO_REGISTER), code.hex()
    if operand.index != NO_REGISTER:
        assert 1 << operand.scale == instruction.memory_index_scale


LEGACY = b"\x66\x67\xf0\xf2\xf3\x2e\x36\x3e\x26\x64\x65"


def prefixes(code):
    """Return the legacy prefixes that code begins with."""
    n = next((i for i, byte in enumerate(code) if byte not in LEGACY), len(code))
    return code[:n]


def has_idle_rex(code):
    """Tell whether a REX prefix stands before another prefix, which Valgrind does not take."""
    n = len(prefixes(code))
    return code[n] & 0xF0 == 0x40 and (code[n + 1] in LEGACY or code[n + 1] & 0xF0 == 0x40)


def decoded(code):
    """Yield valid instructions of AVX2 and before, which alone reach the engine."""
    at = 0
    for instruction in iced.Decoder(64, code, iced.DecoderOptions.AMD):
        part = code[at : at + instruction.len]
        at += instruction.len
        if instruction.is_invalid or has_idle_rex(part):
            continue
        reaches = instruction.mnemonic not in PRIVILEGED
        if reaches and instruction.encoding in (
            iced.EncodingKind.LEGACY, iced.EncodingKind.VEX, iced.EncodingKind.D3NOW,
        ):  # fmt: skip
            # As if it stood at address 0: relative displacements are then its own.
            yield next(iter(iced.Decoder(64, part, iced.DecoderOptions.AMD))), part


PREFIXES = st.lists(st.sampled_from([0x66, 0xF2, 0xF3, 0x2E, 0x64, 0x67]), max_size=2).map(bytes)
REX = st.one_of(st.just(b""), st.integers(0x40, 0x4F).map(lambda byte: bytes([byte])))
OPCODES = st.sampled_from(
    [b"\x0f\x18", b"\x0f\x0d", b"\x0f\x2b", b"\x0f\xc3", b"\x0f\xe7", b"\x0f\xf7", b"\xf6",
     b"\xf7", b"\xa4", b"\xa5", b"\xa6", b"\xa7", b"\xaa", b"\xac", b"\xae", b"\xc5\xf9\xe7",
     b"\xc5\xf8\x2b",
     b"\xc4\xe2\x79\x2a", b"\xc4\xe2\xf1\x99", b"\xc4\xc2\xe1\xbd", b"\xc4\xe2\x71\x98",
     b"\x0f\x38"]
)  # fmt: skip


@settings(max_examples=300)
@given(PREFIXES, REX, OPCODES, st.binary(min_size=12, max_size=12))
def test_instructions_that_matter_are_told_as_iced_tells_them(opcode, prefix, rex, head, tail):
    """With all prefixes, and all forms of an address."""
    for instruction, code in list(decoded(prefix + rex + head + tail))[:1]:
        check(opcode, instruction, code)


@settings(max_examples=300)
@given(st.binary(min_size=15, max_size=15))
def test_random_instructions_are_told_as_iced_tells_them(opcode, code):
    """Most of them are none of those that matter."""
    for instruction, part in decoded(code):
        check(opcode, instruction, part)


def test_the_code_of_a_real_library_is_told_as_iced_tells_it(opcode):
    """A quarter of a million instructions, as a compiler and people wrote them."""
    import numpy._core._multiarray_umath as module

    code = Path(module.__file__).read_bytes()[1 << 20 : 2 << 20]
    seen = set()
    for instruction, part in decoded(code):
        check(opcode, instruction, part)
        seen.add(expected_opcode(instruction))

    assert {OTHER, DIVISION, REP_STRING} <= seen
