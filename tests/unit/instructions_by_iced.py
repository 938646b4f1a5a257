"""What native/copying/instruction.c has to say of machine code, as iced-x86 says it.

``python instructions_by_iced.py LIBRARY ...`` compares all of some libraries' code.
"""

from __future__ import annotations

import ctypes
import random
import re
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np
from elftools.elf.elffile import ELFFile
from iced_x86 import (
    Code,
    Decoder,
    EncodingKind,
    FlowControl,
    InstructionInfoFactory,
    MandatoryPrefix,
    MemorySizeExt,
    Mnemonic,
    OpAccess,
    OpCodeInfo,
    OpCodeOperandKind,
    OpCodeTableKind,
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
PLAIN, SYSCALL, REPEATED, TILES, LEA, NOP, PREFETCH, ENDBR, SETS_GS = range(9)

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

    Left out are the numbers of registers as encoded, and immediates that iced does not list:
    registers in them, and the last opcode byte of 3DNow!.
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
    elif (
        found["has_memory"]
        and found["base"] == found["index"] == 255
        and (found["encoding"] == 0 and raw[offsets.displacement_offset - 1] & 0xFC == 0xA0)
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
    for name in ("reg", "vvvv", "address", "target"):
        del found[name]
    found["immediate_at"] = offsets.immediate_offset
    found["immediate_bytes"] = offsets.immediate_size + offsets.immediate_size2
    if not offsets.has_immediate and instruction.encoding not in (EncodingKind.LEGACY,):
        del found["immediate_at"], found["immediate_bytes"]
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
    if instruction.flow_control == FlowControl.CALL and name != "CALL":
        return NEXT
    return _FLOWS.get(instruction.flow_control, NEXT)


def _what(instruction, name: str) -> int:
    if instruction.is_string_instruction and (
        instruction.has_rep_prefix or instruction.has_repne_prefix
    ):
        return REPEATED
    if name.startswith(("PREFETCH", "VPREFETCH", "VGATHERPF", "VSCATTERPF")):
        return PREFETCH if "PREFETCH" in name else PLAIN
    changes = any(
        used.register == Register.GS and used.access in _CHANGES
        for used in _information.info(instruction).used_registers()
    )
    if changes or name.endswith("GSBASE") or name == "SWAPGS":
        return SETS_GS
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
    found["is_address32"] = 0x67 in prefixes
    found["segment"] = segments[-1] if segments else 0
    found["base"] = found["index"] = 255
    if explicit:
        operand = kinds.index(OpKind.MEMORY)
        access = info.op_access(operand)
        found["has_memory"] = 1
        found["is_rip_relative"] = instruction.is_ip_rel_memory_operand
        found["is_vsib"] = instruction.is_vsib
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
            used.base in (Register.RSP, Register.RBP) and not (explicit and place == 0)
        ):
            found["stack_access"] |= reads | writes << 1
            found["stack_bytes"] = size
        elif instruction.is_string_instruction:
            rsi = RegisterExt.number(used.base) == 6
            found["implicit_access"] |= reads if rsi else reads << 1 | writes << 2
            found["implicit_bytes"] = size
    found["uses_stack"] = found["stack_access"] != 0


def differences(
    native: np.ndarray, code: bytes, address: int = 0, *, stride: int = 0, limit: int = 20
) -> list[str]:
    """Return texts that say where the decoder and iced differ.

    With a stride each is of 15 bytes only, `stride` apart; else each has its own address.
    """
    texts = []
    for n, values in enumerate(native.tolist()):
        said = dict(zip(DTYPE.names, values, strict=True))
        at = n * stride if stride else said["address"] - address
        raw = code[at : at + 15]
        difference = compare(said, by_iced(raw, 0, address + at))
        if difference:
            text = Decoder(64, raw, ip=address + at).decode()
            if text.mnemonic == Mnemonic.PAUSE and raw[text.len - 2] & 0xF1 == 0x41:
                continue  # with REX.B: iced says what Intel's CPUs do, and AMD's exchange registers
            texts.append(f"{address + at:x}: {raw.hex()} {text}: {difference}")
            if len(texts) == limit:
                break
    return texts


def compare(said: dict[str, int], wanted: dict[str, int] | None) -> str:
    """Return how two descriptions differ; empty where they do not."""
    if wanted is None:
        # Control registers that no CPU has.
        return "" if said["length"] == 0 or _is_control_move(said) else "invalid says iced"
    if said["length"] == 0:
        return f"invalid, iced says {wanted['length']} bytes"
    parts = [
        f"{name} {said[name]}, iced says {value}"
        for name, value in wanted.items()
        if said[name] != value and not _may_differ(name, said, wanted)
    ]
    return "; ".join(parts)


def _is_control_move(said: dict[str, int]) -> bool:
    return said["reg"] > 8 and said["encoding"] == said["has_memory"] == said["what"] == 0


def _may_differ(name: str, said: dict[str, int], wanted: dict[str, int]) -> bool:
    """Whether a difference is on the safe side, or does not matter."""
    match name:
        case "implicit_access" | "implicit_bytes":  # no operand's, nor the stack's, nor a string's
            return said["implicit_access"] == 8
        case "flags_read":  # of rotating by 0
            return said[name] & wanted[name] == wanted[name] and wanted["flags_written"] == 0
        case "written":  # ENTER of levels that no program has
            return said["immediate_bytes"] == 3 and said[name] & ~wanted[name] == 0
        case "flags_written":  # RCL and RCR of 8 and 16 bits
            return said[name] == 0 and said["flags_read"] == 1 and wanted[name] == 33
        case "stack_access":  # ENTER of levels that no program has
            return (said[name], wanted[name]) == (2, 3) and said["immediate_bytes"] == 3
    return False


def samples_of_each_code(per_code: int, seed: int) -> bytes:
    """Return 16 bytes for each sample: opcodes that exist, with everything else drawn.

    MONTMUL of VIA's CPUs is none of them: it exists with an address-size prefix alone.
    """
    draw = random.Random(seed)
    samples = []
    for name, code in vars(Code).items():
        if name.startswith("_") or not isinstance(code, int):
            continue
        info = OpCodeInfo(code)
        if info.is_instruction and info.mode64 and info.mnemonic != Mnemonic.MONTMUL:
            samples += [_sample(info, draw).ljust(16, b"\0")[:15] + b"\0" for _ in range(per_code)]
    return b"".join(samples)


_PP = {
    MandatoryPrefix.NONE: 0, MandatoryPrefix.PNP: 0, MandatoryPrefix.P66: 1,
    MandatoryPrefix.PF3: 2, MandatoryPrefix.PF2: 3,
}  # fmt: skip
_ESCAPES = {
    OpCodeTableKind.NORMAL: b"", OpCodeTableKind.T0F: b"\x0f",
    OpCodeTableKind.T0F38: b"\x0f\x38", OpCodeTableKind.T0F3A: b"\x0f\x3a",
}  # fmt: skip
_MAPS = {
    OpCodeTableKind.T0F: 1, OpCodeTableKind.T0F38: 2, OpCodeTableKind.T0F3A: 3,
    OpCodeTableKind.MAP5: 5, OpCodeTableKind.MAP6: 6, OpCodeTableKind.MAP8: 8,
    OpCodeTableKind.MAP9: 9, OpCodeTableKind.MAP10: 10,
}  # fmt: skip
_PREFIXES = b"\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3"


def _sample(info: OpCodeInfo, draw: random.Random) -> bytes:
    opcode = info.op_code.to_bytes(info.op_code_len)
    if info.op_code_len == 1:
        modrm = draw.randrange(256)
        if info.is_group and draw.random() < 0.8:
            modrm = modrm & 0xC7 | info.group_index << 3
        if any(
            "VSIB" in _OPERANDS[kind] or "SIBMEM" in _OPERANDS[kind] for kind in info.op_kinds()
        ):
            modrm = modrm & 0x38 | draw.choice((0x04, 0x44, 0x84))
        opcode = bytes((opcode[0] | draw.randrange(8) * _adds_register(info), modrm))
    rest = opcode + draw.randbytes(12)
    if info.encoding == EncodingKind.D3NOW:
        return bytes((0x0F, 0x0F, draw.randrange(0xC0, 256), opcode[0]))
    vvvv = draw.choice((15, 15, draw.randrange(16))) << 3
    pp = _PP[info.mandatory_prefix]
    w = (info.w if draw.random() < 0.8 else draw.randrange(2)) << 7
    length = info.l if draw.random() < 0.8 else draw.randrange(4)
    head = draw.choice((b"", b"", bytes((draw.choice(b"\x64\x65\x67\x2e"),))))
    if info.encoding == EncodingKind.LEGACY:
        mandatory = (b"", b"\x66", b"\xf3", b"\xf2")[pp]
        size = b"\x66" if info.operand_size == 16 and draw.random() < 0.8 else b""
        odd = bytes(draw.choices(_PREFIXES, k=draw.choice((0, 0, 0, 1, 2))))
        rex = bytes((0x40 | draw.randrange(16),)) if draw.random() < 0.6 else b""
        return odd + head + size + mandatory + rex + _ESCAPES[info.table] + rest
    inverted = draw.choice((0xE0, 0xE0, draw.randrange(8) << 5))
    if info.encoding == EncodingKind.EVEX:
        r2 = draw.choice((0x10, 0x10, 0))
        z_and_b = draw.choice((0, 0, 0x80, 0x10, 0x90))
        v2_and_mask = draw.choice((8, draw.randrange(8, 16), draw.randrange(16)))
        last = z_and_b | (length & 3) << 5 | v2_and_mask
        return (
            head + bytes((0x62, inverted | r2 | _MAPS[info.table], w | vvvv | 4 | pp, last)) + rest
        )
    if info.encoding == EncodingKind.VEX and info.table == OpCodeTableKind.T0F and not w:
        return head + bytes((0xC5, inverted & 0x80 | vvvv | (length & 1) << 2 | pp)) + rest
    escape = 0xC4 if info.encoding == EncodingKind.VEX else 0x8F
    second = inverted | _MAPS.get(info.table, 0)
    return head + bytes((escape, second, w | vvvv | (length & 1) << 2 | pp)) + rest


def _adds_register(info: OpCodeInfo) -> bool:
    return any("OPCODE" in _OPERANDS[kind] for kind in info.op_kinds())


_OPERANDS = {v: name for name, v in vars(OpCodeOperandKind).items() if isinstance(v, int)}


def executable_sections(path: Path) -> list[tuple[bytes, int]]:
    """Return bytes and address of all code in an ELF file."""
    with path.open("rb") as file:
        return [
            (section.data(), section["sh_addr"])
            for section in ELFFile(file).iter_sections()
            if section["sh_flags"] & 4 and section["sh_type"] != "SHT_NOBITS"
        ]


def main(paths: list[str]) -> None:
    """Compare libraries, and say how fast the decoder was."""
    native = NativeDecoder(Path(tempfile.mkdtemp()))
    for path in paths:
        for code, address in executable_sections(Path(path)):
            begin = time.perf_counter()
            found = native.decode_all(code, address)
            middle = time.perf_counter()
            texts = differences(found, code, address)
            end = time.perf_counter()
            print(
                f"{path} {address:#x}: {len(found)} instructions, "
                f"{(middle - begin) / max(len(found), 1) * 1e9:.1f} ns each, "
                f"compared in {end - middle:.1f} s",
                *texts, sep="\n  ", flush=True,
            )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
