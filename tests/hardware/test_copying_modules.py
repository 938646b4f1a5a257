"""What the copying engine reads of modules, and the unwind tables that it makes, are true.

pyelftools reads the same facts from section headers; the tables of a copy say of its places what
the file's say of the original.
"""

import re
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from copying_code import READERS, SOURCE, compiler, open_module, write_table
from modules_by_elftools import ElfFile, call_sites, frames_of, personality, rules

PROGRAMS = Path(__file__).parents[1] / "programs"
KINDS = {
    "position-independent": [],
    "fixed": ["-fno-pie", "-no-pie"],
    "static": ["-static"],
    "static position-independent": ["-static-pie"],
    "shared library": ["-shared", "-fPIC"],
    "packed relocations": ["-Wl,-z,pack-relative-relocs"],
    "one segment for code and constants": ["-Wl,-z,noseparate-code"],
    "stubs with landing pads": ["-fcf-protection", "-Wl,-z,ibtplt"],
    "old hash table": ["-Wl,--hash-style=sysv"],
    "no build id": ["-Wl,--build-id=none"],
    "no index of unwind tables": ["-Wl,--no-eh-frame-hdr"],
    "large model": ["-fPIC", "-mcmodel=large"],
    "lists of exceptions": ["-std=c++14", "-Wno-deprecated"],
    "without symbols": ["-s"],
}
DEF_CFA_EXPRESSION, LITERAL_0 = 0x0F, 0x30
RUNNING = sorted({
    line.split()[-1]
    for line in Path("/proc/self/maps").read_text().splitlines()
    if re.search(r" r-xp .*/(libc|ld-linux-x86-64)[-.].*so", line)
})  # fmt: skip


@pytest.fixture(scope="module", params=[*KINDS, *RUNNING])
def path(request, tmp_path_factory):
    """Return a program of one kind, or a library of this process."""
    if request.param not in KINDS:
        return Path(request.param)
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    made = tmp_path_factory.mktemp("module") / "tables"
    command = ["g++", "-O2", *KINDS[request.param], PROGRAMS / "tables.cpp", "-o", made]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"g++ {' '.join(KINDS[request.param])} does not work here: {done.stderr}")
    return made


@pytest.fixture(scope="module")
def facts(path):
    """Return what pyelftools says of it."""
    return ElfFile(path)


@pytest.fixture(scope="module")
def module(path):
    """Return what the engine says of it."""
    with open_module(path) as opened:
        yield opened


def pairs(rows):
    """Return rows of two numbers as a list of tuples."""
    return [tuple(row)[:2] for row in rows.tolist()]


def test_code_and_its_stubs_are_found(module, facts):
    """Executable sections and those of stubs have the same bounds."""
    assert pairs(module.rows("code")) == facts.code
    assert pairs(module.rows("stubs")) == facts.stubs


def test_functions_have_the_bounds_of_symbols_and_unwind_tables(module, facts):
    """Functions begin and end where symbols or FDEs say, and others inside are entries."""
    functions = module.rows("functions")

    assert pairs(functions) == facts.functions
    assert set(module.rows("entries").tolist()) == facts.entries
    for function in functions:
        names = facts.names.get(int(function["start"]), {""})
        assert module.name(function["name"]) in names


def test_unwind_tables_are_found(module, facts):
    """Every FDE is known, and signal frames are marked."""
    expected = {
        (start, start + fde["address_range"], "S" in fde.cie["augmentation"].decode())
        for start, fde in facts.fdes.items()
    }

    rows = module.rows("fdes").tolist()
    assert {(start, end, bool(signal)) for start, end, _, signal in rows} == expected


def test_relocation_is_known(module, facts):
    """What relocation puts into data is known, with the names of what other modules bring."""
    if facts.elf.get_section_by_name(".dynamic") is None:
        pytest.skip("nothing relocates a static program from outside")
    imports = {slot: module.name(name) for slot, name in module.rows("imports").tolist()}
    pointers = set(module.rows("pointers").tolist())

    assert dict(pairs(module.rows("relocated"))) == facts.relocated
    assert imports == facts.imports
    assert pointers >= facts.pointers
    assert pointers == facts.pointers or facts.elf["e_type"] == "ET_EXEC"


def test_what_is_static_is_told(module, facts):
    """Only what has no interpreter and is no library is static."""
    flags = (
        {
            tag["d_val"]
            for tag in facts.elf.get_section_by_name(".dynamic").iter_tags()
            if tag["d_tag"] == "DT_FLAGS_1"
        }
        if facts.elf.get_section_by_name(".dynamic")
        else {0}
    )
    is_program = facts.elf["e_type"] == "ET_EXEC" or any(flag & 0x08000000 for flag in flags)
    has_interpreter = any(facts.elf.iter_segments("PT_INTERP"))

    assert module.is_static == (is_program and not has_interpreter)


# ---- unwind tables of copies ----


def effective(found, low, high):
    """Cut rules to a range: those before it hold from its beginning on."""
    return [(max(at, low), rule) for at, rule in found if at < high]


@pytest.mark.parametrize("every", [1, 7])
def test_a_copy_unwinds_as_the_original(module, facts, every):
    """Rules, routines and exception tables are the same at the places of the copy."""
    addresses = np.arange(module.highest - module.lowest + 1, dtype=np.int64)
    places = (4096 + addresses + addresses // every * 3).astype(np.uint32)
    delta = module.highest + 65536
    carried = module.carry_over(places, delta)
    copied = table_of(carried)

    def place(address):
        return delta + int(places[address - module.lowest])

    def read_copy(address, n):
        return carried.code[address - delta : address - delta + n]

    functions = module.rows("functions")
    signal_frames = set(functions["start"][functions["is_signal_frame"]].tolist())
    assert carried.lost == signal_frames
    for start, fde in facts.fdes.items():
        if facts.code_end(start) is None or start in signal_frames:
            continue
        copy = copied[place(start)]
        end = start + fde["address_range"]
        expected = [(place(at), rule) for at, rule in effective(rules(fde), start, end)]

        assert copy["address_range"] == place(end) - place(start)
        if expected and expected[-1][1][0] == DEF_CFA_EXPRESSION and start in dict(facts.stubs):
            assert_stubs_unwind(copy, place, fde, start, end)
        else:
            assert rules(copy) == expected
        assert same_cie(module, facts, fde, read_copy, carried, copy)
        assert bool(fde.lsda_pointer) == bool(copy.lsda_pointer)
        if fde.lsda_pointer:
            assert call_sites(read_copy, copy.lsda_pointer, place(start), {}) == [
                (place(begin), place(to), place(pad) if pad else 0, caught)
                for begin, to, pad, caught in call_sites(
                    module.bytes, fde.lsda_pointer, start, facts.relocated
                )
            ]


def table_of(carried):
    """Return the FDEs of a copy, and check the index of them."""
    at = carried.header
    begin = at + 4 + struct.unpack_from("<i", carried.code, at + 4)[0]
    (n,) = struct.unpack_from("<I", carried.code, at + 8)
    index = [struct.unpack_from("<ii", carried.code, at + 12 + 8 * i) for i in range(n)]
    found = frames_of(carried.code[begin:at], carried.delta + begin)

    assert carried.code[at : at + 4] == bytes([1, 0x1B, 0x03, 0x3B])
    assert [start for start, _ in index] == sorted(start for start, _ in index)
    assert {at + start + carried.delta: at + fde for start, fde in index} == {
        start: begin + fde.offset for start, fde in found.items()
    }
    return found


def same_cie(module, facts, fde, read_copy, carried, copy):
    """Tell whether both have the same routine; that of the copy is among what points outwards."""
    section = facts.elf.get_section_by_name(".eh_frame")["sh_addr"]
    begin = carried.header + 4 + struct.unpack_from("<i", carried.code, carried.header + 4)[0]
    original = personality(module.bytes, section + fde.cie.offset, facts.relocated)
    new = personality(read_copy, carried.delta + begin + copy.cie.offset, {})
    # Of a CIE as it is written here the routine's distance is at byte 19.
    return original == new and (new is None or begin + copy.cie.offset + 19 in carried.outward)


def assert_stubs_unwind(copy, place, fde, start, end):
    """Stubs' frames, of which linkers tell by the low bits of addresses, are the same."""
    last = next(one for one in fde.instructions if one.opcode == DEF_CFA_EXPRESSION)
    pushed = last.args[0][6] - LITERAL_0
    table = [(row["pc"], row["cfa"]) for row in copy.get_decoded().table]
    first = next(at for at, rule in rules(fde) if rule[0] == DEF_CFA_EXPRESSION)
    for address in range(first, end):
        cfa = [rule for at, rule in table if at <= place(address)][-1]

        assert cfa.reg == 7
        assert cfa.offset == 8 + 8 * (address % 16 >= pushed)


# ---- restartable sequences ----

RESTARTED = r"""
#define SEQUENCE(rest) __asm__ volatile( \
    ".pushsection __rseq_cs, \"aw\"\n .balign 32\n .long 0, 0\n .quad 1f, 2f - 1f, 3f\n" \
    ".popsection\n 1: nop\n nop\n 2:\n" rest ::: "memory")
int plain(int x) { return x + 1; }
int restarted(int x) { SEQUENCE("3: nop"); return x; }
int between(int x) { return x + 2; }
int elsewhere(int x) { SEQUENCE(".pushsection .text.abort, \"ax\"\n .globl aborted\n"
    ".type aborted, @function\n aborted: 3: nop\n jmp 2b\n .size aborted, . - aborted\n"
    ".popsection"); return x; }
"""


@pytest.mark.parametrize("options", [["-shared", "-fPIC"], ["-no-pie", "-nostartfiles"]])
def test_functions_with_restartable_sequences_are_marked(tmp_path, options):
    """The kernel knows addresses of such functions, and of where they go on when interrupted."""
    made = tmp_path / "restarted"
    command = [compiler(), "-O1", *options, "-Wl,-e,plain", "-x", "c", "-", "-o", made]
    subprocess.run(command, input=RESTARTED.encode(), check=True)
    with open_module(made) as module:
        functions = module.rows("functions")
        marked = {module.name(one["name"]) for one in functions if one["is_in_rseq"]}

        assert marked == {"restarted", "elsewhere", "aborted"}
        assert len(functions) >= 5


# ---- without sections, and damaged ----


def test_sections_are_not_needed(path, tmp_path):
    """A file without section headers tells the same by its program headers."""
    stripped, bare = tmp_path / "stripped", tmp_path / "bare"
    shutil.copy(path, stripped)
    subprocess.run(["strip", stripped], check=True)
    data = bytearray(stripped.read_bytes())
    data[0x28:0x30] = bytes(8)
    data[0x3A:0x40] = bytes(6)
    bare.write_bytes(data)
    if not any(ElfFile(stripped).elf.iter_segments("PT_GNU_EH_FRAME")):
        pytest.skip("nothing but a section tells where its unwind tables are")
    with open_module(stripped) as whole, open_module(bare) as without:
        assert pairs(without.rows("functions")) == pairs(whole.rows("functions"))
        assert pairs(without.rows("relocated")) == pairs(whole.rows("relocated"))
        assert pairs(without.rows("fdes")) == pairs(whole.rows("fdes"))
        assert len(without.rows("imports")) == len(whole.rows("imports"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "it is not an ELF file"),
        (b"#!/bin/sh\n" * 10, "it is not an ELF file"),
        (b"\x7fELF\x01\x01\x01" + bytes(60), "it is not for x86-64"),
    ],
)
def test_what_is_no_module_is_refused(tmp_path, text, reason):
    """Other files are refused with a reason."""
    other = tmp_path / "other"
    other.write_bytes(text)

    with pytest.raises(ValueError, match=reason), open_module(other):
        pass


def test_files_are_told_apart(tmp_path):
    """A copy of a file has its identity, with or without a build id; a changed one has another."""
    one = tmp_path / "one"
    for option in ("-Wl,--build-id=none", "-Wl,--build-id=sha1"):
        command = [compiler(), "-shared", option, "-x", "c", "-", "-o", one]
        subprocess.run(command, input=b"int one(void) { return 1; }", check=True)
        other = shutil.copy(one, tmp_path / "other")
        with open_module(one) as a, open_module(other) as b:
            assert a.identity == b.identity
        subprocess.run(command, input=b"int one(void) { return 2; }", check=True)
        with open_module(one) as a, open_module(other) as b:
            assert a.identity != b.identity


SANITIZED = [
    "-std=gnu11", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
    "-DRIDGEPOINT_OWN_SYSTEM", f"-I{SOURCE}",
]  # fmt: skip
RENAMED = [f"-D{name}=unchecked_{name}" for name in ("memcpy", "memmove", "memset", "memcmp")]


@pytest.fixture(scope="module")
def opens_damaged(tmp_path_factory):
    """Compile the program that opens damaged copies."""
    folder = tmp_path_factory.mktemp("damaged")
    memory, program = folder / "memory.o", folder / "damaged_modules"
    write_table(folder)
    sanitized = [compiler(), *SANITIZED, f"-I{folder}"]
    renamed = [*sanitized, *RENAMED, "-fno-builtin", "-c", SOURCE / "memory.c"]
    files = [PROGRAMS / "damaged_modules.c", *(SOURCE / name for name in READERS), memory]
    for command in [[*renamed, "-o", memory], [*sanitized, *files, "-o", program]]:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"no sanitizers here: {done.stderr}")
    return program


def test_damaged_modules_do_no_harm(opens_damaged, path):
    """Whatever bytes are changed or cut off: it ends soon, and touches nothing beyond."""
    copies = 1000 if path.stat().st_size < 100_000 else 30
    done = subprocess.run(
        [opens_damaged, path, "1", str(copies)], check=False, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr
    opened, slowest_s = re.match(r"(\d+) of .* took ([\d.]+) s", done.stdout).groups()
    assert int(opened) > copies / 2
    assert float(slowest_s) < 5
