"""How trials in bare root file systems are judged."""

import pytest
import trials
from outcomes import Result, Tried, markdown
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


def result(trial, verdict, said=""):
    """Return what came of a trial of 3 s."""
    return Result(trial=trial, verdict=verdict, status=0, wall_s=3.0, said=said)


def test_tables_show_times_of_what_works_and_words_of_what_is_refused():
    """A system's row, and what happens under a restriction there."""
    found = Tried(
        suite="trixie",
        system="Debian 13",
        python="3.13.5",
        glibc="2.41",
        is_bare=True,
        install_s=6.04,
        to_verdict_s=40.2,
        installed_bytes=10**7,
        results=[result("run gzip", "works"), result("doctor", "works")],
        restricted={"no /proc": [result("run", "refused in one line", "ridgepoint: cannot run")]},
    )
    lines = markdown([found], {"a.whl": 3_460_000}).splitlines()

    assert "| `a.whl` | 3.46 MB |" in lines
    assert "| Debian 13 | 3.13.5 | 2.41 | 6.0 s | 40 s | 3 s |" in lines
    assert lines[-1] == "| no /proc | refused in one line: `run` “ridgepoint: cannot run” |"
    assert found.failures == []


def test_failures_are_named_with_their_place():
    """In a suite or under a restriction of it."""
    found = Tried(
        suite="trixie",
        system="Debian 13",
        python="3.13.5",
        glibc="2.41",
        is_bare=True,
        install_s=6.0,
        to_verdict_s=40.0,
        installed_bytes=0,
        results=[result("doctor", "fails")],
        restricted={"no /proc": [result("run", "fails")]},
    )

    assert [where for where, _ in found.failures] == ["trixie", "trixie, no /proc"]
