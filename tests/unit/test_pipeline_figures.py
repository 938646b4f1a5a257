"""A pipeline's figures as values, and that each of them can be drawn."""

import numpy as np
import pytest
from core_inputs import ceiling, machine_of

from ridgepoint.core.demand import Demand
from ridgepoint.core.estimate import Estimate
from ridgepoint.models.pipeline import Pipeline, Stage
from ridgepoint.models.pipeline.advice import pipeline_advice
from ridgepoint.models.pipeline.assessment import assess
from ridgepoint.models.pipeline.sensitivity import sensitivity
from ridgepoint.show.charts import pipeline_mpl
from ridgepoint.show.charts.pipeline import (
    advice_figure,
    devices_figure,
    pipeline_figure,
    sensitivity_figure,
    time_figure,
)
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
    """A copy has no place; areas are shares of 7 s."""
    figure = pipeline_figure(assess(pipeline(), GPU)).roofline
    grid, fft, copy = figure.stages

    assert grid.at == (20, 1600e9)
    assert grid.attainable == 4000e9
    assert fft.at == (1.25, 156.25e9)
    assert copy.at is None
    assert [one.share for one in figure.stages] == pytest.approx([4 / 7, 1 / 7, 2 / 7])
    assert any("without work: copy" in note for note in figure.notes)


def test_composites_lie_on_the_roof():
    """Each at min(pi, beta OI), except that Eq. (7) may be beyond the ridge, where it is flat."""
    figure = pipeline_figure(assess(pipeline(), GPU)).roofline

    for mark in figure.composites:
        assert mark.at[1] == pytest.approx(min(4000e9, 250e9 * mark.at[0]))
    assert [mark.label for mark in figure.composites] == ["(5)", "(7)", "(8)", "series sum"]
    assert figure.whole[1] == pytest.approx(6556.25e9 / 7)


def test_bars_add_up_to_the_time():
    """Host, stages; 8 s as it runs, 1 + 1.6 + 0.5 + 1 at the roofs."""
    now, roof = time_figure(assess(pipeline(), GPU)).bars

    assert [piece.name for piece in now.pieces] == ["host", "grid", "fft", "copy"]
    assert now.seconds == 8
    assert roof.seconds == pytest.approx(4.1)


def test_bars_of_devices_and_gains():
    """One for each composite; what gains most first; none without a load."""
    found = assess(pipeline(), GPU, load_per_s=1e15)
    gains = sensitivity_figure(sensitivity(found.pipeline, GPU)).bars

    assert [bar.label for bar in devices_figure(found).bars][-1] == "series sum"
    assert devices_figure(found).bars[2].value == pytest.approx(1e15 * 7 / 6556.25e9)
    assert devices_figure(assess(pipeline(), GPU)) is None
    assert [bar.value for bar in gains] == sorted((bar.value for bar in gains), reverse=True)
    assert advice_figure(()) is None


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
    figure = pipeline_figure(found)
    pipeline_mpl.save(figure, tmp_path / "a.svg")
    pipeline_mpl.save(figure, tmp_path / "b.svg")
    pipeline_mpl.save_bars(advice_figure(pipeline_advice(found)), tmp_path / "c.pdf")

    text = (tmp_path / "a.svg").read_text()
    assert figure.roofline.stages[3].is_infinite
    assert "loop $x_1$" in text
    assert text == (tmp_path / "b.svg").read_text()


@pytest.mark.parametrize(
    ("number", "said"), [(178.24, "178.2"), (9999.4, "9999"), (83630.4, "83630")]
)
def test_many_devices_are_written_without_an_exponent(number, said):
    """And a few to four digits."""
    assert shown_devices(number) == said
