"""``ridgepoint run --meter``: what each choice counts with, and what it refuses."""

import json
from dataclasses import replace

import pytest
from core_inputs import MEASUREMENT

from ridgepoint.meters import Unavailable
from ridgepoint.meters.scripted import ScriptedMeter

pytestmark = pytest.mark.usefixtures("meter")
LACK = Unavailable(reason="this machine shows no PMU", remedy="ask for one", cost="all")
HARDWARE = replace(MEASUREMENT.counted, meter="perf (a CPU)", energy_j={"pkg": 2.5})


@pytest.fixture
def hardware(monkeypatch):
    """Put a scripted meter in the place of the CPU's counters."""
    scripted = ScriptedMeter(HARDWARE)
    monkeypatch.setattr("ridgepoint.meters.perf.PerfMeter", lambda **options: scripted)
    return scripted


@pytest.fixture
def no_hardware(monkeypatch):
    """Put a meter that does not work in the place of the CPU's counters."""
    scripted = ScriptedMeter(HARDWARE, unavailable=LACK)
    monkeypatch.setattr("ridgepoint.meters.perf.PerfMeter", lambda **options: scripted)
    return scripted


def test_perf_counts_with_the_hardware(cli, hardware):
    """Its name, and the energy that it alone knows, are in the document."""
    status, out, _ = cli.run("--meter", "perf", "--json", "--", "true")
    document = json.loads(out)

    assert status == 0
    assert document["meter"] == "perf (a CPU)"
    assert document["energy_j"] == {"pkg": 2.5}
    assert len(hardware.commands) == 1


def test_both_prints_what_each_counted(cli, hardware, meter):
    """A table of metrics; the document holds the other meter's counts."""
    status, out, err = cli.run("--meter", "both", "--json", "--", "true")
    (row,) = (line for line in err.splitlines() if line.startswith("work fp64"))

    assert status == 0
    assert json.loads(out)["also"]["meter"] == "perf (a CPU)"
    assert row.split()[-1] == "1.000"
    assert len(hardware.commands) == len(meter.commands) == 1


@pytest.mark.usefixtures("no_hardware")
@pytest.mark.parametrize("name", ["perf", "both"])
def test_counters_that_are_not_there_are_one_line_and_status_2(cli, meter, name):
    """Before the program runs; what to do stands in it."""
    status, out, err = cli.run("--meter", name, "--", "true")

    assert status == 2
    assert out == ""
    assert "this machine shows no PMU; ask for one" in err.splitlines()[-1]
    assert meter.commands == []


def test_native_is_asked_for_what_it_can(cli, monkeypatch):
    """A region in cold caches, beside others; or nothing but counts."""
    asked = []

    def meter(**options):
        asked.append({name: value for name, value in options.items() if name != "report"})
        return ScriptedMeter(MEASUREMENT.counted)

    monkeypatch.setattr("ridgepoint.meters.native.NativeMeter", meter)
    cli.run("--meter", "native", "--counts-only", "--region", "a", "--cold", "--json", "--", "true")
    cli.run("--meter", "native", "--counts-only", "--no-traffic", "--json", "--", "true")
    cli.run("--meter", "native", "--counts-only", "--function", "f", "--json", "--", "true")

    assert [(a["region"], a["function"], a["cold"], a["simulate"]) for a in asked] == [
        ("a", None, True, True),
        (None, None, False, False),
        (None, "f", False, True),
    ]


@pytest.mark.parametrize("option", ["--region", "--function"])
def test_native_names_what_it_cannot(cli, option):
    """It tells threads apart."""
    status, _, err = cli.run("--meter", "native", option, "a", "--all-threads", "--", "true")

    assert status == 2
    assert "does not support --all-threads" in err


@pytest.mark.parametrize("name", ["perf", "both", "callgrind"])
def test_hardware_knows_no_regions(cli, name):
    """A wrong use, in words."""
    status, _, err = cli.run("--meter", name, "--region", "solve", "--", "true")

    assert status == 2
    assert "not support --region" in err


def test_perf_simulates_no_other_caches(cli):
    """That is for the engine."""
    status, _, err = cli.run("--meter", "perf", "--miss-curve", "--", "true")

    assert status == 2
    assert "do not support --miss-curve" in err
