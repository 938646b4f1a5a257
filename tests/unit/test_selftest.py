"""The built-in programs, their files, and how meters are judged by them; nothing is run.

What a program does is found a second time by executing it, one instruction after the other, in
an emulator of the few general instructions that steer it, with caches simulated the slow way.
"""

import io
import struct
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from brute_force_caches import FETCH, LOAD, NT_STORE, STORE, BruteForce, Geometry, Shape
from elftools.elf.elffile import ELFFile
from iced_x86 import Decoder, Formatter, FormatterSyntax, Mnemonic, OpKind, Register

from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import Counts, Traffic
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.geometry import parse_geometry
from ridgepoint.doctor.selftest import CACHES, Check, programs, selftest
from ridgepoint.doctor.selftest.arithmetic import arithmetic
from ridgepoint.doctor.selftest.assembly import ARRAYS, DATA, Loop, assemble, listing
from ridgepoint.doctor.selftest.conduct import expected_of
from ridgepoint.doctor.selftest.elf import START, executable
from ridgepoint.doctor.selftest.program import CONSTANTS
from ridgepoint.doctor.selftest.streams import streams
from ridgepoint.meters import Unavailable
from ridgepoint.meters.decode import classify
from ridgepoint.meters.scripted import ScriptedMeter

ALL = {program.name: program for program in programs()}
SMALL = {
    program.name: program
    for program in (*arithmetic(7), *streams(parse_geometry("l1=256:2,l2=512:4,l3=4k:8")))
}
SMALL_CACHES = Geometry(
    data=[Shape(2, 2, 1), Shape(2, 4, 1), Shape(8, 8, 1)],
    n_cpus=1,
    instruction=Shape(4, 4, 1),
)
LINE = 64


def formatter():
    """Return one that writes as the programs' listings are written."""
    intel = Formatter(FormatterSyntax.INTEL)
    intel.number_base = 10
    intel.space_after_operand_separator = True
    intel.use_pseudo_ops = False
    return intel


def decoded(code):
    """Return the instructions of a machine code that is loaded at its place, by address."""
    return {instruction.ip: instruction for instruction in Decoder(64, code, ip=START)}


class Emulator:
    """Executes a program's general instructions; vectors are not looked at."""

    def __init__(self, program):
        self.code = decoded(assemble(program.code))
        self.registers = {}
        self.executed = []  # (instruction, address of its operand in memory or None)

    def number(self, instruction, operand):
        """Return the value of an operand."""
        if instruction.op_kind(operand) == OpKind.REGISTER:
            return self.registers.get(whole(instruction.op_register(operand)), 0)
        if instruction.op_kind(operand) == OpKind.MEMORY:
            return 0
        return instruction.immediate(operand)

    def run(self):
        """Execute until the system call."""
        at, zero = START, False
        while True:
            instruction = self.code[at]
            base = self.registers.get(whole(instruction.memory_base), 0)
            touches = any(
                instruction.op_kind(k) == OpKind.MEMORY for k in range(instruction.op_count)
            )
            address = base + instruction.memory_displacement if touches else None
            self.executed.append((instruction, address))
            if instruction.mnemonic == Mnemonic.SYSCALL:
                return self
            taken = instruction.mnemonic == Mnemonic.JNE and not zero
            at = instruction.near_branch_target if taken else instruction.next_ip
            result = self.result(instruction)
            if result is not None:
                bits = 64 if instruction.op0_register in SIXTY_FOUR else 32
                result %= 1 << bits
                self.registers[whole(instruction.op0_register)] = result
                zero = result == 0

    def result(self, instruction):
        """Return what the instruction writes to a general register, or None."""
        if instruction.op_count == 0 or whole(instruction.op0_register) is None:
            return None
        operands = [self.number(instruction, k) for k in range(instruction.op_count)]
        return {
            Mnemonic.MOV: lambda: operands[1],
            Mnemonic.ADD: lambda: operands[0] + operands[1],
            Mnemonic.DEC: lambda: operands[0] - 1,
            Mnemonic.IMUL: lambda: operands[1] * operands[2],
            Mnemonic.AND: lambda: operands[0] & operands[1],
            Mnemonic.SHL: lambda: operands[0] << operands[1],
            Mnemonic.XOR: lambda: operands[0] ^ operands[1],
            Mnemonic.LEA: lambda: 0,  # no program's course depends on it
        }[instruction.mnemonic]()


SIXTY_FOUR = (Register.RAX, Register.RBX, Register.RSI, Register.RDI)
NAMES = {
    getattr(Register, f"{letter}{name}"): name
    for letter in "ER"
    for name in ("AX", "BX", "CX", "DX", "SI", "DI")
}


def whole(register):
    """Return one name for a general register, whatever its width; None: it is another."""
    return NAMES.get(register)


def traffic(emulator, caches):
    """Return bytes read from and written to memory and left dirty, in caches of the slow way."""
    simulated = BruteForce(caches, 1)
    for instruction, address in emulator.executed:
        simulated.step(instruction.ip, instruction.len, FETCH, 0, 0)
        does = classify(instruction)
        if does.load_bytes:
            simulated.step(address, does.load_bytes, LOAD, 0, 0)
        if does.store_bytes:
            kind = NT_STORE if does.non_temporal else STORE
            simulated.step(address, does.store_bytes, kind, 0, 0)
    (moved,) = simulated.moved
    outermost = len(caches.data) - 1
    return (
        LINE * moved[outermost],
        LINE * moved[4 + outermost] + moved[8],
        LINE * simulated.pending(),
    )


@pytest.mark.parametrize("name", SMALL)
def test_counts_are_those_of_executing_every_instruction(name):
    """Formulae against brute force, to the last instruction."""
    program, expected = SMALL[name], SMALL[name].expected
    does = [classify(instruction) for instruction, _ in Emulator(program).run().executed]
    flop = sum(each.flop for each in does)

    assert len(does) == expected.instructions
    assert sum(each.is_branch for each in does) == expected.branches
    assert sum(each.is_load for each in does) == expected.loads
    assert sum(each.is_store for each in does) == expected.stores
    assert flop == sum(expected.work.values())
    assert {each.precision for each in does if each.flop} == set(expected.work)
    assert expected.non_temporal_store_bytes == sum(
        each.store_bytes for each in does if each.non_temporal
    )


@pytest.mark.parametrize("name", SMALL)
def test_traffic_is_that_of_caches_simulated_the_slow_way(name):
    """All that is read, and all that is dirtied; what was written by the end nearly so."""
    program, expected = SMALL[name], SMALL[name].expected
    read, written, pending = traffic(Emulator(program).run(), SMALL_CACHES)

    assert read == expected.dram_read_bytes
    assert written + pending == expected.dram_write_bytes + expected.pending_write_bytes
    assert written == pytest.approx(expected.dram_write_bytes, rel=0.02)


def test_traffic_of_stores_past_the_caches_taken_for_ordinary_ones_is_that_of_a_write():
    """What a simulator sees that does not know them."""
    program, ordinary = SMALL["write nt"], SMALL["write"].expected

    assert program.if_ordinary.dram_read_bytes == ordinary.dram_read_bytes
    assert program.if_ordinary.dram_write_bytes == ordinary.dram_write_bytes
    assert program.if_ordinary.pending_write_bytes == ordinary.pending_write_bytes
    assert program.if_ordinary.instructions == program.expected.instructions


def test_random_order_visits_every_line_once_and_then_again():
    """Each of the 256 lines, in an order that is not the memory's."""
    executed = Emulator(SMALL["random"]).run().executed
    lines = [(address - ARRAYS) // LINE for _, address in executed[1:] if address is not None]

    assert sorted(lines[:256]) == list(range(256))
    assert lines[:256] == lines[256:512] == lines[512:]
    assert sum(b == a + 1 for a, b in pairwise(lines)) < 8


@pytest.mark.parametrize("name", ALL)
def test_machine_code_is_what_the_listing_says(name):
    """A disassembler reads the bytes of every instruction as the text that stands beside them."""
    program, text = ALL[name], formatter()
    read = [text.format(i) for i in decoded(assemble(program.code)).values()]
    read = ["jnz" if line.startswith("jne") else line.replace(" ptr ", " ") for line in read]
    sizes = ("qword ", "xmmword ", "ymmword ")
    for size in sizes:
        read = [line.replace(size + "[", "[") for line in read]

    assert tuple(read) == listing(program.code)


def test_machine_code_written_by_hand_is_the_one_that_is_made():
    """Worked out from the instruction set's manual: B9 id, C4 E2 FD B8 /r, FF /1, 75 cb."""
    code = ("mov esi, 4096", Loop("ecx", 3, ("vfmadd231pd ymm1, ymm0, ymm0",)))

    assert assemble(code) == bytes.fromhex("be00100000 b903000000 c4e2fdb8c8 ffc9 75f7")


def test_jump_over_more_than_a_byte_can_say_takes_the_long_form():
    """Of 30 instructions of 5 bytes, 2 to count and 6 to jump: 158 back."""
    body = ("vfmadd231pd ymm1, ymm0, ymm0",) * 30

    assert assemble((Loop("ecx", 2, body),))[-6:] == b"\x0f\x85" + struct.pack("<i", -158)


def test_instruction_that_is_not_known_is_refused():
    """By name."""
    with pytest.raises(KeyError, match="cpuid"):
        assemble(("cpuid",))


def test_file_for_the_dynamic_loader_differs_in_what_that_reads():
    """The same code and constants at the same places; an interpreter, and no library."""
    program = ALL["fma"]
    alone, linked = (ELFFile(io.BytesIO(program.built(interpreted=each))) for each in (False, True))
    kinds = [segment["p_type"] for segment in linked.iter_segments()]
    (dynamic,) = (part for part in linked.iter_segments() if part["p_type"] == "PT_DYNAMIC")
    (interpreter,) = (part for part in linked.iter_segments() if part["p_type"] == "PT_INTERP")

    assert kinds[:3] == ["PT_PHDR", "PT_INTERP", "PT_LOAD"]
    assert interpreter.get_interp_name() == "/lib64/ld-linux-x86-64.so.2"
    assert "DT_NEEDED" not in [tag.entry.d_tag for tag in dynamic.iter_tags()]
    assert linked["e_entry"] == alone["e_entry"] == START
    for name in (".text", ".data"):
        one, other = (elf.get_section_by_name(name) for elf in (alone, linked))
        assert (one["sh_addr"], one.data()) == (other["sh_addr"], other.data())


@pytest.mark.parametrize("name", ALL)
def test_file_is_an_executable_that_needs_no_library(name):
    """Two segments at their places, no interpreter, and the code where execution begins."""
    program = ALL[name]
    elf = ELFFile(io.BytesIO(program.executable))
    code, data, stack = elf.iter_segments()
    text = elf.get_section_by_name(".text")
    (symbol,) = elf.get_section_by_name(".symtab").get_symbol_by_name("_start")

    assert (elf["e_type"], elf["e_machine"], elf["e_entry"]) == ("ET_EXEC", "EM_X86_64", START)
    assert [s["p_type"] for s in (code, data, stack)] == ["PT_LOAD", "PT_LOAD", "PT_GNU_STACK"]
    assert (code["p_flags"], data["p_flags"], stack["p_flags"]) == (5, 6, 6)
    assert data.data() == CONSTANTS
    assert data["p_vaddr"] == DATA
    assert data["p_vaddr"] + data["p_memsz"] == ARRAYS + program.arrays_bytes
    assert text.data() == assemble(program.code)
    assert (symbol["st_value"], symbol["st_size"]) == (START, len(text.data()))
    assert [section.name for section in elf.iter_sections()] == [
        *("", ".text", ".data", ".bss", ".symtab", ".strtab", ".shstrtab"),
    ]
    assert all((s["p_offset"] - s["p_vaddr"]) % 4096 == 0 for s in (code, data))


def test_code_that_fits_no_page_is_refused():
    """Rather than written over what follows."""
    with pytest.raises(ValueError, match="fit a page"):
        executable(bytes(4096), constants=CONSTANTS, arrays_bytes=0)


def test_callgrind_is_held_to_what_it_sees():
    """Not to the last three instructions, nor to their line, nor to stores past the caches."""
    fma, past = ALL["fma"], ALL["write nt"]

    assert expected_of(fma, "engine") == fma.expected
    assert expected_of(fma, "callgrind").instructions == fma.expected.instructions - 3
    # 9 + 5 + 40 + 2 + 2 = 58 bytes and the last 9: they alone reach the second line.
    assert fma.expected.dram_read_bytes == 3 * LINE
    assert expected_of(fma, "callgrind").dram_read_bytes == 2 * LINE
    assert expected_of(past, "callgrind").dram_read_bytes > 4 << 20
    assert expected_of(past, "engine").dram_read_bytes < 1024


@pytest.mark.parametrize(
    ("measured", "tolerance", "holds"),
    [(100, 0.0, True), (101, 0.0, False), (102, 0.02, True), (103, 0.02, False), (None, 0, None)],
)
def test_deviation_beyond_the_tolerance_does_not_hold(measured, tolerance, holds):
    """What is not measured neither holds nor fails."""
    check = Check(quantity="loads", expected=100, measured=measured, tolerance=tolerance)

    assert check.holds is holds
    assert check.ratio == (None if measured is None else measured / 100)


def test_what_should_be_nothing_fails_when_it_is_something():
    """Two per cent of nothing is nothing."""
    check = Check(quantity="dram_write_bytes", expected=0, measured=64, tolerance=0.02)

    assert check.holds is False
    assert check.ratio is None


class Truthful(ScriptedMeter):
    """A meter that counts nothing and knows the answers; it runs no process either."""

    def __init__(self, *, counts=None, pending=True, **options):
        super().__init__(Counted(meter="none", counts=NOTHING, traffic=()), **options)
        self._counts, self._pending = counts or {}, pending

    def count(self, command, *, launch, caches):
        """Return what the program is known to do."""
        expected = ALL[Path(command[0]).name].expected
        counts = {
            name: getattr(expected, name)
            for name in ("instructions", "branches", "loads", "stores")
        }
        return Counted(
            meter="none",
            counts=Counts(load_bytes=0, store_bytes=0, **counts | self._counts),
            traffic=(
                Traffic(
                    level="dram",
                    read_bytes=expected.dram_read_bytes,
                    write_bytes=expected.dram_write_bytes,
                    pending_write_bytes=expected.pending_write_bytes if self._pending else None,
                ),
            ),
        )


NOTHING = Counts(instructions=0, branches=0, loads=0, stores=0, load_bytes=0, store_bytes=0)
READ = [replace(ALL["read"], needs=())]


def test_meter_that_tells_the_truth_passes():
    """With every quantity known."""
    found = selftest([Truthful()], only=READ)

    assert found.holds is True
    assert found.caches == CACHES
    assert [check.holds for check in found.trials[0].checks] == [True] * 10


def test_meter_that_lies_is_caught():
    """By one load in a hundred thousand."""
    wrong = ALL["read"].expected.loads + 1
    found = selftest([Truthful(counts={"loads": wrong})], only=READ)
    (failed,) = found.trials[0].failed_checks

    assert found.holds is False
    assert (failed.quantity, failed.measured) == ("loads", wrong)


def test_what_a_meter_does_not_know_is_unknown_and_not_zero():
    """Lines that were left dirty, and with them what was dirtied."""
    found = selftest([Truthful(pending=False)], only=READ)
    (unknown,) = [check for check in found.trials[0].checks if check.holds is None]

    assert found.holds is True
    assert (unknown.quantity, unknown.measured) == ("dram_dirtied_bytes", None)


def test_flop_where_there_are_none_is_a_lie_too(measurement):
    """A precision that a program does not have counts as 0 expected."""
    meter = Truthful()
    meter.count = lambda command, *, launch, caches: measurement.counted
    checks = selftest([meter], only=READ).trials[0].checks

    assert checks[0] == Check(quantity="fp64_flop", expected=0, measured=1_000_000_000)
    assert checks[0].holds is False


def test_meter_that_refuses_a_program_has_failed_and_others_go_on():
    """With its own words."""
    meter = Truthful()

    def refuse(command, *, launch, caches):
        raise CannotMeasure("cannot count", reason="it is broken", remedy="mend it")

    meter.count = refuse
    refused, other = selftest([meter, Truthful()], only=READ).trials

    assert refused.failure == "cannot count: it is broken; mend it"
    assert not refused.holds
    assert other.holds


def test_meter_that_does_not_work_here_is_listed_with_its_lack():
    """And nothing was shown by that."""
    lack = Unavailable(reason="there is none", remedy="install it", cost="all")
    found = selftest([Truthful(unavailable=lack)], only=READ)

    assert found.holds is None
    assert found.trials == ()
    assert [(each.meter, each.lack) for each in found.not_tested] == [("scripted", lack)]


def test_program_that_the_cpu_cannot_run_is_left_out_by_name(monkeypatch):
    """Rather than failed."""
    monkeypatch.setattr(
        "ridgepoint.doctor.selftest.System", lambda: type("None", (), {"flags": ()})
    )
    found = selftest([Truthful()], only=[ALL["fma"]])

    assert [(each.program, each.reason) for each in found.not_run] == [
        ("fma", "this CPU has no avx and no fma")
    ]
