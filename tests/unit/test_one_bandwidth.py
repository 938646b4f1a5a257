"""Rooflines over the bytes of one kind, by hand: of reads, of writes, of copies."""

import math
from dataclasses import replace

import pytest
from chart_reading import lines_of, marks_of, notes_of, rate_of, texts_of
from figure_inputs import (
    CACHED,
    MACHINE,
    READS_ONLY,
    TRIAD,
    TRIAD_2_CORES,
    UNTIMED,
    flop,
    measurement,
)  # fmt: skip
from hypothesis import given
from hypothesis import strategies as st

import ridgepoint
from ridgepoint.core.counted import Alternative, TrafficEstimate, TrafficInterval
from ridgepoint.core.counts import Traffic
from ridgepoint.core.documents import render
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Cache, Ceiling
from ridgepoint.models.analysis import analyse
from ridgepoint.models.cycles import per_cycle
from ridgepoint.published.machines import load
from ridgepoint.show.charts.roofline import roofline_chart, roofline_picture
from ridgepoint.show.charts.roofline_view import RooflineView
from ridgepoint.show.report import report

# One core of MACHINE: loads 32 GB/s, stores 26.5 GB/s that read as much, copies 30 GB/s that write
# half as much beside.
READ, WRITE, COPY = 32e9, 26.5e9, 30e9 * 1.5
# TRIAD: 20 Mflop, 160 MB read, 80 MB written, in 10 ms.
W, QR, QW, T = 20e6, 160e6, 80e6, 0.010


def below(bandwidth, program=TRIAD, machine=MACHINE):
    """Return the placement of a program below one bandwidth."""
    return analyse(program, machine, bandwidth=bandwidth).placement


def view(bandwidth, *programs, **changes):
    """Return the chart of programs below one bandwidth."""
    analyses = [analyse(each, MACHINE) for each in programs]
    return roofline_chart(MACHINE, analyses, view=RooflineView(bandwidth=bandwidth, **changes))


@pytest.mark.parametrize(
    ("bandwidth", "intensity", "attainable", "limit"),
    [
        ("read", W / QR, W / QR * READ, "dram_read"),
        ("write", W / QW, W / QW * WRITE, "dram_write"),
        ("copy", W / (QR + QW), W / (QR + QW) * COPY, "dram"),
    ],
)
def test_each_bandwidth_bounds_by_the_bytes_that_it_moves(bandwidth, intensity, attainable, limit):
    """The bound of that bandwidth: I times beta, since the peak is far above."""
    placement = below(bandwidth)

    assert placement.intensity == pytest.approx(intensity)
    assert placement.attainable_per_s == pytest.approx(attainable)
    assert placement.efficiency == pytest.approx(W / T / attainable)
    assert placement.bound.binding == limit


def test_reads_that_take_longer_are_what_binds():
    """The whole program's bound names the direction that its own roofline shows as nearest."""
    shares = {way: below(way).efficiency for way in ("read", "write")}
    whole = analyse(TRIAD, MACHINE).placement

    assert max(shares, key=shares.get) == "read"
    # Both directions together take 240 MB / 53 GB/s = 4.53 ms, the reads alone 5 ms.
    assert whole.bound.binding == "dram_read"
    assert whole.efficiency == pytest.approx(shares["read"]) == pytest.approx(QR / READ / T)


@given(st.integers(1, 10**12), st.integers(1, 10**12), st.integers(10**4, 10**12))
def test_reciprocals_of_both_intensities_add_up(read, written, work):
    """1/I = 1/I_r + 1/I_w, by the definition of each (section II.A)."""
    program = measurement(flop("fp64", work), dram=(read, written), instructions=work)
    apart = [below(way, program).intensity for way in ("read", "write")]

    assert 1 / below(None, program).intensity == pytest.approx(sum(1 / part for part in apart))


def test_unknown_writes_leave_the_reads():
    """A meter that cannot see writes still gives W/Qr."""
    assert below("read", READS_ONLY).intensity == pytest.approx(20e6 / 160e6)
    assert below("write", READS_ONLY).intensity is None
    assert below("copy", READS_ONLY).moved_bytes is None


def test_a_program_that_writes_nothing_is_bound_by_its_peak_alone():
    """W/Qw is infinite: its point is at the right edge, and no bandwidth bounds it."""
    chart = view("write", CACHED)
    (mark,) = marks_of(chart, "A")

    assert below("write", CACHED).bound.binding == "compute"
    assert mark.edge == "right"
    assert any("no DRAM writes" in note for note in notes_of(chart))


def test_a_name_that_is_no_bandwidth_is_refused():
    """Nothing is drawn below it silently."""
    with pytest.raises(ValueError, match="bandwidth must be one of"):
        analyse(TRIAD, MACHINE, bandwidth="reads")


@pytest.mark.parametrize(
    ("bandwidth", "rate", "label"),
    [("read", READ, "W/Qr"), ("write", WRITE, "W/Qw"), ("copy", COPY, "W/Q ")],
)
def test_the_chart_has_the_roof_and_the_point_of_its_bytes(bandwidth, rate, label):
    """One slope, that of the bandwidth, and one point: that at DRAM."""
    chart = view(bandwidth, TRIAD)
    slopes = [line for line in lines_of(chart, "roof") if "DRAM" in line.name]
    (mark,) = marks_of(chart, "A")

    assert [rate_of(line) for line in slopes] == [pytest.approx(rate)]
    assert mark.at == (pytest.approx(below(bandwidth).intensity), pytest.approx(W / T))
    assert label in chart.x.label
    assert not any(line.name.startswith(("L1", "L2", "L3")) for line in chart.lines)


def test_a_machine_without_such_a_bandwidth_says_so():
    """The peak alone must not stand for a roof that nobody measured."""
    streams = [c for c in MACHINE.ceilings if c.name != "copy"]
    machine = replace(MACHINE, ceilings=tuple(streams))
    chart = roofline_chart(machine, [analyse(TRIAD, machine)], view=RooflineView(bandwidth="copy"))
    copied = report(analyse(TRIAD, machine))["one_bandwidth"]["copy"]

    assert "no copy bandwidth of this machine is known" in chart.notes
    assert (copied["bytes_per_s"], copied["attainable_per_s"]) == (None, None)
    assert below("copy", machine=machine).missing_roofs == ("dram",)


def test_several_bandwidths_are_several_charts_of_a_page():
    """As the paper's Fig. 2(a), (c) and (d)."""
    views = [RooflineView(bandwidth=way) for way in ("copy", "read", "write")]
    page = roofline_picture(MACHINE, [analyse(TRIAD, MACHINE)], views=views)

    assert [chart.x.label.split()[2] for chart in page.charts] == ["W/Q", "W/Qr,", "W/Qw,"]


def published(name, frequency_hz, peak, bandwidth, cores=4):
    """Return a machine as a document gives it: one peak and one bandwidth."""
    return replace(
        MACHINE,
        name=name,
        host=replace(MACHINE.host, cpu=name, cores=cores, frequency_hz=frequency_hz),
        caches=(),
        ceilings=(
            Ceiling(resource="fp64", name="peak", threads=cores, unit="flop/s",
                    rate=Estimate([peak]), source="a table"),
            Ceiling(resource="dram", name="stream", threads=cores, unit="byte/s",
                    rate=Estimate([bandwidth]), source="a table"),
        ),
    )  # fmt: skip


def test_other_machines_have_their_roofs_and_what_they_allow():
    """A machine of 10 Gflop/s and 6 GB/s allows I = 1/12 half a Gflop/s."""
    other = published("old", 1e9, 10e9, 6e9)
    chart = view(None, TRIAD, others=(other,))
    rates = {line.name: rate_of(line) for line in lines_of(chart, "other")}

    assert rates == {
        "old: fp64 peak 10 Gflop/s": pytest.approx(10e9),
        "old: DRAM stream 6 GB/s": pytest.approx(6e9),
    }
    assert any("(1 core): at most 500 Mflop/s (DRAM)" in text for text in texts_of(chart))
    placed = report(analyse(TRIAD, MACHINE), [other])["other_machines"][0]
    assert placed["attainable_per_s"] == pytest.approx(0.5e9)
    assert placed["traffic_of_its_caches"] is False


def test_machines_of_one_name_are_told_apart():
    """Two kept machines may both be called vm."""
    other = published("vm", 1e9, 10e9, 6e9)
    names = {
        line.name.split(":")[0]
        for line in lines_of(view(None, TRIAD, others=(other,) * 2), "other")
    }

    assert names == {"vm (2)", "vm (3)"}


def test_traffic_is_that_of_the_other_machines_caches_if_these_were_simulated():
    """`--what-if` has simulated them in the same run."""
    caches = (Cache(level=1, kind="data", size_bytes=1 << 15, line_bytes=64, ways=8),)
    # A document may leave out how many ways there are.
    other = replace(
        published("old", 1e9, 10e9, 6e9), caches=tuple(replace(each, ways=None) for each in caches)
    )
    moved = Traffic(level="dram", read_bytes=40_000_000, write_bytes=0)
    counted = replace(TRIAD.counted, alternatives=(Alternative(caches=caches, traffic=(moved,)),))
    there = analyse(replace(TRIAD, counted=counted), MACHINE).on(other)

    assert there.has_traffic_of_machine
    assert there.placement.intensity == pytest.approx(0.5)
    assert there.placement.attainable_per_s == pytest.approx(0.5 * 6e9)
    assert not analyse(TRIAD, MACHINE).on(other).has_traffic_of_machine
    assert analyse(TRIAD, MACHINE).on(other).placement.intensity == pytest.approx(1 / 12)


def test_a_machine_without_the_precision_promises_nothing():
    """Its other peak would bound a small part of the work only."""
    other = published("old", 1e9, 10e9, 6e9)
    single = measurement(flop("fp32", 400_000_000), dram=(180_000_000, 400_000))
    chart = view(None, single, others=(other,))

    assert analyse(single, MACHINE).on(other).placement.missing_roofs == ("fp32",)
    assert not any("at most" in text for text in texts_of(chart) if text.startswith("old"))
    assert "old has no fp32 peak: that roof is missing" in chart.notes


def test_rates_per_cycle_are_those_per_second_over_the_clock():
    """3.676 GHz; 2 Gflop/s are 0.544 flop/cycle, and 53 GB/s 14.4 byte/cycle."""
    rates = per_cycle(analyse(TRIAD, MACHINE).placement)
    chart = view(None, TRIAD, in_cycles=True)

    assert rates.performance.median == pytest.approx(2e9 / 3.676e9)
    assert rates.attainable == pytest.approx(4e9 / 3.676e9)
    assert rates.dram_bytes == pytest.approx(53e9 / 3.676e9)
    assert chart.y.label == "Performance [flop/cycle]"
    assert (3.676e9, "1") in [(pytest.approx(at), text) for at, text in chart.y.ticks]
    assert any("DRAM store 14.4 B/cycle" in line.name for line in chart.lines)
    assert any("0.544 flop/cycle" in text for text in texts_of(chart))


def test_each_machine_counts_cycles_of_its_own_clock():
    """4 flop/cycle of a clock of 1 GHz are drawn where 4 flop/cycle of the first machine are."""
    other = published("old", 1e9, 4e9, 6e9)
    chart = view(None, TRIAD, others=(other,), in_cycles=True)
    lines = {line.name: rate_of(line) / 3.676e9 for line in lines_of(chart, "other")}

    assert lines == {
        "old: fp64 peak 4 flop/cycle": pytest.approx(4),
        "old: DRAM stream 6 B/cycle": pytest.approx(6),
    }
    assert any("at most 0.5 flop/cycle" in text for text in texts_of(chart))


def test_an_unknown_clock_leaves_rates_per_second_and_says_so():
    """One axis cannot be of cycles for some machines and of seconds for others."""
    chart = view(None, TRIAD, others=(published("old", None, 4e9, 6e9),), in_cycles=True)

    assert chart.y.label == "Performance [flop/s]"
    assert "rates are per second: the core clock of old is unknown" in chart.notes


def estimated(read, written):
    """Return TRIAD with intervals of its traffic at DRAM."""
    interval = TrafficInterval(level="dram", read_bytes=read, write_bytes=written)
    estimate = TrafficEstimate(bursts=400, share=0.02, levels=(interval,))
    return replace(TRIAD, counted=replace(TRIAD.counted, estimate=estimate))


def test_an_interval_of_the_traffic_is_one_of_the_intensity():
    """20 Mflop over 200 to 250 MB are 0.1 to 0.08 flop/byte."""
    program = estimated((120_000_000, 170_000_000), (80_000_000, 80_000_000))
    placement = analyse(program, MACHINE).placement
    chart = view(None, program)
    bars = {mark.x_interval for mark in marks_of(chart, "A")}

    assert placement.intensity_range.ends == pytest.approx((0.08, 0.1))
    assert below("read", program).intensity_range.ends == pytest.approx((20 / 170, 20 / 120))
    assert report(analyse(program, MACHINE))["intensity_interval"] == pytest.approx([0.08, 0.1])
    assert bars == {None, placement.intensity_range.ends}
    assert any("of intensity: 95 % intervals" in note for note in chart.drawing_notes)


def test_traffic_that_may_be_none_has_an_intensity_without_end():
    """Its bar ends at the right edge; JSON holds no infinity."""
    program = estimated((0, 320_000_000), (0, 80_000_000))
    chart = view(None, program)
    (bar,) = {mark.x_interval for mark in marks_of(chart, "A")} - {None}

    assert analyse(program, MACHINE).placement.intensity_range.ends == (0.05, math.inf)
    assert bar == (0.05, chart.x.limits[1])
    assert "Infinity" not in render(report(analyse(program, MACHINE)))


def test_untimed_and_two_core_programs_have_places_below_one_bandwidth():
    """Of one the limit is marked, of the other the roofs are those of two cores."""
    assert view("read", UNTIMED).marks
    assert below("read", TRIAD_2_CORES).attainable_per_s == pytest.approx(W / QR * 45e9)


def test_a_roof_that_is_a_multiple_of_one_core_is_said_to_be():
    """The paper's read bandwidth is that of one core; its copies are of all six, too."""
    csb = load("csb")
    of_reads = roofline_chart(csb, view=RooflineView(bandwidth="read"))
    note = "DRAM read is known for 1 core: of 6 cores it is at most 6 times that"

    assert note in of_reads.notes
    assert not any("is known for" in text for text in roofline_chart(csb).notes)


def test_python_draws_the_same_views():
    """The axis is that of reads, in cycles."""
    asked = RooflineView(bandwidth="read", in_cycles=True)
    (axes,) = ridgepoint.plot(analyse(TRIAD, MACHINE), view=asked).get_axes()

    assert "W/Qr" in axes.get_xlabel()
    assert axes.get_ylabel() == "Performance [flop/cycle]"
