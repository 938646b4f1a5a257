"""Files of the counting engine, written by hand; every expected number is worked out beside it."""

import contextlib
import struct

import numpy as np
import pytest
from engine_file import HEADER, TAIL, EngineFile, moved_row, section, u64s
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.counts import FlopCount, Traffic
from ridgepoint.core.errors import InvalidDocument
from ridgepoint.core.machine import Cache
from ridgepoint.core.miss_curve import MissCurve
from ridgepoint.meters.engine.profile import parse_profile
from ridgepoint.meters.profile.counts import count

PROGRAM = "/opt/prog"
L1 = Cache(level=1, kind="data", size_bytes=1 << 15, line_bytes=64, ways=8)
L2 = Cache(level=2, kind="unified", size_bytes=1 << 20, line_bytes=64, ways=16)
L1I = Cache(level=1, kind="instruction", size_bytes=1 << 15, line_bytes=64, ways=8)

# GNU as 2.40, the loop of y = a x + y with four elements per iteration, AT&T
LOAD = "c5fd1004c7"  # vmovupd (%rdi,%rax,8),%ymm0
FMA = "c4e2f5a804c6"  # vfmadd213pd (%rsi,%rax,8),%ymm1,%ymm0
STORE = "c5fd1104c6"  # vmovupd %ymm0,(%rsi,%rax,8)
ADD = "4883c004"  # add $4,%rax
COMPARE = "4839d0"  # cmp %rdx,%rax
JUMP = "75e9"  # jne
STOSB = "f3aa"  # rep stosb
SCASB = "f2ae"  # repnz scasb
STREAM = "c5fd2b07"  # vmovntpd %ymm0,(%rdi)
ADDSD = "f20f58c1"  # addsd %xmm1,%xmm0
RET = "c3"
ENDBR64 = "f30f1efa"


def daxpy(*, levels=0, pid=7):
    """Return a run of 100 iterations of the loop, and the number of its first instruction."""
    file = EngineFile(levels=levels, pid=pid)
    address = 0x401000
    for line, code in zip((3, 3, 3, 2, 2, 2), (LOAD, FMA, STORE, ADD, COMPARE, JUMP), strict=True):
        number = file.instruction(
            code, address, path=PROGRAM, function="daxpy", line=("daxpy.c", line)
        )
        file.run(number, 100)
        address += len(code) // 2
    return file


def parsed(file, **changes):
    """Return the profile of a file."""
    return parse_profile(file.written(**changes), source="counts.7.0")


def counted(*files, **options):
    """Return the totals of some files."""
    return count([parsed(file) for file in files], **options)


def levels_of(traffic):
    """Return level, bytes read, bytes written and pending of each part."""
    return [(t.level, t.read_bytes, t.write_bytes, t.pending_write_bytes) for t in traffic]


# --- counts -------------------------------------------------------------------------------------


def test_a_loop_is_counted_by_its_instructions():
    """100 times: two loads and a store of 32 bytes, an FMA of 8 flop, a jump."""
    totals = counted(daxpy())
    counts = totals.counts

    assert (counts.instructions, counts.branches, counts.undecoded) == (600, 100, 0)
    assert (counts.loads, counts.load_bytes) == (200, 6400)
    assert (counts.stores, counts.store_bytes) == (100, 3200)
    assert counts.flop == (
        FlopCount(
            precision="fp64",
            width_bits=256,
            fma=True,
            flop=800,
            instructions=100,
            operation="fma",
        ),
    )
    assert levels_of(totals.traffic) == [("l1", 6400, 3200, None)]
    assert [(f.object, f.name, f.counts) for f in totals.functions] == [(PROGRAM, "daxpy", counts)]


def test_lines_of_a_function_are_counted_apart():
    """Line 3 does the arithmetic, line 2 is the loop: three instructions of each."""
    ((function),) = counted(daxpy()).functions

    assert [
        (one.source, one.line, one.counts.instructions, one.counts.work_flop, one.counts.branches)
        for one in function.lines
    ] == [("daxpy.c", 2, 300, 0, 100), ("daxpy.c", 3, 300, 800, 0)]
    assert [one.traffic[0].read_bytes for one in function.lines] == [0, 6400]


def test_instructions_without_a_line_are_in_their_function_alone():
    """An unknown line is no line 0."""
    file = daxpy()
    file.run(file.instruction(RET, 0x40101E, path=PROGRAM, function="daxpy"), 1)

    (function,) = counted(file).functions
    assert function.counts.instructions == 601
    assert sum(line.counts.instructions for line in function.lines) == 600


def test_lines_that_hardly_matter_are_left_out():
    """A line of one in a thousand instructions is given, one of one in 1002 is not."""
    file = EngineFile()
    for line, passes in ((1, 1001), (2, 2), (3, 1)):
        file.run(
            file.instruction(ADD, 16 * line, path=PROGRAM, function="f", line=("f.c", line)), passes
        )

    (function,) = counted(file).functions
    assert [one.line for one in function.lines] == [1, 2]
    assert function.counts.instructions == 1004


def test_a_line_with_few_instructions_may_matter_by_its_work():
    """All flop of the program are on one line of 1 in 10001 instructions."""
    file = EngineFile()
    for code, line, passes in ((JUMP, 1, 10_000), (FMA, 2, 1)):
        number = file.instruction(code, 16 * line, path=PROGRAM, function="f", line=("f.c", line))
        file.run(number, passes)

    assert [one.line for one in counted(file).functions[0].lines] == [1, 2]


def test_a_repeated_store_is_one_instruction_and_all_its_bytes():
    """Two REP STOSB of 300 bytes together: 302 passes, the last of each being the check alone."""
    file = EngineFile()
    stosb = file.instruction(STOSB, 0x401000, path=PROGRAM, function="memset")
    file.run(stosb, 302)
    file.repeat(stosb, 300)

    counts = counted(file).counts
    assert (counts.instructions, counts.stores, counts.store_bytes) == (2, 2, 300)


def test_a_repeated_comparison_may_be_ended_by_its_flag():
    """Of three REPNE SCASB two found their byte after 5 and 6 iterations, one ran out after 4."""
    file = EngineFile()
    scasb = file.instruction(SCASB, 0x401000, path=PROGRAM, function="strlen")
    file.run(scasb, 16)
    file.repeat(scasb, 15, 2)

    counts = counted(file).counts
    assert (counts.instructions, counts.loads, counts.load_bytes) == (3, 3, 15)


def test_a_repetition_of_nothing_moves_nothing():
    """Four times the count was 0: four instructions, no byte."""
    file = EngineFile()
    file.run(file.instruction(STOSB, 0x401000, path=PROGRAM, function="memset"), 4)

    counts = counted(file).counts
    assert (counts.instructions, counts.stores, counts.store_bytes) == (4, 4, 0)


def test_two_codes_at_one_address_are_two_instructions():
    """Code made at run time: an addition of one double, later of four, at the same place."""
    file = EngineFile()
    file.run(file.instruction(ADDSD, 0x7000), 10)
    file.run(file.instruction("c5ec58d9", 0x7000), 20)  # vaddps %ymm1,%ymm2,%ymm3

    totals = counted(file)
    assert totals.counts.work == {"fp64": 10, "fp32": 160}
    assert [(f.object, f.name) for f in totals.functions] == [(None, "0x0000000000007000")]


@pytest.mark.parametrize("code", ["06", "c5fd10", "f20f58"], ids=["invalid", "cut", "cut SSE"])
def test_bytes_that_are_no_instruction_are_undecoded(code):
    """They must not run on into the bytes of the next one either."""
    file = daxpy()
    file.run(file.instruction(code, 0x500000, path=PROGRAM, function="odd"), 9)

    assert counted(file).counts.undecoded == 9


def test_instructions_that_were_not_executed_leave_no_function():
    """Valgrind translates code ahead."""
    file = daxpy()
    file.instruction(RET, 0x500000, path=PROGRAM, function="unused")

    assert [f.name for f in counted(file).functions] == ["daxpy"]


def test_counts_are_exact_beyond_64_bits():
    """2**62 passes of 8 flop each."""
    file = EngineFile()
    file.run(file.instruction(FMA, 0x401000, path=PROGRAM, function="f"), 1 << 62)

    assert counted(file).counts.work_flop == 1 << 65


# --- functions without a symbol -----------------------------------------------------------------


def test_code_without_a_symbol_is_divided_where_functions_begin():
    """At a direct call's target, at ENDBR64, behind a symbol and a page on; named by file address.

    Loaded 0x4000000 above the addresses in the file; the call at 0x1000 leads to 0x1020.
    """
    file = EngineFile()
    for at, code, passes in (
        (0x1000, "e81b000000", 1),  # call .+0x20
        (0x1005, RET, 1),
        (0x1020, ADDSD, 10),  # the target
        (0x1028, RET, 10),  # a gap that was not executed
        (0x1030, ENDBR64, 2),
        (0x1034, RET, 2),
        (0x3000, RET, 5),  # a page further
    ):
        file.run(file.instruction(code, at + 0x4000000, at=at, path="/lib/stripped.so"), passes)
    named = 0x3004
    file.run(
        file.instruction(RET, named + 0x4000000, at=named, path="/lib/stripped.so", function="f"), 3
    )
    file.run(file.instruction(RET, 0x4003005, at=0x3005, path="/lib/stripped.so"), 4)

    assert {f.name: f.counts.instructions for f in counted(file).functions} == {
        "0x0000000000001000": 2,
        "0x0000000000001020": 20,
        "0x0000000000001030": 4,
        "0x0000000000003000": 5,
        "f": 3,
        "0x0000000000003005": 4,
    }


def test_a_call_backwards_is_followed():
    """Its displacement is negative: from 0x2005 to 0x2000 - 0x20."""
    file = EngineFile()
    file.run(file.instruction(RET, 0x1FE0, path=PROGRAM), 2)
    file.run(file.instruction(RET, 0x1FF0, path=PROGRAM), 1)
    file.run(file.instruction("e8ebffffff", 0x2000, path=PROGRAM), 1)  # call 0x1ff0

    assert {f.name for f in counted(file).functions} == {
        "0x0000000000001fe0",
        "0x0000000000001ff0",
    }


def test_stubs_outside_of_the_text_have_their_address_in_the_file():
    """Valgrind states them at their run-time address; the object's other code tells the rest."""
    file = EngineFile()
    file.run(file.instruction(RET, 0x4001000, at=0x1000, path="/lib/a.so", function="f"), 1)
    file.run(file.instruction("ff2500000000", 0x4000500, path="/lib/a.so"), 1)

    assert {f.name for f in counted(file).functions} == {"f", "0x0000000000000500"}


def test_names_need_not_be_utf_8():
    """A file name may hold any byte; it is escaped as Python does it."""
    file = EngineFile()
    file.run(file.instruction(RET, 0x1000, path=b"/opt/M\xfcnchen", function="f"), 1)

    assert counted(file).functions[0].object == "/opt/M\udcfcnchen"


# --- traffic ------------------------------------------------------------------------------------


def moving(*, levels):
    """Return a run whose first and third instruction moved lines, and one streamed 320 bytes."""
    file = daxpy(levels=levels)
    file.move(0, [100, 40, 10], [0, 0, 1])
    file.move(2, [5, 4, 3], [50, 20, 9])
    stream = file.instruction(STREAM, 0x402000, path=PROGRAM, function="stream")
    file.run(stream, 10)
    file.move(stream, [], [], 320)
    file.others.append(("PEND", u64s(6)))
    return file


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        (1, [("dram", 64 * 105, 64 * 50 + 320, 384)]),
        (2, [("l2", 64 * 105, 64 * 50, None), ("dram", 64 * 44, 64 * 20 + 320, 384)]),
        (
            3,
            [
                ("l2", 64 * 105, 64 * 50, None),
                ("l3", 64 * 44, 64 * 20, None),
                ("dram", 64 * 13, 64 * 10 + 320, 384),
            ],
        ),
        (4, [("l2", 6720, 3200, None), ("l3", 2816, 1280, None), ("dram", 0, 320, 384)]),
    ],
)
def test_the_outermost_side_is_that_of_memory(levels, expected):
    """Lines are of 64 bytes; what was streamed went to memory alone; six lines stayed dirty."""
    assert levels_of(counted(moving(levels=levels)).traffic)[1:] == expected


def test_functions_and_lines_have_their_traffic():
    """It is that of their instructions; of lines left dirty nothing is known there."""
    functions = {f.name: f for f in counted(moving(levels=2)).functions}

    assert levels_of(functions["daxpy"].traffic) == [
        ("l1", 6400, 3200, None),
        ("l2", 64 * 105, 64 * 50, None),
        ("dram", 64 * 44, 64 * 20, None),
    ]
    assert levels_of(functions["stream"].traffic)[2] == ("dram", 0, 320, None)
    by_line = {line.line: line for line in functions["daxpy"].lines}
    assert levels_of(by_line[3].traffic)[2] == ("dram", 64 * 44, 64 * 20, None)
    assert levels_of(by_line[2].traffic)[2] == ("dram", 0, 0, None)


def test_other_caches_have_traffic_of_their_own():
    """Of two other geometries the first has two levels; loads and stores are the same."""
    file = moving(levels=3)
    rows = [moved_row(0, 0, [7, 2], [3, 1], 320), moved_row(0, 1, [8], [0], 320)]
    file.others += [("ALTN", b"".join(rows)), ("ALTP", u64s(5, 4))]

    two, one = counted(file, alternatives=[(L1I, L1, L2), (L1,)]).alternatives
    assert two.caches == (L1I, L1, L2)
    assert levels_of(two.traffic) == [
        ("l1", 6400, 3200 + 320, None),
        ("l2", 448, 192, None),
        ("dram", 128, 64 + 320, 320),
    ]
    assert levels_of(one.traffic)[1:] == [("dram", 512, 320, 256)]


def test_caches_that_do_not_agree_are_refused():
    """Processes of one run simulate the same caches, and as many as were asked for."""
    with pytest.raises(InvalidDocument, match="other caches"):
        counted(daxpy(levels=1), daxpy(levels=2))
    with pytest.raises(InvalidDocument, match="other caches"):
        counted(daxpy(), alternatives=[(L1,)])


# --- regions ------------------------------------------------------------------------------------


def nested():
    """Return a run: 1 addition outside, 10 in "solve", 100 in "spmv" in it, 1000 in "spmv" alone.

    Each addition moves one line per cache side more than it is executed.
    """
    file = EngineFile(levels=1)
    add = file.instruction(ADDSD, 0x401000, path=PROGRAM, function="add", line=("a.c", 1))
    other = file.instruction(ADDSD, 0x402000, path=PROGRAM, function="other")
    banks = [0, file.bank("solve"), file.bank("solve", "spmv"), file.bank("spmv")]
    for bank, passes in zip(banks, (1, 10, 100, 1000), strict=True):
        file.run(add, passes, bank=bank)
        file.move(add, [passes + 1], [], bank=bank)
    file.run(other, 7)
    row = [moved_row(bank, 0, [bank + 1], []) for bank in banks]
    file.others += [("ALTN", b"".join(row)), ("ALTP", u64s(9)), ("PEND", u64s(9))]
    return file


def test_a_region_counts_all_that_is_done_within_it():
    """Regions inside of it are counted too, and a region counts wherever it is entered."""
    totals = counted(nested(), alternatives=[(L1,)])

    assert [(r.name, r.inside, r.counts.work_flop) for r in totals.regions] == [
        ("solve", (), 110),
        ("spmv", ("solve",), 1100),
    ]
    assert [r.traffic[1].read_bytes for r in totals.regions] == [64 * 112, 64 * 1102]
    assert totals.counts.work_flop == 1118
    assert totals.traffic[1].pending_write_bytes == 9 * 64


def test_a_selected_region_is_all_that_counts():
    """What was done elsewhere is in no total, function, line or region."""
    totals = counted(nested(), alternatives=[(L1,)], selects="solve".__eq__)
    (function,) = totals.functions

    assert totals.counts.work_flop == function.counts.work_flop == 110
    assert function.lines[0].counts.work_flop == 110
    assert [(r.name, r.counts.work_flop) for r in totals.regions] == [("solve", 110), ("spmv", 100)]
    assert levels_of(totals.traffic)[1] == ("dram", 64 * 112, 0, None)
    assert levels_of(totals.alternatives[0].traffic)[1] == ("dram", 64 * (2 + 3), 0, None)


def test_a_region_that_was_never_entered_is_not_there():
    """Nothing was done, and no region says that it was."""
    totals = counted(nested(), alternatives=[(L1,)], selects="absent".__eq__)

    assert (totals.counts.instructions, totals.functions, totals.regions) == (0, (), ())


# --- several processes --------------------------------------------------------------------------


def test_processes_add_up_by_function_and_line():
    """Their strings and instructions have other numbers; names tell what is the same."""
    other = EngineFile(pid=8)
    other.string("a name that moves the numbers of all others")
    other.run(other.instruction(ADDSD, 0x10, path="/lib/m.so", function="sin"), 5)
    other.run(
        other.instruction(FMA, 0x401005, path=PROGRAM, function="daxpy", line=("daxpy.c", 3)), 50
    )

    totals = counted(daxpy(), other)
    assert totals.counts.work_flop == 800 + 400 + 5
    assert [(f.name, f.counts.work_flop) for f in totals.functions] == [("daxpy", 1200), ("sin", 5)]
    assert [(line.line, line.counts.work_flop) for line in totals.functions[0].lines] == [
        (2, 0),
        (3, 1200),
    ]


def test_regions_of_processes_add_up():
    """Each numbers its banks in its own order."""
    other = EngineFile(levels=1, pid=8)
    add = other.instruction(ADDSD, 0x401000, path=PROGRAM, function="add")
    other.run(add, 4, bank=other.bank("spmv"))
    other.others += [("ALTN", moved_row(1, 0, [1], [])), ("ALTP", u64s(1)), ("PEND", u64s(1))]

    totals = counted(nested(), other, alternatives=[(L1,)])
    assert [(r.name, r.counts.work_flop) for r in totals.regions] == [
        ("solve", 110),
        ("spmv", 1104),
    ]
    assert totals.traffic[1].pending_write_bytes == 10 * 64
    assert levels_of(totals.alternatives[0].traffic)[1] == ("dram", 64 * 11, 0, 10 * 64)


def test_lines_left_in_caches_that_go_on_are_counted_once():
    """A program that could not become another wrote 5 dirty lines, and 6 at its end.

    The next program of the same process began with empty caches and left 3.
    """
    parts = [
        EngineFile(levels=1, cause=1),
        EngineFile(levels=1, cause=1, continues=1),
        EngineFile(levels=1),
    ]
    for file, dirty in zip(parts, (5, 6, 3), strict=True):
        row = moved_row(0, 0, [dirty])
        file.others += [("PEND", u64s(dirty)), ("ALTN", row), ("ALTP", u64s(10 * dirty))]
        file.others.append(("CURV", curve((1, 100, 10, dirty))))

    totals = counted(*parts, alternatives=[(L1,)])
    assert levels_of(totals.traffic)[1] == ("dram", 0, 0, 64 * 9)
    assert levels_of(totals.alternatives[0].traffic)[1] == ("dram", 64 * 14, 0, 64 * 90)
    assert levels_of([totals.miss_curve.traffic_at(64)]) == [("dram", 64 * 300, 64 * 30, 64 * 9)]


def curve(*rows, sampling=1, line_bytes=64):
    """Return the section of a miss curve."""
    return u64s(line_bytes, 50, sampling, 1000) + b"".join(u64s(*row) for row in rows)


def test_the_miss_curve_is_in_bytes():
    """Lines of 64 bytes; the counts are scaled already."""
    file = daxpy()
    file.others.append(("CURV", curve((1, 900, 80, 1), (512, 30, 5, 20), sampling=8)))

    assert counted(file).miss_curve == MissCurve(
        line_bytes=64,
        capacities_bytes=(64, 32768),
        read_bytes=(57600, 1920),
        write_bytes=(5120, 320),
        pending_bytes=(64, 1280),
        sampling=8,
    )


def test_curves_of_processes_add_up_step_by_step():
    """Between its rows a curve stays as it was at the row below; beyond the last it stays too."""
    one, two, none = daxpy(), daxpy(pid=8), daxpy(pid=9)
    one.others.append(("CURV", curve((1, 100, 0, 0), (4, 50, 0, 0), (16, 10, 0, 0))))
    two.others.append(("CURV", curve((2, 70, 0, 0), (8, 20, 0, 0), sampling=4)))
    none.others.append(("CURV", curve()))

    found = counted(one, two, none).miss_curve
    assert [c // 64 for c in found.capacities_bytes] == [2, 4, 8, 16]
    assert [b // 64 for b in found.read_bytes] == [170, 120, 70, 30]
    assert found.sampling == 4
    assert found.traffic_at(5 * 64) == Traffic(
        level="dram", read_bytes=120 * 64, write_bytes=0, pending_write_bytes=0
    )


# --- the file -----------------------------------------------------------------------------------


def everything():
    """Return a small file that holds a section of every kind."""
    file = nested()
    stosb = file.instruction(STOSB, 0x403000, path=PROGRAM, function="memset")
    file.run(stosb, 5)
    file.repeat(stosb, 4)
    file.others += [("CURV", curve((1, 900, 80, 1))), ("NEWS", b"a section of a later version")]
    return file


def test_the_process_is_told():
    """Who wrote the file, and why."""
    process = parsed(EngineFile(pid=42, cause=2, status=11)).process

    assert (process.pid, process.parent_pid) == (42, 1)
    assert (process.cause, process.status) == ("signal", 11)
    assert (process.most_threads, process.threads) == (1, 1)


def test_nothing_executed_counts_nothing():
    """A process may be killed before its first instruction."""
    totals = counted(EngineFile(levels=2))

    assert (totals.counts.instructions, totals.functions) == (0, ())


def test_a_file_cut_anywhere_is_refused():
    """A full disk leaves a file that ends at any byte; none of these is read in part."""
    whole = everything().written()
    parse_profile(whole, source="whole")

    for end in range(len(whole)):
        with pytest.raises(InvalidDocument, match="cut short"):
            parse_profile(whole[:end], source="cut")


@given(st.data())
def test_a_damaged_file_is_refused_or_counted_but_never_crashes(data):
    """Bytes that changed are seen where they lead out of the file; nothing else is raised."""
    whole = bytearray(everything().written())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(whole) - 1))
        whole[place] = data.draw(st.integers(0, 255))
    with contextlib.suppress(InvalidDocument):
        totals = count([parse_profile(bytes(whole), source="damaged")], alternatives=[(L1,)])

        assert totals.counts.instructions == sum(f.counts.instructions for f in totals.functions)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b"# callgrind format\n", "not a file of the counting engine"),
        (struct.pack("<8sII", b"RIDGEENG", 2, 0) + TAIL, "its format is 2"),
        (HEADER + TAIL, "lacks its section GEOM"),
        (HEADER + section("PROC", b"") * 2 + TAIL, "two sections PROC"),
        (everything().written() + b"\0", "goes on after its end"),
    ],
)
def test_a_file_of_another_kind_is_refused(document, reason):
    """The message says what is wrong with it."""
    with pytest.raises(InvalidDocument, match=reason):
        parse_profile(document, source="other")


@pytest.mark.parametrize("tag", ["PROC", "GEOM", "STRS", "INST", "BANK", "EXEC"])
def test_a_file_without_a_part_that_must_be_is_refused(tag):
    """An absent section is not an empty one."""
    with pytest.raises(InvalidDocument, match=f"lacks its section {tag}"):
        parsed(daxpy(), **{tag: None})


@pytest.mark.parametrize(
    ("tag", "payload", "reason"),
    [
        ("PROC", u64s(1, 2, 3), "holds 3 numbers, not 8"),
        ("PROC", u64s(1, 0, 9, 0, 1, 1, 0, 0), "cause that it gives is unknown: 9"),
        ("GEOM", struct.pack("<II", 5, 64), "states 5 caches"),
        ("GEOM", struct.pack("<II", 1, 0), "lines of 0 bytes"),
        ("GEOM", struct.pack("<II", 0, 0), "did not simulate"),
        ("STRS", struct.pack("<II", 3, 0) + b"\0f\0", "states 3 names and holds 2"),
        ("STRS", struct.pack("<II", 1, 0) + b"f\0", "states 1 names"),
        ("STRS", struct.pack("<II", 1, 0) + b"\0f", "states 1 names"),
        ("INST", bytes(48), "no bytes, or too many"),
        ("INST", bytes(47), "INST ends within a row"),
        ("INST", b"", "executed that does not exist"),
        ("BANK", struct.pack("<II", 1, 0), "bank of counters is missing"),
        ("BANK", struct.pack("<IIII", 2, 0, 1, 99), "names regions that do not exist"),
        ("BANK", struct.pack("<IIII", 3, 0, 1, 1), "not the one that it states"),
        ("BANK", struct.pack("<III", 1, 1, 1), "the first is no bank"),
        ("EXEC", struct.pack("<IIQ", 0, 99, 1), "executed that does not exist"),
        ("EXEC", struct.pack("<IIQ", 9, 0, 1), "bank of counters is missing"),
        ("EXEC", struct.pack("<IIQ", 0, 0, 1 << 63), "a count is impossible"),
        ("REPS", struct.pack("<IIQQ", 0, 2, 6, 0), "iterated more often than it was executed"),
        ("REPS", struct.pack("<IIQQ", 0, 2, 3, 4), "iterated more often than it was executed"),
        ("REPS", struct.pack("<IIQQ", 1, 2, 4, 0), "iterated more often than it was executed"),
        ("MOVE", moved_row(0, 99), "executed that does not exist"),
        ("MOVE", moved_row(0, 0, [1 << 63]), "a count is impossible"),
        ("ALTN", moved_row(0, 7), "other caches are missing"),
        ("PEND", u64s(1, 2), "holds 2 numbers, not 1"),
        ("CURV", b"", "has no head"),
        ("CURV", curve((4, 1, 1, 1), (4, 1, 1, 1)), "impossible: .*ascend"),
        ("CURV", curve((4, 1, 1, 1), sampling=0), "impossible"),
    ],
)
def test_a_contradiction_is_refused(tag, payload, reason):
    """Numbers that lead nowhere, sizes that do not fit, counts that cannot be."""
    with pytest.raises(InvalidDocument, match=reason):
        parsed(everything(), **{tag: payload})


def test_an_instruction_with_a_name_that_is_not_there_is_refused():
    """The file holds the empty name alone."""
    with pytest.raises(InvalidDocument, match=r"name that does not exist \(1, with 0 the last\)"):
        parsed(daxpy(), STRS=struct.pack("<II", 1, 0) + b"\0")


def test_arrays_of_a_profile_are_those_of_the_file():
    """What was written is what is read, row by row."""
    profile = parsed(everything())

    assert profile.banks == ((), ("solve",), ("solve", "spmv"), ("spmv",))
    assert profile.executed.tolist() == [
        (0, 0, 1),
        (1, 0, 10),
        (2, 0, 100),
        (3, 0, 1000),
        (0, 1, 7),
        (0, 2, 5),
    ]
    assert profile.repeated.tolist() == [(0, 2, 4, 0)]
    assert np.array_equal(profile.instructions["address"], [0x401000, 0x402000, 0x403000])
    assert bytes(profile.instructions["code"][2][:2]).hex() == STOSB
