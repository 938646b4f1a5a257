"""Advice on memory: fewer bytes, whole lines, writes that cause reads, serial misses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ridgepoint.core.counts import FunctionCounts, traffic_at
from ridgepoint.core.miss_curve import MissCurve
from ridgepoint.core.resources import LEVELS, resource_named
from ridgepoint.core.units import format_si, format_size
from ridgepoint.models.advice.subject import Advice, Subject, moved, percent
from ridgepoint.models.thresholds import EXPLAINS, FAR_BELOW, LEAST_GAIN

# A line that is used completely is fetched once per its size in loads and stores. Above this
# factor, half of each line is moved without use.
PART_OF_LINE = 2.0
# A program that loads each byte from memory exactly once has as many loads as reads: partial
# lines at the ends of arrays and start-up code make less of a difference.
_LOADS_ARE_READS = 1.05
# Reads of data that is then overwritten are at least a quarter of the traffic of any loop that
# writes one array and reads two others.
WRITES_MATTER = 0.2
# Written data that is still in the caches at the end would be read from there, not from memory:
# its part must be small.
_BEYOND_CACHES = 4
# Overlapping misses, as in streams, would take many times the runtime one by one; serial misses
# take the runtime within a factor of two, noise and the cost of translation included.
_ONE_BY_ONE = (0.5, 2.0)
# A core that does not wait retires one instruction per cycle or more.
_WAITING_CORE = 0.5


def on_memory(subject: Subject) -> Iterator[Advice]:
    """Yield advice on the traffic."""
    # The first that applies tells how: the others would only repeat that memory limits.
    yield from tuple(_one_by_one(subject)) or tuple(_part_lines(subject)) or _fewer_bytes(subject)
    yield from _write_allocate(subject)


def waiting_s(subject: Subject) -> float | None:
    """Return the time that all misses take if each waits for the one before, in seconds.

    None where traffic, line sizes or latencies are not known.
    """
    line_bytes = line_bytes_of(subject)
    levels = [level for level in LEVELS if level != "l1" and subject.traffic(level) is not None]
    if line_bytes is None or "dram" not in levels:
        return None
    total = 0.0
    for level, beyond in pairwise([*levels, ""]):
        latency_s = next(
            (c.latency_s for c in subject.machine.ceilings if c.resource == level and c.latency_s),
            None,
        )
        if latency_s is None:
            return None
        served = _read(subject, level) - (_read(subject, beyond) if beyond else 0.0)
        total += max(served, 0.0) / line_bytes * latency_s
    return total / subject.placement.cores


def _fewer_bytes(subject: Subject) -> Iterator[Advice]:
    """Yield the limit of a program whose nearest roof is a memory level's, and where it arises."""
    times = subject.memory_s
    level = max(times, key=lambda name: times[name], default=None)
    if level is None or times[level] < subject.mix_s or subject.share(times[level]) < EXPLAINS:
        return
    rest = {name: seconds for name, seconds in times.items() if name != level}
    gain = subject.allowed(subject.bound_s(rest))
    curve = subject.measurement.counted.miss_curve if level == "dram" else None
    seen = [_where(subject, level)]
    what = _what(level)
    if curve is not None:
        fewest = subject.bound_s(
            subject.memory_with({name: _least(subject, curve, name) for name in _DRAM})
        )
        advice, what = _by_curve(subject, curve)
        seen.append(advice)
        gain = max(min(gain, subject.allowed(fewest)), 1.0) if what != _ONLY_LESS_DATA else gain
    else:
        seen.append(_reuse(subject, level))
    if gain >= LEAST_GAIN:
        yield Advice(
            code="fewer-bytes",
            about=_mover(subject, level)[0],
            seen="; ".join(part for part in seen if part),
            what=what,
            gain=gain,
        )


_DRAM = ("dram_read", "dram_write")
_ONLY_LESS_DATA = (
    "a larger cache would save no pass over the data: fuse this loop with others that use the "
    "same data, or make the data smaller"
)


def _what(level: str) -> str:
    """Return how to move fewer bytes at a level."""
    if level == "l1":
        return (
            "keep values that the inner loop uses again in registers (unroll and jam, small blocks)"
        )
    if level == "dram":
        return (
            "use each byte more often while it is in a cache: fuse loops over the same data, "
            "or work block by block ('--miss-curve' shows how much a cache could save)"
        )
    inner = LEVELS[LEVELS.index(level) - 1].upper()
    return f"work on blocks that stay in {inner}, or fuse loops over the same data"


def _by_curve(subject: Subject, curve: MissCurve) -> tuple[str, str]:
    """Return how much traffic a large cache would save, and what follows from it."""
    now = sum(_amount(subject, name) for name in _DRAM)
    least = sum(_least(subject, curve, name) for name in _DRAM)
    size = format_size(curve.capacities_bytes[-1])
    if now < LEAST_GAIN * least:
        seen = f"with a cache of {size}, {percent(least / now)} of these bytes would still be moved"
        return seen, _ONLY_LESS_DATA
    return (
        f"with a cache of {size}, only {format_si(least, 'B', digits=3)} of these "
        f"{format_si(now, 'B', digits=3)} would be moved",
        "several passes move the same data: work block by block, and do all passes on a block "
        "while it is in the cache",
    )


def _least(subject: Subject, curve: MissCurve, name: str) -> float:
    """Return the memory traffic with the curve's largest cache, bytes; at most the present one."""
    rows = curve.read_bytes if name == "dram_read" else curve.write_bytes
    return min(float(rows[-1]), _amount(subject, name))


def _part_lines(subject: Subject) -> Iterator[Advice]:
    """Yield advice where lines are fetched of which only a small part is used."""
    l1, l2 = subject.traffic("l1"), subject.traffic("l2")
    if l1 is None or l2 is None or l1.write_bytes is None:
        return
    used = float(l1.read_bytes + l1.write_bytes)
    if not used or l2.read_bytes < PART_OF_LINE * used:
        return
    changes = {
        f"{level}_{direction}": min(_amount(subject, f"{level}_{direction}"), float(most))
        for level in LEVELS[1:]
        for direction, most in (("read", used), ("write", l1.write_bytes))
    }
    far = {level: seconds for level, seconds in subject.memory_s.items() if level != "l1"}
    level = max(far, key=lambda name: far[name], default=None)
    # Random accesses reach far less than the rate of a stream, which is the roof: a level
    # matters to them though it explains less of the time.
    if level is None or max(far[level], _waiting_within(subject)) < FAR_BELOW * _whole(subject):
        return
    gain = subject.allowed(subject.bound_s(subject.memory_with(changes)))
    if gain >= LEAST_GAIN:
        yield Advice(
            code="part-of-lines",
            about=_mover(subject, "l2")[0],
            seen=(
                f"{format_si(used, 'B', digits=3)} are loaded and stored, but the cache lines "
                f"fetched into L1 for them are {format_si(l2.read_bytes, 'B', digits=3)}: "
                f"{l2.read_bytes / used:.2g} bytes fetched for each byte used"
            ),
            what=(
                "walk arrays in the order in which they lie in memory (exchange the loops, "
                "transpose), or store next to each other what is used together"
            ),
            gain=gain,
        )


def _write_allocate(subject: Subject) -> Iterator[Advice]:
    """Yield advice where lines are read only to be overwritten."""
    dram, counts = subject.traffic("dram"), subject.counts
    if (
        dram is None
        or dram.write_bytes is None
        or counts.non_temporal_store_bytes != 0
        or subject.share(subject.memory_s.get("dram", 0.0)) < EXPLAINS
        or subject.memory_s["dram"] < subject.own_s
        or _BEYOND_CACHES * (dram.pending_write_bytes or 0) > dram.write_bytes
    ):
        return
    mover, function = _mover(subject, "dram")
    certain, possible = overwritten_bytes(subject, function)
    most = min(certain or possible, float(dram.write_bytes))
    if most < WRITES_MATTER * (dram.read_bytes + dram.write_bytes):
        return
    after = subject.memory_with({"dram_read": dram.read_bytes - most})
    gain = min(subject.memory_s["dram"] / after["dram"], subject.allowed(subject.bound_s(after)))
    if gain < LEAST_GAIN:
        return
    read = format_si(dram.read_bytes, "B", digits=3)
    amount = format_si(most, "B", digits=3)
    yield Advice(
        code="write-allocate",
        about=mover,
        seen=(
            f"{'at least ' if certain else 'up to '}{amount} of the {read} read from DRAM are "
            "cache lines that are then overwritten, and no store is non-temporal"
        ),
        what=(
            "overwrite them with non-temporal stores"
            if certain
            else "use non-temporal stores for data that is not read before it is overwritten"
        ),
        gain=gain,
    )


def overwritten_bytes(
    subject: Subject, function: FunctionCounts | None = None
) -> tuple[float, float]:
    """Return the bytes read only to be overwritten: a lower and an upper limit.

    Reads beyond the loaded bytes are for stores. Where loads are as many bytes as reads, each
    line read is loaded: none is for a store alone.
    """
    counts = subject.counts if function is None else function.counts
    read = _read(subject, "dram") if function is None else _read_of(function, "dram")
    if counts.load_bytes is None or counts.store_bytes is None:
        return 0.0, 0.0
    certain = min(max(read - counts.load_bytes, 0.0), float(counts.store_bytes))
    if certain > (_LOADS_ARE_READS - 1) * read:
        return certain, certain
    all_loaded = counts.load_bytes <= _LOADS_ARE_READS * read
    return 0.0, 0.0 if all_loaded else min(read, float(counts.store_bytes))


def _one_by_one(subject: Subject) -> Iterator[Advice]:
    """Yield advice where misses wait for each other."""
    waiting, runtime_s = waiting_s(subject), subject.runtime_s
    clock_hz, level = subject.machine.host.frequency_hz, _farthest(subject)
    if waiting is None or runtime_s is None or clock_hz is None or level is None:
        return
    least, most = _ONE_BY_ONE
    per_cycle = subject.counts.instructions / (runtime_s * clock_hz * subject.placement.cores)
    mover, function = _mover(subject, level)
    if (
        not least <= subject.share(waiting) <= most
        or subject.share(subject.own_s) >= EXPLAINS
        or per_cycle >= _WAITING_CORE
        or (function is None and subject.measurement.counted.functions)
    ):
        return
    lines = _read(subject, level) / (line_bytes_of(subject) or 1)
    yield Advice(
        code="latency",
        about=mover,
        seen=(
            f"its {format_si(lines, '', digits=3).strip()} misses that reach {level.upper()}, "
            f"and its misses in nearer caches, would take {format_si(waiting, 's', digits=2)} "
            "if each waited for the previous one; the runtime is "
            f"{format_si(runtime_s, 's', digits=3)}, with {per_cycle:.2g} instructions per "
            "cycle"
        ),
        what=(
            "keep several misses in flight (independent chains, prefetches), or make the data "
            "smaller or more compact (arrays in place of lists, trees with wide nodes)"
        ),
        gain=subject.allowed(subject.own_s),
    )


def _farthest(subject: Subject) -> str | None:
    """Return the level whose misses would take longest one by one."""
    chase = {c.resource: c.latency_s for c in subject.machine.ceilings if c.latency_s}
    known = [level for level in LEVELS[1:] if level in chase and subject.traffic(level) is not None]
    return max(known, key=lambda level: _read(subject, level) * (chase[level] or 0), default=None)


def _waiting_within(subject: Subject) -> float:
    """Return the time of serial misses if they may explain the runtime, else 0."""
    waiting = waiting_s(subject)
    return waiting if waiting is not None and waiting < _ONE_BY_ONE[1] * _whole(subject) else 0.0


def _whole(subject: Subject) -> float:
    return subject.runtime_s or subject.own_s


def _mover(subject: Subject, level: str) -> tuple[str, FunctionCounts | None]:
    """Return the function that moves most at a level, with its name; the program if none does."""
    hottest = subject.hottest(lambda function: moved(function.traffic, level))
    if hottest is None:
        return subject.name, None
    return subject.place(hottest[0], lambda _, traffic: moved(traffic, level)), hottest[0]


def _where(subject: Subject, level: str) -> str:
    """Return a level's share of the time, and the share of its bytes that one function moves."""
    hottest = subject.hottest(lambda function: moved(function.traffic, level))
    part = "" if hottest is None else f"{percent(hottest[1])} of the "
    moved_bytes = sum(_amount(subject, f"{level}_{way}") for way in ("read", "write"))
    return (
        f"it moves {part}{format_si(moved_bytes, 'B', digits=3)} at {level.upper()}, which take "
        f"{percent(subject.share(subject.memory_s[level]))} of the time at full bandwidth"
    )


def _reuse(subject: Subject, level: str) -> str:
    """Return how often a byte from a level is used before it is evicted."""
    used = sum(_amount(subject, f"l1_{way}") for way in ("read", "write"))
    there = sum(_amount(subject, f"{level}_{way}") for way in ("read", "write"))
    if level == "l1" or not used or not there:
        return ""
    return f"each byte is used {used / there:.2g} times"


def _amount(subject: Subject, name: str) -> float:
    """Return one kind of memory traffic, bytes; 0 where it is not known."""
    resource = resource_named(name)
    part = subject.traffic(resource.path)
    if part is None:
        return 0.0
    return float((part.read_bytes if resource.direction == "read" else part.write_bytes) or 0)


def _read(subject: Subject, level: str) -> float:
    return _amount(subject, f"{level}_read")


def _read_of(function: FunctionCounts, level: str) -> float:
    part = traffic_at(function.traffic, level)
    return 0.0 if part is None else float(part.read_bytes)


def line_bytes_of(subject: Subject) -> int | None:
    """Return the bytes of a cache line; None: neither simulated nor known."""
    caches = subject.measurement.counted.caches or subject.machine.caches
    return max((cache.line_bytes for cache in caches if cache.kind != "instruction"), default=None)
