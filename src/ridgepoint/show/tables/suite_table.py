"""The reference suite for the terminal: a line for each case, and measured over expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.caution import Caution
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.units import format_si
from ridgepoint.models.placement import Placement
from ridgepoint.show.tables.layout import caution_list, not_measured, one_of_each_kind, plain_table
from ridgepoint.show.words import (
    UNKNOWN,
    WITHIN,
    percent,
    printable,
    shown_intensity,
    shown_share,
    shown_within,
)
from ridgepoint.suites.kernels import Workload
from ridgepoint.suites.kernels.results import KernelStudy, Result
from ridgepoint.suites.kernels.validation import QUANTITIES, Ratio, Validation

_FINEST = 0.001  # half width of an interval; a smaller one is shown as this


def suite(study: KernelStudy) -> RenderableType:
    """Return a table of the cases: time, performance, intensity, and how near the roof they come.

    Parameters
    ----------
    study : KernelStudy
    """
    right = ("n", "threads", "time", "flop/s", "flop/byte", "of roof")
    table = plain_table("workload", "n", "caches", *right[1:], "limit", right=right)
    for column in table.columns[1:-1]:
        column.no_wrap = True  # a number stays with its interval
    cautions: list[Caution] = []
    for result, measurement, placed in study.placed:
        table.add_row(*map(Text, _row(result, measurement, placed)))
        cautions += measurement.all_cautions
        cautions += [caution for caution in placed.cautions if caution.code == "above-roof"]
    key = [Text(WITHIN)] if study.placed else []
    parts: list[RenderableType] = [table, *key, *not_measured(study)]
    if cautions:
        parts.append(caution_list(one_of_each_kind(cautions)))
    return Group(*parts)


def _row(result: Result, measurement: Measurement, placed: Placement) -> tuple[str, ...]:
    case = result.case
    runtime, performance = placed.runtime_s, placed.performance_flop_per_s
    has_work = measurement.counted.counts.work_flop > 0
    intensity = placed.intensity_flop_per_byte
    return (
        case.workload,
        str(case.n),
        case.state,
        str(case.threads),
        shown_within(runtime, "s"),
        format_si(performance.median, "", digits=3) if performance and has_work else "-",
        f"{_shown(intensity)}{_interval(measurement)}" if has_work else "-",
        shown_share(placed.efficiency),
        UNKNOWN if placed.bound is None else ", ".join(placed.bindings),
    )


def _shown(intensity: float | None) -> str:
    return "no traffic" if intensity is None else shown_intensity(intensity)


def _interval(measurement: Measurement) -> str:
    """Return the half width of the intensity's interval, if the traffic was estimated."""
    estimate = measurement.counted.estimate
    interval = None if estimate is None else estimate.at("dram")
    if interval is None or not interval.total_bytes[0]:
        return ""
    low, high = interval.total_bytes
    return f" ±{percent(max(_FINEST, (high - low) / (high + low)))}"


def validation(validations: Sequence[Validation]) -> RenderableType:
    """Return measured over expected: the median and the largest over the sizes of each workload.

    Parameters
    ----------
    validations : sequence of Validation
    """
    table = plain_table("workload", "threads", "n", *QUANTITIES, right=("threads", *QUANTITIES))
    for comparison in validations:
        table.add_row(
            comparison.workload,
            str(comparison.threads),
            _range(comparison.sizes),
            *(_shown_ratio(comparison.ratios[name]) for name in QUANTITIES),
        )
    caption = Text("measured / expected, with cold caches: median (largest) over the sizes")
    return Group(caption, table)


def _range(sizes: Sequence[int]) -> str:
    return f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(sizes[0])


def _shown_ratio(ratio: Ratio | None) -> str:
    return "-" if ratio is None else f"{ratio.median:.3f} ({ratio.maximum:.3f})"


def workloads(chosen: Sequence[Workload], missing: Mapping[str, tuple[str, str]]) -> RenderableType:
    """Return the workloads that can run here, and why others cannot.

    Parameters
    ----------
    chosen : sequence of Workload
    missing : mapping of str to (str, str)
        By name: what it lacks, and what to do.
    """
    table = plain_table("workload", "computes", "n", "several threads")
    for workload in chosen:
        several = "yes" if workload.parallel else "no"
        table.add_row(workload.name, workload.formula, _range(workload.sizes), several)
    lacks: dict[tuple[str, str], list[str]] = {}
    for name, why in missing.items():
        lacks.setdefault(why, []).append(name)
    absent = [
        Text(printable(f"not here: {', '.join(names)}: {reason}; {remedy}"))
        for (reason, remedy), names in lacks.items()
    ]
    return Group(table, *absent)
