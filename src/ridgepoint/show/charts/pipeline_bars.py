"""Bars about pipelines: devices by composite and by pipeline, and what gains how much."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.units import format_si
from ridgepoint.models.pipeline.advice import KINDS, StageAdvice
from ridgepoint.models.pipeline.assessment import Assessment
from ridgepoint.models.pipeline.observation import Observation, with_legroom
from ridgepoint.models.pipeline.sensitivity import Sensitivity
from ridgepoint.show.axes import decimal_ticks
from ridgepoint.show.chart import Axis, Bar, Chart, Label, Mark
from ridgepoint.show.words import percent, printable, shown_devices

_MOST_ROWS = 12
_LETTERS = 52
"""Of the name of a row."""
_ROW_HEIGHT = 0.055
"""Of an axis of rows, over its width."""


def devices_chart(assessment: Assessment) -> Chart | None:
    """Return the number of devices by each composite; None: no load was given."""
    if assessment.load_per_s is None:
        return None
    known = [
        composite
        for composite in assessment.composites
        if composite.devices and composite.devices_at_roof
    ]
    rows = [(composite.equation, composite.devices) for composite in known if composite.devices]
    load = format_si(assessment.load_per_s, f"{assessment.pipeline.unit}/s")
    return _devices(
        title=f"Devices for {load}, by composite",
        subtitle=(
            "N = CL / (peak x RE x PE), with the PE of Eq. (8), and the series with its own PE"
        ),
        machine=assessment.machine.name,
        rows=rows,
        marks=[
            Mark(at=(composite.devices_at_roof, -row), shape="diamond", face="hollow")
            for row, composite in enumerate(known)
            if composite.devices_at_roof
        ],
        notes=("diamonds: if every stage were at its roof",),
    )


def observation_chart(observation: Observation) -> Chart | None:
    """Return the number of devices by pipeline, and by all; None: that of all is not known."""
    mean = observation.devices
    if mean is None:
        return None
    each = [
        (f"{printable(share.assessment.pipeline.name)}, {percent(share.weight)} of the time",
         share.assessment.devices)
        for share in observation.shares
    ]  # fmt: skip
    roomy = [
        (f"with a legroom of {percent(1 - used)}", with_legroom(mean, used))
        for used in observation.used
    ]
    return _devices(
        title="Devices by pipeline",
        subtitle="while it runs, Eq. (10); on average over the observation; and with legroom",
        machine=observation.machines[0],
        rows=[(name, needed) for name, needed in (*each, ("on average", mean), *roomy) if needed],
    )


def _devices(
    *,
    title: str,
    subtitle: str,
    machine: str,
    rows: Sequence[tuple[str, Estimate]],
    marks: Sequence[Mark] = (),
    notes: tuple[str, ...] = (),
) -> Chart:
    """Return numbers of devices as bars with their intervals."""
    drawn = list(marks)
    for row, (_, needed) in enumerate(rows):
        end = needed.median
        if needed.low is not None and needed.high is not None:
            end = needed.high
            interval = (needed.low, needed.high)
            drawn.append(Mark(at=(needed.median, -row), shape="none", x_interval=interval))
        drawn.append(at_the_end(end, -row, shown_devices(needed.median)))
    has_intervals = any(mark.x_interval for mark in drawn)
    return _bars(
        title=title,
        subtitle=subtitle,
        label=f"Devices [{printable(machine)}]",
        bars=[
            Bar(row=-row, begin=0.0, end=needed.median, ink=0, face="pale", name=name,
                summary=shown_devices(needed.median))
            for row, (name, needed) in enumerate(rows)
        ],
        marks=drawn,
        notes=(*(("error bars: 95 % intervals",) if has_intervals else ()), *notes),
    )  # fmt: skip


def sensitivity_chart(sensitivity: Sensitivity) -> Chart:
    """Return the gains from an improvement by a tenth: of each stage, and of the machine."""
    rows = [
        ("10 % more compute", sensitivity.device.compute),
        ("10 % more bandwidth", sensitivity.device.bandwidth),
        *(
            (f"10 % less time in {printable(stage.name)}", stage.time)
            for stage in sensitivity.stages[:_MOST_ROWS]
        ),
    ]
    rest = sensitivity.stages[_MOST_ROWS:]
    noun = "stage gains" if len(rest) == 1 else "stages gain"
    notes = (f"{len(rest)} more {noun} {rest[0].time:.3f}x or less",) if rest else ()
    return _gains("What a tenth gains", "with the same programming efficiency", rows, notes)


def advice_chart(advice: Sequence[StageAdvice]) -> Chart | None:
    """Return the upper limit of each action's gain for the pipeline; None: nothing gains."""
    rows = [
        (
            f"{printable(action.stage)}, {KINDS[action.kind].partition(': ')[2]}",
            action.pipeline_gain,
        )
        for action in advice[:_MOST_ROWS]
    ]
    if not rows:
        return None
    return _gains("What each action gains the pipeline at most", "one at a time", rows)


def _gains(
    title: str, subtitle: str, gains: list[tuple[str, float]], notes: tuple[str, ...] = ()
) -> Chart:
    ordered = sorted(gains, key=lambda gain: -gain[1])
    return _bars(
        title=title,
        subtitle=subtitle,
        label="Times as fast",
        bars=[
            Bar(row=-row, begin=1.0, end=gain, ink=0, face="pale", name=name)
            for row, (name, gain) in enumerate(ordered)
        ],
        marks=[at_the_end(gain, -row, f"{gain:.3f}x") for row, (_, gain) in enumerate(ordered)],
        notes=notes,
    )


def _bars(
    *,
    title: str,
    subtitle: str,
    label: str,
    bars: Sequence[Bar],
    marks: Sequence[Mark],
    notes: tuple[str, ...] = (),
) -> Chart:
    """Return numbers as bars, one above the other, with texts at their ends."""
    begin = min(bar.begin for bar in bars)
    end = max([bar.end for bar in bars] + [mark.at[0] for mark in marks])
    limits = (begin, end + 0.14 * ((end - begin) or 1.0))
    return Chart(
        title=title,
        subtitle=subtitle,
        x=Axis(label=label, limits=limits, ticks=decimal_ticks(limits), scale="linear"),
        y=row_axis([textwrap.shorten(bar.name, _LETTERS, placeholder="…") for bar in bars]),
        bars=tuple(bars),
        marks=tuple(marks),
        notes=notes,
        height=_ROW_HEIGHT * (len(bars) + 0.5),
    )


def row_axis(names: Sequence[str]) -> Axis:
    """Return the axis of bars that lie below each other, the first name on top."""
    ticks = tuple((float(-row), name) for row, name in enumerate(names))
    return Axis(label="", limits=(0.5 - len(names), 0.5), ticks=ticks, scale="rows")


def at_the_end(end: float, row: float, text: str) -> Mark:
    """Return the text right of a bar."""
    return Mark(at=(end, row), shape="none", label=Label(text=text, where="right"), name=text)
