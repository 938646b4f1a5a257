"""The text of an LLVM IR module, taken apart as far as counting needs: functions, blocks, lines.

The text is regular: an instruction is a line that is indented by two blanks; what continues it
(clauses of a `landingpad`, labels of an `invoke`, cases of a `switch`) is indented further, or
closes a bracket. Typed (clang 14) and opaque pointers alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_NAME = r'(?:[-\w.$]+|"[^"]*")'
_INSTRUCTION = re.compile(
    rf"  (?:%({_NAME}) = )?(?:(?:tail|musttail|notail) (?=call))?([a-z_]+)(?:,? (.*))?$"
)
_LABEL = re.compile(rf"({_NAME}):(?:\s|$)")
_DEFINED = re.compile(rf"^define (.*?)@({_NAME})\(")
_CALLED = re.compile(rf"@({_NAME})\(")
_ASSEMBLY = re.compile(r'\basm (?:[a-z]+ )*"')
_NO_ASSEMBLY = re.compile(r'\basm (?:[a-z]+ )*""')
_TARGET = re.compile(rf"\blabel %({_NAME})")
_DEBUG = re.compile(r"!dbg !(\d+)")
_REPLACEABLE = frozenset(("weak", "linkonce", "extern_weak", "available_externally", "common"))


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: where its text stands and what it says.

    Parameters
    ----------
    first, last : int
        Lines of the module's text, counted from 0, both included.
    name : str
        Of its result, without ``%`` and quotes; empty: it has none.
    opcode : str
    rest : str
        What follows the opcode on the first line.
    location : int or None
        Number of its debug location.
    """

    first: int
    last: int
    name: str
    opcode: str
    rest: str
    location: int | None

    @property
    def is_assembly(self) -> bool:
        """Whether it is inline assembly."""
        return self.opcode in ("call", "invoke", "callbr") and bool(_ASSEMBLY.search(self.rest))

    @property
    def is_hidden_work(self) -> bool:
        """Whether it is inline assembly that does something, unlike a mere barrier."""
        return self.is_assembly and not _NO_ASSEMBLY.search(self.rest)

    @property
    def callee(self) -> str | None:
        """The function that it calls by name; None: it calls none, or through a pointer."""
        if self.opcode not in ("call", "invoke"):
            return None
        match = _CALLED.search(self.rest)
        return None if match is None else match[1].strip('"')


@dataclass(frozen=True, slots=True)
class Block:
    """A basic block.

    Parameters
    ----------
    label : str
        Empty: that of the first block, where it is not written.
    line : int
        Where its label stands.
    instructions : list of Instruction
    """

    label: str
    line: int
    instructions: list[Instruction] = field(default_factory=list)

    def targets(self, lines: Sequence[str]) -> list[str]:
        """Return the labels that its last instruction may go to, in a module of these lines."""
        last = self.instructions[-1]
        text = "\n".join(lines[last.first : last.last + 1])
        return [label.strip('"') for label in _TARGET.findall(text)]


@dataclass(frozen=True, slots=True)
class Function:
    """A function that is defined in the module.

    Parameters
    ----------
    symbol : str
    replaceable : bool
        Whether another module's function of this name may run in its place.
    subprogram : int or None
        Number of its debug description.
    header : int
        Line of its ``define``.
    blocks : list of Block
    """

    symbol: str
    replaceable: bool
    subprogram: int | None
    header: int
    blocks: list[Block] = field(default_factory=list)


def functions(lines: Sequence[str]) -> Iterator[Function]:
    """Return the functions that a module defines, in order.

    Parameters
    ----------
    lines : sequence of str
        The module's text.

    Raises
    ------
    ValueError
        If the text is not as LLVM writes it.
    """
    index = 0
    while index < len(lines):
        match = _DEFINED.match(lines[index]) if lines[index].startswith("define ") else None
        if match is None:
            index += 1
            continue
        words = match[1].split()
        debug = _DEBUG.search(lines[index])
        function = Function(
            symbol=match[2].strip('"'),
            replaceable=bool(_REPLACEABLE.intersection(words))
            or not {"dso_local", "internal", "private", "linkonce_odr", "weak_odr"} & set(words),
            subprogram=None if debug is None else int(debug[1]),
            header=index,
        )
        index = _read_body(lines, index + 1, function)
        yield function


def _read_body(lines: Sequence[str], index: int, function: Function) -> int:
    """Read the blocks of a function, and return the line behind it."""
    block = None
    while lines[index] != "}":
        line = lines[index]
        if not line.strip() or line.lstrip().startswith(";"):
            index += 1
        elif line.lstrip().startswith("#dbg_"):
            index += 1  # a record of debugging, as LLVM writes it from 19 on: no instruction
        elif not line.startswith(" ") and (label := _LABEL.match(line)):
            block = Block(label[1].strip('"'), index)
            function.blocks.append(block)
            index += 1
        else:
            if block is None:
                block = Block("", index)
                function.blocks.append(block)
            instruction = _read_instruction(lines, index)
            block.instructions.append(instruction)
            index = instruction.last + 1
        if index >= len(lines):
            raise ValueError(f"the function {function.symbol!r} has no end")
    return index + 1


def _read_instruction(lines: Sequence[str], index: int) -> Instruction:
    match = _INSTRUCTION.match(lines[index])
    if match is None:
        raise ValueError(f"line {index + 1} is no instruction: {lines[index].strip()!r}")
    last = index
    while lines[last + 1].startswith(("   ", "  ]")) and "#dbg_" not in lines[last + 1][:10]:
        last += 1
    # Of an instruction on several lines, its own location stands on the last.
    debug = _DEBUG.search(lines[last])
    return Instruction(
        first=index,
        last=last,
        name=(match[1] or "").strip('"'),
        opcode=match[2],
        rest=match[3] or "",
        location=None if debug is None else int(debug[1]),
    )
