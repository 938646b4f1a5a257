"""A kernel's machine code against its claim: what will run, not what the IR says.

On x86-64 decoded by the same rules that count programs, so that roofs and points are in one
currency; elsewhere read from LLVM's listing.
"""

from __future__ import annotations

import re

from iced_x86 import (
    Decoder,
    FlowControl,
    Formatter,
    FormatterSyntax,
    Instruction,
    OpKind,
    RegisterExt,
)

from ridgepoint.ceilings import listing
from ridgepoint.core.resources import INTEGERS
from ridgepoint.kernels.isa import instruction_pattern
from ridgepoint.kernels.jit import Code
from ridgepoint.kernels.kernel import Claim
from ridgepoint.meters.decode import Operation, classify

# The loop's own counter and its end.
_LOOP_KEEPING = 3
_IMMEDIATES = frozenset((OpKind.IMMEDIATE8TO32, OpKind.IMMEDIATE8TO64, OpKind.IMMEDIATE8))


def innermost_loop(code: bytes) -> list[Instruction]:
    """Return the instructions of the shortest loop: a jump back, and all from its target to it."""
    instructions = [i for i in Decoder(64, code) if not i.is_invalid]
    loops = [
        [i for i in instructions if jump.near_branch_target <= i.ip <= jump.ip]
        for jump in instructions
        if jump.flow_control == FlowControl.CONDITIONAL_BRANCH
        and jump.near_branch_target <= jump.ip
    ]
    return min(loops, key=len, default=[])


def loop_listing(code: Code) -> list[str]:
    """Return the instructions of a kernel's innermost loop, for readers."""
    if code.architecture in listing.ARCHITECTURES:
        return listing.loop_of(code.assembly, architecture=code.architecture)
    if code.architecture != "x86_64":
        return []
    formatter = Formatter(FormatterSyntax.INTEL)
    return [formatter.format(instruction) for instruction in innermost_loop(code.machine_code)]


def why_refused(code: Code, claim: Claim) -> str | None:
    """Return how a kernel's machine code differs from its claim, or None if it holds.

    Parameters
    ----------
    code : Code
        Of the whole function.
    claim : Claim
    """
    if code.architecture in listing.ARCHITECTURES:
        return listing.why_refused(code.assembly, claim, architecture=code.architecture)
    if code.architecture != "x86_64":
        return f"the code for {code.architecture} cannot be verified here"
    loop = innermost_loop(code.machine_code)
    operations = [o for i in loop if (o := classify(i, claim.tiles)) is not None]
    if not operations:
        return "it has no loop"
    found = {
        "flop": sum(o.flop or 0 for o in operations),
        "bytes loaded": sum(o.load_bytes for o in operations),
        "bytes stored": sum(o.store_bytes for o in operations),
    }
    claimed = {
        "flop": claim.flop,
        "bytes loaded": claim.load_bytes,
        "bytes stored": claim.store_bytes,
    }
    for what, number in claimed.items():
        if found[what] != number:
            return f"a pass of its loop does {found[what]} {what}, not {number}"
    for operation in operations:
        if reason := _why_wrong(operation, claim):
            return reason
    return _why_tiles_stay(code.machine_code, claim) or _why_others(loop, claim)


def _why_tiles_stay(code: bytes, claim: Claim) -> str | None:
    """Return how a kernel of tiles does not begin and end with them alone, or None."""
    names = [o.mnemonic for i in Decoder(64, code) if (o := classify(i)) is not None]
    for name in ("LDTILECFG", "TILERELEASE"):
        if names.count(name) != (claim.tiles is not None):
            return f"it has {names.count(name)} {name}"
    return None


def _why_others(loop: list[Instruction], claim: Claim) -> str | None:
    """Return which instructions are not those that are claimed, or None.

    The loop's counter is told from a chain's addition by its immediate operand.
    """
    claimed = claim.instructions + tuple(
        (
            instruction_pattern(
                "x86_64", operation, precision=claim.precision, width_bits=claim.width_bits
            ),
            number,
        )
        for operation, number in claim.executes
    )
    working = [i for i in loop if i.op1_kind not in _IMMEDIATES]
    chain = []
    for pattern, number in claimed:
        own = [
            i
            for i in working
            if (o := classify(i)) is not None and re.fullmatch(pattern, o.mnemonic)
        ]
        if len(own) != number:
            return f"a pass of its loop has {len(own)} {pattern}, not {number}"
        if claim.precision in INTEGERS:
            bits = claim.width_bits or int(claim.precision.removeprefix("int"))
            for i in own:
                if 8 * _register_bytes(i) != bits:
                    return f"{i} is not {bits} bit wide"
        chain += own
    if claim.is_chain and len({i.op0_register for i in chain}) != 1:
        return "its operations are not one chain"
    if (claim.load_bytes or claim.store_bytes) and not claim.instructions:
        return None  # what moves the bytes was counted by its bytes
    rest = len(loop) - len(chain)
    return f"its loop has {rest} other instructions" if rest > _LOOP_KEEPING else None


def _register_bytes(instruction: Instruction) -> int:
    """Return how wide an operation's result is; of a compare into a mask, what is compared."""
    result = instruction.op0_register
    return RegisterExt.size(instruction.op1_register if RegisterExt.is_k(result) else result)


def _why_wrong(operation: Operation, claim: Claim) -> str | None:
    """Return what is wrong with one instruction of the loop, or None."""
    name = operation.mnemonic
    if operation.flop is None:
        return f"what {name} does in its loop cannot be counted"
    if operation.flop and (operation.precision, operation.width_bits) != (
        claim.precision,
        claim.width_bits,
    ):
        return f"{name} is {operation.precision}, {operation.width_bits} bit wide"
    width_bytes = max(operation.load_bytes, operation.store_bytes)
    # What names its instructions may load indices beside what they point to.
    if width_bytes and 8 * width_bytes != claim.width_bits and not claim.instructions:
        return f"{name} moves {width_bytes} byte at a time"
    if operation.is_store and operation.non_temporal != claim.operation.endswith(" nt"):
        return f"it stores by {name}"
    return None
