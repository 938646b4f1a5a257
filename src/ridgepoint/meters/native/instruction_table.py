"""Generate the table of native/copying/instruction.c: ``instruction_table OUT.h`` writes it.

From an instruction's encoding, map, opcode byte and variant (see `instruction_samples`) the table
leads to a *choice*: one row, or rows by what the ModRM byte holds. Opcodes with the same choices
share them, and so do forms that differ in nothing that the decoder tells.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from iced_x86 import (
    Code,
    Decoder,
    DecoderOptions,
    EncodingKind,
    Instruction,
    MandatoryPrefix,
    OpCodeInfo,
    OpCodeTableKind,
)

from ridgepoint.meters.native.instruction_forms import Form, code_id
from ridgepoint.meters.native.instruction_rows import Row, find_row, used_parts
from ridgepoint.meters.native.instruction_samples import (
    Fields,
    Opcode,
    Space,
    encode,
    encode_operands,
    prefix_length,
)

_SPACES = {
    EncodingKind.LEGACY: Space.LEGACY,
    EncodingKind.VEX: Space.VEX,
    EncodingKind.XOP: Space.XOP,
    EncodingKind.EVEX: Space.EVEX,
}
_MAPS = {
    OpCodeTableKind.NORMAL: 0,
    OpCodeTableKind.T0F: 1,
    OpCodeTableKind.T0F38: 2,
    OpCodeTableKind.T0F3A: 3,
    OpCodeTableKind.MAP5: 5,
    OpCodeTableKind.MAP6: 6,
    OpCodeTableKind.MAP8: 8,
    OpCodeTableKind.MAP9: 9,
    OpCodeTableKind.MAP10: 10,
}
_INVALID = int(Code.INVALID)
_MANDATORY = {
    MandatoryPrefix.NONE: 0,
    MandatoryPrefix.PNP: 0,
    MandatoryPrefix.P66: 1,
    MandatoryPrefix.PF3: 2,
    MandatoryPrefix.PF2: 3,
}
_SEGMENT_LOADS = frozenset((Code.MOV_SREG_RM16, Code.MOV_SREG_R32M16, Code.MOV_SREG_R64M16))
# Where each map begins in `opcode_variants`, as instruction.c has it.
_FIRST = {
    **{(Space.LEGACY, n): n for n in range(4)},
    **{(Space.VEX, n): 3 + n for n in (1, 2, 3)},
    **{(Space.EVEX, n): 6 + n for n in (1, 2, 3, 5, 6)},
    **{(Space.XOP, n): 5 + n for n in (8, 9, 10)},
}
_N_MAPS = 16
_PREFIXES = frozenset((0x26, 0x2E, 0x36, 0x3E, 0x64, 0x65, 0x66, 0x67, 0xF0, 0xF2, 0xF3))
_NOT_OPCODES = {
    0: _PREFIXES | frozenset((0x0F, 0x62, 0xC4, 0xC5)) | frozenset(range(0x40, 0x50)),
    1: frozenset((0x38, 0x3A)),
}
_3DNOW = Opcode(Space.LEGACY, 1, 0x0F)
_PFADD = b"\x9e" * 16
_THREES = b"\x03" * 16  # as immediates: neither 0 nor 1, which are special
_TAILS = {
    _3DNOW: _PFADD,
    Opcode(Space.LEGACY, 0, 0xC8): bytes(16),  # ENTER, nested not at all as in all programs
}

# The forms of an instruction: eight in memory, by ModRM.reg, and 64 of registers, by reg and rm.
_FORMS = (
    *((True, reg, 4) for reg in range(8)),
    *((False, reg, rm) for reg in range(8) for rm in range(8)),
)
_SUFFIXES, _3DNOW_SUFFIXES = (
    [
        encode_operands(Fields(mod=0 if is_memory else 3, reg=reg, rm=rm, tail=tail)).ljust(18)
        for is_memory, reg, rm in _FORMS
    ]
    for tail in (bytes(16), _PFADD)
)

_ONE, _TWO, _SIXTEEN, _ALL = range(4)  # kinds of choices, in the two highest bits
_KIND_SHIFT = 14


class _Likeness(NamedTuple):
    """What forms of one opcode have in common that share a row."""

    code: int
    is_memory: bool
    segment: int  # that is loaded: GS is not like the others


class _Lists:
    """Lists of numbers, each kept once."""

    def __init__(self) -> None:
        self.items: dict[tuple[int, ...], int] = {}

    def index(self, numbers: Sequence[int]) -> int:
        return self.items.setdefault(tuple(numbers), len(self.items))


class Table:
    """All that is known, built by asking iced."""

    def __init__(self) -> None:
        self.rows: dict[Row | None, int] = {None: 0}
        self.choices = {kind: _Lists() for kind in (_TWO, _SIXTEEN, _ALL)}
        self.variants: list[int] = [0] * 64
        self.first_variant: dict[tuple[int, ...], int] = {(0,) * 64: 0}
        self.opcodes = [0] * (256 * _N_MAPS)
        self._known: dict[tuple[_Likeness, int], int] = {}
        for opcode, prefixes in _opcodes().items():
            self._add(opcode, prefixes)
        self.now3d = _now3d_suffixes()

    def _add(self, opcode: Opcode, prefixes: frozenset[int]) -> None:
        found = tuple(
            self._choice(opcode, variant) if variant & 3 in prefixes else 0
            for variant in range(opcode.space.n_variants)
        )
        if any(found):
            at = self.first_variant.get(found)
            if at is None:
                at = self.first_variant[found] = len(self.variants)
                self.variants.extend(found)
            self.opcodes[256 * _FIRST[opcode.space, opcode.map] + opcode.byte] = at

    def _choice(self, opcode: Opcode, variant: int) -> int:
        """Return the number of what an opcode's ModRM byte chooses from."""
        codes = _codes(opcode, variant)
        if not any(codes):
            return 0
        alike: dict[tuple[int, bool, int], list[int]] = {}
        for n, code in enumerate(codes):
            if code != _INVALID:
                segment = _FORMS[n][1] if code in _SEGMENT_LOADS else 0
                alike.setdefault((code, n < 8, segment), []).append(n)
        rows = [0] * len(_FORMS)
        for likeness, numbers in alike.items():
            row = self._row(opcode, variant, _Likeness(*likeness), numbers)
            for n in numbers:
                rows[n] = row
        return self._choose(rows)

    def _row(self, opcode: Opcode, variant: int, likeness: _Likeness, numbers: list[int]) -> int:
        # A prefix that repeats, and the bits b and L'L of EVEX, matter to one and the same code.
        rest = variant >> 3 if opcode.space is Space.EVEX else 0
        if opcode.space is Space.LEGACY:
            rest = int(variant >= 4)
        key = (likeness, rest)
        if key not in self._known:
            form = Form(
                opcode=opcode,
                variant=variant,
                code=likeness.code,
                is_memory=likeness.is_memory,
                regs=sorted({_FORMS[n][1] for n in numbers}),
                rms=sorted({_FORMS[n][2] for n in numbers}),
                tail=_TAILS.get(opcode, _THREES),
            )
            row = find_row(form)
            self._known[key] = self.rows.setdefault(row, len(self.rows))
        return self._known[key]

    def _choose(self, rows: list[int]) -> int:
        memory, registers = rows[:8], rows[8:]
        first_of_reg = registers[::8]
        if any(row != first_of_reg[n // 8] for n, row in enumerate(registers)):
            kind, numbers = _ALL, rows
        elif len({*memory}) > 1 or len({*first_of_reg}) > 1:
            kind, numbers = _SIXTEEN, [*memory, *first_of_reg]
        elif memory[0] != registers[0]:
            kind, numbers = _TWO, [memory[0], registers[0]]
        else:
            return rows[0]
        return kind << _KIND_SHIFT | self.choices[kind].index(numbers)


def _opcodes() -> dict[Opcode, frozenset[int]]:
    """Return the opcodes that any instruction of 64-bit code may have, and with what variant & 3.

    That is the mandatory prefix, but of legacy instructions, which are not in order there.
    """
    found = {
        Opcode(Space.LEGACY, map_, byte): frozenset(range(4))
        for map_ in (0, 1)
        for byte in range(256)
        if byte not in _NOT_OPCODES[map_]
    }
    for name, code in vars(Code).items():
        if name.startswith("_") or not isinstance(code, int):
            continue
        info = OpCodeInfo(code_id(code))
        if info.is_instruction and info.mode64 and info.encoding in _SPACES:
            space, map_ = _SPACES[info.encoding], _MAPS[info.table]
            if (space, map_) in _FIRST and (space is not Space.LEGACY or map_ > 1):
                opcode = Opcode(space, map_, info.op_code >> 8 * (info.op_code_len - 1))
                legacy = space is Space.LEGACY
                prefixes = range(4) if legacy else (_MANDATORY[info.mandatory_prefix],)
                found[opcode] = found.get(opcode, frozenset()).union(prefixes)
    return found


def _codes(opcode: Opcode, variant: int) -> list[int]:
    """Return iced's code of each form of an opcode."""
    head = encode(opcode, variant, Fields())[: prefix_length(opcode, variant, Fields())]
    # What VEX and its kin refuse depends on registers, which `find_row` chooses.
    checks = opcode.space is Space.LEGACY
    options = DecoderOptions.NONE if checks else DecoderOptions.NO_INVALID_CHECK
    suffixes = _3DNOW_SUFFIXES if opcode == _3DNOW else _SUFFIXES
    decoder = Decoder(64, head + head.join(suffixes), options)
    stride = len(head) + len(suffixes[0])
    instruction = Instruction()
    codes: list[int] = []
    for n in range(len(_FORMS)):
        decoder.position = n * stride
        decoder.decode_out(instruction)
        codes.append(instruction.code)
    return codes


def _now3d_suffixes() -> list[int]:
    """Return the last bytes of the instructions of 3DNow!."""
    samples = (Decoder(64, bytes((0x0F, 0x0F, 0xC0, suffix))) for suffix in range(256))
    return [suffix for suffix, sample in enumerate(samples) if not sample.decode().is_invalid]


def text(table: Table) -> str:
    """Return the header: arrays of what native/copying/instruction_row.h declares."""
    lines = [
        "/* SPDX-License-Identifier: Apache-2.0 */",
        "/* Generated by ridgepoint.meters.native.instruction_table. */",
        "static const Row rows[] = {",
    ]
    lines += (f"    {{{_initializers(row)}}}," for row in table.rows)
    lines.append("};")
    lines += _array("uint16_t", "opcode_variants", table.opcodes)
    lines += _array("uint16_t", "variant_choices", table.variants)
    for kind, name, width in (
        (_TWO, "choices_by_mod", 2),
        (_SIXTEEN, "choices_by_reg", 16),
        (_ALL, "choices_by_all", 72),
    ):
        numbers = [number for choice in table.choices[kind].items for number in choice]
        lines += _array("uint16_t", f"{name}", numbers, width)
    lines += _array("uint8_t", "now3d_suffixes", table.now3d)
    return "\n".join(lines) + "\n"


def _initializers(row: Row | None) -> str:
    """Return designated initializers of all that is not 0; of no row, that it is invalid."""
    if row is None:
        return ".traits = INVALID"
    return ", ".join(
        f".{name} = {' | '.join(sorted(value)) if isinstance(value, frozenset) else value}"
        for name, value in used_parts(row)
    )


def _array(kind: str, name: str, numbers: Sequence[int], width: int | None = None) -> list[str]:
    bounds = f"[][{width}]" if width else "[]"
    per_line = width or 16
    lines = [f"static const {kind} {name}{bounds} = {{"]
    for at in range(0, len(numbers), per_line):
        line = ",".join(map(str, numbers[at : at + per_line]))
        lines.append(f"{{{line}}}," if width else f"{line},")
    lines.append("};")
    return lines


def main(arguments: Sequence[str]) -> None:
    """Write the header to the file that is named."""
    (path,) = arguments
    Path(path).write_text(text(Table()))


if __name__ == "__main__":
    main(sys.argv[1:])
