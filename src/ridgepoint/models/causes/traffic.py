"""Causes that are traffic which a program need not have."""

from __future__ import annotations

from collections.abc import Iterator

from ridgepoint.core.resources import LEVELS
from ridgepoint.core.units import format_si, format_size
from ridgepoint.models.advice.memory import PART_OF_LINE, WRITES_MATTER, overwritten_bytes
from ridgepoint.models.advice.subject import percent
from ridgepoint.models.causes.cause import NOTHING, Case, Cause, Finding
from ridgepoint.models.explanations import MISSES
from ridgepoint.models.thresholds import LEAST_GAIN


def traffic(case: Case, others: dict[str, Cause]) -> Iterator[Cause]:
    """Yield the causes that are bytes moved in vain.

    Parameters
    ----------
    case : Case
    others : dict of str to Cause
        Those that were judged already, by code.
    """
    for code, what, judge in (
        ("reuse", "more memory traffic than a larger cache would leave", _reuse),
        ("part-of-lines", "cache lines of which only a part is used", _part_of_lines),
        ("write-allocate", "memory read only to be overwritten", _write_allocate),
    ):
        standing, why, settle = judge(case, others)
        yield Cause(
            code=code, what=what, standing=standing, why=why, settle=settle.text, again=settle.again
        )


def _without_memory(others: dict[str, Cause], levels: tuple[str, ...]) -> str | None:
    """Return why traffic at these levels does not matter; None: it may."""
    paths = [others[name] for name in (*levels, MISSES)]
    if any(path.standing != "ruled out" for path in paths):
        return None
    most = max(
        (path for path in paths[:-1]), key=lambda path: path.share.median if path.share else 0.0
    )
    return f"traffic does not limit it: {most.why}; and {paths[-1].why}"


def _reuse(case: Case, others: dict[str, Cause]) -> Finding:
    if (why := _without_memory(others, ("dram",))) is not None:
        return "ruled out", why, NOTHING
    measurement = case.subject.measurement
    curve, dram = measurement.counted.miss_curve, measurement.traffic_at("dram")
    if curve is None or dram is None:
        settle = case.settled_by("--miss-curve")
        return "unknown", "the traffic with a larger cache was not simulated", settle
    now = dram.known_bytes
    least = min(float(curve.read_bytes[-1] + curve.write_bytes[-1]), float(now))
    size = format_size(curve.capacities_bytes[-1])
    if now < LEAST_GAIN * least:
        share = percent(least / now) if now else "all"
        return (
            "ruled out",
            f"with a cache of {size}, {share} of its traffic would still move",
            NOTHING,
        )
    fewer, moved = (format_si(amount, "B", digits=3) for amount in (least, now))
    return "contributes", f"with a cache of {size}, {fewer} of its {moved} would move", NOTHING


def _part_of_lines(case: Case, others: dict[str, Cause]) -> Finding:
    if (why := _without_memory(others, LEVELS[1:])) is not None:
        return "ruled out", why, NOTHING
    l1, l2 = case.subject.traffic("l1"), case.subject.traffic("l2")
    if l1 is None or l2 is None or l1.write_bytes is None:
        return "unknown", "its traffic at L1 and L2 was not counted", NOTHING
    used = l1.read_bytes + l1.write_bytes
    if not used:
        return "ruled out", "nothing is loaded or stored", NOTHING
    ratio = l2.read_bytes / used
    seen = f"bytes fetched into L1 for each byte loaded or stored: {ratio:.2g}"
    return ("ruled out" if ratio < PART_OF_LINE else "contributes"), seen, NOTHING


def _write_allocate(case: Case, others: dict[str, Cause]) -> Finding:
    if (why := _without_memory(others, ("dram",))) is not None:
        return "ruled out", why, NOTHING
    subject = case.subject
    dram = subject.traffic("dram")
    if dram is None or dram.write_bytes is None or subject.counts.store_bytes is None:
        return "unknown", "the bytes written to memory, or stored, are not known", NOTHING
    if not dram.write_bytes:
        return "ruled out", "nothing is written to memory", NOTHING
    certain, possible = overwritten_bytes(subject)
    most = min(certain or possible, float(dram.write_bytes))
    total = dram.read_bytes + dram.write_bytes
    share = percent(most / total)
    if most < WRITES_MATTER * total:
        return "ruled out", f"at most {share} of its traffic are such reads", NOTHING
    if certain:
        return "contributes", f"at least {share} of its traffic are such reads", NOTHING
    return "unknown", f"up to {share} of its traffic may be such reads", NOTHING
