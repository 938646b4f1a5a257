"""Records on the way out of an archive and into another: files, folders, whole archives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ridgepoint.core.errors import InvalidDocument, RidgepointError, reason_of
from ridgepoint.kept.archive import Archive, ArchivePath
from ridgepoint.kept.archive_record import Record
from ridgepoint.kept.files import replace_file
from ridgepoint.kept.merging import Merged
from ridgepoint.kept.portable import Portable, read_record, text_of

_SQLITE = b"SQLite format 3\0"
_ENDING = ".json"


def exported(
    archive: Archive, records: Iterable[Record], *, with_machines: bool = True
) -> Iterator[Portable]:
    """Yield records of an archive with their content, and that of their machines if wanted.

    Raises
    ------
    ArchiveRefused, InvalidDocument
        If one of them is damaged.
    """
    machines: dict[int | None, Portable | None] = {None: None}
    for record in records:
        machine_id = record.machine_id if with_machines else None
        if machine_id is not None and machine_id not in machines:
            machines[machine_id] = archive.portable(archive.record(machine_id))
        yield archive.portable(record, machines[machine_id])


def file_names(records: Sequence[Record]) -> list[str]:
    """Return the name of each record's file in a folder: its name, or its kind and number.

    Of records with one name, all but the last get their number behind it, as the name stands for
    the last.
    """
    last = {record.label.lower(): record.id for record in records if record.label is not None}
    names = []
    for record in records:
        stem = f"{record.kind}-{record.id}" if record.label is None else record.label
        if record.label is not None and last[record.label.lower()] != record.id:
            stem = f"{record.label}-{record.id}"
        names.append(stem)
    taken = {stem.lower() for stem in names}
    if len(taken) < len(names):  # a name looks like another's name and number
        names = [f"{stem}-{record.id}" for stem, record in zip(names, records, strict=True)]
    return [f"{stem}{_ENDING}" for stem in names]


def export_record(
    id: int | str, path: Path | str, *, archive: ArchivePath = None, with_machine: bool = True
) -> None:
    """Write a kept record to a file, as ``ridgepoint export`` does.

    Parameters
    ----------
    id : int or str
        Number or name.
    path : Path or str
        Path of the file.
    archive : Path or str or None
        Path of the archive; None: the archive in use.
    with_machine : bool
        Whether to write the machine that bounds a measurement too.

    Raises
    ------
    ArchiveRefused
        If there is no such record.
    RidgepointError
        If the file cannot be written.
    """
    with Archive(archive) as opened:
        record = opened.require(str(id))
        (portable,) = exported(opened, [record], with_machines=with_machine)
    replace_file(Path(path), text_of(portable).encode(), what="the record")


def import_records(*paths: Path | str, archive: ArchivePath = None) -> list[Merged]:
    """Keep every record of files, folders and archives, as ``ridgepoint import`` does.

    Parameters
    ----------
    *paths : Path or str
        As for `import_all`.
    archive : Path or str or None
        Path of the archive to keep them in; None: the archive in use.

    Returns
    -------
    list of Merged
        What became of each: ``id`` is its number here, ``is_new`` whether it was kept now.

    Raises
    ------
    ArchiveRefused, InvalidDocument
        As `import_all` does; nothing is kept then.
    """
    with Archive(archive) as opened:
        return import_all(opened, [Path(path) for path in paths])


def import_all(archive: Archive, paths: Sequence[Path]) -> list[Merged]:
    """Keep every record of files, folders of files, and archives: all of them or none.

    Parameters
    ----------
    archive : Archive
    paths : sequence of Path
        Files written by ``ridgepoint export``, documents of machines and clusters, folders of
        such files whose names end in ``.json``, and archives.

    Returns
    -------
    list of Merged
        See `ridgepoint.kept.merging.merge`.

    Raises
    ------
    ArchiveRefused
        If the archive cannot be written, or another one cannot be read.
    InvalidDocument
        If a file or a record is damaged, of a newer schema, or something else.
    """
    # Files are read before anything is written; of an archive it is known that it can be read.
    sources = [_records(path, archive.path) for path in paths]
    return archive.merge(record for source in sources for record in source)


def _records(path: Path, into: Path) -> Iterable[Portable]:
    if path.is_dir():
        inside = sorted(each for each in path.iterdir() if each.name.lower().endswith(_ENDING))
        if not inside:
            raise _unreadable(path, f"no file in this folder ends in {_ENDING}")
        records = [
            replace(read_record(_content(each), origin=str(each)), source=str(path))
            for each in inside
        ]
        # The last of several with one name is the one that the name stands for.
        return sorted(records, key=lambda record: record.created)
    content = _content(path, beginning=len(_SQLITE))
    if content == _SQLITE:
        return _of_archive(path, into)
    return [read_record(_content(path), origin=str(path))]


def _of_archive(path: Path, into: Path) -> Iterator[Portable]:
    if into.exists() and path.samefile(into):
        raise RidgepointError(
            f"cannot import {str(path)!r}",
            reason="it is the archive into which it is to be imported",
            remedy="name another archive, or choose the one to import into with --archive",
        )
    other = Archive(path)
    return _every(other)


def _every(other: Archive) -> Iterator[Portable]:
    with other:
        yield from exported(other, other.records())


def _content(path: Path, *, beginning: int = -1) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(beginning)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise _unreadable(path, reason_of(error)) from error


def _unreadable(path: Path, reason: str) -> InvalidDocument:
    return InvalidDocument(
        f"cannot import {str(path)!r}",
        reason=reason,
        remedy="give a file or a folder written by 'ridgepoint export', or another archive",
    )
