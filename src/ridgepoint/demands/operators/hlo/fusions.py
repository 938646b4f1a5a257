"""Which elements a fusion needs of what is computed in it, and what it writes."""

from __future__ import annotations

from collections.abc import Mapping

from ridgepoint.demands.operators.hlo.text import Computation, Instruction
from ridgepoint.demands.operators.rule import names

SLICES = ("slice", "dynamic-slice", "gather")
"""Opcodes that read of their first operand what they return."""

UPDATES = ("dynamic-update-slice", "scatter")
"""Opcodes that change their first operand in place, if nothing else keeps it."""

_SAME = names("bitcast reshape transpose copy convert bitcast-convert reverse")


def used_shares(fused: Computation) -> dict[str, float]:
    """Return for each instruction of a fusion which share of its elements is needed."""
    used: dict[str, float] = {}
    for name in reversed(list(fused.instructions)):
        one = fused.instructions[name]
        if name == fused.root or not one.shape.size:
            used[name] = 1.0
            continue
        parts = [_needs(user, one, used, fused) for user in fused.users[name]]
        used[name] = min(sum(parts), 1.0)
    return used


def _needs(
    user: Instruction, one: Instruction, used: Mapping[str, float], fused: Computation
) -> float:
    first = user.operands[0] == one.name
    if user.opcode in SLICES and first:
        return used[user.name] * user.shape.size / one.shape.size
    if user.opcode in UPDATES and first and _named(one, fused).opcode == "parameter":
        return 0.0
    if user.opcode in _SAME or user.shape.sizes == one.shape.sizes:
        return used[user.name]
    return 1.0


def written_by_fusion(fused: Computation) -> float:
    """Return the bytes that a fusion writes: of an input that it updates the update alone."""
    roots = [fused.instructions[fused.root]]
    if roots[0].opcode == "tuple":
        roots = list(fused.operands(roots[0]))
    return sum(_written(_named(root, fused), fused) for root in roots)


def _written(root: Instruction, fused: Computation) -> float:
    if root.opcode in UPDATES and _named(fused.operands(root)[0], fused).opcode == "parameter":
        return update_bytes(root, fused)
    return sum(shape.nbytes for shape in root.shapes)


def _named(one: Instruction, fused: Computation) -> Instruction:
    """Return the instruction whose result this one names."""
    while one.opcode in ("bitcast", "get-tuple-element"):
        (one,) = fused.operands(one)
    return one


def update_bytes(update: Instruction, computation: Computation) -> float:
    """Return the bytes of the elements that an update in place replaces or adds to."""
    operands = computation.operands(update)
    if update.opcode == "dynamic-update-slice":
        return operands[1].shape.nbytes
    return sum(one.shape.nbytes for one in operands[-len(update.shapes) :])
