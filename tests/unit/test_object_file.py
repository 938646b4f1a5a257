"""Object files built byte by byte: no compiler, no process."""

import struct

import pytest

from ridgepoint.core.errors import InvalidDocument
from ridgepoint.meters.callgrind.places import placed
from ridgepoint.meters.callgrind.profile import FunctionCosts, Profile
from ridgepoint.meters.object_file import (
    CodeStore,
    ObjectFile,
    foreign_architecture,
    holds_avx512,
)

ADDRESS = 0x401000
# addsd; add; sub; nop, nop, ...: at the last, decoding that began anywhere falls into step
PLAIN = (bytes.fromhex("f20f58c1" + "4883c001" + "4883e801") + 6 * b"\x90") * 40 + b"\xc3"
WIDE = bytes.fromhex("62f1ed4858d9")  # vaddpd %zmm1,%zmm2,%zmm3
# movabs, whose immediate is a whole EVEX instruction
HIDING = bytes.fromhex("48b8") + WIDE + b"\x90\x90"


def elf(code, *, machine=62, flags=5):
    """Return a minimal ELF file with one segment of code (62 is EM_X86_64, 5 is PF_R | PF_X)."""
    identity = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    header = struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, ADDRESS, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    size = len(code)
    segment = struct.pack("<IIQQQQQQ", 1, flags, 120, ADDRESS, ADDRESS, size, size, 4096)
    return identity + header + segment + code


@pytest.fixture
def written(tmp_path):
    """Write an ELF file with some code and return its path."""

    def write(code, **others):
        path = tmp_path / "object"
        path.write_bytes(elf(code, **others))
        return str(path)

    return write


def test_code_is_found_by_its_address(written):
    """An address within the segment gives it; one before or behind gives None."""
    file = ObjectFile.read(written(PLAIN))

    assert file.segment_of(ADDRESS).code == PLAIN
    assert file.segment_of(ADDRESS + len(PLAIN) - 1) is not None
    assert file.segment_of(ADDRESS + len(PLAIN)) is None
    assert file.segment_of(ADDRESS - 1) is None


def test_data_is_no_code(written):
    """A segment that is not executable holds no code."""
    assert ObjectFile.read(written(PLAIN, flags=4)).segments == ()


@pytest.mark.parametrize(
    ("code", "wide"),
    [
        (PLAIN, False),
        (PLAIN + WIDE + PLAIN, True),
        (WIDE + b"\xc3", True),
        (PLAIN + HIDING * 20 + PLAIN, False),
        (b"", False),
    ],
    ids=["plain", "wide", "nothing else", "in immediates", "empty"],
)
def test_avx512_is_found_where_it_is_an_instruction(code, wide, written):
    """Four bytes that look like a prefix within another instruction are none."""
    assert holds_avx512(written(code)) is wide


def test_another_architecture_is_named(written, tmp_path):
    """183 is EM_AARCH64; a script has no architecture."""
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")

    assert foreign_architecture(written(PLAIN, machine=183)) == "AARCH64 (64-bit)"
    assert foreign_architecture(written(PLAIN)) is None
    assert foreign_architecture(str(script)) is None


@pytest.mark.parametrize("content", [b"", b"\x7fELF", elf(PLAIN)[:80], elf(PLAIN, machine=3)])
def test_what_is_no_object_file_is_refused(content, tmp_path):
    """Empty, cut and foreign files are refused with a reason."""
    path = tmp_path / "object"
    path.write_bytes(content)

    with pytest.raises(InvalidDocument, match="cannot read the code"):
        ObjectFile.read(str(path))


def test_an_object_that_changed_after_it_ran_is_not_used(written):
    """Its bytes may be others than those that were executed."""
    path = written(PLAIN)
    changed_ns = ObjectFile.read(path).changed_ns
    before, after = CodeStore(), CodeStore()
    before.executed(path, until_ns=changed_ns + 1)
    after.executed(path, until_ns=changed_ns - 1)

    assert before.get(path) is not None
    assert after.get(path) is None
    assert after.get(path + ".gone") is None


def test_code_without_object_is_ascribed_by_the_call_to_it(written):
    """A call to offset 16 that went to 0x7000010 shows where the object was loaded."""
    call = b"\xe8" + (16 - 5).to_bytes(4, "little")  # from offset 0 to offset 16
    path = written(call + b"\x90" * 40)
    costs = {
        (path, "main"): FunctionCosts(executions={ADDRESS: 1}, events=[1]),
        (None, "0x7000010"): FunctionCosts(executions={0x7000010: 3}, events=[3]),
        (None, "0x9000000"): FunctionCosts(executions={0x9000000: 2}, events=[2]),
    }
    profile = Profile(
        pid=1,
        command="x",
        thread=1,
        first_block=0,
        trigger="",
        events=("Ir",),
        functions=costs,
        calls_out=frozenset({(path, ADDRESS, 0x7000010)}),
    )

    (found,) = placed([profile], CodeStore())
    assert {key: one.executions for key, one in found.functions.items()} == {
        (path, "main"): {ADDRESS: 1},
        (path, f"{ADDRESS + 16:#018x}"): {ADDRESS + 16: 3},
        (None, "0x9000000"): {0x9000000: 2},
    }
