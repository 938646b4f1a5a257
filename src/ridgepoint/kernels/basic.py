"""Peaks of basic operations at 64 bit: what compares and addresses elements, and all kinds mixed.

    for r in range(repeats):
        for u in range(unroll):
            for k in range(chains):         # what each does goes in turn through a mix
                x[k] = x[k] + y             # add
                x[k] = x[k] ^ y             # logic
                flags = x[k] - y            # compare
                y = p[i + constant]         # addressing: an operand from L1, at base + 8 * index

    mixed        the four together, in the proportion that the paper saw in data-centre code, in
                 equal parts, or with as many addresses as keep both kinds of ports busy
    dependent    one chain of add and logic in turn: each operation waits for the one before
    compare      alone; its result is not kept, as that would take a second instruction
    addressing   alone: loads from L1, or the address alone, by x86's LEA

One BOP is one operation of one 64-bit lane. An operand in memory costs its address, one BOP for
each element that it brings, in the very instruction that uses it. All is written as assembly of
x86-64, since LLVM keeps no operation whose result nobody needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ridgepoint.kernels.chains import chains_ir, value
from ridgepoint.kernels.integer import OPERANDS
from ridgepoint.kernels.kernel import Claim, Kernel, lanes, width_name

Kind = Literal["add", "logic", "compare", "load", "lea"]

_CHAINS = 9
# A scalar loop's counter competes with its work; vectors leave it room.
_SCALAR_UNROLL, _VECTOR_UNROLL = 16, 8
_DEPENDENT_UNROLL = 128
_ARRAY_BYTES = 2048
"""Of the array that operands in memory come from, one element after the other: not all from the
same bank of L1. It lies in what any kernel of chains has."""

_ELEMENT_BYTES = 8
_SSE_BITS = 128
_MASKED = 512

UNKEPT_BITS = (0, _MASKED)
"""Widths whose compares write flags or a mask, and leave what they compare as it is."""

ADDRESSING: tuple[Literal["load", "lea"], ...] = ("load", "lea")
"""What addresses an element; LEA does so of scalars alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One instruction of a mix.

    Parameters
    ----------
    kind : {"add", "logic", "compare", "load", "lea"}
    addressed : bool
        Whether its second operand is an element in memory.
    """

    kind: Kind
    addressed: bool = False

    @property
    def bops(self) -> int:
        """Basic operations of each lane."""
        return 1 + (self.addressed and self.kind != "load")


def _steps(text: str) -> tuple[Step, ...]:
    """Return the steps of a text such as ``add@ compare``; ``@``: with an operand in memory."""
    kinds: dict[str, Kind] = {"add": "add", "logic": "logic", "compare": "compare"}
    return tuple(
        Step(kind=kinds[word.rstrip("@")], addressed=word.endswith("@")) for word in text.split()
    )


MIXES: dict[str, tuple[Step, ...]] = {
    # 47 % addressing, 22 % compare, 30 % arithmetic and logic (the paper, section 3.2.3).
    "8:3:2:4": _steps("add@ compare@ logic@ compare@ add@ compare@ logic@ compare@ add"),
    "1:1:1:1": _steps("add@ logic compare"),
    # Half as many addresses as operations, two thirds as many, as many: a core loads one of these.
    "2:2:1:1": _steps("add@ logic@ add compare"),
    "2:1:1:1": _steps("add@ logic@ compare"),
    "3:1:1:1": _steps("add@ logic@ compare@"),
}
"""Addressing to add to logic to compare, in BOPs."""

# Names of instructions; vectors have one of their own for each.
_SCALAR = {"add": "addq", "logic": "xorq", "compare": "cmpq", "load": "movq", "lea": "leaq"}
_VECTOR = {"add": "paddq", "logic": "pxor", "compare": "pcmpgtq", "load": "movdqu"}
# Regular expressions of the same, as verified.
_SCALAR_MNEMONICS = {"add": "ADD", "logic": "XOR", "compare": "CMP", "load": "MOV", "lea": "LEA"}
_VECTOR_MNEMONICS = {
    "add": "V?PADDQ",
    "logic": "V?PXORQ?",
    "compare": "V?PCMPGTQ",
    "load": "V?MOVDQU(64)?",
}


def mixed(mix: str, *, width_bits: int) -> Kernel:
    """Return the kernel of all four kinds in one of `MIXES`.

    Parameters
    ----------
    mix : str
    width_bits : int
        128, 256 or 512; 0: scalar.
    """
    return _kernel(f"mixed {mix}", MIXES[mix], width_bits)


def dependent(*, width_bits: int) -> Kernel:
    """Return the kernel whose every operation waits for the one before; widths as of `mixed`."""
    return _kernel("dependent", _steps("add logic"), width_bits, chains=1)


def compare(*, width_bits: int) -> Kernel:
    """Return the kernel of compares whose results are not kept: scalars, and 512 bit."""
    return _kernel("compare", _steps("compare"), width_bits)


def addressing(kind: Literal["load", "lea"], *, width_bits: int) -> Kernel:
    """Return the kernel of addresses: of loads from L1, or alone, of scalars."""
    step = Step(kind=kind, addressed=kind == "load")
    return _kernel(f"addressing by {kind}", (step,), width_bits)


def _kernel(name: str, steps: Sequence[Step], width_bits: int, *, chains: int = _CHAINS) -> Kernel:
    """Return the kernel that goes through steps in turn, from chain to chain."""
    independent = _VECTOR_UNROLL if width_bits else _SCALAR_UNROLL
    unroll = independent if chains > 1 else _DEPENDENT_UNROLL
    n_lanes = lanes("int64", width_bits)
    vector = f"<{n_lanes} x i64>" if width_bits else "i64"
    times = chains * unroll // len(steps)

    def step(result: str, u: int, k: int) -> str:
        number = u * chains + k
        offset = number * n_lanes * _ELEMENT_BYTES % _ARRAY_BYTES
        step = steps[number % len(steps)]
        return _code(step, vector, width_bits, result=result, x=value(k, u), offset=offset)

    kinds = [step.kind for step in steps]
    mnemonics = _VECTOR_MNEMONICS if width_bits else _SCALAR_MNEMONICS
    loads = times * sum(step.addressed for step in steps)
    return Kernel(
        name=f"{name} {width_name(width_bits)}",
        ir=chains_ir(
            step,
            vector=vector,
            chains=chains,
            unroll=unroll,
            # No stream, no size: it is 0, which LLVM does not know.
            prologue=("  %i = and i64 %size, 7",),
        ),
        claim=Claim(
            operation=name.split(maxsplit=1)[0],
            precision="int64",
            width_bits=width_bits,
            load_bytes=loads * n_lanes * _ELEMENT_BYTES,
            instructions=tuple(
                (mnemonics[kind], times * kinds.count(kind)) for kind in dict.fromkeys(kinds)
            ),
        ),
        work_per_repeat=times * n_lanes * sum(step.bops for step in steps),
        operands=OPERANDS[: 2 + chains],
        pseudo_code=_pseudo_code(steps, chains, unroll, n_lanes),
    )


def _pseudo_code(steps: Sequence[Step], chains: int, unroll: int, n_lanes: int) -> str:
    formulas = {
        "add": "x[k] = x[k] + {}",
        "logic": "x[k] = x[k] ^ {}",
        "compare": "compare x[k] with {}",
        "load": "x[k] = {}",
        "lea": "x[k] = address of p[x[k]]",
    }
    lines = [f"for u in range({unroll}):", f"    for k in range({chains}):   # one, in turn, of"]
    for step in steps:
        formula = formulas[step.kind].format("p[i]" if step.addressed else "b")
        lines.append(f"        {formula}   # {step.bops} BOP x {n_lanes}")
    return "\n".join(lines)


def _code(step: Step, vector: str, width_bits: int, *, result: str, x: str, offset: int) -> str:
    """Return the code of one step; vectors of 128 bit in the form of SSE, with two operands."""
    name = _instruction(step.kind, width_bits)
    register = {0: "r", _MASKED: "v"}.get(width_bits, "x")
    # Operands are numbered in the order of the constraints, results first.
    given, taken = ("ptr %data, i64 %i", "r,r") if step.addressed else (f"{vector} %b", register)

    def y(first: int) -> str:
        return f"{offset}(${first},${first + 1},8)" if step.addressed else f"${first}"

    if step.kind == "compare" and width_bits in UNKEPT_BITS:
        mask, kept = (", %k1", "k1") if width_bits else ("", "flags")
        constraints = f"{register},{taken},~{{{kept}}}"
        return (
            f'  call void asm sideeffect "{name} {y(1)}, $0{mask}", "{constraints}"'
            f"({vector} {x}, {given})\n"
            f"  {result} = bitcast {vector} {x} to {vector}"
        )
    if step.kind == "lea":
        text, constraints, given = f"{name} ($1,$2,8), $0", "=r,r,r", f"ptr %data, i64 {x}"
    elif step.kind == "load":
        text, constraints = f"{name} {y(1)}, $0", f"={register},{taken}"
    else:
        again = ", $0" if width_bits > _SSE_BITS else ""
        flags = "" if width_bits else ",~{flags}"
        text, constraints = f"{name} {y(2)}, $0{again}", f"={register},0,{taken}{flags}"
        given = f"{vector} {x}, {given}"
    return f'  {result} = call {vector} asm sideeffect "{text}", "{constraints}"({given})'


def _instruction(kind: Kind, width_bits: int) -> str:
    """Return the name of an instruction, as assemblers write it."""
    if not width_bits:
        return _SCALAR[kind]
    longer = {"logic": "q", "load": "64"}.get(kind, "") if width_bits == _MASKED else ""
    return ("v" if width_bits > _SSE_BITS else "") + _VECTOR[kind] + longer
