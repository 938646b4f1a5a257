"""Instruction sets: which kernels a CPU has the instructions for, and how those are written.

Vectors are up to 512 bit wide, which the slots of a kernel's data have room for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Architecture = Literal["x86_64", "aarch64"]
"""For which there are kernels of instructions that LLVM has no general form of."""

FLOP_PER_LANE = {"add": 1, "mul": 1, "fma": 2, "div": 1, "sqrt": 1}
"""Of the operations of floating-point numbers."""

_BITS = {"fp64": 64, "fp32": 32, "fp16": 16, "bf16": 16, "int64": 64, "int32": 32, "int8": 8}
_GIVEN = {"sqrt": 1, "fma": 3}
"""What an operation takes, where that is not two numbers."""

_X86_WIDTHS = ((128, "sse2"), (256, "avx"), (512, "avx512f"))
_WIDEST = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Isa:
    """The instruction set of a CPU.

    Parameters
    ----------
    architecture : str
        ``x86_64``, ``aarch64`` or ``riscv64``; others have no vectors here.
    has : callable
        Whether the CPU has a feature, by its LLVM name.
    vector_bits : int
        Length of the registers of SVE, or of RISC-V's V; 0: there are none.
    """

    architecture: str
    has: Callable[[str], bool]
    vector_bits: int = 0

    @property
    def known_architecture(self) -> Architecture | None:
        """The architecture, if the kernels that have no general form know it."""
        known: tuple[Architecture, ...] = ("x86_64", "aarch64")
        return next((feature for feature in known if feature == self.architecture), None)

    @property
    def vector_widths(self) -> tuple[int, ...]:
        """Vector widths, in bit.

        Vectors of SVE and V are as long as a register: shorter ones are the same instructions
        with part of their lanes idle.
        """
        own = self.vector_bits if self.vector_bits <= _WIDEST else 0
        if self.architecture == "x86_64":
            return tuple(bits for bits, feature in _X86_WIDTHS if self.has(feature))
        if self.architecture == "aarch64":
            # NEON belongs to the base of the architecture.
            return (128, own) if self.has("sve") and own > 128 else (128,)
        if self.architecture == "riscv64":
            return (own,) if self.has("v") and own else ()
        return ()

    @property
    def has_fma(self) -> bool:
        """Whether there are fused multiply-adds: outside x86 they come with floating point."""
        if self.architecture == "x86_64":
            return self.has("fma")
        return self.architecture == "aarch64" or self.has("d")

    def vector_registers(self, width_bits: int) -> int:
        """Return how many registers hold vectors of a width, or scalars for width 0.

        AVX-512 doubles x86's sixteen; for vectors below 512 bit with AVX512VL.
        """
        if self.architecture != "x86_64":
            return 32
        wide = self.has("avx512f" if width_bits in {0, 512} else "avx512vl")
        return 32 if wide else 16

    def integer_widths(self, operation: str, integer: str) -> tuple[int, ...]:
        """Return the vector widths in which an operation is one instruction on this CPU.

        Parameters
        ----------
        operation : {"add", "xor", "mul", "compare"}
        integer : {"int32", "int64"}

        Notes
        -----
        x86: AVX came with floating point alone: integers of 256 bit are AVX2. PMULLD is SSE4.1,
        PCMPGTQ SSE4.2, VPMULLQ AVX512DQ, below 512 bit with AVX512VL. Compares of 512-bit
        vectors, of SVE and of RISC-V's V write masks: keeping the result takes a second
        instruction. NEON multiplies no 64-bit integers; SVE does.
        """
        widths = self.vector_widths
        if self.architecture == "aarch64":
            if (operation, integer) == ("mul", "int64"):
                return tuple(w for w in widths if self.has("sve") and w == self.vector_bits)
            return tuple(w for w in widths if w == 128 or operation != "compare")
        if self.architecture == "riscv64":
            return () if operation == "compare" else widths
        needed = {("mul", "int32"): "sse4.1", ("compare", "int64"): "sse4.2"}
        if (operation, integer) == ("mul", "int64"):
            # Without AVX512VL no narrower form exists.
            wide = self.has("avx512dq")
            return tuple(w for w in widths if wide and (w == 512 or self.has("avx512vl")))
        feature = needed.get((operation, integer))
        if feature is not None and not self.has(feature):
            return ()
        most = 256 if operation == "compare" else 512
        return tuple(w for w in widths if w <= most and (w != 256 or self.has("avx2")))


def element_bits(precision: str) -> int:
    """Return the size of a number."""
    return _BITS[precision]


def instruction_pattern(
    architecture: str, operation: str, *, precision: str, width_bits: int
) -> str:
    """Return the regular expression of the instructions that do an operation.

    Parameters
    ----------
    architecture : {"x86_64", "aarch64", "riscv64"}
    operation : {"add", "mul", "fma", "div", "sqrt", "xor", "compare"}
    precision : {"fp64", "fp32", "int64", "int32"}
    width_bits : int
        0: scalar.

    Returns
    -------
    str
        For the whole mnemonic as iced-x86 names it, which says nothing of the width; for the
        other architectures for mnemonic and operands, as LLVM lists them.

    Raises
    ------
    KeyError
        If that is no operation of one instruction there.
    """
    spell = {"x86_64": _x86_64, "aarch64": _aarch64, "riscv64": _riscv64}[architecture]
    return spell(operation, precision, width_bits)


def _x86_64(operation: str, precision: str, width_bits: int) -> str:
    if precision.startswith("int"):
        if not width_bits:
            return {"add": "ADD", "xor": "XOR", "mul": "IMUL"}[operation]
        element = "D" if precision == "int32" else "Q"
        return {
            "add": f"V?PADD{element}",
            # LLVM may take the form for floating point.
            "xor": "V?(PXOR[DQ]?|XORP[SD])",
            "mul": f"V?PMULL{element}",
            "compare": f"V?PCMPGT{element}",
        }[operation]
    shape = ("P" if width_bits else "S") + ("D" if precision == "fp64" else "S")
    name = {
        "add": "V?ADD",
        "mul": "V?MUL",
        "fma": "VFMADD(132|213|231)",
        "div": "V?DIV",
        "sqrt": "V?SQRT",
    }[operation]
    return name + shape


def _aarch64(operation: str, precision: str, width_bits: int) -> str:
    element = "d" if _BITS[precision] == 64 else "s"
    if precision.startswith("fp"):
        fused = "fmla" if width_bits else "fmadd"
        name = {"add": "fadd", "mul": "fmul", "fma": fused, "div": "fdiv", "sqrt": "fsqrt"}[
            operation
        ]
    else:
        name = {"add": "add", "xor": "eor", "mul": "mul", "compare": "cmgt"}[operation]
    if not width_bits:
        register = element if precision.startswith("fp") else {"d": "x", "s": "w"}[element]
        return f"{name} " + ", ".join([rf"{register}\d+"] * (1 + _GIVEN.get(operation, 2)))
    # A vector's multiply-add overwrites what it adds to.
    given = min(_GIVEN.get(operation, 2), 2)
    if width_bits > 128 or (operation, precision) == ("mul", "int64"):
        # Exclusive-or knows no elements: it is written with the longest.
        vector = r"z\d+\." + ("d" if operation == "xor" else element)
        return rf"{name} {vector}, (p\d+/m, )?" + ", ".join([vector] * given)
    lanes = width_bits // _BITS[precision]
    vector = r"v\d+\." + ("16b" if operation == "xor" else f"{lanes}{element}")
    return f"{name} " + ", ".join([vector] * (1 + given))


def _riscv64(operation: str, precision: str, width_bits: int) -> str:
    if width_bits:
        both = r"\.vv v\d+, v\d+, v\d+"
        names = {
            "fp": {
                "add": "vfadd" + both,
                "mul": "vfmul" + both,
                "fma": "vfmacc" + both,
                "div": "vfdiv" + both,
                "sqrt": r"vfsqrt\.v v\d+, v\d+",
            },
            "int": {"add": "vadd" + both, "xor": "vxor" + both, "mul": "vmul" + both},
        }
        return names[precision.rstrip("0123456789")][operation]
    if precision.startswith("fp"):
        name = {"add": "fadd", "mul": "fmul", "fma": "fmadd", "div": "fdiv", "sqrt": "fsqrt"}[
            operation
        ]
        suffix = "d" if precision == "fp64" else "s"
        registers = ", ".join([r"f[ast]\d+"] * (1 + _GIVEN.get(operation, 2)))
        return rf"{name}\.{suffix} {registers}"
    # Exclusive-or needs no form for 32 bit.
    short = "w" if precision == "int32" and operation != "xor" else ""
    name = {"add": "add", "xor": "xor", "mul": "mul"}[operation]
    return rf"{name}{short} [ast]\d+, [ast]\d+, [ast]\d+"
