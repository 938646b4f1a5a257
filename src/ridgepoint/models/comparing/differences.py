"""What two measurements do not have in common: said before anything else about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ridgepoint.core.caution import Caution
from ridgepoint.core.machine import Cache, Machine
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.units import format_si, format_size
from ridgepoint.models.comparing.changes import Change
from ridgepoint.models.comparing.quantities import INSTRUCTIONS, WORK
from ridgepoint.models.work import Metric, bop_source, hardly_any

Measured = Measurement | Timing

OTHER_WORK, OTHER_CACHES, OTHER_BOPS = "other-work", "other-caches", "other-count-of-bops"


def differences(
    before: Measured,
    after: Measured,
    changes: Mapping[str, Change],
    machines: tuple[Machine | None, Machine | None],
    *,
    metric: Metric,
) -> tuple[Caution, ...]:
    """Return what a reader must know before comparing two measurements, the weightiest first.

    Parameters
    ----------
    before, after : Measurement or Timing
    changes : mapping of str to Change
        Their amounts.
    machines : tuple of Machine or None
        The machines that bound them.
    metric : {"flop", "bop"}
        Unit of their work.
    """
    return (
        *_other_work(before, after, changes, metric),
        *_uncounted(before, after),
        *_other_part(before, after),
        *_other_place(before, after),
        *_other_bounds(*machines),
        *_other_caches(before, after),
        *_other_levels(before, after),
        *_other_counting(before, after),
        *_disturbed(before, after),
    )


def have_other_caches(before: Measured, after: Measured) -> bool:
    """Return whether traffic was simulated with different caches, so that it cannot be compared."""
    if isinstance(before, Timing) or isinstance(after, Timing):
        return False
    return _data(before.counted.caches) != _data(after.counted.caches)


def count_bops_alike(before: Measured, after: Measured) -> bool:
    """Return whether basic operations were counted in the same way, if both know them."""
    if isinstance(before, Timing) or isinstance(after, Timing):
        return True
    sources = {bop_source(each.counted.counts) for each in (before, after)}
    return len(sources - {None}) < 2


def _other_work(
    before: Measured, after: Measured, changes: Mapping[str, Change], metric: Metric
) -> Iterator[Caution]:
    """Yield that both did not do the same work; of one without work, instructions stand for it."""
    if isinstance(before, Timing) or isinstance(after, Timing):
        return
    counts = (before.counted.counts, after.counted.counts)
    has_none = all(hardly_any(each, metric) for each in counts)
    change = changes[INSTRUCTIONS if has_none else WORK]
    if change.before is None or change.after is None or not change.is_change:
        return
    unit = change.unit or "instructions"
    first, last = (format_si(each.median, unit) for each in (change.before, change.after))
    yield Caution(
        OTHER_WORK,
        f"the counts differ: this is not the same work ({first} before, {last} after)",
        "if the same problem was solved, this is a change of the program; else compare runs of the "
        "same problem",
    )


def _uncounted(before: Measured, after: Measured) -> Iterator[Caution]:
    for when, each in (("before", before), ("after", after)):
        if isinstance(each, Timing):
            why = "" if each.uncounted is None else f": {each.uncounted.seen}"
            yield Caution(
                "not-counted",
                f"{when} was timed but not counted, so only times are compared{why}",
                "measure it again so that it is counted",
            )
        elif each.counted.partial is not None:
            yield Caution(
                "partial-counts",
                f"{when} has counts of a part of the run only: {each.counted.partial}",
                "compare whole runs",
            )


def _other_part(before: Measured, after: Measured) -> Iterator[Caution]:
    parts = [
        "the whole program" if isinstance(each, Timing) or each.counted.selected is None
        else each.counted.selected
        for each in (before, after)
    ]  # fmt: skip
    if parts[0] != parts[1]:
        yield Caution(
            "other-part",
            f"the measurements are of different parts: {parts[0]} before, {parts[1]} after",
            "measure the same part in both",
        )


def _other_place(before: Measured, after: Measured) -> Iterator[Caution]:
    was, is_now = before.context, after.context
    if was.cpu != is_now.cpu or was.hostname != is_now.hostname:
        yield Caution(
            "other-machine",
            f"they were measured on different machines: {was.cpu!r} ({was.hostname}) before, "
            f"{is_now.cpu!r} ({is_now.hostname}) after",
            "the difference of the times is that of program and machine together; counts can be "
            "compared",
        )
    elif len(was.affinity) != len(is_now.affinity):
        yield Caution(
            "other-cpus",
            f"they could use a different number of CPUs: {len(was.affinity)} before, "
            f"{len(is_now.affinity)} after",
            "measure both with the same CPUs",
        )
    names = sorted({*was.environment, *is_now.environment})
    changed = [
        f"{name}={was.environment.get(name, '(not set)')} before, "
        f"{is_now.environment.get(name, '(not set)')} after"
        for name in names
        if was.environment.get(name) != is_now.environment.get(name)
    ]
    if changed:
        yield Caution(
            "other-environment",
            f"variables that change how programs run differ: {'; '.join(changed)}",
            "measure both with the same settings",
        )


def _other_bounds(before: Machine | None, after: Machine | None) -> Iterator[Caution]:
    if before is None or after is None:
        missing = [when for when, machine in (("before", before), ("after", after)) if not machine]
        yield Caution(
            "no-machine",
            f"no machine bounds the measurement {' and '.join(missing)}, so what limits it is "
            "unknown",
            "give a machine for both: --machine",
        )
    elif (before.name, before.created) != (after.name, after.created):
        yield Caution(
            "other-roofs",
            f"they are bounded by different machines or measurements of one: {before.name!r} "
            f"before, {after.name!r} after",
            "bound both by one: --machine",
        )


def _other_caches(before: Measured, after: Measured) -> Iterator[Caution]:
    if isinstance(before, Timing) or isinstance(after, Timing):
        return
    if have_other_caches(before, after):
        first, last = (_shown(each.counted.caches) for each in (before, after))
        yield Caution(
            OTHER_CACHES,
            f"the traffic is of different caches: {first} before, {last} after",
            "simulate the same caches in both, with --cache or on the same machine",
        )
    if not count_bops_alike(before, after):
        yield Caution(
            OTHER_BOPS,
            "basic operations were counted in two ways: by what instructions do, and by Eq. (3)",
            "count both with the same meter",
        )


def _other_levels(before: Measured, after: Measured) -> Iterator[Caution]:
    if isinstance(before, Timing) or isinstance(after, Timing):
        return
    levels = [{part.level for part in each.counted.traffic} for each in (before, after)]
    for when, missing in (("before", levels[1] - levels[0]), ("after", levels[0] - levels[1])):
        if missing:
            names = ", ".join(level.upper() for level in sorted(missing))
            yield Caution(
                "missing-levels",
                f"the traffic at {names} is unknown {when}",
                "measure both with the same options",
            )


def _other_counting(before: Measured, after: Measured) -> Iterator[Caution]:
    if isinstance(before, Timing) or isinstance(after, Timing):
        return
    meters = [each.counted.meter.partition(" ")[0] for each in (before, after)]
    versions = [each.context.versions.get("ridgepoint") for each in (before, after)]
    if meters[0] != meters[1]:
        yield Caution(
            "other-meter",
            f"they were counted in different ways: {before.counted.meter} before, "
            f"{after.counted.meter} after",
            "count both with the same --meter",
        )
    elif versions[0] != versions[1]:
        yield Caution(
            "other-version",
            f"they were counted by different versions of Ridgepoint: {versions[0] or 'unknown'} "
            f"before, {versions[1] or 'unknown'} after",
            "if counts differ, measure both with the same version",
        )


def _disturbed(before: Measured, after: Measured) -> Iterator[Caution]:
    for when, each in (("before", before), ("after", after)):
        for caution in each.disturbances:
            yield Caution(caution.code, f"{when}: {caution.seen}", caution.remedy, on="time")


def _data(caches: Sequence[Cache]) -> list[tuple[int, int, int, int | None]]:
    return [
        (cache.level, cache.size_bytes, cache.line_bytes, cache.ways)
        for cache in caches
        if cache.kind != "instruction"
    ]


def _shown(caches: Sequence[Cache]) -> str:
    sizes = [
        f"L{cache.level} {format_size(cache.size_bytes)}"
        for cache in caches
        if cache.kind != "instruction"
    ]
    return ", ".join(sizes) or "those of the processor"
