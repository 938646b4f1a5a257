"""Work of kernels in C++ that PyTorch's compiler wrote, counted in their source.

Such a kernel is loops of fixed lengths around statements of one operation or few, each of which
makes a variable. What a statement does, times how often its loops run, is the count; a vector does
it for as many elements as its loop steps over. Sums of partial sums, of vectors and of threads, are
left out: how many there are is up to the machine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ridgepoint.demands.operators.forms import ELEMENTWISE, Cost
from ridgepoint.demands.operators.rule import NoRule

_NUMBER = r"(?:static_cast<int64_t>\()?(-?\d+)L?\)?"
_LOOP = re.compile(
    rf"for ?\( ?(?:int64_t|long|int) (\w+) ?= ?{_NUMBER}; ?\1 ?< ?{_NUMBER}; ?"
    rf"(?:\1 ?\+= ?{_NUMBER}|\1\+\+) ?\)"
)
_RANGE = re.compile(rf"(\w+) >= {_NUMBER} && \1 < {_NUMBER}")
_ASSIGNED = re.compile(
    r"(?:(?:auto|[\w:]+(?:<[\w:, ]+>)?)[&*]? )?(\w+)(\[.*?\])? (\+)?= (.+);", re.DOTALL
)
_NO_WORK = re.compile(
    r"\w+\.store\(.*\)|(?:[\w:]+(?:<[\w:, ]+>)?[&*]? )+\w+(?:\[.*?\])?|\(\)"
    r"|auto \w+ = \[&\]\(\)|(?:return|break|continue)\b.*",
    re.DOTALL,
)
"""Statements that store, declare or end: all without an operation on elements."""
_CALL = re.compile(r"[\w:]+(?:<[^()]*>)?\(.*\)", re.DOTALL)
_PARAMETER = re.compile(r"(?:const )?([\w:]+)\*\s*(?:__restrict__ )?(\w+)")
_PRECISION = {"float": "fp32", "double": "fp64"}
_HALVES = ("at::BFloat16", "at::Half", "c10::BFloat16", "c10::Half")
_PARTIAL = ("vec_reduce_all", "_arr[", "welford_combine(tmp_acc0_arr", "cascade_sum_final")

_SETTING_UP = ("std::atomic", "std::unique_ptr", "inductor_cpu_", "alignas", "int tid",
               "int max_threads", "TORCH_CHECK", "transpose_mxn")  # fmt: skip

_FREE = {
    *(name for name, cost in ELEMENTWISE.items() if cost == ELEMENTWISE["abs"]),
    "clamp_min", "clamp_max", "fmaximum", "fminimum", "max", "min", "fmax", "fmin", "blendv",
    "convert", "max_propagate_nan", "min_propagate_nan", "max_masked_reduce", "min_masked_reduce",
    "to_float_mask", "isinf", "nearbyint", "signbit", "loadu", "set", "all_zero", "all_masked",
    "size", "from", "cast", "get", "as_mask", "infinity", "quiet_NaN", "lowest", "std", "vec",
    "transpose_mxn", "static_cast", "decltype", "float", "double", "bool", "int64_t", "int32_t",
    "int", "long", "uint8_t", "int8_t", "Vectorized", "VectorizedN", "VecMask", "arange", "data",
    "index_expr", "lt", "copysign", "is_nan", "to", "unsigned", "uint32_t", "operator",
    "where", "masked_load", "reinterpret_cast", "bit_cast", "c10", "atomic_add_index",
    "div_floor_integer",
}  # fmt: skip
_COSTS = {
    **{name: cost for name, cost in ELEMENTWISE.items() if " " not in name},
    "sum_masked_reduce": Cost(1),
    "prod_masked_reduce": Cost(1),
    "atomic_add": Cost(1),
    "atomic_add_vec": Cost(1),
    "cascade_sum_combine": Cost(1),
    # The difference from the mean, its share in the mean, and its product with the new difference.
    "welford_combine": Cost(6),
    "randn_cpu": Cost(0, 1),
    "normalized_rand_cpu": Cost(0, 1),
    "calc_erfcx": Cost(0, 1),
    "fmadd": Cost(2),
    "fma": Cost(2),
}


def work_of_source(source: str) -> tuple[dict[str, float], float]:
    """Return what a kernel's source does.

    Parameters
    ----------
    source : str
        A function in C++, as PyTorch's compiler writes it.

    Returns
    -------
    work : dict of str to float
        Flop by precision.
    functions : float
        Evaluations of exp, log and the like.

    Raises
    ------
    NoRule
        If a loop has no fixed length, or a statement is not understood.
    """
    return _Reader().read(source)


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop over ``first`` to ``end``; ``step`` above one makes vectors of its elements."""

    name: str
    first: int
    end: int
    step: int

    def times(self, *, vectors: bool) -> int:
        """Return how often a statement inside is done: in vectors, for each element."""
        elements = max(self.end - self.first, 0)
        return elements if vectors else -(-elements // self.step)


@dataclass(slots=True)
class _Block:
    """What stands before a brace: a loop, limits of variables, a choice by data, or nothing."""

    loop: _Loop | None = None
    limits: dict[str, tuple[int, int]] = field(default_factory=dict)
    chosen: bool = False
    partial: bool = False


class _Reader:
    """Reads statements one after the other, within the blocks around them."""

    def __init__(self) -> None:
        self.work: dict[str, float] = {}
        self.functions = 0.0
        self.types: dict[str, tuple[str, bool]] = {}
        self.blocks: list[_Block] = []

    def read(self, source: str) -> tuple[dict[str, float], float]:
        head, _, body = source.partition("{")
        for dtype, name in _PARAMETER.findall(head):
            self.types[name] = (dtype, False)
        pending = _Block()
        for line in _lines(body):
            if line.endswith("{"):
                opened = self._opened(line)
                self.blocks.append(pending if opened is None else opened)
                pending = _Block()
            elif line.startswith("}"):
                if self.blocks:
                    self.blocks.pop()
            elif line.endswith("[&]"):
                pending = _Block(chosen=True)
            elif line.startswith(("for", "if", "else", "while")) and not line.endswith(";"):
                pending = self._opened(f"{line} {{") or _Block()
            else:
                self._statement(line)
        return self.work, self.functions

    def _opened(self, line: str) -> _Block | None:
        """Return the block that a line opens; None: a bare brace."""
        head = line.rstrip("{").strip()
        if not head:
            return None
        if head.startswith("for"):
            found = _LOOP.search(head)
            if found is None:
                raise NoRule("a loop of the kernel has no fixed length")
            name, first, end, step = found.groups()
            partial = name in ("tid", "i")
            return _Block(_Loop(name, int(first), int(end), int(step or 1)), partial=partial)
        if head.startswith("if") and (ranges := _RANGE.findall(head)):
            return _Block(limits={name: (int(low), int(end)) for name, low, end in ranges})
        return _Block(chosen=head.startswith(("if", "else", "while")) or "[&]" in head)

    def _statement(self, line: str) -> None:
        if any(block.partial for block in self.blocks) or any(part in line for part in _PARTIAL):
            return
        found = _ASSIGNED.fullmatch(line)
        if found is not None:
            target, index, adds, right = found.groups()
        else:
            target, index, adds, right = "", None, None, line.rstrip(";")
            if not right or _NO_WORK.fullmatch(right):
                return
            if not _CALL.fullmatch(right):
                raise NoRule(f"it is not known what the kernel's statement {right!r} does")
        flop, functions, dtype, vectors = self._expression(right)
        if adds:
            flop += 1
        if target and not index:
            declared = re.match(r"(float|double) ", line)
            self.types[target] = (declared[1] if declared else dtype, vectors)
        if dtype.startswith("c10::complex"):
            raise NoRule("the kernel computes with complex numbers")
        precision = _PRECISION.get(dtype)
        if not (flop and precision) and not functions:
            return
        if any(block.chosen for block in self.blocks):
            raise NoRule("the kernel computes some elements and not others, by its data")
        times = self._times(vectors=vectors)
        if precision:
            self.work[precision] = self.work.get(precision, 0.0) + flop * times
        self.functions += functions * times

    def _times(self, *, vectors: bool) -> float:
        """Return how often a statement here is done."""
        loops = [block.loop for block in self.blocks if block.loop is not None]
        limits: dict[str, tuple[int, int]] = {}
        for block in self.blocks:
            limits |= block.limits
        tiled = {loop.name.removesuffix("_inner") for loop in loops if loop.name.endswith("_inner")}
        stepped = [loop for loop in loops if loop.step > 1 and loop.name not in tiled]
        if vectors and not stepped:
            return 0.0  # vectors of partial results
        times = 1.0
        for loop in loops:
            first, end = limits.get(loop.name, (loop.first, loop.end))
            bounded = _Loop(loop.name, first, end, loop.step)
            times *= bounded.times(vectors=vectors and loop in stepped)
        return times

    def _expression(self, text: str) -> tuple[float, float, str, bool]:
        """Return the flop and functions of an expression, its type, and whether it is a vector."""
        dtype, vectors = self._kind(text)
        plain = re.sub(r"\b\d+\.?\d*e[+-]?\d+", "1", _without_addresses(text))
        flop = functions = 0.0
        # A sign or an arithmetic operator between two operands; a sign before one is free.
        flop += len(re.findall(r"(?<=[\w)\]]) ?[+*/-] ?(?=[\w(-])", _without_templates(plain)))
        for name in re.findall(r"(?<![\w])(\w+)\(", _without_templates(plain)):
            if re.fullmatch(r"tmp\d+", name):
                continue
            cost = _COSTS.get(name)
            if cost is not None and name not in _FREE:
                flop += cost.flop
                functions += cost.functions
            elif name not in _FREE:
                raise NoRule(f"it is not known what the kernel's call of {name} does")
        return flop, functions, dtype, vectors

    def _kind(self, text: str) -> tuple[str, bool]:
        """Return the type of an expression's elements, and whether it is a vector."""
        made = re.match(r"at::vec::convert<([\w:]+),", text) or re.match(
            r"(?:at::vec::VectorizedN?|c10::convert|static_cast)<([\w:]+)(?:,\d+)?>", text
        )
        vectors = "at::vec::Vectorized" in text or "at::vec::convert" in text
        names = [name for name in re.findall(r"\w+", text) if name in self.types]
        vectors = vectors or any(self.types[name][1] for name in names)
        if made is not None:
            return made[1], vectors
        cast = re.match(r"(float|double|bool|int64_t|int32_t)\(", text)
        if cast is not None:
            return cast[1], vectors
        if re.search(r" (?:==|!=|<|>|<=|>=|&&|\|\|) ", text) and "?" not in text:
            return "bool", vectors
        types = {self.types[name][0] for name in names}
        for dtype in ("double", "float", *_HALVES, "c10::complex<float>"):
            if dtype in types:
                return dtype, vectors
        return next(iter(sorted(types)), "int64_t"), vectors


def _lines(body: str) -> list[str]:
    """Return statements and braces, one a line, without preprocessor and comments."""
    lines: list[str] = []
    for line in body.splitlines():
        text = line.split("//")[0].strip()
        if not text or text.startswith("#") or text.startswith(_SETTING_UP):
            continue
        opens = lines and not lines[-1].endswith((";", "{", "}", ")")) and text != "{"
        if opens and not lines[-1].startswith(("for", "if", "else")):
            lines[-1] = f"{lines[-1]} {text}"
        elif text == "{" and lines and lines[-1].startswith(("for", "if", "else", "while")):
            if lines[-1].endswith(("{", ";")):
                lines.append(text)
            else:
                lines[-1] = f"{lines[-1]} {{"
        else:
            lines.append(text)
    return lines


def _without_addresses(text: str) -> str:
    """Return an expression without subscripts and without loads, whose sums are addresses."""
    out, depth, at = [], 0, 0
    while at < len(text):
        load = re.compile(r"loadu\(").match(text, at)
        if load is not None and not depth:
            at = _closed(text, load.end() - 1)
            out.append("loadu()")
            continue
        if text[at] == "[":
            depth += 1
        elif text[at] == "]":
            depth -= 1
        elif not depth:
            out.append(text[at])
        at += 1
    return "".join(out)


def _closed(text: str, at: int) -> int:
    """Return the position behind the parenthesis that closes the one at a position."""
    depth = 0
    for end in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            return end + 1
    return len(text)


def _without_templates(text: str) -> str:
    """Return an expression without what stands in angle brackets behind a name."""
    while True:
        shorter = re.sub(r"(?<=\w)<[^<>()]*>", "", text)
        if shorter == text:
            return shorter
        text = shorter
