"""Changes in the history of a program, and what is none: series made by hand, and noise."""

from dataclasses import replace

import figure_inputs as inputs
import numpy as np
import pytest

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import Timed
from ridgepoint.models.comparing.history import history
from ridgepoint.models.comparing.programs import program

NOISE = (1, 0.99, 1.01, 1, 0.995, 1.005, 1, 1.01, 0.99, 1)


def timed(median_s):
    """Return a program that takes so long, to 1 %; None: it was not timed."""
    if median_s is None:
        return inputs.UNTIMED
    runtime = Estimate(median_s * factor for factor in NOISE)
    return replace(inputs.TRIAD, timed=Timed(runtime_s=runtime, cpu_s=runtime))


def events(medians):
    """Return what is said of each measurement of a series."""
    programs = [program(str(n), timed(median)) for n, median in enumerate(medians)]
    return [moment.event for moment in history(programs, "runtime").moments]


@pytest.mark.parametrize(
    ("medians", "expected"),
    [
        ([1, 1, 1, 1], ["", "", "", ""]),
        ([1, 1, 2, 2, 2], ["", "", "change", "", ""]),
        ([1, 2, 1, 1], ["", "once", "", ""]),
        ([1, 1, 2], ["", "", "last"]),
        ([1, 2, 2, 1, 1], ["", "change", "", "change", ""]),
        ([1, 2, 0.5, 1], ["", "once", "once", ""]),
        ([None, 1, None, 2, None, 2], ["", "", "", "change", "", ""]),
        ([1], [""]),
        ([None, None], ["", ""]),
        ([1, 1.005, 1.01, 1.005], ["", "", "", ""]),
    ],
)
def test_a_change_is_confirmed_by_the_next_measurement(medians, expected):
    """What happens once is no change; of the last measurement it is not known yet."""
    assert events(medians) == expected


def test_levels_are_numbered_and_have_a_median():
    """Two levels of 1 s and 2 s; what happened once belongs to none of them."""
    programs = [program(str(n), timed(m)) for n, m in enumerate([1, 5, 1, 2, 2])]
    found = history(programs, "runtime")

    assert [moment.level for moment in found.moments] == [0, 0, 0, 1, 1]
    assert (found.level_of(0), found.level_of(1), found.level_of(2)) == (1, 2, None)


def test_counts_need_no_confirmation():
    """They have no noise: a count that differs once has changed twice."""
    traffic = [(160, 80), (320, 80), (160, 80)]
    programs = [
        program(str(n), inputs.measurement(inputs.flop("fp64", 100), dram=(*moved, 0)))
        for n, moved in enumerate(traffic)
    ]
    found = history(programs, "dram")

    assert [moment.event for moment in found.moments] == ["", "change", "change"]
    assert found.unit == "B"
    assert found.moments[1].change.ratio == pytest.approx(400 / 240)


def test_noise_is_hardly_ever_a_change():
    """Fifty histories of ten measurements of one program, with noise of 5 %."""
    rng = np.random.default_rng(11)
    changes = 0
    for _ in range(50):
        programs = []
        for number in range(10):
            runtime = Estimate(np.exp(rng.normal(0, 0.05, 10)))
            measured = replace(inputs.TRIAD, timed=Timed(runtime_s=runtime, cpu_s=runtime))
            programs.append(program(str(number), measured))
        found = history(programs, "runtime")
        changes += sum(moment.event == "change" for moment in found.moments)

    assert changes <= 3
