"""Whether a program's work, and which of it, is worth a roof."""

from __future__ import annotations

from ridgepoint.core.counts import Counts
from ridgepoint.core.units import format_si
from ridgepoint.models.work import WORK_UNITS, Metric, flop_share, work_total
from ridgepoint.show.words import UNKNOWN, percent, shown_intensity


def hardly_any_text(counts: Counts, metric: Metric = "flop") -> str:
    """Return in words that there is hardly any work, none, or that it is not known."""
    if metric == "bop":
        unknown = work_total(counts, metric) is None
        return "basic operations unknown" if unknown else "hardly any basic operation"
    if not counts.work_flop:
        return "no floating-point work"
    return f"hardly any floating-point work ({counts.work_flop} flop)"


def judged_by(counts: Counts, metric: Metric) -> str | None:
    """Return what the work is counted in, and why; None: basic operations are not known."""
    share = flop_share(counts)
    if share is None:
        return None
    if metric == "flop":
        return f"floating point: {percent(share)} of its basic operations (or --work bops)"
    if not counts.work_flop:
        return "basic operations: none of them is floating point"
    return f"basic operations: {percent(share)} of them are floating point (or --work flop)"


def shown_work(counts: Counts, metric: Metric) -> str:
    """Return the work in all, with its unit."""
    work = work_total(counts, metric)
    if work is None:
        return UNKNOWN
    return format_si(work, WORK_UNITS[metric]) if work else f"0 {WORK_UNITS[metric]}"


def shown_work_per_byte(counts: Counts, metric: Metric, moved_bytes: int | None) -> str:
    """Return the intensity, without its unit."""
    work = work_total(counts, metric)
    if work is None or moved_bytes is None:
        return UNKNOWN
    return shown_intensity(work / moved_bytes) if moved_bytes else "inf."
