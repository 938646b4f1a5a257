"""Takes out of machine code where it points to: what it does hardly depends on that.

Most instructions of a program differ from all others by a displacement alone. Without it a
few thousand are left to be decoded.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]


def _set(*ranges: range | int) -> npt.NDArray[np.bool_]:
    """Return which bytes are among some ranges."""
    among = np.zeros(256, np.bool_)
    for one in ranges:
        among[np.arange(256)[one.start : one.stop] if isinstance(one, range) else one] = True
    return among


# Intel SDM vol. 2, appendix A: opcode maps of 64-bit mode.
_PREFIX = _set(0x26, 0x2E, 0x36, 0x3E, range(0x64, 0x68), 0xF0, 0xF2, 0xF3)
_MOST_PREFIXES = 14
_REX = _set(range(0x40, 0x50))
_MODRM = _set(
    *(range(row + half, row + half + 4) for row in range(0, 0x40, 0x10) for half in (0, 8)),
    *(0x63, 0x69, 0x6B, range(0x80, 0x90), 0xC0, 0xC1, 0xC6, 0xC7, range(0xD0, 0xD4)),
    *(range(0xD8, 0xE0), 0xF6, 0xF7, 0xFE, 0xFF),
)
_NO_MODRM_0F = _set(
    *(range(0x04, 0x0D), 0x0E, range(0x30, 0x38), 0x77, range(0x80, 0x90)),
    *(range(0xA0, 0xA3), range(0xA8, 0xAB), range(0xC8, 0xD0)),
)
_BRANCH = _set(range(0x70, 0x80), range(0xE0, 0xE4), 0xE8, 0xE9, 0xEB)
_BRANCH_0F = _set(range(0x80, 0x90))
_ESCAPE, _MAPS_OF_3 = 0x0F, _set(0x38, 0x3A)
_VEX2, _VEX3, _EVEX, _VZERO, _LEA = 0xC5, 0xC4, 0x62, 0x77, 0x8D
_XOP, _LEAST_XOP_MAP = 0x8F, 8  # AMD APM vol. 4, 1.2.9


def without_displacements(code: Bytes, lengths: Bytes) -> Bytes:
    """Return instructions with zeros for displacements, of memory operands and of branches.

    Parameters
    ----------
    code : ndarray of uint8, shape (n, 15)
        With zeros behind each instruction.
    lengths : ndarray of uint8

    Notes
    -----
    LEA without an index adds a displacement or not: one that is not 0 becomes 1.
    """
    out = np.pad(code, ((0, 0), (0, 2 * _MOST_PREFIXES)))  # nothing that is looked for is beyond
    opcode_at = _opcodes(out)
    opcode, second = _bytes_at(out, opcode_at), _bytes_at(out, opcode_at + 1)
    begin, end = _displacements(out, opcode_at, opcode, second)
    is_long = opcode == _ESCAPE
    branches = np.where(is_long, _BRANCH_0F[second], _BRANCH[opcode])
    begin = np.where(branches, opcode_at + 1 + is_long, begin)
    end = np.where(branches, lengths, end)
    inside = (begin < end) & (end <= lengths)
    column = np.arange(out.shape[1])
    taken = inside[:, None] & (column >= begin[:, None]) & (column < end[:, None])
    adds = np.flatnonzero((opcode == _LEA) & inside)
    adds = adds[(out[adds] * taken[adds]).any(axis=1)]
    out[taken] = 0
    out[adds, begin[adds]] = 1
    return np.ascontiguousarray(out[:, : code.shape[1]])


def _bytes_at(code: Bytes, places: Places) -> Bytes:
    return code[np.arange(len(code)), places]


def _opcodes(code: Bytes) -> Places:
    """Return where opcodes begin, after prefixes."""
    at = np.zeros(len(code), np.int64)
    rows = np.arange(len(code))
    for _ in range(_MOST_PREFIXES):
        rows = rows[_PREFIX[code[rows, at[rows]]]]
        if not len(rows):
            break
        at[rows] += 1
    return at + _REX[_bytes_at(code, at)]


def _displacements(
    code: Bytes, opcode_at: Places, opcode: Bytes, second: Bytes
) -> tuple[Places, Places]:
    """Return where the displacements of memory operands begin and end; nowhere: at 0."""
    is_xop = (opcode == _XOP) & (second & 31 >= _LEAST_XOP_MAP)  # else it is POP
    is_vector = (opcode == _VEX2) | (opcode == _VEX3) | (opcode == _EVEX) | is_xop
    size = np.ones(len(code), np.int64)  # of opcodes
    size[opcode == _ESCAPE] = 2
    size[(opcode == _ESCAPE) & _MAPS_OF_3[second]] = 3
    for escape, n in ((_VEX2, 3), (_VEX3, 4), (_EVEX, 5)):
        size[opcode == escape] = n
    size[is_xop] = 4
    has = np.where(opcode == _ESCAPE, ~_NO_MODRM_0F[second], _MODRM[opcode])
    has |= is_vector & (_bytes_at(code, opcode_at + size - 1) != _VZERO)
    at = opcode_at + size
    modrm = _bytes_at(code, at)
    mode, register = modrm >> 6, modrm & 7
    has_sib = (mode != 3) & (register == 4)
    no_base = np.where(has_sib, _bytes_at(code, at + 1) & 7, register) == 5
    n_bytes = np.where(mode == 1, 1, np.where((mode == 2) | ((mode == 0) & no_base), 4, 0))
    begin = at + 1 + has_sib
    return np.where(has, begin, 0), np.where(has, begin + n_bytes, 0)
