"""Take a compiler's command line apart: what is compiled, with what, into what."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_VALUED = frozenset(
    (
        "-o",
        "-I",
        "-D",
        "-U",
        "-L",
        "-l",
        "-x",
        "-include",
        "-imacros",
        "-isystem",
        "-iquote",
        "-idirafter",
        "-iprefix",
        "-iwithprefix",
        "-iwithprefixbefore",
        "-isysroot",
        "-MF",
        "-MT",
        "-MQ",
        "-Xclang",
        "-Xlinker",
        "-Xpreprocessor",
        "-Xassembler",
        "-Xanalyzer",
        "-T",
        "-u",
        "-z",
        "-e",
        "-h",
        "-rpath",
        "-soname",
        "-arch",
        "-target",
        "--target",
        "--sysroot",
        "--param",
        "-mllvm",
        "-B",
        "-G",
        "-aux-info",
        "-resource-dir",
        "-working-directory",
        "-ivfsoverlay",
        "-gcc-toolchain",
        "--config",
        "-current_version",
    )
)
_QUESTIONS = frozenset(
    (
        "-E",
        "-M",
        "-MM",
        "-fsyntax-only",
        "--version",
        "-###",
        "--help",
        "-dumpmachine",
        "-dumpversion",
        "--analyze",
    )
)
_SOURCES = {
    ".c": "c",
    **dict.fromkeys((".cc", ".cp", ".cxx", ".cpp", ".CPP", ".c++", ".C"), "c++"),
    ".i": "cpp-output",
    ".ii": "c++-cpp-output",
}
_ASSEMBLY = frozenset((".s", ".S", ".sx"))
_COUNTED = frozenset(("c", "c++", "cpp-output", "c++-cpp-output"))


@dataclass(frozen=True, slots=True)
class Input:
    """A file of a command line that may be compiled.

    Parameters
    ----------
    position : int
        Of its name among the arguments.
    path : str
    language : str or None
        As ``-x`` names it; None: it is for the linker alone.
    """

    position: int
    path: str
    language: str | None

    @property
    def counted(self) -> bool:
        """Whether it is C or C++."""
        return self.language in _COUNTED

    @property
    def assembly(self) -> bool:
        """Whether it is a file of assembly, which counts nothing."""
        return self.language in ("assembler", "assembler-with-cpp")


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A compiler's command line.

    Parameters
    ----------
    arguments : tuple of str
        All, those of files of arguments (``@file``) in their place.
    inputs : tuple of Input
    output : str or None
    flags : tuple of str
        What is left for compiling one file: no inputs, no ``-o``, ``-c``, ``-S``, ``-x``.
    """

    arguments: tuple[str, ...]
    inputs: tuple[Input, ...]
    output: str | None
    flags: tuple[str, ...]

    def has(self, *options: str) -> bool:
        """Return whether one of some options is there."""
        return any(option in self.arguments for option in options)

    @property
    def compiles(self) -> bool:
        """Whether something is compiled, rather than asked or preprocessed."""
        asks = self.has(*_QUESTIONS) or any(a.startswith("-print-") for a in self.arguments)
        return not asks and any(input_file.counted for input_file in self.inputs)

    @property
    def links(self) -> bool:
        """Whether a program or a shared library is made."""
        stops = (*_QUESTIONS, "-c", "-S", "-r", "-emit-llvm")
        asks = any(a.startswith("-print-") for a in self.arguments)
        return bool(self.inputs) and not self.has(*stops) and not asks

    @property
    def level(self) -> str:
        """The last option of optimisation; ``-O0``: there is none."""
        levels = [flag for flag in self.flags if flag.startswith("-O")]
        return levels[-1] if levels else "-O0"

    @property
    def for_linking(self) -> tuple[str, ...]:
        """The arguments without ``-x``, since what is linked then is object files."""
        kept, skip = [], False
        for argument in self.arguments:
            if not skip and not argument.startswith("-x"):
                kept.append(argument)
            skip = not skip and argument == "-x"
        return tuple(kept)


def parse(arguments: Sequence[str]) -> CommandLine:
    """Return a command line, taken apart.

    Raises
    ------
    OSError
        If a file of arguments cannot be read.
    """
    expanded = _expand(arguments)
    inputs: list[Input] = []
    flags: list[str] = []
    output, forced = None, None
    index = 0
    while index < len(expanded):
        argument = expanded[index]
        takes = argument in _VALUED and index + 1 < len(expanded)
        value = expanded[index + 1] if takes else None
        if argument == "-o":
            output = value
        elif argument.startswith("-o") and not argument.startswith("-object"):
            output = argument[2:]
        elif argument.startswith("-x"):
            named = value if argument == "-x" else argument[2:]
            forced = None if named == "none" else named
        elif argument == "-" or not argument.startswith("-"):
            inputs.append(Input(index, argument, forced or _language(argument)))
        elif argument not in ("-c", "-S") and not argument.startswith(("-flto", "-save-temps")):
            flags += [argument] if value is None else [argument, value]
        index += 2 if takes else 1
    return CommandLine(tuple(expanded), tuple(inputs), output, tuple(flags))


def _expand(arguments: Sequence[str]) -> list[str]:
    expanded: list[str] = []
    for argument in arguments:
        if argument.startswith("@") and Path(argument[1:]).is_file():
            expanded += _expand(shlex.split(Path(argument[1:]).read_text()))
        else:
            expanded.append(argument)
    return expanded


def _language(path: str) -> str | None:
    suffix = Path(path).suffix
    if suffix in _ASSEMBLY:
        return "assembler" if suffix == ".s" else "assembler-with-cpp"
    return _SOURCES.get(suffix)
