"""What a shell offers for an argument: names of records, published machines, files.

Nothing here may be slow: it runs whenever the Tab key is pressed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import click
from click.shell_completion import CompletionItem

Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


_Named = list[tuple[str, str]]
"""Names, each with what it names."""


def _records(context: click.Context, kinds: tuple[str, ...], incomplete: str) -> _Named:
    from ridgepoint.core.errors import RidgepointError
    from ridgepoint.kept.labels import kept_labels

    path: Path | None = context.params.get("archive_path")
    try:
        labels = kept_labels(path, kinds)
    except (RidgepointError, OSError):
        return []  # the command itself will say what is wrong
    return [(label, what) for label, what in labels if label.startswith(incomplete)]


def _published(incomplete: str) -> _Named:
    from ridgepoint.published.machine_names import names

    return [(name, "published") for name in names() if name.startswith(incomplete.lower())]


def _items(found: _Named) -> list[CompletionItem]:
    return [CompletionItem(value, help=" ".join(what.split())) for value, what in found]


def files(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Let the shell offer files.

    First of several: bash then offers files where nothing else matches.
    """
    return [CompletionItem(incomplete, type="file")]


def schemas(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the kinds of documents that have a schema."""
    from ridgepoint.published.schemas import names

    return [CompletionItem(name) for name in names() if name.startswith(incomplete.lower())]


def records(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the names of kept records."""
    return _items(_records(context, (), incomplete))


def measurements(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the names of kept measurements."""
    return _items(_records(context, ("measurement",), incomplete))


def operators(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the names of the kept operators of programs, and files."""
    kept = _records(context, ("operators",), incomplete)
    return [*files(context, parameter, incomplete), *_items(kept)]


def machines(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the names of kept machines and clusters, published machines, and files."""
    kept = _records(context, ("machine", "cluster"), incomplete)
    return [*files(context, parameter, incomplete), *_items([*kept, *_published(incomplete)])]


def anything_shown(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the names of kept records of every kind, published machines, and files."""
    kept = _records(context, (), incomplete)
    return [*files(context, parameter, incomplete), *_items([*kept, *_published(incomplete)])]


def words(known: Callable[[], Sequence[str]]) -> Completion:
    """Return what offers the words that a function returns."""

    def offer(
        context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(word) for word in known() if word.startswith(incomplete)]

    return offer
