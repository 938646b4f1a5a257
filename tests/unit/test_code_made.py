"""Names of code made at run time, in the files that compilers write of it."""

import struct

import numpy as np
import pytest
from engine_file import EngineFile
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.meters.code_made import parse_jitdump, read_code_made
from ridgepoint.meters.engine.profile import parse_profile
from ridgepoint.meters.profile.counts import count
from ridgepoint.meters.profile.naming import Naming
from ridgepoint.meters.symbols import Symbols

ADDSD = "f20f58c1"
RET = "c3"


def header(order="<"):
    """Return the header of a jitdump: 40 byte, x86-64, process 7."""
    return struct.pack(f"{order}IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 7, 0, 0)


def load(address, size, name, order="<"):
    """Return the record of a function that was made, with its code."""
    rest = struct.pack(f"{order}IIQQQQ", 7, 7, address, address, size, 1)
    rest += name.encode() + b"\0" + bytes(size)
    return struct.pack(f"{order}IIQ", 0, 16 + len(rest), 0) + rest


def moved(old, new, size):
    """Return the record of a function that was moved."""
    rest = struct.pack("<IIQQQQQ", 7, 7, new, old, new, size, 1)
    return struct.pack("<IIQ", 1, 16 + len(rest), 0) + rest


OTHER = struct.pack("<IIQ", 2, 24, 0) + bytes(8)  # lines of its source


@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
def test_functions_of_a_jitdump_are_told(order):
    """By address, size and name, in the byte order of their machine."""
    made = parse_jitdump(header(order) + load(0x4000, 0x20, "f(int) [1]", order))

    assert made.names_at(0x401F) == ("f(int) [1]",)
    assert made.names_at(0x4020) == ()


def test_functions_that_move_are_at_both_places():
    """Records of other kinds are skipped."""
    made = parse_jitdump(header() + load(0x4000, 16, "f") + OTHER + moved(0x4000, 0x9000, 16))

    assert made.names_at(0x9008) == made.names_at(0x4008) == ("f",)


def test_what_was_written_before_a_cut_counts():
    """The program was ended while it wrote."""
    first, second = load(0x4000, 16, "f"), load(0x5000, 16, "g")

    for cut in range(len(second)):
        assert parse_jitdump(header() + first + second[:cut]).names == (("f",),)


@given(st.binary(max_size=300))
def test_nonsense_ends(content):
    """It names something or nothing."""
    parse_jitdump(content)
    parse_jitdump(header() + content)


def test_both_kinds_of_files_are_read(monkeypatch, tmp_path):
    """A map, and a jitdump in the current folder or in one of LLVM's."""
    monkeypatch.setattr("ridgepoint.meters.code_made._MAPS", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JITDUMPDIR", str(tmp_path))
    (tmp_path / ".debug" / "jit" / "llvm-1").mkdir(parents=True)
    (tmp_path / "perf-7.map").write_text("4000 20 of the map\n")
    (tmp_path / "jit-7.dump").write_bytes(header() + load(0x5000, 16, "of here"))
    (tmp_path / ".debug/jit/llvm-1/jit-8.dump").write_bytes(header() + load(0x6000, 16, "of LLVM"))
    made = read_code_made([7, 8, 9], since_s=0)

    assert made[7].names == (("of the map",), ("of here",))
    assert made[8].names == (("of LLVM",),)
    assert set(made) == {7, 8}


@given(
    st.lists(st.tuples(st.integers(0, 200), st.integers(1, 60)), max_size=12),
    st.lists(st.integers(0, 270), max_size=20),
)
def test_many_addresses_have_the_names_that_each_has(spans, addresses):
    """Functions may lie within each other."""
    order = sorted(set(spans), key=lambda span: (span[0], -span[1]))
    symbols = Symbols(
        begins=[begin for begin, _ in order],
        ends=[begin + size for begin, size in order],
        names=tuple((f"{begin} {size}",) for begin, size in order),
    )
    places = symbols.places_of(np.array(addresses, dtype=np.uint64)).tolist()

    assert [symbols.names[i] if i >= 0 else () for i in places] == [
        symbols.names_at(address) for address in addresses
    ]


def naming(monkeypatch, *, made=(), packed=()):
    """Return what knows some functions of process 7, and of stripped files."""

    def symbols(functions):
        begins, ends, names = zip(*functions, strict=True)
        return Symbols(begins=begins, ends=ends, names=tuple((name,) for name in names))

    found = Naming(since_s=0.0)
    monkeypatch.setattr(
        "ridgepoint.meters.profile.naming.read_code_made",
        lambda pids, since_s: {7: symbols(made)} if made and pids == [7] else {},
    )
    monkeypatch.setattr(
        "ridgepoint.meters.profile.naming.read_packed_symbols",
        lambda path: symbols(packed) if packed and path == "/lib/a.so" else Symbols(),
    )
    return found


def functions(file, named):
    """Return instructions by object and name."""
    totals = count([parse_profile(file.written(), source="test")], naming=named)
    return {(f.object, f.name): f.counts.instructions for f in totals.functions}


def test_two_makes_of_one_function_are_one(monkeypatch):
    """A compiler makes it anew elsewhere; what is at no known place keeps its address."""
    file = EngineFile(pid=7)
    for address, passes in ((0x7000, 1), (0x7004, 2), (0x9000, 4), (0xB000, 8)):
        file.run(file.instruction(RET, address), passes)
    named = naming(monkeypatch, made=[(0x7000, 0x7010, "f"), (0x9000, 0x9010, "f")])

    assert functions(file, named) == {(None, "f"): 7, (None, "0x000000000000b000"): 8}


def test_code_behind_a_named_function_is_another(monkeypatch):
    """By the addresses in the file, which is loaded elsewhere; symbols of others stay."""
    file = EngineFile(pid=7)
    for at, function, passes in ((0x100, "", 1), (0x200, "", 2), (0x208, "", 4), (0x300, "g", 8)):
        code = file.instruction(ADDSD, at + 0x4000000, at=at, path="/lib/a.so", function=function)
        file.run(code, passes)
    named = naming(monkeypatch, packed=[(0x100, 0x208, "f"), (0x300, 0x308, "other")])

    assert functions(file, named) == {
        ("/lib/a.so", "f"): 3,
        ("/lib/a.so", "0x0000000000000208"): 4,
        ("/lib/a.so", "g"): 8,
    }


def test_names_of_another_process_are_not_taken(monkeypatch):
    """At the same address there is other code."""
    file = EngineFile(pid=8)
    file.run(file.instruction(RET, 0x7000), 1)
    named = naming(monkeypatch, made=[(0x7000, 0x7010, "f")])

    assert functions(file, named) == {(None, "0x0000000000007000"): 1}
