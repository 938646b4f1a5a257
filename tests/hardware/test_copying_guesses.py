"""Functions are found in modules that are stripped and have no unwind tables, and nothing else.

The oracles are the same files before they were stripped.
"""

import bisect
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from copying_code import compiler, open_module
from iced_x86 import Decoder
from modules_by_elftools import ElfFile

PROGRAM = Path(__file__).parents[1] / "programs" / "callbacks.c"
FUNCTIONS = {"dot", "compare", "fill", "twice", "squared", "chosen", "at_exit", "main"}
WITHOUT_TABLES = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
PT_GNU_EH_FRAME = 0x6474E550
(LIBC,) = {
    line.split()[-1]
    for line in Path("/proc/self/maps").read_text().splitlines()
    if re.search(r" r-xp .*/libc[-.].*so", line)
}


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-Os"])
@pytest.mark.parametrize("kind", [["-pie", "-fPIE"], ["-no-pie", "-fno-pie"]])
def test_every_function_of_a_program_is_found(tmp_path, level, kind):
    """What is called, passed on, kept in tables or given to libraries is found."""
    made, stripped = tmp_path / "callbacks", tmp_path / "stripped"
    command = [compiler(), level, *kind, *WITHOUT_TABLES, PROGRAM, "-o", made]
    subprocess.run(command, check=True)
    subprocess.run(["strip", "-o", stripped, made], check=True)
    with open_module(made) as known, open_module(stripped) as guessed:
        named = {known.name(row["name"]): int(row["start"]) for row in known.rows("functions")}
        found = {int(row["start"]) for row in guessed.rows("functions") if row["is_guessed"]}

        assert {name for name in FUNCTIONS if named[name] in found} == FUNCTIONS


def bare(path, made):
    """Take symbols and unwind tables out of a file."""
    sections = ["--remove-section=.eh_frame", "--remove-section=.eh_frame_hdr"]
    command = ["objcopy", "--strip-all", *sections, path, made]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    data = bytearray(made.read_bytes())
    (at,) = struct.unpack_from("<Q", data, 32)
    (n,) = struct.unpack_from("<H", data, 56)
    for header in range(at, at + 56 * n, 56):
        if struct.unpack_from("<I", data, header)[0] == PT_GNU_EH_FRAME:
            struct.pack_into("<I", data, header, 0)
    made.write_bytes(data)


@pytest.mark.skipif(shutil.which("objcopy") is None, reason="objcopy is not installed")
def test_guesses_are_instructions_of_true_functions(tmp_path):
    """Of the C library most code is found, and no place that is not the start of an instruction.

    Constants that lie between functions would be written into where one is taken for code.
    """
    made = tmp_path / "bare"
    bare(LIBC, made)
    facts = ElfFile(LIBC)
    starts = [start for start, _ in facts.functions]
    with open_module(made) as module, open_module(LIBC) as whole:
        functions = module.rows("functions")
        assert not whole.rows("functions")["is_guessed"].any()
    covered = 0
    for function in functions:
        start, end = int(function["start"]), int(function["end"])
        at = bisect.bisect(starts, start) - 1
        true_start, true_end = facts.functions[at]
        covered += min(end, true_end) - start if true_start <= start < true_end else 0
        if function["is_guessed"] and not function["is_signal_frame"]:
            code = facts.bytes(true_start, true_end - true_start)
            assert start in {one.ip for one in Decoder(64, code, ip=true_start)}

    assert functions["is_guessed"].sum() > 1000
    assert covered > 0.9 * sum(end - start for start, end in facts.functions)


def test_where_signals_return_to_is_no_guess(tmp_path):
    """Unwinders know the code that signals return to by its bytes, so it stays where it is."""
    source = """
    #include <stdint.h>
    __asm__(".globl restore\\n.type restore, @function\\n"
            "restore: mov $15, %eax\\n syscall\\n .size restore, . - restore");
    extern void restore(void);
    uintptr_t where(void) { return (uintptr_t)restore; }
    """
    made = tmp_path / "restorer"
    command = [compiler(), "-shared", "-fPIC", "-x", "c", "-", "-o", made]
    subprocess.run(command, input=source.encode(), check=True)
    with open_module(made) as module:
        marked = [
            module.name(row["name"]) for row in module.rows("functions") if row["is_signal_frame"]
        ]

        assert marked == ["restore"]
