"""Read the file of a copy, and compare it with its module by another decoder (iced-x86)."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from iced_x86 import Code, Decoder, FlowControl, Instruction, Mnemonic, OpKind, Register

CODE, OUTWARD, COUNTERS, ANCHORS, ROWS, PLACES, TURNS, ACCESSES = range(8)
TOWARD, ABSOLUTE, SUMS, RECORDING = 10, 11, 12, 13
HOOKS_BYTES = 4096
COUNTERS_AT = 4096 + 2 * 65536
NO_PLACE = 0xFFFFFFFF
ROW_BLOCK, ROW_MASK, ROW_ITERATIONS = range(3)
_HEADER = "<8s12Q"
_BRANCHES = {
    FlowControl.CONDITIONAL_BRANCH,
    FlowControl.UNCONDITIONAL_BRANCH,
    FlowControl.CALL,
    FlowControl.XBEGIN_XABORT_XEND,
}
_GS = {Register.GS}
_RELATIVE = 8  # R_X86_64_RELATIVE


class Row(NamedTuple):
    """A row of the copy: what a counter counts."""

    address: int
    n_bytes: int
    kind: int
    n_accesses: int
    first_access: int
    shares: int


class Anchor(NamedTuple):
    """Where the original leads into the copy."""

    address: int
    to: int
    hop: int
    hook: int
    expected: bytes


class CopyFile:
    """All sections of a copy's file."""

    def __init__(self, path: Path) -> None:
        raw = path.read_bytes()
        (self.magic, self.file_bytes, *_, self.module_bytes, self.lowest, self.highest) = (
            struct.unpack_from("<8s6Q", raw)
        )
        self.delta, self.eh_frame_hdr, self.flags, self.n_instructions, self.n_functions, _ = (
            struct.unpack_from("<q5Q", raw, 56)
        )
        sections = [struct.unpack_from("<2Q", raw, 104 + 16 * k) for k in range(16)]
        self.raw = raw

        def items(kind: int, form: str) -> list[tuple]:
            at, n = sections[kind]
            return list(struct.iter_unpack(form, raw[at : at + n * struct.calcsize(form)]))

        at, n = sections[CODE]
        self.code = raw[at : at + n]
        self.outward = {x for (x,) in items(OUTWARD, "<I")}
        self.toward = {x for (x,) in items(TOWARD, "<I")}
        self.absolute = [x for (x,) in items(ABSOLUTE, "<I")]
        self.counters = [x for (x,) in items(COUNTERS, "<I")]
        self.anchors = [Anchor(*x) for x in items(ANCHORS, "<QIbB5s5x")]
        self.rows = [Row(*x) for x in items(ROWS, "<QIHHII")]
        self.places = [(at, self.lowest + address) for at, address in items(PLACES, "<II")]
        self.turns = items(TURNS, "<II")
        self.recording = items(RECORDING, "<IIII")
        self.first_recording = self.recording[0][3] if self.recording else 0
        self.sums = items(SUMS, "<Ii")
        self.loads: dict[int, int] = {}  # displacements that lead to tables, and how far they moved

    def settle(self, counts: list[int]) -> list[int]:
        """Return what every row counted, from the counters."""
        settled = list(counts)
        for number, row in enumerate(self.rows):
            if row.shares:
                settled[number] = counts[row.shares - 1]
        for number, term in self.sums:
            settled[number] += counts[term - 1] if term > 0 else -counts[-term - 1]
        return settled


class Image:
    """What a module's file has at an address."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as stream:
            raw = stream.read()
            elf = ELFFile(stream)
            self.loads = [
                (s["p_vaddr"], raw[s["p_offset"] : s["p_offset"] + s["p_filesz"]])
                for s in elf.iter_segments()
                if s["p_type"] == "PT_LOAD"
            ]
            self.relocated = {
                relocation["r_offset"]: relocation["r_addend"]
                for section in elf.iter_sections()
                if isinstance(section, RelocationSection) and section.is_RELA()
                for relocation in section.iter_relocations()
                if relocation["r_info_type"] == _RELATIVE
            }

    def word(self, address: int) -> int:
        """Return the 8 bytes that are there once the module is loaded."""
        found = self.relocated.get(address)
        return int.from_bytes(self.at(address, 8), "little") if found is None else found

    def at(self, address: int, n: int) -> bytes:
        """Return bytes at an address, fewer at the end of its segment."""
        for start, content in self.loads:
            if start <= address < start + len(content):
                return content[address - start : address - start + n]
        return b""


@dataclass
class Findings:
    """What is wrong with a copy, and what was looked at."""

    wrong: list[str] = field(default_factory=list)
    n_instructions: int = 0
    n_added_bytes: int = 0
    n_entries: int = 0


def _is_ours(x: Instruction) -> bool:
    """Whether an instruction may be one that the copier adds."""
    if x.segment_prefix in _GS:
        return x.mnemonic in {
            Mnemonic.INC, Mnemonic.MOV, Mnemonic.ADD, Mnemonic.SUB, Mnemonic.CMP, Mnemonic.MOVZX,
            Mnemonic.VMOVDQU, Mnemonic.VMOVDQU64,
        }  # fmt: skip
    if x.segment_prefix == Register.FS:
        return x.mnemonic == Mnemonic.MOV and x.memory_displacement == 0
    if _is_zero(x) or _is_kept(x) or x.code == Code.MOV_RM64_R64:
        return True
    return x.mnemonic in {
        Mnemonic.LEA, Mnemonic.PUSH, Mnemonic.POP, Mnemonic.NOP, Mnemonic.INT3, Mnemonic.NOT,
        Mnemonic.NEG, Mnemonic.SHR, Mnemonic.SUB, Mnemonic.PUSHFQ, Mnemonic.POPFQ,
        Mnemonic.POPCNT, Mnemonic.AND, Mnemonic.MOVZX,
        Mnemonic.KMOVW, Mnemonic.KMOVD, Mnemonic.KMOVQ, Mnemonic.CALL, Mnemonic.JMP,
        Mnemonic.SYSCALL, Mnemonic.JNE, Mnemonic.JRCXZ, Mnemonic.VMOVMSKPS, Mnemonic.VMOVMSKPD,
    }  # fmt: skip


def _same_target(copy: CopyFile, where: dict[int, int], target: int, to: int) -> bool:
    """Whether a branch of the copy goes where that of the original goes.

    Within a loop that counts in registers it goes behind their zeros; out of it, by the way of
    code that adds them to the bank.
    """
    place = where.get(target, target - copy.delta)
    if to == place:
        return True
    if place < to < place + 128:
        zeros = list(Decoder(64, copy.code[place:to], ip=place))
        if all(
            _is_zero(x) or _is_kept(x) or x.mnemonic in {Mnemonic.NOP, Mnemonic.MOV} for x in zeros
        ):
            return True
    for x in Decoder(64, copy.code[to : to + 400], ip=to):
        if x.mnemonic == Mnemonic.JMP:
            return _signed(x.near_branch_target) == place
        if not _is_ours(x):
            return False
    return False


def _is_kept(x: Instruction) -> bool:
    """Whether it keeps a register in the red zone, or brings it back."""
    return (
        x.code in {Code.MOV_RM64_R64, Code.MOV_R64_RM64}
        and x.memory_base == Register.RSP
        and -128 <= _signed(x.memory_displacement) < 0
    )


def _is_zero(x: Instruction) -> bool:
    """Whether it is mov r32, 0."""
    return x.code == Code.MOV_R32_IMM32 and x.immediate32 == 0


def _is_same(
    copy: CopyFile, where: dict[int, int], old: Instruction, old_bytes: bytes,
    new: Instruction, new_bytes: bytes,
) -> bool:  # fmt: skip
    """Whether an instruction of the copy does what one of the original does."""
    if old.op_count and old.op0_kind == OpKind.NEAR_BRANCH64:
        return (
            new.op_count > 0
            and new.op0_kind == OpKind.NEAR_BRANCH64
            and (new.mnemonic == old.mnemonic)
            and _same_target(copy, where, old.near_branch_target, _signed(new.near_branch_target))
        )
    if _reads_table(copy, old, new):
        return True
    if len(old_bytes) != len(new_bytes):
        return False
    if old.is_ip_rel_memory_operand:
        return (
            new.code == old.code
            and new.is_ip_rel_memory_operand
            and _signed(new.ip_rel_memory_address) + copy.delta == old.ip_rel_memory_address
            and sum(a != b for a, b in zip(old_bytes, new_bytes, strict=True)) <= 4
        )
    return old_bytes == new_bytes


def _reads_table(copy: CopyFile, old: Instruction, new: Instruction) -> bool:
    """Whether both are the same, but for the table that they read an entry of."""
    if old.memory_index == Register.NONE or new.code != old.code or new.memory_displ_size == 0:
        return False
    at = new.ip + new.len - 4
    same = all(
        getattr(old, name) == getattr(new, name)
        for name in (
            "memory_base",
            "memory_index",
            "memory_index_scale",
            "op0_kind",
            "op0_register",
        )
    )
    if not same or at not in copy.toward:
        return False
    copy.loads[at] = _signed(new.memory_displacement) - _signed(old.memory_displacement)
    return True


def _compare_tables(
    copy: CopyFile, image: Image, where: dict[int, int], begin: int, end: int, found: Findings
) -> None:
    """Every entry of a copied table leads to the copy of what the original's leads to.

    How far the tables are from the originals is what the instructions that read them say.
    """
    shifts = {shift for at, shift in copy.loads.items() if begin <= at < end}
    for at in copy.absolute:
        if begin <= at < end:
            found.n_entries += 1
            to = (int.from_bytes(copy.code[at : at + 8], "little") - copy.delta) % (1 << 64)
            if not any(where.get(image.word(copy.delta + at - shift)) == to for shift in shifts):
                found.wrong.append(f"the entry at {at:#x} of a copied table leads to {to:#x}")
    moved: dict[int, set[int]] = {}
    for address, at in where.items():
        moved.setdefault(copy.delta + at - address, set()).add(address)
    bases: dict[int, set[int]] = {}  # by shift: what the entries so far may be counted from
    last = 0
    for at in sorted(set(copy.toward) - set(copy.loads)):
        if not begin <= at < end:
            continue
        found.n_entries += 1
        new = int.from_bytes(copy.code[at : at + 4], "little", signed=True)
        here: dict[int, set[int]] = {}
        for shift in shifts:
            old = int.from_bytes(image.at(copy.delta + at - shift, 4), "little", signed=True)
            if labels := moved.get(new - old):
                here[shift] = {label - old for label in labels}
        if at == last + 4:
            both = {shift: here[shift] & bases[shift] for shift in here.keys() & bases.keys()}
            bases = {shift: some for shift, some in both.items() if some} or here
        else:
            bases = here
        if not bases:
            found.wrong.append(f"the entry at {at:#x} of a copied table leads nowhere")
        last = at


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def compare(copy: CopyFile, image: Image, *, most: int = 20) -> Findings:
    """Decode every emitted instruction, and find each original one where PLACES says it is."""
    found = Findings()
    parts = [(HOOKS_BYTES, len(copy.code))]
    if copy.recording:
        begin, end, *_ = copy.recording[0]
        parts = [(HOOKS_BYTES, begin), (begin, end)]
    for begin, end in parts:
        places = [place for place in copy.places if begin <= place[0] < end]
        _compare_part(copy, image, places, end, found, most)
        where = {address: at for at, address in places}
        _compare_tables(copy, image, where, begin, end, found)
    return found


def _compare_part(
    copy: CopyFile,
    image: Image,
    places: list[tuple[int, int]],
    end_of_part: int,
    found: Findings,
    most: int,
) -> None:
    """Compare the counting code, or the recording code."""
    where = {address: at for at, address in places}
    ends = [at for at, _ in places[1:]] + [end_of_part]
    for (at, address), end in zip(places, ends, strict=True):
        found.n_instructions += 1
        old_bytes = image.at(address, 15)
        old = Decoder(64, old_bytes, ip=address).decode()
        old_bytes = old_bytes[: old.len]
        seen = []
        decoder = Decoder(64, copy.code[at:end], ip=at)
        matched = False
        for new in decoder:
            if new.is_invalid:
                break
            new_bytes = copy.code[new.ip : new.ip + new.len]
            if not matched and _is_same(copy, where, old, old_bytes, new, new_bytes):
                matched = True
                continue
            seen.append(f"{new}")
            if matched and end == end_of_part:
                break  # unwind tables follow
            if (
                not matched
                and new.mnemonic == old.mnemonic
                and new.mnemonic in _SHORT
                and _long_loop(copy, where, old, new)
            ):
                matched = True
                continue
            if not _is_ours(new):
                found.wrong.append(f"{address:#x} {old}: the copy has {new} at {new.ip:#x}")
        found.n_added_bytes += end - at - old.len
        if not matched:
            found.wrong.append(f"{address:#x} {old}: not at {at:#x}: {seen[:6]}")
        if len(found.wrong) > most:
            break


_SHORT = {Mnemonic.LOOP, Mnemonic.LOOPE, Mnemonic.LOOPNE, Mnemonic.JRCXZ, Mnemonic.JECXZ}


def _long_loop(copy: CopyFile, where: dict[int, int], old: Instruction, new: Instruction) -> bool:
    """LOOP over a jump, to a jump to its target."""
    at = new.next_ip
    skip, jump = Decoder(64, copy.code[at : at + 7], ip=at)
    return (
        new.near_branch_target == jump.ip
        and skip.code == Code.JMP_REL8_64
        and skip.near_branch_target == jump.next_ip
        and _same_target(copy, where, old.near_branch_target, _signed(jump.near_branch_target))
    )
