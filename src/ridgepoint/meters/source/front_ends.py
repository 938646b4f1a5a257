"""Which compiler's IR says what a source does: one front end for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.errors import CannotMeasure, reason_of
from ridgepoint.meters.source import compiler, fortran, rust
from ridgepoint.meters.source.command_line import parse
from ridgepoint.meters.source.compiler import Say

_WHAT = "cannot count basic operations"
_RUST = frozenset((".rs",))
_FORTRAN = frozenset(
    (*(".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08", ".f18"), ".F", ".F90", ".F95")
)


Build = Callable[[Sequence[str], Sequence[str], Path, Path | None, Say], int]
"""Compile sources with flags, with counters and, unless it is None, without, and return the exit
status; tell the user what there is to say."""


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """What compiles a language.

    Parameters
    ----------
    language : str
    build : Build
    """

    language: str
    build: Build


_CLANG = FrontEnd("C or C++", compiler.build)


def front_end(sources: Sequence[str]) -> FrontEnd:
    """Return what compiles sources, after a check of what can be known before it is called.

    Raises
    ------
    CannotMeasure
        If there are none, one cannot be read, is of no known language, or of another one.
    """
    if not sources:
        raise CannotMeasure(
            _WHAT, reason="no source is given", remedy="give C or C++ files, or one Rust file"
        )
    found = {_of(source).language: _of(source) for source in sources}
    if len(found) > 1:
        raise CannotMeasure(
            _WHAT,
            reason=f"there are sources in {' and '.join(sorted(found))}",
            remedy="count the programs of one language at a time",
        )
    return next(iter(found.values()))


def _of(source: str) -> FrontEnd:
    path = Path(source)
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        reason = f"{source!r}: {reason_of(error)}"
        raise CannotMeasure(_WHAT, reason=reason, remedy="check its path") from error
    if path.suffix in _RUST:
        return FrontEnd("Rust", rust.build)
    if path.suffix in _FORTRAN:
        return FrontEnd("Fortran", fortran.build)
    if parse([source]).inputs[0].language is None:
        reason = f"the name of {source!r} does not end like that of a C, C++ or Rust file"
        raise CannotMeasure(_WHAT, reason=reason, remedy="rename it to end in .c, .cpp or .rs")
    return _CLANG
