"""The language of a function, on which advice depends: flags of GCC do not help in Go."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Literal

from ridgepoint.core.counts import FunctionCounts

Language = Literal["c", "rust", "go", "made at run time", "interpreter", "library"]
"""C, C++, Fortran and whatever else GCC and LLVM compile with the same options; Rust; Go; code
that a compiler made at run time, as those of Java, Numba and JAX do; CPython's or the JVM's own
code; other code that came with the system or a package."""

Goal = Literal["vectors", "wide vectors", "fused", "optimised"]

# In every program that Go compiles, and in no other.
_GO = re.compile(r"^runtime\.(rt0_go|main|mstart|goexit|schedule|mallocgc)\b")
# Names of Rust's library, without those that occur in C++ as well.
_RUST = re.compile(r"^(core::|alloc::|std::rt::|std::sys|__rust_|_R[A-Z]|<.* as .*>::)")
_INTERPRETER = re.compile(r"^(lib)?(python3?|jvm|pypy|node|ruby|perl)[0-9.]*(\.so.*)?$")
# Where systems and packages install code that users do not recompile.
_INSTALLED = ("/usr/lib/", "/lib/", "/lib64/", "/usr/lib64/", "/usr/bin/", "/bin/", "/opt/")
_PACKAGES = re.compile(r"/(site|dist)-packages/")


def language_of(function: FunctionCounts | None, functions: Sequence[FunctionCounts]) -> Language:
    """Return the language of a function, by its file and the names beside it.

    Parameters
    ----------
    function : FunctionCounts or None
        None: no function stands out; the language of most instructions is returned.
    functions : sequence of FunctionCounts
        All functions of the program.
    """
    if function is None:
        function = max(functions, key=lambda candidate: candidate.counts.instructions, default=None)
    if function is None:
        return "c"
    if function.object is None:
        return "made at run time"
    beside = [other.name for other in functions if other.object == function.object]
    if any(_GO.match(name) for name in beside):
        return "go"
    if _INTERPRETER.match(PurePath(function.object).name):
        return "interpreter"
    if _PACKAGES.search(function.object) or function.object.startswith(_INSTALLED):
        return "library"
    return "rust" if any(_RUST.search(name) for name in beside) else "c"


def how_to(goal: Goal, language: Language, *, widest: int) -> str:
    """Return how to get better instructions from code in a language.

    Parameters
    ----------
    goal : str
    language : str
    widest : int
        Width of the machine's vectors, bits.
    """
    if language == "c":
        return _C[goal].format(widest=widest)
    return _OTHERS[language].get(goal) or _OTHERS[language]["vectors"]


_C: dict[Goal, str] = {
    "vectors": "let the compiler vectorise the loop (-O3 -march=native, and -ffast-math for a "
    "sum), or call a library that is vectorised",
    "wide vectors": (
        "let the compiler use the wide vectors (-march=native -mprefer-vector-width={widest})"
    ),
    "fused": (
        "let the compiler fuse products with the additions that follow (-march=native "
        "-ffp-contract=fast); only pairs of them gain"
    ),
    "optimised": (
        "compile it with optimisation (-O2, -O3); if it already is, keep the inner loop's "
        "values in registers"
    ),
}

_OTHERS: dict[Language, dict[Goal, str]] = {
    "rust": {
        "vectors": "let the compiler vectorise the loop (RUSTFLAGS='-C target-cpu=native' and "
        "--release; iterators or slices of equal length in place of indices), or call a crate "
        "that is vectorised",
        "wide vectors": "let the compiler use the wide vectors (RUSTFLAGS='-C target-cpu=native')",
        "fused": (
            "fuse products with the additions that follow (f64::mul_add, with RUSTFLAGS='-C "
            "target-cpu=native'); only pairs of them gain"
        ),
        "optimised": (
            "compile it with --release; if it already is, keep the inner loop's values in registers"
        ),
    },
    "go": {
        "vectors": (
            "Go's compiler does not vectorise loops: call a library whose kernels are written "
            "in assembly or C"
        ),
        "fused": (
            "let the compiler fuse products with the additions that follow (GOAMD64=v3); only "
            "pairs of them gain"
        ),
        "optimised": (
            "keep the inner loop's values in registers: hoist bounds checks and lengths out of "
            "the loop, and use local variables"
        ),
    },
    "made at run time": {
        "vectors": (
            "write the loop so that its compiler can vectorise it (plain arrays, no calls or "
            "exceptions inside, and fastmath for a sum where there is such an option), or call "
            "a vectorised library"
        ),
        "optimised": "keep the inner loop's values in local variables",
    },
    "interpreter": {
        "vectors": "this is the interpreter's own work: pass whole arrays to a vectorised library",
    },
    "library": {
        "vectors": (
            "this is a library's code: use a build of it for this CPU, or another of its functions"
        ),
    },
}
