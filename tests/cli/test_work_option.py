"""``ridgepoint run --work bops``: the same measurement, placed by its basic operations."""

import json
from dataclasses import replace

import pytest
from core_inputs import COUNTS, measured

from ridgepoint.basic_operations import BasicOperations
from ridgepoint.meters.scripted import ScriptedMeter

INTEGERS = replace(
    COUNTS, flop=(), basic_operations=BasicOperations(arithmetic=3_000_000_000, compare=10**9)
)


@pytest.fixture
def integers(monkeypatch):
    """Put a scripted meter of a program without floating point in the engine's place."""
    scripted = ScriptedMeter(measured(counts=INTEGERS).counted)
    monkeypatch.setattr("ridgepoint.meters.engine.EngineMeter", lambda **options: scripted)


@pytest.mark.usefixtures("integers")
def test_a_program_without_flop_is_told_to_try_basic_operations(cli):
    """One line, and the same in the document, after what depends on how long ``true`` takes."""
    _, _, err = cli.run("--", "true")
    _, out, _ = cli.run("--json", "--", "true")

    assert "no floating point; try --work bops" in " ".join(err.split())
    assert [one["code"] for one in json.loads(out)["advice"]][-1] == "try-bops"


@pytest.mark.usefixtures("integers")
def test_a_published_machine_bounds_its_basic_operations(cli, tmp_path):
    """4 GBOP and 1 GB on six cores of the E5645, at 86.4 GBOP/s and 13.2 GB/s."""
    figure = tmp_path / "roofline.svg"
    options = ("--machine", "e5645", "--cores", "6", "--repeat", "1", "-o", figure)
    status, out, _ = cli("run", "--work", "bops", "--json", *options, "--", "true")
    document = json.loads(out)

    assert status == 0
    assert document["bound"]["times_s"]["compute"] == pytest.approx(4 / 86.4)
    assert document["bound"]["times_s"]["dram"] == pytest.approx(1 / 13.2)
    assert document["intensity_bop_per_byte"] == pytest.approx(4.0)
    assert "BOP/byte" in figure.read_text()


@pytest.mark.usefixtures("meter")
def test_what_a_meter_cannot_tell_of_basic_operations_is_by_eq_3(cli):
    """The literal measurement has 3 G instructions, and no count of each instruction's work."""
    status, _, err = cli.run("--work", "bops", "--", "true")

    assert status == 0
    assert "by Eq. (3)" in err
    assert "no bop ceiling" in " ".join(err.split())


def test_another_metric_is_refused_with_those_there_are(cli):
    """Before anything is measured."""
    status, _, err = cli.run("--work", "mops", "--", "true")

    assert status == 2
    assert "'flop', 'bops'" in err
