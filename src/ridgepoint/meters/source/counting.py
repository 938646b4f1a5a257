"""Build a program from sources, run what counts, and read what it counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.host.process import output_of
from ridgepoint.host.run import Run
from ridgepoint.host.scratch import scratch_folder
from ridgepoint.meters.source.compiler import Say
from ridgepoint.meters.source.counts import FunctionOperations, SourceCounts, add_up, total
from ridgepoint.meters.source.front_ends import front_end
from ridgepoint.meters.source.slabs import Left, read

FOLDER_VARIABLE = "RIDGEPOINT_BOPS"
"""Environment variable that names the folder in which a program leaves its counters."""

LaunchWith = Callable[[Sequence[str], dict[str, str]], Run]
"""Run a command with some variables besides its environment."""


@contextmanager
def built(
    sources: Sequence[str], flags: Sequence[str], *, say: Say, with_plain: bool = True
) -> Iterator[tuple[Path, Path | None]]:
    """Compile sources, and give the programs for as long as they are needed.

    Parameters
    ----------
    sources : sequence of str
        C and C++ files, or the root of a crate of Rust.
    flags : sequence of str
        For the compiler and the linker.
    say : callable
        Is told what will not be counted.
    with_plain : bool
        Compile them once more, to be timed.

    Yields
    ------
    tuple of Path, and Path or None
        The program that counts, and the one that does not.

    Raises
    ------
    CannotMeasure
        If they are of no language that is counted, or do not compile; what the compiler said was
        shown.
    MeterUnavailable
        If there is no compiler.
    """
    build = front_end(sources).build
    with scratch_folder() as name:
        stem = Path(sources[0]).stem
        counting, plain = Path(name) / "counting" / stem, Path(name) / "plain" / stem
        counting.parent.mkdir()
        plain.parent.mkdir()
        status = build(sources, flags, counting, plain if with_plain else None, say)
        if status:
            raise CannotMeasure(
                f"cannot compile {' '.join(sources)!r}",
                reason="the compiler rejects it: see its messages above",
                remedy="correct the source, or pass missing options with --cflags",
            )
        yield counting, plain if with_plain else None


def count(command: Sequence[str], *, launch: LaunchWith) -> SourceCounts:
    """Run a program that was compiled to count, and return what it did.

    Parameters
    ----------
    command : sequence of str
    launch : callable

    Raises
    ------
    CannotMeasure
        If nothing in it counts, or its counts are lost.
    """
    with scratch_folder() as name:
        done = launch(command, {FOLDER_VARIABLE: name})
        try:
            left = read(Path(name))
        except (OSError, ValueError) as error:
            raise _lost(command, str(error)) from error
    if left.lost:
        raise _lost(command, "a process could not write its counters: see the messages above")
    if not left.processes:
        raise CannotMeasure(
            f"cannot count basic operations of {command[0]!r}",
            reason="it executed no code that counts",
            remedy="compile it, and your own libraries, with 'ridgepoint cc' or 'ridgepoint c++'",
        )
    functions, lines = add_up([(table, passes.tolist()) for table, passes in left.modules])
    return SourceCounts(
        operations=total(lines),
        functions=_demangled(functions),
        lines=lines,
        exit_status=done.exit_status,
        complete=not left.cut_short,
        processes=left.processes,
        cautions=_cautions(left),
    )


def _lost(command: Sequence[str], reason: str) -> CannotMeasure:
    return CannotMeasure(
        f"cannot count basic operations of {command[0]!r}",
        reason=f"its counts are lost: {reason}",
        remedy=(
            "make sure that the folder for temporary files (TMPDIR) has free space and is writable"
        ),
    )


def _cautions(left: Left) -> tuple[Caution, ...]:
    found = []
    if left.cut_short:
        found.append(
            Caution(
                "incomplete",
                f"{left.cut_short} of {left.processes} processes did not exit by themselves: "
                "their work until then is counted, except for the loops that they were in",
                "let these processes exit",
            )
        )
    assembly = sum(table.assembly for table, _ in left.modules)
    if assembly:
        found.append(
            Caution(
                "inline-assembly",
                f"the operations of {assembly} pieces of inline assembly are not counted",
                "write this code without inline assembly, or count instructions",
            )
        )
    return tuple(found)


def _demangled(functions: Sequence[FunctionOperations]) -> tuple[FunctionOperations, ...]:
    """Give functions the names that their authors gave, where binutils is there to tell."""
    symbols = "\n".join(function.symbol for function in functions)
    try:
        names = output_of(["c++filt"], text=symbols).splitlines()
    except OSError:
        return tuple(functions)
    if len(names) != len(functions):
        return tuple(functions)
    return tuple(replace(one, name=name) for one, name in zip(functions, names, strict=True))
