"""The shapes that tables share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ridgepoint.core.caution import Caution
from ridgepoint.core.presenting import first_of
from ridgepoint.show.words import printable
from ridgepoint.suites.study import Study

Row = tuple[str, str]
"""What was found, after its name."""

_FIRST, _HANGING = "  ", "    "
_MOST_FILES = 3
_LONGEST_FILE = 28


def plain_table(*columns: str, right: Sequence[str] = ()) -> Table:
    """Return an empty table without lines; the columns named in `right` hold numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return table


def titled(title: str, table: RenderableType) -> tuple[RenderableType, RenderableType]:
    """Return a table below its title, one of several in a report."""
    return Padding(Text(title, style="bold"), (1, 0, 0, 0)), table


def sections(*parts: RenderableType | None) -> RenderableType:
    """Return parts one below the other with a line between; None: a part that there is not."""
    first, *others = (part for part in parts if part is not None)
    # No padding, which fills every line up with blanks.
    return Group(first, *(line for part in others for line in ("", part)))


def grid(rows: Iterable[Row]) -> Table:
    """Return what was found, each with its name."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True, min_width=len("   instructions"))
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, Text(value))
    return table


def caution_list(
    cautions: Sequence[Caution], files: Iterable[str] = (), *, minor: str | None = None
) -> RenderableType:
    """Return cautions as a list: what was seen, and what to do; what is said twice, once.

    Parameters
    ----------
    cautions : sequence of Caution
    files : iterable of str
        Paths that are written without their folders where they were seen, and of which a long
        name or list is cut. What to do names its files in full.
    minor : str or None
        A line about those that are not told.
    """
    short = _shortener(files)
    rows: list[RenderableType] = [Text("cautions", style="bold")]
    for caution in dict.fromkeys(cautions):
        text = Text(f"{caution.code}: ", style="bold")
        text.append(printable(f"{short(caution.seen)}; {caution.remedy}"), style="not bold")
        rows.append(_Hanging(text))
    if minor is not None:
        rows.append(_Hanging(Text(minor)))
    return Group(*rows)


def not_measured(study: Study) -> list[Text]:
    """Return a line for each case of a suite that could not be measured."""
    return [Text(printable(f"{name}: {why}")) for name, why in study.unmeasured.items()]


def codes_in_short(cautions: Iterable[Caution]) -> str:
    """Return which kinds of cautions there are, and how many of each that has several."""
    counts = Counter(caution.code for caution in cautions)
    return ", ".join(f"{code} ({n})" if n > 1 else code for code, n in counts.items())


@dataclass(frozen=True, slots=True)
class _Hanging:
    """A paragraph whose first line stands out to the left."""

    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        inner = max(options.max_width - len(_HANGING), 1)
        for number, line in enumerate(self.text.wrap(console, inner)):
            yield Text.assemble(_HANGING if number else _FIRST, line)


def _shortener(files: Iterable[str]) -> Callable[[str], str]:
    """Return what writes the paths of files in a text, and lists of them, short."""
    paths = sorted(set(files), key=lambda path: (-len(path), path))
    if not paths:
        return lambda text: text
    path_of_file = f"(?:{'|'.join(map(re.escape, paths))})"
    return partial(re.compile(f"{path_of_file}(?:, {path_of_file})*").sub, _short_list)


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_FILE else f"{name[: _LONGEST_FILE - 1]}…"


def _short_list(match: re.Match[str]) -> str:
    """Return a list of paths by their names; of many the first, and how many more."""
    names = dict.fromkeys(_cut(PurePath(path).name) for path in match[0].split(", "))
    return first_of(names, _MOST_FILES)


def one_of_each_kind(cautions: Sequence[Caution]) -> list[Caution]:
    """Return one caution of each kind, and of how many cases it is."""
    kinds: dict[str, list[Caution]] = {}
    for caution in cautions:
        kinds.setdefault(caution.code, []).append(caution)
    return [
        alike[0]
        if len(alike) == 1
        else replace(alike[0], seen=f"{alike[0].seen} ({len(alike)} cases have such a caution)")
        for alike in kinds.values()
    ]
