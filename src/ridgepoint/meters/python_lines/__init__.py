"""Time per line of Python: a preloaded library samples the threads of Python programs.

No library of others is used: Scalene needs its own command and, outside of the main thread, the
interpreter's lock; py-spy stops the program for each sample, needs the right to trace it, and does
not tell interpreter and native code apart on one line. Here a signal interrupts each thread by its
own CPU time, and what its handler reads is the line at that very instruction.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ridgepoint.core.caution import Caution
from ridgepoint.meters.building import (
    built,
    check_machine,
    check_source,
    digest,
    source_folder,
    unavailable,
    why,
)
from ridgepoint.meters.compiling import (
    Compilers,
    compile_and_link,
    compilers_here,
    run_together,
)

LIBRARY = "libridgepoint-lines.so"
LINES_VARIABLE = "RIDGEPOINT_LINES"
"""The environment variable that names the folder for the samples of Python processes."""

TRACED_VARIABLE = "RIDGEPOINT_TRACED_LINES"
"""The environment variable that names the list of lines to count apart; see `traced_list`."""

LINE_MARK = "\x02"
"""Stands before the number of a line where the copying engine names regions; "0" is all others."""

OTHERS_MARK = "\x03"
"""Stands before the number of the line in which the work of threads counts that are none of Python;
without a number it is their work while no line, or more than one, was executed."""

MOST_TRACED = 500

_WHAT = "the sampler of Python lines"
_FLAGS = ("-std=gnu11", "-O2", "-m64", "-fPIC", "-fvisibility=hidden")
_TRY_LIMIT_S = 30.0


@dataclass(frozen=True)
class Recipe:
    """How the library is built; see `ridgepoint.meters.building.Recipe`.

    Parameters
    ----------
    source : Path
        Folder of the C files.
    compilers : Compilers or None
        None: this host's.
    """

    source: Path
    compilers: Compilers | None = None

    what = _WHAT
    part = "lines"
    makes = (LIBRARY,)
    needs: tuple[str, ...] = ()

    @cached_property
    def key(self) -> str:
        """A name that changes with everything that it is made from."""
        return digest((*_FLAGS, os.environ.get("CC", "")), self.source.glob("*.[ch]"))

    @property
    def shipped_key(self) -> str:
        """A name that changes with everything of the package that it is made from."""
        return self.key

    def check(self) -> None:
        """Raise MeterUnavailable on a host that it cannot run on."""
        check_machine(_WHAT, "samples")

    def make(self, folder: Path, log: Path) -> None:
        """Compile and link it in a folder, and preload it into a program that does nothing."""
        cc = (self.compilers or compilers_here(_WHAT)).hosted
        objects = {
            f"{path.stem}.o": (*cc, *_FLAGS, "-c", str(path))
            for path in sorted(self.source.glob("*.c"))
        }
        linking = (*cc, "-m64", "-shared", "-o", LIBRARY, *objects, "-ldl", "-lpthread")
        compile_and_link(objects, [linking], folder, log)
        with log.open("ab") as sink:
            run_together(
                [("/bin/true",)], folder, sink, _TRY_LIMIT_S, LD_PRELOAD=str(folder / LIBRARY)
            )


def lines_source() -> Path:
    """Return the folder of the library's C source."""
    return (source_folder() / "lines").absolute()


def line_sampler(
    *, cache: Path | None = None, report: Callable[[str], None] | None = None
) -> tuple[Path, tuple[Caution, ...]]:
    """Return the library to preload, building it if it is not there.

    Parameters
    ----------
    cache : Path or None
        Folder to keep it in; see `ridgepoint.meters.building.built`.
    report : callable or None
        Is told that a build begins.

    Raises
    ------
    MeterUnavailable
        If it cannot be built here, or does not run.
    """
    recipe = Recipe(lines_source())
    recipe.check()
    check_source(_WHAT, recipe.source)
    try:
        _ = recipe.key  # kept from now on
    except OSError as error:
        raise unavailable(_WHAT, why(error), "reinstall 'ridgepoint'") from error
    folder, cautions = built(recipe, shipped=recipe.shipped_key, cache=cache, report=report)
    return folder / LIBRARY, cautions


def traced_list(lines: Sequence[tuple[str, int]], *, most_events: int) -> str:
    """Return the content of the file that names lines to count apart.

    Parameters
    ----------
    lines : sequence of (str, int)
        Absolute paths and numbers of lines, at most `MOST_TRACED`; the first has the number 1.
    most_events : int
        How often lines of a process may begin until it is no longer traced.
    """
    return f"{most_events}\n" + "".join(f"{line} {file}\n" for file, line in lines)
