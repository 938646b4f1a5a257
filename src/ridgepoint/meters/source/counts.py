"""What a program did, in basic operations of its source: values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.caution import Caution
from ridgepoint.core.timed import Timed
from ridgepoint.meters.source.table import SourceFunction, Table, as_operations


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionOperations:
    """What one function did, in all its calls, without those that it called.

    Parameters
    ----------
    name : str
        Demangled, where that was possible.
    symbol : str
    file : str or None
    line : int or None
        Where it begins, counted from 1.
    operations : BasicOperations
    """

    name: str
    symbol: str
    file: str | None
    line: int | None
    operations: BasicOperations


@dataclass(frozen=True, slots=True, kw_only=True)
class LineOperations:
    """What one source line did.

    Parameters
    ----------
    file : str or None
        None: the compiler's own code.
    line : int or None
        Counted from 1.
    operations : BasicOperations
    """

    file: str | None
    line: int | None
    operations: BasicOperations


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCounts:
    """Basic operations that a run executed, counted from the source.

    Parameters
    ----------
    operations : BasicOperations
    functions, lines : tuple
        Those that did any, most first.
    exit_status : int
        The program's, as a shell sees it.
    complete : bool
        Whether every process that counted left by itself.
    processes : int
        How many counted.
    cautions : tuple of Caution
    """

    operations: BasicOperations
    functions: tuple[FunctionOperations, ...]
    lines: tuple[LineOperations, ...]
    exit_status: int
    complete: bool
    processes: int
    cautions: tuple[Caution, ...] = ()

    def bop_per_s(self, timed: Timed | None) -> float | None:
        """Return its rate when it ran without counters so long; None: its time is unknown."""
        if timed is None or not self.complete or not timed.runtime_s.median:
            return None
        return self.operations.total / timed.runtime_s.median


def add_up(
    modules: Iterable[tuple[Table, Sequence[int]]],
) -> tuple[tuple[FunctionOperations, ...], tuple[LineOperations, ...]]:
    """Return what functions and lines did, from counters and what they stand for.

    Parameters
    ----------
    modules : iterable of (Table, sequence of int)
        The passes of each of a table's counters.

    Notes
    -----
    A function of C++ that several modules hold (a template, an inline function) is one; static
    functions of the same name in different files are not.
    """
    by_function: dict[SourceFunction, list[BasicOperations]] = defaultdict(list)
    by_line: dict[tuple[str, int], list[BasicOperations]] = defaultdict(list)
    for table, passes in modules:
        for site, times in zip(table.sites, passes, strict=True):
            if not times:
                continue
            for work in site.work:
                done = as_operations(work.operations) * int(times)
                by_function[table.functions[site.function]].append(done)
                by_line[work.file, work.line].append(done)
    functions = [
        FunctionOperations(
            name=one.symbol,
            symbol=one.symbol,
            file=one.file or None,
            line=one.line or None,
            operations=_sum(done),
        )
        for one, done in by_function.items()
    ]
    lines = [
        LineOperations(file=file or None, line=line or None, operations=_sum(done))
        for (file, line), done in by_line.items()
    ]
    functions.sort(
        key=lambda function: (-function.operations.total, function.symbol, function.file or "")
    )
    lines.sort(key=lambda line: (-line.operations.total, line.file or "", line.line or 0))
    return tuple(functions), tuple(lines)


def _sum(parts: Iterable[BasicOperations]) -> BasicOperations:
    return sum(parts, BasicOperations())


def total(parts: Iterable[FunctionOperations | LineOperations]) -> BasicOperations:
    """Return what functions, or lines, did together."""
    return _sum(part.operations for part in parts)
