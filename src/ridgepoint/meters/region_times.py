"""Read the times of regions that the marks of a program left behind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.regions.clock import HEAD, MAGIC, RECORD, TABLE_BYTES

_ANY_MAGIC = b"RIDGETI"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionTime:
    """How long a program was in a region, over all its threads and processes.

    Parameters
    ----------
    entries : int
        How often a thread entered it from outside; inside itself it is not entered again.
    busy_s : float
        Time inside, summed over threads.
    wall_low_s, wall_high_s : float
        The time in which at least one thread was inside lies between these. They are equal, but
        where several processes (or Python and a C library of one) took turns in times that overlap.
    cpu_s : float or None
        CPU time, user and system, of all threads of the processes while at least one thread of
        their own was inside, whether the others were or not; None: not known, as an end is
        unknown. That of threads that run on another CPU is known to a tick of the scheduler.
    unfinished : int
        Entries whose end is unknown, as a signal or ``_exit`` ended the process, or it became
        another program. They are taken to end at the process's last mark: all times are then
        lower bounds.
    """

    entries: int
    busy_s: float
    wall_low_s: float
    wall_high_s: float
    cpu_s: float | None
    unfinished: int = 0

    @property
    def wall_s(self) -> float | None:
        """Time in which at least one thread was inside; None if it is not known exactly."""
        exact = self.wall_low_s == self.wall_high_s and self.unfinished == 0
        return self.wall_high_s if exact else None


@dataclass(frozen=True, slots=True)
class _Part:
    """One record of one file, as far as its process came; times in ns of the monotonic clock."""

    entries: int
    busy_ns: int
    wall_ns: int
    first_ns: int
    last_ns: int
    cpu_ns: int
    unfinished: int


def read_region_times(folder: Path) -> dict[str, RegionTime]:
    """Return the times of the regions that the processes of one run entered.

    Parameters
    ----------
    folder : Path
        What ``RIDGEPOINT_REGION_TIMES`` named during that run, and no other.

    Returns
    -------
    dict of str to RegionTime
        By name; a region that was never entered is not there.

    Raises
    ------
    CannotMeasure
        If a file is not whole: a signal ended its process in the midst of a mark, say; or its
        layout is that of another version's marks.
    """
    parts: dict[str, list[_Part]] = {}
    for path in sorted(Path(folder).glob("*.times")):
        for name, part in _read_file(path):
            parts.setdefault(name, []).append(part)
    return {name: _sum(parts[name]) for name in sorted(parts)}


def _read_file(path: Path) -> Iterator[tuple[str, _Part]]:
    """Yield the records of one process, those still open ended when it ended."""
    data = path.read_bytes()
    magic, n_records, updating, last_mark_ns, ended_ns, ended_cpu_ns = HEAD.unpack_from(
        data.ljust(HEAD.size, b"\0")
    )
    what = f"cannot read the times of regions in {path.name!r}"
    if magic != MAGIC and magic.startswith(_ANY_MAGIC):
        raise CannotMeasure(
            what,
            reason="the program was compiled with the ridgepoint.h of another version",
            remedy="compile it with the header in $(ridgepoint include)",
        )
    if magic != MAGIC or len(data) != TABLE_BYTES or updating:
        reason = "its process ended in the middle of a mark" if updating else "it is incomplete"
        raise CannotMeasure(what, reason=reason, remedy="run again")
    end_ns = max(last_mark_ns, ended_ns)
    for index in range(n_records):
        raw, entries, busy_ns, wall_ns, inside, first_ns, last_ns, cpu_ns = RECORD.unpack_from(
            data, HEAD.size + index * RECORD.size
        )
        yield (
            raw.split(b"\0", 1)[0].decode(errors="replace"),
            _Part(
                entries,
                busy_ns + inside * end_ns,
                wall_ns + (end_ns if inside else 0),
                first_ns,
                end_ns if inside else last_ns,
                cpu_ns + (ended_cpu_ns if inside else 0),
                0 if ended_ns else inside,
            ),
        )


def _sum(parts: Sequence[_Part]) -> RegionTime:
    """Add the parts of one region: those that do not overlap exactly, the others within bounds."""
    groups: list[list[_Part]] = []
    end_ns = 0
    for part in sorted(parts, key=lambda part: part.first_ns):
        if part.first_ns >= end_ns:
            groups.append([])
        groups[-1].append(part)
        end_ns = max(end_ns, part.last_ns)
    bounds_ns = [_wall_bounds_ns(group) for group in groups]
    unfinished = sum(part.unfinished for part in parts)
    return RegionTime(
        entries=sum(part.entries for part in parts),
        busy_s=sum(part.busy_ns for part in parts) / 1e9,
        wall_low_s=sum(low_ns for low_ns, _ in bounds_ns) / 1e9,
        wall_high_s=sum(high_ns for _, high_ns in bounds_ns) / 1e9,
        cpu_s=None if unfinished else sum(part.cpu_ns for part in parts) / 1e9,
        unfinished=unfinished,
    )


def _wall_bounds_ns(group: Sequence[_Part]) -> tuple[int, int]:
    """Return bounds on the time in which some part of a group is inside; their spans overlap."""
    span_ns = max(part.last_ns for part in group) - min(part.first_ns for part in group)
    # A moment of the span in which nobody is inside is one in which some part pauses.
    pauses_ns = sum(part.last_ns - part.first_ns - part.wall_ns for part in group)
    walls_ns = [part.wall_ns for part in group]
    return max(*walls_ns, span_ns - pauses_ns), min(sum(walls_ns), span_ns)
