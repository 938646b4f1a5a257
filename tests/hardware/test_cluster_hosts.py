"""Hosts with links of a known rate on this machine: what is measured of them, and what is named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ridgepoint.core.documents import decode
from ridgepoint.core.measured_cluster import MeasuredCluster

TOOLS = Path(__file__).parents[1] / "tools"
sys.path.insert(0, str(TOOLS))
from network_hosts import network_hosts, stream_bytes_per_s, why_not  # noqa: E402

pytestmark = [pytest.mark.network, pytest.mark.slow]
_TRIALS = 3
_COMMAND = "from ridgepoint.cli.main import entry; entry()"

# Of a frame of 1514 byte, as tc counts it (14 of Ethernet's header, no checksum, no preamble), 20
# are IP's header, 20 TCP's and 12 its time stamps: 1448 are what a program sent.
PAYLOAD = (1500 - 20 - 20 - 12) / (1500 + 14)


@pytest.fixture(autouse=True, scope="module")
def _can_make_hosts():
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)


def on_hosts(launcher, ranks, folder, *arguments, code=_COMMAND):
    """Run Ridgepoint as ranks over the hosts; return what became of it."""
    return subprocess.run(
        [*launcher.format(ranks=ranks).split(), sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=200,
        env={
            **os.environ,
            "RIDGEPOINT_ARCHIVE": str(folder / "archive.sqlite3"),
            # More ranks than this machine has cores: they give way while they wait.
            "OMPI_MCA_mpi_yield_when_idle": "1",
        },
    )


def measured(launcher, ranks, folder):
    """Return the cluster that ranks over the hosts measure."""
    done = on_hosts(launcher, ranks, folder, "machine", "--quick", "--json")
    assert done.returncode == 0, done.stderr
    return decode(done.stdout, MeasuredCluster, origin="the output")


def traffic_control(host, words):
    """Run tc for the link of one host."""
    command = ["ip", "netns", "exec", f"rp{host}", "tc", *words.split()]
    subprocess.run(command, check=True, timeout=20)


def by_a_way_of_its_own(sender, receiver, rate):
    """Let what one host sends to another pass a second link; the way back stays as it was."""
    for words in (
        f"ip -n rp{sender} link add eth1 type veth peer name eth1 netns rp{receiver}",
        f"ip -n rp{sender} link set eth1 up",
        f"ip -n rp{receiver} link set eth1 up",
        f"ip -n rp{sender} route add 10.77.0.{receiver}/32 dev eth1 src 10.77.0.{sender}",
        f"tc -n rp{sender} qdisc add dev eth1 root tbf rate {rate} burst 256kb limit 32mb",
        f"ip netns exec rp{receiver} sysctl -qw net.ipv4.conf.all.rp_filter=0",
        f"ip netns exec rp{receiver} sysctl -qw net.ipv4.conf.eth1.rp_filter=0",
    ):
        subprocess.run(words.split(), check=True, timeout=20)


@pytest.mark.parametrize(("rate", "bits_per_s"), [("200mbit", 200e6), ("1gbit", 1e9)])
def test_a_link_is_measured_within_5_percent_of_what_it_can_carry(rate, bits_per_s, tmp_path):
    """As the headers say, and as a plain TCP connection says in the same minute.

    Both ends share this machine with all else on it: what misses is measured again, and printed.
    """
    carries = PAYLOAD * bits_per_s / 8
    for _ in range(_TRIALS):
        with network_hosts(2, rate) as launcher:
            plain = stream_bytes_per_s()
            cluster = measured(launcher, 2, tmp_path)
        rates = [link.rate.median for link in cluster.links.slowest]
        is_near = [rates == pytest.approx([known] * 2, rel=0.05) for known in (carries, plain)]
        if all(is_near):
            break
        print(f"{rates} where the link carries {carries} and a plain stream {plain}")

    assert is_near == [True, True]
    assert cluster.links.slow() == ()
    assert [node.host for node in cluster.nodes] == ["rp1", "rp2"]
    assert cluster.slowest().rate("network") == pytest.approx(carries, rel=0.05)


def test_a_host_whose_link_is_a_tenth_is_found_and_named(tmp_path):
    """What host 3 sends, and nothing else."""
    with network_hosts(3, "1gbit") as launcher:
        traffic_control(3, "qdisc replace dev eth0 root tbf rate 100mbit burst 256kb limit 32mb")
        cluster = measured(launcher, 3, tmp_path)

    ((what, rate),) = cluster.links.slow()
    assert what == "what rp3 sends"
    assert rate == pytest.approx(PAYLOAD * 100e6 / 8, rel=0.05)
    assert "slow-link" in [caution.code for caution in cluster.cautions]


def test_one_link_of_many_that_is_a_tenth_is_found_and_named(tmp_path):
    """Only what host 2 sends to host 1."""
    with network_hosts(3, "1gbit") as launcher:
        by_a_way_of_its_own(2, 1, "100mbit")
        cluster = measured(launcher, 3, tmp_path)

    ((what, rate),) = cluster.links.slow()
    assert what == "the link from rp2 to rp1"
    assert rate == pytest.approx(PAYLOAD * 100e6 / 8, rel=0.05)


def test_hosts_with_different_versions_are_refused_and_named(tmp_path):
    """Both versions and both hosts, in one line."""
    code = (
        "import socket, ridgepoint\n"
        "if socket.gethostname() == 'rp2': ridgepoint.__version__ = '9.9'\n"
        f"{_COMMAND}"
    )
    with network_hosts(2, "1gbit") as launcher:
        done = on_hosts(launcher, 2, tmp_path, "machine", "--quick", code=code)

    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("ridgepoint: cannot")]
    assert "on rp1 and 9.9 on rp2" in line
    assert not (tmp_path / "archive.sqlite3").exists()


def test_ranks_of_one_host_share_its_link(tmp_path):
    """Four ranks on two hosts: a node sends what one link carries, not what two would."""
    with network_hosts(2, "200mbit") as launcher:
        cluster = measured(launcher, 4, tmp_path)

    carries = PAYLOAD * 200e6 / 8
    assert [node.ranks for node in cluster.nodes] == [2, 2]
    within = [e for e in cluster.network if e.nodes == 1 and e.pattern == "ping-pong"]
    between = [e for e in cluster.network if e.nodes == 2 and e.pattern == "ping-pong"]
    assert within[0].time_s.median < between[0].time_s.median
    sent = [e for e in cluster.network if e.pattern == "all pairs" and e.ranks == 4]
    # Small messages pass within a burst, which is faster than the link, but not twice as fast.
    assert sent[-1].node_bytes_per_s.median < 1.5 * carries
    assert cluster.slowest().rate("network") == pytest.approx(carries, rel=0.05)
