"""The records that a user names to look at together: one by one, or all of one name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ridgepoint.core.errors import ArchiveRefused
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.archive_record import Record
from ridgepoint.kept.lookup import Found, found, kept_record

ALL = ".."
"""After a number or a name: the record and all later ones of the same program or machine."""


def selected(archive: Archive, texts: Sequence[str]) -> list[Found]:
    """Return what a user names, in that order, under titles that differ.

    Parameters
    ----------
    archive : Archive
    texts : sequence of str
        Each as for `ridgepoint.kept.lookup.found`, or ``NAME..``: see `series`.

    Raises
    ------
    RidgepointError
        If there is nothing of a name, or it cannot be read.
    """
    return _told_apart([one for text in texts for one in _of(archive, text)])


def series(archive: Archive, name: str) -> list[Record]:
    """Return all records of one program or machine, the oldest first.

    Parameters
    ----------
    archive : Archive
    name : str
        A name: all records that were given it. Else a number: that record, and all later ones with
        its name or, if it has none, with its command (or its name as a machine). Else a command,
        as ``ridgepoint list`` shows it.

    Raises
    ------
    ArchiveRefused
        If there is none.
    """
    records = archive.records()
    if name.isdecimal():
        first = archive.require(name)
        return [
            record
            for record in records
            if record.id >= first.id
            and record.kind == first.kind
            and (record.label, record.name if first.label is None else None)
            == (first.label, first.name if first.label is None else None)
        ]
    alike = _alike(records, name)
    if not alike:
        archive.require(name)  # says what is near
        raise ArchiveRefused(
            f"cannot find {name!r} in the archive {archive.path}",
            reason="no record has this name or this command",
            remedy="see 'ridgepoint list'",
        )
    last = alike[-1].kind
    return [record for record in alike if record.kind == last]


def is_series(archive: Archive, name: str) -> bool:
    """Return whether records have this name, or this command: it may be a program's path."""
    return bool(_alike(archive.records(), name))


def _alike(records: Sequence[Record], name: str) -> list[Record]:
    """Return the records that were given a name; else those of a command, or of a machine."""
    labelled = [record for record in records if record.label == name]
    return labelled or [record for record in records if record.name == name]


def of_record(archive: Archive, record: Record) -> Found:
    """Return a record with its content."""
    return Found(title=_title(record), value=kept_record(archive, record), record=record)


def _title(record: Record) -> str:
    return f"record {record.id}" if record.label is None else record.label


def _of(archive: Archive, text: str) -> Iterator[Found]:
    if text.endswith(ALL) and len(text) > len(ALL) and not Path(text).exists():
        yield from (of_record(archive, one) for one in series(archive, text.removesuffix(ALL)))
        return
    named = found(archive, text)
    if named.record is not None and named.record.id:
        yield replace(named, title=_title(named.record))
    else:  # a file, or a published machine
        title = Path(text).stem if Path(text).is_file() else named.title
        yield replace(named, title=title)


def _told_apart(chosen: Sequence[Found]) -> list[Found]:
    """Return all with their numbers in the titles that several have."""
    titles = Counter(one.title for one in chosen)
    shown: Counter[str] = Counter()
    apart = []
    for one in chosen:
        title = one.title
        shown[title] += 1
        if titles[title] > 1:
            id = 0 if one.record is None else one.record.id
            number = f"record {id}" if id else f"#{shown[title]}"
            one = replace(one, title=f"{title} ({number})")  # noqa: PLW2901
        apart.append(one)
    return apart
