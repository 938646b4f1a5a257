"""The wheels in a bare root file system: no compiler, no Valgrind, no privilege, no network."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import trials

_REPOSITORY = Path(__file__).parents[2]
_WHEELS = _REPOSITORY / "tools/wheels"
_DIST = Path(os.environ.get("RIDGEPOINT_DIST", _REPOSITORY / "dist"))

pytestmark = [pytest.mark.slow, pytest.mark.network]


@pytest.fixture
def dist():
    """Return the folder of the wheels."""
    for program, package in (("mmdebstrap", "mmdebstrap"), ("bwrap", "bubblewrap")):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed: apt-get install {package}")
    if not any(_DIST.glob("ridgepoint-*.whl")):
        pytest.skip(f"there is no wheel in {_DIST}: make wheels")
    return _DIST


def test_wheels_work_where_nothing_but_python_is(dist, tmp_path):
    """Every trial works in Debian's current release, and the first verdict needs no build."""
    done = subprocess.run(
        [
            *(sys.executable, _WHEELS / "bare.py", dist, "--suite", "trixie"),
            *("--restricted", "none", "-o", tmp_path),
        ],
        capture_output=True,
        text=True,
    )
    if done.returncode == 2:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    (tried,) = json.loads((tmp_path / "bare.json").read_text())["tried"]

    assert tried["is_bare"]
    assert {one["trial"]: one["verdict"] for one in tried["results"]} == {
        one.name: "works" for one in (trials.FIRST, *trials.EVERYWHERE)
    }
    assert "building the" not in (tmp_path / "bare.log").read_text()
