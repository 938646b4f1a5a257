"""Forms of instructions: which encodings of one iced-x86 takes, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from iced_x86 import Decoder, Instruction, OpCodeInfo, OpKind

from ridgepoint.meters.native.instruction_samples import (
    Fields,
    Opcode,
    Space,
    encode,
    prefix_length,
)

if TYPE_CHECKING:
    from iced_x86._iced_x86_py import Code as CodeId
    from iced_x86._iced_x86_py import OpKind as OpKindId


@dataclass(frozen=True, kw_only=True)
class Form:
    """An encoding that was seen to decode to some code, with the ModRM fields that select it.

    Parameters
    ----------
    opcode : Opcode
    variant : int
    code : int
        iced's name of the instruction.
    is_memory : bool
        Whether ModRM.mod asks for an operand in memory.
    regs, rms : sequence of int
        The values of ModRM.reg and ModRM.rm with which it is this code.
    tail : bytes
        What stands for displacements and immediates.
    """

    opcode: Opcode
    variant: int
    code: int
    is_memory: bool
    regs: Sequence[int]
    rms: Sequence[int]
    tail: bytes

    @cached_property
    def fields(self) -> Fields | None:
        """Valid fields, with registers that no instruction implies; None if none are valid."""
        shape = Fields(
            mod=0 if self.is_memory else 3,
            reg=5 if 5 in self.regs else self.regs[-1],
            rm=4 if self.is_memory else 6 if 6 in self.rms else self.rms[-1],
            x=int(self.is_memory),
            tail=self.tail,
        )
        legacy, evex = (self.opcode.space is space for space in (Space.LEGACY, Space.EVEX))
        for vvvv in (0,) if legacy else (10, 2, 0):
            for mask in (1, 0) if evex else (0,):
                for r, b in ((1, 1), (0, 1), (1, 0), (0, 0)):
                    fields = shape._replace(r=r, b=b, vvvv=vvvv, mask=mask)
                    if self.takes(fields):
                        return fields
        return None

    def decode(self, fields: Fields) -> Instruction:
        """Return the instruction with these fields."""
        return Decoder(64, encode(self.opcode, self.variant, fields)).decode()

    def takes(self, fields: Fields) -> bool:
        """Whether these fields make it the same instruction."""
        return self.decode(fields).code == self.code


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What follows the opcode of a form.

    Parameters
    ----------
    has_modrm, has_memory : bool
        Whether there is a ModRM byte, and whether it stands for an operand in memory.
    has_moffs : bool
        Whether there is an absolute address instead.
    immediate_bytes : int
    """

    has_modrm: bool = False
    has_memory: bool = False
    has_moffs: bool = False
    immediate_bytes: int = 0


def layout_of(form: Form, fields: Fields, instruction: Instruction) -> Layout:
    """Return what follows the opcode, from what iced says of lengths."""
    in_memory = OpKind.MEMORY in operand_kinds(instruction)
    rest = instruction.len - prefix_length(form.opcode, form.variant, fields)
    if form.opcode.space is Space.LEGACY:
        decoder = Decoder(64, encode(form.opcode, form.variant, fields))
        offsets = decoder.get_constant_offsets(decoder.decode())
        immediate = offsets.immediate_size + offsets.immediate_size2
        if rest == immediate:
            return Layout(immediate_bytes=immediate)
        if in_memory and rest == offsets.displacement_size:
            return Layout(has_moffs=True)
    elif rest == 0:
        return Layout()
    has_sib = form.is_memory and in_memory
    return Layout(has_modrm=True, has_memory=has_sib, immediate_bytes=rest - 1 - has_sib)


def operand_kinds(instruction: Instruction) -> list[OpKindId]:
    """Return the kinds of all operands."""
    return [instruction.op_kind(operand) for operand in range(instruction.op_count)]


def encoding_traits(form: Form, fields: Fields, layout: Layout) -> Iterator[str]:
    """Yield what the encoding has, what it must have, and what is refused in it."""
    if layout.has_moffs:
        yield "HAS_MOFFS"
    if layout.has_modrm:
        yield "HAS_MODRM"
        if form.is_memory and not layout.has_memory:
            yield "IGNORES_MOD"
        yield from _refused_extensions(form, fields, layout)
    if layout.has_memory:
        yield from _refused_addresses(form, fields)
    if form.opcode.space is Space.LEGACY:
        if not form.takes(fields._replace(lock=True)):
            yield "REFUSES_LOCK"
        return
    if fields.vvvv == 0:
        yield "REFUSES_VVVV"
    elif fields.vvvv < 8:
        yield "REFUSES_HIGH_VVVV"
    info = OpCodeInfo(code_id(form.code))
    if info.requires_unique_reg_nums:
        yield "NEEDS_UNIQUE"
    elif info.requires_unique_dest_reg_num:
        yield "NEEDS_UNIQUE_TARGET"
    if form.opcode.space is Space.EVEX:
        yield from _refused_masks(form, fields)


def code_id(code: int) -> CodeId:
    """Return a number as what iced's type hints take for a code."""
    return code  # type: ignore[return-value] # iced's constants are numbers at run time


def _refused_extensions(form: Form, fields: Fields, layout: Layout) -> Iterator[str]:
    if not any(form.takes(fields._replace(r=1, reg=reg)) for reg in form.regs):
        yield "REFUSES_R"
    if not layout.has_memory:
        if not any(form.takes(fields._replace(b=1, rm=rm)) for rm in form.rms):
            yield "REFUSES_B"
        if not form.takes(fields._replace(x=1)):
            yield "REFUSES_X"
    if form.opcode.space is Space.EVEX:
        if not form.takes(fields._replace(r2=1)):
            yield "REFUSES_R2"
        if not form.takes(fields._replace(v2=1)):
            yield "REFUSES_V2"


def _refused_addresses(form: Form, fields: Fields) -> Iterator[str]:
    if not form.takes(fields._replace(rm=2)):
        yield "NEEDS_SIB"
    elif not form.takes(fields._replace(rm=5)):
        yield "REFUSES_RIP"
    if form.decode(fields._replace(address32=True)).is_invalid:
        yield "REFUSES_ADDRESS32"


def _refused_masks(form: Form, fields: Fields) -> Iterator[str]:
    if fields.mask == 0:
        yield "REFUSES_MASK"
        return
    if not form.takes(fields._replace(mask=0)):
        yield "NEEDS_MASK"
    if not form.takes(fields._replace(zeroing=True)):
        yield "REFUSES_ZEROING"
