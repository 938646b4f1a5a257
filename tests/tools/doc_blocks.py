"""What README.md and docs/*.md tell a reader to type: blocks of code, and the commands in them.

By hand, to list what the tests of the documentation do not run, and why::

    python tests/tools/doc_blocks.py

A block is fenced, or indented by four blanks. A command is a line of a block with or without the
prompt ``$ ``; it ends before a comment, or before two blanks and a gloss. The comment
``<!-- not run: REASON -->`` before a block says that it cannot be executed in a test.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))

_FENCE = re.compile(r"^(?P<fence>```+)(?P<language>[\w-]*)\s*$")
_NOT_RUN = re.compile(r"^<!-- not run: (?P<reason>.+?) -->$")
_INLINE = re.compile(r"(?<!`)`(ridgepoint [^`]+)`(?!`)")
_LAUNCHERS = ("mpirun", "srun", "time", "env")
_ASSIGNED = re.compile(r"[A-Z_]+=")
_OPERATORS = {"|", ">", ">>", "<", "&&", "||", ";", "&"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block of code.

    Parameters
    ----------
    page : str
        The file, below the repository's folder.
    line : int
        Where its first line of code is, from 1.
    language : str
        What its fence says; empty if it says nothing, or if the block is indented.
    text : str
    not_run : str
        Why no test can execute it; empty if one does.
    """

    page: str
    line: int
    language: str
    text: str
    not_run: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One call of ridgepoint.

    Parameters
    ----------
    page, line
        Where it stands.
    words : tuple of str
        Its arguments, without the program's name.
    shell : str
        The whole line, with what starts ridgepoint and where its output goes.
    output : tuple of str
        What the page says that it prints: lines, of which ``...`` stands for any number.
    not_run : str
    prose : bool
        Whether it stands within a sentence, where words in capitals stand for others.
    """

    page: str
    line: int
    words: tuple[str, ...]
    shell: str
    output: tuple[str, ...] = ()
    not_run: str = ""
    prose: bool = False

    @property
    def launched(self) -> bool:
        """Whether another program starts it."""
        return self.shell.split()[0] in _LAUNCHERS

    @property
    def place(self) -> str:
        """File and line, as editors take them."""
        return f"{self.page}:{self.line}"


def blocks(path: Path) -> list[Block]:
    """Return the blocks of code of a page, in its order."""
    page = path.relative_to(ROOT).as_posix()
    lines = path.read_text(encoding="utf-8").splitlines()
    found, at, reason = [], 0, ""
    while at < len(lines):
        line = lines[at]
        if marked := _NOT_RUN.match(line):
            reason = marked["reason"]
        elif fence := _FENCE.match(line):
            end = next(n for n in range(at + 1, len(lines)) if lines[n].startswith(fence["fence"]))
            text = "\n".join(lines[at + 1 : end]) + "\n"
            found.append(
                Block(
                    page=page,
                    line=at + 2,
                    language=fence["language"],
                    text=text,
                    not_run=reason,
                )
            )
            at, reason = end, ""
        elif line.startswith("    ") and not lines[at - 1].strip():
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            text = "\n".join(code[4:] for code in lines[at:end]).rstrip() + "\n"
            found.append(Block(page=page, line=at + 1, language="", text=text, not_run=reason))
            at, reason = end - 1, ""
        elif line.strip():
            reason = ""
        at += 1
    return found


def commands(path: Path) -> list[Command]:
    """Return every call of ridgepoint in the blocks of a page."""
    return [
        Command(
            page=block.page,
            line=block.line + offset,
            words=tuple(words),
            shell=shell,
            output=tuple(printed),
            not_run=block.not_run,
        )
        for block in blocks(path)
        if block.language in ("", "console", "sh", "yaml")
        for offset, shell, printed in _lines_of_shell(block)
        for words in _calls(shell)
    ]


def help_commands() -> dict[str, list[Command]]:
    """Return the examples below the help of each command, by the command's name."""
    from ridgepoint.cli.examples import COMMANDS, SUITES

    return {
        name: [
            Command(page=f"{name} --help", line=number, words=tuple(words), shell=shell)
            for number, (_, *typed) in enumerate(examples, start=1)
            for _, shell, _ in _lines_of_shell(
                Block(page=name, line=1, language="", text="\n".join(typed) + "\n")
            )
            for words in _calls(shell)
        ]
        for name, examples in (
            *COMMANDS.items(),
            *((f"suite {suite}", examples) for suite, examples in SUITES.items()),
        )
    }


def inline_commands(path: Path) -> list[Command]:
    """Return every call of ridgepoint that a sentence of a page quotes."""
    page = path.relative_to(ROOT).as_posix()
    return [
        Command(page=page, line=number, words=tuple(words), shell=quoted[1], prose=True)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        for quoted in _INLINE.finditer(line)
        for words in _calls(quoted[1].replace("\\|", "|"))
    ]


def _lines_of_shell(block: Block) -> list[tuple[int, str, list[str]]]:
    """Return each line that a shell is given, those that continue it included.

    With its number, and the lines that it printed.
    """
    prompted = re.search(r"^\s*\$ ", block.text, flags=re.MULTILINE) is not None
    joined, begins = "", 0
    found: list[tuple[int, str, list[str]]] = []
    for offset, line in enumerate(block.text.splitlines()):
        if not joined:
            stripped = line.strip().removeprefix("run: ")
            if prompted and not stripped.startswith("$ "):
                if found:
                    found[-1][2].append(line)
                continue
            joined, begins = stripped.removeprefix("$ "), offset
        else:
            joined += line.strip()
        if joined.endswith("\\"):
            joined = joined.removesuffix("\\")
            continue
        found.append((begins, without_gloss(joined), []))
        joined = ""
    return found


def without_gloss(line: str) -> str:
    """Return a line of shell without the comment, or the two blanks and the gloss, at its end."""
    quote = ""
    for at, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == " " and line[at + 1 : at + 2] in (" ", "#"):
            return line[:at]
    return line


def _calls(shell: str) -> Iterator[list[str]]:
    """Give the arguments of each call of ridgepoint in a line of shell."""
    for nested in re.findall(r"\$\((ridgepoint [^)]*)\)", shell):
        yield shlex.split(nested)[1:]
    if "ridgepoint" not in shell:
        return
    lexer = shlex.shlex(shell, posix=True, punctuation_chars="|>&;")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:  # what a program printed
        return
    part: list[str] = []
    for word in [*words, ";"]:
        if word not in _OPERATORS:
            part.append(word)
            continue
        call = _call_of(part)
        if call is not None:
            yield call
        part = []


def _call_of(words: list[str]) -> list[str] | None:
    if "ridgepoint" not in words:
        return None
    at = words.index("ridgepoint")
    before = [word for word in words[:at] if not _ASSIGNED.match(word)]
    return words[at + 1 :] if not before or before[0] in _LAUNCHERS else None


_ELSEWHERE: tuple[tuple[Callable[[Command], bool], str], ...] = (
    (
        lambda command: command.page.startswith("docs/tutorial_") and command.words[0] == "run",
        "was run: its record is in tests/data/tutorials.sqlite3, or in tests/snapshots/kept",
    ),
    (
        lambda command: command.launched or "--mpi" in command.words,
        "starts ranks of MPI: tests/hardware/test_cluster_*.py do",
    ),
    (
        lambda command: bool(re.search(r"--device gpu|gpu[.]|--meter ncu", command.shell)),
        "needs a GPU: tests/cli/test_gpu.py uses one that is scripted",
    ),
    (
        lambda command: (
            command.words[:1] == ("suite",) and not {"--list", "--published"} & set(command.words)
        ),
        "measures for minutes: tests/cli/test_suite*.py and others do, on less",
    ),
    (
        lambda command: command.words[:1] == ("bops",),
        "compiles with clang: tests/hardware/test_bops*.py do",
    ),
    (
        lambda command: bool({"--explain", "--selftest"} & set(command.words)),
        "times this machine: tests/hardware do",
    ),
)


def why_not_run(command: Command) -> str:
    """Return why the tests of the documentation do not run a command; empty if they do."""
    reasons = (reason for applies, reason in _ELSEWHERE if applies(command))
    return command.not_run or next(reasons, "")


def main() -> None:
    """Print which blocks and commands these tests do not execute, and why."""
    for path in PAGES:
        for block in blocks(path):
            if block.not_run:
                print(f"{block.page}:{block.line}: {block.not_run}")
        for command in commands(path):
            if not command.not_run and (reason := why_not_run(command)):
                print(f"{command.place}: ridgepoint {shlex.join(command.words)}: {reason}")


if __name__ == "__main__":
    main()
