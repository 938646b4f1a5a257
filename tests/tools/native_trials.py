"""Programs run plain and under the copying engine: whatever they say and how they end is equal.

The trials themselves are in `native_programs`. By hand::

    python tests/tools/native_trials.py signals-itimer thrown     # those whose names begin so
    python tests/tools/native_trials.py --wrapper "valgrind -q" threads
    python tests/tools/native_trials.py --run -- gzip -V          # one command, under the engine
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "programs" / "native"
HEADERS = SOURCES.parents[2] / "native" / "include"
_COMPILERS = {".c": "gcc", ".cpp": "g++", ".S": "gcc", ".f90": "gfortran", ".rs": "rustc"}
_COMPILE_LIMIT_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What a trial needs to be built: a program or a library; "input" is a file of words.

    Parameters
    ----------
    source : str
        In tests/programs/native.
    options : tuple of str
        Of the compiler; ``{folder}`` is where all is built.
    compiler : str or None
        None: by the name of the source.
    line : str or None
        All that is run to build it, where that is another line than C compilers take.
    name : str or None
        Of the file. None: of the source and its options.
    after : tuple of str
        Commands that change the file, which replaces ``{}``.
    """

    source: str
    options: tuple[str, ...] = ()
    compiler: str | None = None
    line: str | None = None
    name: str | None = None
    after: tuple[str, ...] = ()

    def command(self) -> str:
        """Return the compiler's name."""
        if self.line:
            return self.line.split()[0]
        return self.compiler or _COMPILERS.get(Path(self.source).suffix, "true")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One program with its arguments.

    Parameters
    ----------
    name : str
    program : Built or None
        None: the first argument is the program.
    arguments : tuple of str
        ``{folder}`` is where all is built, ``{sources}`` the folder of programs, ``{self}`` the
        program.
    needs : tuple of Built
        What is built before.
    environment : mapping
        Added to the environment.
    lacks : callable
        Says why it cannot run here, or None.
    repeat : int
        How often it runs under the engine: what is rare shall be seen.
    slow : bool
    counted : bool
        Whether anything of it can be counted.
    compares : tuple of str
        Which of ``out`` and ``err`` are the same in every run.
    never : str or None
        Why no engine of this kind can let it see the same; it shall end the same way.
    open_point : str or None
        What the engine cannot do yet, so that it fails.
    limit_s : float
    """

    name: str
    program: Built | None = None
    arguments: tuple[str, ...] = ()
    needs: tuple[Built, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    lacks: Callable[[], str | None] = lambda: None
    repeat: int = 1
    slow: bool = False
    counted: bool = True
    compares: tuple[str, ...] = ("out", "err")
    never: str | None = None
    open_point: str | None = None
    limit_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run said, and how it ended: ``status`` is negative where a signal ended it."""

    status: int | None
    out: bytes
    err: bytes
    wall_s: float = field(compare=False)


class Workshop:
    """A folder of programs, each built once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "empty").mkdir(parents=True, exist_ok=True)
        self._made: dict[Built, Path] = {}

    def build(self, what: Built) -> Path:
        """Return the path of a program or library."""
        if what not in self._made:
            self._made[what] = self._build(what)
        return self._made[what]

    def _build(self, what: Built) -> Path:
        options = [self._placed(option) for option in what.options]
        key = hashlib.sha256(repr(what).encode()).hexdigest()[:6]
        if what.source == "input":
            return self._input()
        path = self.folder / (what.name or f"{Path(what.source).stem}-{key}")
        path.parent.mkdir(exist_ok=True)
        source = str(SOURCES / what.source)
        if what.line:
            line = [self._placed(part).replace("{}", str(path)) for part in what.line.split()]
        elif what.command() == "rustc":
            line = ["rustc", *options, source, "-o", str(path)]
        else:
            behind = [option for option in options if option.startswith(("-l", "-L", "-Wl,"))]
            before = [option for option in options if option not in behind]
            line = [what.command(), *before, f"-I{HEADERS}", source, "-o", str(path), *behind]
        made_in = {**os.environ, "GOCACHE": str(self.folder / "go"), "GOFLAGS": ""}
        subprocess.run(
            line,
            check=True,
            timeout=_COMPILE_LIMIT_S,
            env=made_in,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for command in what.after:
            done = shlex.split(self._placed(command).replace("{}", str(path)))
            subprocess.run(done, check=True, timeout=_COMPILE_LIMIT_S)
        return path

    def _input(self) -> Path:
        """Write a file to compress, sort and search in: 2 MB of words that are the same always."""
        path = self.folder / "input"
        state, lines = 1, []
        for _ in range(40000):
            words = []
            for _ in range(8):
                state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
                words.append(f"w{(state >> 40) % 5000:x}")
            lines.append(" ".join(words))
        path.write_text("\n".join(lines) + "\n")
        return path

    def _placed(self, text: str, program: str = "") -> str:
        places = {
            "{folder}": str(self.folder),
            "{sources}": str(SOURCES),
            "{python}": sys.executable,
            "{self}": program,
        }
        for mark, place in places.items():
            text = text.replace(mark, place)
        return text

    def command(self, trial: Trial) -> list[str]:
        """Return the command of a trial, with all that it needs built."""
        for needed in trial.needs:
            self.build(needed)
        path = "" if trial.program is None else str(self.build(trial.program))
        arguments = [self._placed(part, path) for part in trial.arguments]
        return [path, *arguments] if path else arguments

    def environment(self, trial: Trial) -> dict[str, str]:
        """Return the environment of a trial."""
        own = {name: self._placed(value) for name, value in trial.environment.items()}
        return {**os.environ, "LC_ALL": "C", **own}


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    limit_s: float = 60.0,
    folder: Path | None = None,
) -> Outcome:
    """Run a command to its end; one that does not come to it has no status.

    It writes to files: a child that it leaves behind must not keep us waiting.
    """
    began = time.monotonic()
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=folder,
            start_new_session=True,
        ) as process,
    ):
        try:
            status: int | None = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            status = None
            os.killpg(process.pid, 9)
            process.wait()
        wall_s = time.monotonic() - began
        out.seek(0)
        err.seek(0)
        return Outcome(status=status, out=out.read(), err=err.read(), wall_s=wall_s)


class Engine:
    """The copying engine, as the meter uses it."""

    def __init__(self, *, options: int = 1 | 8, verbose: bool = False) -> None:
        from ridgepoint.meters.native import build

        self._engine = build.native_engine()
        self._options = options | (16 if verbose else 0)

    def run(self, command: Sequence[str], environment: Mapping[str, str], **how: object) -> tuple:
        """Run a command; return its outcome, and what the arena holds at the end."""
        from ridgepoint.meters.native import arena

        copies = self._engine.library.parent / "copies"
        copies.mkdir(exist_ok=True)
        engine = self._engine
        with arena.Arena(
            copies=copies,
            copier=engine.copier,
            library=engine.library,
            options=self._options,
            traffic=_caches() if self._options & arena.OPTION_TRAFFIC else None,
        ) as memory:
            before = environment.get("LD_PRELOAD")
            added = {
                "LD_PRELOAD": f"{engine.library}:{before}" if before else str(engine.library),
                "RIDGEPOINT_ARENA": memory.path,
            }
            outcome = run(command, {**environment, **added}, **how)
            return outcome, memory.read()


def _caches() -> object:
    """Return small caches, and short bursts: threads change over often."""
    from ridgepoint.core.machine import Cache
    from ridgepoint.meters.native.traffic import Wanted
    from ridgepoint.meters.simulated.geometry import simulated

    sizes = ((1, 32 << 10, 8), (2, 1 << 20, 16))
    caches = [
        Cache(level=level, kind="unified", size_bytes=size, line_bytes=64, ways=ways)
        for level, size, ways in sizes
    ]
    return Wanted(geometries=(simulated(caches, cpus=2),), burst_words=20_000)


def difference(plain: Outcome, other: Outcome, trial: Trial) -> str | None:
    """Return what a run did otherwise, or None."""
    if plain.status != other.status:
        ends = [
            "never ends" if one.status is None else f"status {one.status}" for one in (plain, other)
        ]
        tail = other.err[-400:].decode(errors="replace")
        return f"{ends[1]} instead of {ends[0]}; stderr: {tail!r}"
    for what in () if trial.never else trial.compares:
        one, two = getattr(plain, what), getattr(other, what)
        if one != two:
            return f"std{what} is {two[-300:]!r} instead of {one[-300:]!r}"
    return None


def counts(contents: object) -> int:
    """Return the sum of all counters."""
    return sum(int(bank.counts.sum()) for bank in contents.banks)


def selected(trials: Sequence[Trial], names: Sequence[str]) -> list[Trial]:
    """Return the trials whose names begin so."""
    return [one for one in trials if not names or one.name.startswith(tuple(names))]


def _say(text: str) -> None:
    print(text, flush=True)


def _tell(contents: object, *, everything: bool) -> None:
    _say(
        f"   {contents.processes} processes, {len(contents.modules)} modules, "
        f"{len(contents.banks)} banks, {counts(contents):,} blocks, "
        f"{contents.threads_without_bank} threads without bank"
    )
    in_copy = sum(bank.in_copy for bank in contents.banks)
    original = sum(bank.in_original for bank in contents.banks)
    _say(f"   samples: {in_copy} in copies, {original} in originals")
    if everything:
        for event in contents.events:
            _say(f"   {event}")


def main() -> int:
    """Run trials by hand."""
    from native_programs import TRIALS

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--wrapper", help="a command to run programs under, instead of the engine")
    parser.add_argument("--run", action="store_true", help="the rest is a command")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--times", type=int)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--options", type=int, default=1, help="of the arena")
    parser.add_argument("--fast", action="store_true", help="leave out the slow ones")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    engine = None if asked.wrapper else Engine(options=asked.options, verbose=asked.verbose)
    if asked.run:
        outcome, contents = engine.run(asked.names, dict(os.environ))
        sys.stdout.buffer.write(outcome.out)
        sys.stderr.buffer.write(outcome.err)
        _tell(contents, everything=asked.verbose)
        return 0 if outcome.status == 0 else 1
    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        shop = Workshop(asked.folder or Path(scratch))
        shop.folder.mkdir(exist_ok=True)
        for trial in selected(TRIALS, asked.names):
            if asked.fast and trial.slow:
                continue
            if reason := lacking(trial):
                _say(f"-  {trial.name}: {reason}")
                continue
            command, environment = shop.command(trial), shop.environment(trial)
            plain = run(command, environment, limit_s=trial.limit_s)
            for _ in range(asked.times or trial.repeat):
                if asked.wrapper:
                    wrapped = [*shlex.split(asked.wrapper), *command]
                    other, contents = run(wrapped, environment, limit_s=trial.limit_s), None
                else:
                    other, contents = engine.run(command, environment, limit_s=trial.limit_s)
                wrong = difference(plain, other, trial)
                if wrong is None and contents and trial.counted and not counts(contents):
                    wrong = "nothing was counted"
                if wrong:
                    failed.append(trial.name)
                _say(
                    f"{'!!' if wrong else 'ok'} {trial.name} ({plain.status}) "
                    f"{plain.wall_s:.2f} s, {other.wall_s:.2f} s{': ' + wrong if wrong else ''}"
                )
                if contents and asked.verbose:
                    _tell(contents, everything=True)
    _say(f"{len(failed)} failed: {' '.join(failed)}")
    return 1 if failed else 0


@cache
def _is_installed(command: str) -> bool:
    """Return whether a compiler is there; a stand-in for rustc may be there without one."""
    if shutil.which(command) is None:
        return False
    asked = [command, "--version"]
    return command != "rustc" or not subprocess.run(asked, capture_output=True).returncode


def _missing_library(built: Built) -> str | None:
    """Return the name of a library of the system's that is not there to link with, or None."""
    for option in built.options:
        name = f"lib{option.removeprefix('-l')}.so"
        if option.startswith("-l"):
            asked = [built.command(), f"-print-file-name={name}"]
            if subprocess.run(asked, capture_output=True, text=True).stdout.strip() == name:
                return name
    return None


def lacking(trial: Trial) -> str | None:
    """Return why a trial cannot run here, or None."""
    for built in (trial.program, *trial.needs):
        if built is not None and not _is_installed(built.command()):
            return f"{built.command()} is not installed"
    if trial.program is not None and (library := _missing_library(trial.program)) is not None:
        return f"there is no {library} to link with"
    if trial.program is None and shutil.which(trial.arguments[0]) is None:
        return f"{trial.arguments[0]} is not installed"
    return trial.lacks()


def variant(trial: Trial, name: str, **changes: object) -> Trial:
    """Return a trial of another name that differs in something."""
    return replace(trial, name=name, **changes)


if __name__ == "__main__":
    sys.exit(main())
