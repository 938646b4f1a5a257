"""What is concluded of a program: which limit explains its time, and what would bound it next."""

from dataclasses import replace

import pytest
from figure_inputs import (
    FEW,
    MACHINE,
    MATMUL,
    READS_ONLY,
    SORT,
    TRIAD,
    UNTIMED,
    flop,
    measurement,
)

from ridgepoint.models.analysis import analyse, place
from ridgepoint.models.conclusion import conclude
from ridgepoint.models.explanations import Explained, Explanation
from ridgepoint.show.report import report

WORK = flop("fp64", 20_000_000)
"""Its 160 MB of reads take 5 ms at 32 GB/s, its 250 MB at L3 3.57 ms at 70 GB/s."""

IDLE = measurement(dram=(0, 0, 0), levels=False, runtime_s=0.1)


def concluded(program, machine=MACHINE):
    """Return what is concluded of a program by the roofs alone."""
    return conclude(place(program, machine), program.counted.counts)


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        (measurement(WORK, runtime_s=0.001), "above-roof"),
        (measurement(WORK, runtime_s=0.005), "at-roof"),
        (measurement(WORK, runtime_s=0.006), "roof"),
        (TRIAD, "roof"),  # half of the time
        (MATMUL, "roof"),
        (measurement(WORK, runtime_s=0.050), "unexplained"),
        (SORT, "traffic-alone"),
        (FEW, "traffic-alone"),
        (measurement(runtime_s=0.006), "roof"),  # it only copies
        (UNTIMED, "not-timed"),
        (IDLE, "nothing-asked"),
    ],
)
def test_the_roofs_say_what_explains_the_time(program, kind):
    """5 ms of 1, 5, 6, 10, 50 and 600 ms; of no time; and nothing at all."""
    assert concluded(program).kind == kind


def test_without_a_ceiling_nothing_is_concluded():
    """A machine of which nothing is known."""
    assert concluded(TRIAD, replace(MACHINE, ceilings=())).kind == "no-ceiling"


def test_another_cause_explains_what_no_roof_does():
    """Of 50 ms, 45 in misses that wait for each other."""
    misses = Explanation(code="misses", seconds=0.045, share=0.9, sense="most")
    explained = Explained(runtime_s=0.050, outside_s=0.0, cause=misses, parts=(misses,))
    program = measurement(WORK, runtime_s=0.050)
    found = conclude(place(program, MACHINE), program.counted.counts, explained=explained)

    assert found.kind == "cause"


def test_what_would_bind_next_is_the_path_with_the_second_longest_time():
    """10 ms over the 3.57 ms of L3 are 2.8."""
    assert concluded(TRIAD).following == ("l3", pytest.approx(0.010 / (250e6 / 70e9)))


def test_nothing_comes_next_where_one_resource_was_asked_for():
    """Nor where there was no time to compare with."""
    alone = measurement(dram=(160_000_000, 80_000_000), levels=False, runtime_s=0.006)

    assert concluded(alone).following is None
    assert concluded(UNTIMED).following is None


def test_levels_whose_writes_are_unknown_are_named():
    """The true efficiency may be higher."""
    assert concluded(READS_ONLY).reads_only == ("dram",)
    assert concluded(TRIAD).reads_only == ()


@pytest.mark.parametrize(
    ("program", "is_worth"), [(TRIAD, True), (SORT, False), (FEW, False), (IDLE, False)]
)
def test_hardly_any_work_is_not_worth_a_roof(program, is_worth):
    """None, and 4 flop in 50 M instructions."""
    assert concluded(program).is_worth_a_roof is is_worth


@pytest.mark.parametrize(("share", "is_named"), [(0.6, True), (0.99, False)])
def test_a_function_that_does_nearly_all_is_not_placed_alone(share, is_named):
    """It has the same place."""
    program = measurement(WORK, runtime_s=0.050)
    explained = Explained(runtime_s=0.050, outside_s=0.0, cause=None, parts=())
    placement, counts = place(program, MACHINE), program.counted.counts
    found = conclude(placement, counts, explained=explained, hottest=("solve", share))

    assert (found.hottest is not None) is is_named


def test_an_analysis_concludes_with_all_that_it_knows():
    """As `conclude` does with what explains the time."""
    analysis = analyse(TRIAD, MACHINE)

    assert analysis.conclusion.kind == "roof"
    assert analysis.conclusion.explained is analysis.explained


def test_a_report_tells_the_conclusion_as_codes_and_numbers():
    """Without a machine there is none."""
    assert report(analyse(TRIAD, MACHINE))["conclusion"] == {
        "kind": "roof",
        "following": {"path": "l3", "gain": pytest.approx(2.8)},
        "reads_only": [],
    }
    assert report(analyse(TRIAD))["conclusion"] is None
