"""The models against programs on several hosts of this machine, whose ceilings are measured.

Neighbours on the machine disturb what is timed. A sweep that misses is done again, and what was
missed is printed: a model that is wrong misses every time.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "distributed.py"
_TRIALS = 3

pytestmark = [pytest.mark.network, pytest.mark.slow, pytest.mark.hardware]


def measured(part, path, *, rounds):
    """Run a part of the benchmark; return its rows."""
    words = [sys.executable, BENCHMARK, part, "--rounds", str(rounds), "-o", path]
    done = subprocess.run(words, capture_output=True, text=True, timeout=900)
    if done.returncode != 0 and "cannot measure on several hosts" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    return json.loads(path.read_text())


def first_without_misses(part, path, misses_of, *, rounds):
    """Measure until nothing is missed; return what the last trial missed."""
    misses = []
    for trial in range(_TRIALS):
        misses = misses_of(measured(part, path, rounds=rounds))
        if not misses:
            break
        print(f"trial {trial + 1} missed: {'; '.join(misses)}")
    return misses


def _training_misses(rows):
    crossing = rows[0]["crossing"]
    misses = [
        f"batch {row['batch']}: {row['off']:+.0%} off the model"
        for row in rows
        if abs(row["off"]) > 0.15
    ]
    misses += [
        f"batch {row['batch']}: faster than all at once"
        for row in rows
        if row["step_s"] < 0.95 * row["full_overlap_s"]
    ]
    if not 0.75 < crossing["measured"] / crossing["predicted"] < 1.33:
        misses.append(f"crossing at {crossing['measured']}, predicted {crossing['predicted']}")
    if abs(rows[0]["stream_bytes_per_s"] / rows[0]["link_bytes_per_s"] - 1) > 0.05:
        misses.append("MPI reaches another bandwidth than a plain stream")
    return misses


def test_training_step_takes_what_the_model_says(tmp_path):
    """Within 15 % over batches that go from network-bound to compute-bound.

    The crossing is interpolated between batches a factor of two apart, from medians that share
    the machine's noise: within a third. The link is held to a stream that no MPI is in, and that
    to the rate of the link: 400 Mbit/s, of which Ethernet and TCP/IP take 1 - 1448/1514.
    """
    path = tmp_path / "mlp.json"
    misses = first_without_misses("mlp", path, _training_misses, rounds=2)
    rows = json.loads(path.read_text())

    assert not misses
    assert rows[0]["compute_s"] < rows[0]["network_s"] / 4
    assert rows[-1]["compute_s"] > rows[-1]["network_s"]
    assert rows[0]["stream_bytes_per_s"] == pytest.approx(400e6 / 8 * 1448 / 1514, rel=0.05)


def _matrix_misses(rows):
    misses = []
    for link in dict.fromkeys((row["link"], row["pace"]) for row in rows):
        own = {row["nodes"]: row for row in rows if (row["link"], row["pace"]) == link}
        best, expected = (own[1][key] for key in ("best", "predicted_best"))
        predicted = sorted(row["no_overlap_s"] for row in own.values())
        # Where two numbers of nodes are as good by the model, noise tells which is faster.
        is_flat = predicted[1] < 1.1 * predicted[0]
        allowed = 1.1 * own[best]["step_s"] if is_flat else own[best]["step_s"]
        if own[expected]["step_s"] > allowed:
            misses.append(f"{link}: fastest on {best}, predicted {expected}")
    return misses


def test_matrix_product_is_fastest_on_as_many_nodes_as_predicted(tmp_path):
    """The slower the link that all share, the fewer."""
    path = tmp_path / "matrix.json"
    misses = first_without_misses("matrix", path, _matrix_misses, rounds=2)
    rows = json.loads(path.read_text())

    assert not misses
    assert {row["predicted_best"] for row in rows if row["pace"]} == {1, 2, 3}
