"""Hand-written workloads as machine code: compiled at run time, called without Python's lock."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from ridgepoint.kernels.isa import Isa
from ridgepoint.suites.kernels.ir import Vectors
from ridgepoint.suites.kernels.operands import Array, Arrays

if TYPE_CHECKING:
    from ridgepoint.kernels.jit import Compiler


class NativeCall:
    """A compiled function that is called with the addresses of arrays.

    Parameters
    ----------
    loop : callable
        ctypes function, which releases the interpreter's lock. It takes a table of addresses with
        one row per call, the number of rows, and the number of rounds.
    """

    def __init__(self, loop: Callable[[object, int, int], None]) -> None:
        self._loop = loop

    def __call__(self, *arrays: Array) -> None:
        """Call it once on arrays."""
        self.loop([arrays])(1)

    def loop(self, replicas: Sequence[Arrays]) -> Callable[[int], None]:
        """Return rounds of calls, one on each of several replicas of the arrays.

        No Python runs between calls, so that small calls are timed without overhead.
        """
        addresses = [array.ctypes.data for arrays in replicas for array in arrays]
        table = (ctypes.c_void_p * len(addresses))(*addresses)

        def rounds(n: int) -> None:
            self._loop(table, len(replicas), n)

        rounds.arrays = replicas  # type: ignore[attr-defined] # kept alive by what uses them
        return rounds


class SharedCall:
    """Calls by several threads, each on its own slice of the arrays.

    Parameters
    ----------
    parts : sequence of (NativeCall, slice)
        One for each thread; no two write to the same cache line.

    Notes
    -----
    A loop starts its threads once. They do not wait for each other between calls, since no part
    needs results of another.
    """

    def __init__(self, parts: Sequence[tuple[NativeCall, slice]]) -> None:
        self._parts = parts

    def __call__(self, *arrays: Array) -> None:
        """Call it once on arrays."""
        self.loop([arrays])(1)

    def loop(self, replicas: Sequence[Arrays]) -> Callable[[int], None]:
        """Return rounds of calls, one on each of several replicas of the arrays."""
        loops = [
            call.loop([tuple(array[part] for array in arrays) for arrays in replicas])
            for call, part in self._parts
        ]

        def rounds(n: int) -> None:
            others = [threading.Thread(target=loop, args=(n,)) for loop in loops[1:]]
            for thread in others:
                thread.start()
            loops[0](n)
            for thread in others:
                thread.join()

        return rounds


def slices(n: int, threads: int, *, multiple: int) -> list[slice]:
    """Return a slice of n elements for each thread, as equal as whole cache lines allow.

    Parameters
    ----------
    n : int
    threads : int
    multiple : int
        Elements per line, at which every slice begins. Few elements are shared by fewer threads.
    """
    length = -(-n // (threads * multiple)) * multiple
    return [slice(start, min(start + length, n)) for start in range(0, n, length)]


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
        Sizes passed in every call.
    pointers : int
        Number of pointers.
    scalars : sequence of float
        Scalars passed in every call.
    """
    compiler = _compiler()
    widths = Isa(
        architecture=compiler.architecture, has=compiler.has, vector_bits=compiler.vector_bits
    ).vector_widths
    width_bits = max(widths, default=0)
    looping = f"{name}.loop"
    text = source(name, Vectors(width_bits)) + _loop_text(
        looping, name, sizes=len(sizes), pointers=pointers, scalars=len(scalars)
    )
    compiled = compiler.compile(text, looping, width_bits=width_bits)
    # The types of CFUNCTYPE give up the lock, those of PYFUNCTYPE keep it.
    signature = ctypes.CFUNCTYPE(
        None,
        ctypes.c_void_p,
        *(ctypes.c_int64 for _ in range(2 + len(sizes))),
        *(ctypes.c_double for _ in scalars),
    )
    call = signature(compiled.address)
    return NativeCall(lambda table, rows, rounds: call(table, rows, rounds, *sizes, *scalars))


def _loop_text(name: str, function: str, *, sizes: int, pointers: int, scalars: int) -> str:
    """Return the source of a loop that calls a function without inlining, so no call is saved."""
    fixed = [f"i64 %n{i}" for i in range(sizes)], [f"double %s{i}" for i in range(scalars)]
    arguments = [*fixed[0], *(f"ptr %p{i}" for i in range(pointers)), *fixed[1]]
    loads = "".join(
        f"  %a{i} = getelementptr ptr, ptr %row, i64 {i}\n  %p{i} = load ptr, ptr %a{i}\n"
        for i in range(pointers)
    )
    parameters = ["ptr %table", "i64 %rows", "i64 %rounds", *fixed[0], *fixed[1]]
    return f"""
define void @"{name}"({", ".join(parameters)}) {{
entry:
  %calls = mul i64 %rows, %rounds
  %any = icmp ne i64 %calls, 0
  br i1 %any, label %body, label %end
body:
  %done = phi i64 [0, %entry], [%more, %body]
  %place = phi i64 [0, %entry], [%next, %body]
  %offset = mul i64 %place, {pointers}
  %row = getelementptr ptr, ptr %table, i64 %offset
{loads}  call void @{function}({", ".join(arguments)}) noinline
  %after = add i64 %place, 1
  %wraps = icmp eq i64 %after, %rows
  %next = select i1 %wraps, i64 0, i64 %after
  %more = add i64 %done, 1
  %goes_on = icmp ult i64 %more, %calls
  br i1 %goes_on, label %body, label %end
end:
  ret void
}}
"""


@cache
def _compiler() -> Compiler:
    """Return the object that keeps the code of all workloads."""
    from ridgepoint.kernels.jit import Compiler

    return Compiler()
