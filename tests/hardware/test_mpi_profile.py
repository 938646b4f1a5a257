"""What the library that profiles MPI sees; the bytes are derived by hand from mpi_calls.c."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ridgepoint.cluster import mpi_families, profiling
from ridgepoint.cluster.jobs import Jobs
from ridgepoint.cluster.launcher import find_launcher
from ridgepoint.cluster.mpi_families import LIBRARY, Recipe
from ridgepoint.cluster.task import Task
from ridgepoint.core.errors import CannotStart, MeterUnavailable
from ridgepoint.host import hostname
from ridgepoint.host.standard_input import no_standard_input
from ridgepoint.meters.building import build_ahead
from ridgepoint.meters.compiling import compilers_here

pytestmark = pytest.mark.network

PROGRAMS = Path(__file__).parents[1] / "programs"
PAYLOAD = 8000  # bytes of N doubles


@pytest.fixture(scope="module")
def mpicc():
    """Return MPI's compiler of C."""
    found = profiling.compiler(Path(sys.executable).parent)
    if found is None:
        pytest.skip("there is no mpicc: pip install 'ridgepoint[mpi]'")
    return found


@pytest.fixture(scope="module")
def calls(mpicc, tmp_path_factory):
    """Return the compiled program."""
    path = tmp_path_factory.mktemp("mpi") / "mpi_calls"
    command = [mpicc, "-O1", "-ffp-contract=off", "-pthread", PROGRAMS / "mpi_calls.c"]
    subprocess.run([*command, "-o", path], check=True)
    return str(path)


@pytest.fixture(scope="module", params=["own", pytest.param("family", marks=pytest.mark.slow)])
def library(request, mpicc, tmp_path_factory):
    """Build the library, for this MPI alone or as for a wheel, and return what is preloaded."""
    folder = tmp_path_factory.mktemp("cache")
    if request.param == "own":
        return str(profiling.library(mpicc, cache=folder))
    family, own = mpi_families._mpi(mpicc.parent)
    recipe = Recipe(family, mpicc.parents[1] / "include", compilers_here("the library"))
    build_ahead(recipe, folder)
    return f"{folder / LIBRARY}:{own}"


@pytest.fixture
def run(library):
    """Run a program on some ranks, and return what each reports."""

    def once(ranks, *command, output="discard"):
        try:
            launcher = find_launcher(ranks)
        except CannotStart as lack:
            pytest.skip(str(lack))
        task = Task(
            token="",
            mode="time",
            command=tuple(map(str, command)),
            ranks=ranks,
            libraries={hostname(): library},
            timeout_s=60.0,
            output=output,
        )
        return Jobs(launcher=launcher).run(
            task, stdin=no_standard_input(), output=output, limit_s=120.0
        )

    return once


def profile(report):
    """Return the one profile of a rank."""
    (found,) = report.profiles
    return found


def asked(report):
    """Return calls, and bytes sent, received and derived, of each collective of a rank."""
    return {
        call.name.removeprefix("MPI_"): (
            call.calls,
            call.sent_bytes,
            call.received_bytes,
            call.moved_bytes,
        )
        for call in profile(report).calls
        if call.kind == "collective"
    }


def collectives_by_hand(rank):
    """Return what `collectives` asks for on one of three ranks."""
    n, three = PAYLOAD, 3 * PAYLOAD
    own = 800 * (rank + 1)
    return {
        # Rank 1 is the root of a tree with two leaves.
        "Bcast": (1, n, 0, 2 * n) if rank == 1 else (1, 0, n, 0),
        "Reduce": (1, n, n, 0) if rank == 0 else (1, n, 0, n),
        "Allreduce": (1, n, n, 10666),  # 2 (3 - 1) / 3 of 8000
        "Gather": (1, n, three, 0) if rank == 0 else (1, n, 0, n),
        "Scatter": (1, three, n, 2 * n) if rank == 2 else (1, 0, n, 0),
        "Allgather": (1, n, three, 2 * n),
        "Alltoall": (1, three, three, 2 * n),
        "Reduce_scatter_block": (1, three, n, 2 * n),
        "Scan": (1, n, n, n if rank < 2 else 0),
        "Iallgather": (1, n, three, 2 * n),
        "Gatherv": (1, own, 4800, 0) if rank == 0 else (1, own, 0, own),
        "Alltoallv": (1, 4800, 3 * own, 4800 - own),
        "Barrier": (1, 0, 0, None),
    }


def test_collectives_have_the_bytes_of_their_arguments(run, calls):
    """Also where arguments mean nothing but at the root, and in place."""
    reports = run(3, calls, "collectives")

    assert [asked(one) for one in reports] == [collectives_by_hand(rank) for rank in range(3)]
    assert [profile(one).rank for one in reports] == [0, 1, 2]
    assert all(profile(one).is_finalized for one in reports)


def test_messages_are_counted_by_peer_in_the_world(run, calls):
    """Ranks of other communicators are translated; MPI_PROC_NULL is nobody."""
    reports = run(4, calls, "messages")
    peers = [
        {peer.rank: (peer.messages, peer.sent_bytes) for peer in profile(one).peers}
        for one in reports
    ]

    # To the right 5 x 80 byte and 7; two ranks on 3 x 16 byte; 2 to 0 and 3 to 1 also 400 byte.
    assert peers == [
        {1: (6, 407), 2: (3, 48)},
        {2: (6, 407), 3: (3, 48)},
        {3: (6, 407), 0: (4, 448)},
        {0: (6, 407), 1: (4, 448)},
    ]
    names = {call.name: call.calls for call in profile(reports[0]).calls}
    assert names["MPI_Isend"] == names["MPI_Irecv"] == 5
    assert names["MPI_Start"] == 3
    assert names["MPI_Wait"] == 3
    assert names["MPI_Waitall"] == names["MPI_Comm_split"] == 1


def test_threads_that_call_at_once_lose_nothing(run, calls):
    """Four threads of each rank send a thousand messages of 24 byte."""
    reports = run(2, calls, "threads")

    for one in reports:
        found = profile(one)
        (peer,) = found.peers
        assert found.threads == 4
        assert (peer.messages, peer.sent_bytes) == (4000, 96000)
        # Times are of one thread, so they fit into the time of the whole.
        assert 0 < found.in_mpi_s < found.wall_s


def test_a_program_that_never_finalizes_leaves_its_profile(run, calls):
    """It is written when the process ends."""
    (report,) = run(1, calls, "leave")

    assert not profile(report).is_finalized


def test_programs_of_mpi4py_are_profiled(run, capfd):
    """It opens MPI's library at run time; the bytes are those that the program counted itself."""
    reports = run(3, sys.executable, PROGRAMS / "mpi_own_count.py", output="own")
    said = [list(map(int, line.split())) for line in capfd.readouterr().out.split("\n") if line]
    counted = {rank: sent for rank, *sent in said}

    for rank, one in enumerate(reports):
        sent = {peer.rank: peer.sent_bytes for peer in profile(one).peers}
        assert sent == {to: amount for to, amount in enumerate(counted[rank]) if amount}
        # 1000, 2000 and 3000 doubles.
        assert set(sent.values()) == {48_000}


@pytest.fixture(scope="module")
def fortran(mpicc, tmp_path_factory):
    """Return a program of Fortran with bindings that call MPI past the interface of C."""
    if shutil.which("gfortran") is None:
        pytest.skip("gfortran is not installed")
    folder = tmp_path_factory.mktemp("fortran")
    bindings, path = folder / "libbindings.so", folder / "ring"
    source = PROGRAMS / "mpi_bindings.c"
    subprocess.run([mpicc, "-shared", "-fPIC", source, "-o", bindings], check=True)
    subprocess.run(
        [
            *("gfortran", "-fallow-argument-mismatch", PROGRAMS / "mpi_fortran.f90"),
            *(bindings, f"-Wl,-rpath,{folder}", "-Wl,--allow-shlib-undefined", "-o", path),
        ],
        check=True,
    )
    return str(path)


def test_programs_of_fortran_are_profiled(run, fortran):
    """Three messages of 800 byte and one of 200 go to the right."""
    reports = run(3, fortran)

    for rank, one in enumerate(reports):
        (peer,) = profile(one).peers
        assert (peer.rank, peer.messages, peer.sent_bytes) == ((rank + 1) % 3, 4, 2600)
        assert profile(one).is_finalized
        # The root of the tree has two leaves; 2 (3 - 1) / 3 of 800.
        root = (1, 800, 0, 1600) if rank == 0 else (1, 0, 800, 0)
        assert asked(one) == {"Bcast": root, "Allreduce": (1, 800, 800, 1066)}


def test_a_compiler_that_fails_is_told_with_what_it_says(tmp_path):
    """The reason is its first complaint."""
    broken = tmp_path / "mpicc"
    broken.write_text("#!/bin/sh\necho 'mpi.h: error: no such file' >&2\nexit 1\n")
    broken.chmod(0o755)

    with pytest.raises(MeterUnavailable, match=r"error: no such file"):
        profiling.library(broken, cache=tmp_path)
    assert not list(tmp_path.rglob("*.so"))
