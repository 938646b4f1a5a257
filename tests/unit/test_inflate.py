"""The copying engine unpacks what zlib packs, and nothing that is damaged."""

import ctypes
import random
import zlib

import pytest
from native_code import library

GLUE = """
#include "copying/inflate.h"
int unpack(const uint8_t *packed, size_t n, uint8_t *out, size_t room) {
    return inflate_zlib(packed, n, out, room);
}
"""
DRAW = random.Random(1951)
BEYOND = b"\xee" * 64
NOISE = DRAW.randbytes(70000)
WORDS = b"".join(DRAW.choice([b"line", b"file ", b"\0", b"address"]) for _ in range(40000))
CONTENTS = {
    "nothing": b"",
    "one byte": b"x",
    "zeros": bytes(300000),
    "noise": NOISE,
    "words": WORDS,
    "mixed": NOISE[:5000] + WORDS + NOISE[5000:9000],
}


def unpacked(packed, room):
    """Return what a stream unpacks to, or None."""
    out = ctypes.create_string_buffer(b"\xee" * (room + len(BEYOND)))
    sources = ("copying/inflate.c", "copying/memory.c")
    native = library("portable", sources, GLUE)
    good = native.unpack(packed, ctypes.c_size_t(len(packed)), out, ctypes.c_size_t(room))
    assert out.raw[room : room + len(BEYOND)] == BEYOND
    return out.raw[:room] if good else None


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
@pytest.mark.parametrize("level", [0, 1, 6, 9])
@pytest.mark.parametrize("strategy", [zlib.Z_DEFAULT_STRATEGY, zlib.Z_FIXED, zlib.Z_HUFFMAN_ONLY])
def test_what_zlib_packs_is_unpacked(content, level, strategy):
    """Stored, with fixed codes, and with codes of its own."""
    packer = zlib.compressobj(level, zlib.DEFLATED, 15, 9, strategy)
    packed = packer.compress(content) + packer.flush()

    assert unpacked(packed, len(content)) == content


def test_damage_is_found_or_harmless():
    """What is cut short or longer than stated is refused; nothing is written beyond the room."""
    packed = zlib.compress(WORDS, 9)

    assert unpacked(packed[: len(packed) // 2], len(WORDS)) is None
    assert unpacked(packed, len(WORDS) - 1) is None
    assert unpacked(packed, len(WORDS) + 1) is None
    assert unpacked(b"\x78", 1) is None
    for _ in range(300):
        spoilt = bytearray(packed)
        for _ in range(DRAW.randint(1, 4)):
            spoilt[DRAW.randrange(2, len(spoilt))] ^= 1 << DRAW.randrange(8)
        unpacked(bytes(spoilt), len(WORDS))
