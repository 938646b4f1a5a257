"""Runs compilers: what they say is kept, none outlives its time, and their first error is found."""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ridgepoint.core.errors import MeterUnavailable, reason_of
from ridgepoint.host.process import has_ended, in_session

_COMPILE_LIMIT_S, _LINK_LIMIT_S = 120.0, 60.0
_COMPILERS = ("cc", "gcc", "clang")
_SIGNS = ("error", "undefined reference", "cannot find", "unable to find")


class BuildFailed(Exception):
    """A step failed; the message says which and why, the log says all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compilers:
    """Commands that compile and link C; a wheel's are others than those of its users.

    Parameters
    ----------
    hosted : tuple of str
        For what is linked with a C library.
    freestanding : tuple of str
        For what is linked with none.
    """

    hosted: tuple[str, ...]
    freestanding: tuple[str, ...]


def compilers_here(what: str) -> Compilers:
    """Return this host's compiler for both; see `compiler`."""
    cc = compiler(what)
    return Compilers(hosted=cc, freestanding=cc)


def compiler(what: str) -> tuple[str, ...]:
    """Return the C compiler, with the options that ``CC`` gives it.

    Parameters
    ----------
    what : str
        What is to be built, for messages.

    Raises
    ------
    MeterUnavailable
        If there is none.
    """
    chosen = os.environ.get("CC", "").strip()
    if chosen:
        name, *arguments = shlex.split(chosen)
        path = shutil.which(name)
        if path is None:
            raise MeterUnavailable(
                f"cannot build {what}",
                reason=f"CC names {chosen!r}, and there is no such program",
                remedy="name a C compiler in CC, or unset it",
            )
        return (os.path.abspath(path), *arguments)
    for name in _COMPILERS:
        path = shutil.which(name)
        if path is not None:
            return (os.path.abspath(path),)
    raise MeterUnavailable(
        f"cannot build {what}",
        reason="there is no C compiler (cc, gcc or clang) in PATH",
        remedy="install gcc, or name another compiler in CC",
    )


def cpu_features() -> frozenset[str]:
    """Return what the kernel says of the first CPU; others are alike."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            flags = next((line for line in lines if line.startswith("flags")), "")
    except OSError:
        return frozenset()
    return frozenset(flags.split())


def run_together(
    commands: Sequence[Sequence[str]],
    folder: Path,
    log: BinaryIO,
    limit_s: float,
    **environment: str,
) -> None:
    """Run commands side by side in a folder; none of them outlives this call.

    Parameters
    ----------
    commands : sequence of sequence of str
    folder : Path
    log : binary file
        Gets what they say, after each command itself.
    limit_s : float
        For all of them together.
    **environment : str
        Variables besides this process's own.

    Raises
    ------
    BuildFailed
        If one of them fails, or they take longer.
    """
    deadline_s = time.monotonic() + limit_s
    variables = {**os.environ, "LC_ALL": "C", "TMPDIR": str(folder), **environment}
    with ExitStack() as stack:
        running = []
        for command in commands:
            log.write(f"$ {shlex.join(command)}\n".encode(errors="surrogateescape"))
            log.flush()
            # In a session of its own, so that a compiler's own children end with it.
            session = in_session(
                command, stdout=log, stderr=log, folder=folder, environment=variables
            )
            try:
                running.append(stack.enter_context(session))
            except OSError as error:
                reason = f"{command[0]} does not start ({reason_of(error)})"
                raise BuildFailed(reason) from error
        for process in running:
            if not has_ended(process, within_s=max(0.0, deadline_s - time.monotonic())):
                program = Path(commands[0][0]).name
                raise BuildFailed(f"{program} took longer than {limit_s:g} s")
    for process, command in zip(running, commands, strict=True):
        if process.returncode != 0:
            raise BuildFailed(f"{Path(command[0]).name} failed, status {process.returncode}")


def compile_and_link(
    objects: Mapping[str, Sequence[str]],
    linking: Sequence[Sequence[str]],
    folder: Path,
    log: Path,
) -> None:
    """Compile files side by side in a folder, link them, and remove what lay in between.

    Parameters
    ----------
    objects : mapping of str to sequence of str
        Name of each object file, and the command that compiles it but for that name.
    linking : sequence of sequence of str
        Commands that link them.
    folder : Path
    log : Path
        Gets what they say.

    Raises
    ------
    BuildFailed
        If one of them fails, or they take too long.
    """
    compiling = [(*command, "-o", name) for name, command in objects.items()]
    with log.open("wb") as sink:
        run_together(compiling, folder, sink, _COMPILE_LIMIT_S)
        run_together(linking, folder, sink, _LINK_LIMIT_S)
    for name in objects:
        (folder / name).unlink()


def first_complaint(log: Path) -> str:
    """Return the line of a log that says what went wrong, or the first that says anything."""
    text = log.read_text(errors="replace") if log.exists() else ""
    return complaint_in(text) or "it printed nothing"


def complaint_in(text: str) -> str | None:
    """Return the line that says what went wrong, or the first that says anything; None: none."""
    lines = [line.strip() for line in text.splitlines() if line[:2] != "$ "]
    lines = [line for line in lines if any(map(str.isalnum, line))]  # wrappers of MPI draw rules
    telling = (line for line in lines if any(sign in line.lower() for sign in _SIGNS))
    return next(telling, lines[0] if lines else None)
