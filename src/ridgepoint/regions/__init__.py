"""Mark regions of a Python program, so that they are counted and timed apart.

A mark speaks to the engine that counts (by a Valgrind client request, or by a function of the
library that the copying engine preloads), times its region in a run that Ridgepoint times, and
does nothing else. This module is part of the measured program: it
imports nothing that such a program would notice.
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")

TIMES_VARIABLE = "RIDGEPOINT_REGION_TIMES"
"""The environment variable that names the folder for the times of regions."""

ARENA_VARIABLE = "RIDGEPOINT_ARENA"
"""The environment variable that tells programs of the copying engine where their counts go."""

MAX_NAME_BYTES = 200
_NATIVE_REQUEST = "ridgepoint_native_request"  # of native/copying: takes what Valgrind would
_BEGIN, _END = 0x52500000, 0x52500001

# void mark(uint64_t words[6]): mov rax, rdi; xor edx, edx; rol rdi by 3, 13, 61 and 51, which
# leaves it as it was; xchg rbx, rbx; ret. To Valgrind the rotations and the exchange are one
# request (valgrind.h), whose words rax points to.
_REQUEST_CODE = bytes.fromhex("4889f8 31d2 48c1c703 48c1c70d 48c1c73d 48c1c733 4887db c3")


class _Recorder(Protocol):
    def begin(self, name: bytes) -> None: ...

    def end(self, name: bytes) -> None: ...


class Region:
    """A named region: a context manager, used again as often as wanted, and a decorator."""

    __slots__ = ("_encoded", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._encoded = _encode(name)

    def __enter__(self) -> Region:
        for recorder in _RECORDERS:
            recorder.begin(self._encoded)
        return self

    def __exit__(self, *exception: object) -> None:
        for recorder in _RECORDERS:
            recorder.end(self._encoded)

    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        """Return the function with each of its calls marked."""
        import inspect  # 5 ms, which only decorating needs

        if isinstance(function, type):
            raise TypeError(f"cannot mark the class {function.__name__!r}; mark its methods")
        if (
            inspect.iscoroutinefunction(function)
            or inspect.isgeneratorfunction(function)
            or inspect.isasyncgenfunction(function)
        ):
            raise TypeError(
                f"cannot mark {function.__qualname__!r} as a region: its body runs in pieces, "
                "with other code between them; mark the code between two awaits or yields by "
                f"'with region({self.name!r}):'"
            )

        @functools.wraps(function)
        def marked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            with self:
                return function(*args, **kwargs)

        return marked

    def __repr__(self) -> str:
        return f"region({self.name!r})"


def region(name: str) -> Region:
    """Return a mark that counts and times a region of this program apart.

    Parameters
    ----------
    name : str
        The region's name: 1 to 200 bytes in UTF-8, without control characters. Regions of one
        name are one region, wherever they stand.

    Returns
    -------
    Region
        For ``with``, and for decorating a function.

    Raises
    ------
    ValueError
        If the name is none of these.
    TypeError
        If the name is no string; if a coroutine function or a generator function is decorated.

    Notes
    -----
    Regions nest, and each thread has its own. Outside a measurement a mark does nothing.

    Examples
    --------
    >>> with region("setup"):
    ...     total = sum(range(10))
    >>> @region("solve")
    ... def solve(n):
    ...     return n + 1
    >>> solve(total)
    46
    """
    return Region(name)


def is_recorded() -> bool:
    """Return whether marks of this process do anything at all."""
    return bool(_RECORDERS)


def _encode(name: str) -> bytes:
    """Return the bytes of a region's name, or refuse the name."""
    if not isinstance(name, str):
        raise TypeError(f"a region's name must be a string, got {name!r}")
    try:
        encoded = name.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"a region's name must be valid Unicode, got {name!r}") from error
    if not 1 <= len(encoded) <= MAX_NAME_BYTES:
        raise ValueError(
            f"a region's name must have 1 to {MAX_NAME_BYTES} bytes, got {len(encoded)}: {name!r}"
        )
    if any(character < " " or "\x7f" <= character <= "\x9f" for character in name):
        raise ValueError(f"a region's name must hold no control characters, got {name!r}")
    return encoded


class _Requests(dict[bytes, int]):
    """The address of a request's six words for each name, made once.

    What a mark executes counts for the region around it, so it had better be little.
    """

    def __init__(self, code: int) -> None:
        self._code = code
        self._kept: list[object] = []

    def __missing__(self, name: bytes) -> int:
        import ctypes

        address = ctypes.cast(ctypes.c_char_p(name), ctypes.c_void_p).value or 0
        words = (ctypes.c_uint64 * 6)(self._code, address)
        self._kept += (name, words)
        self[name] = ctypes.addressof(words)
        return self[name]


class _Marks:
    """Sends marks to what counts, which is called with the address of six words."""

    def __init__(self, address: int) -> None:
        import ctypes

        # PYFUNCTYPE keeps the interpreter's lock: giving it up would count as the region's work.
        self._call = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(address)
        self._begins = _Requests(_BEGIN)
        self._ends = _Requests(_END)

    def begin(self, name: bytes) -> None:
        self._call(self._begins[name])

    def end(self, name: bytes) -> None:
        self._call(self._ends[name])


class _ValgrindMarks(_Marks):
    """Sends marks to the tool of Valgrind that runs this program."""

    def __init__(self) -> None:
        import ctypes
        import mmap

        # Never given back: marks may be sent as long as the process lives.
        self._memory = mmap.mmap(-1, mmap.PAGESIZE)
        self._memory.write(_REQUEST_CODE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        libc = ctypes.CDLL(None, use_errno=True)
        executable = mmap.PROT_READ | mmap.PROT_EXEC
        if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), executable):
            raise OSError(ctypes.get_errno(), "no memory can be made executable")
        super().__init__(address)


def _valgrind_marks() -> list[_Recorder]:
    """Return what sends marks to Valgrind if it runs this program.

    Executable memory is made under Valgrind only: hardened systems may forbid it. Valgrind names
    its library in every program it starts, also where the parent cleaned the environment.
    """
    under_valgrind = "vgpreload_core-amd64" in os.environ.get("LD_PRELOAD", "")
    if not under_valgrind or sys.maxsize < 1 << 32:
        return []
    try:
        return [_ValgrindMarks()]
    except (OSError, ValueError) as error:
        warnings.warn(f"regions are not counted separately: {error}", RuntimeWarning, stacklevel=2)
        return []


def _native_marks() -> list[_Recorder]:
    """Return what sends marks to the copying engine if this program runs in its copies."""
    if not os.environ.get(ARENA_VARIABLE):
        return []
    import ctypes

    try:
        request = getattr(ctypes.CDLL(None), _NATIVE_REQUEST)
    except (AttributeError, OSError):
        return []  # a program that it does not count started this one
    return [_Marks(ctypes.cast(request, ctypes.c_void_p).value or 0)]


def _time_marks() -> list[_Recorder]:
    """Return what times regions, if somebody asks for it."""
    folder = os.environ.get(TIMES_VARIABLE)
    if not folder:
        return []
    from ridgepoint.regions.clock import RegionClock

    return [RegionClock(folder)]


_RECORDERS = (*_valgrind_marks(), *_native_marks(), *_time_marks())
