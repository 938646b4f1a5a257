"""A file system of 256 KiB that a Python program fills up."""

import subprocess
import sys
from pathlib import Path

import pytest

UNIT_TESTS = Path(__file__).parents[1] / "unit"


def run_where_little_fits(program, folder):
    """Run Python source with a folder on so small a file system; return what it prints.

    The test is skipped where an ordinary user cannot mount one.
    """
    mounted = f"mount -t tmpfs -o size=256k none {folder} || exit 77\nexec {sys.executable} -"
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mounted],
        input=program,
        cwd=UNIT_TESTS,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 and "Traceback" not in done.stderr:
        pytest.skip(f"no small file system can be mounted here: {done.stderr.strip()}")

    assert done.returncode == 0, done.stderr
    return done.stdout
