"""Ranks of MPI on this host: what they measure, how they wait, and how they fail."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from ridgepoint.core.documents import decode
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.kept.archive import Archive

pytestmark = pytest.mark.network
SLOW = pytest.mark.slow  # whole machines are measured
_BESIDE = Path(sys.executable).with_name("mpirun")
_COMMAND = "import sys; from ridgepoint.cli.main import entry; entry()"


def launcher_of(archive):
    """Return what starts ranks of Python code, with an archive."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    found = str(_BESIDE) if _BESIDE.exists() else shutil.which("mpirun")
    if found is None:
        pytest.skip("there is no mpirun")
    environment = {**os.environ, "RIDGEPOINT_ARCHIVE": str(archive)}
    rooted = ["--allow-run-as-root"] if os.geteuid() == 0 else []

    def start(ranks, code, *arguments):
        command = [found, *rooted, "--oversubscribe", "-n", str(ranks), sys.executable, "-c", code]
        return subprocess.Popen(
            [*command, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        )

    return start


@pytest.fixture
def mpirun(tmp_path):
    """Return what starts ranks of Python code; the archive is in a folder of its own."""
    return launcher_of(tmp_path / "archive.sqlite3")


@pytest.fixture(scope="module")
def two_ranks(tmp_path_factory):
    """Measure with two ranks on this host; return the document, the messages, and the archive."""
    archive = tmp_path_factory.mktemp("two") / "archive.sqlite3"
    start = launcher_of(archive)
    status, out, err = finished(start(2, _COMMAND, "machine", "--quick", "--json"))
    assert status == 0, err
    return out, err, archive


def finished(process):
    """Return status, standard output and standard error."""
    out, err = process.communicate(timeout=150)
    return process.returncode, out, err


@SLOW
def test_two_ranks_measure_the_paths_within_their_node(two_ranks):
    """Nothing crossed a network, and that is said."""
    out, _, _ = two_ranks

    cluster = decode(out, MeasuredCluster, origin="the output")
    assert [node.ranks for node in cluster.nodes] == [2]
    assert cluster.links is None
    assert "no-network" in {caution.code for caution in cluster.cautions}
    assert not cluster.slowest().knows("network")
    assert {exchange.pattern for exchange in cluster.network} == {
        "ping-pong",
        "stream",
        "both directions",
        "all-reduce",
        "all-gather",
        "all-to-all",
    }
    assert all(exchange.nodes == 1 and exchange.ranks == 2 for exchange in cluster.network)


@SLOW
def test_rank_0_alone_speaks_and_keeps(two_ranks):
    """One document, one record."""
    out, err, path = two_ranks

    assert err.count("kept as") == 1
    with Archive(path) as archive:
        assert [record.kind for record in archive.records()] == ["cluster"]
        assert archive.cluster(1) == decode(out, MeasuredCluster, origin="the output")


@SLOW
def test_ceilings_are_those_of_the_node_not_of_one_bound_core(two_ranks):
    """Launchers bind a rank to a core or a few."""
    node = json.loads(two_ranks[0])["nodes"][0]["machine"]
    assert node["host"]["cores"] == len(os.sched_getaffinity(0))


@SLOW
def test_one_rank_measures_its_node_alone(mpirun):
    """Nothing is exchanged; what to do is said."""
    status, out, err = finished(mpirun(1, _COMMAND, "machine", "--quick", "--json"))
    assert status == 0, err

    document = json.loads(out)
    assert document["network"] == []
    assert "only one rank" in str(document["cautions"])


def test_what_the_command_line_refuses_is_said_once(mpirun):
    """--check is of one machine."""
    status, out, err = finished(mpirun(3, _COMMAND, "machine", "--check", "cascade-lake"))

    assert status == 2
    assert out == ""
    assert err.count("apply to a single machine") == 1
    assert "Traceback" not in err


def test_an_option_that_is_none_is_refused_once():
    """Before there is any MPI."""
    first, second = (
        alone(_COMMAND, rank=rank, arguments=["machine", "--nonsense"]) for rank in (0, 1)
    )

    assert (first.returncode, second.returncode) == (2, 2)
    assert "No such option" in first.stderr
    assert second.stderr == ""


def test_an_archive_that_cannot_be_written_is_refused_at_once(mpirun, tmp_path):
    """Before anything long begins, and all ranks end."""
    (tmp_path / "archive.sqlite3").mkdir()
    status, _, err = finished(mpirun(2, _COMMAND, "machine", "--quick"))

    assert status == 2
    assert err.count("it is a directory") == 1
    assert "measuring" not in err


@SLOW
def test_a_rank_that_dies_ends_the_others_and_is_named(mpirun):
    """Killed while the node is measured."""
    process = mpirun(3, _COMMAND, "machine")
    ranks = []
    while len(ranks) < 3 and process.poll() is None:
        time.sleep(0.1)
        ranks = [
            child
            for child in psutil.Process(process.pid).children(recursive=True)
            if "OMPI_COMM_WORLD_RANK" in child.environ()
        ]
    (second,) = [one for one in ranks if one.environ()["OMPI_COMM_WORLD_RANK"] == "1"]
    time.sleep(3)
    second.kill()
    status, out, err = finished(process)

    assert status != 0
    assert "rank 1" in err + out
    _, left = psutil.wait_procs(ranks, timeout=20)
    assert all(one.status() == psutil.STATUS_ZOMBIE for one in left)


_HANGS = """
import time
from ridgepoint.cluster.detect import launched
from ridgepoint.cluster.world import join
world = join(launched())
if world.rank == 1:
    time.sleep(600)
with world.step("a test", limit_s=2):
    world.pause()
"""


@SLOW
def test_a_rank_that_does_not_answer_is_named_within_the_limit(mpirun):
    """It hangs, so that no launcher notices."""
    status, _, err = finished(mpirun(3, _HANGS))

    assert status != 0
    assert "cannot finish a test: rank 1 on " in err
    assert "rank 2" not in err.split("did not answer")[0]


_FAILS = """
from ridgepoint.cli import cluster_machine
from ridgepoint.cluster import measure
def fail(world, **options):
    if world.rank == 1:
        raise OSError("the fan has stopped")
    world.pause()
measure.measure_cluster = fail
from ridgepoint.cli.main import entry
entry()
"""


def test_a_rank_that_fails_ends_all_and_is_named(mpirun):
    """An error that only one rank knows of."""
    status, _, err = finished(mpirun(3, _FAILS, "machine"))

    assert status != 0
    assert "rank 1 on " in err
    assert "the fan has stopped" in err


_WAITS = """
import time
from ridgepoint.cluster.detect import launched
from ridgepoint.cluster.world import join
world = join(launched())
begin_s = time.process_time()
if world.rank == 0:
    time.sleep(2)
world.pause()
for rank, told in world.told(bytes(1 << 20), tellers=world.size):
    assert len(told) == 1 << 20
used_s = time.process_time() - begin_s
assert world.agree(world.rank + 7) == 7
world.close()
print("used", used_s if world.rank else 0.0, flush=True)
"""


def test_ranks_that_wait_are_asleep(mpirun):
    """2 s of waiting would take 2 s of a core if they spun; asleep it takes a few hundredths."""
    status, out, err = finished(mpirun(3, _WAITS))
    assert status == 0, err

    used_s = [float(line.split()[1]) for line in out.splitlines() if line.startswith("used")]
    assert len(used_s) == 3
    assert max(used_s) < 1.0


def alone(code, *, rank, size=2, arguments=()):
    """Run Python as a launcher's rank that MPI knows nothing of."""
    environment = {
        **os.environ,
        "OMPI_COMM_WORLD_SIZE": str(size),
        "OMPI_COMM_WORLD_RANK": str(rank),
    }
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
    )


def test_an_mpirun_of_another_mpi_is_refused():
    """Then every process thinks that it is alone; the first one says what to do."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    first, second = (alone(_COMMAND, rank=rank, arguments=["machine"]) for rank in (0, 1))

    assert (first.returncode, second.returncode) == (2, 2)
    assert (
        "started 2 processes, and each finds 1 in its world: mpi4py uses Open MPI" in first.stderr
    )
    assert "build mpi4py with the launcher's MPI" in first.stderr
    assert second.stderr == ""


def test_without_mpi4py_it_says_how_to_install_it():
    """One line, from the first rank."""
    without = f"import sys; sys.modules['mpi4py'] = None; {_COMMAND}"
    first, second = (alone(without, rank=rank, arguments=["machine"]) for rank in (0, 1))

    assert (first.returncode, second.returncode) == (2, 2)
    assert "mpi4py does not work here" in first.stderr
    assert "pip install 'ridgepoint[mpi]'" in first.stderr
    assert len(first.stderr.splitlines()) == 1
    assert second.stderr == ""
