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
from ridgepoint.suites.datacenter.programs import VARIANTS, WORKLOADS, program_folder

_COMPILERS = ("g++", "clang++", "c++")
_COMMON = ("-std=c++17", "-pthread", "-g1")  # names and lines, without the types
_WHAT = "cannot build the datacenter workloads"
_UNFINISHED = ".unfinished-"
_ABANDONED_S = 3600  # no compiler takes that long

# What x86-64-v3 stands for, in the kernel's words: the most that Valgrind decodes, which has no
# AVX-512, so that the program that is counted is the one that is timed.
_VERSION_3 = frozenset(("avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"))


def build(
    name: str,
    *,
    variant: str = "baseline",
    compiler: str | None = None,
    marked: bool = True,
    cache: Path | None = None,
) -> Path:
    """Return the path of a compiled program, compiling it if it is not there.

    Parameters
    ----------
    name : str
        Of a workload, or ``"generate"``.
    variant : str
        Of `VARIANTS`.
    compiler : str or None
        Command of a C++17 compiler, with options if need be. None: what ``CXX`` names, or g++,
        clang++ or c++, whichever comes first in this order.
    marked : bool
        Mark the measured part as a region.
    cache : Path or None
        Folder to keep programs in. None: what ``RIDGEPOINT_CACHE`` names, or the user's cache.

    Raises
    ------
    ValueError
        If there is no such program or variant.
    CannotMeasure
        If there is no compiler, it refuses, or there is nowhere to keep the program.
    """
    if name not in WORKLOADS and name != "generate":
        raise ValueError(f"name must be one of {', '.join(WORKLOADS)}, generate; got {name!r}")
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
        If there is none, or not the one asked for.
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
    """Check what every workload needs: a compiler, and a folder to keep programs in.

    Raises
    ------
    CannotMeasure
        If one of them is not there.
    """
    compiler_command()
    _folder(None)


def host_flags(system: System | None = None) -> tuple[str, ...]:
    """Return the compiler's flags for the vectors of this CPU, as far as Valgrind has them."""
    if platform.machine() == "aarch64":
        return ("-mcpu=native",)
    flags = (system or System()).flags
    return ("-march=x86-64-v3",) if flags >= _VERSION_3 else ()


def compile_flags(name: str, *, variant: str = "baseline", marked: bool = True) -> tuple[str, ...]:
    """Return the flags that a compiler needs for a program, for one that is not `build`.

    Parameters
    ----------
    name : str
        Of a workload, or ``"generate"``.
    variant : str
        Of `VARIANTS`.
    marked : bool
        Mark the measured part as a region.
    """
    way = VARIANTS[variant]
    contracts = name in WORKLOADS and WORKLOADS[name].contracts
    flags = [*_COMMON, *way.flags, *(host_flags() if way.host else ())]
    flags.append("-ffp-contract=fast" if contracts else "-ffp-contract=off")
    if not marked:
        flags.append("-DRIDGEPOINT_DISABLE")
    return (*flags, f"-I{header_folder()}")


def _key(name: str, command: list[str]) -> str:
    """Return what changes with everything that a program is made from."""
    digest = hashlib.sha256(shlex.join(command).encode())
    version = _run([command[0], "--version"])
    digest.update(version.output.encode())
    headers = sorted(program_folder().glob("*.hpp"))
    for path in (program_folder() / f"{name}.cpp", *headers, header_folder() / "ridgepoint.h"):
        if path.exists():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _folder(cache: Path | None) -> Path:
    """Return the folder of programs, made if it is not there."""
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
    """Compile beside its place and rename, so that what is there is whole."""
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
    """Give a folder for what a compiler makes, which is gone afterwards.

    One of a process that was killed stays, until a later process finds it.
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
    """Return the first thing that a compiler said was wrong; None: it says that nothing is."""
    errors = [line.strip() for line in answer.complaints.splitlines() if "error" in line]
    if errors:
        return errors[0]
    return f"{program} ended with {answer.status}" if answer.status else None


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
