"""The workflow for CI that the documentation shows, run here step by step."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / "examples" / "ci" / "performance.yml"
_STEP = re.compile(r"      - name: (?P<name>.+)\n(?P<rest>(?:(?!      - ).*\n)*)")
_RUN = re.compile(r" +run: (?:\|\n(?P<block>(?: {10}.*\n)+)|(?P<line>.+)\n)")


def steps():
    """Return the shell commands of each step with a name, in their order."""
    found = {}
    for step in _STEP.finditer(WORKFLOW.read_text()):
        run = _RUN.search(step["rest"])
        found[step["name"]] = re.sub("^ {10}", "", run["block"] or run["line"], flags=re.MULTILINE)
    return found


@pytest.fixture
def runner(tmp_path):
    """Give a function that runs a step as a runner does: in a shell that ends at a failure."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "ridgepoint").write_text(f'#!/bin/sh\nexec {sys.executable} -m ridgepoint "$@"\n')
    (programs / "ridgepoint").chmod(0o755)
    (tmp_path / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "heat.c", tmp_path / "examples")
    (tmp_path / "baselines").mkdir()
    environment = {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "RIDGEPOINT_ARCHIVE": "archive.sqlite3",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "shown.md"),
    }

    def run(script):
        return subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=tmp_path,
            env=environment,
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


def test_the_workflow_has_the_steps_that_the_page_tells():
    """And installs what it needs; nothing but its named steps has commands."""
    found = steps()

    assert list(found) == ["Install", "Build", "Measure", "Compare", "Show"]
    assert len(found) == WORKFLOW.read_text().count(" run: ")
    assert "valgrind" in found["Install"]
    page = (ROOT / "docs" / "comparing.md").read_text()
    assert found["Build"].strip() in page
    assert " ".join(found["Measure"].replace("\\\n", " ").split()) in page


@pytest.mark.slow
@pytest.mark.skipif(
    not (shutil.which("valgrind") and shutil.which("gcc")), reason="needs valgrind and gcc"
)
def test_the_steps_pass_with_the_same_program_and_fail_with_a_worse_one(runner, tmp_path):
    """The baseline is made as the page says; then a step of the program is done twice."""
    found = steps()
    for name in ("Build", "Measure"):
        assert runner(found[name]).returncode == 0
    assert runner("ridgepoint export after -o baselines/heat.json").returncode == 0
    for name in ("Build", "Measure", "Compare", "Show"):
        done = runner(found[name])
        assert done.returncode == 0, done.stderr
    shown = (tmp_path / "shown.md").read_text()
    assert shown.startswith("### after compared with heat")
    assert shown.count("✅") == 4

    source = tmp_path / "examples" / "heat.c"
    text = source.read_text()
    assert "steps; s++" in text
    source.write_text(text.replace("steps; s++", "2 * steps; s++"))
    for name in ("Build", "Measure"):
        assert runner(found[name]).returncode == 0
    failed = runner(found["Compare"])

    assert failed.returncode == 1
    assert "gate failed: work > 1x: 2x, from " in failed.stderr
    assert "not the same work" in (tmp_path / "summary.md").read_text()
