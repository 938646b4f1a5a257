"""The lines that copies have are those that pyelftools reads of the same modules."""

import ctypes.util
import itertools
import os
import random
import shutil
import subprocess

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

from ridgepoint.meters.native.build import native_engine
from ridgepoint.meters.native.copy_file import read_copy

SOURCES = {
    "main.c": """
#include <stdio.h>
#include "inner/shared.h"
#include "beside.h"
int other(int);
#line 77 "made up/words.y"
int lined(int x) { return x * 7 + other(x); }
#line 9 "/absolute/words.y"
int lined_too(int x) { return x * 5 - other(x); }
#line 12 "main.c"
int main(int count, char **words) {
    int sum = twice(count) + beside(count);
    for (int i = 0; i < 10 * count; i++) {
        sum += other(i);
        switch (i) {
        case 1: sum++; break;
        case 2: sum += lined(sum); break;
        case 3: sum -= lined_too(i); break;
        default: sum ^= i;
        }
    }
    return !words + !printf("%d\\n", sum);
}
""",
    "beside.h": "static int beside(int x) { return x > 3 ? 5 * x : x; }\n",
    "inner/shared.h": """
static inline int twice(int x) {
    int sum = 0;
    for (int i = 0; i < x; i++) sum += i * i;
    return sum;
}
""",
    "parts/other.c": """
#include "../inner/shared.h"
#include "near.h"
int other(int x) { return twice(x) + near_by(x); }
int never(int x) { return x - twice(x); }
__attribute__((section(".text.apart"))) int apart(int x) { return 3 - twice(x); }
""",
    "parts/near.h": "static inline int near_by(int x) { return x & 1 ? x / 3 : -x; }\n",
}
OPTIONS = {
    "": [],
    "sections": ["-ffunction-sections", "-Wl,--gc-sections"],
    "packed": ["-gz=zlib"],
    "elsewhere": ["-ffile-prefix-map={folder}=."],
    "split": ["-gsplit-dwarf"],
}
KINDS = list(itertools.product(["gcc", "clang"], range(2, 6), ["-O0", "-O2"], OPTIONS))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write the sources."""
    made = tmp_path_factory.mktemp("lines")
    for name, text in SOURCES.items():
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(text)
    return made


def compiled(folder, compiler, version, *options):
    """Return a program with debug information of a version of DWARF."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    if "-gz=zlib" in options and ctypes.util.find_library("z") is None:
        pytest.skip("zlib is not installed")
    own = [option.format(folder=folder) for option in options]
    command = [compiler, f"-gdwarf-{version}", *own, "-Iinner", "main.c", "parts/other.c"]
    done = subprocess.run(
        [*command, "-o", "program"], check=False, cwd=folder, capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"{' '.join(command)} does not work here: {done.stderr}")
    return folder / "program"


def copied_lines(path, copy):
    """Return the lines of a copy: address, source and number of each row."""
    subprocess.run([native_engine().copier, path, copy], check=True, timeout=60)
    found = read_copy(copy)
    return found, [
        (row["at"] + found.lowest, found.name(row["file"]), row["line"]) for row in found.lines
    ]


def lines_by_elftools(path):
    """Return address, source and line of each row; of several of one address the last counts.

    What linkers dropped has addresses that hold no code.
    """
    rows = {}
    with path.open("rb") as file:
        elf = ELFFile(file)
        dwarf = elf.get_dwarf_info(relocate_dwarf_sections=False)
        code = [
            (part["sh_addr"], part["sh_addr"] + part["sh_size"])
            for part in elf.iter_sections()
            if part["sh_flags"] & 4
        ]
        for unit in dwarf.iter_CUs():
            program = dwarf.line_program_for_CU(unit)
            for sequence in sequences(program, unit):
                begin = sequence[0][0]
                if any(low <= begin < high for low, high in code):
                    for address, source, line in sequence:
                        if line or rows.get(address, ("", 0))[1] == 0:
                            rows[address] = (source, line)
    return sorted((address, *row) for address, row in rows.items())


def sequences(program, unit):
    """Yield the rows of each sequence of a program."""
    attribute = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
    ran_in = "" if attribute is None else os.fsdecode(attribute.value)
    counts_from_0 = program.header["version"] >= 5
    folders = [os.fsdecode(name) for name in program.header["include_directory"]]
    folders[: int(counts_from_0)] = [""]
    rows = []
    for entry in program.get_entries():
        if (state := entry.state) is None:
            continue
        if state.end_sequence:
            yield [*rows, (state.address, "", 0)]
            rows = []
        elif state.line:
            file = program.header["file_entry"][state.file - (not counts_from_0)]
            parts = ran_in, folders[file.dir_index], os.fsdecode(file.name)
            rows.append((state.address, os.path.join(*parts), state.line))
        else:
            rows.append((state.address, "", 0))


@pytest.mark.parametrize(("compiler", "version", "optimized", "options"), KINDS)
def test_lines_are_those_of_the_debug_information(
    folder, tmp_path, compiler, version, optimized, options
):
    """At every address at which a row begins, and nowhere else does one."""
    path = compiled(folder, compiler, version, optimized, *OPTIONS[options])
    copy, rows = copied_lines(path, tmp_path / "copy")
    expected = lines_by_elftools(path)
    addresses = np.array([address for address, _, _ in expected], np.uint64)
    lines, files = copy.lines_at(addresses)

    assert len(expected) > 30
    assert {source for _, source, _ in expected} >= {"/absolute/words.y"}
    assert [(copy.name(file), line) for file, line in zip(files, lines, strict=True)] == [
        (source, line) for _, source, line in expected
    ]
    assert {address for address, _, _ in rows} <= set(addresses.tolist())


def test_addresses_before_the_first_line_have_none(folder, tmp_path):
    """As code of the start-up files, which have no debug information."""
    copy, rows = copied_lines(compiled(folder, "gcc", 5), tmp_path / "copy")
    lines, files = copy.lines_at(np.array([rows[0][0] - 1], np.uint64))

    assert (lines.tolist(), files.tolist()) == ([0], [0])


@pytest.mark.parametrize("place", ["program.debug", ".debug/program.debug"])
def test_debug_information_may_be_in_a_file_apart(folder, tmp_path, place):
    """Beside the program or in a folder there, if it has the checksum that the program states."""
    if shutil.which("objcopy") is None:
        pytest.skip("objcopy is not installed")
    path, apart = tmp_path / "stripped", tmp_path / place
    apart.parent.mkdir(exist_ok=True)
    whole = compiled(folder, "gcc", 5)
    subprocess.run(["objcopy", "--only-keep-debug", whole, apart], check=True)
    link = f"--add-gnu-debuglink={apart}"
    subprocess.run(["objcopy", "--strip-all", link, whole, path], check=True)
    _, expected = copied_lines(whole, tmp_path / "copy")
    _, found = copied_lines(path, tmp_path / "copy")
    apart.write_bytes(apart.read_bytes() + b"another")
    _, none = copied_lines(path, tmp_path / "copy")

    assert found == expected != []
    assert none == []


@pytest.mark.parametrize("options", ["", "packed"])
@pytest.mark.parametrize("version", [4, 5])
def test_damaged_debug_information_is_survived(folder, tmp_path, version, options):
    """It may give other lines or none; the module is copied all the same."""
    path = compiled(folder, "gcc", version, "-O2", *OPTIONS[options])
    content = path.read_bytes()
    with path.open("rb") as file:
        sections = [
            (part["sh_offset"], part["sh_size"])
            for part in ELFFile(file).iter_sections()
            if part.name.startswith(".debug_")
        ]
    draw = random.Random(version)
    for number in range(40):
        spoilt = bytearray(content)
        for at, size in draw.choices(sections, k=3):
            place = at + draw.randrange(min(size, 64) if number % 2 else size)
            spoilt[place] = draw.choice([0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)])
        (tmp_path / "spoilt").write_bytes(spoilt)
        copied_lines(tmp_path / "spoilt", tmp_path / "copy")
