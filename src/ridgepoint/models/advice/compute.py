"""Advice on instructions: scalar, narrow, unfused, dividing, dependent, or mostly overhead."""

from __future__ import annotations

from collections.abc import Iterator

from ridgepoint.core.counts import Counts
from ridgepoint.core.resources import PRECISIONS
from ridgepoint.core.units import format_si
from ridgepoint.models.advice.language import Goal, how_to, language_of
from ridgepoint.models.advice.memory import waiting_s
from ridgepoint.models.advice.mix import (
    divider_s,
    fused,
    is_known,
    mix_time_s,
    multiplied,
    widened,
    widest_bits,
)
from ridgepoint.models.advice.subject import Advice, Subject, percent
from ridgepoint.models.mix import Mix
from ridgepoint.models.thresholds import COMPUTES, EXPLAINS, FAR_BELOW, LEAST_GAIN, NEAR

# A stencil loads and stores five times for four flop, a sparse product three times for two; code
# compiled without optimisation, which keeps every variable in memory, eight times for each.
_MOST_ACCESSES = 4.0
# At least this share of instructions computes: the kernel does little else.
_MOSTLY_COMPUTES = 0.25
# Operations that multiply and add.
_FUSED = frozenset(("fma", "dot"))
# A core that retires more instructions per cycle is busy, not waiting.
_BUSY_CORE = 3.0


def on_instructions(subject: Subject) -> Iterator[Advice]:
    """Yield advice on the instructions themselves."""
    # Without known traffic, memory might limit the program as well.
    if not subject.counts.work_flop or "dram" not in subject.memory_s:
        return
    yield from _overhead(subject)
    yield from _dependent(subject)
    mix = subject.mix
    if mix is None or mix_time_s(mix, subject.machine, subject.placement.cores) is None:
        return
    yield from _scalar(subject, mix)
    yield from _narrow(subject, mix)
    yield from _single(subject, mix)
    yield from _divisions(subject, mix)


def _scalar(subject: Subject, mix: Mix) -> Iterator[Advice]:
    """Yield advice to vectorise scalar flop where that would lift the nearest roof."""
    about, counts = _worker(subject)
    instructions = _computing(counts)
    if instructions is None or instructions < COMPUTES * counts.instructions:
        return
    flop = sum(part for (_, width, _), part in mix.items() if not width)
    wide = widened(mix, subject.machine, lambda width, widest: not width)
    gain = _gain(subject, wide)
    if gain is None:
        return
    yield Advice(
        code="scalar",
        about=about,
        seen=(
            f"{percent(flop / sum(mix.values()))} of the flop are scalar, which allows "
            f"{_rate(subject, mix)}; {_widest(subject, mix)}-bit vectors would allow "
            f"{_rate(subject, wide)}"
        ),
        what=_how_to("vectors", subject),
        gain=gain,
    )


def _narrow(subject: Subject, mix: Mix) -> Iterator[Advice]:
    """Yield advice to use wider vectors where arithmetic is the bottleneck."""

    def is_narrow(width: int, widest: int) -> bool:
        return 0 < width < widest

    # Wider vectors and FMA only speed up arithmetic: it must be the bottleneck.
    if subject.share(subject.mix_s) < NEAR:
        return
    wide = widened(mix, subject.machine, is_narrow)
    gain = _gain(subject, wide)
    if gain is None:
        return
    widest = _widest(subject, mix)
    flop = sum(part for (_, width, _), part in mix.items() if is_narrow(width or 0, widest))
    used = max(width for _, width, _ in mix if width and is_narrow(width, widest))
    yield Advice(
        code="narrow-vectors",
        about=_worker(subject)[0],
        seen=(
            f"{percent(flop / sum(mix.values()))} of the flop are in vectors of {used} bit or "
            f"less, which allows {_rate(subject, mix)}; {widest}-bit vectors would allow "
            f"{_rate(subject, wide)}"
        ),
        what=_how_to("wide vectors", subject),
        gain=gain,
    )


def _single(subject: Subject, mix: Mix) -> Iterator[Advice]:
    """Yield advice to fuse operations where few are fused and arithmetic is the bottleneck."""
    share = sum(part for (_, _, done), part in mix.items() if done in _FUSED) / sum(mix.values())
    if share > COMPUTES or subject.share(subject.mix_s) < NEAR:
        return
    paired = fused(mix)
    gain = _gain(subject, paired) if is_known(paired, subject.machine) else None
    if gain is None:
        return
    yield Advice(
        code="no-fma",
        about=_worker(subject)[0],
        seen=(
            f"{percent(share)} of the flop are by FMA; separate additions and products allow "
            f"{_rate(subject, mix)}; fused wherever an addition and a product pair up, they "
            f"would allow {_rate(subject, paired)}"
        ),
        what=_how_to("fused", subject),
        gain=gain,
    )


def _divisions(subject: Subject, mix: Mix) -> Iterator[Advice]:
    """Yield advice on divisions and square roots, which are slow and share one unit."""
    seconds = divider_s(mix, subject.machine, subject.placement.cores)
    if subject.share(seconds) < NEAR or seconds < subject.mix_s:
        return
    gain = _gain(subject, multiplied(mix))
    if gain is None:
        return
    slow = {"div": "divisions", "sqrt": "square roots"}
    parts = {
        name: sum(part for (_, _, done), part in mix.items() if done == operation)
        for operation, name in slow.items()
    }
    done = " and ".join(name for name, part in parts.items() if part)
    yield Advice(
        code="divisions",
        about=_worker(subject)[0],
        seen=(
            f"{percent(sum(parts.values()) / sum(mix.values()))} of the flop are {done}, which "
            f"keep the divider busy for {format_si(seconds, 's', digits=3)}, "
            f"{percent(subject.share(seconds))} of the time"
        ),
        what=(
            "divide once and multiply by the reciprocal where several quotients share a divisor "
            "(-freciprocal-math), or compute in fp32, whose divisions and roots are faster"
        ),
        gain=gain,
    )


def _overhead(subject: Subject) -> Iterator[Advice]:
    """Yield advice for a computing function that executes many other instructions."""
    by_work = subject.hottest(lambda function: function.counts.work_flop)
    by_all = subject.hottest(lambda function: function.counts.instructions)
    if by_work is None or by_all is None or by_work[0] is not by_all[0]:
        return
    counts = by_work[0].counts
    computing = _computing(counts)
    if not computing or counts.loads is None or counts.stores is None:
        return
    accesses, share = (counts.loads + counts.stores) / computing, computing / counts.instructions
    without = {level: s for level, s in subject.memory_s.items() if level != "l1"}
    gain = subject.allowed(subject.bound_s(without))
    if accesses < _MOST_ACCESSES or share > COMPUTES or gain < LEAST_GAIN:
        return
    yield Advice(
        code="overhead",
        about=subject.place(by_work[0], lambda counts, _: counts.work_flop),
        seen=(
            f"{percent(share)} of its instructions are floating point, and there are "
            f"{accesses:.2g} loads and stores for each of them"
        ),
        what=_how_to("optimised", subject),
        gain=gain,
    )


def _dependent(subject: Subject) -> Iterator[Advice]:
    """Yield advice where arithmetic waits for arithmetic, and no roof or miss explains the time."""
    runtime_s, clock_hz = subject.runtime_s, subject.machine.host.frequency_hz
    about, counts = _worker(subject)
    computing, waiting = _computing(counts), waiting_s(subject)
    if runtime_s is None or clock_hz is None or computing is None or waiting is None:
        return
    per_cycle = subject.counts.instructions / (runtime_s * clock_hz * subject.placement.cores)
    if (
        computing < _MOSTLY_COMPUTES * counts.instructions
        or subject.share(subject.own_s) >= EXPLAINS
        or subject.share(waiting) >= FAR_BELOW
        or per_cycle >= _BUSY_CORE
        or subject.doubted("short")
        or subject.doubted("kernel-time")
    ):
        return
    yield Advice(
        code="dependent",
        about=about,
        seen=(
            f"{percent(computing / counts.instructions)} of the instructions are floating "
            f"point and {per_cycle:.2g} instructions retire per cycle, which is "
            f"{percent(subject.share(subject.own_s))} of what their roof allows, though cache "
            "misses cost next to nothing"
        ),
        what=(
            "each operation seems to wait for the previous one, or for a branch: compute "
            "several independent results at once (unroll the loop with several sums, use "
            "vectors)"
        ),
        gain=subject.allowed(subject.own_s),
    )


def _gain(subject: Subject, mix: Mix) -> float | None:
    """Return the gain from another mix; None: too small to mention."""
    seconds = mix_time_s(mix, subject.machine, subject.placement.cores)
    return None if seconds is None else _limited(subject, seconds)


def _limited(subject: Subject, mix_s: float) -> float | None:
    """Return the gain if arithmetic takes `mix_s` seconds, at most the ratio of the two times.

    None where the bound hardly moves, since another path takes as long.
    """
    after_s = subject.bound_s(subject.memory_s, mix_s)
    if not after_s or subject.own_s / after_s < LEAST_GAIN:
        return None
    return min(subject.mix_s / mix_s, subject.allowed(after_s))


def _worker(subject: Subject) -> tuple[str, Counts]:
    """Return the name and the counts of the function that does most of the work, or of all."""
    hottest = subject.hottest(lambda function: function.counts.work_flop)
    if hottest is None:
        return subject.name, subject.counts
    return subject.place(hottest[0], lambda counts, _: counts.work_flop), hottest[0].counts


def _computing(counts: Counts) -> int | None:
    """Return the number of floating-point instructions; None: not known."""
    parts = [kind.instructions for kind in counts.flop]
    return sum(part for part in parts if part is not None) if None not in parts else None


def _how_to(goal: Goal, subject: Subject) -> str:
    """Return how to get better instructions in the function that does most of the work."""
    hottest = subject.hottest(lambda function: function.counts.work_flop)
    functions = subject.measurement.counted.functions
    language = language_of(None if hottest is None else hottest[0], functions)
    mix = subject.mix
    widest = 0 if mix is None else _widest(subject, mix)
    return how_to(goal, language, widest=widest)


def _widest(subject: Subject, mix: Mix) -> int:
    """Return the widest vector for the precision of most flop, in bits."""
    most = max(PRECISIONS, key=lambda name: sum(f for (p, _, _), f in mix.items() if p == name))
    return widest_bits(subject.machine, most)


def _rate(subject: Subject, mix: Mix) -> str:
    """Return the rate that a mix can reach, in words."""
    seconds = mix_time_s(mix, subject.machine, subject.placement.cores)
    return format_si(sum(mix.values()) / seconds, "flop/s", digits=3) if seconds else "no rate"
