"""Sample encodings of x86-64 instructions, to ask a decoder about.

An `Opcode` names what an encoding selects by its map and opcode byte; a *variant* is a number
made of the prefixes or prefix bits that select further, in the order in which native/copying/
instruction.c computes it:

- legacy: ``2 * (1 if 66) + (1 if REX.W) + 4 * (0, 1 for F3, 2 for F2)``, of 12;
- VEX and XOP: ``pp + 4 * W + 8 * L``, of 16;
- EVEX: ``pp + 4 * W + 8 * b + 16 * L'L``, of 64.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Space(Enum):
    """A way to encode, with the number of its variants."""

    LEGACY = 12
    VEX = 16
    XOP = 17
    EVEX = 64

    @property
    def n_variants(self) -> int:
        """How many combinations of prefixes select an instruction."""
        return 16 if self is Space.XOP else self.value


class Opcode(NamedTuple):
    """One opcode byte of one map."""

    space: Space
    map: int
    byte: int


_LEGACY_ESCAPES = {0: b"", 1: b"\x0f", 2: b"\x0f\x38", 3: b"\x0f\x3a"}
_REP = (b"", b"\xf3", b"\xf2")


class Fields(NamedTuple):
    """What an encoding holds beside its opcode and variant; numbers are true, not inverted.

    Parameters
    ----------
    mod, reg, rm : int
        Of the ModRM byte. `rm` 4 of memory is followed by a SIB byte of `sib_base` and `sib_index`.
    sib_base, sib_index : int
        Of the SIB byte, three bits each.
    r, x, b, r2, v2 : int
        Extension bits; `r2` and `v2` of EVEX alone.
    vvvv, mask : int
    zeroing, lock, address32 : bool
    tail : bytes
        What follows the ModRM and SIB bytes.
    """

    mod: int = 3
    reg: int = 5
    rm: int = 6
    sib_base: int = 6
    sib_index: int = 1
    r: int = 0
    x: int = 0
    b: int = 0
    r2: int = 0
    v2: int = 0
    vvvv: int = 0
    mask: int = 0
    zeroing: bool = False
    lock: bool = False
    address32: bool = False
    tail: bytes = bytes(12)


def prefix_length(opcode: Opcode, variant: int, fields: Fields) -> int:
    """Return the bytes before ModRM, the opcode included."""
    return len(_prefixes(opcode, variant, fields)) + 1


def encode(opcode: Opcode, variant: int, fields: Fields) -> bytes:
    """Return the bytes of an instruction, and some more."""
    head = _prefixes(opcode, variant, fields)
    return b"".join((head, bytes((opcode.byte,)), encode_operands(fields)))


def encode_operands(fields: Fields) -> bytes:
    """Return ModRM, SIB and the tail."""
    modrm = bytes((fields.mod << 6 | fields.reg << 3 | fields.rm,))
    sib = (
        bytes((fields.sib_index << 3 | fields.sib_base,))
        if fields.mod != 3 and fields.rm == 4
        else b""
    )
    return modrm + sib + fields.tail


def _prefixes(opcode: Opcode, variant: int, fields: Fields) -> bytes:
    head = b"\xf0" * fields.lock + b"\x67" * fields.address32
    inverted = (1 - fields.r) << 7 | (1 - fields.x) << 6 | (1 - fields.b) << 5
    match opcode.space:
        case Space.LEGACY:
            rep, p66, w = variant >> 2, variant >> 1 & 1, variant & 1
            rex = w << 3 | fields.r << 2 | fields.x << 1 | fields.b
            return b"".join(
                (
                    head,
                    b"\x66" * p66,
                    _REP[rep],
                    bytes((0x40 | rex,)) if rex else b"",
                    _LEGACY_ESCAPES[opcode.map],
                )
            )
        case Space.VEX | Space.XOP:
            pp, w, length = variant & 3, variant >> 2 & 1, variant >> 3
            return head + bytes(
                (
                    0xC4 if opcode.space is Space.VEX else 0x8F,
                    inverted | opcode.map,
                    w << 7 | (15 - (fields.vvvv & 15)) << 3 | length << 2 | pp,
                )
            )
        case Space.EVEX:
            pp, w, b, length = variant & 3, variant >> 2 & 1, variant >> 3 & 1, variant >> 4
            return head + bytes(
                (
                    0x62,
                    inverted | (1 - fields.r2) << 4 | opcode.map,
                    w << 7 | (15 - (fields.vvvv & 15)) << 3 | 4 | pp,
                    fields.zeroing << 7 | length << 5 | b << 4 | (1 - fields.v2) << 3 | fields.mask,
                )
            )
