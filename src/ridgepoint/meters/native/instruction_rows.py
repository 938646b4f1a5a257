"""What a decoder of machine code has to know of one form of an instruction, asked of iced-x86.

A form is what one row of the table in native/copying/instruction_row.h describes: an instruction
with its explicit memory operand or without, in one vector length. Its properties are found by
decoding samples with distinct registers in all fields: what iced says of a register is said of the
field that holds it, and of all others it is said of the register itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from iced_x86 import (
    Code,
    Decoder,
    EncodingKind,
    FlowControl,
    Instruction,
    InstructionInfo,
    InstructionInfoFactory,
    MemorySizeExt,
    Mnemonic,
    OpAccess,
    OpCodeInfo,
    OpKind,
    Register,
    RegisterExt,
    RflagsBits,
)

from ridgepoint.meters.bop_rules import gathered_elements
from ridgepoint.meters.decode import Operation, classify
from ridgepoint.meters.native.instruction_samples import (
    Fields,
    Opcode,
    Space,
    encode,
    prefix_length,
)

READ, WHOLE, CHANGED = 1, 2, 4  # of a register: its value matters, is replaced, may change

_NAMES = {value: name for name, value in vars(Mnemonic).items() if isinstance(value, int)}
_ACCESS = {  # read, changed, changed every time
    OpAccess.NONE: (False, False, False),
    OpAccess.READ: (True, False, False),
    OpAccess.COND_READ: (True, False, False),
    OpAccess.WRITE: (False, True, True),
    OpAccess.COND_WRITE: (False, True, False),
    OpAccess.READ_WRITE: (True, True, True),
    OpAccess.READ_COND_WRITE: (True, True, False),
    OpAccess.NO_MEM_ACCESS: (False, False, False),
}
_FLAGS = (  # in the order of FLAG_* in instruction.h
    RflagsBits.CF,
    RflagsBits.PF,
    RflagsBits.AF,
    RflagsBits.ZF,
    RflagsBits.SF,
    RflagsBits.OF,
    RflagsBits.DF,
)
_ALL_FLAGS = 127
_FLOWS = {
    FlowControl.NEXT: "FLOW_NEXT",
    FlowControl.UNCONDITIONAL_BRANCH: "FLOW_JUMP",
    FlowControl.INDIRECT_BRANCH: "FLOW_INDIRECT_JUMP",
    FlowControl.CONDITIONAL_BRANCH: "FLOW_CONDITIONAL",
    FlowControl.RETURN: "FLOW_RETURN",
    FlowControl.CALL: "FLOW_CALL",
    FlowControl.INDIRECT_CALL: "FLOW_INDIRECT_CALL",
    FlowControl.INTERRUPT: "FLOW_STOP",
    FlowControl.EXCEPTION: "FLOW_STOP",
    FlowControl.XBEGIN_XABORT_XEND: "FLOW_XBEGIN",
}
_STOPPING = frozenset((Mnemonic.HLT, Mnemonic.XABORT, Mnemonic.SYSENTER))
_LIKE_CALLS = frozenset((Mnemonic.SYSCALL, Mnemonic.VMCALL, Mnemonic.VMMCALL))
_WHATS = (
    (re.compile("SYSCALL"), "WHAT_SYSCALL"),
    (re.compile("LDTILECFG|TILERELEASE|XRSTORS?(64)?"), "WHAT_TILES"),
    (re.compile("LEA"), "WHAT_LEA"),
    (re.compile("NOP|RESERVEDNOP"), "WHAT_NOP"),
    (re.compile(r"V?PREFETCH\w*"), "WHAT_PREFETCH"),
    (re.compile("ENDBR(32|64)"), "WHAT_ENDBR"),
)
# Linux keeps all registers but these in a system call, and reads its arguments; R11 holds the
# flags meanwhile, and they come back.
_SYSTEM_CALL = (
    sum(1 << n for n in (0, 7, 6, 2, 10, 8, 9, 4)),
    1 << 1 | 1 << 11,
    1 << 0 | 1 << 1 | 1 << 11,
)
_STACK = frozenset((Register.RSP, Register.RBP))
_CODE_BYTES = {"fp64": 8, "fp32": 4, "fp16": 2, "bf16": 4}

_information = InstructionInfoFactory()


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the table; its fields are those of native/copying/instruction_row.h."""

    flow: str = "FLOW_NEXT"
    what: str = "WHAT_PLAIN"
    flags_read: int = 0
    flags_written: int = 0
    read: int = 0
    written: int = 0
    changed: int = 0
    reg: int = 0
    rm: int = 0
    vvvv: int = 0
    opcode: int = 0
    immediate_bytes: int = 0
    displacement_shift: int = 0
    memory_bytes: int = 0
    memory_access: int = 0
    elements: int = 0
    index_bytes: int = 0
    masked_lanes: int = 0
    implicit_access: int = 0
    implicit_bytes: int = 0
    stack_access: int = 0
    stack_bytes: int = 0
    traits: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """An encoding that was seen to decode to some code, with the ModRM fields that select it."""

    opcode: Opcode
    variant: int
    code: Code
    is_memory: bool
    regs: Sequence[int]
    rms: Sequence[int]
    tail: bytes


def find_row(form: Form) -> Row | None:
    """Return the row of a form; None if iced refuses it with whatever registers."""
    fields = _valid_fields(form)
    if fields is None:
        return None
    probe = _Probe(form, fields)
    return probe.row()


def _valid_fields(form: Form) -> Fields | None:
    """Return fields with which the form is valid, and registers that no instruction implies."""
    reg = 5 if 5 in form.regs else form.regs[-1]
    rm = 6 if 6 in form.rms else form.rms[-1]
    shape = Fields(mod=3, reg=reg, rm=rm, tail=form.tail)
    if form.is_memory:
        shape = replace(shape, mod=0, rm=4, x=1)
    legacy = form.opcode.space is Space.LEGACY
    evex = form.opcode.space is Space.EVEX
    for vvvv in (0,) if legacy else (10, 2, 0):
        for mask in (1, 0) if evex else (0,):
            for r, b in ((1, 1), (0, 1), (1, 0), (0, 0)):
                fields = replace(shape, r=r, b=b, vvvv=vvvv, mask=mask)
                if _decode(form, fields).code == form.code:
                    return fields
    return None


def _decode(form: Form, fields: Fields) -> Instruction:
    return Decoder(64, encode(form.opcode, form.variant, fields)).decode()


@dataclass(frozen=True, slots=True)
class _Probe:
    """A form, and fields with which it is valid."""

    form: Form
    fields: Fields

    def row(self) -> Row:
        form, fields = self.form, self.fields
        instruction = _decode(form, fields)
        info = _information.info(instruction)
        has_modrm, immediate = self._layout(instruction)
        has_moffs = any(kind == OpKind.MEMORY for kind in _kinds(instruction)) and not has_modrm
        has_moffs &= instruction.mnemonic == Mnemonic.MOV
        has_memory = form.is_memory and has_modrm and OpKind.MEMORY in _kinds(instruction)
        operation = classify(instruction)
        assert operation is not None
        row = self._registers(instruction, info, has_modrm=has_modrm, has_memory=has_memory)
        row = replace(
            row,
            flow=_flow(instruction),
            what=_what(instruction),
            immediate_bytes=immediate,
            masked_lanes=_masked_lanes(instruction, operation),
            **_implicit(instruction, info, operation, has_memory or has_moffs),
        )
        traits = set(row.traits)
        if has_modrm:
            traits.add("HAS_MODRM")
            if form.is_memory and not has_memory:
                traits.add("IGNORES_MOD")
        if has_moffs:
            traits.add("HAS_MOFFS")
        if has_memory or has_moffs:
            row = replace(row, **self._memory(instruction, info, operation))
        if has_memory:
            traits |= self._address_traits(instruction)
        if instruction.rflags_modified:
            if self._flags_after(bytes(12)) != instruction.rflags_modified:
                traits.add("COUNTS_BITS")
            # Rotating 8 or 16 bits and the carry by a multiple of 9 or 17 changes nothing.
            if not all(self._flags_after(bytes((count,)) * 12) for count in (9, 17)):
                row = replace(row, flags_written=0)
        traits |= self._refusals(has_modrm=has_modrm, has_memory=has_memory)
        return _overruled(replace(row, traits=frozenset(traits)), instruction)

    def _layout(self, instruction: Instruction) -> tuple[bool, int]:
        """Return whether there is a ModRM byte, and the bytes of immediates."""
        form, fields = self.form, self.fields
        code = encode(form.opcode, form.variant, fields)
        rest = instruction.len - prefix_length(form.opcode, form.variant, fields)
        if form.opcode.space is Space.LEGACY:
            decoder = Decoder(64, code)
            offsets = decoder.get_constant_offsets(decoder.decode())
            immediate = offsets.immediate_size + offsets.immediate_size2
            if rest in (immediate, offsets.displacement_size):
                return False, immediate
        elif rest == 0:
            return False, 0
        has_sib = form.is_memory and OpKind.MEMORY in _kinds(instruction)
        return True, rest - 1 - has_sib

    def _registers(
        self, instruction: Instruction, info: InstructionInfo, *, has_modrm: bool, has_memory: bool
    ) -> Row:
        """Return a row with the roles of registers and masks."""
        fields = self.fields
        numbers: dict[int, str] = {}
        if has_modrm:
            if len(self.form.regs) > 1:
                numbers[8 * fields.r + fields.reg] = "reg"
            if not has_memory and (len(self.form.rms) > 1 or self.form.is_memory):
                numbers[8 * fields.b + fields.rm] = "rm"
        else:
            numbers[8 * fields.b + (self.form.opcode.byte & 7)] = "opcode"
        if fields.vvvv:
            numbers[fields.vvvv] = "vvvv"
        # Only extended numbers are sure to be meant by a field.
        numbers = {number: name for number, name in numbers.items() if number >= 8}
        address = {8 + fields.base, 8 + fields.index} if has_memory else set()
        roles: dict[str, int] = {}
        implied = {READ: 0, WHOLE: 0, CHANGED: 0}
        traits = set()
        reads_address = False
        for used in info.used_registers():
            register = used.register
            access = _register_access(register, used.access)
            if RegisterExt.is_k(register) and access & CHANGED:
                traits.add(self._mask_trait(register - Register.K0))
            if not RegisterExt.is_gpr(register):
                continue
            number = RegisterExt.number(RegisterExt.full_register(register))
            if number in address:
                reads_address = True
            elif number in numbers:
                roles[numbers[number]] = roles.get(numbers[number], 0) | access
            else:
                for kind in implied:
                    implied[kind] |= (access & kind != 0) << number
        if has_memory and not reads_address:
            traits.add("ADDRESS_UNREAD")
        traits |= _byte_traits(instruction, numbers)
        if roles.get("reg", 0) & READ and roles.get("rm", 0) & READ and self._same_is_unread():
            traits.add("SAME_UNREAD")
        return Row(
            flags_read=_flags(instruction.rflags_read),
            flags_written=_flags(instruction.rflags_modified),
            read=implied[READ],
            written=implied[WHOLE],
            changed=implied[CHANGED],
            traits=frozenset(traits),
            **roles,
        )

    def _mask_trait(self, number: int) -> str:
        if number == self.fields.mask:
            return "CHANGES_MASK"
        return "CHANGES_K" if number == self.fields.reg else "CHANGES_K_PAIR"

    def _same_is_unread(self) -> bool:
        """Whether the value does not matter where both registers are the same, as of XOR."""
        fields = replace(self.fields, rm=self.fields.reg, b=self.fields.r)
        instruction = _decode(self.form, fields)
        number = 8 * fields.r + fields.reg
        return instruction.code == self.form.code and not any(
            RegisterExt.number(RegisterExt.full_register(used.register)) == number
            and _register_access(used.register, used.access) & READ
            for used in _information.info(instruction).used_registers()
            if RegisterExt.is_gpr(used.register)
        )

    def _memory(
        self, instruction: Instruction, info: InstructionInfo, operation: Operation
    ) -> dict[str, int]:
        """Return what the explicit memory operand is for."""
        operand = _kinds(instruction).index(OpKind.MEMORY)
        reads, writes, _ = _ACCESS[info.op_access(operand)]
        reads &= operation.is_load
        writes &= operation.is_store
        size = MemorySizeExt.size(instruction.memory_size)
        if (reads or writes) and not size:
            size = max(operation.load_bytes, operation.store_bytes)
        found = {
            "memory_access": reads | writes << 1 | (4 if operation.non_temporal else 0),
            "memory_bytes": size,
        }
        if instruction.is_vsib:
            found["elements"] = gathered_elements(instruction)
            found["index_bytes"] = 4 if instruction.is_vsib32 else 8
        if self.form.opcode.space is Space.EVEX:
            near = _decode(self.form, replace(self.fields, mod=1, tail=b"\1" + self.fields.tail))
            found["displacement_shift"] = near.memory_displacement.bit_length() - 1
        return found

    def _address_traits(self, instruction: Instruction) -> set[str]:
        traits = set()
        if instruction.is_vsib:
            traits.add("HAS_VSIB")
        no_sib = replace(self.fields, rm=2)
        if not self._is_valid(no_sib):
            traits.add("NEEDS_SIB")
        elif not self._is_valid(replace(self.fields, rm=5)):
            traits.add("REFUSES_RIP")
        if not self._is_valid(replace(self.fields, address32=True)):
            traits.add("REFUSES_ADDRESS32")
        return traits

    def _flags_after(self, tail: bytes) -> int:
        return _decode(self.form, replace(self.fields, tail=tail)).rflags_modified

    def _refusals(self, *, has_modrm: bool, has_memory: bool) -> set[str]:
        """Return the fields that must not be used, and those that must."""
        form, fields = self.form, self.fields
        traits = set()
        if has_modrm and not any(self._is_valid(replace(fields, r=1, reg=reg)) for reg in form.regs):
            traits.add("REFUSES_R")
        if has_modrm and not has_memory:
            if not any(self._is_valid(replace(fields, b=1, rm=rm)) for rm in form.rms):
                traits.add("REFUSES_B")
            if not self._is_valid(replace(fields, x=1)):
                traits.add("REFUSES_X")
        if form.opcode.space is Space.LEGACY:
            if not self._is_valid(replace(fields, lock=True)):
                traits.add("REFUSES_LOCK")
            return traits
        if fields.vvvv == 0:
            traits.add("REFUSES_VVVV")
        elif fields.vvvv < 8:
            traits.add("REFUSES_HIGH_VVVV")
        info = OpCodeInfo(form.code)
        if info.requires_unique_reg_nums:
            traits.add("NEEDS_UNIQUE")
        elif info.requires_unique_dest_reg_num:
            traits.add("NEEDS_UNIQUE_TARGET")
        if form.opcode.space is Space.EVEX:
            if not self._is_valid(replace(fields, r2=1)):
                traits.add("REFUSES_R2")
            if not self._is_valid(replace(fields, v2=1)):
                traits.add("REFUSES_V2")
            if fields.mask == 0:
                traits.add("REFUSES_MASK")
            else:
                if not self._is_valid(replace(fields, mask=0)):
                    traits.add("NEEDS_MASK")
                if not self._is_valid(replace(fields, zeroing=True)):
                    traits.add("REFUSES_ZEROING")
        return traits

    def _is_valid(self, fields: Fields) -> bool:
        return _decode(self.form, fields).code == self.form.code


def _kinds(instruction: Instruction) -> list[OpKind]:
    return [instruction.op_kind(operand) for operand in range(instruction.op_count)]


def _register_access(register: Register, access: OpAccess) -> int:
    reads, changes, always = _ACCESS[access]
    # A write of 32 bits clears the upper half.
    whole = always and RegisterExt.size(register) >= 4
    return READ * reads | WHOLE * whole | CHANGED * changes


def _flags(bits: int) -> int:
    return sum(1 << n for n, flag in enumerate(_FLAGS) if bits & flag)


def _byte_traits(instruction: Instruction, numbers: dict[int, str]) -> set[str]:
    """Return which fields hold registers of one byte, where 4 to 7 may mean AH to BH."""
    traits = set()
    if instruction.encoding == EncodingKind.LEGACY:
        for operand, kind in enumerate(_kinds(instruction)):
            register = instruction.op_register(operand)
            if kind == OpKind.REGISTER and RegisterExt.is_gpr8(register):
                number = RegisterExt.number(RegisterExt.full_register(register))
                if number in numbers:
                    traits.add(f"{numbers[number].upper()}_IS_BYTE")
    return traits


def _flow(instruction: Instruction) -> str:
    flow = _FLOWS[instruction.flow_control]
    if instruction.mnemonic in _STOPPING:
        return "FLOW_STOP"
    if flow in ("FLOW_INDIRECT_JUMP", "FLOW_INDIRECT_CALL") and (
        instruction.is_jmp_far_indirect or instruction.is_call_far_indirect
    ):
        return "FLOW_STOP"
    if flow == "FLOW_CALL" and instruction.mnemonic != Mnemonic.CALL:
        return "FLOW_NEXT"
    if flow == "FLOW_CONDITIONAL" and not (
        instruction.is_jcc_short_or_near
    ):
        return "FLOW_LOOP"
    if flow == "FLOW_XBEGIN" and instruction.mnemonic != Mnemonic.XBEGIN:
        return "FLOW_NEXT"
    return flow


def _what(instruction: Instruction) -> str:
    if instruction.is_string_instruction and _repeats(instruction):
        return "WHAT_REPEATED"
    name = _NAMES[instruction.mnemonic]
    return next((what for pattern, what in _WHATS if pattern.fullmatch(name)), "WHAT_PLAIN")


def _repeats(instruction: Instruction) -> bool:
    return instruction.has_rep_prefix or instruction.has_repne_prefix


def _masked_lanes(instruction: Instruction, operation: Operation) -> int:
    """Return the lanes of arithmetic that a mask may switch off."""
    if not operation.masked or not operation.flop or operation.precision is None:
        return 0
    # One lane of broadcast memory is one lane of the mask: complex numbers, pairs of bf16.
    size = OpCodeInfo(instruction.code).broadcast_memory_size
    lane_bytes = MemorySizeExt.size(size) or _CODE_BYTES[operation.precision]
    return operation.width_bits // 8 // lane_bytes or 1


def _implicit(
    instruction: Instruction, info: InstructionInfo, operation: Operation, has_memory: bool
) -> dict[str, int]:
    """Return the accesses of other memory than the explicit operand's."""
    found = {"implicit_access": 0, "implicit_bytes": 0, "stack_access": 0, "stack_bytes": 0}
    for used in info.used_memory():
        if has_memory and used.base == instruction.memory_base:
            continue
        reads, writes, _ = _ACCESS[used.access]
        size = MemorySizeExt.size(used.memory_size or instruction.memory_size)
        if used.base in _STACK:
            found["stack_access"] |= reads | writes << 1
            found["stack_bytes"] = size
            continue
        if used.base in (Register.RSI, Register.RDI) and instruction.is_string_instruction:
            found["implicit_access"] |= (
                reads if used.base == Register.RSI else reads << 1 | writes << 2
            )
        else:
            found["implicit_access"] |= 8
        found["implicit_bytes"] = size
    if operation.is_store and not has_memory and not any(found.values()):  # CLZERO
        found["implicit_access"], found["implicit_bytes"] = 8, operation.store_bytes
    return found


def _overruled(row: Row, instruction: Instruction) -> Row:
    """Return the row with what holds in every execution, in a program of Linux."""
    if row.what == "WHAT_SYSCALL":
        read, written, changed = _SYSTEM_CALL
        return replace(
            row, read=read, written=written, changed=changed, flags_read=0, flags_written=0
        )
    if row.flow == "FLOW_STOP":  # a handler of signals sees, and may set, everything
        return replace(
            row, read=65535, changed=65535, written=0, flags_read=_ALL_FLAGS, flags_written=0
        )
    # REP may do nothing, and so may a shift by CL, which is an operand of nothing else.
    last = instruction.op_count - 1
    counts_in_cl = last > 0 and instruction.op_register(last) == Register.CL
    if row.what == "WHAT_REPEATED" or counts_in_cl:
        return replace(row, flags_written=0)
    return row
