"""Distributed programs over hosts with links of a known rate, made on this machine."""

import subprocess
import sys
from pathlib import Path

import pytest
from core_inputs import ceiling, machine_of

from ridgepoint.cluster.driver import DistributedProgram, Plan
from ridgepoint.cluster.jobs import Jobs
from ridgepoint.cluster.launcher import find_launcher
from ridgepoint.core.errors import CannotMeasure, ProgramFailed
from ridgepoint.models.derived import nodes_together
from ridgepoint.models.distributed import judge, nodes_on_ridgeline

TOOLS = Path(__file__).parents[1] / "tools"
sys.path.insert(0, str(TOOLS))
from network_hosts import network_hosts, why_not  # noqa: E402

pytestmark = [pytest.mark.network, pytest.mark.valgrind, pytest.mark.slow]

RATE_BYTES_PER_S = 200e6 / 8
HEADERS = 0.06
"""Of Ethernet, IP and TCP; less where the kernel hands over several packets as one."""
START_BYTES = 1_000_000
"""What the launcher and MPI exchange to begin and end."""


@pytest.fixture(scope="module")
def launcher():
    """Make two hosts with links of 200 Mbit/s, and give what starts ranks on them in turn."""
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    with network_hosts(2, "200mbit") as text:
        yield text


@pytest.fixture(scope="module")
def program(launcher, calls):
    """Return what measures a mode of the program on four ranks over the hosts."""

    def measure(*mode, timeout_s=120.0):
        plan = Plan(command=(calls, *mode), repeat=2, output="discard", timeout_s=timeout_s)
        jobs = Jobs(launcher=find_launcher(4, text=launcher))
        return DistributedProgram(plan, jobs).measure()

    return measure


def test_interfaces_carry_what_mpi_is_asked_to_send_and_headers(program):
    """Neighbours are on the other host: 2 x 10 MB leave each. The link is what bounds it."""
    measured = program("stream")
    whole = measured.distributed
    node = machine_of(
        *(ceiling("fp64", 4e9 * cores, threads=cores) for cores in (1, 2)),
        ceiling("dram", 1e10, threads=2),
        ceiling("network", RATE_BYTES_PER_S, threads=2),
        cores=2,
    )
    verdict = judge(measured, nodes_together(node, 2))

    assert [(one.host, one.ranks) for one in whole.nodes] == [("rp1", (0, 2)), ("rp2", (1, 3))]
    assert [one.sent_bytes for one in whole.ranks] == [10_000_000] * 4
    assert [one.received_bytes for one in whole.ranks] == [10_000_000] * 4
    for one in whole.nodes:
        assert one.sent_to_others_bytes == 20_000_000
        most = 20_000_000 * (1 + HEADERS) + START_BYTES
        assert 20_000_000 <= one.sent_bytes.median <= most
        assert 20_000_000 <= one.received_bytes.median <= most
    # 20 MB at 25 MB/s: no run can be faster, but for what a link lets through in a burst.
    assert measured.timed.runtime_s.median > 0.9 * 0.8
    assert verdict.limit == "network"
    _, nodes = nodes_on_ridgeline(measured, nodes_together(node, 2))
    assert nodes.labels == ("rp1", "rp2")


@pytest.mark.parametrize(
    ("how", "message", "error"),
    [
        ("signal", "rank 1 on rp2: SIGKILL ended it", ProgramFailed),
        # The launcher may end it, as others notice, before its status is known.
        ("status", "rank 1 on rp2: it (exited with status 7|ended without)", ProgramFailed),
        ("hang", r"rank \d on rp\d: it ran longer than 5 s", CannotMeasure),
    ],
)
def test_a_rank_that_fails_on_another_host_is_named_with_it(program, calls, how, message, error):
    """And nothing is left on any host."""
    with pytest.raises(error, match=message):
        program("die", how, timeout_s=5.0)

    left = subprocess.run(["pgrep", "-f", calls], capture_output=True, text=True)
    assert left.stdout == ""
