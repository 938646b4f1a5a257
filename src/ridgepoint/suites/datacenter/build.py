"""Compile the workloads at first use, and keep the programs."""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import secrets
import shlex
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ridgepoint.core.errors import CannotMeasure, reason_of
from ridgepoint.host import System
from ridgepoint.host.process import Answer, ask
from ridgepoint.meters.building import CACHE_VARIABLE, cache_folder, header_folder
from ridgepoint.meters.compiling import complaint_in
from ridgepoint.suites.datacenter.programs import (
    MPI_PROGRAMS,
    VARIANTS,
    WORKLOADS,
    program_folder,
)

_COMPILERS = ("g++", "clang++", "c++")
_COMMON = ("-std=c++17", "-pthread", "-g1")  # names and lines, without the types
_NAMES = (*WORKLOADS, *MPI_PROGRAMS.values(), "generate")
_WHAT = "cannot build the datacenter workloads"
_UNFINISHED = ".unfinished-"
_ABANDONED_S = 3600  # no compiler takes this long

# Features of x86-64-v3 by the kernel's names: the most that Valgrind decodes, which lacks
# AVX-512, so that the same program is counted and timed.
_VERSION_3 = frozenset(("avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"))


def build(
    name: str,
    *,
    variant: str = "baseline",
    compiler: str | None = None,
    marked: bool = True,
    cache: Path | None = None,
) -> Path:
    """Return the path of a compiled program, compiling it first if necessary.

    Parameters
    ----------
    name : str
        Name of a workload, of its program for MPI, or ``"generate"``.
    variant : str
        Name in `VARIANTS`.
    compiler : str or None
        Command of a C++17 compiler, with options if needed; for MPI, its own. None: the value of
        ``CXX``, or the first of g++, clang++ and c++ that is installed.
    marked : bool
        Whether to mark the measured part as a region.
    cache : Path or None
        Folder for compiled programs. None: ``RIDGEPOINT_CACHE``, or the user's cache folder.

    Raises
    ------
    ValueError
        If there is no such program or variant.
    CannotMeasure
        If there is no compiler, it fails, or the program cannot be kept anywhere.
    """
    if name not in _NAMES:
        raise ValueError(f"name must be one of {', '.join(_NAMES)}; got {name!r}")
    if variant not in VARIANTS:
        raise ValueError(f"variant must be one of {', '.join(VARIANTS)}, got {variant!r}")
    command = [*compiler_command(compiler), *compile_flags(name, variant=variant, marked=marked)]
    program = _folder(cache) / f"{name}-{variant}-{_key(name, command)}"
    if not os.access(program, os.X_OK):
        _compile(name, command, program)
    return program


def compiler_command(compiler: str | None = None) -> tuple[str, ...]:
    """Return the command of a C++ compiler that is installed.

    Raises
    ------
    CannotMeasure
        If there is no compiler, or not the one asked for.
    """
    asked_for = compiler or os.environ.get("CXX")
    for candidate in (asked_for,) if asked_for else _COMPILERS:
        try:
            words = shlex.split(candidate)
        except ValueError as error:
            raise CannotMeasure(
                _WHAT,
                reason=f"{candidate!r} is not a command: {str(error).lower()}",
                remedy="name a C++ compiler in CXX as in a shell",
            ) from error
        if words and shutil.which(words[0]):
            return tuple(words)
    raise CannotMeasure(
        _WHAT,
        reason=f"there is no compiler {asked_for!r}" if asked_for else "there is no C++ compiler",
        remedy="install g++ or clang++, or name one in CXX",
    )


def require_buildable() -> None:
    """Check the requirements of all workloads: a compiler, and a folder for programs.

    Raises
    ------
    CannotMeasure
        If one of them is missing.
    """
    compiler_command()
    _folder(None)


def host_flags(system: System | None = None) -> tuple[str, ...]:
    """Return the compiler's flags for this CPU's vectors, as far as Valgrind decodes them."""
    if platform.machine() == "aarch64":
        return ("-mcpu=native",)
    flags = (system or System()).flags
    return ("-march=x86-64-v3",) if flags >= _VERSION_3 else ()


def compile_flags(name: str, *, variant: str = "baseline", marked: bool = True) -> tuple[str, ...]:
    """Return the flags for compiling a program by other means than `build`.

    Parameters
    ----------
    name : str
        Name of a workload, or ``"generate"``.
    variant : str
        Name in `VARIANTS`.
    marked : bool
        Whether to mark the measured part as a region.
    """
    way = VARIANTS[variant]
    contracts = name in WORKLOADS and WORKLOADS[name].contracts
    flags = [*_COMMON, *way.flags, *(host_flags() if way.host else ())]
    flags.append("-ffp-contract=fast" if contracts else "-ffp-contract=off")
    if not marked:
        flags.append("-DRIDGEPOINT_DISABLE")
    return (*flags, f"-I{header_folder()}")


def _key(name: str, command: list[str]) -> str:
    """Return a key that changes with everything that a program is made from."""
    digest = hashlib.sha256(shlex.join(command).encode())
    version = _run([command[0], "--version"])
    digest.update(version.output.encode())
    headers = sorted(program_folder().glob("*.hpp"))
    for path in (program_folder() / f"{name}.cpp", *headers, header_folder() / "ridgepoint.h"):
        if path.exists():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _folder(cache: Path | None) -> Path:
    """Return the folder of programs, which is created if it is missing."""
    try:
        folder = cache_folder("datacenter", cache)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _nowhere(error.filename, reason_of(error)) from error
    if not os.access(folder, os.W_OK):
        raise _nowhere(folder, "it is not writable")
    if os.statvfs(folder).f_flag & os.ST_NOEXEC:
        raise _nowhere(folder, "programs in it may not be executed")
    return folder


def _nowhere(folder: Path | str, why: str) -> CannotMeasure:
    return CannotMeasure(
        "cannot keep the datacenter workloads",
        reason=f"{folder}: {why}",
        remedy=(
            f"name a folder in {CACHE_VARIABLE} that has free space and from which programs "
            "may be executed"
        ),
    )


def _compile(name: str, command: list[str], program: Path) -> None:
    """Compile to a temporary file and rename it, so that existing programs are complete."""
    source = program_folder() / f"{name}.cpp"
    with _building(program) as folder:
        made = folder / program.name
        answer = _run([*command, str(source), "-o", str(made)], temporary=folder)
        if os.strerror(errno.ENOSPC) in answer.complaints:
            raise _nowhere(program.parent, os.strerror(errno.ENOSPC).lower())
        if answer.status or not os.access(made, os.X_OK):
            raise CannotMeasure(
                f"cannot build the workload {name!r}",
                reason=_complaint(answer, command[0]) or f"{command[0]} made no program",
                remedy="use a compiler for C++17: name it in CXX",
            )
        made.replace(program)


@contextmanager
def _building(program: Path) -> Iterator[Path]:
    """Provide a temporary folder for a compiler's output, which is removed afterwards.

    The folder of a killed process stays until a later process finds it.
    """
    for path in program.parent.glob(f"{_UNFINISHED}*"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _ABANDONED_S:
                shutil.rmtree(path, ignore_errors=True)
    folder = program.with_name(f"{_UNFINISHED}{program.name}-{secrets.token_hex(4)}")
    try:
        folder.mkdir()
        yield folder
    except OSError as error:
        raise _nowhere(program.parent, reason_of(error)) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _complaint(answer: Answer, program: str) -> str | None:
    """Return what a compiler that failed reported; None: it did not fail."""
    if not answer.status:
        return None
    return complaint_in(answer.complaints) or f"{program} ended with {answer.status}"


def _run(command: Sequence[str], *, temporary: Path | None = None) -> Answer:
    """Run a compiler.

    Raises
    ------
    CannotMeasure
        If the system refuses to execute it.
    """
    environment = {**os.environ, "LC_ALL": "C"}
    if temporary is not None:
        environment["TMPDIR"] = str(temporary)
    try:
        return ask(command, environment=environment)
    except OSError as error:
        raise CannotMeasure(
            _WHAT,
            reason=f"{command[0]!r} cannot be run: {reason_of(error)}",
            remedy="name another C++ compiler in CXX",
        ) from error
