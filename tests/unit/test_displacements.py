"""What instructions do without their displacements: the same, as iced-x86 decodes them."""

import numpy as np
import pytest
from iced_x86 import Decoder
from instructions_by_iced import samples_of_each_code

from ridgepoint.meters.decode import decode_each
from ridgepoint.meters.displacements import without_displacements

MOST = 15  # bytes of an instruction


def stripped(codes):
    """Return instructions without their displacements."""
    lengths = np.array([len(code) for code in codes], np.uint8)
    padded = b"".join(code.ljust(MOST, b"\0") for code in codes)
    return without_displacements(np.frombuffer(padded, np.uint8).reshape(-1, MOST), lengths)


@pytest.mark.parametrize(
    ("code", "expected", "text"),
    [
        ("488b0510203000", "488b0500000000", "mov rax, [rip + 0x302010]"),
        ("8b4708", "8b4700", "mov eax, [rdi + 8]"),
        ("8b07", "8b07", "mov eax, [rdi]"),
        ("8b0425f0ffffff", "8b042500000000", "mov eax, [-16]"),
        ("c7442408efbeadde", "c7442400efbeadde", "mov dword [rsp + 8], 0xdeadbeef"),
        ("e810203040", "e800000000", "call +0x40302010"),
        ("0f8410203040", "0f8400000000", "je +0x40302010"),
        ("66662e0f1f840001020304", "66662e0f1f840000000000", "nop word cs:[rax + rax + 0x4030201]"),
        ("62f1fd48104703", "62f1fd48104700", "vmovupd zmm0, [rdi + 192]"),
        ("c5fb104708", "c5fb104700", "vmovsd xmm0, [rdi + 8]"),
        ("c5f877", "c5f877", "vzeroupper"),
        ("660f3a0b470810", "660f3a0b470010", "roundsd xmm0, [rdi + 8], 16"),
        ("b810203040", "b810203040", "mov eax, 0x40302010"),
        ("488d4708", "488d4701", "lea rax, [rdi + 8]: an addition"),
        ("488d4700", "488d4700", "lea rax, [rdi + 0]: none"),
    ],
)
def test_displacements_are_taken_out(code, expected, text):
    """Constants and everything else stay (GNU objdump -d shows the same text, if any)."""
    (found,) = stripped([bytes.fromhex(code)])

    assert found.tobytes().hex() == expected.ljust(2 * MOST, "0"), text


def test_instructions_do_the_same_without_them():
    """Of every opcode, with anything in the operands, prefixes and constants."""
    samples = np.frombuffer(samples_of_each_code(8, seed=3), np.uint8).reshape(-1, 16)
    codes = []
    for sample in samples:
        instruction = Decoder(64, sample.tobytes()).decode()
        if not instruction.is_invalid:
            codes.append(sample.tobytes()[: instruction.len])
    found = stripped(codes)
    as_they_are = b"".join(code.ljust(MOST, b"\0") for code in codes)
    places = range(0, len(as_they_are), MOST)

    assert len(codes) > 10000
    assert list(decode_each(found.tobytes(), places)) == list(decode_each(as_they_are, places))
