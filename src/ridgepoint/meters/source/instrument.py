"""Insert counters into the text of an LLVM IR module: text in, text and a table out.

A counter stands for a *piece*: instructions that are executed together or not at all. Each thread
has counters of its own, behind a pointer that a function fetches where it begins.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from ridgepoint.meters.source.ir import Function, Instruction, functions
from ridgepoint.meters.source.locations import Locations
from ridgepoint.meters.source.pieces import Piece, Read, pieces
from ridgepoint.meters.source.returning import returning
from ridgepoint.meters.source.rules import read_clang
from ridgepoint.meters.source.table import Site, SourceFunction, Table, digest

_LEAVING = frozenset(
    (
        "_exit",
        "_Exit",
        "quick_exit",
        "execl",
        "execle",
        "execlp",
        "execv",
        "execve",
        "execvp",
        "execvpe",
        "fexecve",
    )
)
_TAGGED = frozenset(("load", "store", "atomicrmw", "cmpxchg"))
_OPTIMISED = frozenset(("alwaysinline", "minsize", "optsize"))
"""What a function cannot be that is not optimised."""
_ELSEWHERE = "define available_externally"
_ATTRIBUTES = re.compile(r" (#\d+) ")
_METADATA = re.compile(r"^!(\d+) = ", re.MULTILINE)
_ENDED = "  call void @__ridgepoint_bops_ended()"
_DESCRIPTOR = "{ i64, i64, %s, i64 }"


@dataclass(frozen=True, slots=True)
class Instrumented:
    """A module with counters.

    Parameters
    ----------
    text : str
    table : Table
    """

    text: str
    table: Table


@dataclass(frozen=True, slots=True)
class _Tags:
    """Metadata that tells LLVM that counters, the pointer to them and the program's data differ."""

    base: int

    @property
    def program(self) -> str:
        return f", !noalias !{self.base + 5}"

    @property
    def counter(self) -> str:
        return f", !alias.scope !{self.base + 3}, !noalias !{self.base + 4}"

    @property
    def pointer(self) -> str:
        return f", !alias.scope !{self.base + 4}, !noalias !{self.base + 3}"

    @property
    def unlikely(self) -> str:
        return f", !prof !{self.base + 6}"

    @property
    def text(self) -> list[str]:
        domain, counters, pointers = self.base, self.base + 1, self.base + 2
        return [
            f'!{domain} = distinct !{{!{domain}, !"ridgepoint"}}',
            f"!{counters} = distinct !{{!{counters}, !{domain}}}",
            f"!{pointers} = distinct !{{!{pointers}, !{domain}}}",
            f"!{self.base + 3} = !{{!{counters}}}",
            f"!{self.base + 4} = !{{!{pointers}}}",
            f"!{self.base + 5} = !{{!{counters}, !{pointers}}}",
            f'!{self.base + 6} = !{{!"branch_weights", i32 1, i32 1048575}}',
        ]


@dataclass(slots=True)
class _Edit:
    """Lines to add to a text, by the line that they go before or behind, and to replace."""

    before: defaultdict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    behind: defaultdict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    instead: dict[int, str] = field(default_factory=dict)
    suffix: dict[int, str] = field(default_factory=dict)

    def apply(self, lines: Sequence[str]) -> list[str]:
        result: list[str] = []
        for index, line in enumerate(lines):
            result += self.before.get(index, ())
            result.append(self.instead.get(index, line) + self.suffix.get(index, ""))
            result += self.behind.get(index, ())
        return result


def instrument(
    text: str,
    *,
    source: str,
    opaque_pointers: bool,
    optimize: bool = True,
    read: Read = read_clang,
) -> Instrumented:
    """Return a module with a counter in every piece that does basic operations.

    Parameters
    ----------
    text : str
        As clang writes it with ``-O2 -Xclang -disable-llvm-passes -fno-discard-value-names``, or
        what else `read` reads; its blocks have names.
    source : str
        What it was compiled from.
    opaque_pointers : bool
        Whether pointers are called ``ptr``, as from clang 15 on.
    optimize : bool
        Whether all of it may be optimised; else only what libraries have compiled too, and
        optimised, as the program that does not count calls them.
    read : callable
        Says what a function's instructions count.

    Raises
    ------
    ValueError
        If the text is not what clang writes so.
    """
    lines = text.split("\n")
    module = list(functions(lines))
    kept_plain = () if optimize else _plain_attributes(lines)
    known = returning(module)
    locations = Locations(lines)
    tags = _Tags(1 + max((int(number) for number in _METADATA.findall(text)), default=-1))
    writer = _Writer(opaque_pointers, tags)
    named: list[SourceFunction] = []
    sites: list[Site] = []
    edit = _Edit()
    for function in module:
        _keep(function, lines, edit, plain=kept_plain)
        _tag(function, edit, tags)
        found = pieces(function, lines, known, locations, read(function, locations))
        # In `main` even for nothing, so that a program that does nothing is known to count.
        if found or function.symbol == "main":
            writer.fetch(function, edit)
            place = locations.place(function.subprogram) or ("", 0)
            named.append(SourceFunction(function.symbol, *place))
        for piece in found:
            writer.count(piece, len(sites), edit)
            sites.append(Site(len(named) - 1, piece.work))
    assembly = sum(i.is_hidden_work for f in module for b in f.blocks for i in b.instructions)
    table = Table(source, tuple(named), tuple(sites), assembly)
    result = edit.apply(lines)
    leaves = any(line.startswith(_ENDED) for added in edit.before.values() for line in added)
    result += writer.module_end(table, leaves=leaves)
    return Instrumented("\n".join(result) + "\n", table)


def _tag(function: Function, edit: _Edit, tags: _Tags) -> None:
    """Tag what the program accesses, and tell the runtime before it leaves for good."""
    for block in function.blocks:
        for instruction in block.instructions:
            callee = instruction.callee
            if instruction.opcode in _TAGGED or (callee or "").startswith("llvm.mem"):
                edit.suffix[instruction.last] = tags.program
            elif (callee or "").startswith("llvm.is.constant."):
                # What is known before the program runs would depend on the level of optimisation.
                edit.instead[instruction.first] = f"  %{instruction.name} = and i1 false, false"
            elif callee in _LEAVING and instruction.opcode == "call":
                edit.before[instruction.first].append(_ENDED + _debug(instruction))


def _plain_attributes(lines: Sequence[str]) -> frozenset[str]:
    """Return the groups of attributes of functions that may be kept from the optimiser."""
    return frozenset(
        line.split(" ")[1]
        for line in lines
        if line.startswith("attributes #") and not _OPTIMISED.intersection(line.split())
    )


def _keep(function: Function, lines: Sequence[str], edit: _Edit, *, plain: Container[str]) -> None:
    """Keep what a library has too: its own copy counts, whether it is inlined or called.

    What has one of the attributes `plain` is not optimised, but for these copies: a library's are.
    """
    header = lines[function.header]
    if header.startswith(_ELSEWHERE):
        edit.instead[function.header] = header.replace(_ELSEWHERE, "define internal", 1)
    elif (group := _ATTRIBUTES.search(header)) and group[1] in plain:
        at = group.start()
        edit.instead[function.header] = f"{header[:at]} noinline optnone{header[at:]}"


def _debug(instruction: Instruction) -> str:
    return "" if instruction.location is None else f", !dbg !{instruction.location}"


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes instructions with typed or opaque pointers."""

    opaque: bool
    tags: _Tags

    def pointer(self, to: str) -> str:
        return "ptr" if self.opaque else f"{to}*"

    def fetch(self, function: Function, edit: _Edit) -> None:
        """Give a function the pointer to its counters, behind the first allocas.

        They have to stay in the first block, where LLVM takes them for variables on the stack; the
        rest keeps its label, to which other instructions refer.

        Raises
        ------
        ValueError
            If the first block has no label.
        """
        first = function.blocks[0]
        if not first.label:
            raise ValueError(f"the first block of {function.symbol!r} has no name")
        slab = self.pointer("i64")
        variable = f"{self.pointer(slab)} @__ridgepoint_bops_slab"
        body = next(i for i in first.instructions if i.opcode != "alloca")
        edit.instead[first.line] = "ridgepoint.entry:"
        edit.before[body.first][:0] = [
            f"  %ridgepoint.kept.lookup = load {slab}, {variable}, align 8{self.tags.pointer}",
            f"  %ridgepoint.none = icmp eq {slab} %ridgepoint.kept.lookup, null",
            "  br i1 %ridgepoint.none, label %ridgepoint.fetch, "
            f'label %"{first.label}"{self.tags.unlikely}',
            "ridgepoint.fetch:",
            f"  %ridgepoint.new = call {slab} @__ridgepoint_bops_fetch({self._descriptor()})",
            f"  store {slab} %ridgepoint.new, {variable}, align 8{self.tags.pointer}",
            f'  br label %"{first.label}"',
            f'"{first.label}":',
            f"  %ridgepoint.slab = phi {slab} [ %ridgepoint.kept.lookup, %ridgepoint.entry ], "
            "[ %ridgepoint.new, %ridgepoint.fetch ]",
        ]

    def _descriptor(self) -> str:
        name = "@__ridgepoint_bops_module"
        if self.opaque:
            return f"ptr {name}"
        return f"i8* bitcast ({_DESCRIPTOR % 'i8*'}* {name} to i8*)"

    def count(self, piece: Piece, index: int, edit: _Edit) -> None:
        """Add one to a counter where a piece begins."""
        slab, name = self.pointer("i64"), f"%ridgepoint.{index}"
        added = [
            f"  {name}.at = getelementptr inbounds i64, {slab} %ridgepoint.slab, i64 {index}",
            f"  {name}.was = load i64, {slab} {name}.at, align 8{self.tags.counter}",
            f"  {name}.is = add i64 {name}.was, 1",
            f"  store i64 {name}.is, {slab} {name}.at, align 8{self.tags.counter}",
        ]
        (edit.behind if piece.behind else edit.before)[piece.line].extend(added)

    def module_end(self, table: Table, *, leaves: bool) -> list[str]:
        """Return what the module needs besides: pointer, table, declarations, metadata."""
        ended = ["declare void @__ridgepoint_bops_ended() nounwind"] * leaves
        if not table.functions:
            return [*ended, *self.tags.text]
        data = table.encode()
        slab, byte = self.pointer("i64"), self.pointer("i8")
        array = f"[{len(data)} x i8]"
        start = "@__ridgepoint_bops_table"
        if not self.opaque:
            start = f"getelementptr inbounds ({array}, {array}* {start}, i64 0, i64 0)"
        return [
            f"@__ridgepoint_bops_slab = internal thread_local(initialexec) global {slab} null, "
            "align 8",
            f"@__ridgepoint_bops_table = private constant {array} "
            f'c"{"".join(f"{chr(92)}{value:02X}" for value in data)}"',
            f"@__ridgepoint_bops_module = private constant {_DESCRIPTOR % byte} "
            f"{{ i64 {digest(data)}, i64 {len(table.sites)}, {byte} {start}, i64 {len(data)} }}",
            f"declare nonnull {slab} @__ridgepoint_bops_fetch({byte}) cold nounwind",
            *ended,
            *self.tags.text,
        ]
