"""`ridgepoint suite datacenter --mpi`, through the command line, without ranks."""

import json

import pytest

from ridgepoint.core.documents import decode, encode, to_fields
from ridgepoint.core.estimate import Estimate
from ridgepoint.suites.datacenter.mpi_results import MpiResult, MpiStudy


def result(ranks, times_s, **fields):
    """Return a sort on some ranks."""
    given = {"bops": 37_000_000, **fields}
    return MpiResult(
        workload="sort", title="Sort", size=100_000, size_unit="records", ranks=ranks,
        time_s=Estimate(times_s), result="39427", **given,
    )  # fmt: skip


STUDY = MpiStudy(
    launcher="mpirun (Open MPI) 5.0.11",
    host="node1",
    results=(
        result(1, [0.037 + 0.0001 * step for step in range(14)]),
        result(2, [0.0185 + 0.0001 * step for step in range(14)], bops=38_000_000),
    ),
    failures={"Grep on 2 ranks": "cannot run 'grep' on 2 ranks: why; what to do"},
)


@pytest.fixture
def scripted(monkeypatch):
    """Give the study without starting ranks."""
    asked = {}

    def run_mpi(names, ranks, **options):
        asked.update(names=names, ranks=ranks, **options)
        return STUDY

    monkeypatch.setattr("ridgepoint.suites.datacenter.mpi.run_mpi", run_mpi)
    return asked


def test_the_table_has_a_row_for_each_number_of_ranks(cli, scripted):
    """With the gain over one rank; what could not be run is named, with status 2."""
    status, out, _ = cli("suite", "datacenter", "sort", "--mpi", "2", "--full")
    rows = [line.split() for line in out.splitlines()]

    assert status == 2
    assert (scripted["names"], scripted["ranks"], scripted["full"]) == (("sort",), 2, True)
    assert any(row[:4] == ["Sort", "1", "37.65", "ms"] for row in rows)
    assert any(row[:2] == ["Sort", "2"] and "x" in row for row in rows)
    assert "Sort: 100,000 records; checksum 39427" in out
    assert "Grep on 2 ranks: cannot run 'grep' on 2 ranks: why; what to do" in out


def test_the_document_has_the_gains_and_is_read_again(cli, scripted, tmp_path):
    """As --json, and -o."""
    _, out, _ = cli("suite", "datacenter", "--mpi", "2", "--json", "-o", tmp_path / "mpi.json")
    found = json.loads(out)

    assert found["gains"][0]["time"]["verdict"] == "gain"
    assert found["gains"][0]["ranks"] == 2
    assert decode((tmp_path / "mpi.json").read_bytes(), MpiStudy, origin="mpi.json") == STUDY
    assert to_fields(decode(encode(STUDY), MpiStudy, origin="")) == to_fields(STUDY)


def test_unknown_operations_are_unknown(cli, monkeypatch):
    """With the reason, once."""
    study = MpiStudy(
        launcher="mpirun", host="node1", failures={},
        results=(result(1, [1.0] * 8, bops=None, failure="there is no clang; install it"),),
    )  # fmt: skip
    monkeypatch.setattr("ridgepoint.suites.datacenter.mpi.run_mpi", lambda *a, **k: study)
    status, out, _ = cli("suite", "datacenter", "--mpi", "2")

    assert status == 0
    assert out.count("there is no clang; install it") == 1
    assert "unknown" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("kmeans", "--mpi", "2"), "kmeans has no program for MPI; --mpi runs sort and grep"),
        (("--mpi", "1"), "'--mpi'"),
        (("--mpi", "two"), "'--mpi'"),
        (("--mpi", "2", "--threads", "2"), "--threads cannot be combined with --mpi"),
        (("--mpi", "2", "--published"), "cannot be combined with"),
        (("--mpi", "2", "--figures", "x"), "--figures cannot be combined with --mpi"),
        (("--launcher", "srun -n {ranks}"), "add --mpi 2"),
    ],
)
def test_wrong_uses_are_refused(cli, words, said):
    """In one line."""
    status, out, err = cli("suite", "datacenter", *words)

    assert (status, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    ("launcher", "said"),
    [("nowhere -n {ranks}", "there is no 'nowhere'"), ("mpirun -n 2", "does not say where")],
)
def test_a_launcher_that_is_not_there_is_refused(cli, launcher, said):
    """Before anything is built."""
    status, out, err = cli("suite", "datacenter", "sort", "--mpi", "2", "--launcher", launcher)

    assert (status, out) == (2, "")
    assert said in err
