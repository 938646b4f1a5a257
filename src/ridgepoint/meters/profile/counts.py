"""Turns what the engine wrote into counts: of the whole, of functions, lines and regions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ridgepoint.core.counted import Alternative
from ridgepoint.core.counts import (
    Counts,
    FunctionCounts,
    LineCounts,
    RegionCounts,
    Traffic,
    by_work,
)
from ridgepoint.core.errors import InvalidDocument
from ridgepoint.core.machine import Cache
from ridgepoint.core.miss_curve import MissCurve
from ridgepoint.core.resources import LEVELS
from ridgepoint.meters.profile import Profile
from ridgepoint.meters.profile.naming import Naming
from ridgepoint.meters.profile.table import (
    BANK,
    FUNCTION,
    LINE,
    NT_BYTES,
    READ_LINES,
    WRITE_LINES,
    Places,
    Table,
    amounts,
    table_of,
)
from ridgepoint.meters.tally import Integers, grouped_sums, roughly_done, tally

Selects = Callable[[str], bool]
"""Whether the regions of a name are to be counted."""

Part = tuple[Counts, tuple[Traffic, ...]]
"""What a part of a program did, and what it moved."""

_LEAST_SHARE_OF_A_LINE = 1e-3
_ROUGH = 1e-6  # by which sums in floating point may be wrong at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a program did, all its processes together.

    Parameters
    ----------
    counts : Counts
    traffic : tuple of Traffic
    functions : tuple of FunctionCounts
        By work, then by instructions, descending. Of the lines those are given that have a
        thousandth of the program's instructions, flop, or bytes at any level.
    regions : tuple of RegionCounts
        In the order in which they were first entered.
    alternatives : tuple of Alternative
    miss_curve : MissCurve or None
    """

    counts: Counts
    traffic: tuple[Traffic, ...]
    functions: tuple[FunctionCounts, ...]
    regions: tuple[RegionCounts, ...]
    alternatives: tuple[Alternative, ...]
    miss_curve: MissCurve | None


def count(
    profiles: Sequence[Profile],
    *,
    alternatives: Sequence[Sequence[Cache]] = (),
    selects: Selects | None = None,
    naming: Naming | None = None,
) -> Totals:
    """Return what the processes of a run did together.

    Parameters
    ----------
    profiles : sequence of Profile
        At least one. A process that became another program left one for each; those of a
        process are in the order in which it wrote them.
    alternatives : sequence of sequence of Cache
        The other caches that were simulated, in the engine's order.
    selects : callable or None
        Count only what was done while a region of such a name was active; None: all. The miss
        curve is as the engine was told to make it.
    naming : Naming or None
        What names code without a symbol; None: nothing does.

    Raises
    ------
    InvalidDocument
        If the profiles are not of one run: they disagree about the caches.

    Notes
    -----
    Dirty lines that were left in the caches belong to the whole alone: they are unknown of
    any part of it. Caches of several processes were apart, and what they moved adds up.
    """
    _check_caches(profiles, len(alternatives))
    levels, line_bytes = profiles[0].levels, profiles[0].line_bytes
    table = table_of(profiles, naming=naming)
    chosen = [_is_chosen(names, selects) for names in table.banks]
    if selects is not None:
        table = table.within(np.array(chosen, dtype=np.bool_))
    measure = _Measure(levels=levels, line_bytes=line_bytes)
    banks = _parts(table, BANK, len(table.banks), measure)
    counts, traffic = _sum(banks)
    last = _last_of_programs(profiles)
    pending = [profile.pending_lines for profile in last]
    return Totals(
        counts=counts,
        traffic=_with_pending(traffic, pending, line_bytes) if selects is None else traffic,
        functions=_functions(table, measure, whole=(counts, traffic)),
        regions=_regions(
            [(names, part) for names, part, c in zip(table.banks, banks, chosen, strict=True) if c]
        ),
        alternatives=tuple(
            _alternative(profiles, last, index, caches, counts, selects=selects)
            for index, caches in enumerate(alternatives)
        ),
        miss_curve=MissCurve.total(_curves(profiles, last)),
    )


def _check_caches(profiles: Sequence[Profile], n_alternatives: int) -> None:
    shapes = {(p.levels, p.line_bytes, len(p.pending_elsewhere)) for p in profiles}
    if len(shapes) != 1 or n_alternatives != len(profiles[0].pending_elsewhere):
        raise InvalidDocument(
            "cannot add up the counts of a run",
            reason=(
                f"its processes simulated {sorted(shapes)} levels, bytes per line and other "
                f"caches, but {n_alternatives} other caches were asked for"
            ),
            remedy="count the program again",
        )


def _last_of_programs(profiles: Sequence[Profile]) -> list[Profile]:
    """Return the profiles after which caches were given up, with what was dirty in them."""
    last: list[Profile] = []
    running: dict[int, int] = {}
    for profile in profiles:
        pid = profile.process.pid
        if profile.process.continues and pid in running:
            last[running[pid]] = profile
        else:
            running[pid] = len(last)
            last.append(profile)
    return last


def _is_chosen(names: Iterable[str], selects: Selects | None) -> bool:
    return selects is None or any(map(selects, names))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measure:
    """How lines that crossed the sides of caches become traffic.

    Parameters
    ----------
    levels : int
        Caches between the core and memory; 0: none was simulated.
    line_bytes : int
    """

    levels: int
    line_bytes: int

    @property
    def sides(self) -> Iterator[tuple[int, str]]:
        """The outer sides of caches, from the innermost on, and what is beyond them."""
        for side in range(self.levels):
            level = "dram" if side == self.levels - 1 else f"l{side + 2}"
            if level in LEVELS:  # not between an L3 and an L4, of which no ceiling is measured
                yield side, level

    def traffic(
        self, counts: Sequence[Counts], moved: Integers, groups: Integers
    ) -> list[tuple[Traffic, ...]]:
        """Return the traffic of each group of rows; `counts` are those of the groups."""
        n = len(counts)
        columns = [[one.l1_traffic for one in counts]]
        past_caches = grouped_sums(moved[NT_BYTES], groups, n)
        for side, level in self.sides:
            read = grouped_sums(moved[READ_LINES + side], groups, n)
            written = grouped_sums(moved[WRITE_LINES + side], groups, n)
            columns.append(
                [
                    Traffic(
                        level=level,
                        read_bytes=self.line_bytes * lines_read,
                        write_bytes=self.line_bytes * lines_written
                        + (past if level == "dram" else 0),
                    )
                    for lines_read, lines_written, past in zip(
                        read, written, past_caches, strict=True
                    )
                ]
            )
        return list(zip(*columns, strict=True))


def _parts(table: Table, place: int, n: int, measure: _Measure) -> list[Part]:
    """Return what each bank, function or line did; rows of none (-1) are left out."""
    executed, masked, moved = (
        at[place] >= 0 for at in (table.executed_at, table.masked_at, table.moved_at)
    )
    counts = tally(
        table.executed.among(executed),
        groups=table.executed_at[place][executed],
        n_groups=n,
        masked=table.masked.among(masked),
        masked_groups=table.masked_at[place][masked],
    )
    traffic = measure.traffic(counts, table.moved[:, moved], table.moved_at[place][moved])
    return list(zip(counts, traffic, strict=True))


def _sum(parts: Sequence[Part]) -> Part:
    return (
        Counts.total(counts for counts, _ in parts),
        Traffic.total(one for _, traffic in parts for one in traffic),
    )


def _functions(table: Table, measure: _Measure, *, whole: Part) -> tuple[FunctionCounts, ...]:
    lines: dict[int, list[LineCounts]] = {}
    table = _with_lines_that_may_matter(table, measure, whole)
    for (function, source, line), part in zip(
        table.lines, _parts(table, LINE, len(table.lines), measure), strict=True
    ):
        if _matters(part, whole):
            counts, traffic = part
            of_line = LineCounts(source=source, line=line, counts=counts, traffic=traffic)
            lines.setdefault(function, []).append(of_line)
    functions = []
    parts = _parts(table, FUNCTION, len(table.functions), measure)
    for number, ((path, name), (counts, traffic)) in enumerate(
        zip(table.functions, parts, strict=True)
    ):
        if counts.instructions or any(moved.total_bytes for moved in traffic):
            own = sorted(lines.get(number, ()), key=lambda of_line: (of_line.source, of_line.line))
            functions.append(
                FunctionCounts(
                    name=name, object=path, counts=counts, traffic=traffic, lines=tuple(own)
                )
            )
    return by_work(functions)


def _with_lines_that_may_matter(table: Table, measure: _Measure, whole: Part) -> Table:
    """Return a table without most of the lines that do not matter: exact sums take longer."""
    if not table.lines:
        return table
    kept = np.zeros(len(table.lines), np.bool_)
    for extents, of_all in zip(_rough_extents(table, measure), _extent(whole), strict=True):
        kept |= (extents > 0) & (extents >= (1 - _ROUGH) * _LEAST_SHARE_OF_A_LINE * of_all)
    numbers = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)  # the last: of none

    def with_numbers(at: Places) -> Places:
        return np.stack([at[BANK], at[FUNCTION], numbers[at[LINE]]])

    return replace(
        table,
        lines=tuple(line for line, is_kept in zip(table.lines, kept, strict=True) if is_kept),
        executed_at=with_numbers(table.executed_at),
        masked_at=with_numbers(table.masked_at),
        moved_at=with_numbers(table.moved_at),
    )


def _rough_extents(table: Table, measure: _Measure) -> list[npt.NDArray[np.float64]]:
    """Return the extents of each line, as `_extent` has them, in floating point."""
    n = len(table.lines)

    def sums(amounts: npt.NDArray[np.float64], at: Places) -> npt.NDArray[np.float64]:
        # What is of no line (-1) is added up behind the lines.
        summed = np.zeros(n + 1)
        np.add.at(summed, at[LINE], amounts)
        return summed[:n]

    moved = table.moved.astype(np.float64)
    extents = [sums(amounts, table.executed_at) for amounts in roughly_done(table.executed)]
    for side, level in measure.sides:
        crossed = measure.line_bytes * (moved[READ_LINES + side] + moved[WRITE_LINES + side])
        past = moved[NT_BYTES] if level == "dram" else 0.0
        extents.append(sums(crossed + past, table.moved_at))
    return extents


def _matters(part: Part, whole: Part) -> bool:
    """Return whether a line has a share of anything that is worth its record.

    A C library with debug information alone has thousands of lines that run once.
    """
    return any(
        own > 0 and own >= _LEAST_SHARE_OF_A_LINE * of_all
        for own, of_all in zip(_extent(part), _extent(whole), strict=True)
    )


def _extent(part: Part) -> tuple[int, ...]:
    """Return instructions, flop, and the bytes moved at each level."""
    counts, traffic = part
    return counts.instructions, counts.work_flop, *(moved.total_bytes or 0 for moved in traffic)


def _regions(banks: Sequence[tuple[tuple[str, ...], Part]]) -> tuple[RegionCounts, ...]:
    """Return what was done in each region, with all that it holds."""
    within: dict[str, list[Part]] = {}
    outside: dict[str, dict[str, None]] = {}
    for names, part in banks:
        for depth, name in enumerate(names):
            within.setdefault(name, []).append(part)
            outside.setdefault(name, {}).update(dict.fromkeys(names[:depth]))
    regions = []
    for name, parts in within.items():
        counts, traffic = _sum(parts)
        regions.append(
            RegionCounts(name=name, inside=tuple(outside[name]), counts=counts, traffic=traffic)
        )
    return tuple(regions)


def _with_pending(
    traffic: tuple[Traffic, ...], pending: Sequence[int | None], line_bytes: int
) -> tuple[Traffic, ...]:
    """Return the traffic of the whole with the lines that were left in the caches."""
    lines = [count for count in pending if count is not None]
    if len(lines) < len(pending):
        return traffic
    return tuple(
        replace(moved, pending_write_bytes=line_bytes * sum(lines))
        if moved.level == "dram"
        else moved
        for moved in traffic
    )


def _alternative(
    profiles: Sequence[Profile],
    last: Sequence[Profile],
    index: int,
    caches: Sequence[Cache],
    counts: Counts,
    *,
    selects: Selects | None,
) -> Alternative:
    """Return what the same run moved in other caches."""
    data = [cache for cache in caches if cache.kind != "instruction"]
    line_bytes = data[0].line_bytes
    moved = []
    for profile in profiles:
        chosen = np.array([_is_chosen(names, selects) for names in profile.banks], dtype=np.bool_)
        rows = profile.moved_elsewhere
        moved.append(amounts(rows[(rows["geometry"] == index) & chosen[rows["bank"]]]))
    together = np.concatenate(moved, axis=1)
    measure = _Measure(levels=len(data), line_bytes=line_bytes)
    (traffic,) = measure.traffic([counts], together, np.zeros(together.shape[1], dtype=np.int64))
    pending = [profile.pending_elsewhere[index] for profile in last]
    return Alternative(
        caches=tuple(caches),
        traffic=_with_pending(traffic, pending, line_bytes) if selects is None else traffic,
    )


def _curves(profiles: Iterable[Profile], last: Sequence[Profile]) -> list[MissCurve]:
    """Return the curves, with dirty lines only where the caches were given up after them."""
    curves = []
    for profile in profiles:
        curve = profile.miss_curve
        if curve is not None and profile not in last:
            curve = replace(curve, pending_bytes=(0,) * len(curve.pending_bytes))
        if curve is not None:
            curves.append(curve)
    return curves
