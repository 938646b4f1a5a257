"""A pipeline's figures as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from operator import mul

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.units import format_si
from ridgepoint.models.pipeline.advice import KINDS, StageAdvice
from ridgepoint.models.pipeline.assessment import Assessment
from ridgepoint.models.pipeline.composites import Composite
from ridgepoint.models.pipeline.devices import Assignment
from ridgepoint.models.pipeline.observation import LEGROOM, Observation, rounded_up
from ridgepoint.models.pipeline.sensitivity import Sensitivity
from ridgepoint.published.sdp_loads import Product
from ridgepoint.show.tables.layout import caution_list, plain_table, sections
from ridgepoint.show.words import (
    machine_title,
    percent,
    printable,
    shown_amount,
    shown_cores,
    shown_devices,
    shown_intensity,
    with_interval,
)

_LIMITERS = {"compute": "compute", "dram": "memory"}
_MOST_ADVICE = 8


def pipeline_table(
    found: Assessment,
    gains: Sensitivity,
    advised: Sequence[StageAdvice],
    *,
    assigned: Assignment | None = None,
    product: Product | None = None,
) -> RenderableType:
    """Return all that is known of a pipeline.

    Parameters
    ----------
    found : Assessment
    gains : Sensitivity
    advised : sequence of StageAdvice
    assigned : Assignment or None
        To several machines; None: there is one.
    product : Product or None
        Whose published loads the stages have.
    """
    devices = _devices(found, product)
    return sections(
        Group(*map(Text, _heading(found, product))),
        Group(_stages(found), *map(Text, _times(found))),
        Group(_composites(found), *map(Text, _differences(found))),
        Group(*map(Text, devices)) if devices else None,
        _gains(gains),
        _advice(advised) if advised else None,
        None if assigned is None else _assignment(assigned),
        caution_list(found.cautions) if found.cautions else None,
    )


def _heading(found: Assessment, product: Product | None) -> list[str]:
    unit = found.pipeline.unit
    cores = "" if found.cores is None else f", {shown_cores(found.cores)}"
    lines = [
        printable(found.pipeline.name),
        f"{machine_title(found.machine)}{cores}: peak {format_si(found.peak, f'{unit}/s')}, memory "
        f"{format_si(found.bandwidth, 'B/s')}, ridge point {shown_intensity(found.ridge)} "
        f"{unit}/byte",
    ]
    if product is not None:
        lines.append(
            f"published loads of {product.title}: stages of one second; imaging is "
            f"{percent(product.imaging_share)} of {format_si(product.total_flop_per_s, 'flop/s')}"
        )
    return lines


def _stages(found: Assessment) -> RenderableType:
    unit = found.pipeline.unit
    right = ("work", "intensity", "time", "share", "performance", "of roof")
    table = plain_table("stage", *right, "limited by", right=right)
    for one in found.stages:
        runs = "" if one.stage.repeat == 1 else f" x {one.stage.repeat:g}"
        table.add_row(
            f"{printable(one.stage.name)}{runs}",
            format_si(one.work, unit),
            "infinite" if one.intensity is None else shown_intensity(one.intensity),
            format_si(one.time_s, "s"),
            percent(one.weight),
            format_si(one.performance, f"{unit}/s") if one.work else "none",
            percent(one.programming_efficiency),
            _LIMITERS[one.limiter],
        )
    return table


def _times(found: Assessment) -> list[str]:
    host = found.pipeline.host_time_s
    lines = [f"stages {_spread(found.time_s, 's')}"]
    if host is None or found.total_s is None:
        lines.append("the host's time is unknown, so the whole takes at least that")
    else:
        total = _spread(found.total_s, "s")
        lines.append(f"with the host's {format_si(host.median, 's')}, together {total}")
    lines.append(
        f"at the roofs {format_si(found.bound_s, 's')} in series; "
        f"{format_si(found.mixed_s, 's')} if stages could run at once"
    )
    return lines


def _composites(found: Assessment) -> RenderableType:
    right = ("intensity", "RE", "PE", "CE", "against series")
    more = () if found.devices is None else ("N", "N at the roofs")
    table = plain_table("composite", *right, *more, right=(*right, *more))
    for one in found.composites:
        own = one.rule == "exact"
        table.add_row(
            one.equation,
            "infinite" if one.intensity is None else f"{one.intensity:.4g}",
            f"{percent(one.roofline_efficiency.median)}{' (clipped)' if one.is_clipped else ''}",
            percent(one.programming_efficiency.median),
            percent(one.compute_efficiency.median),
            "" if own else f"{100 * one.difference:+.1f} %",
            *([] if not more else [_number(one), shown_devices(one.devices_at_roof or 0.0)]),
        )
    return table


def _number(one: Composite) -> str:
    return "unknown" if one.devices is None else shown_devices(one.devices.median)


def _differences(found: Assessment) -> list[str]:
    return [f"{one.equation}: {one.why}" for one in found.composites if one.rule != "exact"]


def _devices(found: Assessment, product: Product | None) -> list[str]:
    needed = found.devices
    if needed is None or found.load_per_s is None:
        return []
    load = format_si(found.load_per_s, f"{found.pipeline.unit}/s")
    lack = " (no interval: single values)" if needed.low is None else ""
    lines = [
        f"devices for {load}, Eq. (10): {_whole(needed)}{lack}",
        f"with a legroom of {percent(LEGROOM[0])} to {percent(LEGROOM[1])}: "
        f"{rounded_up(needed.median / LEGROOM[0])} to {rounded_up(needed.median / LEGROOM[1])}",
    ]
    if found.total_s is not None and found.total_s.median > found.time_s.median:
        longer = found.total_s.median / found.time_s.median
        lines.append(f"if devices wait while the host works: {rounded_up(needed.median * longer)}")
    if product is not None:
        own = sum(one.work for one in found.stages)
        share = needed.median * own / found.load_per_s
        lines.append(f"for these stages alone, {format_si(own, 'flop/s')}: {rounded_up(share)}")
    return lines


def _whole(needed: Estimate) -> str:
    return with_interval(needed, lambda devices: f"{rounded_up(devices)}")


def _spread(estimate: Estimate, unit: str) -> str:
    return with_interval(estimate, lambda value: format_si(value, unit))


def _gains(gains: Sensitivity) -> RenderableType:
    right = ("10 % less time", "10 % fewer bytes", "10 % less work")
    table = plain_table("what a tenth gains", *right, right=right)
    for one in gains.stages:
        table.add_row(
            printable(one.name), _times_as_fast(one.time), _times_as_fast(one.moved_bytes),
            _times_as_fast(one.flop),
        )  # fmt: skip
    device = gains.device
    better = "compute" if device.compute >= device.bandwidth else "bandwidth"
    said = (
        f"10 % more compute: {_times_as_fast(device.compute)}; bandwidth: "
        f"{_times_as_fast(device.bandwidth)}; both: {_times_as_fast(device.both)}: "
        f"{better} buys more"
    )
    return Group(table, Text(said))


def _times_as_fast(gain: float) -> str:
    return f"{gain:.4f}x"


def _advice(advised: Sequence[StageAdvice]) -> RenderableType:
    table = plain_table("what next", "pipeline", "stage", "", right=("pipeline", "stage"))
    for one in advised[:_MOST_ADVICE]:
        said = Text(f"{KINDS[one.kind]}: ", style="bold")
        said.append(printable(f"{one.seen}; {one.what}"), style="not bold")
        table.add_row(
            printable(one.stage), f"at most {one.pipeline_gain:.2f}x", f"{one.gain:.3g}x", said
        )
    return table


def _assignment(assigned: Assignment) -> RenderableType:
    table = plain_table("each stage where it runs best", "machine", "time", "transfer",
                        right=("time", "transfer"))  # fmt: skip
    for one in assigned.stages:
        moved = format_si(one.transfer_s, "s") if one.transfer_s else "none"
        table.add_row(
            printable(one.name), printable(one.machine), format_si(one.time_s, "s"),
            moved if assigned.has_transfers else "not counted",
        )  # fmt: skip
    alone = ", ".join(
        f"{printable(name)} {'cannot' if seconds is None else format_si(seconds, 's')}"
        for name, seconds in assigned.alone_s
    )
    shares = ", ".join(
        f"{printable(name)} {format_si(seconds, 's')}" for name, seconds in assigned.shares
    )
    said = [f"together {format_si(assigned.time_s, 's')}; all on one: {alone}"]
    if len(assigned.shares) > 1:
        said.append(f"needed in the proportion of their work: {shares}")
    return Group(table, *map(Text, said))


def observation_table(found: Observation) -> RenderableType:
    """Return several pipelines that share an observation."""
    right = ("weight", "time", "load", "CE", "N")
    table = plain_table("pipeline", *right, right=right)
    for one in found.shares:
        needed, load = one.assessment.devices, one.assessment.load_per_s
        table.add_row(
            printable(one.assessment.pipeline.name),
            f"{one.weight:g}",
            format_si(one.time_s.median, "s"),
            shown_amount(load, f"{one.assessment.pipeline.unit}/s"),
            percent(one.assessment.compute_efficiency.median),
            "unknown" if needed is None else shown_devices(needed.median),
        )
    lines = [*_time_of(found), *_devices_of(found)]
    return Group(Text("observation", style="bold"), table, *map(Text, lines))


def _time_of(found: Observation) -> list[str]:
    """Return Eq. (12), and the devices with which the stages end in time."""
    of = "each second of the observation" if found.is_of_a_second else "the observation"
    if found.period_s is not None:
        of = f"{format_si(found.period_s, 's')} of observation"
    lines = [f"time of the stages for {of} on one device, Eq. (12): {_spread(found.time_s, 's')}"]
    for share in found.legroom:
        needed = found.devices_to_fit(share)
        if needed is not None:
            lines.append(f"devices that end them in {percent(share)} of it: {_whole(needed)}")
    return lines


def _devices_of(found: Observation) -> list[str]:
    """Return Eq. (10) for all pipelines together."""
    mean, most = found.devices, found.most_devices
    if mean is None or most is None:
        return ["devices for the whole load: unknown, since a pipeline has no load"]
    lines = [
        f"devices for the whole load, Eq. (10), weighted: {_whole(mean)}",
        f"at every moment, by the pipeline that needs most: {_whole(most)}",
    ]
    for share in found.legroom:
        roomy = [one.map(partial(mul, 1 / share)) for one in (mean, most)]
        lines.append(
            f"with a legroom of {percent(share)}: {_whole(roomy[0])}; at every moment: "
            f"{_whole(roomy[1])}"
        )
    return lines


def loads_table(published: Mapping[str, Product], source: str) -> RenderableType:
    """Return the published loads of the science data processor."""
    first = next(iter(published.values()))
    stages = tuple(first.stage_flop_per_s)
    right = (*stages, "total", "imaging")
    table = plain_table("Tflop/s", *right, right=right)
    for name, one in published.items():
        loads = [*one.stage_flop_per_s.values(), one.total_flop_per_s]
        table.add_row(name, *(f"{load / 1e12:.4g}" for load in loads), percent(one.imaging_share))
    return Group(
        table,
        Text(f"source: {source}"),
        Text("memory traffic, efficiencies, weights: not published"),
    )
