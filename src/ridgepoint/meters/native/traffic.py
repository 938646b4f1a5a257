"""What processes moved through simulated caches: what is asked of the arena, and read from it.

The part of the arena that is laid out as ``native/copying/arena_traffic.h`` says: first what is
to be simulated, then rows of what was moved, then what was left at the end of each process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ridgepoint.core.miss_curve import MissCurve
from ridgepoint.meters.simulated.geometry import MOST_GEOMETRIES, MOST_LEVELS, Geometry

_MOST_ROWS, _MOST_ENDS, _CURVE_ROWS = 1 << 23, 4096, 496
_MOST_BURSTS, _BURST_PARTS, _IN_BURSTS = 1 << 14, 8, 1 << 63
_COLD, _ALL_THREADS, _FUNCTION = 1, 2, 4
_NOTHING, _AT, _ANYWHERE, _ELSEWHERE = range(4)
_PAGE, _USUAL_LINE = 4096, 64

_CACHE = np.dtype([("size_bytes", "<u8"), ("ways", "<u8"), ("cpus", "<u8")])
_GEOMETRY = np.dtype(
    [
        *((name, "<u8") for name in ("line_bytes", "n_cpus", "n_levels")),
        ("instruction", _CACHE),
        ("data", _CACHE, MOST_LEVELS),
    ]
)
_WANTED = np.dtype(
    [
        *((name, "<u8") for name in ("n_geometries", "reuse_lines", "flags", "region_name")),
        *((name, "<u8") for name in ("moved_at", "most_moved", "ends_at", "most_ends")),
        *((name, "<u8") for name in ("bursts_at", "most_bursts", "burst_words")),
        ("reserved", "<u8", 5),
        ("geometry", _GEOMETRY, MOST_GEOMETRIES),
    ]
)
_N_MOVED_AT = -(-_WANTED.itemsize // 64) * 64
_N_BURSTS_AT = _N_MOVED_AT + 64
ROW = np.dtype(
    [
        *((name, "<u8") for name in ("kind", "process", "regions", "module", "address")),
        ("read_lines", "<u8", MOST_LEVELS),
        ("write_lines", "<u8", MOST_LEVELS),
        ("nt_bytes", "<u8"),
    ]
)
END = np.dtype(
    [
        ("ready", "<u8"),
        ("pending_lines", "<u8", MOST_GEOMETRIES),
        *((name, "<u8") for name in ("line_bytes", "sampled_lines", "denominator", "accesses")),
        *((name, "<u8") for name in ("n_rows", "failed", "own_kib", "reserved")),
        ("rows", "<u8", (_CURVE_ROWS, 4)),
    ]
)
BURST_PART = np.dtype(
    [
        ("words", "<u8"),
        ("read_lines", "<u8", MOST_LEVELS),
        ("write_lines", "<u8", MOST_LEVELS),
        ("nt_bytes", "<u8"),
        *((f"may_be_{name}", "<u8", MOST_LEVELS) for name in ("hits", "misses", "clean", "dirty")),
    ]
)
BURST = np.dtype(
    [
        *((name, "<u8") for name in ("process", "is_first", "weight", "n_parts")),
        ("parts", BURST_PART, _BURST_PARTS),
    ]
)

Read = Callable[[int, int], bytes]
"""Returns bytes of the arena: how many, from which place on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be simulated.

    Parameters
    ----------
    geometries : tuple of Geometry
        Instructions are charged in the first one; the others give totals. None: only the miss
        curve is asked for.
    reuse_lines : int
        Lines that the miss curve may follow, 16 to 2^28; 0: there is no miss curve.
    region : str
        The miss curve, and `cold`, are for what is done in it; empty: for all.
    function : bool
        They are for functions that are regions, whose names begin with a byte of 1.
    cold : bool
        Empty the caches when the region begins, and when it ends.
    all_threads : bool
        What any thread does while one is in the region is in it.
    burst_words : int
        How long bursts are, if only bursts are simulated; 0: as seems best.
    """

    geometries: tuple[Geometry, ...]
    reuse_lines: int = 0
    region: str = ""
    function: bool = False
    cold: bool = False
    all_threads: bool = False
    burst_words: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moved:
    """What was moved by all processes.

    Parameters
    ----------
    rows : ndarray of ROW
        Lines that code moved. `address` lies in the instruction that did it, as the file of its
        `module` states it; `regions` is the place of their names. Several may be alike: they
        add up.
    anywhere : ndarray of ROW
        Lines of code for which there was no room to say which; without module and address.
    elsewhere : ndarray of ROW
        In the other geometries; `module` is the number of the geometry, from 0 for the first
        of the others.
    ends : dict of int to End
        By number of the process. One that was killed is not there.
    levels : int
        Caches of the first geometry; 0: none was simulated.
    line_bytes : int
    n_others : int
        Geometries beside the first.
    is_whole : bool
        Whether there was room and memory for all: else some is in no row.
    bursts : ndarray of BURST
        Of a run of which only bursts were simulated, in the order in which they began.
    rows_of_bursts : ndarray of ROW
        As `rows`: what was moved in bursts that are not the first of a program.
    """

    rows: npt.NDArray[np.void]
    anywhere: npt.NDArray[np.void]
    elsewhere: npt.NDArray[np.void]
    ends: dict[int, End]
    levels: int
    line_bytes: int
    n_others: int
    is_whole: bool
    bursts: npt.NDArray[np.void]
    rows_of_bursts: npt.NDArray[np.void]


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """What was left when a process ended, or became another program.

    Parameters
    ----------
    pending_lines : tuple of int
        Dirty lines, by geometry.
    miss_curve : MissCurve or None
        None: not asked for, or nothing was accessed.
    is_whole : bool
        Whether there was memory to simulate all.
    own_kib : int
        Memory of the program that was resident at any time, at most; 0: unknown.
    """

    pending_lines: tuple[int, ...]
    miss_curve: MissCurve | None
    is_whole: bool
    own_kib: int = 0


def room_bytes() -> int:
    """Return how large this part of the arena may become, in whole pages."""
    sizes = (_MOST_ROWS * ROW.itemsize, _MOST_ENDS * END.itemsize, _MOST_BURSTS * BURST.itemsize)
    return _PAGE + sum(map(_pages, sizes))


def head(wanted: Wanted, *, at: int, region_name: int = 0) -> bytes:
    """Return what this part of the arena begins with; all else is zeros.

    Parameters
    ----------
    wanted : Wanted
    at : int
        Where it begins in the arena.
    region_name : int
        Place of the name of `wanted.region` among the arena's names.
    """
    if len(wanted.geometries) > MOST_GEOMETRIES:
        raise ValueError(f"at most {MOST_GEOMETRIES} geometries, got {len(wanted.geometries)}")
    part = np.zeros(1, _WANTED)
    part["n_geometries"], part["reuse_lines"] = len(wanted.geometries), wanted.reuse_lines
    part["flags"] = (
        _COLD * wanted.cold + _ALL_THREADS * wanted.all_threads + _FUNCTION * wanted.function
    )
    part["region_name"], part["burst_words"] = region_name, wanted.burst_words
    part["moved_at"], part["most_moved"] = at + _PAGE, _MOST_ROWS
    part["ends_at"] = at + _PAGE + _pages(_MOST_ROWS * ROW.itemsize)
    part["most_ends"] = _MOST_ENDS
    part["bursts_at"] = int(part["ends_at"][0]) + _pages(_MOST_ENDS * END.itemsize)
    part["most_bursts"] = _MOST_BURSTS
    part["geometry"][0, 0]["line_bytes"] = _USUAL_LINE  # of the miss curve, if there is no cache
    for number, geometry in enumerate(wanted.geometries):
        part["geometry"][0, number] = _described(geometry)
    return part.tobytes().ljust(_N_BURSTS_AT + 8, b"\0")


def _described(geometry: Geometry) -> npt.NDArray[np.void]:
    described = np.zeros((), _GEOMETRY)
    described["line_bytes"] = geometry.data[0].line_bytes
    described["n_cpus"], described["n_levels"] = geometry.cpus, len(geometry.data)
    shapes = [(c.size_bytes, c.ways or 1, c.cores) for c in geometry.caches]
    described["instruction"] = shapes[0]
    for level, shape in enumerate(shapes[1:]):
        described["data"][level] = shape
    return described


def moved(read: Read, *, at: int) -> Moved:
    """Return what was moved so far; `at` is where this part begins in the arena."""
    part = np.frombuffer(read(_WANTED.itemsize, at), _WANTED)[0]
    taken = int.from_bytes(read(8, at + _N_MOVED_AT), "little")
    n = min(taken, int(part["most_moved"]))
    rows = np.frombuffer(read(n * ROW.itemsize, int(part["moved_at"])), ROW)
    did_move = np.any(rows["read_lines"], axis=1) | np.any(rows["write_lines"], axis=1)
    rows = rows[did_move | (rows["nt_bytes"] > 0)]
    ends = _ends(read, part)
    begun = int.from_bytes(read(8, at + _N_BURSTS_AT), "little")
    n = min(begun, int(part["most_bursts"]))
    bursts = np.frombuffer(read(n * BURST.itemsize, int(part["bursts_at"])), BURST)
    is_late = rows["process"] >= _IN_BURSTS
    late = rows[is_late].copy()
    late["process"] -= np.uint64(_IN_BURSTS)
    rows = rows[~is_late]
    return Moved(
        rows=rows[rows["kind"] == _AT],
        anywhere=rows[rows["kind"] == _ANYWHERE],
        elsewhere=rows[rows["kind"] == _ELSEWHERE],
        ends=ends,
        levels=int(part["geometry"][0]["n_levels"]),
        line_bytes=int(part["geometry"][0]["line_bytes"]),
        n_others=max(0, int(part["n_geometries"]) - 1),
        is_whole=taken <= int(part["most_moved"]) and all(end.is_whole for end in ends.values()),
        bursts=bursts,
        rows_of_bursts=late,
    )


def _ends(read: Read, part: np.void) -> dict[int, End]:
    """Return what is known of processes that ended; most of the rows were never written."""
    geometries, found = int(part["n_geometries"]), {}
    size = END.itemsize if part["reuse_lines"] else END.fields["rows"][1]  # type: ignore[index]
    for number in range(int(part["most_ends"])):
        place = int(part["ends_at"]) + number * END.itemsize
        raw = read(size, place)
        if not int.from_bytes(raw[:8], "little"):
            continue
        end = np.frombuffer(raw.ljust(END.itemsize, b"\0"), END)[0]
        found[number] = End(
            pending_lines=tuple(end["pending_lines"][:geometries].tolist()),
            miss_curve=_miss_curve(end),
            is_whole=not end["failed"],
            own_kib=int(end["own_kib"]),
        )
    return found


def _miss_curve(end: np.void) -> MissCurve | None:
    n, line_bytes = int(end["n_rows"]), int(end["line_bytes"])
    if not n:
        return None
    columns: Sequence[Sequence[int]] = (end["rows"][:n] * line_bytes).T.tolist()
    capacities, read, written, pending = map(tuple, columns)
    return MissCurve(
        line_bytes=line_bytes,
        capacities_bytes=capacities,
        read_bytes=read,
        write_bytes=written,
        pending_bytes=pending,
        sampling=int(end["denominator"]),
    )


def _pages(n_bytes: int) -> int:
    return -(-n_bytes // _PAGE) * _PAGE
