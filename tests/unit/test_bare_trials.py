"""How trials in bare root file systems are judged."""

import pytest
import trials
from sandbox import Done

TRIAL = trials.Trial(name="run", command=("ridgepoint", "run"), shows="Bound by")


def done(status, output="", complaints=""):
    """Return a command that ended."""
    return Done(status=status, wall_s=1.0, output=output, complaints=complaints)


@pytest.mark.parametrize(
    ("ended", "verdict"),
    [
        (done(0, "Bound by DRAM"), "works"),
        (done(0, "nothing of the kind"), "fails"),
        (
            done(2, "", "ridgepoint: building (once)\nridgepoint: cannot count: why; do this\n"),
            "refused in one line",
        ),
        (done(1, "", "ridgepoint: cannot count: why; what to do\n"), "fails"),
        (done(2, "", "ridgepoint: cannot a: b; c\nridgepoint: cannot d: e; f\n"), "fails"),
        (done(2, "", "Traceback (most recent call last):\nridgepoint: cannot\n"), "fails"),
        (done(139, "Bound by DRAM"), "fails"),
    ],
)
def test_a_trial_works_or_is_refused_in_one_line(ended, verdict):
    """A wrong status, more than one line, a traceback or a missing verdict is a failure."""
    assert TRIAL.judged(ended) == verdict
