"""Several counted runs: the one that stands for all, and the spread of the intensity."""

from dataclasses import replace

import pytest
from chart_reading import marks_of
from figure_inputs import MACHINE, TRIAD, region
from rich.console import Console

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import TrafficEstimate, TrafficInterval
from ridgepoint.core.counts import Traffic
from ridgepoint.core.documents import decode, encode
from ridgepoint.core.errors import TimedOut
from ridgepoint.core.measurement import Measurement
from ridgepoint.models.analysis import analyse
from ridgepoint.models.parts import region_alone
from ridgepoint.models.traffic_ranges import IntensityRange
from ridgepoint.profiling.several_counts import count_several, median_run
from ridgepoint.show.charts.roofline import roofline_chart
from ridgepoint.show.draw_mpl import save
from ridgepoint.show.report import report
from ridgepoint.show.tables.run_table import run

DOUBT = Caution("doubt", "seen in one run", "look")


def counted(read, *cautions):
    """Return TRIAD's 20 Mflop with some bytes read at DRAM, and nothing written."""
    moved = Traffic(level="dram", read_bytes=read, write_bytes=0)
    return replace(TRIAD.counted, traffic=(moved,), cautions=cautions)


# 0.25, 0.2, 0.125, 0.1 and 0.08 flop/byte: quartiles 0.1 and 0.2.
MOVED = (100_000_000, 250_000_000, 80_000_000, 160_000_000, 200_000_000)


def program(*moved):
    """Return a program that was counted several times."""
    return replace(TRIAD, counted=median_run([counted(read) for read in moved]))


def text_of(measured):
    """Return the report in one line."""
    console = Console(width=200, color_system=None)
    with console.capture() as captured:
        console.print(run(analyse(measured, MACHINE)))
    return " ".join(captured.get().split())


def test_the_run_of_median_traffic_counts():
    """Of an even number the lower of the middle ones; each run is kept in its order."""
    several = median_run([counted(read) for read in MOVED])

    assert several.traffic[0].read_bytes == 160_000_000
    assert [once.traffic[0].read_bytes for once in several.runs] == list(MOVED)
    assert {once.flop for once in several.runs} == {20_000_000}
    assert median_run([counted(read) for read in (3, 1, 2, 4)]).traffic[0].read_bytes == 2


def test_a_single_run_is_as_it_was():
    """No quartiles, and no bar."""
    alone = counted(7)

    assert median_run([alone]) is alone
    assert analyse(replace(TRIAD, counted=alone), MACHINE).placement.intensity_range is None


def test_doubts_of_all_runs_are_told_once():
    """A kind that the run that counts does not have comes from another one."""
    several = median_run([counted(1, DOUBT), counted(2), counted(3, DOUBT)])

    assert several.cautions == (DOUBT,)


def test_runs_that_do_other_work_are_doubted():
    """A hundredth more instructions is more than noise."""
    other = counted(2)
    other = replace(other, counts=replace(other.counts, instructions=60_000_000))

    assert [c.code for c in median_run([counted(1), other]).cautions] == ["work-differs"]


def test_quartiles_of_the_intensity_reach_report_json_and_figure():
    """0.1 and 0.2 flop/byte; reads alone are all of it here."""
    measured = program(*MOVED)
    placement, document = analyse(measured, MACHINE).placement, report(analyse(measured, MACHINE))
    chart = roofline_chart(MACHINE, [analyse(measured, MACHINE)])

    assert placement.intensity_range.ends == pytest.approx((0.1, 0.2))
    assert placement.intensity_range.runs == 5
    assert "DRAM 0.125 (quartiles 0.1 to 0.2, n = 5) flop/byte" in text_of(measured)
    assert document["intensity_interval"] == pytest.approx([0.1, 0.2])
    assert len(document["counted_runs"]) == 5
    assert [mark.x_interval for mark in marks_of(chart, "A")] == [pytest.approx((0.1, 0.2))]
    assert "of intensity: quartiles of the counted runs" in chart.drawing_notes[0]


def test_the_range_holds_the_run_that_is_shown(tmp_path):
    """Of two runs it is one of both, beyond their quartiles; a bar from outside cannot be drawn."""
    measured = program(100_000_000, 200_000_000)
    found = analyse(measured, MACHINE)
    place = found.placement.intensity_range

    # The one of fewer bytes is shown: 0.2 flop/byte. The lower quartile is 0.1 + (0.2 - 0.1) / 4.
    assert place.ends == pytest.approx((0.125, 0.2))
    save(roofline_chart(MACHINE, [found]), tmp_path / "two.svg")


def test_runs_that_are_alike_are_said_to_be():
    """Their quartiles would only repeat the number."""
    assert "DRAM 0.125 (alike in 3 counted runs) flop/byte" in text_of(program(*[160_000_000] * 3))


def test_a_run_without_traffic_leaves_the_range_unknown():
    """Its intensity is infinite."""
    measured = program(0, 100_000_000, 200_000_000)

    assert analyse(measured, MACHINE).placement.intensity_range is None


def test_estimated_traffic_keeps_its_interval():
    """Quartiles of runs that all guessed alike would promise too much."""
    bounds = TrafficInterval(
        level="dram", read_bytes=(100_000_000, 400_000_000), write_bytes=(0, 0)
    )
    guess = TrafficEstimate(bursts=9, share=0.01, levels=(bounds,))
    measured = program(*[160_000_000] * 3)
    measured = replace(measured, counted=replace(measured.counted, estimate=guess))

    assert analyse(measured, MACHINE).placement.intensity_range == IntensityRange(
        low=0.05, high=0.2
    )


def test_parts_have_no_range_of_the_whole():
    """Neither the bytes nor the work of a region are those of the program."""
    part = region("solve", work=1_000_000, instructions=2_000_000, moved=(1000, 1000))
    measured = program(*MOVED)
    measured = replace(measured, counted=replace(measured.counted, regions=(part,)))

    assert analyse(region_alone(measured, part), MACHINE).placement.intensity_range is None


def test_an_archive_keeps_every_run():
    """What is written is read again."""
    measured = program(*MOVED)

    assert decode(encode(measured), Measurement, origin="a test") == measured


def test_as_many_runs_are_counted_as_were_asked_for():
    """The first needs no word: it is announced as always."""
    said, given = [], iter(counted(read) for read in MOVED)

    assert len(count_several(lambda: next(given), 3, said.append).runs) == 3
    assert said == [2, 3]
    with pytest.raises(ValueError, match="> 0"):
        count_several(lambda: next(given), 0, said.append)


def test_runs_that_were_counted_before_the_limit_are_kept():
    """They took their time; a caution says how many there are."""

    def count():
        if not left:
            raise TimedOut("cannot count", reason="it took longer than --limit", remedy="more time")
        return counted(left.pop())

    left = [3, 1, 2]
    several = count_several(count, 9, lambda number: None)

    assert (several.traffic[0].read_bytes, len(several.runs)) == (2, 3)
    assert several.cautions[-1].seen == "3 of 9 counted runs were made: it took longer than --limit"
    with pytest.raises(TimedOut):
        count_several(count, 9, lambda number: None)
