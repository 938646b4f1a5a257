"""Hand-written workloads as machine code: compiled at run time, called without Python's lock."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from ridgepoint.kernels.isa import Isa
from ridgepoint.workloads.ir import Vectors
from ridgepoint.workloads.operands import Array

if TYPE_CHECKING:
    from ridgepoint.jit import Compiler


class NativeCall:
    """A C function that is called with the addresses of arrays, among arguments that stay.

    Parameters
    ----------
    function : callable
        From ctypes, which gives up the interpreter's lock.
    arrange : callable
        The pointers to all arguments, in their order.
    """

    def __init__(
        self, function: Callable[..., None], arrange: Callable[..., tuple[object, ...]]
    ) -> None:
        self._function, self._arrange = function, arrange

    def __call__(self, *arrays: Array) -> None:
        """Call it on arrays."""
        self._function(*self._arrange(*(array.ctypes.data for array in arrays)))

    def bind(self, *arrays: Array) -> Callable[[], None]:
        """Return the call on these arrays, their addresses found once."""
        # These pointers keep their arrays alive.
        pointers = (array.ctypes.data_as(ctypes.c_void_p) for array in arrays)
        return partial(self._function, *self._arrange(*pointers))


def native(
    source: Callable[[str, Vectors], str],
    name: str,
    *,
    sizes: Sequence[int],
    pointers: int,
    scalars: Sequence[float] = (),
) -> NativeCall:
    """Compile a function for this CPU.

    Parameters
    ----------
    source : callable
        The function's name, and the vectors of this CPU, to LLVM IR text that defines ``void
        name(i64 sizes ..., ptr pointers ..., double scalars ...)``.
    name : str
    sizes : sequence of int
        In every call.
    pointers : int
        How many.
    scalars : sequence of float
        In every call.
    """
    compiler = _compiler()
    widths = Isa(
        architecture=compiler.architecture, has=compiler.has, vector_bits=compiler.vector_bits
    ).vector_widths
    width_bits = max(widths, default=0)
    compiled = compiler.compile(source(name, Vectors(width_bits)), name, width_bits=width_bits)
    # The types of CFUNCTYPE give up the lock, those of PYFUNCTYPE keep it.
    signature = ctypes.CFUNCTYPE(
        None,
        *(ctypes.c_int64 for _ in sizes),
        *(ctypes.c_void_p for _ in range(pointers)),
        *(ctypes.c_double for _ in scalars),
    )
    return NativeCall(signature(compiled.address), lambda *p: (*sizes, *p, *scalars))


@cache
def _compiler() -> Compiler:
    """Return the one that keeps the code of all workloads."""
    from ridgepoint.jit import Compiler

    return Compiler()
