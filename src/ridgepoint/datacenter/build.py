"""Compile the workloads at first use, and keep the programs."""

from __future__ import annotations

import hashlib
import os
import platform
import secrets
import shlex
import shutil
import subprocess
from pathlib import Path

from ridgepoint.datacenter.programs import VARIANTS, WORKLOADS, program_folder
from ridgepoint.errors import CannotMeasure
from ridgepoint.host import System
from ridgepoint.meters.engine.build import CACHE_VARIABLE, cache_folder, header_folder

_COMPILERS = ("g++", "clang++", "c++")
_COMMON = ("-std=c++17", "-pthread", "-g1")  # names and lines, without the types

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
        words = shlex.split(candidate)
        if words and shutil.which(words[0]):
            return tuple(words)
    raise CannotMeasure(
        "cannot build the datacenter workloads",
        reason=f"there is no compiler {asked_for!r}" if asked_for else "no C++ compiler is here",
        remedy="install g++ or clang++, or name one in CXX",
    )


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
    digest.update(version.stdout.encode())
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
        raise _nowhere(error.filename, error.strerror) from error
    if not os.access(folder, os.W_OK):
        raise _nowhere(folder, "it may not be written to")
    return folder


def _nowhere(folder: Path | str, why: str | None) -> CannotMeasure:
    return CannotMeasure(
        "cannot keep the datacenter workloads",
        reason=f"{folder}: {why or 'unknown error'}",
        remedy=f"name a folder in {CACHE_VARIABLE} that may hold programs",
    )


def _compile(name: str, command: list[str], program: Path) -> None:
    """Compile beside its place and rename, so that what is there is whole."""
    unfinished = program.with_name(f".{program.name}-{secrets.token_hex(4)}")
    source = program_folder() / f"{name}.cpp"
    try:
        done = _run([*command, str(source), "-o", str(unfinished)])
        if done.returncode != 0:
            complaints = [line for line in done.stderr.splitlines() if "error" in line]
            raise CannotMeasure(
                f"cannot build the workload {name!r}",
                reason=(complaints or [f"{command[0]} ended with {done.returncode}"])[0].strip(),
                remedy="use a compiler of C++17, named in CXX",
            )
        unfinished.replace(program)
    finally:
        unfinished.unlink(missing_ok=True)


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(
        command, check=False, capture_output=True, text=True, env=environment, errors="replace"
    )
