"""What a micro-benchmark is: a specification that holds its code and what it claims to execute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from ridgepoint.core.machine import CHAIN
from ridgepoint.kernels.isa import element_bits

if TYPE_CHECKING:
    from ridgepoint.kernels.tiles import TileConfiguration

ENTRY = "kernel"
"""Name of the function that every kernel's IR defines: ``void kernel(ptr data, i64 size_bytes,
i64 repeats) #0``. Whatever it touches lies in `data`; one repeat is one unit of work. What the
attributes #0 are depends on the target: the compiler adds them."""

VECTOR_ALIGNMENT = 64
"""Bytes: the widest vector, and a cache line. `data` must be aligned to it."""


_ONE_CHAIN = frozenset(("clock", "dependent"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What one iteration of a kernel's innermost loop executes, to be found in its machine code.

    Parameters
    ----------
    operation : str
        For example ``add``, ``mul``, ``fma``, ``fma+add``, ``div chain``, ``load``, ``store nt`` or
        ``clock``.
    precision : {"fp64", "fp32", "fp16", "bf16", "int8", "int32", "int64"}
        Of what is multiplied, where sums are wider.
    width_bits : int
        Vector width; 0: scalar. Of tiles a whole register.
    flop : int
        Of the loop's arithmetic, all of it at that precision and width.
    load_bytes, store_bytes : int
        Of the loop's accesses; each access as wide as a vector.
    executes : tuple of (str, int)
        Operations that `isa.instruction_pattern` knows, each one instruction, and how many the
        loop has of each.
    instructions : tuple of (str, int)
        The same of others: regular expressions of mnemonics in upper case. A loop that touches
        no memory has nothing else but its counter and its jump.
    tiles : TileConfiguration or None
        That its products of tiles work with, which it loads and releases; None: it has none.
    """

    operation: str
    precision: Literal["fp64", "fp32", "fp16", "bf16", "int8", "int32", "int64"] = "fp64"
    width_bits: int
    flop: int = 0
    load_bytes: int = 0
    store_bytes: int = 0
    executes: tuple[tuple[str, int], ...] = ()
    instructions: tuple[tuple[str, int], ...] = ()
    tiles: TileConfiguration | None = None

    @property
    def is_chain(self) -> bool:
        """Whether each operation waits for the one before."""
        return self.operation in _ONE_CHAIN or self.operation.endswith(f" {CHAIN}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A micro-benchmark.

    Parameters
    ----------
    name : str
        Unique among kernels of one resource, for example ``fma 512-bit``.
    ir : str
        LLVM IR text that defines `ENTRY`.
    claim : Claim
    work_per_repeat : float
        Work of one repeat that does not depend on the size (flop, or cycles of the clock).
    streams : int
        Streams of `size_bytes` each that one repeat moves; 0: it works in registers.
    quantum_bytes : int
        What `size_bytes` must be a multiple of.
    operands : tuple of float
        Values that the kernel reads from `data` before its loop, one vector each, at run time:
        LLVM folds constants (``fma(1, x, 1)`` becomes an addition).
    padding_bytes : int
        Between two streams: stream s begins at ``data + s (size_bytes + padding_bytes)``.
    fill : callable or None
        Writes what `data` must hold before the kernel runs for the first time, over its whole
        extent (uint8, aligned to a page), with random numbers of the generator. The kernel may
        keep its place in `data` from run to run. None: any numbers will do.
    small_pages : bool
        Whether what `fill` writes lies on the smallest pages, so that most accesses find no
        translation of their address. False: on huge ones, where they are to be had.
    pseudo_code : str
        What one repeat executes, for readers.
    """

    name: str
    ir: str
    claim: Claim
    work_per_repeat: float = 0.0
    streams: int = 0
    quantum_bytes: int = 1
    operands: tuple[float, ...] = ()
    padding_bytes: int = 0
    fill: Callable[[npt.NDArray[np.uint8], np.random.Generator], None] | None = None
    small_pages: bool = False
    pseudo_code: str = ""


def vector_type(precision: str, width_bits: int) -> str:
    """Return the LLVM type of a vector, or of a scalar for width 0."""
    scalar = {"fp64": "double", "fp32": "float"}[precision]
    return scalar if width_bits == 0 else f"<{lanes(precision, width_bits)} x {scalar}>"


def lanes(precision: str, width_bits: int) -> int:
    """Return how many numbers a vector of this width holds; 1 for a scalar."""
    return max(1, width_bits // element_bits(precision))


def width_name(width_bits: int) -> str:
    """Return a vector width as kernels' names have it.

    Examples
    --------
    >>> width_name(256), width_name(0)
    ('256-bit', 'scalar')
    """
    return f"{width_bits}-bit" if width_bits else "scalar"
