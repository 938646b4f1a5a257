"""What native/copying/instruction.c has to say of machine code, as iced-x86 says it.

``python instructions_by_iced.py LIBRARY ...`` compares all of some libraries' code.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
from elftools.elf.elffile import ELFFile
from iced_x86 import (
    Decoder,
    EncodingKind,
    FlowControl,
    InstructionInfoFactory,
    MemorySizeExt,
    Mnemonic,
    OpAccess,
    OpKind,
    Register,
    RegisterExt,
    RflagsBits,
)

from ridgepoint.meters.bop_rules import gathered_elements
from ridgepoint.meters.decode import classify
from ridgepoint.meters.native.instruction_table import main as write_table

REPOSITORY = Path(__file__).parents[2]
NATIVE = REPOSITORY / "native" / "copying"

DTYPE = np.dtype(
    [
        ("address", "u8"), ("target", "u8"), ("length", "u1"), ("flow", "u1"), ("what", "u1"),
        ("condition", "u1"), ("flags_read", "u1"), ("flags_written", "u1"), ("read", "u2"),
        ("written", "u2"), ("changed", "u2"), ("has_memory", "u1"), ("is_rip_relative", "u1"),
        ("is_vsib", "u1"), ("is_address32", "u1"), ("base", "u1"), ("index", "u1"),
        ("scale", "u1"), ("segment", "u1"), ("displacement", "i4"), ("displacement_at", "u1"),
        ("displacement_bytes", "u1"), ("immediate_at", "u1"), ("immediate_bytes", "u1"),
        ("memory_bytes", "u2"), ("memory_access", "u1"), ("elements", "u1"),
        ("index_bytes", "u1"), ("uses_stack", "u1"), ("mask", "u1"), ("masked_lanes", "u1"),
        ("masks_changed", "u1"), ("encoding", "u1"), ("reg", "u1"), ("vvvv", "u1"),
        ("implicit_access", "u1"), ("implicit_bytes", "u1"), ("stack_access", "u1"),
        ("stack_bytes", "u1"),
    ],
    align=True,
)  # fmt: skip

NEXT, CONDITIONAL, LOOP, JUMP, CALL, INDIRECT_JUMP, INDIRECT_CALL, RETURN, XBEGIN, STOP = range(10)
PLAIN, SYSCALL, REPEATED, TILES, LEA, NOP, PREFETCH, ENDBR = range(8)

_NAMES = {value: name for name, value in vars(Mnemonic).items() if isinstance(value, int)}
_FLOWS = {
    FlowControl.UNCONDITIONAL_BRANCH: JUMP,
    FlowControl.INDIRECT_BRANCH: INDIRECT_JUMP,
    FlowControl.CONDITIONAL_BRANCH: CONDITIONAL,
    FlowControl.RETURN: RETURN,
    FlowControl.CALL: CALL,
    FlowControl.INDIRECT_CALL: INDIRECT_CALL,
    FlowControl.INTERRUPT: STOP,
    FlowControl.EXCEPTION: STOP,
}
_FLAGS = (
    RflagsBits.CF, RflagsBits.PF, RflagsBits.AF, RflagsBits.ZF, RflagsBits.SF, RflagsBits.OF,
    RflagsBits.DF,
)  # fmt: skip
_READS = (OpAccess.READ, OpAccess.COND_READ, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE)
_CHANGES = (
    OpAccess.WRITE, OpAccess.COND_WRITE, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE,
)  # fmt: skip
_ALWAYS = (OpAccess.WRITE, OpAccess.READ_WRITE)
_SCALAR = re.compile(r".*S[SDH]")
_information = InstructionInfoFactory()


class NativeDecoder:
    """The decoder in C, built into a folder."""

    def __init__(self, folder: Path) -> None:
        write_table([str(folder / "instruction_table.h")])
        library = folder / "decoder.so"
        subprocess.run(
            ["cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared",
             "-ffreestanding", "-mgeneral-regs-only", f"-I{folder}", f"-I{NATIVE}",
             str(Path(__file__).parent / "decode_many.c"),
             *map(str, sorted(NATIVE.glob("instruction*.c"))), "-o", str(library)],
            check=True,
        )  # fmt: skip
        self.library = ctypes.CDLL(str(library))
        self.library.decode_all.restype = ctypes.c_size_t

    def decode_all(self, code: bytes, address: int = 0) -> np.ndarray:
        """Decode from the first byte on, skipping bytes that begin no instruction."""
        out = np.zeros(len(code), DTYPE)
        n = self.library.decode_all(
            code, ctypes.c_size_t(len(code)), ctypes.c_uint64(address),
            out.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(len(out)),
        )  # fmt: skip
        return out[:n]

    def decode_at(self, code: bytes, starts: np.ndarray, address: int = 0) -> np.ndarray:
        """Decode one instruction at each start."""
        out = np.zeros(len(starts), DTYPE)
        starts = np.ascontiguousarray(starts, "u8")
        self.library.decode_at(
            code, ctypes.c_size_t(len(code)), starts.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_size_t(len(starts)), ctypes.c_uint64(address),
            out.ctypes.data_as(ctypes.c_void_p),
        )  # fmt: skip
        return out


def by_iced(code: bytes, at: int, address: int = 0) -> dict[str, int] | None:
    """Return what is to be said of the instruction that begins at `at`; None if it is none.

    Left out is what follows from other fields, or what iced does not tell: where immediates
    are, and numbers of registers as encoded.
    """
    raw = code[at : at + 15]
    decoder = Decoder(64, raw, ip=address + at)
    instruction = decoder.decode()
    if instruction.is_invalid:
        return None
    found = dict(_known(raw[: instruction.len]))
    found["address"] = address + at
    found["target"] = 0
    offsets = decoder.get_constant_offsets(instruction)
    kinds = [instruction.op_kind(n) for n in range(instruction.op_count)]
    if OpKind.NEAR_BRANCH64 in kinds:
        found["target"] = instruction.near_branch_target
    elif instruction.is_ip_rel_memory_operand:
        found["target"] = instruction.ip_rel_memory_address
    elif found["has_memory"] and found["base"] == found["index"] == 255 and (
        found["encoding"] == 0 and raw[offsets.displacement_offset - 1] & 0xFC == 0xA0
    ):
        found["target"] = instruction.memory_displacement
    return found


@cache
def _known(raw: bytes) -> tuple[tuple[str, int], ...]:
    decoder = Decoder(64, raw)
    instruction = decoder.decode()
    offsets = decoder.get_constant_offsets(instruction)
    info = _information.info(instruction)
    operation = classify(instruction)
    found = dict.fromkeys(DTYPE.names, 0)
    for name in ("immediate_at", "immediate_bytes", "reg", "vvvv", "address", "target"):
        del found[name]
    name = _NAMES[instruction.mnemonic]
    found["length"] = instruction.len
    found["flow"] = _flow(instruction, name)
    found["what"] = _what(instruction, name)
    if instruction.is_jcc_short_or_near:
        found["condition"] = raw[offsets.immediate_offset - 1] & 15
    found["flags_read"] = _flags(instruction.rflags_read)
    found["flags_written"] = _flags(instruction.rflags_modified)
    for used in info.used_registers():
        register, access = used.register, used.access
        if RegisterExt.is_gpr(register):
            bit = 1 << RegisterExt.number(RegisterExt.full_register(register))
            found["read"] |= bit * (access in _READS)
            found["changed"] |= bit * (access in _CHANGES)
            found["written"] |= bit * (access in _ALWAYS and RegisterExt.size(register) >= 4)
        elif RegisterExt.is_k(register):
            found["masks_changed"] |= (access in _CHANGES) << register - Register.K0
    _memory(found, raw, instruction, offsets, info, operation)
    found["mask"] = instruction.op_mask - Register.K0 if instruction.op_mask else 0
    if found["mask"] and operation.flop:
        found["masked_lanes"] = _lanes(instruction, name)
    found["encoding"] = {
        EncodingKind.VEX: 1, EncodingKind.EVEX: 2, EncodingKind.XOP: 3,
    }.get(instruction.encoding, 0)  # fmt: skip
    # What iced does not have in mind.
    if found["what"] == REPEATED or (
        instruction.op_count > 1
        and instruction.op_register(instruction.op_count - 1) == Register.CL
        and re.fullmatch(r"RO[LR]|RC[LR]|S[AH][LR]D?", name)
    ):
        found["flags_written"] = 0
    if found["what"] == SYSCALL:
        found["flags_read"] = found["flags_written"] = 0
        found["read"] = 0b0000_0111_1101_0101
        found["written"], found["changed"] = 0b1000_0000_0010, 0b1000_0000_0011
    if found["flow"] == STOP:
        found["flags_read"], found["flags_written"] = 127, 0
        found["read"], found["written"], found["changed"] = 65535, 0, 65535
    return tuple(found.items())


def _flow(instruction, name: str) -> int:
    if name in ("HLT", "XABORT", "SYSENTER"):
        return STOP
    if name == "XBEGIN":
        return XBEGIN
    if name.startswith(("LOOP", "JRCXZ", "JECXZ")):
        return LOOP
    if instruction.is_jmp_far_indirect or instruction.is_call_far_indirect:
        return STOP
    if name in ("SYSCALL", "VMCALL", "VMMCALL", "XEND") or name.startswith("VM"):
        return NEXT
    return _FLOWS.get(instruction.flow_control, NEXT)


def _what(instruction, name: str) -> int:
    if instruction.is_string_instruction and (
        instruction.has_rep_prefix or instruction.has_repne_prefix
    ):
        return REPEATED
    if name.startswith(("PREFETCH", "VPREFETCH", "VGATHERPF", "VSCATTERPF")):
        return PREFETCH if "PREFETCH" in name else PLAIN
    return {
        "SYSCALL": SYSCALL, "LDTILECFG": TILES, "TILERELEASE": TILES, "XRSTOR": TILES,
        "XRSTOR64": TILES, "XRSTORS": TILES, "XRSTORS64": TILES, "LEA": LEA, "NOP": NOP,
        "RESERVEDNOP": NOP, "ENDBR32": ENDBR, "ENDBR64": ENDBR,
    }.get(name, PLAIN)  # fmt: skip


def _flags(bits: int) -> int:
    return sum(1 << n for n, flag in enumerate(_FLAGS) if bits & flag)


def _lanes(instruction, name: str) -> int:
    if _SCALAR.fullmatch(name) and not name.endswith(("BF16PS", "PS")):
        return 1
    if re.fullmatch(r"V4FN?MADDSS", name):
        return 1
    bits = {"D": 64, "S": 32, "H": 16}[name[-1]]
    if re.fullmatch(r"VFC?(MUL|MADD)C[PS]H", name):
        bits = 32
    return RegisterExt.size(instruction.op0_register) * 8 // bits


def _memory(found, raw, instruction, offsets, info, operation) -> None:
    kinds = [instruction.op_kind(n) for n in range(instruction.op_count)]
    explicit = OpKind.MEMORY in kinds and instruction.mnemonic != Mnemonic.XLATB
    prefixes = re.match(rb"[\x26\x2e\x36\x3e\x64-\x67\xf0\xf2\xf3\x40-\x4f]*", raw)[0]
    segments = [byte for byte in prefixes if byte in (0x64, 0x65)]
    found["segment"] = segments[-1] if segments else 0
    found["base"] = found["index"] = 255
    if explicit:
        operand = kinds.index(OpKind.MEMORY)
        access = info.op_access(operand)
        found["has_memory"] = 1
        found["is_rip_relative"] = instruction.is_ip_rel_memory_operand
        found["is_vsib"] = instruction.is_vsib
        found["is_address32"] = 0x67 in prefixes
        base, index = instruction.memory_base, instruction.memory_index
        if instruction.is_ip_rel_memory_operand:
            found["base"] = 16
        elif base:
            found["base"] = RegisterExt.number(base)
        if index:
            found["index"] = RegisterExt.number(index)
        found["scale"] = instruction.memory_index_scale
        if not instruction.is_ip_rel_memory_operand:
            found["displacement"] = (instruction.memory_displacement + 2**31) % 2**32 - 2**31
        else:
            at = offsets.displacement_offset
            found["displacement"] = int.from_bytes(raw[at : at + 4], "little", signed=True)
        found["displacement_at"] = offsets.displacement_offset
        found["displacement_bytes"] = offsets.displacement_size
        reads = access in _READS and operation.is_load
        writes = access in _CHANGES and operation.is_store
        found["memory_access"] = reads | writes << 1 | 4 * operation.non_temporal
        found["memory_bytes"] = MemorySizeExt.size(instruction.memory_size)
        if _NAMES[instruction.mnemonic].startswith(("XSAVE", "XRSTOR")):
            found["memory_bytes"] = 576
        if instruction.is_vsib:
            found["elements"] = gathered_elements(instruction)
            found["index_bytes"] = 4 if instruction.is_vsib32 else 8
    for place, used in enumerate(info.used_memory()):
        reads, writes = used.access in _READS, used.access in _CHANGES
        size = MemorySizeExt.size(used.memory_size or instruction.memory_size)
        if instruction.is_stack_instruction and (
            used.base in (Register.RSP, Register.RBP)
            and not (explicit and place == 0)
        ):
            found["stack_access"] |= reads | writes << 1
            found["stack_bytes"] = size
        elif instruction.is_string_instruction:
            rsi = RegisterExt.number(used.base) == 6
            found["implicit_access"] |= reads if rsi else reads << 1 | writes << 2
            found["implicit_bytes"] = size
    found["uses_stack"] = found["stack_access"] != 0


def differences(native: np.ndarray, code: bytes, address: int = 0, *, limit: int = 20):
    """Return texts that say where the decoder and iced differ."""
    texts = []
    names = DTYPE.names
    for values in native.tolist():
        said = dict(zip(names, values, strict=True))
        at = said["address"] - address
        wanted = by_iced(code, at, address)
        difference = compare(said, wanted)
        if difference:
            text = Decoder(64, code[at : at + 15], ip=address + at).decode()
            texts.append(f"{address + at:x}: {code[at : at + 15].hex()} {text}: {difference}")
            if len(texts) == limit:
                break
    return texts


def compare(said: dict[str, int], wanted: dict[str, int] | None) -> str:
    """Return how two descriptions differ; empty where they do not."""
    if wanted is None:
        return "" if said["length"] == 0 else f"length {said['length']}, iced says invalid"
    if said["length"] == 0:
        return f"invalid, iced says {wanted['length']} bytes"
    parts = [
        f"{name} {said[name]}, iced says {value}"
        for name, value in wanted.items()
        if said[name] != value and not _may_differ(name, said, wanted)
    ]
    return "; ".join(parts)


def _may_differ(name: str, said: dict[str, int], wanted: dict[str, int]) -> bool:
    """Whether a difference is on the safe side, or does not matter."""
    match name:
        case "implicit_access" | "implicit_bytes":  # no operand's, nor the stack's, nor a string's
            return said["implicit_access"] == 8
        case "flags_read":  # of rotating by 0
            return said[name] & wanted[name] == wanted[name] and wanted["flags_written"] == 0
        case "flags_written":  # RCL and RCR of 8 and 16 bits
            return said[name] == 0 and said["flags_read"] == 1 and wanted[name] == 33
        case "stack_access":  # ENTER of levels that no program has
            return (said[name], wanted[name]) == (2, 3) and said["immediate_bytes"] == 3
    return False


def main(paths: list[str]) -> None:
    """Compare libraries, and say how fast each decoder was."""
    import tempfile

    native = NativeDecoder(Path(tempfile.mkdtemp()))
    for path in paths:
        with open(path, "rb") as file:
            for section in ELFFile(file).iter_sections():
                if not section["sh_flags"] & 4 or section["sh_type"] == "SHT_NOBITS":
                    continue
                code, address = section.data(), section["sh_addr"]
                begin = time.perf_counter()
                found = native.decode_all(code, address)
                middle = time.perf_counter()
                texts = differences(found, code, address)
                end = time.perf_counter()
                print(
                    f"{path} {section.name}: {len(found)} instructions, "
                    f"{(middle - begin) / max(len(found), 1) * 1e9:.1f} ns each, "
                    f"compared in {end - middle:.1f} s",
                    *texts, sep="\n  ", flush=True,
                )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
