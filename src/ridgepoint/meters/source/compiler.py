"""Compile as clang does, with counters: in place of the compiler, or for one program."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.host.process import call
from ridgepoint.meters.source.clang import Clang, find_clang, has_opaque_pointers
from ridgepoint.meters.source.command_line import CommandLine, Input, parse
from ridgepoint.meters.source.instrument import instrument

# Counting reads clang's names, so that it sees what the source says; and no pass may run before.
# At every level what clang writes at -O2: it has the bodies of what libraries also define, and says
# more of what the optimiser may do, and is otherwise the same as at -O0.
_FRONT = (
    *("-O2", "-U__OPTIMIZE__", "-Xclang", "-disable-llvm-passes"),
    *("-fno-discard-value-names", "-S", "-emit-llvm", "-Wno-unused-command-line-argument"),
)
Say = Callable[[str], None]


def compile_as(arguments: Sequence[str], *, cxx: bool, say: Say) -> int:
    """Do what a compiler does with these arguments, with counters in what it makes.

    Parameters
    ----------
    arguments : sequence of str
        Without the compiler's name.
    cxx : bool
        Whether the compiler is one of C++.
    say : callable
        Is told what will not be counted.

    Returns
    -------
    int
        The compiler's exit status.

    Raises
    ------
    MeterUnavailable
        If there is no clang.
    CannotMeasure
        If clang's IR is not understood.
    """
    clang = find_clang()
    line = parse(arguments)
    for input_file in line.inputs:
        if input_file.assembly:
            say(f"{input_file.path} is assembly: its operations are not counted")
    if not line.compiles and not line.links:
        return call([*clang.driver(cxx=cxx), *line.arguments])
    with tempfile.TemporaryDirectory(prefix="ridgepoint-") as name:
        return _Build(clang, line, cxx, Path(name)).run()


def build(
    sources: Sequence[str], flags: Sequence[str], counting: Path, plain: Path | None, say: Say
) -> int:
    """Compile a program of C and C++, with counters and, if it is asked for, without.

    Raises
    ------
    MeterUnavailable
        If there is no clang.
    CannotMeasure
        If clang's IR is not understood.
    """
    clang = find_clang()
    cxx = any("c++" in (input_file.language or "") for input_file in parse(sources).inputs)
    status = compile_as([*sources, *flags, "-o", str(counting)], cxx=cxx, say=say)
    if plain is not None and not status:
        # Its warnings were shown already.
        status = call([*clang.driver(cxx=cxx), *sources, *flags, "-w", "-o", str(plain)])
    return status


@dataclass(frozen=True, slots=True)
class _Build:
    """One call of the compiler."""

    clang: Clang
    line: CommandLine
    cxx: bool
    folder: Path

    def run(self) -> int:
        """Compile, and link where that is asked for; return the first status that is not 0."""
        if not self.line.links:
            stop = "-S" if self.line.has("-S") else "-c"
            for input_file in self.line.inputs:
                status = self._one(input_file, self._output(input_file, stop), stop)
                if status:
                    return status
            return 0
        made: dict[int, str] = {}
        for number, input_file in enumerate(self.line.inputs):
            if input_file.language is not None:
                made[input_file.position] = str(self.folder / f"{number}.o")
                if status := self._one(input_file, made[input_file.position], "-c"):
                    return status
        arguments = list(self.line.arguments)
        for position, path in made.items():
            arguments[position] = path
        return self._link(parse(arguments))

    def _link(self, line: CommandLine) -> int:
        runtime = self.folder / "runtime.o"
        machine = [
            flag for flag in line.flags if flag.startswith(("-m32", "--target", "--sysroot"))
        ]
        if status := self.clang.compile_runtime(runtime, machine):
            return status
        driver = self.clang.driver(cxx=self.cxx)
        return call([*driver, *line.for_linking, str(runtime), "-pthread"])

    def _output(self, input_file: Input, stop: str) -> str:
        if self.line.output is not None:
            return self.line.output
        return f"{Path(input_file.path).stem}.{'s' if stop == '-S' else 'o'}"

    def _one(self, input_file: Input, output: str, stop: str) -> int:
        """Compile one file; one that is not C or C++ as it is."""
        driver = self.clang.driver(cxx=self.cxx)
        if not input_file.counted:
            if input_file.language is None:
                return 0
            return call(
                [
                    *driver,
                    *self.line.flags,
                    stop,
                    "-x",
                    input_file.language,
                    input_file.path,
                    "-o",
                    output,
                ]
            )
        plain, counted = self.folder / "plain.ll", self.folder / "counted.ll"
        if status := call([*driver, *self._front(input_file, output), "-o", str(plain)]):
            return status
        optimize = self.line.level != "-O0"
        try:
            result = instrument(
                plain.read_text(encoding="utf-8", errors="surrogateescape"),
                source=os.path.abspath(input_file.path),
                opaque_pointers=has_opaque_pointers(self.clang.version),
                optimize=optimize,
            )
        except ValueError as error:
            raise CannotMeasure(
                f"cannot count in {input_file.path!r}",
                reason=f"the output of clang cannot be parsed ({error})",
                remedy="compile this file with clang itself: its operations are then not counted",
            ) from error
        counted.write_text(result.text, encoding="utf-8", errors="surrogateescape")
        back = ["-x", "ir", str(counted), stop, "-o", output, "-Wno-unused-command-line-argument"]
        if not optimize:
            back.append("-O2")  # what is not to be optimised says so itself
        return call([*driver, *_back(self.line.flags), *back, "-Wno-override-module"])

    def _front(self, input_file: Input, output: str) -> list[str]:
        """Return the arguments that make the unoptimised IR of a file."""
        assert input_file.language is not None
        flags = ["-gline-tables-only"]
        if self.line.level == "-O0":
            flags.append("-fno-omit-frame-pointer")  # as it does
        if self.line.level == "-Ofast":
            flags.append("-ffast-math")
        flags += self.line.flags
        if self.line.has("-MD", "-MMD"):
            if not self.line.has("-MF"):
                flags += ["-MF", str(Path(output).with_suffix(".d"))]
            if not self.line.has("-MT", "-MQ"):
                flags += ["-MT", output]
        # Checked functions of the C library want a compiler that optimises, and complain else.
        return [*flags, "-U_FORTIFY_SOURCE", *_FRONT, "-x", input_file.language, input_file.path]


def _back(flags: Sequence[str]) -> list[str]:
    """Return the flags that matter once a file is IR: not what the preprocessor wants."""
    kept: list[str] = []
    index = 0
    while index < len(flags):
        flag = flags[index]
        takes = flag in ("-include", "-imacros", "-MF", "-MT", "-MQ", "-Xpreprocessor")
        if not takes and not flag.startswith(("-M", "-std=", "-Werror", "-Wp,")):
            kept.append(flag)
        index += 2 if takes else 1
    return kept
