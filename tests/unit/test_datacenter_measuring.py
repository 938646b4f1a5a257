"""Measuring the datacenter workloads: what stops one case, and what stops all of them."""

import pytest

from ridgepoint.core.errors import CannotMeasure, Interrupted
from ridgepoint.meters.first_choice import FirstChoice
from ridgepoint.profiling.native_times import NativeTimes
from ridgepoint.suites.datacenter import measuring


@pytest.fixture
def no_source(monkeypatch):
    """Leave counting from source out."""

    def refuse(case, folder):
        raise CannotMeasure("cannot count", reason="there is no clang", remedy="install it")

    monkeypatch.setattr(measuring, "_from_source", refuse)


def test_a_name_given_twice_is_measured_once():
    """In the order in which they were given."""
    names = [case.workload for case in measuring.cases(["lu", "stream", "lu"])]

    assert names == ["lu", "lu", "stream", "stream"]


@pytest.fixture
def no_runs(monkeypatch):
    """Time nothing: the times of all steps are unknown."""
    monkeypatch.setattr(
        measuring,
        "native_times_in_turn",
        lambda commands, **options: [NativeTimes() for _ in commands],
    )
    monkeypatch.setattr(measuring, "command", lambda *name, **options: ["true"])


@pytest.mark.usefixtures("no_source", "no_runs")
def test_a_request_to_stop_is_no_failed_case(monkeypatch):
    """SIGTERM ends all of it, and not only the case that it fell into."""
    begun = []

    def stop(case, times, folder):
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

    monkeypatch.setattr(measuring, "command", lambda *name, **options: [str(program)])
    first, *_ = measuring.run_datacenter(measuring.cases(["lu"]))

    assert first.measurement is None
    assert "lu: cannot hold the matrix; run it by hand" in first.failures[0]
    assert "--ignore-status" not in first.failures[0]


@pytest.mark.usefixtures("no_source", "no_runs")
@pytest.mark.parametrize("threads", [1, 2])
def test_the_engine_is_the_one_that_counts_by_default_elsewhere(monkeypatch, threads):
    """The measured part alone, in emptied caches; with several threads, what all of them do."""
    meters = []

    def refuse(command, *, meter, **options):
        meters.append(meter)
        raise CannotMeasure("cannot", reason="it is a test", remedy="none")

    monkeypatch.setattr(measuring, "measure_program", refuse)
    measuring.run_datacenter(measuring.cases(["lu"], threads=threads)[:1])
    (meter,) = meters

    assert isinstance(meter, FirstChoice)
    for engine in (meter.native, meter.engine):
        assert (engine.region, engine.cold, engine.cpus) == ("measured", True, threads)
        assert engine.all_threads == (threads > 1)


@pytest.mark.usefixtures("no_source")
def test_the_steps_of_a_workload_are_timed_in_turn(monkeypatch):
    """Before any of them is counted; a step that cannot be built is left out."""
    timed, counted = [], []

    def build(name, *, variant, form, **options):
        if form == "prefetch":
            raise CannotMeasure("cannot compile", reason="no g++", remedy="install it")
        return [name, variant, form]

    def time(commands, *, selection, repeat):
        timed.append([" ".join(command) for command in commands])
        assert (selection.kind, selection.name, repeat) == ("region", "measured", 8)
        return [NativeTimes() for _ in commands]

    def refuse(command, *, times, **options):
        counted.append(" ".join(command))
        raise CannotMeasure("cannot", reason="it is a test", remedy="none")

    monkeypatch.setattr(measuring, "command", build)
    monkeypatch.setattr(measuring, "native_times_in_turn", time)
    monkeypatch.setattr(measuring, "measure_program", refuse)
    results = measuring.run_datacenter(measuring.cases(["bfs", "stream"]), repeat=8)

    assert timed == [
        ["bfs baseline original", "bfs optimised original"],
        ["stream baseline original", "stream optimised original"],
    ]
    assert counted == [*timed[0], *timed[1]]
    assert [result.is_in_turn for result in results] == [True] * 5
    assert "no g++" in results[2].failures[0]
