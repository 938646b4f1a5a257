"""Build a program of Rust that counts: rustc's unoptimised IR, and clang to compile it."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.errors import CannotMeasure, MeterUnavailable
from ridgepoint.host.process import ask, call
from ridgepoint.meters.source.clang import Clang, find_clang, has_opaque_pointers
from ridgepoint.meters.source.compiler import Say
from ridgepoint.meters.source.instrument import instrument
from ridgepoint.meters.source.rust_rules import read_rust

COMPILER_VARIABLE = "RIDGEPOINT_RUSTC"
"""Environment variable that names the rustc to use."""

_READ = "1.63"
"""The version whose IR is read: others write other IR, and what they add has not been checked."""

# What the source says, with nothing taken away: no pass over MIR or IR, no code of generic
# functions taken from the standard library, and the checks that -O leaves out. Stable versions
# take -Z only with the variable.
_UNSTABLE = {"RUSTC_BOOTSTRAP": "1"}
_FRONT = (
    *("-Copt-level=0", "-Ccodegen-units=1", "-Cdebuginfo=1", "-Cno-prepopulate-passes"),
    *("-Zmir-opt-level=0", "-Zshare-generics=no", "--crate-type=bin"),
)
# Unless the flags say other: so is a program at all levels the same one.
_SAME_PROGRAM = ("-Coverflow-checks=off", "-Cdebug-assertions=off")
_OURS = frozenset(("opt-level", "codegen-units", "debuginfo", "lto", "incremental", "save-temps"))
_REFUSED = ("-o", "--emit", "--crate-type", "--out-dir", "--test", "--print")
_LEVELS = {"0": "-O0", "1": "-O1", "2": "-O2", "3": "-O3", "s": "-Os", "z": "-Oz"}
_LINKER = """\
#!/bin/sh
# rustc's object file of the crate is left out; the one with counters takes its place.
for argument do
    shift
    case $argument in
        *-cgu.0.rcgu.o) set -- "$@" "$RIDGEPOINT_OBJECT" "$RIDGEPOINT_RUNTIME" -lpthread ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec "$RIDGEPOINT_LINKER" "$@"
"""


@dataclass(frozen=True, slots=True)
class Rustc:
    """A rustc.

    Parameters
    ----------
    path : str
    release : str
        Its version, such as ``1.63.0``.
    llvm : int
        The major version of its LLVM.
    """

    path: str
    release: str
    llvm: int


def find_rustc() -> Rustc:
    """Return the rustc that `RIDGEPOINT_RUSTC` names, or else the first in ``PATH`` that is read.

    Raises
    ------
    MeterUnavailable
        If there is none.
    """
    named = os.environ.get(COMPILER_VARIABLE)
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    paths = [named] if named else [os.path.join(folder, "rustc") for folder in folders]
    found = [compiler for compiler in map(_rustc, paths) if compiler is not None]
    for one in found:
        if one.release.startswith(f"{_READ}."):
            return one
    if found:
        reason = (
            f"{found[0].path} is version {found[0].release}, and Ridgepoint reads only the IR "
            f"of {_READ}"
        )
    else:
        reason = f"{named!r} is none" if named else "there is no rustc in PATH"
    raise MeterUnavailable(
        "cannot count basic operations of Rust",
        reason=reason,
        remedy=(
            f"install rustc {_READ} ('apt-get install rustc' in Debian 12, 'rustup toolchain "
            f"install {_READ}'), name it in {COMPILER_VARIABLE}, or count instructions: "
            "'ridgepoint run --work bops'"
        ),
    )


def _rustc(path: str) -> Rustc | None:
    program = shutil.which(path)
    if program is None:
        return None
    try:
        said = ask([program, "-vV"]).output
    except OSError:
        return None
    release = re.search(r"^release: (\S+)", said, re.MULTILINE)
    llvm = re.search(r"^LLVM version: (\d+)", said, re.MULTILINE)
    if release is None or llvm is None:
        return None
    return Rustc(program, release[1], int(llvm[1]))


def build(
    sources: Sequence[str], flags: Sequence[str], counting: Path, plain: Path | None, say: Say
) -> int:
    """Compile a crate, with counters and without.

    Parameters
    ----------
    sources : sequence of str
        One file, which names the others.
    flags : sequence of str
        For rustc; ``-O2`` and its like are taken for ``-C opt-level``.
    counting : Path
        What counts.
    plain : Path or None
        What does not; None: it is not asked for.
    say : callable
        Is told when another rustc than the usual one is taken.

    Returns
    -------
    int
        The exit status of the compiler that failed, or 0.

    Raises
    ------
    MeterUnavailable
        If there is no rustc or no clang.
    CannotMeasure
        If the flags do not make a program of one file.
    """
    if len(sources) != 1:
        raise CannotMeasure(
            "cannot count basic operations of Rust",
            reason=f"{len(sources)} files are given",
            remedy="give only the crate's root, main.rs: it names the other files",
        )
    rustc, clang = find_rustc(), find_clang()
    if clang.version < rustc.llvm:
        raise MeterUnavailable(
            "cannot count basic operations of Rust",
            reason=f"{rustc.path} writes IR of LLVM {rustc.llvm}, which {clang.path}, "
            f"version {clang.version}, does not read",
            remedy=f"install clang {rustc.llvm} or later",
        )
    usual = shutil.which("rustc")
    if usual != rustc.path:
        say(f"Rust is compiled with {rustc.path}, version {rustc.release}")
    level, kept, linker = _flags(flags)
    with tempfile.TemporaryDirectory(prefix="ridgepoint-") as name:
        making = _Build(rustc, clang, sources[0], level, tuple(kept), linker, Path(name))
        status = making.counting(counting)
        if plain is not None and not status:
            status = making.plain(plain)
    return status


@dataclass(frozen=True, slots=True)
class _Build:
    """How a crate is compiled."""

    rustc: Rustc
    clang: Clang
    source: str
    level: str
    flags: tuple[str, ...]
    linker: str
    folder: Path

    def plain(self, output: Path) -> int:
        """Compile it without counters; its warnings were shown."""
        level = f"-Copt-level={self.level}"
        linker = f"-Clinker={self.linker}"
        own = ["-Awarnings", level, linker, "--crate-type=bin", "-o", str(output)]
        return call([self.rustc.path, *_SAME_PROGRAM, *self.flags, *own, self.source])

    def counting(self, output: Path) -> int:
        """Compile it with counters."""
        text, files = self.folder / "plain.ll", self.folder / "plain.d"
        command = [self.rustc.path, *_SAME_PROGRAM, *self.flags, *_FRONT]
        front = [*command, f"--emit=llvm-ir={text},dep-info={files}", self.source]
        if status := call(front, environment={**os.environ, **_UNSTABLE}):
            return status
        if status := self._compile(text, _dependencies(files)):
            return status
        linker = self.folder / "linker"
        linker.write_text(_LINKER)
        linker.chmod(0o700)
        back = ["-Awarnings", f"-Clinker={linker}", "-Clinker-flavor=gcc", "-o", str(output)]
        variables = {
            "RIDGEPOINT_OBJECT": str(self.folder / "counted.o"),
            "RIDGEPOINT_RUNTIME": str(self.folder / "runtime.o"),
            "RIDGEPOINT_LINKER": self.linker,
        }
        return call(
            [*command, *back, self.source],
            environment={**os.environ, **_UNSTABLE, **variables},
        )

    def _compile(self, text: Path, files: Sequence[str]) -> int:
        """Make an object file of the crate's IR, with counters, and one of what keeps them."""
        counted = self.folder / "counted.ll"
        try:
            result = instrument(
                text.read_text(encoding="utf-8", errors="surrogateescape"),
                source=os.path.abspath(self.source),
                opaque_pointers=has_opaque_pointers(self.rustc.llvm),
                read=read_rust(files),
            )
        except ValueError as error:
            raise CannotMeasure(
                f"cannot count in {self.source!r}",
                reason=f"the output of rustc cannot be parsed ({error})",
                remedy="count instructions: 'ridgepoint run --work bops'",
            ) from error
        counted.write_text(result.text, encoding="utf-8", errors="surrogateescape")
        command = [self.clang.path, _LEVELS[self.level], "-fPIC", "-x", "ir", str(counted), "-c"]
        output = ["-o", str(self.folder / "counted.o"), "-Wno-override-module"]
        status = call([*command, *output])
        return status or self.clang.compile_runtime(self.folder / "runtime.o")


def _flags(flags: Sequence[str]) -> tuple[str, list[str], str]:
    """Return the level of optimisation, flags for all that is compiled, and the linker."""
    level, kept, linker = "0", [], "cc"
    for flag in _joined(flags):
        option, _, value = flag.removeprefix("-C").partition("=")
        if flag.split("=", maxsplit=1)[0] in _REFUSED:
            raise CannotMeasure(
                "cannot count basic operations of Rust",
                reason=f"{flag!r} asks for something other than a single program",
                remedy="remove it from --cflags",
            )
        if flag.startswith("-O"):
            level = flag[2:] or "2"
        elif flag.startswith("-C") and option == "opt-level":
            level = value
        elif flag.startswith("-C") and option == "linker":
            linker = value
        elif flag != "-g" and not (flag.startswith("-C") and option in _OURS):
            kept.append(flag)
    if level not in _LEVELS:
        raise CannotMeasure(
            "cannot count basic operations of Rust",
            reason=f"there is no level of optimisation {level!r}",
            remedy=f"use one of {', '.join(_LEVELS.values())}",
        )
    return level, kept, linker


def _joined(flags: Sequence[str]) -> list[str]:
    """Return flags with ``-C name`` and ``--codegen name`` in one word."""
    joined: list[str] = []
    for flag in flags:
        if joined and joined[-1] in ("-C", "--codegen"):
            joined[-1] = f"-C{flag}"
        else:
            joined.append(re.sub(r"^--codegen=", "-C", flag))
    return joined


def _dependencies(path: Path) -> list[str]:
    """Return the absolute paths of the files of a crate, from a makefile of rustc's."""
    files = []
    for line in path.read_text(errors="surrogateescape").splitlines():
        if line.endswith(":") and not line.startswith(" "):
            name = line[:-1].replace("\\ ", " ")
            files.append(os.path.normpath(os.path.abspath(name)))
    return files
