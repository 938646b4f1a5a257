"""Markdown: headings, lists and tables of texts, none of which it acts upon."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ridgepoint.show.words import one_line, printable

# What Markdown or HTML would act upon, within a line.
_SPECIAL = re.compile(r"[\\`*_\[\]<>|~&@#$]")
# What Markdown would act upon at the beginning of a line: a list, a heading, a rule.
_BULLET, _NUMBERED = re.compile(r"^([-+=])"), re.compile(r"^(\d+)([.)])(?=\s)")
_ENTITIES = {"@": "&#64;", "&": "&amp;", "#": "&#35;"}
_IN_WORD = re.compile(r"(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])")
_TICKS = re.compile(r"`+")


def escaped(text: str) -> str:
    r"""Return text that Markdown shows as it is, on one line.

    Mentions of users and issues, which GitHub looks for in plain text, are broken too. An
    underscore within a word is none of emphasis, and stays readable.

    Examples
    --------
    >>> print(escaped("a|b <b> snake_case @me"))
    a\|b \<b\> snake_case &#64;me
    >>> print(escaped("- 1\n- 2"))
    \- 1 - 2
    """
    line = printable(one_line(text))
    inside = {match.start() for match in _IN_WORD.finditer(line)}
    shown = _SPECIAL.sub(
        lambda match: (
            match[0] if match.start() in inside else _ENTITIES.get(match[0], f"\\{match[0]}")
        ),
        line,
    )
    return _NUMBERED.sub(r"\1\\\2", _BULLET.sub(r"\\\1", shown))


def code(text: str) -> str:
    """Return text as a code span: between more backticks than it has itself.

    Examples
    --------
    >>> print(code("a `b`"))
    `` a `b` ``
    """
    line = printable(one_line(text)) or " "
    longest = max(map(len, _TICKS.findall(line)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest or line != line.strip() else ""
    return f"{fence}{space}{line}{space}{fence}"


def block(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines of a shell as a block of code."""
    shown = [printable(one_line(line)) for line in lines]
    longest = max((len(ticks) for line in shown for ticks in _TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}sh"
    yield from shown
    yield fence


def sentence(text: str) -> str:
    """Return a text as an escaped sentence with a full stop."""
    shown = escaped(f"{text[:1].upper()}{text[1:]}")
    return shown if shown.endswith((".", "!", "?", ":")) else f"{shown}."


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()
) -> Iterator[str]:
    """Yield a table of texts, which are escaped; the columns named in `right` hold numbers."""
    yield f"| {' | '.join(map(escaped, columns))} |"
    yield f"|{'|'.join('---:' if column in right else '---' for column in columns)}|"
    for row in rows:
        yield f"| {' | '.join(map(escaped, row))} |"
