"""What one instruction of clang's unoptimised IR counts, so that the sum is what the source says.

Clang names what it makes after the operation of the source that it makes it for (`arrayidx`,
`incdec.ptr`, `lnot`), and leaves what the source does not say without a name, or gives it one of a
few others (`bf.shl`, `sub.ptr.div`). The rules go by opcode and by that name.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.meters.source.ir import Block, Function, Instruction
from ridgepoint.meters.source.locations import Locations

NOTHING = BasicOperations()

CLASSES = {
    **dict.fromkeys(("add", "sub", "mul", "udiv", "sdiv", "urem", "srem"), "arithmetic"),
    **dict.fromkeys(("fadd", "fsub", "fmul", "fdiv", "frem", "fneg"), "fp_arithmetic"),
    **dict.fromkeys(("and", "or", "xor", "shl", "lshr", "ashr"), "logic"),
}
_ATOMIC = {
    **dict.fromkeys(("add", "sub"), "arithmetic"),
    **dict.fromkeys(("fadd", "fsub"), "fp_arithmetic"),
    **dict.fromkeys(("and", "nand", "or", "xor"), "logic"),
    **dict.fromkeys(("max", "min", "umax", "umin"), "compare"),
}
# An address that is none of these is that of a field, or of an array as a pointer.
_ADDRESSES = {
    "getelementptr": {
        "arrayidx": BasicOperations(addressing=1),
        "add.ptr": BasicOperations(arithmetic=1),
        "incdec.ptr": BasicOperations(arithmetic=1),
    },
    "extractelement": {"vecext": BasicOperations(addressing=1)},
    "insertelement": {"vecins": BasicOperations(addressing=1)},
}

# Values that clang makes without an operator in the source: fields of bits, the parts of a
# difference of pointers beside its subtraction, loops that construct arrays, arguments of `...`,
# guards of static variables, a test for NULL of `delete`, a handler's type, `abs` in place.
_OF_THE_COMPILER = re.compile(
    r"bf\.|sub\.ptr\.div|idx\.neg|lnot|loadedv|arrayinit|arrayctor|arraydestroy|fits_in_|"
    r"overflow_arg_area|gp_offset|fp_offset|vaarg|guard\.|isempty|isnull|cast\.isnull|matches|abscond|"
    r"isnan_cmp|inbounds|memptr|vtable|vfn|vbase|cookie|coerce|neg\.offset|offset\.ptr"
)
_RIGHT_OPERAND = re.compile(r"(land\.lhs\.true|land\.rhs|lor\.lhs\.false|lor\.rhs)\d*$")
_SUFFIX = re.compile(r"\d+$")
_LANES = re.compile(r"<(\d+) x ")
_FLAGS = re.compile(
    r"(?:nsw|nuw|exact|fast|nnan|ninf|nsz|arcp|contract|afn|reassoc|disjoint|samesign|inbounds) "
)
_INTRINSIC = re.compile(r"@llvm\.([a-z_]+)\.[^(]*\(")
_INTRINSICS = {
    **dict.fromkeys(("fmuladd", "fma"), BasicOperations(fp_arithmetic=2)),
    **dict.fromkeys(("smax", "smin", "umax", "umin"), BasicOperations(compare=1)),
}

_CONVERSIONS = frozenset(("zext", "sext", "trunc", "freeze"))


@dataclass(frozen=True, slots=True)
class ClangReading:
    """A function of C or C++, as clang's unoptimised IR says it.

    Parameters
    ----------
    truths : frozenset of str
        Values that are the outcome of a comparison.
    """

    truths: frozenset[str]

    def of_instruction(self, block: Block, instruction: Instruction) -> BasicOperations:
        """Return what an instruction counts."""
        if is_implied(block.label, instruction.opcode):
            return NOTHING
        return of_instruction(instruction.name, instruction.opcode, instruction.rest, self.truths)

    def of_block(self, block: Block) -> BasicOperations:
        """Return what entering a block counts."""
        return of_block(block.label)


def read_clang(function: Function, _: Locations) -> ClangReading:
    """Return how a function is read that clang wrote with its names."""
    return ClangReading(_truths(function))


def of_instruction(
    name: str, opcode: str, rest: str, truths: Container[str] = ()
) -> BasicOperations:
    """Return what an instruction counts.

    Parameters
    ----------
    name : str
        Of its result, without ``%``; empty: it has none.
    opcode : str
    rest : str
        What follows the opcode.
    truths : container of str
        Names of values that are the outcome of a comparison, whatever their width.

    Returns
    -------
    BasicOperations
        All zero for what moves, converts, branches, calls, or is clang's own.

    Examples
    --------
    >>> of_instruction("arrayidx", "getelementptr", "inbounds i32, ptr %0, i64 %i").addressing
    1
    >>> of_instruction("bf.shl", "shl", "i8 %bf.load, 5").total
    0
    """
    if opcode in ("atomicrmw", "call"):
        return of_atomic(rest) if opcode == "atomicrmw" else _intrinsic(rest)
    kind = _SUFFIX.sub("", name)
    # `neg` is -x within abs(x), which is a function, or ~x; unary minus is called `sub`.
    if not kind or _OF_THE_COMPILER.match(name) or (opcode, kind) == ("sub", "neg"):
        return NOTHING
    if opcode in ("icmp", "fcmp"):
        return _comparison(name, opcode, rest, truths)
    if opcode in _ADDRESSES and "%vbase." not in rest:
        return _ADDRESSES[opcode].get(kind, NOTHING)
    return NOTHING if opcode not in CLASSES else BasicOperations(**{CLASSES[opcode]: lanes(rest)})


def is_implied(label: str, opcode: str) -> bool:
    """Return whether an instruction belongs to a loop that clang makes, to copy an array whole.

    Examples
    --------
    >>> is_implied("arrayinit.body", "getelementptr"), is_implied("for.body", "getelementptr")
    (True, False)
    """
    return opcode == "getelementptr" and label.startswith("arrayinit.body")


def of_block(label: str) -> BasicOperations:
    """Return what entering a block counts: `&&` and `||`, where their right operand is evaluated.

    Examples
    --------
    >>> of_block("land.rhs3").logic, of_block("land.end").logic
    (1, 0)
    """
    return BasicOperations(logic=int(_RIGHT_OPERAND.match(label) is not None))


def _comparison(name: str, opcode: str, rest: str, truths: Container[str]) -> BasicOperations:
    """Return what a comparison counts: nothing for the test of what is a comparison's outcome."""
    operand = rest.split(",", maxsplit=1)[0].rsplit("%", maxsplit=1)[-1]
    if name.startswith("tobool") and operand in truths:
        return NOTHING
    n = lanes(rest.split(" ", maxsplit=1)[-1])
    return BasicOperations(**{"compare" if opcode == "icmp" else "fp_compare": n})


def of_atomic(rest: str) -> BasicOperations:
    """Return what an ``atomicrmw`` counts."""
    operation = rest.removeprefix("volatile ").split(" ", maxsplit=1)[0]
    kind = _ATOMIC.get(operation)
    return NOTHING if kind is None else BasicOperations(**{kind: 1})


def _intrinsic(rest: str) -> BasicOperations:
    match = _INTRINSIC.search(rest)
    if match is None or match[1] not in _INTRINSICS:
        return NOTHING
    return _INTRINSICS[match[1]] * lanes(_FLAGS.sub("", rest))


def lanes(rest: str) -> int:
    """Return how many operations an operation on vectors is."""
    match = _LANES.match(_FLAGS.sub("", rest))
    return 1 if match is None else int(match[1])


def _truths(function: Function) -> frozenset[str]:
    """Return the values that are the outcome of a comparison, in whatever width."""
    truths: set[str] = set()
    for block in function.blocks:
        for instruction in block.instructions:
            if not instruction.name:
                continue
            callee = instruction.callee or ""
            expected = callee.startswith("llvm.expect.")  # __builtin_expect: its first argument
            source = instruction.rest.split("(" if expected else " to ")[expected].split(",")[0]
            converted = instruction.opcode in _CONVERSIONS
            of_bit = converted and source.startswith("i1 ")
            from_truth = (converted or expected) and _operand(source) in truths
            # That a static variable has to be initialised is no condition of the source.
            guard = callee == "__cxa_guard_acquire"
            if of_bit or from_truth or guard or instruction.opcode in ("icmp", "fcmp"):
                truths.add(instruction.name)
    return frozenset(truths)


def _operand(source: str) -> str:
    return source.rsplit("%", maxsplit=1)[-1]
