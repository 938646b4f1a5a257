"""Figures: the plane, the labels on it, pictures and text."""

import math
import os
import re
import stat
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from chart_reading import (
    caps_of,
    lines_of,
    marks_of,
    names_of,
    notes_of,
    rates_of,
    summary_of,
    texts_of,
)
from figure_inputs import (
    CACHED,
    CROWDED,
    FEW,
    MACHINE,
    MATMUL,
    MIXED,
    READS_ONLY,
    SINGLE,
    SLOW,
    SORT,
    TRIAD,
    TRIAD_2_CORES,
    UNTIMED,
    flop,
    measurement,
    peak,
)
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex

from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.identity import Identity
from ridgepoint.kept.files import replace_file
from ridgepoint.models.analysis import analyse
from ridgepoint.show.canvas import Canvas
from ridgepoint.show.charts.roofline import roofline_chart
from ridgepoint.show.draw_mpl import draw, save
from ridgepoint.show.draw_text import render
from ridgepoint.show.labels import Box, Room, along
from ridgepoint.show.words import machine_title, printable, program_name


def figure_of(*measurements, machine=MACHINE):
    """Return the figure of several programs on a machine."""
    return roofline_chart(machine, [analyse(each, machine) for each in measurements])


LEVELS = ("L1", "L2", "L3", "DRAM")
ROOFS = ("roof", "lower", "beside")


def frame(figure):
    """Return the limits of both axes."""
    return figure.x.limits, figure.y.limits


def peaks_of(figure):
    """Return the precisions of the peaks."""
    return set(rates_of(figure, "roof")) - set(LEVELS)


EVERY_KIND = (TRIAD, MATMUL, SORT, CACHED, READS_ONLY, UNTIMED)


# The plane. Ridge points by hand, flop/byte: 58.8 / 232 = 0.25 (one core, fp64, L1) is the
# lowest, 235.2 / 68 = 3.5 (two cores, fp32, DRAM: a store moves 2 x 34) the highest.


def test_frame_is_whole_decades_beyond_the_ridge_points():
    """0.25 is in the decade from 0.1 and 3.5 in that to 10; one more on either side."""
    assert figure_of().x.limits == (0.01, 100.0)


def test_frame_reaches_from_the_lowest_bandwidth_to_above_the_peak():
    """53 GB/s x 0.01 flop/byte is 0.53 Gflop/s; 235 Gflop/s is below 1 T."""
    assert figure_of().y.limits == (1e8, 1e12)


def test_every_program_on_a_machine_lands_on_the_same_plane():
    """Cores and precision of the program do not move the axes."""
    frames = {
        frame(figure)
        for figure in map(figure_of, (TRIAD, TRIAD_2_CORES, MATMUL, SINGLE, SORT, MIXED))
    }

    assert frames == {((0.01, 100.0), (1e8, 1e12))}


def test_a_point_outside_widens_the_plane_by_whole_decades():
    """50 kflop/s at 8.3e-6 flop/byte of L1."""
    figure = figure_of(SLOW)

    assert frame(figure) == ((1e-6, 100.0), (1e4, 1e12))


def test_tick_labels_carry_prefixes():
    """Performance in SI prefixes, intensity as it is."""
    figure = figure_of()

    assert [text for _, text in figure.y.ticks] == ["100 M", "1 G", "10 G", "100 G", "1 T"]
    assert [text for _, text in figure.x.ticks] == ["0.01", "0.1", "1", "10", "100"]


# The roofs.


def test_roofs_are_those_of_the_cores_kept_busy():
    """One core: 58.8 Gflop/s; its best DRAM stream is the store, 26.5 GB/s that moves 53."""
    assert rates_of(figure_of(TRIAD), "roof") == pytest.approx(
        {"fp64": 58.8e9, "L1": 232e9, "L2": 110e9, "L3": 70e9, "DRAM": 53e9}
    )


def test_the_whole_machine_stands_beside():
    """Two cores: 117.6 Gflop/s, and 68 GB/s by stores."""
    beside = rates_of(figure_of(TRIAD), "beside")

    assert beside == pytest.approx({"fp64": 117.6e9, "DRAM": 68e9})


def test_nothing_stands_beside_a_program_that_keeps_every_core_busy():
    """Its roofs are the machine's."""
    assert not lines_of(figure_of(TRIAD_2_CORES), "beside")


def test_a_roof_that_more_cores_do_not_raise_is_drawn_once():
    """One bandwidth for one core and for two."""
    ceilings = tuple(c for c in MACHINE.ceilings if c.resource == "fp64")
    shared = [replace(MACHINE.ceilings[-1], threads=threads) for threads in (1, 2)]
    figure = figure_of(TRIAD, machine=replace(MACHINE, ceilings=(*ceilings, *shared)))

    names = [line.name for line in figure.lines if line.name.startswith("DRAM")]
    assert names == ["DRAM copy 63 GB/s"]


def test_untimed_programs_do_not_choose_the_roofs():
    """Without a point it is not known how many cores were busy."""
    assert rates_of(figure_of(TRIAD, UNTIMED), "roof")["fp64"] == pytest.approx(58.8e9)


@pytest.mark.parametrize(
    ("programs", "precisions"),
    [
        ((TRIAD,), {"fp64"}),
        ((SINGLE,), {"fp32"}),
        ((MIXED,), {"fp64", "fp32"}),
        ((TRIAD, SINGLE), {"fp64", "fp32"}),
        ((SORT,), {"fp64"}),
        ((), {"fp64"}),
    ],
)
def test_peaks_are_those_of_the_precisions_used(programs, precisions):
    """A single-precision program under a double-precision roof would be judged wrongly."""
    assert peaks_of(figure_of(*programs)) == precisions


def test_a_trace_of_another_precision_adds_no_roof():
    """Start-up code does a few flop of every kind."""
    traces = measurement(flop("fp64", 20_000_000), flop("fp32", 1000))

    assert "fp32" not in peaks_of(figure_of(traces))


def test_a_precision_without_a_peak_is_said():
    """x87 work has no roof here."""
    figure = figure_of(measurement(flop("fp80", 1_000_000, width=0, fma=False)))

    assert "this machine has no fp80 peak: that roof is missing" in figure.notes
    assert not peaks_of(figure)


def test_labels_name_level_pattern_and_value():
    """As peers write them."""
    figure = figure_of(TRIAD)

    assert [name for kind in ROOFS for name in names_of(figure, kind)] == [
        "fp64 FMA 512-bit 58.8 Gflop/s",
        "L1 load 232 GB/s",
        "L2 load 110 GB/s",
        "L3 load 70 GB/s",
        "DRAM store 53 GB/s",
        "fp64 FMA 128-bit 29.4 Gflop/s",
        "fp64 FMA scalar 14.7 Gflop/s",
        "fp64 add scalar 7.3 Gflop/s",
        "fp64 2 cores 118 Gflop/s",
        "DRAM 2 cores 68 GB/s",
    ]


def test_at_most_three_lower_ceilings_and_the_lowest_stays():
    """Six ceilings, each half of the one above."""
    ceilings = tuple(peak("fp64", f"kind {n}", 1, 64e9 / 2**n) for n in range(6))
    machine = replace(MACHINE, host=replace(MACHINE.host, cores=1), ceilings=ceilings)

    lower = [line.places[0][1] / 1e9 for line in lines_of(roofline_chart(machine), "lower")]

    assert lower == pytest.approx([32, 16, 2])


def test_matrix_unit_is_the_roof_of_its_precision():
    """Vectors of it stay as a lower ceiling."""
    dot, amx = peak("bf16", "dot 512-bit", 1, 0.23e12), peak("bf16", "amx", 1, 3e12)
    program = measurement(flop("bf16", 1_000_000, width=512))
    figure = figure_of(program, machine=replace(MACHINE, ceilings=(*MACHINE.ceilings, dot, amx)))

    assert "bf16 AMX 3 Tflop/s" in names_of(figure, "roof")
    assert names_of(figure, "lower") == ["bf16 dot 512-bit 230 Gflop/s"]


def test_divisions_and_chains_are_no_roofs_of_other_work():
    """They lie far below, and neither are drawn nor widen the frame downwards."""
    slow = tuple(peak("fp64", name, 1, 1e6) for name in ("div scalar", "sqrt 512-bit", "fma chain"))
    with_them = figure_of(TRIAD, machine=replace(MACHINE, ceilings=(*MACHINE.ceilings, *slow)))

    assert with_them.lines == figure_of(TRIAD).lines
    assert with_them.y.limits == figure_of(TRIAD).y.limits


def test_equal_ceilings_are_one_line():
    """A 256-bit FMA as fast as a 512-bit one is no second roof."""
    twin = peak("fp64", "fma 256-bit", 1, 58.7e9)
    figure = figure_of(TRIAD, machine=replace(MACHINE, ceilings=(*MACHINE.ceilings, twin)))

    assert not [line for line in figure.lines if "256-bit" in line.name]


def test_ridge_points_are_peak_over_bandwidth():
    """58.8 / 232, 58.8 / 110, 58.8 / 70 and 58.8 / 53, by hand."""
    figure = figure_of(TRIAD)
    ridges = {mark.name: mark for mark in figure.marks if mark.name.startswith("ridge point")}

    assert figure.notes[-1] == "ridge points [flop/byte]: L1 0.25, L2 0.53, L3 0.84, DRAM 1.1"
    assert ridges["ridge point of DRAM and fp64"].at == pytest.approx((58.8 / 53, 58.8e9))
    assert ridges["ridge point of L1 and fp64"].label.text == "0.25"


def test_a_machine_of_peaks_only_is_drawn():
    """No bandwidth: a note says so."""
    ceilings = tuple(c for c in MACHINE.ceilings if c.resource == "fp64")
    figure = roofline_chart(replace(MACHINE, ceilings=ceilings))

    assert "no bandwidth of this machine is known" in figure.notes
    assert set(rates_of(figure, "roof")) == {"fp64"}


def test_a_machine_of_bandwidths_only_is_drawn():
    """No peak: diagonals reach the right edge or the top."""
    ceilings = tuple(c for c in MACHINE.ceilings if c.unit == "byte/s")
    figure = roofline_chart(replace(MACHINE, ceilings=ceilings))

    assert set(rates_of(figure, "roof")) == set(LEVELS)
    assert draw(figure).get_xlim() == figure.x.limits


# The points.


def test_points_are_work_over_traffic_and_time():
    """20 Mflop in 10 ms; 480, 260, 250 and 240 MB moved at the four levels."""
    points = marks_of(figure_of(TRIAD), "A")

    assert [p.shape for p in points] == ["triangle", "square", "diamond", "circle"]
    assert [p.at[0] for p in points] == pytest.approx([20 / 480, 20 / 260, 20 / 250, 20 / 240])
    assert [p.at[1] for p in points] == pytest.approx([2e9] * 4)


def test_error_bars_are_quartiles():
    """The deviations' quartiles are -3.5 and +3.5 thousandths of the runtime."""
    point = marks_of(figure_of(TRIAD), "A")[0]

    assert point.y_interval == pytest.approx((2e9 / 1.0035, 2e9 / 0.9965), rel=1e-5)


def test_unknown_writes_leave_the_point_out_and_say_so():
    """The DRAM point of a program whose writes were not seen is unknown."""
    figure = figure_of(READS_ONLY)

    shapes = [point.shape for point in marks_of(figure, "A")]
    assert shapes == ["triangle", "square", "diamond"]
    assert notes_of(figure) == ["DRAM writes are unknown, so there is no point at DRAM"]


def test_no_traffic_is_drawn_at_the_right_edge_and_named():
    """A program that lives in the cache."""
    figure = figure_of(CACHED)
    last = marks_of(figure, "A")[-1]

    assert (last.face, last.edge, last.at[0]) == ("full", "right", 100.0)
    assert "its intensity is infinite, so its point is at the right edge" in figure.notes[0]


@pytest.mark.parametrize(
    ("program", "note"),
    [
        (SORT, "no floating-point work: the flop roofline says nothing about it"),
        (
            FEW,
            "hardly any floating-point work (4 flop): the flop roofline says nothing about it",
        ),
        (
            UNTIMED,
            "its time is unknown: the mark is the most that its limit allows, "
            "at its intensity at DRAM",
        ),
        (
            replace(CACHED, timed=None),
            "counted but not timed: its performance is unknown, so there is no point",
        ),
    ],
)
def test_a_program_without_a_point_says_why(program, note):
    """An empty plane explains itself."""
    figure = figure_of(program)

    assert [mark for mark in marks_of(figure, "A") if mark.face == "full"] == []
    assert notes_of(figure) == [note]


def test_hardly_any_work_leaves_the_plane_as_it_is():
    """4 flop over 240 MB would widen it by six decades; the key gives no flop/s either."""
    figure = figure_of(FEW)

    assert frame(figure) == ((0.01, 100.0), (1e8, 1e12))
    assert texts_of(figure)[0].endswith(": 0.8 % of DRAM read roof")


@pytest.mark.parametrize(("work", "points"), [(4999, 0), (5000, 4)])
def test_one_flop_in_ten_thousand_instructions_is_worth_a_point(work, points):
    """Of 50 M instructions that is 5000."""
    figure = figure_of(measurement(flop("fp64", work, width=0, fma=False)))

    assert len(marks_of(figure, "A")) == points


def test_what_bounds_a_program_is_marked_above_its_dram_point():
    """Reads of 160 MB at 32 GB/s take 5 ms: 20 Mflop in 5 ms, below the drawn 53 GB/s line."""
    figure = figure_of(TRIAD)
    (cap,) = caps_of(figure, "A")

    assert cap.at == pytest.approx((20 / 240, 4e9))
    assert summary_of(figure, "attainable: ") == "what bounds it (DRAM read)"


def test_marks_of_several_programs_say_whose_limit_is_whose():
    """A and C read memory, B computes: 2.004 Gflop take 34 ms, its reads less than 1 ms."""
    figure = figure_of(TRIAD, MATMUL, TRIAD)

    assert summary_of(figure, "attainable: ") == "what bounds it (A, C DRAM read; B fp64 peak)"


@pytest.mark.parametrize(
    "program",
    [SORT, FEW, CACHED, READS_ONLY, *(replace(p, timed=None) for p in (SORT, FEW, CACHED))],
)
def test_without_a_dram_point_nothing_is_marked(program):
    """Unknown, or at infinity."""
    figure = figure_of(program)

    assert not caps_of(figure, "A")
    assert not [text for text in texts_of(figure) if text.startswith("attainable")]


def test_a_program_of_unknown_time_is_marked_at_what_two_cores_allow():
    """20 Mflop over 240 MB; reads of 160 MB at 45 GB/s take 3.56 ms, so 5.625 Gflop/s."""
    figure = figure_of(UNTIMED)
    (mark,) = marks_of(figure, "A")

    assert mark.at == pytest.approx((20 / 240, 5.625e9))
    assert mark.face == "hollow"
    assert texts_of(figure) == [
        "counted: time unknown, 0.0833 flop/byte, at most 5.62 Gflop/s (DRAM read)"
    ]


def test_the_limits_of_others_are_told_without_those_of_unknown_time():
    """Of A only; B has no point that its mark would be over."""
    figure = figure_of(TRIAD, UNTIMED)

    assert summary_of(figure, "attainable: ") == "what bounds it (DRAM read)"


def test_the_intensity_of_an_untimed_program_widens_the_plane():
    """4 kflop over 4.9 MB are 8.2e-4 flop/byte."""
    assert figure_of(replace(SLOW, timed=None)).x.limits == (1e-4, 100.0)


def test_a_mark_above_the_plane_widens_it():
    """x87 work has no ceiling: 3.2 Gflop in the 1 ms that its reads need are 3.2 Tflop/s."""
    program = measurement(
        flop("fp80", 3_200_000_000, width=0, fma=False), dram=(32_000_000, 0), levels=False
    )
    figure = figure_of(program)

    assert caps_of(figure, "A")[0].at == pytest.approx((100, 3.2e12))
    assert figure.y.limits[1] == 1e13


def test_mixed_precision_is_said():
    """Its peak is neither of those drawn."""
    notes = notes_of(figure_of(MIXED))

    assert notes == ["60 % fp64 and 40 % fp32: its peak lies between theirs"]


def test_the_title_names_machine_cores_and_samples():
    """Who measured what, how often."""
    figure = figure_of(TRIAD)

    assert figure.title == "AMD EPYC 9R14 96-Core Processor (znver4), vm"
    assert figure.subtitle == "1 of 2 cores; medians: roofs n = 15, programs n = 15"


def test_the_28th_program_has_a_letter_of_its_own():
    """After Z comes AA."""
    letters = [entry.lead for entry in figure_of(*[TRIAD] * 28).key if entry.lead]

    assert letters[:2] + letters[25:] == ["A", "B", "Z", "AA", "AB"]


def test_a_published_machine_is_known_by_its_name():
    """Its processor follows; a measured one is its processor, the host's name follows."""
    published = replace(MACHINE, name="csb", source="a paper")

    assert machine_title(published) == "csb, AMD EPYC 9R14 96-Core Processor"
    assert machine_title(MACHINE) == "AMD EPYC 9R14 96-Core Processor (znver4), vm"


def test_a_title_shows_what_a_cpu_is_and_not_what_its_number_says():
    """A masked number; a kernel of Arm, which tells no name; a CPU that cannot be told."""
    of = {"microarchitecture": "rocketlake", "cpu": "Intel(R) Xeon(R) Processor"}
    masked = Identity(reported="Rocket Lake", title="Sapphire Rapids or later", inferred=True)
    host = replace(MACHINE.host, **of, identity=masked)
    arm = replace(
        MACHINE.host,
        cpu="unknown aarch64 CPU",
        identity=Identity(reported="Neoverse V2", title="Neoverse V2"),
    )
    hidden = replace(host, identity=Identity(reported="kvm64", title=None, inferred=True))

    assert machine_title(replace(MACHINE, host=host)) == (
        "Intel(R) Xeon(R) Processor (Sapphire Rapids or later), vm"
    )
    assert machine_title(replace(MACHINE, host=arm)) == "Neoverse V2, vm"
    assert machine_title(replace(MACHINE, host=hidden)) == "Intel(R) Xeon(R) Processor, vm"


def test_a_processor_of_unknown_kind_is_named_without_it():
    """No empty parentheses."""
    host = replace(MACHINE.host, cpu="Atom", microarchitecture=None)

    assert machine_title(replace(MACHINE, host=host)) == "Atom, vm"


def test_a_script_on_the_command_line_is_one_line():
    """Line breaks and indentation are one space each, before the name is cut."""
    name = program_name(("/usr/bin/python3", "-c", "\nimport os\n\n\tos.sync()\n"))

    assert name == "python3 -c 'import os os.sync()'"


@given(st.text())
def test_names_cannot_steer_a_terminal(text):
    """No escape, no line break, no lone surrogate passes."""
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\ud800-\udfff]", printable(text))


# Labels.


def test_boxes_that_cross_overlap_though_no_corner_lies_inside():
    """A plus sign."""
    bar = Box(centre=(0, 0), width=10, height=1)

    assert bar.overlaps(replace(bar, angle=math.pi / 2))


def test_a_turned_box_does_not_fill_its_bounding_box():
    """A small box in the empty corner beside a diagonal one."""
    diagonal = Box(centre=(0, 0), width=10, height=1, angle=math.pi / 4)

    assert not diagonal.overlaps(Box(centre=(3, -3), width=2, height=2))
    assert diagonal.overlaps(Box(centre=(3, 3), width=2, height=2))


def test_a_label_avoids_what_is_taken():
    """The second of two labels on one line goes elsewhere."""
    room = Room(frame=Box(centre=(50, 50), width=100, height=100))
    segment = ((0.0, 50.0), (100.0, 50.0))
    places = along(segment, width=40, height=10, offsets=(6, 0, -6), from_right=False)
    first, second = room.place(places, own=segment), room.place(places, own=segment)

    assert first is not None
    assert second is not None
    assert not first.overlaps(second)


def test_a_label_without_room_is_not_placed():
    """The frame is smaller than the text."""
    room = Room(frame=Box(centre=(5, 5), width=10, height=10))

    assert room.place([Box(centre=(5, 5), width=20, height=3)]) is None


# Pictures.


def test_labels_of_diagonals_are_turned_with_them():
    """Four decades by four on axes of 1 by 0.78: atan(0.78) is 37.95 degrees."""
    axes = draw(figure_of(TRIAD))
    turned = {text.get_text(): text.get_rotation() for text in axes.texts}

    assert turned["L1 load 232 GB/s"] == pytest.approx(37.95, abs=0.05)
    assert turned["fp64 FMA 512-bit 58.8 Gflop/s"] == 0


@pytest.mark.parametrize(
    "programs",
    [(), (TRIAD,), EVERY_KIND, (MIXED,), (TRIAD, TRIAD_2_CORES), (CROWDED,), (CROWDED, CROWDED)],
)
@pytest.mark.parametrize("width_in", [3.5, 8.0])
def test_no_label_lies_on_another(programs, width_in, tmp_path):
    """As drawn: upright and turned texts on the plane, by the corners of their rectangles."""
    axes = draw(figure_of(*programs), width_in=width_in)
    axes.figure.savefig(tmp_path / "any.png", dpi=100)
    boxes = [drawn_box(text) for text in axes.texts if text.get_bbox_patch() is not None]

    assert len(boxes) > 6
    assert not [(a, b) for n, a in enumerate(boxes) for b in boxes[:n] if a.overlaps(b)]


def drawn_box(text):
    """Return the rectangle of a drawn text, in pixels; its ascent and descent left out."""
    angle = math.radians(text.get_rotation())
    extent = text.get_window_extent()
    text.set_rotation(0)
    flat = text.get_window_extent()
    return Box(
        centre=((extent.x0 + extent.x1) / 2, (extent.y0 + extent.y1) / 2),
        width=flat.width,
        height=flat.height * 0.75,
        angle=angle,
    )


def marks_at(axes, place):
    """Return the marks that are drawn at a place."""
    return [
        mark
        for mark in axes.collections
        if len(mark.get_offsets()) and tuple(mark.get_offsets()[0]) == pytest.approx(place)
    ]


def test_the_picture_joins_point_and_cap_by_a_dotted_line():
    """From 2 Gflop/s up to 4 at 1/12 flop/byte, both in the program's colour."""
    axes = draw(figure_of(TRIAD))
    (stem,) = [
        line
        for line in axes.lines
        if line.get_xdata() == pytest.approx([1 / 12, 1 / 12]) and line.get_linestyle() == "--"
    ]
    (cap,) = marks_at(axes, (1 / 12, 4e9))

    assert sorted(stem.get_ydata()) == pytest.approx([2e9, 4e9])
    assert to_hex(cap.get_facecolor()[0]).upper() == stem.get_color() == "#0072B2"


def test_the_picture_shows_unknown_time_as_a_hollow_marker_over_the_axis():
    """At 5.625 Gflop/s, with a dotted line down to the edge and the reason beside it."""
    axes = draw(figure_of(UNTIMED))
    (stem,) = [line for line in axes.lines if line.get_xdata() == pytest.approx([1 / 12, 1 / 12])]
    (mark,) = marks_at(axes, (1 / 12, 5.625e9))

    assert sorted(stem.get_ydata()) == pytest.approx([1e8, 5.625e9])
    assert to_hex(mark.get_facecolor()[0]) == "#ffffff"
    assert to_hex(mark.get_edgecolor()[0]).upper() == "#0072B2"
    assert "time unknown" in [text.get_text() for text in axes.texts]


@pytest.mark.parametrize(
    ("name", "magic"), [("a.png", b"\x89PNG\r\n\x1a\n"), ("a.pdf", b"%PDF-"), ("a.SVG", b"<?xml")]
)
def test_the_ending_chooses_the_format(name, magic, tmp_path):
    """By the first bytes of the file."""
    save(figure_of(TRIAD), tmp_path / name)

    assert (tmp_path / name).read_bytes().startswith(magic)


@pytest.mark.parametrize("ending", [".svg", ".png", ".pdf"])
def test_the_same_figure_makes_the_same_bytes(ending, tmp_path):
    """No date, no random name, no setting of the user."""
    save(figure_of(*EVERY_KIND), tmp_path / f"first{ending}")
    with mpl.rc_context({"axes.facecolor": "red", "svg.hashsalt": "other", "font.size": 20}):
        save(figure_of(*EVERY_KIND), tmp_path / f"second{ending}")

    first, second = ((tmp_path / f"{name}{ending}").read_bytes() for name in ("first", "second"))
    assert first == second


def test_every_roof_label_is_text_in_the_svg(tmp_path):
    """On its line, or below where there is no room; text that can be searched."""
    figure = figure_of(TRIAD)
    save(figure, tmp_path / "a.svg")
    tree = ElementTree.parse(tmp_path / "a.svg")
    said = " ".join("".join(node.itertext()) for node in tree.iter() if node.tag.endswith("text"))

    names = [name for kind in ROOFS for name in names_of(figure, kind)]
    assert [name for name in names if name not in said] == []
    assert "triad 1000000" in said


def test_hostile_names_are_drawn_as_they_are(tmp_path):
    """No mathematics, no markup, no glyph that the font lacks stops the picture."""
    odd = measurement(flop("fp64", 20_000_000), command=("./$a$_<b>&\x1b[1m\udcff漢",))
    save(figure_of(odd), tmp_path / "a.svg")
    said = "".join(ElementTree.parse(tmp_path / "a.svg").getroot().itertext())

    assert "$a$_<b>&?[1m?漢" in said


def test_drawing_leaves_global_style_alone(tmp_path):
    """And imports no pyplot, which would choose a backend."""
    before = mpl.rcParams.copy()  # dict() would ask for the backend and so import pyplot
    had_pyplot = "matplotlib.pyplot" in sys.modules
    save(figure_of(TRIAD), tmp_path / "a.svg")

    assert mpl.rcParams.copy() == before
    assert ("matplotlib.pyplot" in sys.modules) == had_pyplot


def test_drawing_on_given_axes_returns_them():
    """A figure may be one panel of several."""
    from matplotlib.figure import Figure

    axes = Figure(figsize=(8, 4)).add_axes((0.1, 0.4, 0.4, 0.5))

    assert draw(figure_of(TRIAD), axes) is axes
    assert axes.get_xlabel() == "Operational intensity [flop/byte]"
    assert axes.get_ylabel() == "Performance [flop/s]"


@pytest.mark.parametrize("name", ["a.jpeg", "a", "a.svg.gz"])
def test_another_ending_is_refused_by_name(name, tmp_path):
    """The message says which endings there are."""
    with pytest.raises(RidgepointError, match=r"\.svg, \.png or \.pdf") as error:
        save(figure_of(), tmp_path / name)

    assert repr(str(tmp_path / name)) in str(error.value)
    assert not (tmp_path / name).exists()


def test_an_unwritable_path_is_named_with_the_reason(tmp_path):
    """A folder that does not exist."""
    with pytest.raises(RidgepointError, match=r"missing/a\.svg.*no such file"):
        save(figure_of(), tmp_path / "missing" / "a.svg")


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from ridgepoint.core.errors import RidgepointError
from ridgepoint.kept.files import replace_file
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    replace_file(Path(sys.argv[1]), bytes(5000), what="the figure")
except RidgepointError as error:
    print(error.reason)
"""


def test_a_full_disk_keeps_the_older_file(tmp_path):
    """A write that fails half way leaves the figure of before, and nothing beside it."""
    path = tmp_path / "a.svg"
    path.write_text("older")
    command = [sys.executable, "-c", FULL_DISK, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stdout == "file too large\n"
    assert path.read_text() == "older"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.svg"]


def test_what_is_no_file_is_written_to_and_stays(tmp_path):
    """A device in /dev would be lost if a file took its place."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        replace_file(pipe, b"content", what="the figure")

        assert os.read(reader, 100) == b"content"
        assert stat.S_ISFIFO(os.stat(pipe).st_mode)
    finally:
        os.close(reader)


def test_a_link_keeps_pointing_to_the_file(tmp_path):
    """Its target is replaced, not the link."""
    target, link = tmp_path / "target.svg", tmp_path / "link.svg"
    target.write_text("older")
    link.symlink_to(target)
    save(figure_of(), link)

    assert link.is_symlink()
    assert target.read_bytes().startswith(b"<?xml")


def test_importing_figures_does_not_import_matplotlib():
    """The command line must start fast."""
    code = (
        "import sys, ridgepoint.show.draw_mpl, ridgepoint.show.draw_text; "
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


# Text.


@pytest.mark.parametrize("width", [40, 60, 80, 100])
@pytest.mark.parametrize("programs", [(), (TRIAD,), EVERY_KIND, (SLOW, MATMUL), (CROWDED,)])
@pytest.mark.parametrize("ascii", [True, False])
def test_text_fits_the_width(width, programs, ascii):
    """No line is longer than asked."""
    text = render(figure_of(*programs), width=width, height=24, color=False, ascii=ascii)

    assert max(map(len, text.splitlines())) <= width


def test_every_program_is_in_the_key():
    """By letter and name, also those without a point."""
    text = render(figure_of(*EVERY_KIND), width=80, height=26, color=False)
    key = dict(re.findall(r"^([A-F])  (\w+)", text, re.MULTILINE))

    assert key == {
        "A": "triad",
        "B": "matmul",
        "C": "sort",
        "D": "tiny",
        "E": "stream",
        "F": "counted",
    }


def test_letters_stand_where_the_points_are():
    """Of four decades: 0.0833 is at 0.230, 62.6 at 0.949; 48.9 G at 0.672, 2 G at 0.325."""
    text = render(figure_of(TRIAD, MATMUL), width=109, height=103, color=False)
    plane = [line[9:] for line in text.splitlines()[3:103]]
    found = {
        mark: (column / 100, 1 - row / 100)
        for row, line in enumerate(plane)
        for column, mark in enumerate(line)
        if mark in "AB" and line[column - 1] != "R"
    }

    assert found["A"] == pytest.approx((0.230, 0.325), abs=0.02)
    assert found["B"] == pytest.approx((0.949, 0.672), abs=0.02)


@pytest.mark.parametrize(("ascii", "mark"), [(False, "┬"), (True, "=")])
def test_the_text_marks_what_bounds_a_program(ascii, mark):
    """At 4 Gflop/s, 0.400 of four decades; straight above the letter, and in the key."""
    text = render(figure_of(TRIAD), width=109, height=103, color=False, ascii=ascii)
    plane = [line[9:] for line in text.splitlines()[3:103]]
    ((row, column),) = [(n, line.index(mark)) for n, line in enumerate(plane) if mark in line]
    (below,) = [line for line in plane if line[column : column + 1] == "A"]

    assert (column / 100, 1 - row / 100) == pytest.approx((0.230, 0.400), abs=0.02)
    assert plane.index(below) > row
    assert f"{mark}  attainable: what bounds it (DRAM read)" in text


def test_the_text_marks_unknown_time_with_a_question():
    """Of four decades: 0.0833 is at 0.230, 5.625 G at 0.438; a line goes down to the axis."""
    text = render(figure_of(UNTIMED), width=109, height=103, color=False, ascii=True)
    plane = [line[9:].ljust(100) for line in text.splitlines()[3:103]]
    ((row, column),) = [(n, line.index("A?")) for n, line in enumerate(plane) if "A?" in line]

    assert (column / 100, 1 - row / 100) == pytest.approx((0.230, 0.438), abs=0.02)
    assert [line[column] for line in plane[row + 1 :]].count(":") > 15
    assert "=" not in "".join(plane)


def test_a_point_under_another_is_said():
    """Two runs of one program share a cell."""
    text = render(figure_of(TRIAD, TRIAD), width=80, height=24, color=False)

    assert "A: its point lies under B" in text


def test_plain_text_is_ascii():
    """For encodings without braille."""
    odd = measurement(flop("fp64", 20_000_000), command=("./" + "漢é" * 40,))

    assert render(figure_of(odd), width=80, height=24, color=False, ascii=True).isascii()


def test_colour_only_where_asked():
    """Escapes spoil a pipe."""
    figure = figure_of(TRIAD, MATMUL)
    coloured = render(figure, width=80, height=24, color=True)

    plain = render(figure, width=80, height=24, color=False)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain


def test_roofs_are_named_in_the_text():
    """Peaks on the plane, bandwidths below it, levels on their lines."""
    text = render(figure_of(TRIAD), width=80, height=26, color=False)

    assert "fp64 FMA 512-bit 58.8 Gflop/s" in text
    assert "L1 load 232 GB/s; L2 load 110 GB/s; L3 load 70 GB/s; DRAM store 53 GB/s" in text
    assert "DRAM" in "".join(text.splitlines()[3:27])


def test_braille_dots_are_numbered_as_unicode_numbers_them():
    """The left column of one cell is dots 1, 2, 3 and 7: U+2847."""
    canvas = Canvas(columns=1, rows=1)
    canvas.line((0.1, 0.01), (0.1, 0.99), dashed=False)

    assert canvas.lines(color=False) == ["\u2847"]
