"""Bars about pipelines: devices by composite and by pipeline, and what gains how much."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from ridgepoint.core.units import format_si
from ridgepoint.models.pipeline.advice import KINDS, StageAdvice
from ridgepoint.models.pipeline.assessment import Assessment
from ridgepoint.models.pipeline.sensitivity import Sensitivity
from ridgepoint.show.axes import decimal_ticks
from ridgepoint.show.chart import Axis, Bar, Chart, Label, Mark
from ridgepoint.show.words import printable, shown_devices

_MOST_ROWS = 12
_LETTERS = 52
"""Of the name of a row."""
_ROW_HEIGHT = 0.055
"""Of an axis of rows, over its width."""


def devices_chart(assessment: Assessment) -> Chart | None:
    """Return the number of devices by each composite; None: no load was given."""
    if assessment.load_per_s is None:
        return None
    bars: list[Bar] = []
    marks: list[Mark] = []
    for composite in assessment.composites:
        devices, least, row = composite.devices, composite.devices_at_roof, -len(bars)
        if devices is None or least is None:
            continue
        name, text = composite.equation, shown_devices(devices.median)
        bars.append(
            Bar(row=row, begin=0.0, end=devices.median, ink=0, face="pale", name=name, summary=text)
        )
        interval = None
        if devices.low is not None and devices.high is not None:
            interval = (devices.low, devices.high)
            marks.append(Mark(at=(devices.median, row), shape="none", x_interval=interval))
        marks += [
            Mark(at=(least, row), shape="diamond", face="hollow"),
            at_the_end(interval[1] if interval else devices.median, row, text),
        ]
    load = format_si(assessment.load_per_s, f"{assessment.pipeline.unit}/s")
    has_intervals = any(mark.x_interval for mark in marks)
    return _bars(
        title=f"Devices for {load}, by composite",
        subtitle=(
            "N = CL / (peak x RE x PE), with the PE of Eq. (8), and the series with its own PE"
        ),
        label=f"Devices [{printable(assessment.machine.name)}]",
        bars=bars,
        marks=marks,
        notes=(
            *(("error bars: 95 % intervals",) if has_intervals else ()),
            "diamonds: if every stage were at its roof",
        ),
    )


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
