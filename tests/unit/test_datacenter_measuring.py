"""Measuring the datacenter workloads: what stops one case, and what stops all of them."""

import pytest

from ridgepoint.core.errors import CannotMeasure, Interrupted, ProgramFailed
from ridgepoint.suites.datacenter import measuring


@pytest.fixture
def no_source(monkeypatch):
    """Leave counting from source out."""

    def refuse(case):
        raise CannotMeasure("cannot count", reason="there is no clang", remedy="install it")

    monkeypatch.setattr(measuring, "_from_source", refuse)


def test_a_name_given_twice_is_measured_once():
    """In the order in which they were given."""
    names = [case.workload for case in measuring.cases(["lu", "stream", "lu"])]

    assert names == ["lu", "lu", "stream", "stream"]


@pytest.mark.usefixtures("no_source")
def test_a_request_to_stop_is_no_failed_case(monkeypatch):
    """SIGTERM ends all of it, and not only the case that it fell into."""
    begun = []

    def stop(case):
        begun.append(case)
        raise Interrupted("cannot go on: SIGTERM asks to stop")

    monkeypatch.setattr(measuring, "_measured", stop)

    with pytest.raises(Interrupted):
        measuring.run_datacenter(measuring.cases(["lu"]))
    assert len(begun) == 1


@pytest.mark.usefixtures("no_source")
def test_a_program_that_fails_is_quoted(monkeypatch, tmp_path):
    """Its output was thrown away, and there is no option to see it with."""
    program = tmp_path / "lu"
    program.write_text("#!/bin/sh\necho 'lu: cannot hold the matrix' >&2\nexit 2\n")
    program.chmod(0o755)

    def fail(command, **options):
        raise ProgramFailed("cannot", reason="status 2", remedy="--ignore-status", exit_status=2)

    monkeypatch.setattr(measuring, "command", lambda *name, **options: [str(program)])
    monkeypatch.setattr(measuring, "measure_program", fail)
    first, *_ = measuring.run_datacenter(measuring.cases(["lu"]))

    assert first.measurement is None
    assert "lu: cannot hold the matrix; run it by hand" in first.failures[0]
    assert "--ignore-status" not in first.failures[0]
