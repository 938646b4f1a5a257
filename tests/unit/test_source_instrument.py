"""Counters in the text of a module: LLVM itself says that the result is one."""

import llvmlite.binding as llvm
import pytest

from ridgepoint.meters.source.instrument import instrument
from ridgepoint.meters.source.ir import functions
from ridgepoint.meters.source.locations import Locations
from ridgepoint.meters.source.table import LineWork, decode, digest

# int count(int n) { if (n) n = leave(n) + 2; return n; }  (clang 16, cut down), file /src/a.c
TEXT = """\
; ModuleID = 'a.c'
source_filename = "a.c"

define dso_local i32 @count(i32 noundef %n) #0 !dbg !10 {
entry:
  %n.addr = alloca i32, align 4
  store i32 %n, ptr %n.addr, align 4
  %0 = load i32, ptr %n.addr, align 4, !dbg !12
  %tobool = icmp ne i32 %0, 0, !dbg !12
  br i1 %tobool, label %if.then, label %if.end, !dbg !12

if.then:                                          ; preds = %entry
  %1 = load i32, ptr %n.addr, align 4, !dbg !13
  %call = call i32 @leave(i32 noundef %1), !dbg !13
  %add = add nsw i32 %call, 2, !dbg !13
  store i32 %add, ptr %n.addr, align 4, !dbg !13
  br label %if.end, !dbg !13

if.end:                                           ; preds = %if.then, %entry
  %2 = load i32, ptr %n.addr, align 4, !dbg !13
  ret i32 %2, !dbg !13
}

define internal i32 @over(i32 noundef %n) #0 {
entry:
  switch i32 %n, label %other [
    i32 1, label %one
    i32 2, label %one
  ]

one:
  ret i32 1

other:
  unreachable
}

declare i32 @leave(i32 noundef)

attributes #0 = { noinline nounwind uwtable "frame-pointer"="all" }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "a.c", directory: "/src")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!10 = distinct !DISubprogram(name: "count", scope: !1, file: !1, line: 4, type: !11, scopeLine: 4, \
spFlags: DISPFlagDefinition, unit: !0)
!11 = !DISubroutineType(types: !14)
!12 = !DILocation(line: 5, column: 9, scope: !15)
!13 = !DILocation(line: 6, column: 3, scope: !10)
!14 = !{}
!15 = distinct !DILexicalBlock(scope: !10, file: !1, line: 5, column: 9)
"""


@pytest.fixture(scope="module")
def instrumented():
    """Instrument the text."""
    return instrument(TEXT, source="/src/a.c", opaque_pointers=True)


def test_the_result_is_a_module(instrumented):
    """LLVM parses and verifies it."""
    llvm.parse_assembly(instrumented.text).verify()


def test_a_call_that_may_not_return_begins_another_counter(instrumented):
    """The comparison stands before the call, the addition behind it."""
    assert [site.work for site in instrumented.table.sites] == [
        (LineWork("/src/a.c", 5, (0, 0, 0, 1, 0, 0)),),
        (LineWork("/src/a.c", 6, (1, 0, 0, 0, 0, 0)),),
    ]


def test_functions_without_operations_are_left_alone(instrumented):
    """Neither a counter nor a pointer to counters."""
    assert [one.symbol for one in instrumented.table.functions] == ["count"]
    assert instrumented.text.count("@__ridgepoint_bops_fetch(") == 2  # one call, one declaration


def test_what_is_not_optimised_says_so_itself():
    """But not the copy of what a library has, nor what has to be inlined or small."""
    text = TEXT.replace("define internal i32 @over", "define available_externally i32 @over")
    small = text.replace("attributes #0 = {", "attributes #0 = { minsize")

    plain, kept, optimised = (
        instrument(one, source="a.c", opaque_pointers=True, optimize=optimize).text
        for one, optimize in ((text, False), (small, False), (text, True))
    )

    for module in (plain, kept, optimised):
        llvm.parse_assembly(module).verify()
    assert "@count(i32 noundef %n) noinline optnone #0" in plain
    assert "define internal i32 @over(i32 noundef %n) #0" in plain
    assert "optnone" not in kept
    assert "optnone" not in optimised


def test_what_may_be_constant_is_none(instrumented):
    """LLVM would find out at some levels of optimisation and at others not."""
    asked = "  %known = call i1 @llvm.is.constant.i32(i32 %1), !dbg !13\n"
    at = TEXT.index("  %call = call")
    text = TEXT[:at] + asked + TEXT[at:] + "declare i1 @llvm.is.constant.i32(i32)\n"

    counted = instrument(text, source="/src/a.c", opaque_pointers=True)

    llvm.parse_assembly(counted.text).verify()
    assert "%known = and i1 false, false" in counted.text
    assert counted.table == instrumented.table


def test_typed_pointers_are_written_for_clang_14():
    """The same text with the pointers of old: no opaque one is added."""
    typed = TEXT.replace("ptr %", "i32* %")

    text = instrument(typed, source="a.c", opaque_pointers=False).text

    assert " ptr" not in text
    assert "load i64*, i64** @__ridgepoint_bops_slab" in text


def test_tables_survive_being_encoded(instrumented):
    """And the same table is the same bytes, so that counts of it add up."""
    data = instrumented.table.encode()

    assert decode(data) == instrumented.table
    assert digest(data) == digest(instrumented.table.encode()) < 2**63


def test_a_damaged_table_is_refused(instrumented):
    """It is not read as an empty one."""
    with pytest.raises(ValueError, match="damaged"):
        decode(instrumented.table.encode()[:-9])


def test_instructions_on_several_lines_are_one():
    """The switch has two cases and leads to two blocks."""
    lines = TEXT.split("\n")
    over = list(functions(lines))[1]

    assert [block.label for block in over.blocks] == ["entry", "one", "other"]
    assert over.blocks[0].targets(lines) == ["other", "one", "one"]


def test_places_are_found_through_scopes():
    """A location says its line, its scope the file."""
    places = Locations(TEXT.split("\n"))

    assert places.place(12) == ("/src/a.c", 5)
    assert places.place(10) == ("/src/a.c", 4)
    assert places.place(99) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT.replace("  %add = add nsw", "  §"), "is no instruction"),
        (
            TEXT.replace(
                "define dso_local i32 @count(i32 noundef %n) #0 !dbg !10 {\nentry:",
                "define dso_local i32 @count(i32 noundef %n) #0 !dbg !10 {",
            ),
            "has no name",
        ),
    ],
)
def test_text_that_is_not_clangs_is_refused(text, message):
    """Nothing is counted wrongly in silence."""
    with pytest.raises(ValueError, match=message):
        instrument(text, source="a.c", opaque_pointers=True)
