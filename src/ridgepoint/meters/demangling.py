"""How symbols of C++ read, by the demangler of a C++ library."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from functools import cache

_RUST = re.compile(r"17h[0-9a-f]{16}E$")  # the hash behind a name of Rust's older scheme
_SIGNS = {
    "$LT$": "<",
    "$GT$": ">",
    "$LP$": "(",
    "$RP$": ")",
    "$RF$": "&",
    "$BP$": "*",
    "$C$": ",",
    "$SP$": "@",
}


@cache
def demangled(name: str) -> str:
    """Return a symbol as C++ writes it; as it is where it is none of C++, or nothing can tell.

    Examples
    --------
    >>> demangled("main")
    'main'
    """
    if not name.startswith("_Z"):
        return name
    for demangle, free in _demanglers():
        status = ctypes.c_int()
        text = demangle(name.encode("utf-8", "surrogateescape"), None, None, ctypes.byref(status))
        if text:
            said = ctypes.string_at(text).decode("utf-8", "surrogateescape")
            free(ctypes.c_void_p(text))
            return _of_rust(said) if _RUST.search(name) else said
    return name


def _of_rust(name: str) -> str:
    """Return a name of Rust as the engine writes it: without its hash, with signs for their codes.

    Examples
    --------
    >>> _of_rust("alloc..vec..Vec$LT$T$GT$::push::h0123456789abcdef")
    'alloc::vec::Vec<T>::push'
    """
    name = name.rpartition("::")[0].replace("..", "::")
    for code, sign in _SIGNS.items():
        name = name.replace(code, sign)
    name = re.sub(r"\$u([0-9a-f]{2})\$", lambda found: chr(int(found[1], 16)), name)
    return re.sub(r"(^|::)_(?=<)", r"\1", name)


@cache
def _demanglers() -> tuple[tuple[ctypes._NamedFuncPointer, ctypes._NamedFuncPointer], ...]:
    return tuple(_load_demanglers())


def _load_demanglers() -> Iterator[tuple[ctypes._NamedFuncPointer, ctypes._NamedFuncPointer]]:
    """Yield the demanglers of the C++ libraries that are there: a program of C++ has one."""
    for library in ("libstdc++.so.6", "libc++abi.so.1"):
        try:
            demangle = ctypes.CDLL(library).__cxa_demangle
        except (OSError, AttributeError):
            continue
        demangle.restype = ctypes.c_void_p
        demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        yield demangle, ctypes.CDLL(None).free
