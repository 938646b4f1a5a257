"""A tiny assembler: the instructions that the built-in programs consist of, and loops of them.

There may be no compiler where the programs run, and counts of what a compiler makes are known
for one version of it. So every instruction stands here with its bytes, as GNU as makes them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

DATA = 0x1000_0000
"""Where `CONSTANTS` lie: `LINE_BYTES`, the only data that a program finds filled."""

ARRAYS = DATA + 0x1000
"""Where the memory begins that a program may write to."""

LINE_BYTES = 64

_PLAIN = {
    f"vmovapd ymm0, [{DATA}]": "c5fd28042500000010",
    f"vmovsd xmm0, [{DATA}]": "c5fb10042500000010",
    f"movaps xmm0, [{DATA + 32}]": "0f28042520000010",
    "vmovapd ymm1, [rsi]": "c5fd280e",
    "vmovapd ymm1, [rbx]": "c5fd280b",
    "vmovapd ymm1, [rdi]": "c5fd280f",
    "vmovapd [rdi], ymm0": "c5fd2907",
    "vmovapd [rdi], ymm1": "c5fd290f",
    "vmovntpd [rdi], ymm0": "c5fd2b07",
    "vmulpd ymm1, ymm1, ymm0": "c5f559c8",
    "vaddpd ymm1, ymm1, [rsi]": "c5f5580e",
    "vfmadd231pd ymm1, ymm0, [rsi]": "c4e2fdb80e",
    "vfmadd231pd ymm1, ymm0, ymm0": "c4e2fdb8c8",
    "vfmadd231pd ymm2, ymm0, ymm0": "c4e2fdb8d0",
    "vfmadd231pd ymm3, ymm0, ymm0": "c4e2fdb8d8",
    "vfmadd231pd ymm4, ymm0, ymm0": "c4e2fdb8e0",
    "vfmadd231pd ymm5, ymm0, ymm0": "c4e2fdb8e8",
    "vfmadd231pd ymm6, ymm0, ymm0": "c4e2fdb8f0",
    "vfmadd231pd ymm7, ymm0, ymm0": "c4e2fdb8f8",
    "vfmadd231pd ymm8, ymm0, ymm0": "c462fdb8c0",
    "addps xmm1, xmm0": "0f58c8",
    "addps xmm2, xmm0": "0f58d0",
    "addps xmm3, xmm0": "0f58d8",
    "addps xmm4, xmm0": "0f58e0",
    "vmulsd xmm1, xmm1, xmm0": "c5f359c8",
    "vmulsd xmm2, xmm2, xmm0": "c5eb59d0",
    "vmulsd xmm3, xmm3, xmm0": "c5e359d8",
    "vmulsd xmm4, xmm4, xmm0": "c5db59e0",
    "vpaddq ymm1, ymm1, ymm0": "c5f5d4c8",
    "vpxor ymm2, ymm2, ymm0": "c5edefd0",
    "lea rbx, [rbx+rbx*2]": "488d1c5b",
    "xor rbx, rax": "4831c3",
    "mov esi, eax": "89c6",
    "shl esi, 6": "c1e606",
    f"mov [rsi+{ARRAYS}], rax": "48898600100010",
    f"mov rbx, [rsi+{ARRAYS}]": "488b9e00100010",
    "add rsi, 32": "4883c620",
    "add rbx, 32": "4883c320",
    "add rdi, 32": "4883c720",
    "dec ecx": "ffc9",
    "dec edx": "ffca",
    "xor edi, edi": "31ff",
    "syscall": "0f05",
}

_BEFORE_IMMEDIATE = {
    "mov eax": "b8",
    "mov ecx": "b9",
    "mov edx": "ba",
    "mov ebx": "bb",
    "mov esi": "be",
    "mov edi": "bf",
    "add eax": "05",
    "imul eax, eax": "69c0",
    "and esi": "81e6",
}
"""What stands before 32 bit of a number."""

_WITH_IMMEDIATE = re.compile(r"(.+), (\d+)")
_SHORT_JUMP_BYTES, _NEAR_JUMP_BYTES = 2, 6


@dataclass(frozen=True, slots=True)
class Loop:
    """`mov` of a number to a counter, then so many passes of a body, `dec` and `jnz`.

    With a body of k instructions it executes 1 + times (k + 2) of them.

    Parameters
    ----------
    counter : str
        ``ecx`` or ``edx``.
    times : int
        At least 1.
    body : tuple of str or Loop
    """

    counter: str
    times: int
    body: tuple[str | Loop, ...]

    def __post_init__(self) -> None:
        if self.times < 1:
            raise ValueError(f"times must be >= 1, got {self.times!r}")


Code = Sequence[str | Loop]
"""Instructions in Intel's syntax, as `assemble` knows them, and loops of them."""


def assemble(code: Code) -> bytes:
    """Return the machine code.

    Raises
    ------
    KeyError
        If an instruction is not in this module's table.
    """
    return b"".join(_loop(part) if isinstance(part, Loop) else _line(part) for part in code)


def listing(code: Code) -> tuple[str, ...]:
    """Return the instructions in the order in which they stand in the machine code."""
    lines: list[str] = []
    for part in code:
        if isinstance(part, Loop):
            first = f"mov {part.counter}, {part.times}"
            lines += [first, *listing(part.body), f"dec {part.counter}", "jnz"]
        else:
            lines.append(part)
    return tuple(lines)


def _line(text: str) -> bytes:
    if text in _PLAIN:
        return bytes.fromhex(_PLAIN[text])
    match = _WITH_IMMEDIATE.fullmatch(text)
    if match is None:
        raise KeyError(text)
    return bytes.fromhex(_BEFORE_IMMEDIATE[match[1]]) + int(match[2]).to_bytes(4, "little")


def _loop(loop: Loop) -> bytes:
    turn = assemble(loop.body) + _line(f"dec {loop.counter}")
    back = -(len(turn) + _SHORT_JUMP_BYTES)
    if back >= -128:
        jump = b"\x75" + back.to_bytes(1, "little", signed=True)
    else:
        back = -(len(turn) + _NEAR_JUMP_BYTES)
        jump = b"\x0f\x85" + back.to_bytes(4, "little", signed=True)
    return _line(f"mov {loop.counter}, {loop.times}") + turn + jump
