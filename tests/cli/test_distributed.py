"""The distributed programs by name: what is listed, what is refused, what a run prints."""

import json

import pytest

from ridgepoint.cli.main import main
from ridgepoint.suites.distributed import PROGRAMS


def test_list_names_every_program_and_what_its_size_counts(capsys):
    """Nothing is started for it."""
    assert main(["suite", "distributed", "--list"]) == 0
    shown = capsys.readouterr().out

    assert all(name in shown for name in PROGRAMS)
    assert "samples of each rank" in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["distributed"], "need the number of ranks"),
        (["distributed", "lu", "--mpi", "2"], "there is no 'lu'; there are mlp"),
        (["distributed", "--mpi", "2", "--size", "5"], "applies to a single program"),
        (["distributed", "--mpi", "0"], "'--mpi'"),
        (["distributed", "mlp", "--mpi", "2", "--size", "x"], "'--size'"),
        (["distributed", "--mpi", "2", "--validate"], "--validate"),
        (["distributed", "--mpi", "2", "--figures", "x"], "--figures"),
        (["distributed", "--mpi", "2", "-o", "missing/x.json"], "missing"),
        (["distributed", "--mpi", "2", "--launcher", "srun -n 2"], "{ranks}"),
        (["distributed", "--mpi", "2", "--launcher", "nowhere -n {ranks}"], "nowhere"),
        (["dgemm", "--mpi", "2"], "--mpi"),
        (["datacenter", "--size", "2"], "--size"),
    ],
)
def test_wrong_use_is_one_line_and_status_2(words, said, capsys, tmp_path, monkeypatch):
    """It says what is wrong, and starts nothing."""
    monkeypatch.chdir(tmp_path)

    assert main(["suite", *words]) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert "Traceback" not in shown


@pytest.mark.network
def test_run_prints_times_beside_the_model_and_writes_them(capsys, tmp_path):
    """As a table, and as a document."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    path = tmp_path / "runs.json"
    words = ["suite", "distributed", "mlp", "--mpi", "2", "--size", "4", "-o", str(path)]

    assert main(words) == 0
    shown = capsys.readouterr().out
    document = json.loads(path.read_text())

    assert "batch 8" in shown
    assert "passed" in shown
    assert document["kind"] == "distributed"
    assert document["results"][0]["ranks"] == 2


@pytest.mark.network
def test_size_that_no_rank_can_share_is_said_and_the_status_2(capsys):
    """The reason is the program's own."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")

    assert main(["suite", "distributed", "scalar-product", "--mpi", "3", "--size", "2"]) == 2
    assert "less than one element for each of 3 ranks" in " ".join(capsys.readouterr().out.split())
