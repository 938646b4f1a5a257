"""LU and STREAM leave the numbers that NumPy and STREAM's own scalars give."""

import json

import numpy as np
import pytest
from datacenter_runs import refusal, start

from ridgepoint.suites.datacenter import WORKLOADS


def splitmix(seed, count):
    """Return outputs of splitmix64, as its paper writes it down."""
    z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 200, 333])
@pytest.mark.parametrize("variant", ["baseline", "native"])
@pytest.mark.parametrize("threads", [1, 3])
def test_solution_is_that_of_numpy(tmp_path, n, variant, threads):
    """Of blocks that are whole and not; the matrix is drawn again here."""
    numbers = (splitmix(7, n * n + n) >> np.uint64(11)) * 2.0**-53 - 0.5
    a, b = numbers[: n * n].reshape(n, n), numbers[n * n :]
    expected = np.linalg.solve(a, b)

    done = start("lu", "--size", n, "--seed", "7", "--threads", threads, "--check",
                 "--results", tmp_path / "x", variant=variant)  # fmt: skip
    assert done.returncode == 0
    assert np.loadtxt(tmp_path / "x", ndmin=1) == pytest.approx(expected, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("variant", ["baseline", "optimised", "native"])
@pytest.mark.parametrize(("n", "threads"), [(1, 1), (2, 3), (1001, 3)])
def test_stream_leaves_what_its_scalars_become(tmp_path, variant, n, threads):
    """A round makes b = 3a, c = a + 3a = 4a and then a = 3a + 3 * 4a = 15a, from a = 1."""
    done = start("stream", "--size", n, "--threads", threads, "--check", "--results",
                 tmp_path / "abc", variant=variant)  # fmt: skip
    assert done.returncode == 0
    assert np.loadtxt(tmp_path / "abc").tolist() == [15**10, 3 * 15**9, 4 * 15**9]


@pytest.mark.parametrize("name", ["lu", "stream"])
@pytest.mark.parametrize(
    "options", [["--size", "0"], ["--size", "-1"], ["--size", "800T"], ["--input", "/dev/null"]]
)
def test_what_makes_no_sense_is_refused(name, options):
    """Sizes that are none or too large, and files where there are none to read."""
    refusal(name, *options)


@pytest.mark.parametrize("name", WORKLOADS)
def test_repetitions_have_the_same_results(name):
    """A line of JSON for each, which differ in times and rates alone."""
    size = 100 if name == "lu" else 2000
    done = start(name, "--size", size, "--repeat", "22", "--threads", "2", "--check")
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    kept = [{key: value for key, value in one.items() if "_per_s" not in key} for one in reports]

    assert [one.pop("repeat") for one in kept] == list(range(22))
    assert all(one.pop("seconds") > 0 for one in kept)
    assert all(one == kept[0] for one in kept)
    assert WORKLOADS[name].result in kept[0]


@pytest.mark.parametrize("name", ["lu", "stream"])
def test_results_that_cannot_be_written_are_an_error(name):
    """A full disk is no success."""
    said = refusal(name, "--size", "10", "--results", "/dev/full")

    assert "No space left on device" in said
