"""A machine's compute ceilings: kernels in registers, each with a resource and a name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ridgepoint.kernels import basic
from ridgepoint.kernels.dot import Kind, dot_peak, dot_widths
from ridgepoint.kernels.integer import Integer, IntegerOperation, integer_peak
from ridgepoint.kernels.isa import Isa
from ridgepoint.kernels.issue import MIXES as ISSUE_MIXES
from ridgepoint.kernels.issue import issue
from ridgepoint.kernels.kernel import Kernel, width_name
from ridgepoint.kernels.mul_add import REGISTERS, mul_add
from ridgepoint.kernels.peak import MIXES, Operation, chain, mix, peak
from ridgepoint.kernels.tiles import has_tiles, tile_peak

Computing = tuple[str, str, tuple[Kernel, ...]]
"""Resource, name and candidates of a ceiling that is reached in registers."""


def computing(isa: Isa) -> tuple[Computing, ...]:
    """Return every ceiling that kernels in registers reach with this instruction set."""
    return (
        *_floats(isa),
        *_integers(isa),
        *_low_precision(isa),
        *_basic_operations(isa),
        *_issue(isa),
    )


def is_essential(resource: str, kernel: Kernel, isa: Isa) -> bool:
    """Return whether a peak bounds most programs.

    The widest sums and FMA, scalar FMA, and mixed basic operations.
    """
    claim = kernel.claim
    if resource == "bop":
        return claim.operation in {"mixed", "fma+add"}
    if resource == "issue":
        return True
    least = {"add", "fma", "fma+add", "mul+add"} - ({"mul+add"} if isa.has_fma else set())
    if resource not in {"fp64", "fp32"} or claim.operation not in least:
        return False
    scalar_fma = claim.operation == "fma" and not claim.width_bits
    return scalar_fma or claim.width_bits == max(isa.vector_widths, default=0)


def _floats(isa: Isa) -> Iterator[Computing]:
    precisions: tuple[Literal["fp64", "fp32"], ...] = ("fp64", "fp32")
    fused: tuple[Operation, ...] = ("fma",) if isa.has_fma else ()
    operations: tuple[Operation, ...] = ("add", "mul", *fused, "div", "sqrt")
    for precision in precisions:
        for operation in operations:
            for width in (0, *isa.vector_widths):
                kernel = peak(operation, precision=precision, width_bits=width)
                yield precision, kernel.name, (kernel,)
        for width in (0, *isa.vector_widths) if isa.has_fma else ():
            mixes = _multiply_adds(precision, width, isa)
            yield precision, f"fma+add {width_name(width)}", mixes
        for width in (0, *isa.vector_widths):
            most = isa.vector_registers(width)
            both = tuple(
                mul_add(precision=precision, width_bits=width, registers=registers)
                for registers in REGISTERS
                if registers <= most
            )
            yield precision, f"mul+add {width_name(width)}", both
        for operation in operations:
            kernel = chain(operation, precision=precision)
            yield precision, kernel.name, (kernel,)


def _multiply_adds(precision: Literal["fp64", "fp32"], width: int, isa: Isa) -> tuple[Kernel, ...]:
    """Return kernels of multiply-adds and additions in all ratios."""
    registers = isa.vector_registers(width)
    return tuple(
        mix(ratio, precision=precision, width_bits=width, registers=registers) for ratio in MIXES
    )


def _integers(isa: Isa) -> Iterator[Computing]:
    """Yield scalar operations, and those of the widest vector that needs one instruction."""
    integers: tuple[Integer, ...] = ("int32", "int64")
    # Exclusive-or stands for logic: all cores do it, AND and OR in the same places.
    operations: tuple[tuple[str, IntegerOperation], ...] = (
        ("add", "add"),
        ("logic", "xor"),
        ("mul", "mul"),
        ("compare", "compare"),
    )
    for integer in integers:
        for name, operation in operations:
            for width in (0, *isa.integer_widths(operation, integer)[-1:]):
                if width or operation != "compare":
                    kernel = integer_peak(operation, integer=integer, width_bits=width)
                    yield integer, f"{name} {width_name(width)}", (kernel,)


def _low_precision(isa: Isa) -> Iterator[Computing]:
    """Yield dot products, half precision and products of tiles, where they are one instruction."""
    kinds: tuple[Kind, ...] = ("bf16", "fp16", "int8")
    if (architecture := isa.known_architecture) is None:
        return
    for kind in kinds:
        for width in dot_widths(kind, isa.vector_widths, isa.has, architecture=architecture):
            kernel = dot_peak(kind, width_bits=width, architecture=architecture)
            yield kind, kernel.name, (kernel,)
        if architecture == "x86_64" and has_tiles(kind, isa.has):
            kernel = tile_peak(kind)
            yield kind, kernel.name, (kernel,)


def _basic_operations(isa: Isa) -> Iterator[Computing]:
    """Yield basic operations at 64 bit, scalar and widest: alone, mixed, and dependent."""
    widest = isa.integer_widths("add", "int64")[-1:]
    of_integers: tuple[tuple[str, IntegerOperation], ...] = (("add", "add"), ("logic", "xor"))
    for name, operation in of_integers:
        for width in (0, *widest):
            kernel = integer_peak(operation, integer="int64", width_bits=width)
            yield "bop", f"{name} {width_name(width)}", (kernel,)
    # Floating-point operations are basic ones too: a multiply-add is two.
    for width in (0, *isa.vector_widths[-1:]) if isa.has_fma else ():
        yield "bop", f"floating {width_name(width)}", _multiply_adds("fp64", width, isa)
    if isa.architecture != "x86_64":
        return
    for width in (0, *widest):
        # SSE2 alone compares no 64-bit lanes.
        compares = [] if width and not isa.integer_widths("compare", "int64") else [width]
        of_all = {
            "compare": [_compare(width) for width in compares],
            "addressing": [
                basic.addressing(kind, width_bits=width)
                for kind in basic.ADDRESSING
                if kind == "load" or not width
            ],
            "mixed": [basic.mixed(mix, width_bits=w) for mix in basic.MIXES for w in compares],
            "dependent": [basic.dependent(width_bits=width)],
        }
        for name, kernels in of_all.items():
            if kernels:
                yield "bop", f"{name} {width_name(width)}", tuple(kernels)


def _issue(isa: Isa) -> Iterator[Computing]:
    """Yield the instructions that a core starts, of the kinds that it starts most of."""
    if isa.architecture == "x86_64":
        yield "issue", "any instruction", tuple(issue(mix) for mix in ISSUE_MIXES)


def _compare(width_bits: int) -> Kernel:
    """Return the kernel of compares of one instruction: into a vector, where there is one."""
    if width_bits in basic.UNKEPT_BITS:
        return basic.compare(width_bits=width_bits)
    return integer_peak("compare", integer="int64", width_bits=width_bits)
