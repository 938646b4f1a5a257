"""Code made at run time under the copying engine."""

import shutil
import subprocess
from pathlib import Path

import pytest

from ridgepoint.meters import Run
from ridgepoint.meters.native import NativeMeter

pytestmark = [
    pytest.mark.hardware,
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler"),
]

PROGRAM = Path(__file__).parents[1] / "programs" / "sealed.c"
ROUNDS = 1000


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    """Return tests/programs/sealed.c, compiled."""
    path = tmp_path_factory.mktemp("made") / "sealed"
    subprocess.run(["cc", "-O2", "-o", path, PROGRAM], check=True)
    return path


def _count(*command):
    """Return what was counted, and what the program wrote."""
    written = []

    def launch(command):
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
        written.append(done.stdout)
        return Run(exit_status=done.returncode, wall_s=1.0, cpu_s=1.0)

    counted = NativeMeter().count([str(part) for part in command], launch=launch, caches=())
    return counted, written[0]


def test_sealed_code_is_counted_each_time(sealed):
    """One flop in each round of the first function, two of the second, at the same address."""
    counted, written = _count(sealed, ROUNDS, "sealed")

    assert written == f"{ROUNDS} {2 * ROUNDS}\n"
    assert counted.counts.work == {"fp64": 3 * ROUNDS}


def test_code_that_is_written_over_runs_as_it_is(sealed):
    """Nobody is told of it: the first function is counted, and the second is itself."""
    counted, written = _count(sealed, ROUNDS, "writable")

    assert written == f"{ROUNDS} {2 * ROUNDS}\n"
    assert counted.counts.work == {"fp64": ROUNDS}
