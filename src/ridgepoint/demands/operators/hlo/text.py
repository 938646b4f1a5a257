"""Compiled HLO as XLA prints it, read into instructions.

The text is what ``jax.stages.Compiled.as_text()`` returns: one computation after the other, each
a list of instructions with shape, opcode, operands and attributes [1]_.

References
----------
.. [1] OpenXLA, "HLO: operation semantics", https://openxla.org/xla/operation_semantics
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

BITS: Mapping[str, float] = {
    "pred": 8,
    **{f"{kind}{bits}": bits for kind in "su" for bits in (1, 2, 4, 8, 16, 32, 64)},
    "f16": 16,
    "bf16": 16,
    "f32": 32,
    "f64": 64,
    "c64": 64,
    "c128": 128,
    "f4e2m1fn": 4,
}
"""Bits of an element in memory; types of eight bits that begin with ``f8`` are not listed."""

NAMES: Mapping[str, str] = {
    "pred": "bool",
    **{f"s{bits}": f"int{bits}" for bits in (1, 2, 4, 8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (1, 2, 4, 8, 16, 32, 64)},
    "f16": "fp16",
    "bf16": "bf16",
    "f32": "fp32",
    "f64": "fp64",
    "c64": "complex64",
    "c128": "complex128",
}
"""Our names of the element types."""

_SHAPE = re.compile(r"([a-z][a-z0-9]*)\[([^\]]*)\](?:\{[^}]*\})?")
_NAME = re.compile(r"%([\w.\-]+)")
_HEAD = re.compile(r"^(ENTRY )?%([\w.\-]+) .*\{$")
_LINE = re.compile(r"^\s+(ROOT )?%([\w.\-]+) = (.*)$")
_COMMENT = re.compile(r"/\*.*?\*/")
_CLOSING = {"(": ")", "{": "}", "[": "]"}


class NotHlo(Exception):
    """The text is not a module of HLO; the message says where, as a clause."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Type and sizes of an array.

    Parameters
    ----------
    dtype : str
        XLA's name: ``f32``, ``pred``, ``token``.
    sizes : tuple of int
        Of its dimensions; the largest where a size is dynamic.
    dynamic : bool
        Whether a size depends on data.
    """

    dtype: str
    sizes: tuple[int, ...]
    dynamic: bool = False

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.sizes)

    @property
    def item_bytes(self) -> float:
        """Bytes of an element; 0 for tokens."""
        return (8 if self.dtype.startswith("f8") else BITS.get(self.dtype, 0)) / 8

    @property
    def nbytes(self) -> float:
        """Bytes of all elements."""
        return self.size * self.item_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One instruction of a computation.

    Parameters
    ----------
    name : str
    opcode : str
    shapes : tuple of Shape
        Of its result; several for a tuple, nested ones in their order.
    operands : tuple of str
        Names of instructions of the same computation.
    literal : str
        What stands in the parentheses of a parameter or a constant.
    attributes : mapping of str to str
    """

    name: str
    opcode: str
    shapes: tuple[Shape, ...]
    operands: tuple[str, ...]
    literal: str
    attributes: Mapping[str, str]

    @property
    def shape(self) -> Shape:
        """Shape of the result, or of the first array of a tuple."""
        return self.shapes[0] if self.shapes else Shape("token", ())

    def called(self, *attributes: str) -> tuple[str, ...]:
        """Return the names of the computations that these attributes name."""
        return tuple(
            name for key in attributes for name in _NAME.findall(self.attributes.get(key, ""))
        )

    def integers(self, attribute: str) -> tuple[int, ...]:
        """Return the whole numbers of an attribute such as ``dimensions={0,1}``."""
        return tuple(int(text) for text in re.findall(r"-?\d+", self.attributes.get(attribute, "")))


@dataclass(frozen=True, kw_only=True, eq=False)
class Computation:
    """A list of instructions.

    Parameters
    ----------
    name : str
    instructions : mapping of str to Instruction
        By name, each after its operands.
    root : str
        Name of the instruction whose result is returned.
    """

    name: str
    instructions: Mapping[str, Instruction]
    root: str

    def operands(self, instruction: Instruction) -> tuple[Instruction, ...]:
        """Return the instructions whose results an instruction uses."""
        return tuple(self.instructions[name] for name in instruction.operands)

    @cached_property
    def users(self) -> Mapping[str, tuple[Instruction, ...]]:
        """For each instruction those that use its result, in their order."""
        found: dict[str, list[Instruction]] = {name: [] for name in self.instructions}
        for instruction in self.instructions.values():
            for name in dict.fromkeys(instruction.operands):
                found[name].append(instruction)
        return {name: tuple(users) for name, users in found.items()}


@dataclass(frozen=True, kw_only=True, eq=False)
class Module:
    """A compiled program.

    Parameters
    ----------
    name : str
    computations : mapping of str to Computation
    entry : str
        Name of the computation that runs first.
    devices : int
        Number of devices each of which runs all of it.
    """

    name: str
    computations: Mapping[str, Computation]
    entry: str
    devices: int = 1


def read_module(text: str) -> Module:
    """Read a compiled program.

    Parameters
    ----------
    text : str
        As XLA prints it.

    Raises
    ------
    NotHlo
        If an instruction cannot be read, or there is no entry.
    """
    computations: dict[str, Computation] = {}
    entry = ""
    lines = iter(_COMMENT.sub("", text).splitlines())
    title = re.match(r"HloModule ([\w.\-]+)", text)
    for line in lines:
        head = _HEAD.match(line)
        if head is None:
            continue
        computations[head[2]] = _computation(head[2], lines)
        if head[1]:
            entry = head[2]
    if title is None or not entry:
        raise NotHlo("the text holds no entry computation")
    first_line = text.partition("\n")[0]
    devices = math.prod(
        int(n) for n in re.findall(r"\b(?:replica_count|num_partitions)=(\d+)", first_line)
    )
    return Module(name=title[1], computations=computations, entry=entry, devices=devices)


def _computation(name: str, lines: Iterator[str]) -> Computation:
    instructions: dict[str, Instruction] = {}
    root = ""
    for line in lines:
        if line.startswith("}"):
            return Computation(name=name, instructions=instructions, root=root)
        found = _LINE.match(line)
        if found is None:
            raise NotHlo(f"an instruction of {name} cannot be read: {line.strip()[:80]!r}")
        instruction = _instruction(found[2], found[3])
        instructions[instruction.name] = instruction
        if found[1]:
            root = instruction.name
    raise NotHlo(f"the computation {name} has no end")


def _instruction(name: str, text: str) -> Instruction:
    end = _end_of_type(text)
    opcode, _, rest = text[end:].strip().partition("(")
    close = _matching(rest, ")")
    inside, attributes = rest[:close], _attributes(rest[close + 1 :])
    leaf = opcode in ("parameter", "constant")
    return Instruction(
        name=name,
        opcode=opcode,
        shapes=tuple(_shape(kind, sizes) for kind, sizes in _SHAPE.findall(text[:end])),
        operands=() if leaf else tuple(_NAME.findall(inside)),
        literal=inside if leaf else "",
        attributes=attributes,
    )


def _end_of_type(text: str) -> int:
    if text.startswith("("):
        return _matching(text[1:], ")") + 2
    return text.index(" ") if " " in text else len(text)


def _shape(kind: str, sizes: str) -> Shape:
    numbers = tuple(int(one.removeprefix("<=")) for one in sizes.split(",") if one)
    return Shape(kind, numbers, "<=" in sizes)


def _attributes(text: str) -> dict[str, str]:
    parts = (part.strip().partition("=") for part in _parts(text))
    return {key: value for key, sign, value in parts if sign}


def _parts(text: str) -> Iterator[str]:
    """Split at commas that are in no bracket or string."""
    start = at = 0
    while at < len(text):
        character = text[at]
        if character in _CLOSING:
            at += 1 + _matching(text[at + 1 :], _CLOSING[character])
        elif character == '"':
            at = _end_of_string(text, at)
        elif character == ",":
            yield text[start:at]
            start = at + 1
        at += 1
    yield text[start:]


def _matching(text: str, closing: str) -> int:
    """Return where the bracket that is open at the beginning closes."""
    at, open_until = 0, [closing]
    while at < len(text):
        character = text[at]
        if character == open_until[-1]:
            open_until.pop()
            if not open_until:
                return at
        elif character in _CLOSING:
            open_until.append(_CLOSING[character])
        elif character == '"':
            at = _end_of_string(text, at)
        at += 1
    raise NotHlo(f"a bracket is not closed in {text[:80]!r}")


def _end_of_string(text: str, at: int) -> int:
    end = at + 1
    while end < len(text) and text[end] != '"':
        end += 2 if text[end] == "\\" else 1
    return end
