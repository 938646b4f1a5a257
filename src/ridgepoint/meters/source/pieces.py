"""Cut a function into pieces that are executed together or not at all, each with its work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ridgepoint.meters.source.ir import Block, Function, Instruction
from ridgepoint.meters.source.locations import Locations, Place
from ridgepoint.meters.source.returning import comes_back
from ridgepoint.meters.source.rules import NOTHING, is_implied, of_block, of_instruction
from ridgepoint.meters.source.table import LineWork, Tally

_FIRST = frozenset(("phi", "landingpad", "alloca"))
_CONVERSIONS = frozenset(("zext", "sext", "trunc", "freeze"))


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of instructions with work, and where its counter goes.

    Parameters
    ----------
    line : int
        Of the module's text.
    behind : bool
        Whether the counter goes behind that line; else before it.
    work : tuple of LineWork
    """

    line: int
    behind: bool
    work: tuple[LineWork, ...]


@dataclass(slots=True)
class _Open:
    """A piece that may still grow."""

    line: int
    behind: bool
    tally: Tally


def pieces(
    function: Function, lines: Sequence[str], known: frozenset[str], locations: Locations
) -> list[Piece]:
    """Return the pieces of a function that do any basic operations.

    Parameters
    ----------
    function : Function
    lines : sequence of str
        The module's text.
    known : frozenset of str
        Functions that return whenever they are called.
    locations : Locations
    """
    truths = _truths(function)
    leads_to = _only_ways(function, lines)
    ends: dict[str, _Open] = {}
    done: list[_Open] = []
    for block in _in_order(function, leads_to):
        before = leads_to.get(block.label)
        if before is None:
            current = _begin(block)
            done.append(current)
        else:
            current = ends[before]
        if (joined := of_block(block.label)) != NOTHING:
            current.tally.add(_place(block.instructions, locations), joined)
        for instruction in block.instructions:
            operations = of_instruction(
                instruction.name, instruction.opcode, instruction.rest, truths
            )
            if operations != NOTHING and not is_implied(block.label, instruction.opcode):
                current.tally.add(locations.place(instruction.location), operations)
            if not comes_back(instruction, known):
                current = _Open(instruction.last, True, Tally({}))
                done.append(current)
        ends[block.label] = current
    return [Piece(one.line, one.behind, one.tally.work) for one in done if one.tally.by_place]


def _begin(block: Block) -> _Open:
    first = next(i for i in block.instructions if i.opcode not in _FIRST)
    return _Open(first.first, False, Tally({}))


def _place(instructions: Sequence[Instruction], locations: Locations) -> Place | None:
    places = (locations.place(instruction.location) for instruction in instructions)
    return next((place for place in places if place is not None), None)


def _only_ways(function: Function, lines: Sequence[str]) -> dict[str, str]:
    """Return blocks that one other block alone leads to, and that leads nowhere else."""
    targets = {block.label: block.targets(lines) for block in function.blocks}
    ways = Counter(target for found in targets.values() for target in set(found))
    return {
        found[0]: label
        for label, found in targets.items()
        if len(found) == 1 and ways[found[0]] == 1 and found[0] != label
    }


def _in_order(function: Function, leads_to: dict[str, str]) -> list[Block]:
    """Return blocks so that each comes behind the one that alone leads to it."""
    by_label = {block.label: block for block in function.blocks}
    follower = {before: label for label, before in leads_to.items()}
    ordered: list[Block] = []
    for block in function.blocks:
        # What only a circle of blocks leads to is never executed, and is left out.
        label = None if block.label in leads_to else block.label
        while label is not None:
            ordered.append(by_label[label])
            label = follower.get(label)
    return ordered


def _truths(function: Function) -> frozenset[str]:
    """Return the values that are the outcome of a comparison, in whatever width."""
    truths: set[str] = set()
    for block in function.blocks:
        for instruction in block.instructions:
            if not instruction.name:
                continue
            source = instruction.rest.split(" to ", maxsplit=1)[0]
            of_bit = instruction.opcode in _CONVERSIONS and source.startswith("i1 ")
            from_truth = instruction.opcode in _CONVERSIONS and _operand(source) in truths
            # That a static variable has to be initialised is no condition of the source.
            guard = instruction.callee == "__cxa_guard_acquire"
            if of_bit or from_truth or guard or instruction.opcode in ("icmp", "fcmp"):
                truths.add(instruction.name)
    return frozenset(truths)


def _operand(source: str) -> str:
    return source.rsplit("%", maxsplit=1)[-1]
