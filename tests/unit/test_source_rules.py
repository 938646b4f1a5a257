"""What single instructions count, from literal lines of clang 14 and 16."""

import pytest

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.meters.source.rules import of_block, of_instruction

ONE = {
    name: BasicOperations(**{name: 1})
    for name in ("arithmetic", "fp_arithmetic", "logic", "compare", "fp_compare", "addressing")
}


@pytest.mark.parametrize(
    ("name", "opcode", "rest", "kind"),
    [
        ("add", "add", "nsw i32 %0, 1", "arithmetic"),
        ("rem3", "urem", "i32 %0, 7", "arithmetic"),
        ("sub.ptr.sub", "sub", "i64 %sub.ptr.lhs.cast, %sub.ptr.rhs.cast", "arithmetic"),
        ("incdec.ptr", "getelementptr", "inbounds i8, ptr %0, i32 1", "arithmetic"),
        ("add.ptr12", "getelementptr", "inbounds i32, i32* %0, i64 %idx.ext", "arithmetic"),
        ("", "atomicrmw", "add i32* %x, i32 1 seq_cst, align 4", "arithmetic"),
        ("fneg", "fneg", "double %0", "fp_arithmetic"),
        ("div", "fdiv", "fast double %0, %1", "fp_arithmetic"),
        ("neg", "xor", "i32 %3, -1", "logic"),
        ("cmp", "icmp", "slt i32 %0, 3", "compare"),
        ("tobool", "icmp", "ne i32* %0, null", "compare"),
        ("tobool", "fcmp", "une double %0, 0.000000e+00", "fp_compare"),
        (
            "arrayidx",
            "getelementptr",
            "inbounds [5 x i32], [5 x i32]* %a, i64 0, i64 %i",
            "addressing",
        ),
        ("vecext", "extractelement", "<4 x i32> %2, i32 2", "addressing"),
    ],
)
def test_an_operation_of_the_source_counts_one(name, opcode, rest, kind):
    """Whatever its width."""
    assert of_instruction(name, opcode, rest) == ONE[kind]


@pytest.mark.parametrize(
    ("name", "opcode", "rest"),
    [
        ("bf.shl", "shl", "i8 %bf.load, 5"),
        ("bf.clear4", "and", "i8 %bf.load1, -8"),
        ("sub.ptr.div", "sdiv", "exact i64 %sub.ptr.sub, 4"),
        ("idx.neg", "sub", "i64 0, %idx.ext"),
        ("lnot", "xor", "i1 %tobool, true"),
        ("9", "mul", "nuw i64 %5, %7"),
        ("", "store", "i32 %0, i32* %1, align 4"),
        ("conv", "sext", "i32 %0 to i64"),
        ("count", "getelementptr", "inbounds %struct.S, %struct.S* %0, i32 0, i32 1"),
        ("arraydecay", "getelementptr", "inbounds [5 x i32], [5 x i32]* %a, i64 0, i64 0"),
        ("call", "call", "i32 @abs(i32 noundef %0)"),
        ("neg", "sub", "nsw i32 0, %0"),
        ("isnan_cmp", "fcmp", "uno double %mul_r, %mul_r"),
        ("2", "call", "{ i64, i1 } @llvm.umul.with.overflow.i64(i64 %0, i64 4)"),
        ("add.ptr", "getelementptr", "inbounds i8, ptr %this, i64 %vbase.offset"),
        ("guard.uninitialized", "icmp", "eq i8 %0, 0"),
    ],
)
def test_what_the_source_does_not_say_counts_nothing(name, opcode, rest):
    """The compiler's own, and what Table 6 of the paper leaves out."""
    assert of_instruction(name, opcode, rest) == BasicOperations()


def test_vectors_count_their_lanes():
    """Four floats are four operations; a fused product and sum are two each."""
    add = of_instruction("add", "fadd", "reassoc <4 x float> %0, %1")
    fused = of_instruction(
        "3",
        "call",
        "<4 x float> @llvm.fmuladd.v4f32(<4 x float> %0, <4 x float> %1, <4 x float> %2)",
    )

    assert (add.fp_arithmetic, fused.fp_arithmetic) == (4, 8)
    assert of_instruction("cmp", "icmp", "slt <8 x i32> %0, %1").compare == 8


def test_a_comparison_is_not_compared_again():
    """`if (a < b)` with the outcome widened is one comparison, `if (n)` is one too."""
    again = of_instruction("tobool", "icmp", "ne i64 %conv, 0", {"conv"})
    number = of_instruction("tobool", "icmp", "ne i64 %n, 0", {"conv"})

    assert (again.total, number.total) == (0, 1)


def test_right_operands_of_and_and_or_count():
    """Where their blocks are entered; labels of users have no dots."""
    counting = ("land.lhs.true", "land.rhs7", "lor.rhs", "lor.lhs.false12")

    assert [of_block(label).logic for label in counting] == [1, 1, 1, 1]
    assert [of_block(label).logic for label in ("land.end", "if.then", "land")] == [0, 0, 0]
