"""Programs that break engines which copy code: under ours they say and do what they do alone."""

import pytest
from native_programs import TRIALS
from native_trials import Engine, Workshop, counts, difference, lacking, run

from ridgepoint.core.errors import MeterUnavailable


def _marked(trial):
    marks = [pytest.mark.slow] if trial.slow else []
    if trial.open_point:
        marks.append(pytest.mark.xfail(reason=trial.open_point))
    return pytest.param(trial, id=trial.name, marks=marks)


@pytest.fixture(scope="module")
def engine():
    """Return the copying engine."""
    try:
        return Engine()
    except MeterUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """Return where programs are built."""
    return Workshop(tmp_path_factory.mktemp("trials"))


@pytest.mark.parametrize("trial", [_marked(trial) for trial in TRIALS])
def test_a_program_does_not_see_that_it_is_counted(trial, engine, workshop):
    """Output, errors and status are those of a plain run, and it was counted."""
    if (reason := lacking(trial)) is not None:
        pytest.skip(reason)
    command, environment = workshop.command(trial), workshop.environment(trial)
    plain = run(command, environment, limit_s=trial.limit_s)

    for _ in range(trial.repeat):
        # A copy is made at first: it takes longer than the program.
        counted, contents = engine.run(command, environment, limit_s=trial.limit_s + 60)

        assert difference(plain, counted, trial) is None
        assert counts(contents) > 0 or not trial.counted
