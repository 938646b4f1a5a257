"""The clang that compiles what counts: where it is, and what its version can read."""

from __future__ import annotations

import functools
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.host.process import ask, call

COMPILER_VARIABLE = "RIDGEPOINT_CLANG"
"""Environment variable that names the clang to use."""

_NEWEST, _OLDEST = 22, 14
_OPAQUE_SINCE = 15
_VERSION = re.compile(r"clang version (\d+)")
_RUNTIME = Path(__file__).with_name("runtime.c")


@dataclass(frozen=True, slots=True)
class Clang:
    """A clang.

    Parameters
    ----------
    path : str
    version : int
        Its major version, which is LLVM's.
    """

    path: str
    version: int

    def driver(self, *, cxx: bool) -> list[str]:
        """Return how it is called for C or C++."""
        return [self.path, *(["--driver-mode=g++"] if cxx else [])]

    def compile_runtime(self, output: Path, flags: Sequence[str] = ()) -> int:
        """Compile what keeps the counters; return clang's exit status."""
        command = [self.path, "-O2", "-fPIC", "-pthread", "-c", str(_RUNTIME), "-o", str(output)]
        return call([*command, *flags])


def has_opaque_pointers(llvm: int) -> bool:
    """Return whether a version of LLVM writes pointers as ``ptr``."""
    return llvm >= _OPAQUE_SINCE


@functools.cache
def find_clang() -> Clang:
    """Return the clang that `RIDGEPOINT_CLANG` names, ``clang``, or else the newest in ``PATH``.

    Raises
    ------
    MeterUnavailable
        If there is none of version 14 or later.
    """
    named = os.environ.get(COMPILER_VARIABLE)
    names = (
        [named] if named else ["clang", *(f"clang-{n}" for n in range(_NEWEST, _OLDEST - 1, -1))]
    )
    for name in names:
        path = shutil.which(name)
        version = None if path is None else _version(path)
        if path is not None and version is not None and version >= _OLDEST:
            return Clang(path, version)
    raise MeterUnavailable(
        "cannot count basic operations of a source",
        reason=f"there is no clang {_OLDEST} or later: {named!r} is none"
        if named
        else f"there is no clang {_OLDEST} or later in PATH",
        remedy="install it ('apt-get install clang', 'dnf install clang'), or name it in "
        f"{COMPILER_VARIABLE}",
    )


def _version(path: str) -> int | None:
    try:
        answer = ask([path, "--version"])
    except OSError:
        return None
    match = _VERSION.search(answer.output)
    return None if match is None else int(match[1])
