"""``ridgepoint run --operators``: scripts as their users start them."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest
from operator_inputs import MLP

from ridgepoint.profiling.operators import script
from ridgepoint.profiling.operators.script import inside

_MODEL = """
import sys
import torch

def main():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net(torch.ones(16, 64)).sum().backward()
    optimizer.step()
    print(__name__, sys.argv[1:], sys.path[0] in sys.argv[0], sys.stdin.read())

if __name__ == "__main__":
    main()
"""
needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="there is no PyTorch here"
)


@pytest.fixture
def profiled(monkeypatch):
    """Put a hand-made profile in the place of a script's."""
    monkeypatch.setattr(script, "profile_script", lambda command, **options: MLP)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ((sys.executable, "-c", "import json"), "imported no library of arrays"),
        ((sys.executable, "-c", "import numpy"), "imported numpy, but not PyTorch"),
        ((sys.executable, "-I", "-c", "import json"), "no Python ran"),
        (("true",), "no Python ran"),
    ],
)
def test_a_program_without_operators_is_refused_with_the_reason(cli, program, why):
    """One line: what, why, what to do."""
    status, out, err = cli.run("--operators", "--", *program)
    assert (status, out) == (2, "")
    assert why in err
    assert "Traceback" not in err


def test_a_script_that_fails_is_no_result(cli):
    """Its message is shown, and its status is that of the command, as without us."""
    status, _, err = cli.run("--operators", "--", sys.executable, "-c", "raise SystemExit(3)")
    assert status == 3
    assert "status 3" in err


@pytest.mark.parametrize(
    "options",
    [
        ("--no-traffic",), ("--functions",), ("--meter", "perf"), ("--mpi", "2"), ("--cores", "1"),
        ("--region", "a"), ("--limit", "3"), ("--work", "bops"), ("--machine", "h200"),
    ],
)  # fmt: skip
def test_options_that_count_instructions_are_refused(cli, options):
    """They would do nothing."""
    status, _, err = cli.run("--operators", *options, "--", "true")
    assert status == 2
    assert "--operators" in err


@pytest.mark.usefixtures("profiled")
def test_report_document_and_tables_of_one_profile(cli, tmp_path):
    """As every other report: text on standard error, documents on standard output."""
    status, out, err = cli.run("--operators", "--", "true")
    assert (status, out) == (0, "")
    assert "aten.addmm" in err
    status, out, err = cli.run(
        "--operators", "--json", "--csv", f"{tmp_path}/tables/", "--", "true"
    )
    assert json.loads(out)["kind"] == "operator-report"
    assert (tmp_path / "tables" / "modules.csv").read_text().startswith("module,calls,time_s")
    status, out, _ = cli.run("--operators", "--csv", "-", "--table", "phases", "--", "true")
    assert out.splitlines()[1].startswith("forward,8,")


@pytest.mark.usefixtures("profiled")
def test_report_and_figure_go_to_files(cli, tmp_path):
    """By their endings; an unknown one is refused before anything runs."""
    files = [tmp_path / "a.json", tmp_path / "a.svg"]
    status, _, _ = cli.run("--operators", *(x for f in files for x in ("-o", f)), "--", "true")
    assert status == 0
    assert json.loads(files[0].read_text())["program"] == "mlp"
    assert b"addmm" in files[1].read_bytes()
    assert cli.run("--operators", "-o", tmp_path / "a.xyz", "--", "true")[0] == 2
    assert cli.run("--operators", "-o", "/dev/full", "--", "true")[0] == 2


def test_a_python_in_which_ridgepoint_does_not_work_is_named_as_such(cli, tmp_path, monkeypatch):
    """Here its PyTorch is not one."""
    (tmp_path / "torch.py").write_text("", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    status, _, err = cli.run("--operators", "--", sys.executable, "-c", "import torch")
    assert status == 2
    assert "Ridgepoint does not work in the Python that runs it: ModuleNotFoundError" in err
    assert "pip install ridgepoint" in err


@pytest.mark.slow
@needs_torch
def test_late_imports_and_the_end_of_a_script_are_told_apart_from_its_work(cli, tmp_path):
    """One module sleeps 1 s when it is imported within the loop; the script itself sleeps 0.5 s."""
    (tmp_path / "late.py").write_text("import json, time\ntime.sleep(1)\n", encoding="utf-8")
    path = tmp_path / "script.py"
    path.write_text(
        "import time, torch\nfor step in range(3):\n    torch.ones(9) + 1\n    import late\n"
        "    time.sleep(0.5 / 3)\n",
        encoding="utf-8",
    )
    status, out, _ = cli.run("--operators", "--repeat", "1", "--json", "--", sys.executable, path)
    report = json.loads(out)
    assert status == 0
    assert report["startup_s"] > 1.0
    assert (
        0.5 < report["attached_s"]["median"] - report["startup_s"] < 1.5
    )  # of one and the same run


@pytest.mark.slow
@needs_torch
def test_a_script_is_run_as_it_is_and_all_its_operators_are_seen(cli, tmp_path):
    """Its name, arguments, folder and input are its own; phases and modules are known."""
    path = tmp_path / "train.py"
    path.write_text(_MODEL, encoding="utf-8")
    status, out, err = cli.run("--operators", "--json", "--", sys.executable, path, "--epochs", "1")
    report = json.loads(out)
    assert status == 0
    assert "__main__ ['--epochs', '1'] True" in err
    by_name = {(each["name"], each["phase"]): each for each in report["operators"]}
    product = by_name["aten.addmm", "forward"]
    assert product["module"] == "Sequential.0"
    assert [each["shape"] for each in product["inputs"]] == [[32], [16, 64], [64, 32]]
    assert product["time_s"]["n"] == 1
    assert {phase for _, phase in by_name} == {"forward", "backward", "optimizer"}
    assert report["runtime_s"]["n"] == 1
    assert 0 < report["startup_s"] < report["attached_s"]["median"]


@pytest.mark.slow
@needs_torch
def test_a_script_that_raises_after_its_operators_fails_as_without_us(cli, tmp_path):
    """Recording hides no exception."""
    path = tmp_path / "fails.py"
    path.write_text("import torch\ntorch.ones(3) @ torch.ones(4)\n", encoding="utf-8")
    status, _, err = cli.run("--operators", "--", sys.executable, path)
    assert status == 1
    assert "inconsistent tensor size" in err
    status, _, err = cli.run("--operators", "--ignore-status", "--", sys.executable, path)
    assert status == 1
    assert "2 calls of 1 operator" in err


@pytest.mark.slow
@needs_torch
def test_the_users_own_sitecustomize_and_path_are_kept(tmp_path):
    """Ours hides theirs for a moment only."""
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.mine = True\n", encoding="utf-8")
    code = "import sys, torch; assert sys.mine; torch.ones(3) + 1"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", _PROFILE, sys.executable, "-c", code],
        env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "aten.add" in done.stdout


def test_an_interpreter_without_a_sitecustomize_says_nothing(tmp_path):
    """Ours must still be there when the import of it ends."""
    hook = script._HOOK.format(file=inside.__file__, folder=str(tmp_path), root=str(tmp_path))
    (tmp_path / "sitecustomize.py").write_text(hook, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", "print(1)"], env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")
    assert len(list(tmp_path.glob("*.imported"))) == 1


_PROFILE = """
import sys
from ridgepoint.profiling.operators.script import profile_script
print([each.name for each in profile_script(sys.argv[1:], repeat=1).operators])
"""
