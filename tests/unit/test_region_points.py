"""Regions as points of a roofline, beside the program's own.

The triad takes 10 ms on one core; DRAM reads at 32 GB/s on one core, 45 on two.
"""

import io
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from chart_reading import caps_of, notes_of, parts_of, rates_of
from figure_inputs import (
    CROWDED,
    MACHINE,
    MARKED,
    MATMUL,
    SETUP,
    SOLVE,
    SORT,
    TRIAD,
    counts,
    flop,
    region,
    timed,
    traffic,
    with_counted,
)
from matplotlib.colors import to_hex
from rich.console import Console

from ridgepoint.models.analysis import analyse, place
from ridgepoint.models.parts import region_alone
from ridgepoint.show.charts.roofline import roofline_chart
from ridgepoint.show.draw_mpl import draw, save
from ridgepoint.show.draw_text import render
from ridgepoint.show.report import report
from ridgepoint.show.tables import run_table

TIMES = (timed("solve", 0.008), timed("sweep", 0.004), timed("setup", 0.001))
TIMED = replace(MARKED, timed_regions=TIMES)
# 16 Mflop over 32 MB in 1 ms: 0.5 flop/byte, 16 Gflop/s, away from all else.
APART = replace(
    with_counted(
        TRIAD, regions=(replace(SOLVE, traffic=(region("", moved=(32 * 10**6, 0)).traffic)),)
    ),
    timed_regions=(timed("solve", 0.001),),
)


def figure_of(*measurements):
    """Return the figure of several programs on a machine."""
    return roofline_chart(MACHINE, [analyse(each, MACHINE) for each in measurements])


def regions_of(*measurements):
    """Return the marks of regions, by name."""
    return {mark.name: mark for mark in figure_of(*measurements).marks if is_part(mark)}


def is_part(mark):
    """Return whether a mark is that of a part of a program."""
    return bool(mark.summary) and mark.name != "A" and not mark.name.startswith("ridge point")


def test_a_region_stands_at_its_own_work_over_traffic_and_time():
    """16 Mflop, 192 MB, 8 ms of 10; quartiles of time are 3.5 thousandths around."""
    solve = regions_of(TIMED)["solve"]

    assert solve.at == pytest.approx((16 / 192, 2e9))
    assert solve.y_interval == pytest.approx((2e9 / 1.0035, 2e9 / 0.9965), 1e-5)
    assert solve.face == "pale"
    assert solve.summary == (
        "80 % of the time, 2 Gflop/s, 0.0833 flop/byte, 50 % of DRAM read roof"
    )


def test_a_region_without_traffic_stands_at_the_right_edge():
    """8 Mflop in 4 ms; one core's peak is 58.8 Gflop/s."""
    sweep = regions_of(TIMED)["sweep"]

    assert sweep.at == pytest.approx((100, 2e9))
    assert sweep.edge == "right"
    assert sweep.summary == (
        "40 % of the time, 2 Gflop/s, 3.4 % of fp64 peak, no DRAM traffic: drawn at the right edge"
    )


def test_a_region_of_unknown_time_stands_at_what_its_limit_allows():
    """Reads of 128 MB at 45 GB/s take 2.84 ms, in which 16 Mflop are 5.625 Gflop/s."""
    solve = regions_of(MARKED)["solve"]

    assert solve.at == pytest.approx((16 / 192, 5.625e9))
    assert solve.face == "hollow"
    assert solve.summary == (
        "time unknown, 0.0833 flop/byte, at most 5.62 Gflop/s (DRAM read), 2 cores"
    )


def test_the_cores_of_a_region_are_told_where_the_program_kept_others_busy():
    """Two cores for 8 ms are 16 ms inside; reads at 45 GB/s take 2.84 ms of these 8."""
    two = replace(MARKED, timed_regions=(timed("solve", 0.008, 0.016),))

    assert regions_of(two)["solve"].summary.endswith("36 % of DRAM read roof, 2 cores")


def test_regions_without_a_point_say_why():
    """No work; and neither a time nor an intensity."""
    assert notes_of(figure_of(TIMED)) == ["no point for region setup: no floating-point work"]
    assert "no point for region sweep: its time is unknown, and it moved no bytes at DRAM" in (
        figure_of(MARKED).notes
    )


def test_regions_whose_traffic_is_unknown_have_no_point():
    """No cache was simulated."""
    blind = replace(SOLVE, traffic=())
    figure = figure_of(replace(with_counted(TRIAD, regions=(blind,)), timed_regions=TIMES))

    assert notes_of(figure) == ["no point for region solve: DRAM traffic is unknown"]


def test_regions_of_a_program_without_work_add_no_notes():
    """It is said of the program."""
    assert len(notes_of(figure_of(with_counted(SORT, regions=(SETUP,))))) == 1


def test_at_most_eight_regions_are_drawn_those_that_took_most_time():
    """Of ten, each of which takes longer than the next."""
    assert parts_of(figure_of(CROWDED)) == [f"stage {n} of the solver" for n in range(8)]
    assert "2 more regions are not drawn: the 8 that took most time are" in figure_of(CROWDED).notes


def test_regions_of_unknown_time_come_last_the_busiest_first():
    """By instructions; 40 M of them, 20 M, and one with a time."""
    known = region("known", work=1_000_000, instructions=1_000_000, moved=(10_000_000, 0))
    regions = (
        region("sweep", work=8_000_000, instructions=20_000_000, moved=(64, 0)),
        SOLVE,
        known,
    )
    program = replace(with_counted(TRIAD, regions=regions), timed_regions=(timed("known", 1e-4),))

    assert parts_of(figure_of(program)) == ["known", "solve", "sweep"]


def test_without_regions_nothing_changes():
    """Roofs, frame and program are those of the same program with regions inside its frame."""
    bare = figure_of(TRIAD)
    marked = figure_of(TIMED)
    marks = tuple(mark for mark in marked.marks if not is_part(mark))
    key = tuple(entry for entry in marked.key if not entry.is_part)
    said = {"notes": bare.notes, "drawing_notes": bare.drawing_notes}

    assert replace(marked, marks=marks, key=key, **said) == bare


def test_a_part_that_was_counted_alone_shows_no_regions():
    """Its point is that of the region."""
    assert not regions_of(with_counted(MARKED, selected="region 'solve'"))


def test_a_region_outside_widens_the_plane():
    """50 kflop over 100 MB are 5e-4 flop/byte; in 1 ms, 50 Mflop/s."""
    small = region("small", work=50_000, instructions=1000, moved=(100_000_000, 0))
    program = replace(with_counted(TRIAD, regions=(small,)), timed_regions=(timed("small", 0.001),))
    figure = figure_of(program)

    assert (figure.x.limits, figure.y.limits) == ((1e-4, 100.0), (1e7, 1e12))


def test_the_precision_of_a_region_brings_its_roof():
    """1000 fp32 flop are nothing beside 20 M of fp64, and all that the region does."""
    single = replace(SOLVE, counts=counts(flop("fp32", 1000), instructions=1000))
    program = replace(with_counted(TRIAD, regions=(single,)), timed_regions=TIMES)

    assert {"fp64", "fp32"} <= set(rates_of(figure_of(program), "roof"))
    assert "fp32" not in rates_of(figure_of(TRIAD), "roof")


def test_names_of_regions_are_short_and_cannot_steer_a_terminal():
    """Twenty characters beside a point, forty in the key."""
    long = replace(SOLVE, name="\x1b[1m" + "x" * 60)
    program = replace(with_counted(TRIAD, regions=(long,)), timed_regions=(timed(long.name, 1e-3),))
    (mark,) = regions_of(program).values()

    assert parts_of(figure_of(program)) == ["?[1m" + "x" * 35 + "…"]
    assert mark.label.text == "?[1m" + "x" * 15 + "…"


def test_a_region_alone_is_a_measurement_of_its_own():
    """Its counts, and its times: in the region, and summed over threads."""
    two = replace(MARKED, timed_regions=(timed("solve", 0.008, 0.012),))
    alone = region_alone(two, SOLVE)

    assert alone.counted.counts.work == {"fp64": 16_000_000}
    assert alone.timed.cores_busy == pytest.approx(1.5)
    assert (alone.counted.regions, alone.timed_regions) == ((), ())
    assert alone.counted.selected == "region 'solve'"


# Text.


def plane_of(figure, *, ascii=False):
    """Return the rows of a plane of 100 by 100 cells, and all of the text."""
    text = render(figure, width=109, height=103, color=False, ascii=ascii)
    return [line[9:].ljust(100) for line in text.splitlines()[3:103]], text


@pytest.mark.parametrize(("ascii", "mark"), [(False, "●"), (True, "*")])
def test_the_text_marks_a_region_with_its_name(ascii, mark):
    """Of four decades: 0.5 is at 0.425, 16 G at 0.551."""
    plane, text = plane_of(figure_of(APART), ascii=ascii)
    ((row, column),) = [(n, line.index(mark)) for n, line in enumerate(plane) if mark in line]

    assert (column / 100, 1 - row / 100) == pytest.approx((0.425, 0.551), abs=0.02)
    assert "solve" in "".join(plane[row - 1 : row + 2])
    assert f"   {mark} solve: 10 % of the time, 16 Gflop/s, 0.5 flop/byte" in text


@pytest.mark.parametrize(("ascii", "mark"), [(False, "○"), (True, "o")])
def test_the_text_marks_a_region_of_unknown_time_hollow(ascii, mark):
    """Reads of 32 MB at 45 GB/s take 0.711 ms: 22.5 Gflop/s is at 0.588; a line goes down."""
    plane, text = plane_of(figure_of(replace(APART, timed_regions=())), ascii=ascii)
    ((row, column),) = [
        (n, found.start())
        for n, line in enumerate(plane)
        if (found := re.search(rf"(?<!\w){mark}(?!\w)", line))
    ]

    assert (column / 100, 1 - row / 100) == pytest.approx((0.425, 0.588), abs=0.02)
    assert "solve" in "".join(plane[row - 1 : row + 2])
    assert sum(line[column] != " " for line in plane[row + 1 :]) > 15
    assert f"   {mark} solve: time unknown" in text


def test_a_region_under_its_program_is_said():
    """Both at 0.0833 flop/byte and 2 Gflop/s."""
    text = render(figure_of(TIMED), width=80, height=24, color=False)

    assert "solve: its point lies under A" in text


def test_regions_under_one_mark_are_said_together():
    """Three of the same work, traffic and time."""
    names = ("solve", "twin", "third")
    (one,) = APART.counted.regions
    program = with_counted(APART, regions=tuple(replace(one, name=name) for name in names))
    program = replace(program, timed_regions=tuple(timed(name, 0.001) for name in names))
    text = render(figure_of(program), width=80, height=24, color=False)

    assert "solve, twin: their points lie under third" in text


def test_every_region_is_named_on_the_plane_or_said_to_be_missing():
    """By its label."""
    text = render(figure_of(CROWDED), width=400, height=24, color=False)

    assert [name for name in regions_of(CROWDED) if name not in text] == []


def test_regions_of_several_programs_carry_their_letters():
    """Two programs may have regions of one name."""
    figure = figure_of(APART, replace(APART, timed_regions=(timed("solve", 0.01),)), MATMUL)
    text = render(figure, width=100, height=30, color=False)

    assert "A solve" in text
    assert "B solve" in text


def test_colour_of_regions_only_where_asked():
    """As for programs."""
    figure = figure_of(TIMED, APART)
    coloured = render(figure, width=80, height=24, color=True)

    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == (
        render(figure, width=80, height=24, color=False)
    )


# Pictures.


def markers(axes, x):
    """Return the marked points of a picture at an intensity."""
    return [
        mark
        for mark in axes.collections
        if len(mark.get_offsets()) and mark.get_offsets()[0][0] == pytest.approx(x)
    ]


def test_the_picture_shows_a_region_as_a_pale_disc():
    """At 0.5 flop/byte and 16 Gflop/s, in the colour of its program, with its name."""
    axes = draw(figure_of(APART))
    (disc,) = markers(axes, 0.5)

    assert disc.get_offsets()[0][1] == pytest.approx(16e9)
    assert to_hex(disc.get_edgecolor()[0]).upper() == "#0072B2"
    # A quarter of #0072B2 on white, by hand.
    assert disc.get_facecolor()[0][:3] == pytest.approx((0.75, 0.8618, 0.9245), abs=1e-4)
    assert "solve" in [text.get_text() for text in axes.texts]


def test_the_disc_of_a_longer_region_is_larger():
    """80 % of the time, and 10 %."""
    sizes = [
        markers(draw(figure_of(replace(APART, timed_regions=(timed("solve", t),)))), 0.5)[0]
        for t in (0.008, 0.001)
    ]

    # Areas, of diameters that are a third larger.
    assert sizes[0].get_sizes()[0] > 1.3**2 * sizes[1].get_sizes()[0]


def test_the_picture_shows_a_region_of_unknown_time_as_a_hollow_marker_over_the_axis():
    """At 22.5 Gflop/s, with a dotted line down to the edge."""
    axes = draw(figure_of(replace(APART, timed_regions=())))
    (mark,) = markers(axes, 0.5)
    (stem,) = [line for line in axes.lines if line.get_xdata() == pytest.approx([0.5, 0.5])]

    assert mark.get_offsets()[0][1] == pytest.approx(22.5e9)
    assert to_hex(mark.get_facecolor()[0]) == "#ffffff"
    assert sorted(stem.get_ydata()) == pytest.approx([1e8, 22.5e9])


def test_every_region_is_in_the_key_of_the_picture(tmp_path):
    """With its share of the time and its intensity: 4 Mflop over 40 MB in 2 ms of 10."""
    save(figure_of(CROWDED), tmp_path / "a.svg")
    said = "\n".join(ElementTree.parse(tmp_path / "a.svg").getroot().itertext())

    assert "stage 0 of the solver: 20 % of the time, 2 Gflop/s, 0.1 flop/byte" in said
    assert [n for n in range(8) if f"stage {n} of the solver: " not in said] == []


def test_names_far_from_their_points_are_led_to_them():
    """Seven of eight in one corner: thin lines, no two of which cross."""
    axes = draw(figure_of(CROWDED))
    leads = [line for line in axes.lines if line.get_linewidth() == 0.5]
    ends = [list(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in leads]

    assert len(leads) == 7
    assert not [(a, b) for n, a in enumerate(ends) for b in ends[:n] if cross(a, b)]


def cross(one, other):
    """Return whether two straight lines cross, by the sides on which their ends lie."""

    def side(line, at):
        (x0, y0), (x1, y1) = line
        return (x1 - x0) * (at[1] - y0) - (y1 - y0) * (at[0] - x0) > 0

    return side(one, other[0]) != side(one, other[1]) and side(other, one[0]) != side(other, one[1])


# --- above its roof -----------------------------------------------------------------------------

# Reads of 128 MB at 32 GB/s take 4 ms: in 2 ms it is twice as fast as DRAM allows.
TOO_FAST = replace(MARKED, timed_regions=(timed("solve", 0.002),))
# From L3 it reads 280 MB, which take 4 ms at 70 GB/s, and from DRAM a byte only.
FROM_L3 = replace(
    with_counted(
        TRIAD,
        regions=(replace(SOLVE, traffic=(traffic("l3", 280_000_000, 0), traffic("dram", 1, 0))),),
    ),
    timed_regions=(timed("solve", 0.002),),
)


def test_a_region_above_its_roof_has_a_caution_as_a_program_has():
    """The program itself is below its own roof, and its placement says so of the region."""
    placement = place(TOO_FAST, MACHINE)
    (caution,) = (one for one in placement.cautions if one.code == "above-roof")

    assert not placement.is_above_roof
    assert caution.seen == ("region 'solve' is 2.00 times as fast as its roof (dram_read) allows")
    assert [one.code for one in place(TIMED, MACHINE).cautions] == []


def test_a_region_above_its_roof_is_marked_in_table_json_and_figure():
    """The table says it, the JSON has its bound, and the key of the figure names it."""
    console = Console(file=io.StringIO(), width=100)
    console.print(run_table.run(analyse(TOO_FAST, MACHINE)))
    fields = report(analyse(TOO_FAST, MACHINE))
    (solve,) = (one for one in fields["regions"] if one["name"] == "solve")

    assert re.search(r"solve .* 200 % \(above it\)", console.file.getvalue())
    assert solve["bound"]["efficiency"] == pytest.approx(2.0)
    assert solve["bound"]["above_roof"] is True
    assert "! solve: 20 % of the time" in render(figure_of(TOO_FAST), color=False)
    (roof,) = caps_of(figure_of(TOO_FAST), "roof of solve")
    assert roof.at == pytest.approx((16 / 192, 4e9))
    assert regions_of(TOO_FAST)["solve"].is_alarming
    assert not regions_of(TIMED)["solve"].is_alarming


def test_a_region_above_the_roof_of_a_cache_stands_over_its_traffic_there():
    """At 16e6 / 280e6 flop/byte, over the line of L3 and not far below it at that of DRAM."""
    solve = regions_of(FROM_L3)["solve"]
    (roof,) = caps_of(figure_of(FROM_L3), "roof of solve")

    assert solve.at == pytest.approx((16 / 280, 8e9))
    assert roof.at == pytest.approx((16 / 280, 4e9))
    assert solve.summary.endswith("200 % of L3 roof (above it), drawn over its traffic at L3")
