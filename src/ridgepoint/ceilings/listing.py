"""A kernel's listing, as LLVM prints it, against its claim: where nothing decodes machine code.

AArch64 and RISC-V. Each instruction of the innermost loop must be one that is claimed, an access
of memory as wide as claimed, or keep the loop going; whatever else is there refuses the kernel.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ridgepoint.kernels.isa import FLOP_PER_LANE, element_bits, instruction_pattern
from ridgepoint.kernels.kernel import Claim, lanes

_LOOP_KEEPING = 3
"""Instructions of a loop in registers: its counter and its end."""

_PASS_KEEPING = 8
"""The same of a loop over memory, beside one for the address of each access."""

_WIDEST_NEON = 128
_ELEMENT_BITS = {"b": 8, "h": 16, "s": 32, "d": 64}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Access:
    """An instruction that accesses memory.

    Parameters
    ----------
    pattern : str
        Regular expression of the instruction.
    registers : int
    register_bytes : int or None
        None: a whole register of SVE or of V.
    is_store, non_temporal : bool
    """

    pattern: str
    registers: int = 1
    register_bytes: int | None = None
    is_store: bool = False
    non_temporal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Syntax:
    """How LLVM lists the code of an architecture.

    Parameters
    ----------
    comment : str
        What begins one.
    accesses : tuple of _Access
    keeping : str
        Regular expression of address arithmetic, counters and branches: of integer registers.
    least_vector_bits : int
        Least width whose vectors are whole registers of SVE or of V.
    hint : str
        Of what makes the store that follows non-temporal.
    """

    comment: str
    accesses: tuple[_Access, ...]
    keeping: str
    least_vector_bits: int
    hint: str = "(?!)"


_SYNTAX = {
    "aarch64": _Syntax(
        comment="//",
        accesses=(
            _Access(pattern=r"ldr q\d+, \[.*\]", register_bytes=16),
            _Access(pattern=r"ldp q\d+, q\d+, \[.*\]", registers=2, register_bytes=16),
            _Access(pattern=r"ldr x\d+, \[.*\]", register_bytes=8),
            _Access(pattern=r"ldrsw x\d+, \[.*\]", register_bytes=4),
            _Access(pattern=r"ldr z\d+, \[.*\]"),
            _Access(pattern=r"ld1[bhwd] \{ z\d+\.[bhsd] \}, p\d+/z, \[.*\]"),
            _Access(pattern=r"str q\d+, \[.*\]", register_bytes=16, is_store=True),
            _Access(
                pattern=r"stp q\d+, q\d+, \[.*\]", registers=2, register_bytes=16, is_store=True
            ),
            _Access(pattern=r"str z\d+, \[.*\]", is_store=True),
            _Access(pattern=r"st1[bhwd] \{ z\d+\.[bhsd] \}, p\d+, \[.*\]", is_store=True),
            # LLVM knows no other for one register: it stores both halves as a pair.
            _Access(
                pattern=r"stnp d\d+, d\d+, \[.*\]",
                register_bytes=16,
                is_store=True,
                non_temporal=True,
            ),
            _Access(
                pattern=r"stnp q\d+, q\d+, \[.*\]",
                registers=2,
                register_bytes=16,
                is_store=True,
                non_temporal=True,
            ),
            _Access(
                pattern=r"stnt1[bhwd] \{ z\d+\.[bhsd] \}, p\d+, \[.*\]",
                is_store=True,
                non_temporal=True,
            ),
        ),
        keeping=(
            r"(adds?|subs?|mov|cmp|lsl) [xw]\d+(, [xw]\d+|, #-?\w+|, lsl #\d+)*"
            r"|mov d\d+, v\d+\.d\[1\]"  # the upper half, for STNP
            r"|(b\.\w+|cbn?z [xw]\d+,) \.L\w+"
        ),
        least_vector_bits=_WIDEST_NEON + 1,
    ),
    "riscv64": _Syntax(
        comment="#",
        accesses=(
            _Access(pattern=r"ld \w+, -?\d+\(\w+\)", register_bytes=8),
            _Access(pattern=r"lw \w+, -?\d+\(\w+\)", register_bytes=4),
            _Access(pattern=r"vl1re\d+\.v v\d+, \(\w+\)"),
            _Access(pattern=r"vle\d+\.v v\d+, \(\w+\)"),
            _Access(pattern=r"vs1r\.v v\d+, \(\w+\)", is_store=True),
            _Access(pattern=r"vse\d+\.v v\d+, \(\w+\)", is_store=True),
        ),
        keeping=(
            r"(addi?|sub|mv|li|lui|slli|sh\dadd) ([astg]\d+|[rgt]a|zero)(, ([ast]\d+|zero|-?\d+))*"
            r"|b\w+ (\w+, )+\.L\w+"
            r"|vset\w+ .*"  # looked at by itself
        ),
        least_vector_bits=128,
        # Of all caches: that the data goes past the first alone is not what is claimed.
        hint=r"(c\.)?ntl\.all",
    ),
}

ARCHITECTURES = frozenset(_SYNTAX)
"""Whose listings can be read."""


def why_refused(assembly: str, claim: Claim, *, architecture: str) -> str | None:
    """Return how a kernel's listing differs from its claim, or None if it holds.

    Parameters
    ----------
    assembly : str
        LLVM's listing of a module that has the kernel alone.
    claim : Claim
    architecture : {"aarch64", "riscv64"}
    """
    syntax = _SYNTAX[architecture]
    lines = _lines(assembly, syntax.comment)
    loop = innermost_loop(lines)
    if not loop:
        return "it has no loop"
    return (
        _why_vectors_differ(lines, loop, claim)
        or _why_work_differs(loop, claim, architecture)
        or _why_accesses_differ(loop, claim, syntax)
        or _why_others(loop, claim, architecture)
    )


def loop_of(assembly: str, *, architecture: str) -> list[str]:
    """Return the instructions of the innermost loop of LLVM's listing of a kernel."""
    return innermost_loop(_lines(assembly, _SYNTAX[architecture].comment))


def innermost_loop(lines: Sequence[str]) -> list[str]:
    """Return the instructions of the shortest loop: from a label to a branch back to it."""
    labels = {line[:-1]: index for index, line in enumerate(lines) if line.endswith(":")}
    loops = []
    for end, line in enumerate(lines):
        begin = labels.get(line.rsplit(" ", 1)[-1], end)
        if begin < end:
            loops.append(
                [
                    instruction
                    for instruction in lines[begin : end + 1]
                    if not instruction.endswith(":")
                ]
            )
    return min(loops, key=len, default=[])


def _lines(assembly: str, comment: str) -> list[str]:
    """Return labels and instructions, with single spaces and without comments and directives."""
    lines = (" ".join(line.split(comment, 1)[0].split()) for line in assembly.splitlines())
    return [line for line in lines if line and (not line.startswith(".") or line.endswith(":"))]


def _patterns(claim: Claim, architecture: str) -> list[tuple[str, int, str | None]]:
    """Return regular expressions of what is claimed, how many there are, and operations."""
    patterns: list[tuple[str, int, str | None]] = [
        (
            instruction_pattern(
                architecture, operation, precision=claim.precision, width_bits=claim.width_bits
            ),
            number,
            operation,
        )
        for operation, number in claim.executes
    ]
    register = ".*"
    if claim.width_bits and architecture == "aarch64":
        register = r"z\d+\..*" if claim.width_bits > _WIDEST_NEON else r"v\d+\.(16b|8h|4s|2d),.*"
    return patterns + [
        (f"{mnemonic.lower()} {register}", number, None) for mnemonic, number in claim.instructions
    ]


def _why_work_differs(loop: Sequence[str], claim: Claim, architecture: str) -> str | None:
    """Return which instruction that computes is missing, or too many, or None."""
    try:
        patterns = _patterns(claim, architecture)
    except KeyError as error:
        return f"{error.args[0]} of {claim.precision} is not one instruction on {architecture}"
    chain = []
    flop = 0
    for pattern, number, operation in patterns:
        own = [line for line in loop if re.fullmatch(pattern, line)]
        if len(own) != number:
            return f"a pass of its loop has {len(own)} {pattern}, not {number}"
        chain += own
        if operation is not None and claim.precision.startswith("fp"):
            flop += number * FLOP_PER_LANE[operation] * lanes(claim.precision, claim.width_bits)
    if not claim.instructions and flop != claim.flop:
        return f"a pass of its loop does {flop} flop, not {claim.flop}"
    if claim.is_chain:
        operands = [line.split(" ", 1)[1].split(", ") for line in chain]
        result = operands[0][0]
        if any(own[0] != result or result not in own[1:] for own in operands):
            return "its operations are not one chain"
    return None


def _why_accesses_differ(loop: Sequence[str], claim: Claim, syntax: _Syntax) -> str | None:
    """Return what the loop does to memory and does not claim, or None."""
    width_bytes = claim.width_bits // 8
    moved = {False: 0, True: 0}
    for index, line in enumerate(loop):
        access = _access(line, syntax)
        if access is None:
            continue
        long = claim.width_bits >= syntax.least_vector_bits
        if claim.width_bits and access.register_bytes != (None if long else width_bytes):
            return f"{line} does not move {width_bytes} byte at a time"
        moved[access.is_store] += access.registers * (access.register_bytes or width_bytes)
        past_caches = access.non_temporal or (
            index > 0 and re.fullmatch(syntax.hint, loop[index - 1]) is not None
        )
        if access.is_store and past_caches != claim.operation.endswith(" nt"):
            return f"it stores by {line}"
    for what, is_store, number in (
        ("loaded", False, claim.load_bytes),
        ("stored", True, claim.store_bytes),
    ):
        if moved[is_store] != number:
            return f"a pass of its loop does {moved[is_store]} bytes {what}, not {number}"
    return None


def _access(line: str, syntax: _Syntax) -> _Access | None:
    return next((a for a in syntax.accesses if re.fullmatch(a.pattern, line)), None)


def _why_others(loop: Sequence[str], claim: Claim, architecture: str) -> str | None:
    """Return what the loop has beside its work, or None if it is what a loop needs."""
    syntax = _SYNTAX[architecture]
    patterns = [pattern for pattern, _, _ in _patterns(claim, architecture)]
    accesses = keeping = 0
    for line in loop:
        if _access(line, syntax):
            accesses += 1
        elif re.fullmatch(syntax.keeping, line):
            keeping += not any(re.fullmatch(pattern, line) for pattern in patterns)
        elif not any(re.fullmatch(pattern, line) for pattern in (*patterns, syntax.hint)):
            return f"its loop also has {line}"
    most = accesses + _PASS_KEEPING if accesses else _LOOP_KEEPING
    return f"its loop has {keeping} other instructions" if keeping > most else None


def _why_vectors_differ(lines: Sequence[str], loop: Sequence[str], claim: Claim) -> str | None:
    """Return where vectors are not whole registers, or None.

    The lanes of SVE are those that a predicate has switched on, and those of RISC-V's V what
    VSETVLI says, in one register each.
    """
    predicates = {name for line in loop for name in re.findall(r"\bp\d+\b", line)}
    shortest = min(
        (_ELEMENT_BITS[e] for line in loop for e in re.findall(r"\bz\d+\.([bhsd])\b", line)),
        default=0,
    )
    for line in lines:
        if (name := re.match(r"\w+ (p\d+)\b", line)) and name[1] in predicates:
            on = re.fullmatch(r"ptrue p\d+\.([bhsd])(?:, vl(\d+))?", line)
            if on is None or _ELEMENT_BITS[on[1]] > shortest:
                return f"its lanes are switched by {line}"
            if on[2] and int(on[2]) * _ELEMENT_BITS[on[1]] != claim.width_bits:
                return f"its lanes are switched by {line}"
        if line.startswith("vset"):
            bits = element_bits(claim.precision)
            whole = rf"vsetivli zero, {claim.width_bits // bits}|vsetvli \w+, zero"
            if not re.fullmatch(rf"({whole}), e{bits}, m1, t[au], m[au]", line):
                return f"its vectors are set by {line}"
    return None
