"""The rate of issue: how many instructions a core starts, of the kinds that it starts most of.

    for r in range(repeats):
        for u in range(...):
            nop                     # needs no pipe, and is never executed
            mov   s, x[k]           # a copy of a register: no pipe where cores rename it
            cmp   s, s              # with the jump behind it one operation where cores fuse both
            jne   end               # never taken

The widest way into a core is not the same everywhere: cores that fuse a compare with its jump
start eight instructions in the slots of six, others join two NOPs. So each mix is tried, and the
fastest is the ceiling. It has neither results that anything waits for nor accesses to memory, and
every instruction that does more takes at least the slot that one of these takes.
"""

from __future__ import annotations

from itertools import chain, cycle, islice

from ridgepoint.kernels.kernel import ENTRY, Claim, Kernel

__all__ = ["MIXES", "issue"]

MIXES: tuple[tuple[str, ...], ...] = (
    ("nop",),
    ("compare", "nop", "nop"),
    ("compare", "nop", "nop", "nop", "nop"),
    ("compare", "mov", "mov"),
    ("compare", "add", "nop"),
)
"""What is repeated; a compare is two instructions, with its jump."""

_LEAST = 60
"""Instructions of a pass: its counter's two, which are counted too, hardly matter."""

_LINE_END = "\\0A"
"""As LLVM IR writes it within a text."""

_SOURCE = "r11"
_TARGETS = ("rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10")
_COUNTER = "rbx"
_MNEMONICS = {
    "nop": ("NOP",),
    "mov": ("MOV",),
    "add": ("ADD",),
    "compare": ("CMP", "JNE"),
}


def issue(mix: tuple[str, ...]) -> Kernel:
    """Return the kernel of a mix of short instructions, for x86-64.

    Parameters
    ----------
    mix : tuple of str
        One of `MIXES`.
    """
    size = sum(len(_MNEMONICS[kind]) for kind in mix)
    times = -(-_LEAST // size)
    targets = cycle(_TARGETS)
    body = [line for kind in mix * times for line in _lines(kind, targets)]
    # One piece of assembly: between two the compiler might put instructions of its own.
    lines = (f"movq $0, %{_COUNTER}", "1:", *body, f"decq %{_COUNTER}", "jnz 1b", "2:")
    clobbered = ",".join(f"~{{{name}}}" for name in (*_TARGETS, _SOURCE, _COUNTER, "flags"))
    mnemonics = list(chain.from_iterable(_MNEMONICS[kind] for kind in mix * times))
    # JNZ is JNE: the loop's own is one more.
    counted = {name: mnemonics.count(name) for name in dict.fromkeys(mnemonics)}
    counted["JNE"] = counted.get("JNE", 0) + 1
    what = ", ".join(" and ".join(_MNEMONICS[kind]).lower() for kind in mix)
    return Kernel(
        name=f"issue: {what}",
        ir=f"""
define void @{ENTRY}(ptr %data, i64 %size, i64 %repeats) #0 {{
  call void asm sideeffect "{_LINE_END.join(lines)}", "r,{clobbered}"(i64 %repeats)
  ret void
}}""",
        claim=Claim(
            operation="issue",
            width_bits=0,
            instructions=tuple(counted.items()),
        ),
        work_per_repeat=len(body) + 2,
        pseudo_code=f"for u in range({times}):\n    {'; '.join(_shown(mix))}",
    )


def _lines(kind: str, targets: cycle[str]) -> tuple[str, ...]:
    """Return the instructions of one part of a mix, as assemblers write them."""
    if kind == "nop":
        return ("nop",)
    if kind == "compare":
        return (f"cmpq %{_SOURCE}, %{_SOURCE}", "jne 2f")
    (target,) = islice(targets, 1)
    return (f"{kind}q %{_SOURCE}, %{target}",)


def _shown(mix: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parts of a mix for readers."""
    said = {"nop": "nop", "mov": "x[k] = s", "add": "x[k] += s", "compare": "if s != s: leave"}
    return tuple(said[kind] for kind in mix)
