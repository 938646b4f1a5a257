"""Rules for rustc's IR and for the text of Rust, on literal pieces of both."""

import pytest

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.meters.source.ir import functions
from ridgepoint.meters.source.locations import Locations
from ridgepoint.meters.source.rust_patterns import Patterns, is_pattern
from ridgepoint.meters.source.rust_rules import read_rust

# fn f(v: &[i32], i: usize, b: i32) -> bool { v[i] / b < 3 && b << i != 0 }, by rustc 1.63, cut down
TEXT = """\
define internal zeroext i1 @_ZN1a1f17h213b429c744f1495E([0 x i32]* align 4 %v.0, i64 %v.1, i64 %i, \
i32 %b) unnamed_addr #0 !dbg !10 {
start:
  %0 = alloca i8, align 1
  %_6 = icmp ult i64 %i, %v.1, !dbg !12
  %1 = call i1 @llvm.expect.i1(i1 %_6, i1 true), !dbg !12
  br i1 %1, label %bb1, label %panic, !dbg !12

bb1:                                              ; preds = %start
  %2 = getelementptr inbounds [0 x i32], [0 x i32]* %v.0, i64 0, i64 %i, !dbg !12
  %_3 = load i32, i32* %2, align 4, !dbg !12
  %_8 = icmp eq i32 %b, -1, !dbg !12
  %_9 = icmp eq i32 %_3, -2147483648, !dbg !12
  %_10 = and i1 %_8, %_9, !dbg !12
  %3 = call i1 @llvm.expect.i1(i1 %_10, i1 false), !dbg !12
  br i1 %3, label %panic1, label %bb2, !dbg !12

panic:                                            ; preds = %start
; call core::panicking::panic_bounds_check
  call void @_ZN4core9panicking18panic_bounds_check17haa0aa704ba684d7fE(i64 %i, i64 %v.1), !dbg !12
  unreachable, !dbg !12

panic1:                                           ; preds = %bb1
  call void @_ZN4core9panicking5panic17h2c88932fe82bb6e8E(i64 31), !dbg !12
  unreachable, !dbg !12

bb2:                                              ; preds = %bb1
  %_2 = sdiv i32 %_3, %b, !dbg !12
  %_1 = icmp slt i32 %_2, 3, !dbg !12
  br i1 %_1, label %bb4, label %bb3, !dbg !12

bb3:                                              ; preds = %bb2
  store i8 0, i8* %0, align 1, !dbg !12
  br label %bb5, !dbg !12

bb4:                                              ; preds = %bb2
  %4 = and i32 %b, 31, !dbg !13
  %_12 = shl i32 %b, %4, !dbg !13
  %5 = icmp ne i32 %_12, 0, !dbg !13
  %6 = zext i1 %5 to i8, !dbg !12
  store i8 %6, i8* %0, align 1, !dbg !12
  br label %bb5, !dbg !12

bb5:                                              ; preds = %bb3, %bb4
  %7 = load i8, i8* %0, align 1, !dbg !14
  %8 = trunc i8 %7 to i1, !dbg !14
  %9 = icmp eq i8 %7, 1, !dbg !14
  %_15 = select i1 %9, i64 0, i64 1, !dbg !14
  ret i1 %8, !dbg !14
}

!10 = distinct !DISubprogram(name: "f", scope: !11, file: !11, line: 1, unit: !0)
!11 = !DIFile(filename: "a.rs", directory: "/src")
!12 = !DILocation(line: 1, column: 45, scope: !10)
!13 = !DILocation(line: 1, column: 61, scope: !10)
!14 = !DILocation(line: 1, column: 73, scope: !10)
"""


@pytest.fixture
def reading():
    """Read the function, and tell its blocks by name."""
    lines = TEXT.split("\n")
    (function,) = functions(lines)
    return read_rust([])(function, Locations(lines)), {b.label: b for b in function.blocks}


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("start", BasicOperations(addressing=1)),  # the check of the index stands for v[i]
        ("bb1", BasicOperations()),  # the check of the divisor
        ("bb2", BasicOperations(arithmetic=1, compare=1)),  # / <
        ("bb3", BasicOperations()),
        ("bb4", BasicOperations(logic=2, compare=1)),  # && << !=
        ("bb5", BasicOperations()),  # the tag of an enum
    ],
)
def test_a_block_counts_what_its_source_says(reading, label, expected):
    """What rustc adds counts nothing."""
    rules, blocks = reading
    block = blocks[label]
    done = sum((rules.of_instruction(block, one) for one in block.instructions), BasicOperations())

    assert done + rules.of_block(block) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"1..=5 => 2", True),
        (b"-3 ..= -1 | 7", True),
        (b"'a'..='z' if x", True),
        (b"..=9 => 1", True),
        (b"LOW..=i32::MAX => 1", True),
        (b"n @ 1..=5 =>", True),
        (b"[] => 0", True),
        (b"[a, [b, ..]] if a > b", True),
        (b"[first, ..] = v", True),
        (b"1.5 => 2", True),
        (b"-2e3 | 4.0 =>", True),
        (b"1 <= x && x <= 5", False),
        (b"x..y", True),
        (b"x == 1", False),
        (b"1.5 < x", False),
        (b"[1, 2, 3][i] < 4", False),
        (b"[1, 2] == v", False),
        (b"x | y == z", False),
        (b"(a < b)", False),
    ],
)
def test_patterns_are_known_by_their_text(text, expected):
    """What is tested by a comparison that nobody wrote."""
    assert is_pattern(text) is expected


def test_places_are_compared_in_files_of_the_crate_alone(tmp_path):
    """Columns are of bytes; what is no file of the crate is not read."""
    file = tmp_path / "main.rs"
    file.write_text("/* \u00e9 */ match x { n if n > 3 && (n < 9) => &mut v[2], _ => y }\n")
    name, patterns = str(file), Patterns([str(file)])
    column = file.read_bytes().index

    def at(text):
        return (name, 1, column(text) + 1)

    assert patterns.joins(at(b"n > 3"), at(b"n < 9"))
    assert not patterns.joins(at(b"n > 3"), at(b"&mut v"))
    assert patterns.is_borrowed(at(b"&mut v"), at(b"v[2]"))
    assert not patterns.begins((str(tmp_path / "other.rs"), 1, 1))
    assert not patterns.begins((name, 7, 1))
