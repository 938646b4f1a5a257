"""What one x86-64 instruction does: flop, loads, stores, branches.

The counting rules, all of them (those of basic operations are in `ridgepoint.meters.bop_rules`):

- A fused multiply-add is 2 flop per lane (FMA3, FMA4, AVX-512). The four chained ones of
  V4FMADDPS are 8.
- Add, subtract, multiply, divide, square root, the approximations of reciprocal and reciprocal
  square root, 2**x of AVX-512ER, ADDSUB and the horizontal adds and subtracts are 1 flop per
  lane *of the result*; a scalar instruction has one lane.
- A dot product (DPPS, DPPD) of n factors, as its immediate selects them, is n multiplications
  and n - 1 additions in each 128-bit half.
- VDPBF16PS is two multiply-adds, 4 flop, per fp32 lane, and its precision is bf16.
- Complex fp16: a product is 6 flop, a multiply-add 8, per complex lane of 32 bit.
- x87 arithmetic, FSQRT, the remainders and the transcendental functions are 1 flop, fp80;
  FCHS, FABS, FRNDINT, FSCALE, FXTRACT, compares, loads and stores are 0.
- Compare, min, max, absolute value, negate, round, scale, convert, move, shuffle and logic are 0.
- A product of AMX tiles is 4 flop of bf16 or fp16 per number of 32 bit of its sum and row of its
  right factor, and none of int8. How large the tiles are is set at run time: where that is not
  known, AMX is *not countable*, and 3DNow! never is: flop is None. Loads and stores of tiles move
  all rows of the tile.
- A lane under an AVX-512 mask counts as executed, whether its bit is on or off: the work W is
  what the unit was kept busy with, and what its roof bounds. `masked` says that a mask was there.
  A meter that sees masks where they are used tells, beside W, the useful flop: those of the lanes
  whose bits were on.
- An instruction that reads memory is one load and one that writes memory is one store, however
  many bytes it moves; one instruction may be both. Bytes count in full, as if no mask bit were
  off, gathers and scatters with all their elements. Stack accesses of PUSH, CALL, RET count.
  LEA, NOP, prefetches and cache control move nothing.
- A string instruction with a REP prefix is one instruction, one load and one store at most, as
  hardware counts it, and its bytes count in every iteration: `Operation` holds those of one.
  callgrind cannot tell: there every iteration counts as an instruction, with its load and
  store, and so does the check after the last, which moves nothing.
- XSAVE, XRSTOR and their kin count the 576 bytes that they move at least; how much more depends
  on run-time state.
- A branch is a jump (conditional or not), call, return or loop; a system call is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from iced_x86 import (
    CpuidFeature,
    Decoder,
    EncodingKind,
    FlowControl,
    Instruction,
    InstructionInfoFactory,
    MemorySizeExt,
    Mnemonic,
    OpAccess,
    OpKind,
    Register,
    RegisterExt,
)

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.meters.bop_rules import NOTHING, basic_operations, form_of, gathered_elements

if TYPE_CHECKING:
    from iced_x86._iced_x86_py import Register as RegisterId

    from ridgepoint.kernels.tiles import TileConfiguration

MAX_INSTRUCTION_BYTES = 15

_NAMES = {value: name for name, value in vars(Mnemonic).items() if isinstance(value, int)}
_AVX512 = frozenset(
    value
    for name, value in vars(CpuidFeature).items()
    if isinstance(value, int) and name.startswith("AVX512")
)
_BRANCHES = frozenset(
    (
        FlowControl.UNCONDITIONAL_BRANCH,
        FlowControl.INDIRECT_BRANCH,
        FlowControl.CONDITIONAL_BRANCH,
        FlowControl.RETURN,
        FlowControl.CALL,
        FlowControl.INDIRECT_CALL,
    )
)
_SYSTEM_CALLS = frozenset((Mnemonic.SYSCALL, Mnemonic.SYSENTER, Mnemonic.VMCALL, Mnemonic.VMMCALL))
_READS = frozenset(
    (OpAccess.READ, OpAccess.COND_READ, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE)
)
_WRITES = frozenset(
    (OpAccess.WRITE, OpAccess.COND_WRITE, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE)
)
_TOUCHES_NO_DATA = re.compile(r"LEA|F?NOP|V?PREFETCH\w*|CLFLUSH\w*|CLWB|CLDEMOTE|U?MONITORX?")
_STATE = re.compile(r"XSAVE\w*|XRSTOR\w*")
_CLZERO_BYTES = 64  # AMD APM vol. 3: one cache line, which iced does not list as a store
_LEAST_STATE_BYTES = 512 + 64  # Intel SDM vol. 1, 13.4: legacy region and XSAVE header
_NON_TEMPORAL = re.compile(r"V?MOVNT(I|Q|DQ|P[SD]|S[SD])|V?MASKMOV(DQU|Q)|MOVDIR(I|64B)|CLZERO")

_ELEMENT = {"D": ("fp64", 8), "S": ("fp32", 4), "H": ("fp16", 2)}


class _Rule(NamedTuple):
    """Flop of instructions that do the same in every lane; group `shape` is S for scalar ones."""

    pattern: re.Pattern[str]
    flop_per_lane: int
    fma: bool = False
    does: str | None = None  # one of `OPERATIONS`; None: as group `does` says
    lane: tuple[str, int] | None = None  # precision and bytes; None: as group `element` says


_RULES = (
    _Rule(
        re.compile(
            r"V?(?P<does>ADD|SUB|MUL|DIV|SQRT|ADDSUB|HADD|HSUB|RCP|RSQRT|RCP14|RSQRT14|RCP28"
            r"|RSQRT28|EXP2)(?P<shape>[PS])(?P<element>[DSH])"
        ),
        1,
    ),
    _Rule(
        re.compile(
            r"VFN?M(?:ADD|SUB|ADDSUB|SUBADD)(?:132|213|231)?(?P<shape>[PS])(?P<element>[DSH])"
        ),
        2,
        fma=True,
        does="fma",
    ),
    _Rule(re.compile(r"V4FN?MADD(?P<shape>[PS])S"), 8, fma=True, does="other", lane=("fp32", 4)),
    _Rule(re.compile(r"VDPBF16(?P<shape>P)S"), 4, fma=True, does="dot", lane=("bf16", 4)),
    _Rule(re.compile(r"VFC?MULC(?P<shape>[PS])H"), 6, does="other", lane=("fp16", 4)),
    _Rule(re.compile(r"VFC?MADDC(?P<shape>[PS])H"), 8, fma=True, does="other", lane=("fp16", 4)),
)
_ARITHMETIC = {
    **dict.fromkeys(("ADD", "SUB", "ADDSUB", "HADD", "HSUB"), "add"),
    "MUL": "mul",
    "DIV": "div",
    "SQRT": "sqrt",
}
"""What instructions do to their lanes, by a part of their names; others approximate."""
_DOT = re.compile(r"V?DPP(?P<element>[DS])")
_X87 = re.compile(
    r"FI?(?P<does>ADD|SUB|MUL|DIV)R?|F(?P<popping>ADD|SUB|MUL|DIV)R?P"
    r"|FSQRT|FPREM1?|F2XM1|FSIN|FCOS|FSINCOS|FPTAN|FPATAN|FYL2X|FYL2XP1"
)
_TILE_PRODUCTS: dict[str, tuple[str | None, int]] = {
    "TDPBF16PS": ("bf16", 4),
    "TDPFP16PS": ("fp16", 4),
    **{f"TDPB{a}{b}D": (None, 0) for a in "SU" for b in "SU"},
}
"""Precision and flop for each pair of 4 byte that is multiplied; integers have none."""

_TILE_MOVES = re.compile(r"TILE(?:LOADD(?:T1)?|(?P<stores>STORED))")

_UNCOUNTABLE = re.compile(
    r"TDP\w+PS|TDPB[SU][SU]D|TCMM\w*|TILE(?:LOAD|STORE)\w*"
    r"|PF(?:ADD|SUBR?|MUL|N?ACC|PNACC|RCP\w*|RSQ\w*)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What one instruction does when it is executed once.

    Parameters
    ----------
    mnemonic : str
    length : int
        Bytes of code.
    flop : int or None
        None: it computes, but how much is not to be told from its bytes.
    precision : str or None
        None where no flop is done.
    width_bits : int
        Vector width; 0 for scalar instructions.
    fma : bool
        Whether multiply and add are fused.
    arithmetic : str
        What it does to its lanes, one of `ridgepoint.core.counts.OPERATIONS`; ``other`` where
        no flop are done.
    masked : bool
        Whether an AVX-512 mask may switch lanes off.
    is_branch, is_load, is_store : bool
    load_bytes, store_bytes : int
        Of one iteration, where it repeats itself.
    repeats : bool
        Whether it is a string instruction with a REP prefix, which repeats itself.
    non_temporal : bool
        Whether its store goes past the caches.
    needs_avx512 : bool
        Whether it exists on CPUs with AVX-512 alone; Valgrind cannot execute it.
    basic_operations : BasicOperations
        Of one iteration, where it repeats itself.
    """

    mnemonic: str
    length: int
    flop: int | None = 0
    precision: str | None = None
    width_bits: int = 0
    fma: bool = False
    arithmetic: str = "other"
    masked: bool = False
    is_branch: bool = False
    is_load: bool = False
    is_store: bool = False
    load_bytes: int = 0
    store_bytes: int = 0
    repeats: bool = False
    non_temporal: bool = False
    needs_avx512: bool = False
    basic_operations: BasicOperations = NOTHING


def decode(code: bytes) -> Operation | None:
    """Return what the first instruction of some code does, or None if it is no instruction."""
    return next(decode_each(code, (0,)))


def decode_with_tiles(code: bytes, tiles: TileConfiguration) -> Operation | None:
    """Return what the first instruction of some code does where AMX's tiles are of this size."""
    return classify(Decoder(64, code).decode(), tiles)


def disassemble(code: bytes) -> str | None:
    """Return the text of the first instruction of some code, or None if it is no instruction."""
    instruction = Decoder(64, code).decode()
    return None if instruction.is_invalid else str(instruction)


def decode_each(code: bytes, offsets: Iterable[int]) -> Iterator[Operation | None]:
    """Decode one instruction at each of many offsets; None where there is none."""
    decoder = Decoder(64, code)
    instruction = Instruction()
    end = len(code)
    for offset in offsets:
        if not 0 <= offset < end:
            yield None
            continue
        decoder.position = offset
        decoder.decode_out(instruction)
        # Every property of an operation follows from these: the form of the instruction (which
        # fixes mnemonic, operand sizes and implicit operands), which operands are in memory (one
        # form takes either), broadcast (in the memory size), mask, a REP prefix, which registers
        # are the same or have a meaning of their own, and the immediate where it selects factors.
        code_id = instruction.code
        key = (
            code_id,
            instruction.len,
            instruction.memory_size,
            instruction.op0_kind,
            instruction.op1_kind,
            instruction.op2_kind,
            instruction.op3_kind,
            instruction.op_mask,
            instruction.has_rep_prefix or instruction.has_repne_prefix,
            *form_of(instruction),
            instruction.immediate8 if code_id in _immediate_matters else None,
        )
        try:
            yield _known[key]
        except KeyError:
            operation = classify(instruction)
            if operation is not None and _DOT.fullmatch(operation.mnemonic):
                _immediate_matters.add(code_id)
                key = (*key[:-1], instruction.immediate8)
            _known[key] = operation
            yield operation


_known: dict[tuple[int | None, ...], Operation | None] = {}
_immediate_matters: set[int] = set()
_information = InstructionInfoFactory()


def classify(instruction: Instruction, tiles: TileConfiguration | None = None) -> Operation | None:
    """Return what a decoded instruction does; None if it is invalid.

    Parameters
    ----------
    instruction : Instruction
    tiles : TileConfiguration or None
        How large AMX's tiles are where it is executed; None: not known.
    """
    if instruction.is_invalid:
        return None
    name = _NAMES[instruction.mnemonic]
    operation = _arithmetic(name, instruction, tiles)
    load_bytes, store_bytes, is_load, is_store = _memory(name, instruction)
    if tiles is not None and (moved := _TILE_MOVES.fullmatch(name)):
        n_bytes = _tile_bytes(instruction, tiles)
        load_bytes, store_bytes = (0, n_bytes) if moved["stores"] else (n_bytes, 0)
        is_load, is_store = bool(load_bytes), bool(store_bytes)
    return replace(
        operation,
        masked=instruction.op_mask != Register.NONE,
        is_branch=(
            instruction.flow_control in _BRANCHES and instruction.mnemonic not in _SYSTEM_CALLS
        ),
        is_load=is_load,
        is_store=is_store,
        load_bytes=load_bytes,
        store_bytes=store_bytes,
        repeats=(
            instruction.is_string_instruction
            and (instruction.has_rep_prefix or instruction.has_repne_prefix)
        ),
        non_temporal=is_store and _NON_TEMPORAL.fullmatch(name) is not None,
        needs_avx512=(
            instruction.encoding == EncodingKind.EVEX
            or not _AVX512.isdisjoint(instruction.cpuid_features())
        ),
        basic_operations=basic_operations(name, instruction, operation.flop or 0),
    )


def _arithmetic(name: str, instruction: Instruction, tiles: TileConfiguration | None) -> Operation:
    """Return the operation with its flop, precision and width, and nothing else."""
    base = Operation(mnemonic=name, length=instruction.len)
    for rule in _RULES:
        if match := rule.pattern.fullmatch(name):
            precision, lane_bytes = rule.lane or _ELEMENT[match["element"]]
            width = 0 if match["shape"] == "S" else _vector_bytes(instruction)
            flop = rule.flop_per_lane * (width // lane_bytes or 1)
            return replace(
                base,
                flop=flop,
                precision=precision,
                width_bits=8 * width,
                fma=rule.fma,
                arithmetic=rule.does or _ARITHMETIC.get(match["does"], "other"),
            )
    if match := _DOT.fullmatch(name):
        precision, element_bytes = _ELEMENT[match["element"]]
        width = _vector_bytes(instruction)
        selected = instruction.immediate8 >> 4 & (1 << 16 // element_bytes) - 1
        flop = max(0, 2 * selected.bit_count() - 1) * (width // 16)
        return replace(base, flop=flop, precision=precision, width_bits=8 * width, arithmetic="dot")
    if match := _X87.fullmatch(name):
        does = _ARITHMETIC.get(match["does"] or match["popping"] or name[1:], "other")
        return replace(base, flop=1, precision="fp80", arithmetic=does)
    if tiles is not None and name in _TILE_PRODUCTS:
        return _tile_product(base, instruction, tiles)
    if tiles is not None and _TILE_MOVES.fullmatch(name):
        return base
    return replace(base, flop=None) if _UNCOUNTABLE.fullmatch(name) else base


def _tile_product(base: Operation, instruction: Instruction, tiles: TileConfiguration) -> Operation:
    """Return the operation of a product of tiles as large as this."""
    c, a, b = (register - Register.TMM0 for register in _registers(instruction))
    multiplied = tiles.multiplied(c, a, b)
    if multiplied is None:
        return replace(base, flop=None)
    precision, flop = _TILE_PRODUCTS[base.mnemonic]
    return replace(
        base,
        flop=flop * multiplied,
        precision=precision,
        width_bits=8 * _vector_bytes(instruction) if precision else 0,
        fma=precision is not None,
        arithmetic="dot",
    )


def _tile_bytes(instruction: Instruction, tiles: TileConfiguration) -> int:
    """Return the size of the tile that is loaded or stored."""
    tile = next(_registers(instruction)) - Register.TMM0
    return tiles.rows[tile] * tiles.row_bytes[tile]


def _registers(instruction: Instruction) -> Iterator[RegisterId]:
    for operand in range(instruction.op_count):
        if instruction.op_kind(operand) == OpKind.REGISTER:
            yield instruction.op_register(operand)


def _vector_bytes(instruction: Instruction) -> int:
    """Return the size of the result; every packed arithmetic instruction has it in a register."""
    register = next(_registers(instruction))
    return RegisterExt.info(register).size


def _memory(name: str, instruction: Instruction) -> tuple[int, int, bool, bool]:
    """Return bytes read, bytes written, and whether any access of each kind is made."""
    if _TOUCHES_NO_DATA.fullmatch(name):
        return 0, 0, False, False
    if instruction.mnemonic == Mnemonic.CLZERO:
        return 0, _CLZERO_BYTES, False, True
    read = written = 0
    is_load = is_store = False
    for used in _information.info(instruction).used_memory():
        if used.access not in _READS and used.access not in _WRITES:
            continue
        if _STATE.fullmatch(name):
            size = _LEAST_STATE_BYTES
        elif instruction.is_vsib:
            size = MemorySizeExt.size(instruction.memory_size) * gathered_elements(instruction)
        else:
            # With a REP prefix iced leaves the size open, since it depends on the count.
            size = MemorySizeExt.size(used.memory_size or instruction.memory_size)
        if used.access in _READS:
            is_load, read = True, read + size
        if used.access in _WRITES:
            is_store, written = True, written + size
    return read, written, is_load, is_store
