"""Cut a function into pieces that are executed together or not at all, each with its work.

What several pieces alone lead to needs no counter: its work is part of each of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.meters.source.ir import Block, Function, Instruction
from ridgepoint.meters.source.locations import Locations, Place
from ridgepoint.meters.source.returning import comes_back
from ridgepoint.meters.source.table import LineWork, Tally

_FIRST = frozenset(("phi", "landingpad", "alloca"))
_NOTHING = BasicOperations()


class Reading(Protocol):
    """What a function's IR says of its source: one for each compiler that writes IR."""

    def of_instruction(self, block: Block, instruction: Instruction) -> BasicOperations:
        """Return what an instruction counts."""

    def of_block(self, block: Block) -> BasicOperations:
        """Return what entering a block counts."""


Read = Callable[[Function, Locations], Reading]
"""Read a function, whose places are told."""
_MOST_COPIES = 8
"""Pieces that lead to a block whose work is added to theirs. Of more, a counter of its own is
smaller than the table of all these copies."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Instructions that are executed once for each pass of a counter, and where that goes.

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
    function: Function,
    lines: Sequence[str],
    known: frozenset[str],
    locations: Locations,
    reading: Reading,
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
    reading : Reading
        Of this function.
    """
    before = _only_ways(function, lines)
    ends: dict[str, tuple[_Open, ...]] = {}
    done: list[_Open] = []

    def begun(one: _Open) -> tuple[_Open, ...]:
        done.append(one)
        return (one,)

    for block in _in_order(function, before):
        current = tuple(one for label in before.get(block.label, ()) for one in ends[label])
        if not 0 < len(current) <= _MOST_COPIES:
            current = begun(_begin(block))
        if (joined := reading.of_block(block)) != _NOTHING:
            _add(current, _place(block.instructions, locations), joined)
        for instruction in block.instructions:
            if (operations := reading.of_instruction(block, instruction)) != _NOTHING:
                _add(current, locations.place(instruction.location), operations)
            if not comes_back(instruction, known):
                current = begun(_Open(instruction.last, True, Tally({})))
        ends[block.label] = current
    return [Piece(one.line, one.behind, one.tally.work) for one in done if one.tally.by_place]


def _add(current: Sequence[_Open], place: Place | None, operations: BasicOperations) -> None:
    for piece in current:
        piece.tally.add(place, operations)


def _begin(block: Block) -> _Open:
    first = next(i for i in block.instructions if i.opcode not in _FIRST)
    return _Open(first.first, False, Tally({}))


def _place(instructions: Sequence[Instruction], locations: Locations) -> Place | None:
    places = (locations.place(instruction.location) for instruction in instructions)
    return next((place for place in places if place is not None), None)


def _only_ways(function: Function, lines: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return blocks that are reached only from blocks that lead nowhere else, and these.

    Such a block is executed once for each execution of the end of one of those: the condition of a
    loop once for what is before the loop, and once for each pass.
    """
    targets = {block.label: block.targets(lines) for block in function.blocks}
    ways: dict[str, list[str]] = {}
    for label, found in targets.items():
        for target in set(found):
            ways.setdefault(target, []).append(label)
    return {
        label: tuple(found)
        for label, found in ways.items()
        if all(len(targets[one]) == 1 for one in found)
    }


def _in_order(function: Function, before: dict[str, tuple[str, ...]]) -> list[Block]:
    """Return blocks so that each comes behind those that alone lead to it.

    In a circle of such blocks (a loop without a condition) one is taken out of `before`: it has
    to be counted by itself.
    """
    by_label = {block.label: block for block in function.blocks}
    ordered: dict[str, Block] = {}
    waiting: set[str] = set()
    for block in function.blocks:
        stack = [block.label]
        while stack:
            label = stack[-1]
            if label in ordered or label in waiting:
                waiting.discard(label)
                ordered.setdefault(label, by_label[label])
                stack.pop()
                continue
            waiting.add(label)
            if not waiting.isdisjoint(before.get(label, ())):
                del before[label]
            stack += [one for one in before.get(label, ()) if one not in ordered]
    return list(ordered.values())
