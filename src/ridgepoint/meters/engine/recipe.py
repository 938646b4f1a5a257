"""How the counting engine is made: from which files, by which commands, and whether it starts."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from ridgepoint.meters.engine.installation import PLATFORM, Installation, unavailable

TOOL = f"ridgepoint-{PLATFORM}"
"""File name of the tool, as Valgrind's launcher looks for it."""

_COMPILE_LIMIT_S, _LINK_LIMIT_S, _TRY_LIMIT_S = 60.0, 30.0, 30.0
_COMPILE = (
    *("-std=gnu11", "-O2", "-m64", "-fno-pie", "-fomit-frame-pointer", "-fno-strict-aliasing"),
    *("-fno-builtin", "-fno-stack-protector"),  # there is no C library
    *("-DVGA_amd64=1", "-DVGO_linux=1", "-DVGP_amd64_linux=1", "-DVGPV_amd64_linux_vanilla=1"),
)
# As Valgrind links its own tools: static, without a C library, out of the way of programs.
_LINK = (
    *("-m64", "-static", "-no-pie", "-nodefaultlibs", "-nostartfiles", "-u", "_start"),
    "-Wl,--build-id=none",
)
_FAST = frozenset({"avx2", "bmi2", "fma"})
_COMPILERS = ("cc", "gcc", "clang")
_SIGNS = ("error", "undefined reference", "cannot find")


class BuildFailed(Exception):
    """A step failed; the message says which and why, the log says all."""


@dataclass(frozen=True)
class Recipe:
    """What the engine is built from.

    Parameters
    ----------
    installation : Installation
    source : Path
        Folder of the C files.
    cpu : tuple of str
        Compiler flags for this CPU.
    """

    installation: Installation
    source: Path
    cpu: tuple[str, ...]

    @cached_property
    def key(self) -> str:
        """A name for the engine that changes with everything that it is made from.

        The compiler counts only if the user named it in ``CC``: a node of a cluster that has
        none may use what another has built.
        """
        digest = hashlib.sha256()
        compiler = os.environ.get("CC", "")
        for text in (*_COMPILE, *_LINK, *self.cpu, self.installation.load_address, compiler):
            digest.update(text.encode(errors="surrogateescape") + b"\0")
        for path in sorted(self.source.rglob("*.[ch]")):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(self.source)}\0{len(content)}\0".encode() + content)
        digest.update((self.installation.headers / "config.h").read_bytes())
        for path in self.installation.parts:
            status = path.stat()
            digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
        return f"{self.installation.version}-{digest.hexdigest()[:16]}"

    def make(self, folder: Path, log: Path) -> None:
        """Compile and link the tool in a folder.

        Raises
        ------
        BuildFailed
            If a step fails or takes too long; `log` then holds what was said.
        MeterUnavailable
            If there is no C compiler.
        """
        compiler = _compiler()
        found = self.installation
        flags = (*_COMPILE, *self.cpu, f"-I{self.source}", f"-I{found.headers}")
        sources = sorted(self.source.glob("*.c"))
        objects = [f"{source.stem}.o" for source in sources]
        compiling = [
            (*compiler, *flags, "-c", str(source), "-o", name)
            for source, name in zip(sources, objects, strict=True)
        ]
        address = f"-Wl,-Ttext-segment={found.load_address}"
        archives = map(str, found.archives)
        linking = (*compiler, *_LINK, address, "-o", TOOL, *objects, *archives, "-lgcc")
        with log.open("wb") as sink:
            _run(compiling, folder, sink, _COMPILE_LIMIT_S)
            _run([linking], folder, sink, _LINK_LIMIT_S)
        for name in objects:
            (folder / name).unlink()

    def try_out(self, folder: Path, log: Path) -> None:
        """Run a program that does nothing under the tool that was made in a folder.

        Raises
        ------
        BuildFailed
            If that does not succeed; `log` then holds what was said.
        """
        command = (
            str(self.installation.launcher),
            # Options of the user's, meant for other tools, would stop this one.
            *("--tool=ridgepoint", "--command-line-only=yes", "--vgdb=no", "-q"),
            shutil.which("true") or "/bin/true",
        )
        scratch = folder / "scratch"
        scratch.mkdir()
        with log.open("ab") as sink:
            _run([command], scratch, sink, _TRY_LIMIT_S, VALGRIND_LIB=str(folder))
        shutil.rmtree(scratch)


def recipe(found: Installation, source: Path) -> Recipe:
    """Return how to build the engine for a Valgrind on this CPU.

    Raises
    ------
    MeterUnavailable
        If the source is not there.
    """
    if not any(source.glob("*.c")):
        raise unavailable(
            f"its C source is not in {source}", "reinstall the Python package 'ridgepoint'"
        )
    return Recipe(found, source, _cpu_flags(_cpu_features()))


def first_complaint(log: Path) -> str:
    """Return the line of a log that says what went wrong, or the first that says anything."""
    text = log.read_text(errors="replace") if log.exists() else ""
    lines = [line.strip() for line in text.splitlines() if line.strip() and line[:2] != "$ "]
    telling = (line for line in lines if any(sign in line.lower() for sign in _SIGNS))
    return next(telling, lines[0] if lines else "it said nothing")


def _cpu_features() -> frozenset[str]:
    """Return what the kernel says of the first CPU; others are alike wherever Valgrind runs."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            flags = next((line for line in lines if line.startswith("flags")), "")
    except OSError:
        return frozenset()
    return frozenset(flags.split())


def _cpu_flags(features: frozenset[str]) -> tuple[str, ...]:
    return (
        *(("-mfma", "-DHARDWARE_FMA") if "fma" in features else ()),
        *(("-mavx2", "-mbmi2") if features >= _FAST else ()),
    )


def _compiler() -> tuple[str, ...]:
    chosen = os.environ.get("CC", "").strip()
    if chosen:
        name, *arguments = shlex.split(chosen)
        found = shutil.which(name)
        if found is None:
            raise unavailable(
                f"CC names {chosen!r}, and there is no such program",
                "name a C compiler in CC, or unset it",
            )
        return (os.path.abspath(found), *arguments)
    for name in _COMPILERS:
        found = shutil.which(name)
        if found is not None:
            return (os.path.abspath(found),)
    raise unavailable(
        "there is no C compiler (cc, gcc or clang) in PATH", "install gcc, or name another in CC"
    )


def _run(
    commands: Sequence[Sequence[str]],
    folder: Path,
    log: BinaryIO,
    limit_s: float,
    **environment: str,
) -> None:
    """Run commands side by side in a folder; none of them outlives this call."""
    deadline_s = time.monotonic() + limit_s
    variables = {**os.environ, "LC_ALL": "C", "TMPDIR": str(folder), **environment}
    running: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            log.write(f"$ {shlex.join(command)}\n".encode(errors="surrogateescape"))
            log.flush()
            running.append(_start(command, folder, log, variables))
        for process in running:
            process.wait(max(0.0, deadline_s - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        program = Path(commands[0][0]).name
        raise BuildFailed(f"{program} took longer than {limit_s:g} s") from error
    finally:
        for process in running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    for process, command in zip(running, commands, strict=True):
        if process.returncode != 0:
            raise BuildFailed(f"{Path(command[0]).name} failed, status {process.returncode}")


def _start(
    command: Sequence[str], folder: Path, log: BinaryIO, variables: dict[str, str]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=variables,
            start_new_session=True,  # so that a compiler's own children end with it
        )
    except OSError as error:
        raise BuildFailed(f"{command[0]} does not start ({error.strerror})") from error
