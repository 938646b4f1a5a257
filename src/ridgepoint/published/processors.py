"""The processors that are known: the table that this package ships."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from ridgepoint.core.identity import Processor
from ridgepoint.published.documents import read_shipped

_TABLE = files("ridgepoint") / "data" / "processors.toml"


class _Row(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """One processor in the file, as it says at its beginning."""

    title: str
    name: str
    vendor: str
    numbers: tuple[tuple[int, ...], ...]
    year: int
    server: bool = False
    like: str | None = None
    adds: tuple[str, ...] = ()
    early: tuple[str, ...] | None = None
    caches: tuple[int, ...] | None = None


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    processor: tuple[_Row, ...]


@cache
def processors() -> tuple[Processor, ...]:
    """Return every processor of the table, in its order."""
    known: dict[str, Processor] = {}
    for row in read_shipped(_TABLE, _Table, what="the processors").processor:
        base = None if row.like is None else known[row.like]
        early, caches = row.early, row.caches
        known[row.title] = Processor(
            title=row.title,
            name=row.name,
            vendor=row.vendor,
            numbers=row.numbers,
            year=row.year,
            server=row.server,
            features=frozenset(row.adds) | (base.features if base else frozenset()),
            early=frozenset(early) if early is not None else (base.early if base else frozenset()),
            caches_kib=caches if caches is not None else (base.caches_kib if base else ()),
        )
    return tuple(known.values())
