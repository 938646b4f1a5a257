"""What a decoder of machine code has to know of one form of an instruction, asked of iced-x86.

A form is what one row of the table in native/copying/instruction_row.h describes: an instruction
with its explicit memory operand or without, in one vector length. Its properties are found by
decoding samples with distinct registers in all fields: what iced says of a register is said of the
field that holds it, and of all others it is said of the register itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from iced_x86 import (
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
from ridgepoint.meters.native.instruction_forms import (
    Form,
    Layout,
    encoding_traits,
    layout_of,
    operand_kinds,
)
from ridgepoint.meters.native.instruction_samples import Fields, Space

if TYPE_CHECKING:
    from iced_x86._iced_x86_py import OpAccess as OpAccessId
    from iced_x86._iced_x86_py import Register as RegisterId

READ, WHOLE, CHANGED = 1, 2, 4  # ROLE_*: its value matters, all of it is replaced, it may change

_NAMES = {value: name for name, value in vars(Mnemonic).items() if isinstance(value, int)}
_ACCESS = {  # read, may change, changes every time
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
_ALL_REGISTERS = 65535
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
    FlowControl.XBEGIN_XABORT_XEND: "FLOW_NEXT",
}
_FLOWS_BY_NAME = {
    "HLT": "FLOW_STOP",
    "XABORT": "FLOW_STOP",
    "SYSENTER": "FLOW_STOP",
    "XBEGIN": "FLOW_XBEGIN",
}
_WHATS = (
    (re.compile("SYSCALL"), "WHAT_SYSCALL"),
    (re.compile("LDTILECFG|TILERELEASE|XRSTORS?(64)?"), "WHAT_TILES"),
    (re.compile("LEA"), "WHAT_LEA"),
    (re.compile("NOP|RESERVEDNOP"), "WHAT_NOP"),
    (re.compile(r"V?PREFETCH\w*"), "WHAT_PREFETCH"),
    (re.compile("ENDBR(32|64)"), "WHAT_ENDBR"),
    (re.compile("(RD|WR)GSBASE|SWAPGS"), "WHAT_GS"),
)
_STACK = frozenset((Register.RSP, Register.RBP))
_LANE_BYTES = {"fp64": 8, "fp32": 4, "fp16": 2, "bf16": 4}

_information = InstructionInfoFactory()


@dataclass(frozen=True, slots=True, kw_only=True)
class Registers:
    """General registers that no field names: bit n is register n of the encoding."""

    read: int = 0
    written: int = 0
    changed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """What becomes of the registers that fields name: sums of READ, WHOLE, CHANGED."""

    reg: int = 0
    rm: int = 0
    vvvv: int = 0
    opcode: int = 0


@dataclass(frozen=True, slots=True)
class Access:
    """An access of memory: of which kind, as instruction_row.h numbers them, and how wide."""

    access: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """What an explicit operand in memory is like, beside its access."""

    elements: int = 0
    index_bytes: int = 0
    displacement_shift: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the table; fields, those of parts included, are those of instruction_row.h.

    Those of an `Access` begin with the name that it has here.
    """

    flow: str = "FLOW_NEXT"
    what: str = "WHAT_PLAIN"
    flags_read: int = 0
    flags_written: int = 0
    immediate_bytes: int = 0
    masked_lanes: int = 0
    registers: Registers = field(default_factory=Registers)
    roles: Roles = field(default_factory=Roles)
    operand: Operand = field(default_factory=Operand)
    memory: Access = field(default_factory=Access)
    implicit: Access = field(default_factory=Access)
    stack: Access = field(default_factory=Access)
    traits: frozenset[str] = frozenset()


# Linux keeps all registers but these in a system call, and reads its arguments and RSP; R11
# holds the flags meanwhile, and they come back.
_SYSTEM_CALL = Registers(
    read=sum(1 << n for n in (0, 7, 6, 2, 10, 8, 9, 4)),
    written=1 << 1 | 1 << 11,
    changed=1 << 0 | 1 << 1 | 1 << 11,
)


def find_row(form: Form) -> Row | None:
    """Return the row of a form; None if iced refuses it with whatever registers."""
    fields = form.fields
    if fields is None:
        return None
    instruction = form.decode(fields)
    info = _information.info(instruction)
    operation = classify(instruction)
    assert operation is not None
    layout = layout_of(form, fields, instruction)
    registers, roles, traits = _registers(form, fields, layout, instruction, info)
    operand, memory = Operand(), Access()
    if has_operand := layout.has_memory or layout.has_moffs:
        operand, memory = _memory(form, fields, instruction, info, operation)
    implicit, stack = _implicit(instruction, info, operation, has_operand=has_operand)
    row = Row(
        flow=_flow(instruction),
        what=_what(instruction, info),
        flags_read=_flags(instruction.rflags_read),
        flags_written=_flags(instruction.rflags_modified),
        immediate_bytes=layout.immediate_bytes,
        masked_lanes=_masked_lanes(instruction, operation),
        registers=registers,
        roles=roles,
        operand=operand,
        memory=memory,
        implicit=implicit,
        stack=stack,
        traits=frozenset((*traits, *encoding_traits(form, fields, layout))),
    )
    row = _with_counts_of_bits(row, form, fields, instruction)
    return _overruled(row, instruction)


# ---- registers and flags ----


def _registers(
    form: Form, fields: Fields, layout: Layout, instruction: Instruction, info: InstructionInfo
) -> tuple[Registers, Roles, set[str]]:
    """Return what becomes of general registers, and traits that concern registers."""
    numbers = _numbers(form, fields, layout)
    address = {8 + fields.sib_base, 8 + fields.sib_index} if layout.has_memory else set()
    roles = dict.fromkeys(("reg", "rm", "vvvv", "opcode"), 0)
    implied = {READ: 0, WHOLE: 0, CHANGED: 0}
    traits = {"ADDRESS_UNREAD"} if layout.has_memory else set()
    if instruction.is_vsib:
        traits.add("HAS_VSIB")
    for used in info.used_registers():
        access = _register_access(used.register, used.access)
        if RegisterExt.is_k(used.register) and access & CHANGED:
            traits.add(_mask_trait(fields, used.register - Register.K0))
        if not RegisterExt.is_gpr(used.register):
            continue
        number = _number(used.register)
        if number in address:
            traits.discard("ADDRESS_UNREAD")
        elif number in numbers:
            roles[numbers[number]] |= access
        else:
            for kind in implied:
                implied[kind] |= (access & kind != 0) << number
    traits |= _byte_traits(instruction, numbers)
    if roles["reg"] & roles["rm"] & READ and _same_is_unread(form, fields):
        traits.add("SAME_UNREAD")
    registers = Registers(read=implied[READ], written=implied[WHOLE], changed=implied[CHANGED])
    return registers, Roles(**roles), traits


def _numbers(form: Form, fields: Fields, layout: Layout) -> dict[int, str]:
    """Return which general registers are meant by which field.

    Only extended numbers are: those below 8 may as well be implied.
    """
    numbers: dict[int, str] = {}
    if not layout.has_modrm:
        numbers[8 * fields.b + (form.opcode.byte & 7)] = "opcode"
    else:
        if len(form.regs) > 1:
            numbers[8 * fields.r + fields.reg] = "reg"
        # What ignores ModRM.mod has all registers in the forms of memory too.
        if not layout.has_memory and (len(form.rms) > 1 or form.is_memory):
            numbers[8 * fields.b + fields.rm] = "rm"
    if fields.vvvv:
        numbers[fields.vvvv] = "vvvv"
    return {number: name for number, name in numbers.items() if number >= 8}


def _number(register: RegisterId) -> int:
    return RegisterExt.number(RegisterExt.full_register(register))


def _register_access(register: RegisterId, access: OpAccessId) -> int:
    reads, changes, always = _ACCESS[access]
    # A write of 32 bits clears the upper half.
    whole = always and RegisterExt.size(register) >= 4
    return READ * reads | WHOLE * whole | CHANGED * changes


def _mask_trait(fields: Fields, number: int) -> str:
    if number == fields.mask:
        return "CHANGES_MASK"
    return "CHANGES_K" if number == fields.reg else "CHANGES_K_PAIR"


def _byte_traits(instruction: Instruction, numbers: dict[int, str]) -> set[str]:
    """Return which fields hold registers of one byte, where 4 to 7 may mean AH to BH."""
    if instruction.encoding != EncodingKind.LEGACY:
        return set()
    registers = (
        instruction.op_register(operand)
        for operand, kind in enumerate(operand_kinds(instruction))
        if kind == OpKind.REGISTER
    )
    named = (_number(register) for register in registers if RegisterExt.is_gpr8(register))
    return {f"{numbers[number].upper()}_IS_BYTE" for number in named if number in numbers}


def _same_is_unread(form: Form, fields: Fields) -> bool:
    """Whether values do not matter where both registers are the same, as of XOR."""
    instruction = form.decode(fields._replace(rm=fields.reg, b=fields.r))
    return instruction.code == form.code and not any(
        _number(used.register) == 8 * fields.r + fields.reg
        and _register_access(used.register, used.access) & READ
        for used in _information.info(instruction).used_registers()
        if RegisterExt.is_gpr(used.register)
    )


def _flags(bits: int) -> int:
    return sum(1 << n for n, flag in enumerate(_FLAGS) if bits & flag)


def _with_counts_of_bits(row: Row, form: Form, fields: Fields, instruction: Instruction) -> Row:
    """Return the row with what shifts and rotates by nothing do to flags."""

    def flags_after(count: int) -> int:
        return form.decode(fields._replace(tail=bytes((count,)) * 12)).rflags_modified

    changed = instruction.rflags_modified
    if not changed or layout_of(form, fields, instruction).immediate_bytes != 1:
        return row
    # Rotating 8 or 16 bits with the carry by a multiple of 9 or 17 leaves all as it is.
    if not all(flags_after(count) for count in (9, 17)):
        return replace(row, flags_written=0)
    if flags_after(0) != changed:
        return replace(row, traits=row.traits | {"COUNTS_BITS"})
    return row


# ---- memory ----


def _memory(
    form: Form,
    fields: Fields,
    instruction: Instruction,
    info: InstructionInfo,
    operation: Operation,
) -> tuple[Operand, Access]:
    """Return what the explicit memory operand is for."""
    number = operand_kinds(instruction).index(OpKind.MEMORY)
    reads, writes, _ = _ACCESS[info.op_access(number)]
    reads &= operation.is_load
    writes &= operation.is_store
    size = MemorySizeExt.size(instruction.memory_size)
    if (reads or writes) and not size:
        size = max(operation.load_bytes, operation.store_bytes)
    shift = 0
    if form.opcode.space is Space.EVEX:
        near = form.decode(fields._replace(mod=1, tail=b"\1" + fields.tail))
        shift = near.memory_displacement.bit_length() - 1
    operand = Operand(
        elements=gathered_elements(instruction) if instruction.is_vsib else 0,
        index_bytes=(4 if instruction.is_vsib32 else 8) if instruction.is_vsib else 0,
        displacement_shift=shift,
    )
    return operand, Access(reads | writes << 1 | operation.non_temporal << 2, size)


def _implicit(
    instruction: Instruction, info: InstructionInfo, operation: Operation, *, has_operand: bool
) -> tuple[Access, Access]:
    """Return accesses of other memory than the explicit operand's, and those of the stack."""
    access = size = stack_access = stack_bytes = 0
    for used in info.used_memory():
        if has_operand and used.base == instruction.memory_base:
            continue
        reads, writes, _ = _ACCESS[used.access]
        used_bytes = MemorySizeExt.size(used.memory_size or instruction.memory_size)
        if used.base in _STACK:
            stack_access |= reads | writes << 1
            stack_bytes = used_bytes
            continue
        size = used_bytes
        if not instruction.is_string_instruction:
            access |= 8
        elif used.base == Register.RSI:
            access |= int(reads)
        else:
            access |= reads << 1 | writes << 2
    if instruction.mnemonic == Mnemonic.CLZERO:  # which iced does not list as a store
        access, size = 8, operation.store_bytes
    return Access(access, size), Access(stack_access, stack_bytes)


# ---- the rest ----


def _flow(instruction: Instruction) -> str:
    name = _NAMES[instruction.mnemonic]
    if name in _FLOWS_BY_NAME:
        return _FLOWS_BY_NAME[name]
    if instruction.is_jmp_far_indirect or instruction.is_call_far_indirect:
        return "FLOW_STOP"
    flow = _FLOWS[instruction.flow_control]
    if flow == "FLOW_CALL" and name != "CALL":  # system calls
        return "FLOW_NEXT"
    if flow == "FLOW_CONDITIONAL" and not instruction.is_jcc_short_or_near:
        return "FLOW_LOOP"
    return flow


def _what(instruction: Instruction, info: InstructionInfo) -> str:
    if instruction.is_string_instruction and (
        instruction.has_rep_prefix or instruction.has_repne_prefix
    ):
        return "WHAT_REPEATED"
    name = _NAMES[instruction.mnemonic]
    if any(
        used.register == Register.GS and _ACCESS[used.access][1] for used in info.used_registers()
    ):
        return "WHAT_GS"
    return next((what for pattern, what in _WHATS if pattern.fullmatch(name)), "WHAT_PLAIN")


def _masked_lanes(instruction: Instruction, operation: Operation) -> int:
    """Return the lanes of arithmetic that a mask may switch off."""
    if not operation.masked or not operation.flop or operation.precision is None:
        return 0
    # One lane of broadcast memory is one lane of the mask: complex numbers, pairs of bf16.
    broadcast = OpCodeInfo(instruction.code).broadcast_memory_size
    lane_bytes = MemorySizeExt.size(broadcast) or _LANE_BYTES[operation.precision]
    return operation.width_bits // 8 // lane_bytes or 1


def _overruled(row: Row, instruction: Instruction) -> Row:
    """Return the row with what holds in every execution, in a program of Linux."""
    if row.what == "WHAT_SYSCALL":
        return replace(row, registers=_SYSTEM_CALL, flags_read=0, flags_written=0)
    if row.flow == "FLOW_STOP":  # a handler of signals sees, and may set, everything
        everything = Registers(read=_ALL_REGISTERS, changed=_ALL_REGISTERS)
        return replace(row, registers=everything, flags_read=_ALL_FLAGS, flags_written=0)
    # REP may do nothing, and so may a shift by CL, which is an operand of nothing else.
    last = instruction.op_count - 1
    counts_in_cl = last > 0 and instruction.op_register(last) == Register.CL
    if row.what == "WHAT_REPEATED" or counts_in_cl:
        return replace(row, flags_written=0)
    return row


def used_parts(row: Row) -> Iterator[tuple[str, int | str | frozenset[str]]]:
    """Yield name and value of all that is not as in an empty row, parts included."""
    empty = Row()
    yield from _used(row, empty)
    for part in ("registers", "roles", "operand"):
        yield from _used(getattr(row, part), getattr(empty, part))
    for part in ("memory", "implicit", "stack"):
        for name, value in _used(getattr(row, part), Access()):
            yield f"{part}_{name}", value


def _used(
    whole: Row | Registers | Roles | Operand | Access, nothing: object
) -> Iterator[tuple[str, int | str | frozenset[str]]]:
    for name in whole.__slots__:
        value = getattr(whole, name)
        if isinstance(value, int | str | frozenset) and value != getattr(nothing, name):
            yield name, value
