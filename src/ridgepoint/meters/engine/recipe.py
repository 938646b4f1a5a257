"""How the counting engine is made: from which files, by which commands, and whether it starts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ridgepoint.meters.building import COMPLETE, check_source, digest
from ridgepoint.meters.compiling import compile_and_link, compiler, cpu_features, run_together
from ridgepoint.meters.engine.installation import WHAT, Installation, check_version
from ridgepoint.meters.valgrind.package import PLATFORM

TOOL = f"ridgepoint-{PLATFORM}"
"""File name of the tool, as Valgrind's launcher looks for it."""

_TRY_LIMIT_S = 30.0
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
FAST = frozenset({"avx2", "bmi2", "fma"})
"""Features of the CPUs for which the simulation of caches uses vectors."""


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

    what = WHAT
    part = "engine"
    makes = (TOOL,)
    needs = (f"none-{PLATFORM}",)

    @cached_property
    def key(self) -> str:
        """A name for the engine that changes with everything that it is made from.

        The compiler counts only if the user named it in ``CC``: a node of a cluster that has
        none may use what another has built.
        """
        installation = self.installation
        stamps = ((path, path.stat()) for path in installation.parts)
        texts = (
            *(*_COMPILE, *_LINK, *self.cpu, installation.load_address, os.environ.get("CC", "")),
            *(f"{path} {stamp.st_size} {stamp.st_mtime_ns}" for path, stamp in stamps),
        )
        files = (*_files(self.source, "*.[ch]"), installation.headers / "config.h")
        made_from = digest(texts, files)
        return f"{installation.version}-{made_from}"

    def check(self) -> None:
        """Start Valgrind, and compare its version with that of its headers."""
        check_version(self.installation)

    def make(self, folder: Path, log: Path) -> None:
        """Compile and link the tool in a folder, with what it needs beside it, and try it out."""
        self.compile(folder, log)
        self._link(folder)
        self._try_out(folder, log)

    def compile(self, folder: Path, log: Path) -> None:
        """Compile and link the tool in a folder; what it needs beside it is not there yet."""
        cc = compiler(WHAT)
        installation = self.installation
        folders = (*_folders(self.source), installation.headers)
        flags = (*_COMPILE, *self.cpu, *(f"-I{folder}" for folder in folders))
        objects = {
            f"{source.stem}.o": (*cc, *flags, "-c", str(source))
            for source in sorted(_files(self.source, "*.c"))
        }
        address = f"-Wl,-Ttext-segment={installation.load_address}"
        archives = map(str, installation.archives)
        linking = (*cc, *_LINK, address, "-o", TOOL, *objects, *archives, "-lgcc")
        compile_and_link(objects, [linking], folder, log)

    def _link(self, folder: Path) -> None:
        """Let a folder hold all that Valgrind's own has, which a tool needs beside itself."""
        for path in self.installation.tools.iterdir():
            if path.name not in {TOOL, COMPLETE}:  # of an engine that Valgrind is used through
                (folder / path.name).symlink_to(os.path.realpath(path))

    def _try_out(self, folder: Path, log: Path) -> None:
        """Run a program that does nothing under the tool that was made in a folder."""
        command = (
            str(self.installation.launcher),
            # Options of the user's, meant for other tools, would stop this one.
            *("--tool=ridgepoint", "--command-line-only=yes", "--vgdb=no", "-q"),
            shutil.which("true") or "/bin/true",
        )
        scratch = folder / "scratch"
        scratch.mkdir()
        with log.open("ab") as sink:
            run_together([command], scratch, sink, _TRY_LIMIT_S, VALGRIND_LIB=str(folder))
        shutil.rmtree(scratch)


def recipe(installation: Installation, source: Path) -> Recipe:
    """Return how to build the engine for a Valgrind on this CPU.

    Raises
    ------
    MeterUnavailable
        If the source is not there.
    """
    check_source(WHAT, source)
    return Recipe(installation, source, cpu_flags(cpu_features()))


def source_key(source: Path) -> str:
    """Return a name that changes with the tool's C source and how it is compiled anywhere.

    Raises
    ------
    OSError
        If a file cannot be read.
    """
    return digest((*_COMPILE, *_LINK), _files(source, "*.[ch]"))


def cpu_flags(features: frozenset[str]) -> tuple[str, ...]:
    """Return the compiler's flags for a CPU with features, by the kernel's names."""
    return (
        *(("-mfma", "-DHARDWARE_FMA") if "fma" in features else ()),
        *(("-mavx2", "-mbmi2") if features >= FAST else ()),
    )


def _folders(source: Path) -> tuple[Path, ...]:
    return (source, source / "caches")  # the latter is the copying engine's too


def _files(source: Path, pattern: str) -> Iterator[Path]:
    return (path for folder in _folders(source) for path in folder.glob(pattern))
