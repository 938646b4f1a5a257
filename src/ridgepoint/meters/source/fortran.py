"""Fortran is refused, since flang's IR does not say what the source does.

Before flang writes LLVM IR it has shared common subexpressions (``(a + b) * (a + b)`` adds once,
``x(i) = x(i) + 1`` has one address), added up what the source and what lower bounds subtract
(``y(k - 1)`` subtracts 2, once), and put intrinsic functions in their place; flang 16 writes no
lines either.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.meters.source.compiler import Say


def build(
    sources: Sequence[str], flags: Sequence[str], counting: Path, plain: Path | None, say: Say
) -> int:
    """Refuse to compile.

    Raises
    ------
    CannotMeasure
        Always.
    """
    del flags, counting, plain, say
    raise CannotMeasure(
        f"cannot count basic operations of {sources[0]!r}",
        reason=(
            "flang's IR does not show the operations of the Fortran source: it shares and "
            "folds them"
        ),
        remedy=(
            "count the instructions of the compiled program: 'ridgepoint run --work bops -- ./prog'"
        ),
    )
