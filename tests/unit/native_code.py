"""Compile pure C files of the counting engine into libraries that ctypes can call."""

import ctypes
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "native"
STRICT = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"]
# The engine is compiled so where the CPU has them: other code of the same meaning.
VECTORS = ["-mavx2", "-mbmi2"]
FLAGS = {"portable": [], "vectors": VECTORS}

# What the callers of these files bring with them; all is given back between tests.
_ALLOCATOR = """
#include <stdlib.h>
static void *taken[4096];
static size_t n_taken;
void *take(size_t bytes) {
    void *memory = n_taken < 4096 ? calloc(1, bytes) : NULL;
    if (memory) taken[n_taken++] = memory;
    return memory;
}
void give_back(void *memory) { (void)memory; }
void give_all_back(void) { while (n_taken) free(taken[--n_taken]); }
"""


def _can_run(flags: list[str]) -> bool:
    """Tell whether this CPU knows what the flags let the compiler use."""
    known = Path("/proc/cpuinfo").read_text().split() if flags else []
    return all(flag.removeprefix("-m") in known for flag in flags)


@functools.cache
def library(flavour: str, sources: tuple[str, ...], glue: str) -> ctypes.CDLL:
    """Compile files of the engine, or skip the test that asks for it.

    Parameters
    ----------
    flavour : str
        A key of `FLAGS`.
    sources : tuple of str
        The files' names.
    glue : str
        C text that is compiled with it and may use ``take`` as an allocator: what the header
        defines inline is not in a library by itself.

    Returns
    -------
    ctypes.CDLL
        The library, made once per session; ``give_all_back()`` frees what was taken.
    """
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler (gcc or cc) to compile the engine's files with")
    if not _can_run(FLAGS[flavour]):
        pytest.skip(f"this CPU cannot run code compiled with {' '.join(FLAGS[flavour])}")
    with tempfile.TemporaryDirectory() as folder:
        text, made = Path(folder, "glue.c"), Path(folder, "native.so")
        text.write_text(_ALLOCATOR + glue)
        folders = [f"-I{SOURCE}", f"-I{SOURCE}/caches"]
        command = [compiler, *STRICT, *FLAGS[flavour], "-shared", "-fPIC", *folders]
        files = [text, *(SOURCE / name for name in sources)]
        subprocess.run([*command, *files, "-o", made], check=True)
        return ctypes.CDLL(str(made))  # stays loaded when its file is gone
