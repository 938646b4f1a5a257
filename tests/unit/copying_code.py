"""Compile the copying engine's own library of memory, modules and unwind tables for ctypes."""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from ridgepoint.meters.native import instruction_table

SOURCE = Path(__file__).parents[2] / "native" / "copying"
READERS = (
    *(path.name for path in sorted(SOURCE.glob("module*.c"))),
    *(path.name for path in sorted(SOURCE.glob("instruction*.c"))),
    *("append.c", "exception_table.c", "frame.c", "frame_program.c", "unwind.c"),
)
FLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror"]
FREESTANDING = ["-O2", "-ffreestanding", "-mgeneral-regs-only", "-fPIC", "-shared", "-nostdlib"]

# Every function is copied, and the place of an address is in a table; ~0: in none.
GLUE = """
#include "unwind.h"
typedef struct { const uint32_t *places; uint64_t lowest, n; } Map;
static uint32_t place_of(void *context, uint64_t address) {
    const Map *map = context;
    return address - map->lowest < map->n ? map->places[address - map->lowest] : NO_PLACE;
}
uint64_t carry_over(const Module *module, const uint32_t *places, uint64_t n, uint64_t delta,
                    Array *code, Array *outward, Array *lost) {
    Map map = {places, module->lowest, n};
    Array functions;
    array_begin(&functions, sizeof(CopiedFunction));
    for (size_t i = 0; i < module->n_functions; i++) {
        const Function *one = &module->functions[i];
        CopiedFunction *copied = one->fde ? array_add(&functions, 1) : NULL;
        if (copied) {
            *copied = (CopiedFunction){one->start, one->end, one->fde,
                                       places[one->start - module->lowest],
                                       places[one->end - module->lowest]};
        }
    }
    uint64_t at = unwind_emit(module, (CopiedFunction *)functions.items, functions.n, place_of,
                              &map, delta, code, outward, lost);
    array_end(&functions);
    return at;
}
"""

U64 = ctypes.c_uint64


class _Array(ctypes.Structure):
    _fields_ = [
        ("items", ctypes.c_void_p),
        ("n", ctypes.c_size_t),
        ("capacity", ctypes.c_size_t),
        ("size", ctypes.c_size_t),
        ("failed", ctypes.c_bool),
    ]


def _list(name: str) -> list[tuple[str, type]]:
    return [(name, ctypes.c_void_p), (f"n_{name}", ctypes.c_size_t)]


class _Module(ctypes.Structure):
    _fields_ = [
        ("path", ctypes.c_char_p),
        ("file", ctypes.c_void_p),
        ("file_bytes", ctypes.c_size_t),
        ("identity", U64 * 2),
        ("lowest", U64),
        ("highest", U64),
        ("is_static", ctypes.c_bool),
        ("has_text_relocations", ctypes.c_bool),
        *_list("segments"), *_list("code"), *_list("stubs"), *_list("functions"),
        *_list("entries"), *_list("pointers"), *_list("relocated"), *_list("imports"),
        ("strings", ctypes.c_void_p),
        ("frames_of", ctypes.c_char_p),
        *_list("fdes"),
        *_list("named"),
        ("owned", _Array * 10),
    ]  # fmt: skip


_RANGE = np.dtype([("start", "u8"), ("end", "u8")])
_TYPES = {
    "segments": np.dtype(
        [("address", "u8"), ("bytes", "u8"), ("known", "u8"), ("content", "u8"),
         ("executable", "?"), ("writable", "?")], align=True),
    "code": _RANGE,
    "stubs": _RANGE,
    "functions": np.dtype(
        [("start", "u8"), ("end", "u8"), ("fde", "u8"), ("name", "u4"),
         ("is_signal_frame", "?"), ("has_own_frames", "?"), ("is_in_rseq", "?"),
         ("is_guessed", "?")], align=True),
    "entries": np.dtype("u8"),
    "pointers": np.dtype("u8"),
    "relocated": _RANGE,
    "imports": np.dtype([("slot", "u8"), ("name", "u4")], align=True),
    "fdes": np.dtype([("start", "u8"), ("end", "u8"), ("address", "u8"), ("signal", "u8")]),
}  # fmt: skip


def compiler() -> str:
    """Return the C compiler, or skip the test that asks for it."""
    found = shutil.which("gcc") or shutil.which("cc")
    if found is None:
        pytest.skip("there is no C compiler (gcc or cc) to compile the engine's files with")
    return found


def write_table(folder: str | Path) -> None:
    """Write the header that the decoder includes."""
    instruction_table.main([str(Path(folder, "instruction_table.h"))])


@functools.cache
def library() -> ctypes.CDLL:
    """Compile the files as they are in a measured program: without a library."""
    with tempfile.TemporaryDirectory() as folder:
        glue, made = Path(folder, "glue.c"), Path(folder, "copying.so")
        glue.write_text(GLUE)
        write_table(folder)
        files = [glue, SOURCE / "memory.c", *(SOURCE / name for name in READERS)]
        headers = [f"-I{SOURCE}", f"-I{folder}"]
        command = [compiler(), *FLAGS, *FREESTANDING, *headers, *files, "-o", made]
        subprocess.run(command, check=True)
        loaded = ctypes.CDLL(str(made))  # stays loaded when its file is gone
    loaded.module_open.restype = ctypes.c_char_p
    loaded.carry_over.restype = U64
    loaded.sort_unique_u64.restype = ctypes.c_size_t
    return loaded


@contextmanager
def array(size: int) -> Iterator[_Array]:
    """Lend an array of items of ``size`` bytes."""
    made = _Array()
    library().array_begin(ctypes.byref(made), ctypes.c_size_t(size))
    yield made
    assert not made.failed
    library().array_end(ctypes.byref(made))


def items(made: _Array, dtype: str) -> np.ndarray:
    """Return a copy of what is in an array."""
    text = ctypes.string_at(made.items, made.n * made.size) if made.n else b""
    return np.frombuffer(text, dtype)


@dataclass(frozen=True, slots=True)
class Carried:
    """Unwind tables of a copy, which begins at ``delta``."""

    delta: int
    header: int
    code: bytes
    outward: frozenset[int]
    lost: frozenset[int]


class OpenModule:
    """What module.c tells of a file, as arrays."""

    def __init__(self, module: _Module) -> None:
        self._module = module
        self.lowest, self.highest = module.lowest, module.highest
        self.identity = tuple(module.identity)
        self.is_static = module.is_static
        self._content = [
            (address, known, content)
            for address, _, known, content, _, _ in self.rows("segments").tolist()
        ]

    def rows(self, name: str) -> np.ndarray:
        """Return one of its lists."""
        at, n = getattr(self._module, name), getattr(self._module, f"n_{name}")
        text = ctypes.string_at(at, n * _TYPES[name].itemsize) if n else b""
        return np.frombuffer(text, _TYPES[name])

    def name(self, offset: int) -> str:
        """Return a string."""
        return ctypes.string_at(self._module.strings + int(offset)).decode("latin1")

    def bytes(self, address: int, n: int) -> bytes:
        """Return what the file has at an address, as far as it goes."""
        for start, known, content in self._content:
            within = address - start
            if 0 <= within < known:
                return ctypes.string_at(content + within, min(n, known - within))
        raise KeyError(hex(address))

    def carry_over(self, places: np.ndarray, delta: int) -> Carried:
        """Make unwind tables for a copy of all functions.

        Parameters
        ----------
        places : ndarray of uint32
            Of every address from ``lowest`` to ``highest``: where it is in the copy.
        delta : int
            Where the copy begins.
        """
        with array(1) as code, array(4) as outward, array(8) as lost:
            c = library()
            c.array_add(ctypes.byref(code), ctypes.c_size_t(int(places[-1])))
            header = c.carry_over(
                ctypes.byref(self._module), ctypes.c_void_p(places.ctypes.data), U64(len(places)),
                U64(delta), ctypes.byref(code), ctypes.byref(outward), ctypes.byref(lost),
            )  # fmt: skip
            return Carried(
                delta=delta,
                header=header,
                code=items(code, "u1").tobytes(),
                outward=frozenset(items(outward, "u4").tolist()),
                lost=frozenset(items(lost, "u8").tolist()),
            )


@contextmanager
def open_module(path: str | Path) -> Iterator[OpenModule]:
    """Open a file, or raise ValueError with the reason why it cannot be."""
    module = _Module()
    why = library().module_open(ctypes.byref(module), str(path).encode())
    if why:
        raise ValueError(why.decode())
    try:
        yield OpenModule(module)
    finally:
        library().module_close(ctypes.byref(module))
