"""``--work bops`` of run, show and plot: the same measurement, placed by its basic operations."""

import json
from dataclasses import replace

import perf_host
import pytest
from core_inputs import COUNTS, measured
from perf_host import ScriptedKernel

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.counts import RegionCounts, Traffic
from ridgepoint.meters.perf import PerfMeter
from ridgepoint.meters.scripted import ScriptedMeter

INTEGERS = replace(
    COUNTS, flop=(), basic_operations=BasicOperations(arithmetic=3_000_000_000, compare=10**9)
)
# 1.32 GBOP over 132 MB: 10 BOP/byte. On the six cores of the E5645, at 13.2 GB/s and 86.4 GBOP/s,
# memory takes 10 ms and the operations 15.3 ms.
PART = RegionCounts(
    name="solve",
    counts=replace(INTEGERS, basic_operations=BasicOperations(logic=1_320_000_000)),
    traffic=(Traffic(level="dram", read_bytes=132_000_000, write_bytes=0),),
)
ON_E5645 = ("run", "--machine", "e5645", "--repeat", "1", "--no-plot")


@pytest.fixture
def integers(monkeypatch):
    """Put a scripted meter of a program without floating point in the engine's place."""
    counted = replace(measured(counts=INTEGERS).counted, regions=(PART,))
    scripted = ScriptedMeter(counted)
    monkeypatch.setattr("ridgepoint.meters.first_choice.first_choice", lambda **options: scripted)
    return scripted


@pytest.fixture
def counters(monkeypatch, tmp_path):
    """Put a CPU's counters in the place of this one's: each event of a program has its number."""

    def of(make_host, counts, **options):
        meter = PerfMeter(
            host=make_host(tmp_path / "host", **options), kernel=ScriptedKernel(counts=counts)
        )
        monkeypatch.setattr("ridgepoint.meters.perf.PerfMeter", lambda **options: meter)

    return of


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


@pytest.mark.usefixtures("integers")
def test_what_was_kept_is_shown_by_its_basic_operations(cli):
    """The document of ``show`` is that of ``run``, to the last digit."""
    _, measured_now, _ = cli(*ON_E5645, "--work", "bops", "--json", "--", "true")
    status, shown, _ = cli("show", "--work", "bops", "--json")

    assert status == 0
    assert json.loads(shown) == json.loads(measured_now)
    assert json.loads(shown)["intensity_bop_per_byte"] == pytest.approx(4.0)


@pytest.mark.usefixtures("integers")
def test_what_was_measured_in_flop_can_be_shown_in_basic_operations(cli):
    """And the other way round: what is kept is the measurement, not its place."""
    cli(*ON_E5645, "--", "true")
    _, in_bops, _ = cli("show", "2", "--work", "bops")
    _, in_flop, _ = cli("show", "2", "--work", "flop")

    assert "4 GBOP refined" in in_bops
    assert "BOP/byte" in in_bops
    assert "BOP/byte" not in in_flop
    assert "no floating point; try --work bops" in " ".join(in_flop.split())


@pytest.mark.usefixtures("integers")
@pytest.mark.parametrize("target", ["e5645", "1", "machine.json"])
def test_a_machine_has_no_work_of_its_own(cli, target):
    """Published, kept or in a file: it has ceilings of all kinds, and one line says so."""
    cli(*ON_E5645, "--", "true")
    target = cli.machine if target == "machine.json" else target
    status, out, err = cli("show", target, "--work", "bops")

    assert status == 2
    assert out == ""
    assert "shown with all its ceilings" in err


@pytest.mark.usefixtures("integers")
@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_kept_measurement_is_drawn_as_when_it_was_measured(cli, tmp_path, ending):
    """Byte for byte, regions included."""
    then, later = tmp_path / f"then.{ending}", tmp_path / f"later.{ending}"
    cli(*ON_E5645, "--work", "bops", "-o", then, "--", "true")
    status, _, _ = cli("plot", "--work", "bops", "-o", later)

    assert status == 0
    assert later.read_bytes() == then.read_bytes()


@pytest.mark.usefixtures("integers")
def test_several_are_drawn_below_the_roof_of_basic_operations(cli):
    """4 GBOP over 1 GB each, and a region of which only the limit is known, on all cores."""
    for _ in range(2):
        cli(*ON_E5645, "--", "true")
    status, out, err = cli("plot", "2", "3", "--work", "bops")

    assert (status, err) == (0, "")
    assert "[BOP/byte]" in out
    assert "flop" not in out
    assert "BOP peak 14.4 GBOP/s" in " ".join(out.split())
    assert out.count("BOP/s, 4 BOP/byte") == 2
    assert out.count("solve: time unknown, 10 BOP/byte, at most 86.4 GBOP/s") == 2


@pytest.mark.usefixtures("integers")
def test_a_machine_alone_is_drawn_by_its_basic_operations(cli):
    """The E5645: 86.4 GBOP/s over 13.2 GB/s is 6.545 BOP/byte."""
    cli(*ON_E5645, "--", "true")
    _, out, _ = cli("plot", "1", "--work", "bops")

    assert "[BOP/byte]" in out
    assert "86.4 GBOP/s" in out
    assert "DRAM 6.5" in out


@pytest.mark.usefixtures("integers")
def test_a_machine_without_a_roof_of_basic_operations_says_what_to_do(cli):
    """As ``run`` does; what can be drawn is."""
    cli.run("--", "true")
    status, out, err = cli("plot", "--work", "bops")
    _, on_another, no_error = cli("plot", "--work", "bops", "--machine", "e5645")

    assert status == 0
    assert "this machine has no BOP peak: that roof is missing" in " ".join(out.split())
    assert len(err.splitlines()) == 1
    assert "no bop ceiling" in err
    assert "'ridgepoint machine'" in err
    assert "GBOP/s" in on_another
    assert no_error == ""


def test_the_cpus_own_counters_tell_basic_operations_by_eq_3(cli, counters):
    """Sapphire Rapids: 5 M instructions less 300 k branches, 900 k loads, 400 k stores."""
    counters(
        perf_host.sapphire_rapids,
        {(4, 0xC0): 5_000_000, (4, 0xC4): 300_000, (4, 0x81D0): 900_000, (4, 0x82D0): 400_000},
    )
    options = ("--work", "bops", "--meter", "perf", "--json")
    status, out, _ = cli(*ON_E5645, *options, "--", "true")
    document = json.loads(out)

    assert status == 0
    assert document["bops"] == {"refined": None, "eq3": 3_400_000}
    assert document["work_is"] == {"metric": "bop", "counted": "eq3"}
    assert document["performance_bop_per_s"] == pytest.approx(
        3_400_000 / document["runtime_s"]["median"]
    )


def test_a_cpu_that_counts_no_flop_is_refused_for_basic_operations_too(cli, counters):
    """What it does not count would read as none; the engine counts both."""
    counters(perf_host.neoverse, {}, part=0xD0C)
    status, _, err = cli(*ON_E5645, "--work", "bops", "--meter", "perf", "--", "true")

    assert status == 2
    assert "counts no floating-point operations; count with the engine" in err.splitlines()[-1]


def test_the_better_meter_for_basic_operations_is_the_engine(cli, counters, integers):
    """It knows what each instruction does, whatever the hardware counts exactly."""
    counters(perf_host.sapphire_rapids, {(4, 0xC0): 5_000_000})
    _, out, _ = cli(*ON_E5645, "--work", "bops", "--meter", "auto", "--json", "--", "true")
    document = json.loads(out)
    (choice,) = [one for one in document["cautions"] if one["code"] == "meter-chosen"]

    assert document["work_is"]["counted"] == "refined"
    assert "(--work bops)" in choice["seen"]
    assert len(integers.commands) == 1
