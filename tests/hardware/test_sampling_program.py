"""Programs measured with the times of their functions, where that is allowed and where not."""

import errno
from dataclasses import replace

import pytest

from ridgepoint.cli.main import main
from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import Counts
from ridgepoint.meters.engine import EngineMeter
from ridgepoint.meters.sampling.event import refusal
from ridgepoint.meters.scripted import ScriptedMeter
from ridgepoint.profiling.program import measure_program
from ridgepoint.profiling.several_counts import work_cautions

COUNTED = Counted(
    meter="scripted",
    counts=Counts(instructions=1000, branches=0, loads=0, stores=0, load_bytes=0, store_bytes=0),
    traffic=(),
)


def measured(command):
    """Measure a program with its functions, timed once."""
    meter = EngineMeter(simulate=False)
    return measure_program(command, meter=meter, functions=True, repeat=1, output="discard")


def codes(told):
    """Return the codes of all cautions."""
    return [caution.code for caution in told.all_cautions]


@pytest.mark.parametrize(("number", "paranoid"), [(errno.EACCES, 3), (errno.EPERM, 2)])
def test_where_sampling_is_forbidden_all_else_works(monkeypatch, number, paranoid):
    """kernel.perf_event_paranoid of 3, and a container's seccomp profile."""

    def refuse(cpu, *, asked):
        raise refusal(number, paranoid=paranoid)

    monkeypatch.setattr("ridgepoint.meters.sampling.ring.open_event", refuse)
    told = measure_program(["/bin/true"], meter=ScriptedMeter(COUNTED), functions=True, repeat=1)

    assert told.sampled is None
    assert told.timed is not None
    assert "no-samples" in codes(told)


def test_two_counted_runs_that_differ_are_a_caution():
    """By more than a hundredth of the instructions."""
    alike = replace(COUNTED, counts=replace(COUNTED.counts, instructions=1010))
    other = replace(COUNTED, counts=replace(COUNTED.counts, instructions=1011))

    assert work_cautions(COUNTED, alike) == ()
    assert [caution.code for caution in work_cautions(COUNTED, other)] == ["work-differs"]


@pytest.mark.usefixtures("_can_sample")
@pytest.mark.parametrize(("number", "how"), [(2, "sampled"), (3, "counted")])
def test_a_run_that_ends_otherwise_is_doubted(number, how, tmp_path):
    """Of one that is timed, one that is sampled and one that is counted."""
    runs = tmp_path / "runs"
    script = f"echo >> {runs}; [ $(wc -l < {runs}) -ne {number} ]"
    told = measure_program(
        ["/bin/sh", "-c", script],
        meter=ScriptedMeter(COUNTED),
        functions=True,
        repeat=1,
        ignore_status=True,
    )

    (doubt,) = [caution for caution in told.all_cautions if caution.code == "status-differs"]
    assert f"status 0 in the native run and with 1 when it was {how}" in doubt.seen


@pytest.mark.valgrind
def test_a_program_that_does_more_from_run_to_run_is_doubted(tmp_path):
    """It adds a line to a file, and counts to 3000 for each that is there."""
    script = (
        f"echo >> {tmp_path}/lines; while read line; do i=0; "
        f"while [ $i -lt 3000 ]; do i=$((i+1)); done; done < {tmp_path}/lines"
    )
    told = measured(["/bin/sh", "-c", script])

    assert "work-differs" in codes(told)


@pytest.mark.valgrind
def test_a_program_that_does_the_same_in_every_run_is_not_doubted():
    """It counts to 3000."""
    told = measured(["/bin/sh", "-c", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done"])

    assert not {"work-differs", "status-differs"} & set(codes(told))


@pytest.mark.parametrize("other", [["--counts-only"], ["--region", "a"], ["--function", "f"]])
def test_functions_are_timed_of_whole_programs_only(capfd, other):
    """Else neither the time nor the counts are those of the same thing."""
    assert main(["run", "--functions", *other, "--", "true"]) == 2
    assert "--functions" in capfd.readouterr().err


def test_a_part_alone_is_refused_in_python_too():
    """As the command line does."""
    with pytest.raises(ValueError, match="whole program"):
        measure_program(["/bin/true"], functions=True, counts_only=True)
