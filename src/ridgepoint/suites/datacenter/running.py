"""Commands that run the workloads, and their input files."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.host.process import ask
from ridgepoint.suites.datacenter.build import build
from ridgepoint.suites.datacenter.programs import arguments


def command(name: str, *, variant: str = "baseline", **options: Any) -> list[str]:
    """Return the command that runs a workload, compiling the program first if necessary.

    Parameters
    ----------
    name : str
        Name in `WORKLOADS`.
    variant : str
        Name in `VARIANTS`.
    **options
        Options of `arguments`: form, size, input, threads, seed, repeat, check, results.

    Raises
    ------
    ValueError
        If there is no such workload, form or variant.
    CannotMeasure
        If it cannot be compiled.
    """
    words = arguments(name, **options)
    return [str(build(name, variant=variant)), *words]


def generate(
    kind: str, output: str | PathLike[str], *, size: int, seed: int = 1, binary: bool = False
) -> Path:
    """Write seeded data to a file; return its path.

    Parameters
    ----------
    kind : str
        ``text`` or ``reviews`` (size in bytes), ``integers`` (number), ``points``,
        ``documents``, or ``graph`` (number of vertices, rounded up to a power of two).
    output : path
        File to write; an existing one is replaced.
    size : int
    seed : int
        0 or more. Equal seeds give equal files, on every machine.
    binary : bool
        Whether to write integers as 8 bytes each instead of text.

    Raises
    ------
    CannotMeasure
        If the disk is full, or another argument is refused.
    """
    program = build("generate", variant="optimised")
    asked = [str(program), kind, "--size", str(size), "--seed", str(seed)]
    asked += ["--output", fspath(output), *(["--binary"] if binary else [])]
    answer = ask(asked)
    if answer.status:
        reason = answer.complaints.strip().removeprefix("generate: ")
        raise CannotMeasure(
            f"cannot generate {kind!r}",
            reason=reason or f"status {answer.status}",
            remedy="ask for other data, or for less data",
        )
    return Path(output)
