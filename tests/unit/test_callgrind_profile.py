"""Profiles and logs of callgrind: captured ones, and ones broken by hand."""

from pathlib import Path

import pytest

from ridgepoint.core.errors import CannotMeasure, InvalidDocument
from ridgepoint.core.machine import Cache
from ridgepoint.meters.callgrind.geometry import simulated
from ridgepoint.meters.callgrind.profile import parse_profile
from ridgepoint.meters.valgrind.log import parse_log

DATA = Path(__file__).parents[1] / "data" / "callgrind"
TINY = (DATA / "tiny.out").read_text()
EVENTS = "Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw ILdmr DLdmr DLdmw"

# Written by hand after the manual's format specification: inlined code (fi, fe), names in full,
# a callee in another object, jumps, positions of every form, an object named before its use.
BY_HAND = """\
# callgrind format
version: 1
creator: by hand
pid: 7
cmd: ./prog -D x=1
part: 1
positions: instr
events: Ir Dr
summary: 20 3

ob=(1) /opt/prog
fl=(1) main.c
fn=(1) main
0x100 1 1
fi=(2) inline.h
+4 2
fe=(1)
* 3
jump=2 0x200
-2 
jcnd=1/2 +0x10
+2
cob=(2) /opt/lib
cfi=(3) lib.c
cfn=(9) (below main)
calls=5 0x900
0x110 1000 500
cob=(3) ???
cfn=(10) 0x4838000
calls=1 0x4838000
+4 8
cfn=(11) near
calls=1 -4
* 8

ob=(2)
fn=(9)
0x900 7 2
fn=(below all)
+1 4
ob=???
fn=(10)
0x4838000 3
totals: 20 3
"""


def test_a_captured_profile_gives_executions_per_address():
    """tiny.s runs f twice, its loop five times each: the counts follow from the source."""
    profile = parse_profile(TINY.splitlines(), source="tiny.out")
    by_name = {name: costs for (_, name), costs in profile.functions.items()}

    assert list(by_name) == ["f", "(below main)"]  # Valgrind renames _start
    # mov once per call, the four of the loop five times per call, ret once per call
    assert by_name["f"].executions == {
        0x401000: 2,
        0x401005: 10,
        0x401009: 10,
        0x40100D: 10,
        0x40100F: 10,
        0x401011: 2,
    }
    # sub and two calls; the block of the system call that ends the process is not written
    assert by_name["(below main)"].executions == {0x401012: 1, 0x401016: 1, 0x40101B: 1}


def test_a_captured_profile_gives_events_per_function():
    """Stores of f: one per iteration, 10; of _start: its two calls push an address."""
    profile = parse_profile(TINY.splitlines(), source="tiny.out")
    writes = profile.events.index("Dw")
    by_name = {name: costs.events for (_, name), costs in profile.functions.items()}

    assert profile.events == tuple(EVENTS.split())
    assert (by_name["f"][0], by_name["f"][writes]) == (44, 10)
    assert (by_name["(below main)"][0], by_name["(below main)"][writes]) == (3, 2)


def test_the_header_says_which_process_wrote_it():
    """Process, thread, first block and reason are taken from the header."""
    profile = parse_profile(TINY.splitlines(keepends=True), source="tiny.out")

    assert profile.command == "./tiny"
    assert (profile.thread, profile.first_block) == (1, 0)
    assert profile.trigger == "Program termination"
    assert next(iter(profile.functions))[0] == "/tmp/tiny/tiny"


def test_every_form_of_the_format_is_read():
    """Costs of callees and jumps are no costs of the caller; positions may be relative."""
    profile = parse_profile(BY_HAND.splitlines(), source="by hand")

    assert {key: costs.executions for key, costs in profile.functions.items()} == {
        ("/opt/prog", "main"): {0x100: 1, 0x104: 5},
        ("/opt/lib", "(below main)"): {0x900: 7},
        ("/opt/lib", "(below all)"): {0x901: 4},
        (None, "0x4838000"): {0x4838000: 3},
    }
    assert [costs.events for costs in profile.functions.values()] == [
        [6, 1],
        [7, 2],
        [4, 0],
        [3, 0],
    ]
    assert profile.calls_out == {("/opt/prog", 0x114, 0x4838000)}
    assert profile.command == "./prog -D x=1"
    assert profile.first_block is None


def test_a_command_may_hold_line_ends():
    """Lines of a program given on the command line are not taken for lines of the profile."""
    text = BY_HAND.replace("-D x=1", "-c import numpy\n\nfn=(1) f\n0x100 99 99\ntotals: 1")
    profile = parse_profile(text.splitlines(keepends=True), source="many lines")

    assert profile.command == "./prog -c import numpy\n\nfn=(1) f\n0x100 99 99\ntotals: 1"
    assert profile.functions["/opt/prog", "main"].executions == {0x100: 1, 0x104: 5}


def test_parts_in_one_file_add_up():
    """A file of several parts states totals for each; the costs are their sum."""
    second = "\npart: 2\n\nfn=(1)\nob=(1)\n0x100 2 2\ntotals: 2 2\n"
    profile = parse_profile((BY_HAND + second).splitlines(), source="two parts")

    assert profile.functions["/opt/prog", "main"].executions[0x100] == 3


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("", ""), "empty or not a profile"),
        (("totals: 20 3\n", ""), "cut short"),
        (("totals: 20 3", "totals: 21 3"), "add up to"),
        (("+1 4", "+1 5"), "add up to"),
        (("0x900 7 2", "0x900 7 2 9 9"), "cannot be read"),
        (("0x900 7 2", "0x900 seven"), "cannot be read"),
        (("0x900 7 2", "0x900"), "cannot be read"),
        (("fn=(9)\n", "fn=(77)\n"), "cannot be read"),
        (("fn=(1) main\n", ""), "belongs to no function"),
        (("positions: instr", "positions: instr line"), "not instruction addresses"),
        (("events: Ir Dr", "events: Dr Ir"), "without instructions first"),
        (("+1 4", "+1 4\nfn"), "not of the format"),
    ],
)
def test_a_broken_profile_is_refused(change, reason):
    """What does not add up, or ends early, is refused and never counted in part."""
    text = BY_HAND.replace(*change) if change[0] else ""

    with pytest.raises(InvalidDocument, match=reason):
        parse_profile(text.splitlines(), source="broken")


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.99])
def test_a_profile_cut_anywhere_is_refused(share):
    """A disk that was full leaves a file that ends in the middle."""
    text = TINY[: int(share * len(TINY))]

    with pytest.raises(InvalidDocument):
        parse_profile(text.splitlines(), source="cut")


def test_an_unhandled_instruction_is_found_in_the_log():
    """The log gives address, bytes and object of what Valgrind could not execute."""
    log = parse_log((DATA / "avx512.log").read_text().splitlines(), pid=19550)

    assert [(u.address, u.function, u.object) for u in log.unhandled] == [
        (0x109230, None, "/tmp/programs/wide")
    ]
    assert log.unhandled[0].code == bytes.fromhex("62f1fd48104f0162f1f5")
    assert log.ended_by.startswith("Process terminating with default action of signal 4 (SIGILL)")
    assert (log.parent_pid, log.forked) == (19549, False)


def test_an_instruction_that_was_only_translated_is_not_reported():
    """Valgrind complains of bytes when it translates them, even if they are never reached."""
    lines = (DATA / "avx512.log").read_text().splitlines()
    translated = [line for line in lines if "Unrecognised" not in line and "at 0x" not in line]

    assert parse_log(translated, pid=1).unhandled == ()


def _cache(level, kind, size_bytes, ways):
    return Cache(level=level, kind=kind, size_bytes=size_bytes, line_bytes=64, ways=ways)


L1D, L1I = _cache(1, "data", 48 << 10, 12), _cache(1, "instruction", 32 << 10, 8)


@pytest.mark.parametrize(
    ("last", "option"),
    [
        (_cache(2, "unified", 1 << 20, 8), "--LL=1048576,8,64"),
        (_cache(3, "unified", 32 << 20, 16), "--LL=33554432,16,64"),
        # 105 MiB are 105 x 2^14 lines: 2^k sets need a multiple of 105 ways
        (_cache(3, "unified", 105 << 20, 15), "--LL=110100480,105,64"),
        (_cache(3, "unified", 36 << 20, 12), "--LL=37748736,9,64"),
    ],
)
def test_a_geometry_keeps_its_size(last, option):
    """Where sets are no power of two the ways change, and a caution says so."""
    geometry = simulated([L1I, last, L1D])

    assert geometry.options == ("--I1=32768,8,64", "--D1=49152,12,64", option)
    assert bool(geometry.cautions) is (geometry.last.ways != last.ways)


def test_a_machine_without_caches_is_refused():
    """Nothing is made up where the caches are not known."""
    with pytest.raises(CannotMeasure, match="not known"):
        simulated([L1I])
