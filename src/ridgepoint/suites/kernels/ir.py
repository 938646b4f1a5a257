"""LLVM IR of loops: counted ones that nest, and vectors with a scalar remainder.

What is written is what is executed: `jit` runs no passes over it, so that nothing is folded,
vectorised, interchanged or turned into a call. ``fmuladd`` is fused where the CPU can, and is
2 flop either way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

_UNROLL = 4
_DECLARATIONS = """\
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.bitreverse.i64(i64)
declare double @llvm.sqrt.f64(double)
declare double @llvm.fmuladd.f64(double, double, double)"""


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of fp64 that a CPU has.

    Parameters
    ----------
    width_bits : int
        0: none.
    """

    width_bits: int

    @property
    def lanes(self) -> int:
        """Numbers in one; 1: there are none."""
        return max(1, self.width_bits // 64)


@dataclass(frozen=True, slots=True)
class Element:
    """How one number, or one vector of them, is written.

    Parameters
    ----------
    lanes : int
        1: a number.
    tag : str
        Ends the names of its values, which are then unique.
    """

    lanes: int
    tag: str

    @property
    def type(self) -> str:
        """LLVM's type."""
        return "double" if self.lanes == 1 else f"<{self.lanes} x double>"

    @property
    def _suffix(self) -> str:
        return "f64" if self.lanes == 1 else f"v{self.lanes}f64"

    def value(self, name: str) -> str:
        """Return the name of a value of this element."""
        return f"%{name}.{self.tag}"

    def scalar(self, name: str) -> str:
        """Return the name of what holds a scalar in each of its lanes."""
        return f"%{name}" if self.lanes == 1 else f"%{name}.all"

    def op(self, result: str, operation: str, a: str, b: str) -> str:
        """Return the line of an arithmetic instruction."""
        return f"{self.value(result)} = {operation} {self.type} {a}, {b}"

    def muladd(self, result: str, a: str, b: str, c: str) -> str:
        """Return the line of a b + c."""
        kind = self.type
        call = f"call {kind} @llvm.fmuladd.{self._suffix}({kind} {a}, {kind} {b}, {kind} {c})"
        return f"{self.value(result)} = {call}"


Body = Callable[[Element], Sequence[str]]
"""An element to the lines that compute its value ``out`` from its values named like arrays."""


class Function:
    """The text of a function, written from top to bottom.

    Parameters
    ----------
    name : str
    parameters : str
        As in LLVM.
    vectors : Vectors
    """

    def __init__(self, name: str, parameters: str, vectors: Vectors) -> None:
        self._vectors = vectors
        self._lines = [f"define void @{name}({parameters}) #0 {{", "entry:"]
        self._label = "entry"

    def add(self, *lines: str) -> None:
        """Append instructions."""
        self._lines += [f"  {line}" for line in lines]

    def text(self) -> str:
        """Return the module."""
        lanes = self._vectors.lanes
        kind = f"<{lanes} x double>"
        wide = f"declare {kind} @llvm.fmuladd.v{lanes}f64({kind}, {kind}, {kind})"
        declared = _DECLARATIONS + (f"\n{wide}" if lanes > 1 else "")
        return "\n".join([declared, *self._lines, "  ret void", "}"])

    @contextmanager
    def loop(
        self,
        index: str,
        begin: str,
        end: str,
        *,
        step: str = "1",
        carried: Mapping[str, str] | None = None,
    ) -> Iterator[None]:
        """Write a loop around what is added meanwhile: ``for index in range(begin, end, step)``.

        Parameters
        ----------
        index : str
            Its name, without %, unique in the function.
        begin, end, step : str
            Operands of type i64.
        carried : mapping of str to str
            Numbers of type double that go from pass to pass, by name, and their first values.
            The body defines ``%NAME.next`` from ``%NAME``; after the loop it is ``%NAME.end``.
        """
        before, latch = self._label, f"{index}.latch"
        first = {f"%{name}": start for name, start in (carried or {}).items()}
        # Tested at its end, as a compiler's passes would have it: one jump in each pass.
        self.add(
            f"%{index}.any = icmp slt i64 {begin}, {end}",
            f"br i1 %{index}.any, label %{index}.body, label %{index}.done",
        )
        self._begin_block(f"{index}.body")
        self.add(f"%{index} = phi i64 [{begin}, %{before}], [%{index}.next, %{latch}]")
        for name, start in first.items():
            self.add(f"{name} = phi double [{start}, %{before}], [{name}.next, %{latch}]")
        yield
        self.add(f"br label %{latch}")
        self._begin_block(latch)
        self.add(
            f"%{index}.next = add i64 %{index}, {step}",
            f"%{index}.more = icmp slt i64 %{index}.next, {end}",
            f"br i1 %{index}.more, label %{index}.body, label %{index}.done",
        )
        self._begin_block(f"{index}.done")
        for name, start in first.items():
            self.add(f"{name}.end = phi double [{start}, %{before}], [{name}.next, %{latch}]")

    def spread(self, *scalars: str) -> None:
        """Make vectors of scalars, for `Element.scalar`."""
        lanes = self._vectors.lanes
        if lanes == 1:
            return
        kind = f"<{lanes} x double>"
        for name in scalars:
            self.add(
                f"%{name}.one = insertelement {kind} poison, double %{name}, i64 0",
                f"%{name}.all = shufflevector {kind} %{name}.one, {kind} poison, "
                f"<{lanes} x i32> zeroinitializer",
            )

    def each(
        self, index: str, count: str, *, reads: Mapping[str, str], write: str, body: Body
    ) -> None:
        """Write a loop over arrays side by side: vectors, then the remainder one by one.

        Parameters
        ----------
        index : str
            As of `loop`.
        count : str
            Elements, an operand of type i64.
        reads : mapping of str to str
            Names of values, and the pointers to the arrays that they are loaded from.
        write : str
            The pointer to the array that ``out`` is stored to.
        body : callable
        """

        def one(element: Element, at: str, offset: int) -> None:
            place = f"%place.{element.tag}"
            self.add(f"{place} = add i64 {at}, {offset}")
            for name, pointer in reads.items():
                value = element.value(name)
                self.add(
                    f"{value}.at = getelementptr double, ptr {pointer}, i64 {place}",
                    f"{value} = load {element.type}, ptr {value}.at, align 8",
                )
            out = element.value("out")
            self.add(
                *body(element),
                f"{out}.at = getelementptr double, ptr {write}, i64 {place}",
                f"store {element.type} {out}, ptr {out}.at, align 8",
            )

        lanes = self._vectors.lanes
        begin = "0"
        if lanes > 1:
            begin = f"%{index}.whole"
            self.add(f"{begin} = and i64 {count}, {-lanes * _UNROLL}")
            with self.loop(f"{index}.v", "0", begin, step=str(lanes * _UNROLL)):
                for u in range(_UNROLL):
                    one(Element(lanes, f"{index}.v{u}"), f"%{index}.v", u * lanes)
        with self.loop(f"{index}.s", begin, count):
            one(Element(1, f"{index}.s0"), f"%{index}.s", 0)

    def _begin_block(self, label: str) -> None:
        self._label = label
        self._lines.append(f"{label}:")
