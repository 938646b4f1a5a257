"""A pipeline's figures as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.units import format_si
from ridgepoint.models.pipeline.advice import KINDS, StageAdvice
from ridgepoint.models.pipeline.assessment import AggregateEstimate, Assessment
from ridgepoint.models.pipeline.devices import Assignment
from ridgepoint.models.pipeline.observation import USED, Observation, rounded_up, with_legroom
from ridgepoint.models.pipeline.sensitivity import Sensitivity
from ridgepoint.published.sdp_loads import Product
from ridgepoint.show.tables.layout import caution_list, plain_table, sections
from ridgepoint.show.words import (
    UNKNOWN,
    machine_title,
    percent,
    printable,
    shown_amount,
    shown_cores,
    shown_devices,
    shown_intensity,
    shown_time,
    with_interval,
)

_LIMITERS = {"compute": "compute", "dram": "memory"}
_MOST_ADVICE = 8


def pipeline_table(
    assessment: Assessment,
    gains: Sensitivity,
    advised: Sequence[StageAdvice],
    *,
    assigned: Assignment | None = None,
    product: Product | None = None,
    used: Sequence[float] = USED,
) -> RenderableType:
    """Return all that is known of a pipeline.

    Parameters
    ----------
    assessment : Assessment
    gains : Sensitivity
    advised : sequence of StageAdvice
    assigned : Assignment or None
        To several machines; None: there is one.
    product : Product or None
        Whose published loads the stages have.
    used : sequence of float
        Shares of a device's time that the pipeline may use, in (0, 1]; the rest is legroom.
    """
    devices = _devices(assessment, product, used)
    return sections(
        Group(*map(Text, _heading(assessment, product))),
        Group(_stages(assessment), *map(Text, _times(assessment))),
        Group(_composites(assessment), *map(Text, _differences(assessment))),
        Group(*map(Text, devices)) if devices else None,
        _gains(gains),
        _advice(advised) if advised else None,
        None if assigned is None else _assignment(assigned, assessment.pipeline.unit),
        caution_list(assessment.cautions) if assessment.cautions else None,
    )


def _heading(assessment: Assessment, product: Product | None) -> list[str]:
    unit = assessment.pipeline.unit
    cores = "" if assessment.cores is None else f", {shown_cores(assessment.cores)}"
    roofs = (
        f"peak {format_si(assessment.peak, f'{unit}/s')}",
        f"memory {format_si(assessment.bandwidth, 'B/s')}",
        f"ridge point {shown_intensity(assessment.ridge)} {unit}/byte",
    )
    lines = [
        printable(assessment.pipeline.name),
        f"{machine_title(assessment.machine)}{cores}: {', '.join(roofs)}",
    ]
    if product is not None:
        lines.append(
            f"published loads of {product.title}: stages of one second; imaging is "
            f"{percent(product.imaging_share)} of {format_si(product.total_flop_per_s, 'flop/s')}"
        )
    return lines


def _stages(assessment: Assessment) -> RenderableType:
    unit = assessment.pipeline.unit
    right = ("work", "intensity", "time", "share", "performance", "bandwidth", "of roof")
    table = plain_table("stage", *right, "limit", right=right)
    for stage in assessment.stages:
        runs = "" if stage.stage.repeat == 1 else f" x {stage.stage.repeat:.4g}"
        table.add_row(
            f"{printable(stage.stage.name)}{runs}",
            format_si(stage.work, unit, digits=3),
            "infinite" if stage.intensity is None else shown_intensity(stage.intensity),
            shown_time(stage.time_s),
            percent(stage.weight),
            format_si(stage.performance, f"{unit}/s", digits=3) if stage.work else "none",
            format_si(stage.moved_bytes_per_s, "B/s", digits=3) if stage.moved_bytes else "none",
            percent(stage.programming_efficiency),
            "both" if stage.is_at_the_ridge else _LIMITERS[stage.limiter],
        )
    return table


def _times(assessment: Assessment) -> list[str]:
    host = assessment.pipeline.host_time_s
    reached = (
        f"{format_si(assessment.performance, f'{assessment.pipeline.unit}/s')} and "
        f"{format_si(assessment.moved_bytes_per_s, 'B/s')}, Eqs. (3) and (4)"
    )
    lines = [f"stages {with_interval(assessment.time_s, shown_time)}: {reached}"]
    if host is None or assessment.total_s is None:
        lines.append("the host's time is unknown, so the whole takes at least this time")
    else:
        total = with_interval(assessment.total_s, shown_time)
        lines.append(f"with the host's {shown_time(host.median)}, together {total}, Eq. (11)")
    lines.append(
        f"at the roofs {shown_time(assessment.bound_s)} in series; "
        f"{shown_time(assessment.mixed_s)} if stages could run at once"
    )
    return lines


def _composites(assessment: Assessment) -> RenderableType:
    right = ("intensity", "RE", "PE", "CE", "against series")
    more = () if assessment.devices is None else ("N", "N at the roofs")
    table = plain_table("composite", *right, *more, right=(*right, *more))
    for composite in assessment.composites:
        own = composite.rule == "exact"
        clipped = " (clipped)" if composite.is_clipped else ""
        table.add_row(
            composite.equation,
            "infinite" if composite.intensity is None else f"{composite.intensity:.4g}",
            f"{percent(composite.roofline_efficiency.median)}{clipped}",
            percent(composite.programming_efficiency.median),
            percent(composite.compute_efficiency.median),
            "" if own else f"{round(100 * composite.difference, 1) + 0.0:+.1f} %",
            *(
                []
                if not more
                else [
                    _number(None if composite.devices is None else composite.devices.median),
                    _number(composite.devices_at_roof),
                ]
            ),
        )
    for name, estimate in _aggregates(assessment):
        table.add_row(
            name,
            f"{assessment.work / assessment.moved_bytes:.4g}",
            "",
            "",
            percent(estimate.compute_efficiency),
            "",
            *((_number(estimate.devices), "") if more else ()),
        )
    return table


def _number(devices: float | None) -> str:
    return UNKNOWN if devices is None else shown_devices(devices)


def _aggregates(assessment: Assessment) -> list[tuple[str, AggregateEstimate]]:
    """Return the estimates from aggregate loads: at the machine's bandwidth, at that reached."""
    rates = {"memo 10 (a)": assessment.bandwidth, "memo 10 (b)": assessment.moved_bytes_per_s}
    found = ((name, assessment.aggregate(rate)) for name, rate in rates.items())
    return [(name, estimate) for name, estimate in found if estimate is not None]


def _differences(assessment: Assessment) -> list[str]:
    lines = [
        f"{composite.equation}: {composite.why}"
        for composite in assessment.composites
        if composite.rule != "exact"
    ]
    if assessment.moved_bytes:
        machine, reached = (
            format_si(rate, "B/s") for rate in (assessment.bandwidth, assessment.moved_bytes_per_s)
        )
        beyond = any(each.compute_efficiency > 1 for _, each in _aggregates(assessment))
        lines.append(
            f"memo 10: the aggregate intensity times (a) the machine's {machine}, "
            f"(b) the {reached} that are reached"
            + ("; what is above 100 % is beyond the peak" if beyond else "")
        )
    return lines


def _devices(assessment: Assessment, product: Product | None, used: Sequence[float]) -> list[str]:
    needed = assessment.devices
    if needed is None or assessment.load_per_s is None:
        return []
    load = format_si(assessment.load_per_s, f"{assessment.pipeline.unit}/s")
    lack = " (no interval: single values)" if needed.low is None else ""
    lines = [
        f"devices for {load}, Eq. (10): {_whole(needed)}{lack}",
        *(f"{_legroom(share)}: {rounded_up(with_legroom(needed, share).median)}" for share in used),
    ]
    if (waiting := assessment.devices_if_they_wait) is not None:
        lines.append(f"if devices wait while the host works: {rounded_up(waiting)}")
    if product is not None and (alone := assessment.devices_for_the_stages) is not None:
        load = format_si(assessment.work, "flop/s")
        lines.append(f"for these stages only, {load}: {rounded_up(alone)}")
    return lines


def _legroom(used: float) -> str:
    return f"with a legroom of {percent(1 - used)}, {percent(used)} used"


def _whole(needed: Estimate) -> str:
    return with_interval(needed, lambda devices: f"{rounded_up(devices)}")


def _gains(gains: Sensitivity) -> RenderableType:
    right = ("10 % less time", "10 % fewer bytes", "10 % less work")
    table = plain_table("what a tenth gains", *right, right=right)
    for stage in gains.stages:
        table.add_row(
            printable(stage.name), _times_as_fast(stage.time), _times_as_fast(stage.moved_bytes),
            _times_as_fast(stage.flop),
        )  # fmt: skip
    device = gains.device
    better = "both gain the same" if device.better is None else f"{device.better} gains more"
    sentence = (
        f"10 % more compute: {_times_as_fast(device.compute)}; bandwidth: "
        f"{_times_as_fast(device.bandwidth)}, so {better}; compute and bandwidth: "
        f"{_times_as_fast(device.both)}"
    )
    return Group(table, Text(sentence))


def _times_as_fast(gain: float) -> str:
    return f"{gain:.4f}x"


def _advice(advised: Sequence[StageAdvice]) -> RenderableType:
    table = plain_table("what next", "pipeline", "stage", "", right=("pipeline", "stage"))
    for advice in advised[:_MOST_ADVICE]:
        text = Text(f"{KINDS[advice.kind]}: ", style="bold")
        text.append(printable(f"{advice.seen}; {advice.what}"), style="not bold")
        table.add_row(
            printable(advice.stage),
            f"at most {advice.pipeline_gain:.2f}x",
            f"{advice.gain:.3g}x",
            text,
        )
    return table


def _assignment(assigned: Assignment, unit: str) -> RenderableType:
    table = plain_table("each stage where it runs best", "machine", "time", "transfer",
                        right=("time", "transfer"))  # fmt: skip
    for stage in assigned.stages:
        moved = shown_time(stage.transfer_s) if stage.transfer_s else "none"
        table.add_row(
            printable(stage.name), printable(stage.machine), shown_time(stage.time_s),
            moved if assigned.has_transfers else "not counted",
        )  # fmt: skip
    shares = ", ".join(
        f"{printable(name)} {shown_time(seconds)}" for name, seconds in assigned.shares
    )
    lines = [f"together {shown_time(assigned.time_s)}"]
    if len(assigned.shares) > 1:
        lines.append(f"needed in proportion to their work: {shares}")
    return Group(table, *map(Text, lines), Text(), _alone(assigned, unit))


def _alone(assigned: Assignment, unit: str) -> RenderableType:
    """Return each machine with all stages on it; the shares of the roofs are the same on all."""
    right = ("peak", "memory", "time", "CE", "N")
    table = plain_table("all stages on one", *right, right=right)
    for alone in assigned.alone:
        cannot = alone.time_s is None
        table.add_row(
            printable(alone.machine),
            shown_amount(alone.peak, f"{unit}/s"),
            shown_amount(alone.bandwidth, "B/s"),
            "cannot" if alone.time_s is None else shown_time(alone.time_s),
            "" if alone.compute_efficiency is None else percent(alone.compute_efficiency),
            "" if cannot else _number(alone.devices),
        )
    return table


def observation_table(observation: Observation) -> RenderableType:
    """Return several pipelines that share an observation."""
    right = ("weight", "time", "load", "CE", "N")
    table = plain_table("pipeline", *right, right=right)
    for share in observation.shares:
        needed, load = share.assessment.devices, share.assessment.load_per_s
        table.add_row(
            printable(share.assessment.pipeline.name),
            f"{share.weight:g}",
            shown_time(share.time_s.median),
            shown_amount(load, f"{share.assessment.pipeline.unit}/s"),
            percent(share.assessment.compute_efficiency.median),
            "unknown" if needed is None else shown_devices(needed.median),
        )
    lines = [*_time_of(observation), *_devices_of(observation)]
    return Group(Text("observation", style="bold"), table, *map(Text, lines))


def _time_of(observation: Observation) -> list[str]:
    """Return Eq. (12), and the devices with which the stages end in time."""
    of = "each second of the observation" if observation.is_of_a_second else "the observation"
    if observation.period_s is not None:
        of = f"{shown_time(observation.period_s)} of observation"
    lines = [
        f"time of the stages for {of} on one device, Eq. (12): "
        f"{with_interval(observation.time_s, shown_time)}"
    ]
    for share in observation.used:
        needed = observation.devices_to_fit(share)
        if needed is not None:
            lines.append(f"devices that end them in {percent(share)} of it: {_whole(needed)}")
    return lines


def _devices_of(observation: Observation) -> list[str]:
    """Return Eq. (10) for all pipelines together."""
    mean, most = observation.devices, observation.most_devices
    if len(observation.machines) > 1:
        kinds = ", ".join(map(printable, observation.machines))
        return [f"devices for the whole load: unknown, because they are of several kinds ({kinds})"]
    if mean is None or most is None:
        return ["devices for the whole load: unknown, because one pipeline has no load"]
    lines = [
        f"devices for the whole load, Eq. (10), weighted: {_whole(mean)}",
        f"at every moment, for the pipeline that needs most: {_whole(most)}",
    ]
    for share in observation.used:
        whole = [_whole(with_legroom(devices, share)) for devices in (mean, most)]
        lines.append(f"{_legroom(share)}: {whole[0]}; at every moment: {whole[1]}")
    return lines


def loads_table(published: Mapping[str, Product], source: str) -> RenderableType:
    """Return the published loads of the science data processor."""
    first = next(iter(published.values()))
    stages = tuple(first.stage_flop_per_s)
    right = (*stages, "total", "imaging")
    table = plain_table("Tflop/s", *right, right=right)
    for name, product in published.items():
        loads = [*product.stage_flop_per_s.values(), product.total_flop_per_s]
        table.add_row(
            name, *(f"{load / 1e12:.4g}" for load in loads), percent(product.imaging_share)
        )
    return Group(
        table,
        Text(f"source: {source}"),
        Text("memory traffic, efficiencies, weights: not published"),
    )
