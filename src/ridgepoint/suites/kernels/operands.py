"""Arrays of workloads: aligned, apart from each other, never zero."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ridgepoint.kernels.bandwidth import PADDING

Array = npt.NDArray[Any]
Arrays = tuple[Array, ...]

_LINE_BYTES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """An array that a workload needs.

    Parameters
    ----------
    shape : tuple of int
    dtype : str
        As NumPy writes it.
    order : {"C", "F"}
    scale : float
        Factor of the uniform random numbers in [1, 2) that fill it; complex ones in both parts.
    fill : callable or None
        Writes other numbers instead; None: the random ones stay.
    """

    shape: tuple[int, ...]
    dtype: str = "f8"
    order: Literal["C", "F"] = "C"
    scale: float = 1.0
    fill: Callable[[Array, np.random.Generator], None] | None = None

    @property
    def nbytes(self) -> int:
        """Its size, bytes."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


def allocate(operands: Sequence[Operand], seed: int) -> Arrays:
    """Return the arrays, each allocated by itself and aligned to a cache line."""
    rng = np.random.default_rng(seed)
    arrays = []
    for place, operand in enumerate(operands):
        # Large allocations all begin at one address modulo a page, where a store stands in the
        # way of the loads that follow it: hence an offset.
        flat = _aligned(operand.nbytes, place * PADDING).view(operand.dtype)
        if operand.fill is None:
            numbers = flat.view("f8")
            rng.random(out=numbers)
            numbers += 1.0
            numbers *= operand.scale
        else:
            operand.fill(flat, rng)
        arrays.append(flat.reshape(operand.shape, order=operand.order))
    return tuple(arrays)


def _aligned(length: int, offset: int) -> npt.NDArray[np.uint8]:
    """Return bytes that begin at a multiple of a line, `offset` after the first such."""
    memory = np.empty(length + offset + _LINE_BYTES, np.uint8)
    begin = -memory.ctypes.data % _LINE_BYTES + offset
    return memory[begin : begin + length]
