"""Sort and Grep under MPI: what they find against sort(1), grep(1) and the programs of threads."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ridgepoint.cluster.launcher import clean_environment, find_launcher
from ridgepoint.suites.datacenter import generate
from ridgepoint.suites.datacenter.build import build
from ridgepoint.suites.datacenter.mpi import mpi_compiler, run_mpi

pytestmark = pytest.mark.network
_BESIDE = Path(sys.executable).parent


@pytest.fixture(autouse=True)
def _has_mpi():
    for tool in ("mpirun", "mpicxx"):
        if not (_BESIDE / tool).exists() and shutil.which(tool) is None:
            pytest.skip(f"there is no {tool}")


def run(program, ranks, *words):
    """Return what a program on some ranks printed last, its status, and what it complained of."""
    launcher = find_launcher(ranks)
    path = build(program, variant="optimised", compiler=shlex.quote(mpi_compiler(_BESIDE)))
    done = subprocess.run(
        [*launcher.command, str(path), *map(str, words)],
        capture_output=True, text=True, timeout=120,
        env={"OMPI_MCA_mpi_yield_when_idle": "1", **clean_environment(os.environ)},
    )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return (lines[-1] if lines else None), done.returncode, done.stderr


def tool(*words):
    """Return what a tool of the system prints."""
    return subprocess.run(
        words, capture_output=True, text=True, timeout=60, env={**os.environ, "LC_ALL": "C"}
    ).stdout


@pytest.mark.parametrize(("ranks", "block"), [(1, 10**6), (2, 10**6), (3, 700), (5, 4999)])
def test_ranks_sort_as_the_systems_sort(tmp_path, ranks, block):
    """Whole numbers of 64 bits, in one block and in several runs."""
    integers = generate("integers", tmp_path / "integers", size=5_000, seed=7)
    found, status, _ = run(
        "mpi_sort", ranks, "--input", integers, "--block", block, "--check", "--results",
        tmp_path / "sorted",
    )  # fmt: skip

    assert status == 0
    assert (tmp_path / "sorted").read_text() == tool("sort", "-n", integers)
    assert (found["ranks"], found["records"], found["checked"]) == (ranks, 5_000, True)


@pytest.mark.parametrize("values", [[], [3], [2, 1], [5, 5, 5]])
def test_fewer_numbers_than_ranks_are_sorted_too(tmp_path, values):
    """Parts of blocks may be empty."""
    (tmp_path / "few").write_text("".join(f"{value}\n" for value in values))
    _, status, _ = run("mpi_sort", 4, "--input", tmp_path / "few", "--results", tmp_path / "sorted")

    assert status == 0
    assert (tmp_path / "sorted").read_text().split() == [str(value) for value in sorted(values)]


@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize(("chunk", "pattern"), [(64, "beba"), (65536, "ba")])
def test_ranks_find_as_many_as_grep(tmp_path, ranks, chunk, pattern):
    """Occurrences across the edges of chunks and parts too; the patterns do not overlap."""
    text = generate("text", tmp_path / "text", size=100_000, seed=3)
    found, status, _ = run(
        "mpi_grep", ranks, "--input", text, "--pattern", pattern, "--chunk", chunk, "--check"
    )
    lines, _, _ = run(
        "mpi_grep", ranks, "--input", text, "--pattern", pattern, "--chunk", chunk, "--form",
        "lines",
    )  # fmt: skip

    assert status == 0
    assert found["matches"] == len(tool("grep", "-o", pattern, str(text)).splitlines())
    assert lines["matches"] == int(tool("grep", "-c", pattern, str(text)))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--input", "/nowhere"), "cannot read '/nowhere'"),
        (("--threads", "2"), "each rank has one thread"),
        (("--bad",), "there is no such option"),
    ],
)
def test_what_is_wrong_ends_all_ranks(words, said):
    """In one line, with status 2."""
    for program in ("mpi_sort", "mpi_grep"):
        found, status, complaints = run(program, 2, *words)

        assert (found, status) == (None, 2)
        assert said in complaints


@pytest.mark.slow
def test_the_suite_counts_what_the_algorithm_says():
    """Two ranks merge once more than one: n compares at most, and 2n moves; grep adds nothing."""
    study = run_mpi((), 2)
    found = {(result.workload, result.ranks): result for result in study.results}

    assert study.failures == {}
    assert found["sort", 1].result == found["sort", 2].result
    assert 0.9 < found["sort", 2].bops / found["sort", 1].bops < 1.2
    assert found["grep", 2].bops == pytest.approx(found["grep", 1].bops, rel=1e-3)
    assert [(each.workload, each.ranks) for each in study.gains] == [("sort", 2), ("grep", 2)]
