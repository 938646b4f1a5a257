"""Which meter counts where there are two, and how both compare."""

from dataclasses import replace

import perf_host
import pytest
from core_inputs import MEASUREMENT
from perf_host import ScriptedKernel
from rich.console import Console

from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import Counts, FlopCount, Traffic
from ridgepoint.core.documents import decode, encode
from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.core.measurement import Measurement
from ridgepoint.host.run import Run
from ridgepoint.meters.perf import PerfMeter
from ridgepoint.meters.perf.choice import AutoMeter, BothMeter
from ridgepoint.meters.scripted import ScriptedMeter
from ridgepoint.models.analysis import analyse
from ridgepoint.models.counted_twice import compared
from ridgepoint.profiling.program import measure_program
from ridgepoint.show.report import report
from ridgepoint.show.tables.meter_comparison import meters
from ridgepoint.show.tables.run_table import run

COUNTED = MEASUREMENT.counted
ENGINE = ScriptedMeter(COUNTED)
HARDWARE = Counted(
    meter="perf (Sapphire Rapids)",
    counts=Counts(
        instructions=3_300_000_000,
        branches=None,
        loads=20,
        stores=None,
        load_bytes=None,
        store_bytes=None,
        non_temporal_store_bytes=None,
        flop=(
            FlopCount(
                precision="fp64",
                width_bits=None,
                fma=None,
                flop=999_000_000,
                masked_flop=None,
                instructions=None,
            ),
        ),
    ),
    traffic=(Traffic(level="dram", read_bytes=640, write_bytes=None),),
    processes=None,
    energy_j={"pkg": 2.5},
)


def launch(command):
    """Run nothing."""
    return Run(exit_status=0, wall_s=1.0, cpu_s=1.0)


def auto(host, *, asked=None, kernel=None):
    """Return what the automatic choice counts of a command."""
    perf = PerfMeter(host=host, kernel=kernel or ScriptedKernel())
    meter = AutoMeter(perf=perf, engine=ENGINE, asked=asked)
    return meter, meter.count(("program",), launch=launch, caches=())


def test_hardware_counts_where_it_tells_everything(tmp_path):
    """Broadwell-EP: work by documented events, and both directions of memory."""
    host = perf_host.host(
        tmp_path,
        {
            "proc/cpuinfo": perf_host.cpuinfo("GenuineIntel", 6, 79),
            **perf_host.pmu("cpu", 4, perf_host.INTEL_FORMAT),
            **perf_host.pmu("uncore_imc_0", 30, perf_host.INTEL_FORMAT, cpumask="0\n"),
        },
    )
    meter, counted = auto(host)

    assert meter.name == "perf"
    assert counted.meter.startswith("perf (Broadwell")
    assert counted.cautions[0].code == "meter-chosen"


def test_the_engine_counts_what_it_alone_can(tmp_path):
    """And says so."""
    meter, counted = auto(perf_host.sapphire_rapids(tmp_path), asked="--region")

    assert meter.name == ENGINE.name
    assert "--region" in counted.cautions[0].seen


def test_the_engine_counts_where_the_hardware_merges_precisions(tmp_path):
    """Zen 4 counts flop of all precisions together."""
    _, counted = auto(perf_host.zen4(tmp_path))
    assert "flop is precision merged" in counted.cautions[0].seen


def test_the_engine_counts_where_memory_may_not_be_watched(tmp_path):
    """Everything else is there; the rights are not."""
    host = perf_host.host(
        tmp_path,
        {
            "proc/cpuinfo": perf_host.cpuinfo("GenuineIntel", 6, 79),
            "proc/sys/kernel/perf_event_paranoid": "2\n",
            **perf_host.pmu("cpu", 4, perf_host.INTEL_FORMAT),
            **perf_host.pmu("uncore_imc_0", 30, perf_host.INTEL_FORMAT, cpumask="0\n"),
        },
    )
    _, counted = auto(host, kernel=ScriptedKernel(refusals={(30, -1): 13}))
    assert "perf_event_paranoid is 2" in counted.cautions[0].seen


def test_the_engine_counts_where_there_is_no_pmu(tmp_path):
    """As in most virtual machines."""
    _, counted = auto(perf_host.host(tmp_path, {}))
    assert "no performance-monitoring unit" in counted.cautions[0].seen


def test_both_meters_need_both(tmp_path):
    """Without counters there is nothing to compare: an error, before the program runs."""
    both = BothMeter(
        perf=PerfMeter(host=perf_host.host(tmp_path, {}), kernel=ScriptedKernel()), engine=ENGINE
    )
    with pytest.raises(MeterUnavailable, match="no performance-monitoring unit"):
        measure_program(("true",), meter=both)


def test_both_meters_count_the_same_program():
    """The engine's counts, with the hardware's beside them; kept and read back so."""
    both = BothMeter(perf=ScriptedMeter(HARDWARE), engine=ENGINE)
    counted = both.count(("program",), launch=launch, caches=())
    measurement = replace(MEASUREMENT, counted=counted)

    assert counted == replace(COUNTED, also=HARDWARE)
    assert report(analyse(measurement, None))["also"]["work"] == {"fp64": 999_000_000}
    assert decode(encode(measurement), Measurement, origin="a test") == measurement


def test_rows_of_a_comparison_hold_both_counts_and_their_ratio():
    """999 Mflop over 1 Gflop; what one cannot tell is unknown, what neither can is left out."""
    rows = {row.metric: row for row in compared(COUNTED, HARDWARE)}

    assert rows["work fp64"].ratio == 0.999
    assert rows["instructions"].ratio == 1.1
    assert rows["branches"].second is None
    assert rows["branches"].ratio is None
    assert "work fp32" not in rows


def test_a_comparison_is_a_table():
    """One line for each metric."""
    console = Console(width=80)
    with console.capture() as capture:
        console.print(meters(COUNTED, HARDWARE))
    lines = capture.get().splitlines()
    (work,) = (line for line in lines if line.startswith("work fp64"))

    assert work.split() == ["work", "fp64", "1", "Gflop", "999", "Mflop", "0.999"]
    assert any(line.startswith("branches") and "unknown" in line for line in lines)


def test_totals_of_unknown_counts_are_unknown():
    """Unknown + 20 is unknown; what both know adds up."""
    total = Counts.total([HARDWARE.counts, COUNTED.counts])

    assert (total.branches, total.load_bytes, total.masked_flop) == (None, None, None)
    assert total.instructions == HARDWARE.counts.instructions + COUNTED.counts.instructions
    assert total.work == {"fp64": 1_999_000_000}


def test_a_report_shows_what_is_known_and_no_zero_for_the_rest():
    """Neither widths nor branches were counted: they are left out, not 0 %."""
    console = Console(width=100)
    with console.capture() as capture:
        console.print(run(analyse(replace(MEASUREMENT, counted=HARDWARE), None)))
    lines = [line.split() for line in capture.get().splitlines()]

    assert ["W", "work", "999", "Mflop", "fp64"] in lines
    assert ["E", "energy", "pkg", "2.5", "J,", "of", "the", "whole", "machine"] in lines
    assert ["instructions", "3.3", "G:", "<", "0.1", "%", "load"] in lines
