"""What is known of distributed programs without starting one."""

import importlib
import json
import sys
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest

from ridgepoint.core.errors import InvalidDocument
from ridgepoint.demands.training import TrainingStep
from ridgepoint.models.scaling.case_studies import matrix_product_1d, scalar_product
from ridgepoint.show.draw_mpl import save
from ridgepoint.suites.distributed import PROGRAMS, NodeRates, command, find, predicted, rates_of
from ridgepoint.suites.distributed.programs.job import bounds
from ridgepoint.suites.distributed.results import decoded
from ridgepoint.suites.distributed.running import _reason

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
# As a job of two ranks printed it, with round numbers.
LINE = {
    "program": "mlp",
    "ranks": 2,
    "hosts": ["rp1", "rp2"],
    "threads": 1,
    "sizes": {"layers": [1000, 1000], "batch": 200, "all_reduce": "ring", "input_gradient": True},
    "steps_s": [0.05, 0.07, 0.06],
    "parts_s": {
        "compute": [0.01, 0.01, 0.01],
        "network": [0.04, 0.04, 0.04],
        "update": [0.0, 0.0, 0.0],
    },
    "work": {"fp32": 1_200_000_000},
    "dram_bytes": 9_600_000,
    "exchanged_bytes": 8_000_000,
    "check": None,
    "ceilings": {
        "precision": "fp32",
        "flop_per_s": [6e10, 5e10, 7e10],
        "memory_bytes_per_s": [1e10],
        "link_bytes_per_s": [1e8, 1e8],
    },
}


@pytest.fixture
def run():
    """Return the run of that line."""
    return decoded(json.dumps(LINE).encode())


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_is_a_module_that_python_finds(name):
    """The catalogue names no module that is not there."""
    assert find_spec(find(name).module) is not None


def test_command_gives_the_size_by_the_option_of_the_program():
    """Each program calls its size in its own way."""
    words = command("mlp", size=7, threads=2, options=("--check",))

    assert words[1:] == [
        "-m", "ridgepoint.suites.distributed.programs.mlp", "--batch", "7",
        "--threads", "2", "--check",
    ]  # fmt: skip


def test_unknown_program_is_refused_with_the_names_there_are():
    """A user learns what there is."""
    with pytest.raises(ValueError, match="mlp, scalar-product, matrix-product"):
        find("lu")


def test_line_that_is_no_result_is_refused():
    """Such a line comes from a program of another version."""
    with pytest.raises(InvalidDocument, match="cannot read what the program printed"):
        decoded(b'{"program": "mlp"}')


def test_rates_are_medians_of_all_samples(run):
    """Those of several runs are pooled."""
    assert rates_of([run, run]) == NodeRates(
        precision="fp32", flop_per_s=6e10, memory_bytes_per_s=1e10, link_bytes_per_s=1e8
    )


def test_rates_of_runs_without_ceilings_are_refused():
    """There is nothing to take a median of."""
    without = decoded(json.dumps({**LINE, "ceilings": None}).encode())

    with pytest.raises(ValueError, match="must have ceilings"):
        rates_of([without])


def test_prediction_adds_up_what_follows_each_other(run):
    """1.2 Gflop on two ranks of 60 Gflop/s: 10 ms; 9.6 MB: 0.48 ms; 4 MB each over 0.1 GB/s: 40 ms.

    One link for all carries both nodes' 8 MB in 80 ms.
    """
    rates = rates_of([run])

    assert predicted(run, rates, overlap="none").time_s == pytest.approx(50.48e-3)
    assert predicted(run, rates, overlap="full").time_s == pytest.approx(40e-3)
    assert predicted(run, rates, overlap="none", network="shared").time_s == pytest.approx(90.48e-3)


def test_unknown_exchange_has_no_prediction(run):
    """What the MPI library sends is its own affair, and not nothing."""
    unknown = decoded(json.dumps({**LINE, "exchanged_bytes": None}).encode())

    assert predicted(unknown, rates_of([run]), overlap="none") is None


def test_counts_of_the_programs_are_those_of_the_models(run):
    """The line's counts are those of the model of a training step, for both nodes together."""
    step = TrainingStep(layers=(1000, 1000)).demand(batch=100, nodes=2)

    assert dict(step.amounts) == {
        "fp32": LINE["work"]["fp32"] / 2,
        "dram": LINE["dram_bytes"] / 2,
        "network": LINE["exchanged_bytes"] / 2,
    }


@pytest.mark.parametrize(("size", "parts"), [(10, 3), (7, 7), (100, 1), (5, 4)])
def test_parts_of_a_range_differ_by_one_at_most(size, parts):
    """They follow each other without a gap, since each begins where the last one ends."""
    ends = bounds(size, parts)
    lengths = [b - a for a, b in pairwise(ends)]

    assert (ends[0], ends[-1], len(lengths)) == (0, size, parts)
    assert max(lengths) - min(lengths) <= 1


@pytest.mark.parametrize(
    ("errors", "reason"),
    [
        (
            "mlp: error: --batch 2 is too few\n-----\nprterun detected that ...\n-----\n",
            "--batch 2 is too few",
        ),
        ("-----\nThere are not enough slots available.\n-----\n", "There are not enough slots"),
        (
            "mlp: error: --batch 2 is too few\n[host:0515] PMIX ERROR: PMIX_ERR_UNREACH in file "
            "pmix_server.c at line 3146\n-----\nprterun detected that ...\n-----\n",
            "--batch 2 is too few",
        ),
        ("", ""),
    ],
)
def test_reason_is_what_the_program_said_last_or_else_the_launcher(errors, reason):
    """Launchers frame what they say by dashes."""
    assert _reason(errors).startswith(reason)
    assert bool(_reason(errors)) == bool(reason)


@pytest.fixture
def training_steps(monkeypatch):
    """Give the module that makes the benchmark's chart."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    yield importlib.import_module("training_steps")
    del sys.modules["training_steps"]


def test_chart_has_the_crossing_where_both_parts_of_the_model_are_equal(training_steps, tmp_path):
    """One layer of n x n on two nodes: 6 B n^2 / P = 4 n^2 / b, at B = 4 P / (6 b) = 400."""
    rates = NodeRates(
        precision="fp32", flop_per_s=6e10, memory_bytes_per_s=1e12, link_bytes_per_s=1e8
    )
    samples = {100: [1.0, 2.0, 4.0], 1600: [3.0]}
    chart = training_steps.steps_chart(
        TrainingStep(layers=(500, 500)),
        rates,
        nodes=2,
        measured=dict.fromkeys(("step", "compute", "network"), samples),
    )

    (crossing,) = (line.places[0][0] for line in chart.lines if line.kind == "size")
    steps = [mark for mark in chart.marks if mark.name.startswith("measured step")]

    assert crossing == pytest.approx(400, rel=0.01)
    assert [mark.at for mark in steps] == [(100, 2.0), (1600, 3.0)]
    assert steps[0].y_interval == (1.5, 3.0)
    save(chart, tmp_path / "steps.svg")
    assert "equal at 400" in (tmp_path / "steps.svg").read_text()


def test_programs_move_what_the_case_studies_say():
    """Two ranks, 100 rows: 20 kB of each half of B to the other; one partial sum of 8 byte."""
    assert matrix_product_1d(100).exchanged_bytes(2) == 80_000
    assert scalar_product(100).exchanged_bytes(2) == 8
