"""Traffic of a run of which only bursts were simulated: rows and intervals for the whole of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ridgepoint.core.counted import TrafficEstimate, TrafficInterval
from ridgepoint.core.resources import LEVELS
from ridgepoint.meters.native.contents import Contents
from ridgepoint.meters.native.copy_file import CopyFile, read_copy
from ridgepoint.meters.native.traffic import Moved
from ridgepoint.models.caches import burst_estimate as model

_BYTES_PER_KIB = 1024
_FULL = 0.8  # of a cache whose sets are not all as full as each other
_NEXT_TO_NOTHING = 1e-3  # of what a program did
_PAST = "nt_bytes"  # went past all caches
_SIDES = (
    ("read_lines", "may_be_hits", "may_be_misses"),
    ("write_lines", "may_be_clean", "may_be_dirty"),
)

Intervals = dict[tuple[str, int], model.Interval]
"""Lines of a direction and level."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimated:
    """What bursts tell of the traffic.

    Parameters
    ----------
    contents : Contents
        With what was moved by the whole program, as far as it is known.
    estimate : TrafficEstimate or None
        None: all of it was seen.
    """

    contents: Contents
    estimate: TrafficEstimate | None


def estimated(contents: Contents, *, cache_lines: Sequence[int]) -> Estimated:
    """Return what was moved in all, by what was moved in bursts.

    Parameters
    ----------
    contents : Contents
        Of a run with bursts.
    cache_lines : sequence of int
        How many lines the caches hold, from the innermost on.
    """
    moved = contents.moved
    if moved is None:
        return Estimated(contents=contents, estimate=None)
    words = _words(contents)
    total: Intervals = {}
    rows, is_known = [], True
    for process in sorted(set(moved.rows["process"].tolist()) | set(words)):
        found = _of_process(moved, process, words.get(process, 0), cache_lines)
        if found is None:
            is_known &= words.get(process, 0) <= _NEXT_TO_NOTHING * sum(words.values())
        rows.append(_scaled(moved, process, found))
        for key, interval in (found or {}).items():
            total[key] = _sum(total.get(key), interval)
    recorded = float(sum(_end(burst, "words") for burst in moved.bursts))
    is_all = all(burst["is_first"] and _is_cut_short(burst) for burst in moved.bursts)
    if is_all:
        return Estimated(contents=contents, estimate=None)
    share = min(recorded / max(sum(words.values()), 1), 1.0)
    if not is_known or not total:
        estimate = TrafficEstimate(bursts=len(moved.bursts), share=share)
        return Estimated(contents=replace(contents, moved=None), estimate=estimate)
    whole = replace(moved, rows=np.concatenate(rows), rows_of_bursts=rows[0][:0], ends={})
    return Estimated(
        contents=replace(contents, moved=whole),
        estimate=TrafficEstimate(
            bursts=len(moved.bursts), share=share, levels=tuple(_levels(total, whole))
        ),
    )


def _words(contents: Contents) -> dict[int, int]:
    """Return what recording all of each process would have written to rings."""
    copies: dict[str, CopyFile] = {}
    words: dict[int, int] = {}
    modules = [module for module in contents.modules if module.n_counters]
    for bank in contents.banks:
        counters, counts = bank.counters.astype(np.int64), bank.counts.astype(np.int64)
        for module in modules:
            begin, end = np.searchsorted(
                counters, [module.first_counter, module.first_counter + module.n_counters]
            )
            if begin == end:
                continue
            copy = copies.setdefault(module.copy, read_copy(Path(module.copy)))
            rows, times = copy.with_sharers(
                counters[begin:end] - module.first_counter, counts[begin:end]
            )
            if copy.first_recording:
                done = int(copy.ring_words[rows] @ times)
                words[bank.process] = words.get(bank.process, 0) + done
    return words


def _of_process(
    moved: Moved, process: int, words: int, cache_lines: Sequence[int]
) -> Intervals | None:
    """Return what crossed each side of each cache in a process; None: nobody knows."""
    bursts = moved.bursts[moved.bursts["process"] == process]
    first = bursts[bursts["is_first"] == 1]
    later = [burst for burst in bursts if not burst["is_first"] and not _is_cut_short(burst)]
    rest = words - sum(_end(burst, "words") for burst in first)
    if not later and all(map(_is_cut_short, first)):
        rest = 0.0  # it ended in its first burst
    end = moved.ends.get(process)
    resident = (end.own_kib * _BYTES_PER_KIB // moved.line_bytes) if end else 0
    found: Intervals = {}
    for lines, too_many, too_few in _SIDES:
        for level in range(moved.levels):
            before = sum(_end(burst, lines, level) for burst in first)
            fits = 0 < resident <= _FULL * cache_lines[level]
            one = model.estimate(
                [_side(burst, level, lines, too_many, too_few) for burst in later],
                weights=[float(burst["weight"]) for burst in later],
                words=rest,
                before=before,
                most=float(resident) if fits else np.inf,
                unseen=float(resident),
            )
            if one is None:
                return None
            found[lines, level] = one if level == 0 else _at_most(one, found[lines, level - 1])
    past = model.estimate(
        [_side(burst, 0, _PAST) for burst in later],
        weights=[float(burst["weight"]) for burst in later],
        words=rest,
        before=sum(_end(burst, _PAST) for burst in first),
    )
    return None if past is None else {**found, (_PAST, 0): past}


def _at_most(outer: model.Interval, inner: model.Interval) -> model.Interval:
    """Limit what crosses a cache to what crosses the cache inside it."""
    return model.Interval(
        value=min(outer.value, inner.value),
        low=min(outer.low, inner.value),
        high=min(outer.high, max(inner.high, outer.value)),
    )


def _is_cut_short(burst: np.void) -> bool:
    return bool(burst["n_parts"] < len(burst["parts"]))


def _end(burst: np.void, name: str, level: int | None = None) -> float:
    """Return a number of a burst at its end."""
    parts = burst["parts"][: max(int(burst["n_parts"]), 1)]
    return float(parts[-1][name] if level is None else parts[-1][name][level])


def _side(burst: np.void, level: int, *names: str) -> model.Moved:
    """Return what crossed a side; of what went past all caches everything is known."""
    columns = [burst["parts"]["words"], *(_column(burst["parts"], one, level) for one in names)]
    words, lines, *doubts = (
        np.concatenate([[0.0], column.astype(np.float64)]) for column in columns
    )
    too_many, too_few = doubts or (np.zeros_like(words), np.zeros_like(words))
    return model.Moved(words=words, lines=lines, too_many=too_many, too_few=too_few)


def _sum(one: model.Interval | None, other: model.Interval) -> model.Interval:
    if one is None:
        return other
    return model.Interval(
        value=one.value + other.value, low=one.low + other.low, high=one.high + other.high
    )


def _scaled(moved: Moved, process: int, found: Intervals | None) -> npt.NDArray[np.void]:
    """Return who moved lines in a process: those of bursts stand for all that was not seen."""
    first: npt.NDArray[np.void] = moved.rows[moved.rows["process"] == process]
    late = moved.rows_of_bursts[moved.rows_of_bursts["process"] == process].copy()
    if found is None:
        return first[:0]
    for (name, level), interval in found.items():
        seen, before = (float(_column(rows, name, level).sum()) for rows in (late, first))
        factor = max((interval.value - before) / seen, 0.0) if seen else 0.0
        _column(late, name, level)[:] = np.rint(_column(late, name, level) * factor)
    both: npt.NDArray[np.void] = np.concatenate([first, late])
    return both


def _column(rows: npt.NDArray[np.void], name: str, level: int) -> npt.NDArray[np.uint64]:
    """Return one amount of all rows, which may be changed there."""
    column: npt.NDArray[np.uint64] = rows[name] if name == _PAST else rows[name][..., level]
    return column


def _levels(total: Intervals, moved: Moved) -> Iterator[TrafficInterval]:
    """Yield the ends of each level's traffic, around what the rows of `moved` add up to."""
    for side in range(moved.levels):
        level = "dram" if side == moved.levels - 1 else f"l{side + 2}"
        if level in LEVELS:
            read, written = (
                _bytes(_around(total, moved, name, side), moved.line_bytes) for name, _, _ in _SIDES
            )
            past = _bytes(_around(total, moved, _PAST, 0), 1) if level == "dram" else (0, 0)
            yield TrafficInterval(
                level=level,
                read_bytes=read,
                write_bytes=(written[0] + past[0], written[1] + past[1]),
            )


def _around(total: Intervals, moved: Moved, name: str, level: int) -> model.Interval:
    """Return the interval of a sum of rows, wider where these were rounded to whole lines."""
    interval, value = total[name, level], float(_column(moved.rows, name, level).sum())
    return model.Interval(value=value, low=min(interval.low, value), high=max(interval.high, value))


def _bytes(interval: model.Interval, line_bytes: int) -> tuple[int, int]:
    return round(interval.low * line_bytes), round(interval.high * line_bytes)
