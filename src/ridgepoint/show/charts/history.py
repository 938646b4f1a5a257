"""An amount of a program over its measurements, with its levels and changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ridgepoint.models.comparing.history import History
from ridgepoint.show.axes import linear_ticks, with_prefix
from ridgepoint.show.chart import Axis, Chart, Entry, Interval, Label, Line, Mark
from ridgepoint.show.compare_text import event_text, quantity_name
from ridgepoint.show.words import printable, shown_amount

_MARGIN = 0.08
_MOST_TICKS = 24
_HEIGHT = 0.5


def history_chart(history: History, labels: Sequence[str], *, title: str) -> Chart:
    """Return one amount over the measurements of a program.

    Parameters
    ----------
    history : History
    labels : sequence of str
        What stands below each measurement.
    title : str
        The program's name.
    """
    limits = _limits(history)
    step = -(-len(labels) // _MOST_TICKS)
    ticks = tuple((float(index), printable(label)) for index, label in enumerate(labels))
    unit = f" [{history.unit}]" if history.unit else ""
    missing = [
        printable(label)
        for label, moment in zip(labels, history.moments, strict=True)
        if moment.value is None
    ]
    name = quantity_name(history.quantity)
    return Chart(
        title=f"{name[0].upper()}{name[1:]} of {printable(title)}",
        subtitle=f"{len(labels)} measurements, medians with 95 % intervals",
        x=Axis(
            label="record",
            limits=(-0.5, len(labels) - 0.5),
            ticks=ticks[::step],
            scale="linear",
            is_slanted=True,
        ),
        y=Axis(
            label=f"{name}{unit}",
            limits=limits,
            ticks=linear_ticks(limits, with_prefix),
            scale="linear",
        ),
        lines=tuple(_levels(history)),
        marks=tuple(_marks(history, labels)),
        key=(
            Entry(text="measurement", ink=0, shape="circle"),
            Entry(text="first measurement after a change", ink=1, shape="diamond"),
            Entry(text="different in this record only", ink=0, shape="circle", face="hollow"),
            Entry(text="level", line="level"),
        ),
        notes=(
            *(
                f"{printable(label)}: {event_text(history.quantity, moment)}"
                for label, moment in zip(labels, history.moments, strict=True)
                if moment.event
            ),
            *([f"the {name} of {', '.join(missing)} is unknown"] if missing else []),
        ),
        height=_HEIGHT,
    )


def _limits(history: History) -> Interval:
    known = [moment.value for moment in history.moments if moment.value is not None]
    values = [
        end
        for value in known
        for end in (value.median, value.low or value.median, value.high or value.median)
    ] or [0.0, 1.0]
    low, high = min(values), max(values)
    margin = (high - low or high or 1.0) * _MARGIN
    return max(low - margin, 0.0), high + margin


def _levels(history: History) -> Iterator[Line]:
    for number in range(history.moments[-1].level + 1):
        places = [
            float(index)
            for index, moment in enumerate(history.moments)
            if moment.level == number and moment.value is not None
        ]
        level = history.level_of(number)
        if level is not None and places:
            text = shown_amount(level, history.unit, digits=3)
            yield Line(
                kind="level",
                places=((places[0] - 0.4, level), (places[-1] + 0.4, level)),
                label=Label(text, where="beside", is_optional=True),
                name=f"level {number + 1}",
                summary=text,
            )


def _marks(history: History, labels: Sequence[str]) -> Iterator[Mark]:
    for index, (label, moment) in enumerate(zip(labels, history.moments, strict=True)):
        value = moment.value
        if value is None:
            continue
        ends = None if value.low is None or value.high is None else (value.low, value.high)
        begins = moment.event in {"change", "last"}
        yield Mark(
            at=(float(index), value.median),
            shape="diamond" if begins else "circle",
            ink=1 if begins else 0,
            face="hollow" if moment.event == "once" else "full",
            y_interval=ends,
            name=printable(label),
            summary=shown_amount(value, history.unit),
            glyph="*" if begins else "o",
        )
