"""The examples of docs/python.md run as they stand, one after the other."""

import re
from dataclasses import replace
from pathlib import Path

import matplotlib.figure
import pytest
from core_inputs import MACHINE, MEASUREMENT

import ridgepoint

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


@pytest.mark.parametrize(
    "name", ["ridgeline", "scaling", "dc_roofline", "workloads", "pipeline", "placing"]
)
def test_examples_of_other_pages_run(name, tmp_path, monkeypatch):
    """Each page's blocks one after the other, with the files that two of them name."""
    monkeypatch.chdir(tmp_path)
    Path("points.csv").write_text("name,W,Q,T\ntriad,2e9,16e9,0.5\n")
    Path("imaging.toml").write_text(ridgepoint.example_pipeline("memo"))
    page = (Path(__file__).parents[2] / "docs" / f"{name}.md").read_text()
    blocks = re.findall(r"^```python\n(.+?)^```", page, flags=re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, f"docs/{name}.md", "exec"), names)

    assert blocks
