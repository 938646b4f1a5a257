"""Ranks that Slurm's own srun starts on two hosts of this machine."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from core_inputs import ceiling, machine_of

from ridgepoint.core.documents import decode, encode
from ridgepoint.core.measured_cluster import MeasuredCluster

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from slurm_hosts import slurm_hosts, why_not

pytestmark = [pytest.mark.network, pytest.mark.valgrind, pytest.mark.slow]
_RIDGEPOINT = (sys.executable, "-m", "ridgepoint")


@pytest.fixture(scope="module")
def hosts():
    """Make two nodes with links of 1 Gbit/s; give what starts a command on the first."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    with slurm_hosts(2, "1gbit") as first:
        yield first


@pytest.fixture
def ran(hosts, tmp_path):
    """Return what runs a command on the first node, and gives its output."""

    def run(*words):
        done = subprocess.run(
            [*hosts, *map(str, words)],
            capture_output=True,
            text=True,
            timeout=200,
            env={**os.environ, "RIDGEPOINT_ARCHIVE": str(tmp_path / "archive.sqlite3")},
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("kept as") == 1
        return done.stdout

    return run


@pytest.fixture
def machine(tmp_path):
    """Return the file of a machine."""
    path = tmp_path / "machine.json"
    made = machine_of(ceiling("fp64", 4e9), ceiling("dram", 1e10), ceiling("network", 125e6))
    path.write_bytes(encode(made))
    return path


def test_srun_measures_the_nodes_and_their_links(ran):
    """About 1 Gbit/s; test_cluster_hosts asks for more."""
    out = ran("srun", "-N", 2, "-n", 2, *_RIDGEPOINT, "machine", "--quick", "--json")
    cluster = decode(out, MeasuredCluster, origin="the output")

    assert [node.host for node in cluster.nodes] == ["rp1", "rp2"]
    assert "srun of Slurm" in cluster.mpi
    rates = [link.rate.median for link in cluster.links.slowest]
    assert rates == pytest.approx([1448 / 1514 * 125e6] * 2, rel=0.2)


@pytest.mark.parametrize("within", [True, False])
def test_ranks_of_srun_are_measured(ran, calls, machine, within):
    """Started under srun, or starting it; neighbours on the other node get 2 x 10 MB of each."""
    under = ("srun", "-N", 2, "-n", 4, "--distribution=cyclic") if within else ()
    own = () if within else ("--mpi", 4, "--launcher", "srun -N 2 -n {ranks} -m cyclic")
    run = ("run", "--repeat", 2, "--no-traffic", "--json", "--machine", machine)
    document = json.loads(ran(*under, *_RIDGEPOINT, *run, *own, "--", calls, "stream"))

    ranks, nodes = (document["distributed"][key] for key in ("ranks", "nodes"))
    assert [one["sent_bytes"] for one in ranks] == [10_000_000] * 4
    assert [one["host"] for one in nodes] == ["rp1", "rp2"]
    if not within:
        assert [one["sent_to_others_bytes"] for one in nodes] == [20_000_000] * 2
