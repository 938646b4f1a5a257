"""Distributed programs measured whole, under a real mpirun; work is counted by hand."""

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from core_inputs import ceiling, machine_of

from ridgepoint.cluster.driver import DistributedProgram, Plan
from ridgepoint.cluster.jobs import Jobs
from ridgepoint.cluster.launcher import find_launcher
from ridgepoint.core.documents import encode
from ridgepoint.core.errors import CannotStart, ProgramFailed
from ridgepoint.host import hostname

pytestmark = [pytest.mark.network, pytest.mark.valgrind]
SLOW = pytest.mark.slow

RIDGEPOINT = (sys.executable, "-m", "ridgepoint")


def program(ranks, *command, **options):
    """Return a program to be measured on some ranks of the usual launcher."""
    try:
        launcher = find_launcher(ranks)
    except CannotStart as lack:
        pytest.skip(str(lack))
    plan = Plan(command=tuple(command), repeat=1, output="discard", timeout_s=120.0, **options)
    return DistributedProgram(plan, Jobs(launcher=launcher))


@SLOW
def test_each_rank_has_the_work_of_its_part_within_mpi(calls):
    """Rank r does 2 (r + 1) Mflop between MPI_Init and MPI_Finalize, and 2 Mflop around them."""
    measured = program(3, calls, "unbalanced", traffic=False).measure()
    whole = measured.distributed

    assert [one.counts.work for one in whole.ranks] == [
        {"fp64": 2_000_000},
        {"fp64": 4_000_000},
        {"fp64": 6_000_000},
    ]
    assert measured.counted.counts.work == {"fp64": 12_000_000}
    assert whole.uses_mpi
    assert [one.host for one in whole.ranks] == [hostname()] * 3
    # One barrier, in which those with less to do wait for the others.
    assert [call.name for call in whole.ranks[0].calls] == ["MPI_Barrier"]
    assert whole.ranks[0].in_mpi_s.median > whole.ranks[2].in_mpi_s.median


@SLOW
def test_threads_of_a_rank_count_for_it(calls):
    """Their instructions are those of many thousand calls, and they are in the region of MPI."""
    measured = program(2, calls, "threads", traffic=False).measure()

    assert measured.counted.most_threads >= 5
    assert all(one.counts.instructions > 4000 * 100 for one in measured.distributed.ranks)
    assert measured.distributed.network_bytes == 0.0


def test_a_rank_that_dies_ends_the_measurement_within_a_time_limit(calls):
    """With its number, its host and the signal."""
    with pytest.raises(ProgramFailed, match=f"rank 1 on {hostname()}: SIGKILL ended it"):
        program(3, calls, "die", "signal").measure()


@SLOW
def test_the_status_of_ranks_is_the_programs(calls):
    """It is ignored if a user says so."""
    with pytest.raises(ProgramFailed, match="exited with status 3"):
        program(2, calls, "end", "3").measure()

    assert program(1, calls, "end", "3", ignore_status=True).measure().timed.exit_status == 3


@pytest.fixture
def machine(tmp_path):
    """Return the file of a machine: 8 Gflop/s, 10 GB/s of memory, 125 MB/s of network."""
    path = tmp_path / "machine.json"
    made = machine_of(
        *(ceiling("fp64", 4e9 * cores, threads=cores) for cores in (1, 2)),
        ceiling("dram", 1e10, threads=2),
        ceiling("network", 125e6, threads=2),
        cores=2,
    )
    path.write_bytes(encode(made))
    return path


def environment(tmp_path):
    """Return variables for an archive of its own."""
    return {**os.environ, "RIDGEPOINT_ARCHIVE": str(tmp_path / "archive.sqlite3")}


@SLOW
def test_the_command_line_measures_keeps_and_shows(calls, machine, tmp_path):
    """The same document is printed at once and afterwards, and a figure is drawn."""
    done = subprocess.run(
        [
            *(*RIDGEPOINT, "run", "--mpi", "2", "--repeat", "2", "--no-traffic", "--json"),
            *("--machine", machine, "-o", tmp_path / "figure.svg"),
            *("--", calls, "unbalanced"),
        ],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    again = subprocess.run(
        [*RIDGEPOINT, "show", "--json"], env=environment(tmp_path), capture_output=True, text=True
    )

    assert json.loads(again.stdout) == document
    assert document["work"] == {"fp64": 6_000_000}
    assert [one["rank"] for one in document["distributed"]["ranks"]] == [0, 1]
    assert document["command"][:3] == ["mpirun", "-n", "2"]
    assert (tmp_path / "figure.svg").stat().st_size > 1000


@SLOW
def test_ranks_that_mpirun_started_are_measured_by_the_first(calls, machine, tmp_path):
    """Rank 0 alone writes; the others wait."""
    launcher = find_launcher(2).command
    done = subprocess.run(
        [
            *(*launcher, *RIDGEPOINT, "run", "--repeat", "1", "--no-traffic", "--no-plot"),
            *("--machine", machine, "--", calls, "unbalanced"),
        ],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert done.returncode == 0, done.stderr
    assert done.stderr.count("2 ranks on 1 node") == 1
    assert done.stderr.count("kept as") == 1


def test_a_signal_to_the_driver_ends_all_ranks(calls, machine, tmp_path):
    """Nothing is left behind, and one line says what happened."""
    driver = subprocess.Popen(
        [
            *(*RIDGEPOINT, "run", "--mpi", "2", "--machine", machine),
            *("--", calls, "die", "hang"),
        ],
        env=environment(tmp_path),
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    started = []
    while len(started) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
        started = [
            one
            for one in psutil.Process(driver.pid).children(recursive=True)
            if one.name() == "mpi_calls"
        ]
    driver.send_signal(signal.SIGTERM)
    _, said = driver.communicate(timeout=60)

    assert len(started) == 2
    assert driver.returncode == 128 + signal.SIGTERM
    assert said.strip().splitlines()[-1].startswith("ridgepoint: cannot go on: SIGTERM asks")
    assert not [one for one in started if one.is_running()]
