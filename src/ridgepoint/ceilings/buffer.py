"""Memory for kernels: on huge pages where available, never zeros, never untouched."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ridgepoint.kernels.kernel import VECTOR_ALIGNMENT

_HUGE_BYTES = 2 << 20
_PATTERN_BYTES = 1 << 20
"""Of random numbers, over and over: nothing that hardware does depends on such a distance."""


class Buffer:
    """Memory that was touched by the thread that made it.

    Parameters
    ----------
    at_least : int
        Least size in bytes.
    seed : int
        Seed of the random numbers in [1, 2) that it holds at first.
    small_pages : bool
        Whether to use the smallest pages even where huge ones are available.

    Raises
    ------
    OSError
        If the memory cannot be allocated.
    """

    def __init__(self, at_least: int, seed: int, *, small_pages: bool = False) -> None:
        huge = at_least >= _HUGE_BYTES and not small_pages
        page = _HUGE_BYTES if huge else mmap.PAGESIZE
        self.length = -(-at_least // page) * page
        # A huge page begins at a multiple of its size, which a mapping need not.
        self._memory = mmap.mmap(-1, self.length + page, flags=mmap.MAP_PRIVATE)
        begin = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._skipped = -begin % page
        self.address = begin + self._skipped
        if hasattr(mmap, "MADV_HUGEPAGE"):
            # A kernel without huge pages refuses: slower address translation, no more.
            with contextlib.suppress(OSError):
                self._memory.madvise(mmap.MADV_NOHUGEPAGE if small_pages else mmap.MADV_HUGEPAGE)
        # Never zeros: access to untouched or zero memory may be faster than real memory.
        numbers = self._array(np.float64)
        pattern = 1.0 + np.random.default_rng(seed).random(_PATTERN_BYTES // numbers.itemsize)
        whole = len(numbers) // len(pattern) * len(pattern)
        numbers[:whole].reshape(-1, len(pattern))[:] = pattern
        numbers[whole:] = pattern[: len(numbers) - whole]

    def _array(self, dtype: type[Any]) -> npt.NDArray[Any]:
        count = self.length // np.dtype(dtype).itemsize
        return np.frombuffer(self._memory, dtype=dtype, count=count, offset=self._skipped)

    def view(self, length: int) -> npt.NDArray[np.uint8]:
        """Return the first bytes as a writable array."""
        return self._array(np.uint8)[:length]

    def place(self, operands: Sequence[float], precision: str, *, offset_bytes: int = 0) -> None:
        """Write operands from an offset on, each filling one `VECTOR_ALIGNMENT`."""
        view = self._array(np.float32 if precision == "fp32" else np.float64)
        view = view[offset_bytes // view.itemsize :]
        per_operand = VECTOR_ALIGNMENT // view.itemsize
        for slot, operand in enumerate(operands):
            view[slot * per_operand : (slot + 1) * per_operand] = operand

    @cached_property
    def huge_share(self) -> float | None:
        """Return the share on huge pages; None: the kernel does not report it."""
        try:
            lines = Path("/proc/self/smaps").read_text().splitlines()
        except OSError:
            return None
        end, inside, resident = self.address + self.length, False, 0
        for line in lines:
            first, *rest = line.split()
            if "-" in first and not first.endswith(":"):
                # The kernel may have merged it with its neighbours: their share is its share.
                low, high = (int(part, 16) for part in first.split("-"))
                inside = low <= self.address and end <= high
            elif inside and first == "Anonymous:":
                resident = int(rest[0])
            elif inside and first == "AnonHugePages:":
                return int(rest[0]) / resident if resident else None
        return None
