"""The command line described for other readers than its own ``--help``: man pages and Markdown.

    python tools/manual.py FOLDER VERSION    # write a man page for every command

Both are made from what click knows, when a wheel or the documentation is built; nothing is kept.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from ridgepoint.cli.examples import COMMANDS, SUITES, Example
from ridgepoint.cli.main import group

_ENVIRONMENT = (
    ("RIDGEPOINT_ARCHIVE", "The archive, in place of the file in the user's data folder."),
    ("RIDGEPOINT_CACHE", "The folder for what is compiled once, in place of the user's cache."),
)
_EXIT = (
    ("0", "The command did what it was asked; run: the program ended with 0."),
    ("1", "A check failed: compare --fail-if, machine --check, suite --validate, ..."),
    ("2", "The command line is wrong, or the command cannot do it; one line says why."),
    ("130", "Ctrl-C stopped it. What was kept stays kept."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A command, as its manual has it.

    Parameters
    ----------
    path : str
        ``ridgepoint run``.
    summary : str
    usage : str
        What follows the path.
    paragraphs : tuple of str
    options : tuple of (str, str)
        Flags with their value, and what they do.
    commands : tuple of (str, str)
        For a group: names and summaries.
    examples : tuple of Example
    """

    path: str
    summary: str
    usage: str
    paragraphs: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    commands: tuple[tuple[str, str], ...]
    examples: tuple[Example, ...]


def described() -> Iterator[Described]:
    """Give every command, each group before its own."""
    context = click.Context(group, info_name="ridgepoint", **group.context_settings)
    yield from _walk(group, context, "")


def _walk(command: click.Command, context: click.Context, summary: str) -> Iterator[Described]:
    within = command.list_commands(context) if isinstance(command, click.Group) else []
    summaries: dict[str, str] = getattr(command, "summaries", {})
    paragraphs = inspect.cleandoc(command.help or "").replace("\b\n", "").split("\n\n")
    records = [
        record
        for parameter in command.params
        if isinstance(parameter, click.Option)
        and (record := parameter.get_help_record(context)) is not None
    ]
    name = context.command_path.removeprefix("ridgepoint").strip()
    yield Described(
        path=context.command_path,
        summary=summary or paragraphs[0],
        usage=" ".join(command.collect_usage_pieces(context)),
        paragraphs=tuple(" ".join(part.split()) for part in paragraphs),
        options=tuple((flags, " ".join(what.split())) for flags, what in records),
        commands=tuple((each, summaries[each]) for each in within),
        examples=_examples(name),
    )
    for each in within:
        assert isinstance(command, click.Group)
        found = command.get_command(context, each)
        assert found is not None
        own = click.Context(found, info_name=each, parent=context)
        yield from _walk(found, own, summaries[each])


def _examples(name: str) -> tuple[Example, ...]:
    first, _, second = name.partition(" ")
    return SUITES.get(second, ()) if second else COMMANDS.get(first, ())


# Man pages.


def page_name(path: str) -> str:
    """Return the name of a command's page: ``ridgepoint-run.1``."""
    return f"{path.replace(' ', '-')}.1"


def man_page(command: Described, version: str) -> str:
    """Return a command's page, in the macros of man(7)."""
    title = page_name(command.path).removesuffix(".1")
    summary = command.summary.rstrip(".")
    lines = [
        f'.TH "{title.upper()}" 1 "" "Ridgepoint {version}" "Ridgepoint"',
        ".SH NAME",
        rf"{_roff(title)} \- {_roff(summary[:1].lower() + summary[1:])}",
        ".SH SYNOPSIS",
        f".B {_roff(command.path)}",
        _roff(command.usage),
        ".SH DESCRIPTION",
    ]
    for part in command.paragraphs:
        lines += [_roff(part), ".PP"]
    lines.pop()
    lines += _terms("COMMANDS", command.commands)
    lines += _terms("OPTIONS", command.options)
    if command.examples:
        lines.append(".SH EXAMPLES")
        for what, *typed in command.examples:
            lines += [_roff(f"{what}:"), ".PP", ".nf", ".RS 4", *map(_roff, typed), ".RE", ".fi"]
            lines.append(".PP")
    lines += _terms("ENVIRONMENT", _ENVIRONMENT)
    lines += _terms("EXIT STATUS", _EXIT)
    lines += [".SH SEE ALSO", ", ".join(f".BR {name} (1)" for name in _see_also(command))]
    lines[-1] = lines[-1].replace(", .BR", ",\n.BR")
    return "\n".join(lines) + "\n"


def _see_also(command: Described) -> list[str]:
    within = [f"{command.path} {name}" for name, _ in command.commands]
    above = command.path.rpartition(" ")[0]
    return [
        _roff(page_name(path).removesuffix(".1")) for path in ([above] if above else []) + within
    ]


def _terms(heading: str, terms: tuple[tuple[str, str], ...]) -> list[str]:
    if not terms:
        return []
    lines = [f".SH {heading}"]
    for term, what in terms:
        lines += [".TP", f".B {_roff(term)}", _roff(what)]
    return lines


def _roff(text: str) -> str:
    """Return text of which nothing is a macro or an escape."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace('"', r"\(dq")
    escaped = escaped.replace("'", r"\(aq").replace("~", r"\(ti").replace("^", r"\(ha")
    return re.sub(r"^(\.)", r"\\&\1", escaped)


# Markdown.


def markdown() -> str:
    """Return a page of all commands, with what each is for, its options and examples."""
    lines = ["# Commands", "", "As `ridgepoint COMMAND --help` prints them.", ""]
    for command in described():
        if command.path == "ridgepoint":
            continue
        lines += [f"## {command.path}", "", *_fence([f"{command.path} {command.usage}"])]
        for part in command.paragraphs:
            lines += [_md(part), ""]
        lines += _table(("command", "what it does"), command.commands)
        lines += _table(("option", "what it does"), command.options)
        for what, *typed in command.examples:
            lines += [f"{_md(what)}:", "", *_fence(typed)]
    return "\n".join(lines)


def _fence(lines: list[str]) -> list[str]:
    return ["```text", *lines, "```", ""]


def _table(heading: tuple[str, str], rows: tuple[tuple[str, str], ...]) -> list[str]:
    if not rows:
        return []
    cells = [f"| `{left.replace('|', chr(92) + '|')}` | {_md(right)} |" for left, right in rows]
    return [f"| {heading[0]} | {heading[1]} |", "|---|---|", *cells, ""]


def _md(text: str) -> str:
    """Return text of which nothing is markup."""
    return re.sub(r"([\\`*_<>\[\]|$~^{}])", r"\\\1", text)


def main() -> None:
    """Write the man pages of a version to the folder that the command line names."""
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        sys.exit("usage: python tools/manual.py FOLDER VERSION")
    folder, version = Path(sys.argv[1]), sys.argv[2]
    folder.mkdir(parents=True, exist_ok=True)
    for command in described():
        page = man_page(command, version)
        (folder / page_name(command.path)).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
