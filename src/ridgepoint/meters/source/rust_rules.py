"""What rustc's unoptimised IR counts, so that the sum is what the source says.

rustc writes an operator as one instruction, and names its result after the variable or the
temporary (`%_7`) that it gives a value to, or stores it at once. What rustc adds of its own is
used in other ways: it goes into the check of an index or a divisor, into the tag of an enum, the
address of a vector's last element, or the distance of a shift.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.meters.source.ir import Block, Function, Instruction
from ridgepoint.meters.source.locations import Locations
from ridgepoint.meters.source.pieces import Read
from ridgepoint.meters.source.rules import CLASSES, NOTHING, lanes, of_atomic
from ridgepoint.meters.source.rust_patterns import Patterns

# Code that rustc makes, to drop what a type holds.
_GLUE = re.compile(r"_ZN4core3ptr\d+drop_in_place|_R\w*4core3ptr13drop_in_place")
_OPERAND = re.compile(r'%([-\w.$]+|"[^"]*")')
_PANIC = re.compile(r"panic\d*$")
_NUMBER = re.compile(r"\d+$")
_CONDITION = re.compile(r"i1 (?:%([-\w.$]+)|true|false), label %([-\w.$]+), label %([-\w.$]+)")
_GOTO = re.compile(r"label %([-\w.$]+)")
_INDEX = re.compile(r"(?:inbounds )?(\[\d+ x .*\]), .*?, i64 0, i64 (\d+)(?:,|$)")
_OFFSET = re.compile(r"(?:inbounds )?[^,]+, [^,]+, i64 [^,\s]+(?:, !|$)")
_REVERSES = re.compile(r"i1 \S+ true")
_STORED = re.compile(r"i8 ([01]), ")
_INTRINSIC = re.compile(r"@llvm\.([a-z.]+?)\.(?:v\d+)?[if]\d")
_INTRINSICS = {
    **{
        f"{sign}{name}.{kind}": BasicOperations(arithmetic=1)
        for sign in "su"
        for name, kinds in (
            ("add", ("with.overflow", "sat")),
            ("sub", ("with.overflow", "sat")),
            ("mul", ("with.overflow",)),
        )
        for kind in kinds
    },
    "fma": BasicOperations(fp_arithmetic=2),
    **dict.fromkeys(("smax", "smin", "umax", "umin"), BasicOperations(compare=1)),
}
# An unnamed result that is kept in one of these ways is that of an operator.
_KEEPS = frozenset(("store", "ret"))
_CHECKED = frozenset(("icmp", "and", "xor", "call"))


def read_rust(files: Sequence[str]) -> Read:
    """Return how functions are read that rustc wrote.

    Parameters
    ----------
    files : sequence of str
        Absolute paths of the crate's sources.
    """
    patterns = Patterns(files)
    return lambda function, locations: RustReading(function, locations, patterns)


class RustReading:
    """A function of Rust.

    Parameters
    ----------
    function : Function
    locations : Locations
    patterns : Patterns
    """

    def __init__(self, function: Function, locations: Locations, patterns: Patterns) -> None:
        self._is_glue = _GLUE.match(function.symbol) is not None
        self._locations, self._patterns = locations, patterns
        self._uses = _uses(function)
        self._checks = frozenset(_checks(function))
        self._joined = frozenset((*_joined(function), *self._guards(function)))
        self._indices = frozenset((*_index_checks(function), *self._constant_indices(function)))

    def of_block(self, block: Block) -> BasicOperations:
        """Return what entering a block counts: `&&` and `||`, where the right operand begins."""
        joins = not self._is_glue and block.label in self._joined
        return BasicOperations(logic=int(joins))

    def of_instruction(self, block: Block, instruction: Instruction) -> BasicOperations:
        """Return what an instruction counts."""
        opcode = instruction.opcode
        if self._is_glue:
            return NOTHING
        if opcode == "br":
            return BasicOperations(addressing=int(instruction.first in self._indices))
        if opcode == "getelementptr":
            return self._offset(instruction)
        if opcode in ("call", "atomicrmw"):
            return _call(instruction.rest) if opcode == "call" else of_atomic(instruction.rest)
        return self._operator(instruction)

    def _operator(self, instruction: Instruction) -> BasicOperations:
        """Return what an instruction counts that may be an operator's."""
        opcode, rest = instruction.opcode, instruction.rest
        if opcode in ("icmp", "fcmp"):
            return self._comparison(instruction)
        # `!` of a truth value reverses it.
        reverses = opcode == "xor" and _REVERSES.match(rest) is not None
        if opcode not in CLASSES or reverses or not self._is_operator(instruction):
            return NOTHING
        return BasicOperations(**{CLASSES[opcode]: lanes(rest)})

    def _is_operator(self, instruction: Instruction) -> bool:
        """Return whether a result is a value of the source, rather than rustc's own."""
        name = instruction.name
        if name in self._checks:
            return False
        return not _NUMBER.match(name) or self._is_kept(name)

    def _is_kept(self, name: str) -> bool:
        """Return whether an unnamed value is stored or returned; a truth value widened first."""
        return any(
            use.opcode in _KEEPS
            or (use.opcode == "zext" and use.rest.startswith("i1 ") and self._is_kept(use.name))
            for use in self._uses[name]
        )

    def _comparison(self, instruction: Instruction) -> BasicOperations:
        position = self._locations.position(instruction.location)
        if not self._is_operator(instruction) or self._patterns.begins(position):
            return NOTHING
        n = lanes(instruction.rest.split(" ", maxsplit=1)[-1])
        kind = "compare" if instruction.opcode == "icmp" else "fp_compare"
        return BasicOperations(**{kind: n})

    def _offset(self, instruction: Instruction) -> BasicOperations:
        """Return what an address counts: one relative to a pointer, as the library takes them."""
        is_offset = _OFFSET.match(instruction.rest) and self._is_kept(instruction.name)
        return BasicOperations(arithmetic=int(bool(is_offset)))

    def _constant_indices(self, function: Function) -> Iterable[int]:
        """Return the lines of the branches in place of a check that rustc knows the outcome of.

        They go to where a constant is an index, at the same place of the source. Elements of
        patterns and of an array's initial value have no such branch before them.
        """
        blocks = {block.label: block for block in function.blocks}
        for block in function.blocks:
            last = block.instructions[-1]
            match = _GOTO.match(last.rest) if last.opcode == "br" else None
            if match is not None and any(
                instruction.opcode == "getelementptr"
                and _INDEX.match(instruction.rest)
                and self._is_same_place(instruction, last)
                for instruction in blocks[match[1]].instructions
            ):
                yield last.first

    def _is_same_place(self, one: Instruction, other: Instruction) -> bool:
        """Return whether two instructions stand at one place, but for a borrow in the first."""
        if one.location == other.location:
            return one.location is not None
        outer, inner = (self._locations.position(each.location) for each in (one, other))
        return self._patterns.is_borrowed(outer, inner)

    def _guards(self, function: Function) -> Iterable[str]:
        """Return the blocks with the right operand of `&&` in the guard of a `match`.

        There is nothing stored there: only the source tells `a && b` from an `if` in an `if`.
        """
        blocks = {block.label: block for block in function.blocks}
        for block in function.blocks:
            last = block.instructions[-1]
            match = _CONDITION.match(last.rest) if last.opcode == "br" else None
            if match is None or _panics(block) is not None:
                continue
            left = self._locations.position(last.location)
            places = (
                self._locations.position(instruction.location)
                for instruction in _straight_on(blocks, match[2])
            )
            if any(self._patterns.joins(left, place) for place in places):
                yield match[2]


def _call(rest: str) -> BasicOperations:
    match = _INTRINSIC.search(rest)
    return NOTHING if match is None else _INTRINSICS.get(match[1], NOTHING)


def _instructions(function: Function) -> Iterable[Instruction]:
    return (instruction for block in function.blocks for instruction in block.instructions)


def _uses(function: Function) -> defaultdict[str, list[Instruction]]:
    """Return the instructions that use each value as what they keep, change or test."""
    uses: defaultdict[str, list[Instruction]] = defaultdict(list)
    for instruction in _instructions(function):
        rest = instruction.rest
        if instruction.opcode == "store":
            rest = rest.split(", ", maxsplit=1)[0]  # not where it is stored
        for name in _OPERAND.findall(rest):
            uses[name.strip('"')].append(instruction)
    return uses


def _checks(function: Function) -> Iterable[str]:
    """Return the values that are made to be checked, before a branch to a panic."""
    made = {
        instruction.name: instruction for instruction in _instructions(function) if instruction.name
    }
    open_ = [
        condition[1]
        for block in function.blocks
        if (condition := _panics(block)) is not None and condition[1] is not None
    ]
    while open_:
        name = open_.pop()
        maker = made.get(name)
        if maker is None or maker.opcode not in _CHECKED:
            continue
        yield name
        if maker.opcode != "icmp":
            open_ += [operand.strip('"') for operand in _OPERAND.findall(maker.rest)]


def _panics(block: Block) -> re.Match[str] | None:
    """Return a block's last branch, if it goes to a panic of rustc's own."""
    last = block.instructions[-1]
    if last.opcode != "br" or (found := _CONDITION.match(last.rest)) is None:
        return None
    return found if _PANIC.match(found[2]) or _PANIC.match(found[3]) else None


def _index_checks(function: Function) -> Iterable[int]:
    """Return the lines of the branches that check an index."""
    blocks = {block.label: block for block in function.blocks}
    for block in function.blocks:
        if (found := _panics(block)) is None:
            continue
        panic = blocks[found[2] if _PANIC.match(found[2]) else found[3]]
        if any(
            "panic_bounds_check" in (instruction.callee or "") for instruction in panic.instructions
        ):
            yield block.instructions[-1].first


def _straight_on(blocks: Mapping[str, Block], label: str) -> Iterable[Instruction]:
    """Return what is executed from a block on, up to a branch with a choice."""
    seen: set[str] = set()
    while label not in seen:
        seen.add(label)
        yield from blocks[label].instructions
        last = blocks[label].instructions[-1]
        if last.opcode == "br" and (found := _GOTO.match(last.rest)):
            label = found[1]


def _joined(function: Function) -> Iterable[str]:
    """Return the blocks with the right operands of `&&` and `||`.

    The left operand's branch goes there, or to a block that does nothing but store what the left
    operand decides; both stand where the whole expression begins, which no `if` does.
    """
    blocks = {block.label: block for block in function.blocks}
    for block in function.blocks:
        last = block.instructions[-1]
        match = _CONDITION.match(last.rest) if last.opcode == "br" else None
        if match is None:
            continue
        if _stores(blocks[match[3]], "0", last.location):
            yield match[2]
        elif _stores(blocks[match[2]], "1", last.location):
            yield match[3]


def _stores(block: Block, value: str, location: int | None) -> bool:
    if [instruction.opcode for instruction in block.instructions] != ["store", "br"]:
        return False
    store = block.instructions[0]
    match = _STORED.match(store.rest)
    return match is not None and match[1] == value and store.location == location
