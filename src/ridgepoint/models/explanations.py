"""Explanations of a program's time in seconds: observed, least and most possible times.

A roof gives the least time of something. Where none comes near the runtime, other numbers may
explain it: time in the kernel and time spent waiting are measured; divisions need their unit;
serial misses and dependent additions take at most their number times a latency.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.counts import Counts, FlopCount
from ridgepoint.core.machine import CHAIN, CHASE, Machine
from ridgepoint.models.advice.memory import line_bytes_of, waiting_s
from ridgepoint.models.advice.subject import Subject
from ridgepoint.models.mix import DIVIDER
from ridgepoint.models.own_roofs import COMPUTE, ISSUE
from ridgepoint.models.thresholds import COMPUTES, LEAST_PART, NAMED, NEAR, SAID_OUTSIDE, SNAP_CORES

KERNEL, WAITING, START, DIVIDE, MISSES, WALKS, CHAINED = (
    "kernel",
    "waiting",
    "start",
    "divide",
    "misses",
    "walks",
    "chain",
)
"""What takes the time, beside the paths of a bound (``dram``, ``compute``, ``issue``, ...)."""

Sense = Literal["took", "least", "most"]
"""Seconds that were seen; that are needed at the full rate; that are possible at most."""

# Serial misses or dependent additions explain the whole time if they take this share of it:
# the range covers noise, and a clock that differs from the ceilings' clock.
_ONE_BY_ONE = (0.5, 1.6)
# A core that waits for memory retires less than one instruction per cycle, one that waits for
# arithmetic less than three.
_WAITS_FOR_MEMORY, _WAITS_FOR_ARITHMETIC = 1.0, 3.0
_PAGES = " pages"
_ADDS = ("add", "fma")
_DIVIDES = ("div", "sqrt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One cause that takes time.

    Parameters
    ----------
    code : str
        `KERNEL`, `WAITING`, `START`, `DIVIDE`, `MISSES`, `WALKS`, `CHAINED`; or a path of a bound.
    seconds : float
        Part of the runtime, in seconds.
    share : float
        Part of the runtime, as a share.
    sense : {"took", "least", "most"}
        Whether the time was observed, is a lower limit, or an upper limit.
    """

    code: str
    seconds: float
    share: float
    sense: Sense


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """Explanations of a program's time.

    Parameters
    ----------
    runtime_s : float
    outside_s : float
        Part of the runtime for which no roof holds: time in the kernel, time spent waiting and,
        where samples show it, time before the main part began.
    cause : Explanation or None
        The main cause: it explains `NEAR` of the rest, or more. None: no known cause does.
    parts : tuple of Explanation
        All explanations with a share that deserves a line; largest first.
    per_cycle : float or None
        Instructions per cycle of a core that the program kept busy outside the kernel; None: the
        clock is not known.
    """

    runtime_s: float
    outside_s: float
    cause: Explanation | None
    parts: tuple[Explanation, ...]
    per_cycle: float | None = None

    @property
    def inside_s(self) -> float:
        """The time to which roofs apply, in seconds."""
        return self.runtime_s - self.outside_s

    @property
    def outside(self) -> tuple[Explanation, ...]:
        """The parts to which no roof applies; empty: together they are too small to mention."""
        if self.outside_s < SAID_OUTSIDE * self.runtime_s:
            return ()
        return tuple(part for part in self.parts if part.code in {START, KERNEL, WAITING})


def explain(subject: Subject) -> Explained | None:
    """Return the explanation of the time of a program or a part; None: it was not timed.

    Parameters
    ----------
    subject : Subject

    Notes
    -----
    The cause is the path that needs the most time at its full rate, if that is half of the time
    or more: a bound is certain. Otherwise a latency may be the cause. Latencies overestimate, so
    one is believed if it comes near the time and the core retires as few instructions per cycle
    as a waiting core does.
    """
    runtime_s = subject.runtime_s
    if not runtime_s or subject.placement.bound is None:
        return None
    outside = tuple(_outside(subject, runtime_s))
    outside_s = min(sum(part.seconds for part in outside), 0.95 * runtime_s)
    inside_s = runtime_s - outside_s
    roofs = tuple(_roofs(subject, runtime_s))
    latencies = tuple(_latencies(subject, runtime_s))
    certain = max(roofs, key=lambda roof: roof.seconds, default=None)
    cause = certain if certain is not None and certain.seconds >= NEAR * inside_s else None
    per_cycle = _per_cycle(subject, inside_s)
    if cause is None:
        low, high = _ONE_BY_ONE
        # Page walks are part of the misses that need them.
        alone = [latency for latency in latencies if latency.code != WALKS]
        likely = [
            latency for latency in alone if low * inside_s <= latency.seconds <= high * inside_s
        ]
        likely = [latency for latency in likely if _waits(subject, latency.code, per_cycle)]
        cause = min(likely, key=lambda latency: abs(latency.seconds - inside_s), default=None)
    most = _ONE_BY_ONE[1] * runtime_s
    parts = [
        part
        for part in (*outside, *roofs, *latencies)
        # Latencies that certainly overlap explain nothing.
        if part.share >= NAMED and (part.sense != "most" or part.seconds <= most)
    ]
    return Explained(
        runtime_s=runtime_s,
        outside_s=outside_s,
        cause=cause,
        parts=tuple(sorted(parts, key=lambda part: -part.seconds)),
        per_cycle=per_cycle,
    )


def _outside(subject: Subject, runtime_s: float) -> Iterator[Explanation]:
    """Yield the time before the main part, the time in the kernel, and the time spent waiting."""
    timed = subject.measurement.timed
    assert timed is not None
    busy = timed.cores_busy
    start_s = min(started_s(subject) or 0.0, runtime_s)
    if start_s:
        yield _seen(START, start_s, runtime_s)
    # When the rest occurred is unknown: a part of it was before the main part, too.
    after = 1 - start_s / runtime_s
    system_s = 0.0 if timed.system_s is None else timed.system_s.median
    if system_s:
        # Divided by the cores that were busy meanwhile, as the rest of the CPU time is.
        yield _seen(KERNEL, after * min(system_s / max(busy, 1.0), runtime_s), runtime_s)
    if busy < 1 - SNAP_CORES:
        yield _seen(WAITING, after * (1 - busy) * runtime_s, runtime_s)


def started_s(subject: Subject) -> float | None:
    """Return when the first of the functions with most of the time began [s]; None: not known."""
    sampled = subject.measurement.sampled
    if sampled is None or not sampled.functions:
        return None
    total_s = sum(function.runtime_s.median for function in sampled.functions)
    main = [
        function
        for function in sampled.functions
        if function.runtime_s.median >= LEAST_PART * total_s
    ]
    return min(
        (function.first_s for function in main if function.first_s is not None), default=None
    )


def _seen(code: str, seconds: float, runtime_s: float) -> Explanation:
    return Explanation(code=code, seconds=seconds, share=seconds / runtime_s, sense="took")


def _roofs(subject: Subject, runtime_s: float) -> Iterator[Explanation]:
    """Yield the times of the paths: memory levels, the instructions' own pipes, their issue."""
    placement = subject.placement
    assert placement.bound is not None
    needs = {path: float(time) for path, time in placement.bound.times_s.items()}
    if placement.mix is not None and placement.mix.bound is not None:
        constraints = dict(placement.mix.bound.constraints_s)
        needs[DIVIDE] = constraints.pop(DIVIDER, 0.0)
        # After removing the divisions, a mix that only divides needs no time.
        needs[COMPUTE] = max(constraints.values(), default=0.0)
    # Libraries may choose other code in a native run: then the instructions were different.
    is_same_code = not subject.doubted("avx2-path")
    if is_same_code and placement.issue.time_s is not None:
        needs[ISSUE] = placement.issue.time_s
    for path, seconds in needs.items():
        if seconds > 0:
            yield Explanation(code=path, seconds=seconds, share=seconds / runtime_s, sense="least")


def _latencies(subject: Subject, runtime_s: float) -> Iterator[Explanation]:
    """Yield misses, their page walks, and additions, as if each waited for the previous one."""
    misses = waiting_s(subject) if "dram" in subject.memory_s else None
    chain = chain_s(subject.counts, subject.machine, subject.placement.cores)
    for code, seconds in ((MISSES, misses), (WALKS, walks_s(subject)), (CHAINED, chain)):
        if seconds:
            yield Explanation(code=code, seconds=seconds, share=seconds / runtime_s, sense="most")


def chain_s(counts: Counts, machine: Machine, cores: float) -> float | None:
    """Return the time of additions that each wait for the previous one [s]; None: not known.

    Parameters
    ----------
    counts : Counts
    machine : Machine
    cores : float

    Notes
    -----
    Counts additions and multiply-adds alone: an operand, a product for instance, may be ready
    before. Divisions and square roots count too: their results are usually waited for.
    """
    total = 0.0
    for kind in counts.flop:
        if kind.operation not in {*_ADDS, *_DIVIDES} or not kind.flop:
            continue
        latency_s = _latency_s(machine, kind)
        if latency_s is None or kind.instructions is None:
            return None
        total += kind.instructions * latency_s
    return total / cores


def _latency_s(machine: Machine, kind: FlopCount) -> float | None:
    """Return the time of one operation in a dependent chain [s]; None: not known."""
    name = f"{kind.operation} {CHAIN}"
    own = (c for c in machine.ceilings if (c.resource, c.name) == (kind.precision, name))
    return next((c.operation_s for c in own if c.operation_s is not None), None)


def walks_s(subject: Subject) -> float | None:
    """Return the extra time of main-memory misses on small pages over huge ones [s].

    Assumes that each miss needs a page walk and waits for it. None: a latency is not known.
    """
    dram, line_bytes = subject.traffic("dram"), line_bytes_of(subject)
    chases = {
        c.name: 8.0 / c.rate.median
        for c in subject.machine.ceilings
        if c.resource == "dram"
        and c.threads == 1
        and c.rate is not None
        and c.name.partition(" ")[0] == CHASE
    }
    small = next((seconds for name, seconds in chases.items() if name.endswith(_PAGES)), None)
    if dram is None or line_bytes is None or small is None or CHASE not in chases:
        return None
    more_s = max(small - chases[CHASE], 0.0)
    return dram.read_bytes / line_bytes * more_s / subject.placement.cores


def _per_cycle(subject: Subject, inside_s: float) -> float | None:
    clock_hz = subject.machine.host.frequency_hz
    if clock_hz is None:
        return None
    return subject.counts.instructions / (inside_s * clock_hz * subject.placement.cores)


def _waits(subject: Subject, code: str, per_cycle: float | None) -> bool:
    """Return whether as few instructions retire per cycle as in a core that waits for this."""
    if per_cycle is None:
        return False
    counts = subject.counts
    if code == MISSES:
        return per_cycle < _WAITS_FOR_MEMORY
    computing = sum(kind.instructions or 0 for kind in counts.flop)
    return per_cycle < _WAITS_FOR_ARITHMETIC and computing >= COMPUTES * counts.instructions


def hot_function(subject: Subject) -> tuple[str, float] | None:
    """Return the function that deserves its own placement, and its share of the instructions.

    None where no function with a name does half of all, or one does everything.
    """
    hottest = subject.hottest(lambda function: function.counts.instructions)
    if hottest is None or subject.measurement.counted.selected is not None:
        return None
    function, share = hottest
    is_named = function.object is not None and not function.name.startswith("0x")
    return (function.name, share) if is_named else None
