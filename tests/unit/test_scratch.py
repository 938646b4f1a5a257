"""Folders of runs: gone with their process, or swept by a later one; never another live one's."""

import subprocess
import sys
import tempfile

import pytest

from ridgepoint.host import scratch
from ridgepoint.host.scratch import scratch_folder, sweep

HOLDER = """
import sys, tempfile, time
tempfile.tempdir = sys.argv[1]
from ridgepoint.host.scratch import scratch_folder
with scratch_folder() as name:
    print(name, flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    scratch._sweep_once.cache_clear()


def holder(folder):
    """Return another process, which has a folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline().startswith(str(folder))
    return process


def test_folder_is_gone_afterwards(tmp_path):
    """With what is in it."""
    with scratch_folder() as name:
        assert list((tmp_path / name).iterdir()) == []  # meters read all that is there
        (tmp_path / name / "counts").write_text("1")

    assert list(tmp_path.iterdir()) == []


def test_folder_of_a_killed_process_is_swept_and_that_of_a_live_one_is_not(tmp_path):
    """Whose process lives is told by the kernel, so that no number of a process can mislead."""
    with holder(tmp_path) as dead, holder(tmp_path) as alive:
        assert sweep(tmp_path) == []
        dead.kill()
        dead.wait()
        swept = sweep(tmp_path)
        left = list(tmp_path.iterdir())
        alive.kill()

    assert len(swept) == 1
    assert len(left) == 1
    assert left != swept


def test_next_run_sweeps_once(tmp_path):
    """The first folder that a process asks for: others ask for dozens."""
    with holder(tmp_path) as dead:
        dead.kill()
    with scratch_folder():
        assert len(list(tmp_path.iterdir())) == 1


def test_what_is_no_such_folder_stays(tmp_path):
    """A folder that was made and not locked yet, another tool's, and a link."""
    for name in ("ridgepoint-run-abc", "ridgepoint-abc", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "other").chmod(0o1700)
    (tmp_path / "ridgepoint-run-link").symlink_to(tmp_path / "other")

    assert sweep(tmp_path) == []
    assert len(list(tmp_path.iterdir())) == 4
