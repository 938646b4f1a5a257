"""The workflow of releases: what its steps call is here, and what it trusts is pinned."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
SMOKE = ROOT / "tools" / "wheels" / "smoke.sh"
_JOB = re.compile(r"^  (?P<name>\w+):\n(?P<rest>(?:(?:    .*)?\n)+)", re.MULTILINE)
_RUN = re.compile(r"^ {8}run: (?:\|\n(?P<block>(?: {10}.*\n)+)|(?P<line>.+)\n)", re.MULTILINE)


def jobs():
    """Return the text of each job."""
    text = WORKFLOW.read_text()
    return {job["name"]: job["rest"] for job in _JOB.finditer(text[text.index("\njobs:") :])}


def commands(job):
    """Return the shell commands of a job, each on one line."""
    found = [run["block"] or run["line"] for run in _RUN.finditer(job)]
    lines = "\n".join(found).replace("\\\n", " ").splitlines()
    return [" ".join(line.split()) for line in lines]


def test_nothing_is_published_that_was_not_tested_and_tried():
    """And it needs a tag, and the permission of the environment."""
    found = jobs()

    assert list(found) == ["test", "wheels", "smoke", "publish"]
    assert "needs: [test, wheels, smoke]" in found["publish"]
    assert "environment: pypi" in found["publish"]
    assert 'on:\n  push:\n    tags: ["v*"]\n' in WORKFLOW.read_text()


def test_only_the_job_that_publishes_can_sign():
    """Every other job may read the repository, and no step sees a password."""
    found = jobs()
    text = WORKFLOW.read_text()

    assert "\npermissions: {}\n" in text
    assert [
        name for name, job in found.items() if "write" in job.replace("id-token: write", "w")
    ] == ["publish"]
    assert [name for name, job in found.items() if "id-token: write" in job] == ["publish"]
    assert "secrets." not in text
    assert "password" not in text
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")


def test_actions_are_pinned_to_commits():
    """With the version beside it, for people."""
    uses = re.findall(r"uses: (\S+)(.*)", WORKFLOW.read_text())

    assert len(uses) >= 8
    for action, comment in uses:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action)
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment)


def test_what_the_steps_call_is_in_the_repository():
    """Scripts that can be executed, and targets of make."""
    lines = [line for job in jobs().values() for line in commands(job)]
    called = {
        word for line in lines for word in re.findall(r"(?<![\w/$.-])(?:tools|\.ci)/[\w./-]+", line)
    }
    called |= {word for line in lines for word in re.findall(r"(?<=/src/)tools/[\w./-]+", line)}
    targets = {word for line in lines for word in re.findall(r"^make (\w+)", line)}

    assert called == {
        ".ci/run",
        "tools/wheels/check.py",
        "tools/wheels/reproduce.py",
        "tools/wheels/smoke.sh",
    }
    for path in called:
        assert (ROOT / path).is_file()
        assert path.endswith(".py") or os.access(ROOT / path, os.X_OK)
    makefile = (ROOT / "Makefile").read_text()
    assert targets == {"wheels"}
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_the_wheels_that_are_tried_are_those_that_are_published():
    """One artifact, which later jobs only read."""
    found = jobs()

    assert [name for name, job in found.items() if "upload-artifact@" in job] == ["wheels"]
    for name in ("smoke", "publish"):
        assert "name: dist\n          path: dist\n" in found[name]
        assert not any("make" in line.split() for line in commands(found[name]))
    assert "subject-path: dist/*\n" in found["publish"]
    assert "packages-dir: dist\n" in found["publish"]


@pytest.mark.parametrize(
    ("wheels", "said"),
    [
        ([], "no wheel of ridgepoint in "),
        (["ridgepoint-1.0-py3-none-any.whl"], "no wheel of ridgepoint-engine in "),
        (
            ["ridgepoint-1.0-py3-none-any.whl", "ridgepoint-1.1-py3-none-any.whl"],
            "two wheels of ridgepoint in ",
        ),
    ],
)
def test_a_folder_without_the_two_wheels_is_not_tried(tmp_path, wheels, said):
    """One line says which is missing; nothing from an index takes its place."""
    for name in wheels:
        (tmp_path / name).write_bytes(b"")
    done = subprocess.run([SMOKE, tmp_path], capture_output=True, text=True)

    assert done.returncode == 1
    assert done.stderr == f"smoke: {said}{tmp_path}\n"


@pytest.mark.slow
def test_a_second_build_makes_the_wheels_in_dist():
    """All of it, Valgrind too: it takes minutes."""
    if len(list((ROOT / "dist").glob("ridgepoint*.whl"))) != 2:
        pytest.skip("there are no wheels: make wheels")
    script = ROOT / "tools" / "wheels" / "reproduce.py"
    done = subprocess.run([sys.executable, script, ROOT / "dist"], capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_smoke_test_passes_with_the_wheels_in_dist():
    """Those that `make wheels` left there, as the workflow tries them."""
    if len(list((ROOT / "dist").glob("ridgepoint*.whl"))) != 2:
        pytest.skip("there are no wheels: make wheels")
    done = subprocess.run([SMOKE, ROOT / "dist"], capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "smoke: all is well" in done.stdout
