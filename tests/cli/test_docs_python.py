"""The Python of the documentation runs as it stands, one block after the other."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import doc_blocks
import matplotlib.figure
import pytest
from core_inputs import MACHINE, MEASUREMENT

import ridgepoint
import snapshots

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text()
BLOCKS = re.findall(r"^```python\n(.+?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.usefixtures("meter")
def test_examples_run_one_after_the_other(cli, monkeypatch):
    """With a machine and counts that are given; each picture and record is there afterwards."""
    monkeypatch.chdir(cli.folder)
    monkeypatch.setattr("ridgepoint.profiling.program.first_choice", lambda **_: ridgepoint_meter())
    monkeypatch.setattr(
        "ridgepoint.ceilings.characterize", lambda **_: replace(MACHINE, fingerprint="here")
    )
    monkeypatch.setattr("ridgepoint.ceilings.this_host.fingerprint", lambda *_, **__: "here")
    monkeypatch.setattr("ridgepoint.profiling.calls.measure_all", lambda *_, **__: [MEASUREMENT])
    script = cli.folder / "heat"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    names = {}
    for block in BLOCKS:
        exec(compile(block, "docs/python.md", "exec"), names)

    assert len(BLOCKS) >= 6
    assert isinstance(names["figure"], matplotlib.figure.Figure)
    assert {path.name for path in cli.folder.iterdir()} >= {"heat.svg", "both.png"}
    assert [record.kind for record in ridgepoint.kept_records()] == ["machine", "measurement"]
    assert names["again"].measurement == names["heat"]


def ridgepoint_meter():
    """Return the meter that counts what the literal measurement holds."""
    from ridgepoint.meters.scripted import ScriptedMeter

    return ScriptedMeter(MEASUREMENT.counted)


def test_every_name_that_the_page_uses_is_offered():
    """Of the package's face."""
    used = set(re.findall(r"ridgepoint\.(\w+)\(", PAGE))

    assert used >= {"machine_here", "keep", "load", "plot"}
    assert used <= set(dir(ridgepoint))


def blocks_of(name):
    """Return the Python of a page, in its order, without what is marked as not to be run."""
    found = doc_blocks.blocks(doc_blocks.ROOT / name)
    return [one.text for one in found if one.language == "python" and not one.not_run]


def run(name):
    """Execute a page's Python, one block after the other; return the names that it left."""
    names = {"__name__": "page"}
    for block in blocks_of(name):
        exec(compile(block, name, "exec"), names)
    return names


QUICK = (
    "fleet", "ridgeline", "scaling", "dc_roofline", "workloads", "pipeline", "placing", "regions",
    "operators_jax_numpy",
    "transformer",
)  # fmt: skip
STORED = ("rooflines", "comparing", "report", "operators_as_demands")
FRAMES = ("tables",)
SLOW = ("imaging", "datacenter")
SCRIPTS = ("measuring",)
"""Pages whose blocks are scripts, each of its own."""


@pytest.mark.parametrize("name", QUICK)
def test_examples_of_other_pages_run(name, tmp_path, monkeypatch):
    """Each page's blocks one after the other, with the files that two of them name."""
    monkeypatch.chdir(tmp_path)
    Path("points.csv").write_text("name,W,Q,T\ntriad,2e9,16e9,0.5\n")
    Path("imaging.toml").write_text(ridgepoint.example_pipeline("memo"))

    assert len(run(f"docs/{name}.md")) > 2


@pytest.mark.parametrize("name", STORED)
def test_examples_run_on_stored_records(name, tmp_path, monkeypatch):
    """Those that begin with a measurement which was kept."""
    monkeypatch.chdir(tmp_path)
    with snapshots.bench():
        assert len(run(f"docs/{name}.md")) > 2

    assert name != "rooflines" or Path("heat.svg").stat().st_size > 1000


@pytest.mark.parametrize("name", FRAMES)
def test_examples_with_data_frames_run(name, tmp_path, monkeypatch):
    """On stored records too."""
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    with snapshots.bench():
        names = run(f"docs/{name}.md")

    assert names["parts"].attrs["units"]["runtime_s"] == "s"
    assert len(names["levels"]) > len(names["parts"])


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_examples_that_take_long_run(name, tmp_path, monkeypatch):
    """Those that compile, or that make an image."""
    monkeypatch.chdir(tmp_path)

    assert len(run(f"docs/{name}.md")) > 2


@pytest.mark.slow
@pytest.mark.hardware
@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_of_a_page_run(name, tmp_path, monkeypatch):
    """Each in a process of its own, which measures."""
    monkeypatch.setenv("RIDGEPOINT_ARCHIVE", str(tmp_path / "archive.sqlite3"))
    for number, block in enumerate(blocks_of(f"docs/{name}.md")):
        script = tmp_path / f"{number}.py"
        script.write_text(block)
        done = subprocess.run(
            [sys.executable, script], cwd=tmp_path, capture_output=True, text=True
        )

        assert done.returncode == 0, done.stderr


def test_every_example_is_run_or_says_why_not():
    """A page with Python is in one of the lists above; the README's has a test of its own."""
    run_somewhere = {"README.md", "docs/python.md"} | {
        f"docs/{name}.md" for name in (*QUICK, *STORED, *FRAMES, *SLOW, *SCRIPTS)
    }
    pages = {path.relative_to(doc_blocks.ROOT).as_posix() for path in doc_blocks.PAGES}

    assert {page for page in pages if blocks_of(page)} == run_somewhere
