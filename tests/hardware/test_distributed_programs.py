"""The distributed programs under MPI on this host: right results, known bytes, clear failures."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from ridgepoint.cluster.launcher import find_launcher
from ridgepoint.core.errors import CannotMeasure, ProgramFailed
from ridgepoint.suites.distributed import run_program

pytestmark = pytest.mark.network
SLOW = pytest.mark.slow  # no job starts in less than a second
_MPIRUN = Path(sys.executable).with_name("mpirun")


@pytest.fixture(autouse=True)
def _has_mpi():
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    if not _MPIRUN.exists() and shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun")


def started(ranks, code):
    """Run Python code on some ranks; return what became of it."""
    words = [*find_launcher(ranks).command, sys.executable, "-c", code]
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("ranks", "how"),
    [(3, "ring"), (2, "mpi"), *(pytest.param(n, "ring", marks=SLOW) for n in (1, 2, 4))],
)
def test_weights_are_those_of_a_serial_run(ranks, how):
    """Batches that do not divide evenly, layers of odd sizes."""
    options = ("--total", "--layers", "40,33,17,1", "--all-reduce", how, "--check", "--steps", "9")
    run = run_program("mlp", ranks, size=29, options=options)

    assert run.check.passed
    assert run.check.error < 1e-5


@pytest.mark.parametrize("ranks", [4, *(pytest.param(n, marks=SLOW) for n in (1, 2, 3))])
def test_ring_sends_what_its_formula_says(ranks):
    """2 (p - 1)/p of 4 byte for each weight and rank: 8 (p - 1) (40 33 + 33 17)."""
    run = run_program("mlp", ranks, size=8, options=("--layers", "40,33,17"))

    assert run.exchanged_bytes == 8 * (ranks - 1) * (40 * 33 + 33 * 17)
    assert run.work == {"fp32": 6 * 8 * ranks * (40 * 33 + 33 * 17)}


@pytest.mark.parametrize("ranks", [3, pytest.param(1, marks=SLOW)])
def test_scalar_product_is_that_of_whole_numbers(ranks):
    """A length that is no multiple of ranks or periods."""
    assert run_program("scalar-product", ranks, size=100_003, options=("--check",)).check.passed


@pytest.mark.parametrize(
    ("ranks", "options", "moved"),
    [
        pytest.param(1, (), 0, marks=SLOW),
        # All rows of the second matrix to the other ranks; 8 n^2 (p - 1).
        (3, ("--grid", "rows"), 8 * 131**2 * 2),
        # 8 n^2 ((r - 1) + (c - 1)).
        pytest.param(4, ("--panel", "10"), 8 * 131**2 * 2, marks=SLOW),
        (6, ("--grid", "2x3", "--panel", "7", "--precision", "fp32"), 4 * 131**2 * 3),
    ],
)
def test_matrix_product_is_exact_and_moves_what_its_formula_says(ranks, options, moved):
    """Blocks of unequal sizes, panels across the edges of both matrices' blocks."""
    run = run_program("matrix-product", ranks, size=131, options=("--check", *options))

    assert run.check.passed
    assert run.exchanged_bytes == moved


@pytest.mark.parametrize("ranks", [4, *(pytest.param(n, marks=SLOW) for n in (1, 2, 6))])
def test_conjugate_gradients_find_what_a_direct_solver_finds(ranks):
    """Halos in one direction and in both."""
    run = run_program("conjugate-gradient", ranks, size=45, options=("--check",))

    assert run.check.passed
    assert "direct solver" in run.check.what


def test_halos_are_counted():
    """2 x 2 blocks of 40 x 40 points: 4 edges between them, of 20 points, 8 byte, in both ways.

    Two sums go to one rank and back: 2 x 2 x 8 (p - 1).
    """
    run = run_program("conjugate-gradient", 4, size=40)

    assert run.exchanged_bytes == 4 * 20 * 8 * 2 + 2 * 2 * 8 * 3


_BROKEN = {
    "mlp": "m.all_reduce = lambda *a: None",
    "scalar_product": "job.Job.sum_on_first = lambda self, value: value",
    "matrix_product": "m.Product._spread = lambda *a: None",
    "conjugate_gradient": "m.Block._exchange_edges = lambda *a: None",
}


@pytest.mark.parametrize("module", _BROKEN)
def test_check_fails_where_ranks_do_not_communicate(module):
    """A check that cannot fail would prove nothing."""
    code = (
        "import sys; sys.argv = ['p', '--check', '--steps', '2']\n"
        f"from ridgepoint.suites.distributed.programs import job, {module} as m\n"
        f"{_BROKEN[module]}\n"
        "job.run(m._parser, m.main)\n"
    )
    done = started(2, code)
    line = next(line for line in done.stdout.splitlines() if line.startswith("{"))

    assert not json.loads(line)["check"]["passed"]
    assert done.returncode == 1


def test_rank_that_fails_ends_all_and_is_named():
    """The others wait in an all-reduce that never comes."""
    code = (
        "import sys; sys.argv = ['p']\n"
        "from ridgepoint.suites.distributed.programs import job, mlp\n"
        "def failing(j):\n"
        "    if j.rank == 1: raise OSError('no luck')\n"
        "    return mlp.main(j)\n"
        "job.run(mlp._parser, failing)\n"
    )
    done = started(2, code)

    assert done.returncode != 0
    assert "rank 1 on " in done.stderr
    assert "OSError: no luck" in done.stderr


@pytest.mark.parametrize(
    ("name", "ranks", "size", "reason"),
    [
        ("scalar-product", 3, 2, "less than one element for each of 3 ranks"),
        pytest.param(
            "matrix-product", 2, 1, "less than one row for each rank of 2 x 1", marks=SLOW
        ),
        pytest.param(
            "conjugate-gradient", 2, 1, "less than one row of points for each rank", marks=SLOW
        ),
    ],
)
def test_size_too_small_for_the_ranks_is_refused(name, ranks, size, reason):
    """In one line, which says what is wrong and not where in the code."""
    with pytest.raises(ProgramFailed, match=reason) as caught:
        run_program(name, ranks, size=size)

    assert "Traceback" not in str(caught.value)


def test_grid_of_another_number_of_ranks_is_refused():
    """The message has both numbers."""
    with pytest.raises(ProgramFailed, match="2x2 has 4 places, the job 3 ranks"):
        run_program("matrix-product", 3, options=("--grid", "2x2"))


def test_job_that_takes_too_long_is_ended_with_all_its_ranks():
    """Nothing goes on in the background."""
    begin = time.monotonic()
    with pytest.raises(CannotMeasure, match="not ended within 4 s"):
        run_program("scalar-product", 2, options=("--steps", "100000000"), limit_s=4)

    assert time.monotonic() - begin < 30
    # A process that was killed is listed until its memory is freed.
    while ranks := [p for p in psutil.process_iter(["cmdline"]) if _has(p, "100000000")]:
        assert time.monotonic() - begin < 30, ranks
        time.sleep(0.1)


def _has(process: psutil.Process, word: str) -> bool:
    return word in (process.info["cmdline"] or [])


@SLOW
def test_ceilings_and_parts_come_with_the_steps():
    """One sample of each for every repetition before and after; parts are within their step."""
    run = run_program("mlp", 2, options=("--ceilings", "--steps", "3", "--pace", "2e10"))

    assert len(run.steps_s) == 3
    assert all(len(times) == 3 for times in run.parts_s.values())
    assert len(run.ceilings.flop_per_s) == len(run.ceilings.link_bytes_per_s) == 20
    assert all(part <= step for part, step in zip(run.parts_s["compute"], run.steps_s, strict=True))
    # No rank is faster than it was told to be.
    assert max(run.ceilings.flop_per_s) <= 2e10
    assert min(run.parts_s["compute"]) >= run.work["fp32"] / run.ranks / 2e10
