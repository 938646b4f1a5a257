"""Tells in which file each sample was, from what was mapped into its process by then."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ridgepoint.meters.sampling.records import Executed, Forked, Mapped, Record, Sample

# What mmap(2) names though no file is there: anonymous memory, of memfd_create, of System V.
_NO_FILES = ("//", "/memfd:", "/dev/zero", "/SYSV")


class Place(NamedTuple):
    """Where a sample was.

    Parameters
    ----------
    path : str or None
        File that holds the code; None: code made at run time.
    at : int
        Offset in the file; of code made at run time its address.
    pid : int or None
        Process of code made at run time: another's is other code.
    """

    path: str | None
    at: int
    pid: int | None = None


@dataclass(slots=True)
class _Space:
    """What is mapped into one process, by address; no two overlap."""

    begins: list[int] = field(default_factory=list)
    maps: list[Mapped] = field(default_factory=list)

    def copy(self) -> _Space:
        return _Space(list(self.begins), list(self.maps))

    def add(self, new: Mapped) -> None:
        end = new.address + new.size_bytes
        first = bisect_right(self.begins, new.address)
        if first and _end(self.maps[first - 1]) > new.address:
            first -= 1
        last = first
        while last < len(self.maps) and self.begins[last] < end:
            last += 1
        kept = [part for old in self.maps[first:last] for part in _around(old, new)]
        between = sorted([*kept, new], key=lambda mapped: mapped.address)
        self.maps[first:last] = between
        self.begins[first:last] = [mapped.address for mapped in between]

    def find(self, address: int) -> Mapped | None:
        index = bisect_right(self.begins, address) - 1
        if index < 0 or address >= _end(self.maps[index]):
            return None
        return self.maps[index]


def _end(mapped: Mapped) -> int:
    return mapped.address + mapped.size_bytes


def _around(old: Mapped, new: Mapped) -> Iterator[Mapped]:
    """Yield what is left of a mapping where another came over it."""
    if old.address < new.address:
        yield old._replace(size_bytes=new.address - old.address)
    if _end(old) > _end(new):
        cut = _end(new) - old.address
        yield old._replace(
            address=_end(new), size_bytes=old.size_bytes - cut, offset=old.offset + cut
        )


def places(records: Iterable[Record]) -> Iterator[tuple[Sample, Place]]:
    """Yield every sample with its place.

    Parameters
    ----------
    records : iterable of Record
        In the order of their times.
    """
    spaces: dict[int, _Space] = {}
    for record in records:
        if isinstance(record, Sample):
            yield record, _place(record, spaces.get(record.pid))
        elif isinstance(record, Mapped):
            spaces.setdefault(record.pid, _Space()).add(record)
        elif isinstance(record, Forked):
            if record.parent in spaces:
                spaces[record.pid] = spaces[record.parent].copy()
        elif isinstance(record, Executed):
            spaces[record.pid] = _Space()


def _place(sample: Sample, space: _Space | None) -> Place:
    found = None if space is None else space.find(sample.address)
    if found is None or not found.path or found.path.startswith(_NO_FILES):
        return Place(None, sample.address, sample.pid)
    if found.path.startswith("["):
        # The kernel's own, as [vdso]: no file, one whole.
        return Place(found.path, 0)
    return Place(found.path, sample.address - found.address + found.offset)
