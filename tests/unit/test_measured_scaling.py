"""Speed-up and efficiency of measured runs, by hand."""

import pytest

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.runs import Run
from ridgepoint.models.scaling.measured import measured_scaling

NOISE = (0.99, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.01)


def run(nodes, cores, time_s, *, size=None, noise=NOISE):
    """Return a setting that was run eight times."""
    return Run(nodes=nodes, cores=cores, time_s=Estimate(time_s * n for n in noise), size=size)


def test_runs_gain_over_the_smallest_of_their_size():
    """Two nodes of four cores halve the time of two cores: a speed-up of 2, efficiency of 1/2."""
    small, large, other = run(1, 2, 8.0), run(2, 4, 4.0), run(1, 1, 3.0, size=7.0)
    first, second, third = measured_scaling([large, small, other])

    assert (first.over, first.speed_up.ratio, first.efficiency.ratio) == (small, 2.0, 0.5)
    assert (second.speed_up, second.efficiency) == (None, None)
    assert (third.over, third.speed_up) == (other, None)


def test_of_as_many_cores_the_run_on_fewest_nodes_is_the_smallest():
    """They gain nothing over each other by definition."""
    together, apart = run(1, 4, 2.0), run(4, 1, 4.0)
    apart_gain, _ = measured_scaling([apart, together])

    assert (apart_gain.speed_up.ratio, apart_gain.efficiency.ratio) == (0.5, 0.5)


def test_the_interval_is_that_of_the_gain_divided_by_the_processors():
    """1 % of noise on both sides."""
    _, scaled = measured_scaling([run(1, 1, 8.0), run(1, 4, 4.0)])

    assert scaled.speed_up.verdict == "gain"
    assert 1.95 < scaled.speed_up.low <= 2 <= scaled.speed_up.high < 2.05
    assert (scaled.efficiency.low, scaled.efficiency.high) == (
        pytest.approx(scaled.speed_up.low / 4),
        pytest.approx(scaled.speed_up.high / 4),
    )


def test_a_single_run_each_has_no_interval():
    """It is not known whether more cores help."""
    _, scaled = measured_scaling([run(1, 1, 8.0, noise=(1,)), run(1, 2, 7.9, noise=(1,))])

    assert scaled.speed_up.verdict == "unknown"
