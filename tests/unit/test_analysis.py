"""What follows from a measurement is found once, however it is shown."""

import io
import re
from collections import Counter
from dataclasses import replace

import pytest
from figure_inputs import MACHINE, MARKED, PROFILED, TRIAD, timed
from rich.console import Console

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measurement import Asked
from ridgepoint.core.timed import Sampled, TimedFunction
from ridgepoint.models import analysis as analysis_module
from ridgepoint.models.analysis import analyse, place
from ridgepoint.show.charts.roofline import roofline_chart
from ridgepoint.show.report import report
from ridgepoint.show.tables import run_table

TRIAD_S = 0.008
MEASURED = replace(
    MARKED,
    counted=replace(MARKED.counted, functions=PROFILED.counted.functions),
    timed_regions=(timed("solve", 0.008), timed("sweep", 0.004), timed("setup", 0.001)),
    sampled=Sampled(
        runs=3,
        period_s=0.001,
        samples=4321,
        user_s=0.0095,
        system_s=0.0005,
        functions=(
            TimedFunction(
                name="triad",
                object="/opt/bin/triad",
                samples=100,
                runtime_s=Estimate([TRIAD_S], interval=(0.99 * TRIAD_S, 1.01 * TRIAD_S)),
                cpu_s=TRIAD_S,
            ),
        ),
    ),
)


def test_text_picture_and_json_bound_each_part_once(monkeypatch):
    """The program, three regions and a function; the program below single bandwidths too."""
    bounded = Counter()
    place_with = analysis_module.place_with

    def counting(measurement, machine, **options):
        bounded[measurement.counted.selected, options.get("bandwidth")] += 1
        return place_with(measurement, machine, **options)

    monkeypatch.setattr(analysis_module, "place_with", counting)
    found = analyse(MEASURED, MACHINE)
    Console(file=io.StringIO(), width=100).print(run_table.run(found))
    document = report(found)
    figure = roofline_chart(MACHINE, [found])

    assert set(bounded.values()) == {1}
    regions = {f"region {one.name!r}" for one in MEASURED.counted.regions}
    alone = {(None, way) for way in ("read", "write", "copy")}
    assert set(bounded) == {(each, None) for each in (None, "function 'triad'", *regions)} | alone
    # They were all shown.
    assert all(one["bound"] for one in document["regions"])
    assert [one.get("bound") is not None for one in document["functions"]][:1] == [True]
    assert figure.drawing_notes[1].startswith("pale discs: regions and functions")


def test_parts_are_bounded_by_the_cores_that_they_kept_busy_themselves():
    """Whatever was asked for the whole."""
    found = analyse(MEASURED, MACHINE, cores=2)

    assert found.placement.cores == 2
    assert {one.placement.cores for one in found.regions} == {
        place(one.measurement, MACHINE).cores for one in found.regions
    }


def test_without_a_machine_there_are_counts_alone():
    """Nothing of what a machine would say."""
    found = analyse(MEASURED, None)

    assert found.placement is None
    assert found.explained is found.of_ranks is found.hot_function is None
    assert (found.advice, found.alternatives) == ((), ())
    assert [one.placement for one in found.regions] == [None] * len(found.regions)


@pytest.mark.parametrize(("asked", "given", "metric"), [
    (None, None, "flop"), ("bop", None, "bop"), ("bop", "flop", "flop"), (None, "bop", "bop"),
])  # fmt: skip
def test_work_is_counted_in_what_was_asked_for_last(asked, given, metric):
    """When it was measured, and when it is shown."""
    measured = TRIAD if asked is None else replace(TRIAD, asked=Asked(metric=asked))

    assert analyse(measured, MACHINE, metric=given).placement.metric == metric


def test_an_analysis_shows_itself_and_is_not_made_again(monkeypatch):
    """Its report is that of the command line, and its picture has the roofs of its machine."""
    made = analyse(TRIAD, MACHINE)
    said = made.summary()
    monkeypatch.setattr(analysis_module, "place_with", None)  # nothing is bounded again

    assert re.search(r"efficiency +50 %", said)
    assert made.summary() == said
    assert made.plot().get_axes()
    assert repr(made).startswith("<Analysis of ")


def test_an_analysis_without_a_machine_says_what_was_measured():
    """Nothing bounds it, and nothing can be drawn of it."""
    made = analyse(TRIAD)

    assert (made.placement, made.conclusion, made.explained, made.advice) == (None, None, None, ())
    assert "20 Mflop" in made.summary()
    assert repr(made).startswith("<Analysis ")


@pytest.mark.parametrize(
    ("options", "said"), [({"cores": 0}, "cores"), ({"metric": "x"}, "metric")]
)
def test_what_cannot_be_analysed_is_refused(options, said):
    """Before anything is computed, by the argument's name."""
    with pytest.raises(ValueError, match=f"{said} must be "):
        analyse(TRIAD, MACHINE, **options)
