"""Workloads at sizes that are timed whole, and counted in parts that tell how counts grow.

Counting takes up to a hundred times as long as running: of 15 GB, that is hours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import COUNT_NAMES, Counts, FlopCount, Traffic
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.units import format_si
from ridgepoint.meters import Selection
from ridgepoint.profiling.native_times import NativeTimes, with_time_of
from ridgepoint.suites.datacenter.programs import REGION, WORKLOADS, Growth
from ridgepoint.suites.datacenter.results import DatacenterCase

_PIECES = 64
_SAME = 0.01
"""Counts that differ by less, or by fewer than `_FEW`, are taken not to grow at all."""
_FEW = 1000

Grown = Callable[[float, float], float]
"""What a count becomes, from that of the smaller and of the larger part."""


def is_counted_in_parts(case: DatacenterCase) -> bool:
    """Return whether a case is too large to be counted whole, and grows as is known."""
    workload = WORKLOADS[case.workload]
    if workload.growth is None:
        return False
    if case.size_unit == workload.size_unit:
        return case.size > workload.default_size
    return case.size > workload.default_size * workload.unit_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of the data of a case.

    Parameters
    ----------
    case : DatacenterCase
        The same task on these data alone.
    n_bytes : int
    options : tuple of str
        Options of the program with which it makes as many temporary files as of all data.
    """

    case: DatacenterCase
    n_bytes: int
    options: tuple[str, ...]


def parts(case: DatacenterCase, folder: Path, units: Sequence[int]) -> list[Part]:
    """Write parts of a case's data to files.

    Parameters
    ----------
    case : DatacenterCase
        Whose data are in a file.
    folder : Path
    units : sequence of int
        Sizes of the parts, in the unit of the workload.
    """
    assert case.data is not None
    workload, whole = WORKLOADS[case.workload], Path(case.data)
    taken = []
    for size in units:
        path = folder / f"{case.workload}-{size}"
        if not path.exists():
            _write_part(whole, path, int(size * workload.unit_bytes))
        n_bytes = path.stat().st_size
        share = n_bytes / whole.stat().st_size
        options: tuple[str, ...] = ()
        if workload.block is not None:
            options = ("--block", str(max(round(workload.block * share), 1)))
        own = replace(case, data=str(path), size=n_bytes, size_unit="bytes")
        taken.append(Part(case=own, n_bytes=n_bytes, options=options))
    return taken


def grown_to(case: DatacenterCase, chosen: Sequence[Part]) -> Grown:
    """Return how counts of two parts, the smaller one first, continue to all of a case's data."""
    growth = WORKLOADS[case.workload].growth
    assert growth is not None
    small, large = (part.n_bytes for part in chosen)
    return continued(growth, (small, large), _bytes_of(case))


def _bytes_of(case: DatacenterCase) -> int:
    assert case.data is not None
    return Path(case.data).stat().st_size


def _write_part(whole: Path, path: Path, n_bytes: int) -> None:
    """Copy whole lines from places that are spread evenly over a file."""
    total = whole.stat().st_size
    with whole.open("rb") as source, path.open("wb") as part:
        for piece in range(_PIECES):
            source.seek(total * piece // _PIECES)
            if piece:
                source.readline()  # the rest of a line
            taken = source.read(n_bytes // _PIECES)
            part.write(taken + (b"" if taken.endswith(b"\n") else source.readline()))


def continued(growth: Growth, sizes: tuple[float, float], whole: float) -> Grown:
    """Return how counts of two parts continue to the whole.

    Parameters
    ----------
    growth : {"n", "n log n"}
        a + b n, or n (a + b log n), through both counts.
    sizes : tuple of float
        Of the parts, the smaller one first, byte.
    whole : float
        Byte.
    """
    small, large = sizes

    def grown(first: float, second: float) -> float:
        if abs(second - first) <= max(_SAME * abs(second), _FEW):
            return second
        if growth == "n":
            return second + (second - first) / (large - small) * (whole - large)
        slope = (second / large - first / small) / math.log(large / small)
        return whole * (second / large + slope * math.log(whole / large))

    return grown


def continued_operations(
    first: BasicOperations, second: BasicOperations, grown: Grown
) -> BasicOperations:
    """Return the operations of the whole."""
    return BasicOperations(
        **{
            field.name: _whole(getattr(first, field.name), getattr(second, field.name), grown)
            for field in fields(BasicOperations)
        }
    )


def _counted(first: Counted, second: Counted, grown: Grown, growth: Growth) -> Counted:
    """Return what would have been counted of the whole, without its functions.

    Traffic that grows otherwise than the data, since they no longer fit a cache, is not known.
    """
    return Counted(
        meter=second.meter,
        counts=_counts(first.counts, second.counts, grown),
        traffic=_traffic(first.traffic, second.traffic, grown) if growth == "n" else (),
        caches=second.caches,
        processes=second.processes,
        cautions=second.cautions,
        selected=second.selected,
        most_threads=second.most_threads,
    )


def continued_measurement(
    case: DatacenterCase,
    chosen: Sequence[Part],
    counted: tuple[Counted, Measurement],
    times: NativeTimes,
    *,
    command: Sequence[str],
) -> Measurement:
    """Return the measurement of a case that was timed whole and counted in two parts.

    Parameters
    ----------
    case : DatacenterCase
        Whose data are in a file.
    chosen : sequence of Part
        The smaller and the larger one.
    counted : tuple of (Counted, Measurement)
        Of both.
    times : NativeTimes
        Of the whole.
    command : sequence of str
        With which it was timed.
    """
    growth = WORKLOADS[case.workload].growth
    assert growth is not None
    first, second = counted
    whole = replace(
        second,
        command=tuple(command),
        counted=_counted(first, second.counted, grown_to(case, chosen), growth),
        timed=times.timed,
        timed_regions=times.regions,
        cautions=(*second.cautions, *times.cautions, _in_parts(case, chosen, growth)),
    )
    selection = Selection(kind="region", name=REGION, all_threads=case.threads > 1)
    return with_time_of(selection, whole)


def _in_parts(case: DatacenterCase, chosen: Sequence[Part], growth: Growth) -> Caution:
    """Return the caution that counts are extrapolated, and how."""
    counted = " and ".join(format_si(part.n_bytes, "B", digits=3) for part in chosen)
    formula = "a + b n" if growth == "n" else "n (a + b log n)"
    unknown = "" if growth == "n" else "; traffic at that size is not known"
    return Caution(
        "counted-in-parts",
        f"{case.title} was counted in {counted} of its data, and the counts extrapolated to "
        f"{format_si(_bytes_of(case), 'B', digits=3)} by {formula}{unknown}",
        "count it whole with 'ridgepoint run --region measured', which takes up to 100 times as "
        "long as the program",
    )


def _whole(first: int, second: int, grown: Grown) -> int:
    count = round(grown(first, second))
    if count < 0:
        raise CannotMeasure(
            "cannot continue the counts of a part",
            reason=f"{first} and {second} operations do not grow with the data as expected",
            remedy="give a smaller size, which is counted whole",
        )
    return count


def _known(first: int | None, second: int | None, grown: Grown) -> int | None:
    return None if first is None or second is None else _whole(first, second, grown)


def _counts(first: Counts, second: Counts, grown: Grown) -> Counts:
    numbers: dict[str, Any] = {
        name: _known(getattr(first, name), getattr(second, name), grown) for name in COUNT_NAMES
    }
    of_first, basic, others = (
        {kind.kind: kind for kind in first.flop},
        first.basic_operations,
        second.basic_operations,
    )
    return replace(
        second,
        **numbers,
        flop=tuple(_flop(of_first.get(kind.kind), kind, grown) for kind in second.flop),
        basic_operations=None
        if basic is None or others is None
        else continued_operations(basic, others, grown),
    )


def _flop(first: FlopCount | None, second: FlopCount, grown: Grown) -> FlopCount:
    def number(name: str) -> int | None:
        return _known(0 if first is None else getattr(first, name), getattr(second, name), grown)

    names = ("flop", "masked_flop", "useful_flop", "instructions")
    numbers: dict[str, Any] = {name: number(name) for name in names}
    return replace(second, **numbers)


def _traffic(
    first: Iterable[Traffic], second: Iterable[Traffic], grown: Grown
) -> tuple[Traffic, ...]:
    of_first = {part.level: part for part in first}
    return tuple(
        replace(
            part,
            read_bytes=_whole(of_first[part.level].read_bytes, part.read_bytes, grown),
            write_bytes=_known(of_first[part.level].write_bytes, part.write_bytes, grown),
            pending_write_bytes=_known(
                of_first[part.level].pending_write_bytes, part.pending_write_bytes, grown
            ),
        )
        for part in second
        if part.level in of_first
    )
