"""Jobs of agents under a launcher made of a shell: no MPI is needed to start and end ranks."""

import os
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from ridgepoint.cluster.jobs import Jobs
from ridgepoint.cluster.launcher import Launcher
from ridgepoint.cluster.task import Task
from ridgepoint.core.errors import CannotMeasure, CannotStart, ProgramFailed
from ridgepoint.host import hostname, usable_cpus
from ridgepoint.host.standard_input import no_standard_input

FAKE = Path(__file__).parents[1] / "programs" / "fake_launcher.sh"

_BEFORE: set[int] = set()


@pytest.fixture(autouse=True)
def _before():
    """Note what runs before a test."""
    _BEFORE.clear()
    _BEFORE.update(child.pid for child in psutil.Process(os.getpid()).children())


def jobs(ranks, **options):
    """Return jobs of the fake launcher."""
    command = (str(FAKE), str(ranks))
    launcher = Launcher(command=command, shown=("fake",), name="fake", ranks=ranks)
    return Jobs(launcher=launcher, **options)


def run(ranks, *command, limit_s=60.0, output="discard", stdin=None, **options):
    """Time a command on some ranks."""
    task = Task(
        token="", mode="time", command=command, ranks=ranks, profile=False, output=output, **options
    )
    return jobs(ranks).run(task, stdin=stdin or no_standard_input(), output=output, limit_s=limit_s)


def python(code):
    """Return a command that executes code on each rank, which knows its number as ``rank``."""
    head = "import os, signal, sys, time\nrank = int(os.environ['OMPI_COMM_WORLD_RANK'])\n"
    return (sys.executable, "-c", head + textwrap.dedent(code))


def test_every_rank_reports_in_order():
    """With its host, its CPUs, and how long its program took."""
    reports = run(3, *python("sys.stderr.write('no line ends here'); time.sleep(0.1 * rank)"))

    assert [one.rank for one in reports] == [0, 1, 2]
    assert {one.host for one in reports} == {hostname()}
    assert {one.cpus for one in reports} == {usable_cpus()}
    assert all(one.wall_s > 0.1 * one.rank for one in reports)
    assert [one.passed is None for one in reports] == [False, True, True]


def test_programs_get_the_descriptor_by_which_mpich_speaks_to_them():
    """Its MPI_Init fails without."""
    reports = run(2, *python("os.fstat(int(os.environ['PMI_FD']))"))

    assert [one.status for one in reports] == [0, 0]


def test_output_of_ranks_goes_where_it_should_without_our_messages(capfd):
    """Standard output to ours, and standard error to ours; each a line in one piece."""
    code = "os.write(1, b'out %d\\n' % rank); os.write(2, b'err %d\\n' % rank)"
    run(2, *python(code), output="own")
    said = capfd.readouterr()

    assert sorted(said.out.split("\n")) == ["", "out 0", "out 1"]
    assert sorted(said.err.split("\n")) == ["", "err 0", "err 1"]


def test_long_reports_come_through_beside_much_output(capfd):
    """A hundred thousand lines of each rank's own do not disturb them."""
    code = "sys.stderr.write('a line of the program\\n' * 20_000)"
    reports = run(4, *python(code), output="own")

    assert len(reports) == 4
    assert "ridgepoint" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("code", "message", "status"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL ended it", 137),
        ("sys.exit(7)", "exited with status 7", 7),
    ],
)
def test_a_rank_that_dies_is_named_with_its_host_and_the_others_are_ended(
    code, message, status, monkeypatch
):
    """They would wait for it for ever, and this launcher with them."""
    monkeypatch.setattr("ridgepoint.cluster.jobs.END_S", 1.0)
    begin = time.monotonic()
    with pytest.raises(ProgramFailed, match=rf"rank 1 on {hostname()}: .*{message}") as caught:
        run(3, *python(f"if rank == 1: time.sleep(0.3); {code}\ntime.sleep(100)"))

    assert caught.value.exit_status == status
    assert time.monotonic() - begin < 60
    assert not _left()


def test_a_status_can_be_ignored():
    """Then it is a value."""
    reports = run(2, *python("sys.exit(rank)"), ignore_status=True)

    assert [one.status for one in reports] == [0, 1]


def test_ranks_that_take_too_long_are_ended_and_named():
    """Each ends itself; where that fails, the driver ends the job."""
    with pytest.raises(CannotMeasure, match=r"rank \d on .*ran longer than 0\.5 s"):
        run(2, *python("time.sleep(100)"), timeout_s=0.5)
    with pytest.raises(CannotMeasure, match=r"ranks 0, 1 did not end in time"):
        run(2, *python("time.sleep(100)"), limit_s=3.0)

    assert not _left()


def test_a_program_that_is_not_there_is_told_by_its_rank():
    """On the host where it lacks."""
    with pytest.raises(CannotMeasure, match=rf"rank \d on {hostname()}: no such file"):
        run(2, "/no/such/program")


def test_a_launcher_that_does_not_number_its_ranks_is_refused(monkeypatch):
    """Each would take itself for alone; so it is with an mpirun of another MPI."""
    monkeypatch.setenv("FAKE_SIZE", "1")

    with pytest.raises(CannotMeasure, match=r"see 1 rank\(s\)"):
        run(1 + 1, *python("time.sleep(100)"))
    assert not _left()


def test_a_host_without_ridgepoint_is_told_with_what_the_launcher_says():
    """Its ranks end without an answer."""
    task = Task(token="", mode="time", command=("true",), ranks=2, profile=False)
    broken = jobs(2, agent=("/bin/sh", "-c", "echo no such interpreter >&2; exit 127"))

    with pytest.raises(CannotMeasure, match=r"ranks 0, 1 ended without an answer.*no such interp"):
        broken.run(task, stdin=no_standard_input(), output="discard", limit_s=30.0)


def test_an_agent_that_tells_something_else_is_of_another_version():
    """Nothing is guessed."""
    code = (
        "from ridgepoint.cluster import frames, task; import sys; "
        "frames.send(2, task.Task.decoded(sys.argv[1]).token, 0, b'junk')"
    )
    task = Task(token="", mode="time", command=("true",), ranks=1, profile=False)
    other = jobs(1, agent=(sys.executable, "-c", code))

    with pytest.raises(CannotMeasure, match="another version"):
        other.run(task, stdin=no_standard_input(), output="discard", limit_s=30.0)


def test_a_launcher_that_is_not_there_cannot_start():
    """It may have been removed meanwhile."""
    launcher = Launcher(command=("/no/such/launcher",), shown=("x",), name="x", ranks=1)
    task = Task(token="", mode="time", command=("true",), ranks=1, profile=False)

    with pytest.raises(CannotStart, match="no such file"):
        Jobs(launcher=launcher).run(task, stdin=no_standard_input(), output="discard", limit_s=30.0)


def test_an_interrupt_leaves_no_process_behind(monkeypatch):
    """Whatever ends the wait ends the job."""

    def interrupted(*_):
        deadline = time.monotonic() + 30
        while len(_left()) < 4 and time.monotonic() < deadline:
            time.sleep(0.05)
        raise KeyboardInterrupt

    monkeypatch.setattr("ridgepoint.cluster.jobs.select.select", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(2, *python("time.sleep(100)"))

    assert not _left()


def _left():
    """Return what this process started within a test and all that it left; not the watchdog.

    Other tests may have left a process on purpose, as the browser that all of them share.
    """
    return [
        one
        for child in psutil.Process(os.getpid()).children()
        if child.pid not in _BEFORE
        for one in (child, *child.children(recursive=True))
        if one.status() != psutil.STATUS_ZOMBIE
        and not any(word.endswith("watchdog.py") for word in one.cmdline())
    ]
