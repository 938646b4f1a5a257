"""The programs of examples/ do what they say, the fast ones the same as the slow ones."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def modules(monkeypatch):
    """Import the Python examples."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import smooth
    import smooth_blocks

    yield smooth.smooth, smooth_blocks.smooth_by_blocks
    for name in ("smooth", "smooth_blocks"):
        sys.modules.pop(name)


def test_smoothing_is_a_weighted_mean(modules):
    """By hand: a quarter of each neighbour and a half of the value; the ends stay."""
    smooth, _ = modules

    assert smooth(np.array([4.0, 0.0, 8.0, 0.0]), 1).tolist() == [4.0, 3.0, 4.0, 0.0]


@pytest.mark.parametrize("n", [3, 100, 8192, 8193, 20_000])
def test_smoothing_by_blocks_is_the_same(modules, n):
    """To the last bit: the same operations on the same values."""
    smooth, smooth_by_blocks = modules
    signal = np.random.default_rng(1).random(n)

    assert np.array_equal(smooth_by_blocks(signal, 20), smooth(signal, 20))


@pytest.mark.skipif(not shutil.which("gcc"), reason="there is no gcc")
def test_blurring_by_rows_is_the_same(tmp_path):
    """Whatever the order of the loops; a wrong argument is refused."""
    said = []
    for options in ([], ["-DBY_ROWS"]):
        program = tmp_path / "blur"
        source = EXAMPLES / "blur.c"
        subprocess.run(
            ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", *options, "-o", program, source],
            check=True,
        )
        done = subprocess.run([program, "64", "400"], capture_output=True, text=True, check=True)
        said.append(done.stdout)

    assert said[0] == said[1]
    assert 0 < float(said[0].split()[-1]) < 1
    assert subprocess.run([tmp_path / "blur", "2"], capture_output=True).returncode == 2
