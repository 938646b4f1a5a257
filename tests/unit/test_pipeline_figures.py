"""A pipeline's charts as values, and that each of them can be drawn."""

import numpy as np
import pytest
from core_inputs import ceiling, machine_of

from ridgepoint.core.demand import Demand
from ridgepoint.core.estimate import Estimate
from ridgepoint.models.pipeline import Pipeline, Stage
from ridgepoint.models.pipeline.advice import pipeline_advice
from ridgepoint.models.pipeline.assessment import assess
from ridgepoint.models.pipeline.observation import Observation, Share
from ridgepoint.models.pipeline.sensitivity import sensitivity
from ridgepoint.show.charts.pipeline import pipeline_page, roofline_chart, time_chart
from ridgepoint.show.charts.pipeline_bars import (
    advice_chart,
    devices_chart,
    observation_chart,
    sensitivity_chart,
)
from ridgepoint.show.draw_mpl import save
from ridgepoint.show.words import shown_devices

GPU = machine_of(ceiling("fp32", 4000e9), ceiling("dram", 250e9), name="memo")


def pipeline(*more):
    """Return three stages of the memo, a host time, and more stages."""
    rows = (("grid", 6400e9, 320e9, 4.0), ("fft", 156.25e9, 125e9, 1.0), ("copy", 0, 250e9, 2.0))
    stages = tuple(
        Stage(name=n, demand=Demand({"fp32": w, "dram": q}), time_s=Estimate([t]))
        for n, w, q, t in rows
    )
    return Pipeline(name="p", stages=(*stages, *more), host_time_s=Estimate([1.0]))


def test_discs_are_where_the_stages_are():
    """A copy has no place; areas grow with shares of 7 s, by the same for the same share."""
    chart = roofline_chart(assess(pipeline(), GPU))
    grid, fft = (mark for mark in chart.marks if mark.shape == "circle")
    stems = [line.places for line in chart.lines if line.kind == "stem"]

    assert (grid.at, fft.at) == ((20, 1600e9), (1.25, 156.25e9))
    assert stems[0] == ((20, 1600e9), (20, 4000e9))
    assert (grid.size**2 - fft.size**2) / (3 / 7) == pytest.approx(28)
    assert [entry.lead for entry in chart.key] == ["1", "2", "3"]
    assert "29 % of the time, no work" in chart.key[2].text
    assert any(note.endswith(": copy") for note in chart.notes)


def test_composites_lie_on_the_roof():
    """Each at min(pi, beta OI), except that Eq. (7) may be beyond the ridge, where it is flat."""
    chart = roofline_chart(assess(pipeline(), GPU))
    composites = [mark for mark in chart.marks if mark.shape == "diamond"]
    whole = next(mark for mark in chart.marks if mark.shape == "star")

    for mark in composites:
        assert mark.at[1] == pytest.approx(min(4000e9, 250e9 * mark.at[0]))
    assert [mark.label.text for mark in composites] == ["(5)", "(7)", "(8)", "series sum"]
    assert whole.at[1] == pytest.approx(6556.25e9 / 7)


def test_bars_add_up_to_the_time():
    """Host, stages; 8 s as it runs, 1 + 1.6 + 0.5 + 1 at the roofs."""
    chart = time_chart(assess(pipeline(), GPU))
    now, roof = ([bar for bar in chart.bars if bar.row == row] for row in (0, -1))

    assert [bar.name for bar in now] == ["host", "grid", "fft", "copy"]
    assert [bar.begin for bar in now] == [0, 1, 5, 6]
    assert (now[-1].end, roof[-1].end) == pytest.approx((8, 4.1))
    assert [mark.label.text for mark in chart.marks] == ["8 s", "4.1 s"]
    assert [(entry.lead, entry.text) for entry in chart.key][:2] == [
        ("1", "grid: 4 s, at its roof 1.6 s"),
        ("2", "fft: 1 s, at its roof 500 ms"),
    ]
    assert "1 s of the host" in chart.subtitle
    assert not pipeline_page(assess(pipeline(), GPU)).charts[1].key


def many(count):
    """Return a pipeline of this many more stages, of rising times."""
    return pipeline(
        *(
            Stage(
                name=f"stage {i}",
                demand=Demand({"fp32": 1e12, "dram": 1e10}),
                time_s=Estimate([1.0 + i]),
            )
            for i in range(count)
        )
    )


def test_long_times_are_drawn_in_hours():
    """An hour of the host, then 5 h."""
    long = Stage(name="long", demand=Demand({"fp32": 1e9}), time_s=Estimate([5 * 3600.0]))
    chart = time_chart(
        assess(Pipeline(name="p", stages=(long,), host_time_s=Estimate([3600.0])), GPU)
    )

    assert chart.x.label == "Time [h]"
    assert dict((text, place) for place, text in chart.x.ticks)["2"] == 7200
    assert [mark.label.text for mark in chart.marks] == ["6 h", "1 h"]


def test_many_stages_are_told_apart():
    """No two of 24 are drawn alike; a key of columns; only the largest gains have bars."""
    found = assess(many(21), GPU)
    chart = roofline_chart(found)
    gains = sensitivity_chart(sensitivity(found.pipeline, GPU))

    assert len({(entry.ink % 6, entry.face) for entry in chart.key}) == 24
    assert all(entry.is_abreast for entry in chart.key)
    assert len(gains.bars) == 2 + 12
    assert gains.notes == (f"12 more stages gain {gains_of(found)[12]:.3f}x or less",)


def gains_of(found):
    """Return what a tenth less of each stage's time gains, most first, by hand."""
    whole = 1 + sum(stage.time_s for stage in found.stages)
    return sorted((whole / (whole - 0.1 * stage.time_s) for stage in found.stages), reverse=True)


def test_bars_of_devices_and_gains():
    """One for each composite; what gains most first; none without a load."""
    found = assess(pipeline(), GPU, load_per_s=1e15)
    devices = devices_chart(found).bars
    gains = [bar.end for bar in sensitivity_chart(sensitivity(found.pipeline, GPU)).bars]

    assert [bar.name for bar in devices] == ["Eq. (5)", "Eq. (7)", "Eq. (8)", "series sum"]
    assert devices[2].end == pytest.approx(1e15 * 7 / 6556.25e9)
    assert devices_chart(assess(pipeline(), GPU)) is None
    assert gains == sorted(gains, reverse=True)
    assert advice_chart(()) is None


def test_devices_of_an_observation():
    """Each while it runs, their mean by weights, and that over the share which is used."""
    one = assess(pipeline(), GPU, load_per_s=1e15)
    other = assess(pipeline(), GPU, load_per_s=3e15)
    shares = (Share(assessment=one, weight=0.75), Share(assessment=other, weight=0.25))
    chart = observation_chart(Observation(shares=shares, used=(0.5,)))
    needed = 1e15 * 7 / 6556.25e9
    bare = assess(pipeline(), GPU)

    assert [bar.end for bar in chart.bars] == pytest.approx(
        [needed, 3 * needed, 1.5 * needed, 3 * needed]
    )
    assert [bar.name for bar in chart.bars][2:] == ["on average", "with a legroom of 50 %"]
    assert observation_chart(Observation(shares=(Share(assessment=bare, weight=1.0),))) is None


def test_many_stages_and_extremes_can_be_drawn(tmp_path):
    """Nine stages, one without traffic; names that markup or mathematics would act upon."""
    more = (
        Stage(name="loop $x_1$", demand=Demand({"fp32": 1e12}), time_s=Estimate([1.0])),
        *(
            Stage(name=f"<{i}>", demand=Demand({"fp32": w, "dram": 1e9}), time_s=Estimate([0.1]))
            for i, w in enumerate(np.logspace(9, 11, 5))
        ),
    )
    found = assess(pipeline(*more), GPU, load_per_s=1e15)
    page = pipeline_page(found)
    save(page, tmp_path / "a.svg")
    save(page, tmp_path / "b.svg")
    save(advice_chart(pipeline_advice(found)), tmp_path / "c.pdf")

    text = (tmp_path / "a.svg").read_text()
    assert [mark.name for mark in page.charts[0].marks if mark.edge] == ["loop $x_1$"]
    assert "loop $x_1$" in text
    assert text == (tmp_path / "b.svg").read_text()


@pytest.mark.parametrize(
    ("number", "said"), [(178.24, "178.2"), (9999.4, "9999"), (83630.4, "83630")]
)
def test_many_devices_are_written_without_an_exponent(number, said):
    """And a few to four digits."""
    assert shown_devices(number) == said
