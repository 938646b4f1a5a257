"""Working sets: the cache sizes at which a program's memory traffic falls."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

from ridgepoint.core.miss_curve import MissCurve

SMALLEST_BYTES = 1024
"""What fits in less is held by registers and a loop's own lines, not by any cache."""

# Falls by a smaller share of the traffic change no verdict.
_LEAST_SHARE = 0.25
# Falls whose ends are closer than half an octave look like one.
_APART = 2**0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingSet:
    """Data that a program uses again.

    Parameters
    ----------
    size_bytes : int
        Smallest known size of a cache that holds it.
    saves_bytes : int
        Memory traffic (see `moved_bytes`) that such a cache saves over one that holds hardly any
        of it.
    """

    size_bytes: int
    saves_bytes: int


def written_bytes(curve: MissCurve) -> tuple[int, ...]:
    """Return the bytes written back sooner or later, at each capacity.

    Lines still dirty at the end are part of it: a larger cache only keeps them longer, and a
    program that writes an array once would else have that array as its working set.
    """
    return tuple(map(sum, zip(curve.write_bytes, curve.pending_bytes, strict=True)))


def moved_bytes(curve: MissCurve) -> tuple[int, ...]:
    """Return the bytes read, and written back sooner or later, at each capacity."""
    return tuple(map(sum, zip(curve.read_bytes, written_bytes(curve), strict=True)))


def moved_at(curve: MissCurve, size_bytes: int) -> int:
    """Return the bytes moved with a cache of some size; see `MissCurve.traffic_at`."""
    return moved_bytes(curve)[bisect_right(curve.capacities_bytes, size_bytes) - 1]


def working_sets(curve: MissCurve) -> tuple[WorkingSet, ...]:
    """Return a program's working sets, the smallest first.

    Parameters
    ----------
    curve : MissCurve

    Returns
    -------
    tuple of WorkingSet
        Working sets of at least `SMALLEST_BYTES`.

    Notes
    -----
    A fall is a run of capacities over which the traffic falls at least as fast as the cache
    grows: at a rate that halves it within an octave. One that takes a quarter of the traffic or
    more ends at a working set; ends less than half an octave apart are one. A blocked matrix
    product, whose traffic falls as the square root of the size, has none between its sizes.

    Examples
    --------
    Ten turns over 100 lines: from 6400 byte on all but the first are in the cache.

    >>> from ridgepoint.core.miss_curve import MissCurve
    >>> sizes, none = (3200, 6336, 6400, 12800), (0, 0, 0, 0)
    >>> working_sets(
    ...     MissCurve(
    ...         line_bytes=64,
    ...         capacities_bytes=sizes,
    ...         read_bytes=(64_000, 64_000, 6400, 6400),
    ...         write_bytes=none,
    ...         pending_bytes=none,
    ...     )
    ... )
    (WorkingSet(size_bytes=6400, saves_bytes=57600),)
    """
    sets: list[tuple[int, int, int]] = []  # size, traffic before and after the fall
    for size, before, after in _falls(curve):
        if before - after < _LEAST_SHARE * before:
            continue
        near = sets and size < _APART * sets[-1][0]
        sets.append((size, sets.pop()[1] if near else before, after))
    return tuple(
        WorkingSet(size_bytes=size, saves_bytes=before - after) for size, before, after in sets
    )


def _falls(curve: MissCurve) -> list[tuple[int, int, int]]:
    """Return the size at the end of every fall, and the traffic before and after the fall."""
    rows = [
        row
        for row in zip(curve.capacities_bytes, moved_bytes(curve), strict=True)
        if row[0] >= SMALLEST_BYTES
    ]
    falls: list[tuple[int, int, int]] = []
    goes_on = False
    for (size, moved), (larger, less) in pairwise(rows):
        falling = less < moved and less * larger <= moved * size
        if falling:
            before = falls.pop()[1] if goes_on else moved
            falls.append((larger, before, less))
        goes_on = falling
    return falls
