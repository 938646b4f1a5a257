"""The Ridgeline's figures: placed by hand-derived numbers, drawn without a label lost."""

import math
import re

import numpy as np
import pytest
from core_inputs import ceiling, machine_of

from ridgepoint.core.errors import RidgepointError
from ridgepoint.demands.training import TrainingStep
from ridgepoint.models.derived import with_network
from ridgepoint.models.ridgeline import Ridgeline
from ridgepoint.models.ridgeline.trajectories import point_trajectory, training_trajectories
from ridgepoint.published.machines import load
from ridgepoint.show.axes import clipped, decade_ticks, decades, si_text
from ridgepoint.show.charts.ridgeline import ridgeline_page, times_chart
from ridgepoint.show.charts.ridgeline_case import case_study
from ridgepoint.show.charts.ridgeline_explained import explained
from ridgepoint.show.charts.ridgeline_paper import save_all
from ridgepoint.show.charts.ridgeline_plane import ridgeline_chart
from ridgepoint.show.charts.ridgeline_surface import surfaces
from ridgepoint.show.draw_mpl import save
from ridgepoint.show.draw_surface import drawn
from ridgepoint.show.draw_surface import save as save_surface
from ridgepoint.show.tables.ridgeline_table import ridgeline_table

PAPER = Ridgeline(machines=(load("cascade-lake"),), work="fp32")
LAYER = TrainingStep(layers=(4096, 4096))
BATCH = [2**power for power in range(13)]
STUDY = training_trajectories(PAPER, LAYER, batch=BATCH)
LARGE = training_trajectories(PAPER, LAYER, batch=BATCH[8:])
EDGES = point_trajectory(
    PAPER,
    {
        "stencil": (1e9, 4e9, 0.0),
        "in cache": (1e9, 0.0, 1e8),
        "exchange": (0.0, 1e9, 1e9),
        "flop alone": (1e9, 0.0, 0.0),
        "far": (1.0, 1e12, 1.0),
        "inside": (1e12, 1e9, 1e8),
    },
)


def of_kind(chart, kind):
    """Return the lines of a kind."""
    return [line for line in chart.lines if line.kind == kind]


def labels(marks):
    """Return what is written beside marks."""
    return [mark.label.text for mark in marks]


# --- the plane ----------------------------------------------------------------------------------


def test_the_plane_holds_the_ridge_point_and_all_batches():
    """I_M from 0.50 to 1.5 and 8.75, I_A from 1.5 to 2048 and 40: in whole decades."""
    chart, beyond = ridgeline_chart(PAPER, STUDY)

    assert chart.x.limits == pytest.approx((0.1, 100))
    assert chart.y.limits == pytest.approx((0.1, 10000))
    assert beyond == []
    assert labels(chart.marks) == list(map(str, BATCH))
    assert [dot.ink for dot in chart.marks] == ["network"] * 9 + ["compute"] * 4


def test_the_regions_meet_at_the_ridge_point_and_fill_the_plane():
    """Their areas, on logarithmic axes, add up to the frame's; each has a corner at (8.75, 40)."""
    chart, _ = ridgeline_chart(PAPER, LARGE)

    def surface(corners):
        x, y = np.log10(np.array(corners)).T
        return 0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))

    frame = math.log10(chart.x.limits[1] / chart.x.limits[0]) * math.log10(
        chart.y.limits[1] / chart.y.limits[0]
    )
    assert [area.ink for area in chart.areas] == ["compute", "memory", "network"]
    assert sum(surface(one.corners) for one in chart.areas) == pytest.approx(frame)
    for one in chart.areas:
        nearest = min(math.dist((8.75, 40), corner) for corner in one.corners)
        assert nearest < 1e-9


def test_the_ridge_is_where_x_times_y_is_350():
    """From the left edge to the ridge point; the other two edges leave from there."""
    chart, _ = ridgeline_chart(PAPER, LARGE)
    diagonal, level, upright = of_kind(chart, "roof")

    assert [x * y for x, y in diagonal.places] == pytest.approx([350, 350])
    assert diagonal.places[0][0] == chart.x.limits[0]
    assert diagonal.label.text == "ridge: x y = 350 flop/byte"
    assert diagonal.places[-1] == level.places[0] == upright.places[-1] == (8.75, 40)


def test_lines_of_one_performance_have_a_knee_at_the_memory_intensity_of_the_ridge():
    """100 Gflop/s: x y = 8.33 with 12 GB/s, then I_A = 0.952 with 105 GB/s."""
    chart, _ = ridgeline_chart(PAPER, LARGE)
    lines = {line.label.text: line.places for line in of_kind(chart, "iso")}

    assert list(lines) == ["1 Tflop/s", "100 Gflop/s", "10 Gflop/s"]
    first, knee, last = lines["100 Gflop/s"]
    assert first[0] * first[1] == pytest.approx(100 / 12)
    assert knee == pytest.approx((8.75, 100 / 105))
    assert last[1] == pytest.approx(100 / 105)


def test_batches_are_joined_in_their_order_and_own_points_are_not():
    """A path has a direction; single kernels have none."""
    over_batch, _ = ridgeline_chart(PAPER, LARGE)
    own, _ = ridgeline_chart(PAPER, [EDGES])

    (path,) = of_kind(over_batch, "path")
    assert path.places == tuple(dot.at for dot in over_batch.marks)
    assert of_kind(own, "path") == []


def test_points_at_infinity_are_drawn_at_the_edge_and_named():
    """Each with the reason; what is only far away with its coordinates."""
    chart, beyond = ridgeline_chart(PAPER, [EDGES])
    edges = {dot.label.text: dot.edge for dot in chart.marks}

    assert edges == {
        "stencil": "right", "in cache": "left", "exchange": "bottom", "flop alone": "right",
        "far": "right", "inside": None,
    }  # fmt: skip
    assert "stencil (no network bytes)" in beyond
    assert "in cache (no memory bytes)" in beyond
    assert "exchange (no work)" in beyond
    assert "flop alone (no memory bytes, no network bytes)" in beyond
    assert "far (I_M 1e+12, I_A 1e-12)" in beyond
    places = {dot.label.text: dot.beyond for dot in chart.marks if dot.beyond is not None}
    assert places == {"far": pytest.approx((1e12, 1e-12))}
    for dot in chart.marks:
        assert chart.x.limits[0] <= dot.at[0] <= chart.x.limits[1]
        assert chart.y.limits[0] <= dot.at[1] <= chart.y.limits[1]


def test_of_many_batches_a_few_have_dots_and_all_are_in_the_path():
    """Two thousand markers are no plot."""
    many = training_trajectories(PAPER, LAYER, batch=range(1, 2001))
    chart, _ = ridgeline_chart(PAPER, many)

    assert 10 < len(chart.marks) <= 24
    assert (chart.marks[0].label.text, chart.marks[-1].label.text) == ("1", "2000")
    assert len(of_kind(chart, "path")[0].places) == 2000


# --- the times beside it ------------------------------------------------------------------------


def test_the_times_cross_between_256_and_512():
    """Bands of what bounds: the network up to where the lines cross, at batch 466.67."""
    chart = times_chart(PAPER, LARGE[0])
    times = {line.name: [y for _, y in line.places] for line in chart.lines}

    assert times["network"] == pytest.approx([11.1848e-3] * 5, rel=1e-4)
    assert times["compute"][:2] == pytest.approx([6.1357e-3, 12.2713e-3], rel=1e-4)
    assert [(band.ink, band.corners[1][0]) for band in chart.areas] == [
        ("network", pytest.approx(1400 / 3)),
        ("compute", pytest.approx(4096 * math.sqrt(2))),
    ]


def test_times_of_zero_are_left_out_and_a_note_says_so():
    """There is no place for 0 on a logarithmic axis."""
    figure = ridgeline_page(PAPER, [EDGES])
    network = next(line for line in figure.charts[1].lines if line.name == "network")

    assert len(network.places) == 4
    assert "times of 0 s are left out" in figure.notes


def test_without_overlap_the_combined_time_has_a_line():
    """The sum of the three."""
    none = Ridgeline(machines=PAPER.machines, work="fp32", overlap="none")
    figure = ridgeline_page(none, training_trajectories(none, LAYER, batch=[512]))
    (total,) = of_kind(figure.charts[1], "total")

    assert total.places[0][1] == pytest.approx(12.2713e-3 + 0.7989e-3 + 11.1848e-3, rel=1e-4)
    assert "the times do not overlap: regions show the resource that takes longest" in figure.notes


# --- the paper's other figures ------------------------------------------------------------------


def test_the_paper_s_explanation_has_its_five_figures():
    """2a and 2b with a roofline beside them; two halves each, four quadrants, three regions."""
    figures = explained(PAPER)

    assert {name: len(figure.charts) for name, figure in figures.items()} == {
        "2a": 2, "2b": 2, "2c": 1, "2d": 1, "2e": 1,
    }  # fmt: skip
    regions = {
        name: [area.ink for area in figure.charts[0].areas] for name, figure in figures.items()
    }
    assert regions["2a"] == ["compute", "memory"]
    assert regions["2b"] == ["network", "memory"]
    assert regions["2c"] == ["network", "memory", "compute", None]
    assert regions["2e"] == ["compute", "memory", "network"]


def test_the_rooflines_beside_the_plane_have_their_knees():
    """4.2 Tflop/s at 40 flop/byte, turned; 105 GB/s at 8.75 byte/byte."""
    turned = explained(PAPER)["2a"].charts[1].lines[0]
    memory_network = explained(PAPER)["2b"].charts[1].lines[0]

    assert turned.places[1] == pytest.approx((4.2e12, 40))
    assert memory_network.places[1] == pytest.approx((8.75, 105e9))
    assert memory_network.places[0][1] == pytest.approx(12e9 * memory_network.places[0][0])


def test_performance_rises_with_k_up_to_the_ridge():
    """With k = 3.5, 35, 350 and 3500 with 12 GB/s: 42 and 420 Gflop/s, then the peak twice."""
    lines = [line for line in explained(PAPER)["2d"].charts[0].lines if line.label.text[0] == "k"]

    assert [line.label.text for line in lines] == [
        "k = 3.5: at most 42 Gflop/s",
        "k = 35: at most 420 Gflop/s",
        "k = 350, the ridge: at most 4.2 Tflop/s",
        "k = 3500: at most 4.2 Tflop/s",
    ]


def test_the_case_study_crosses_the_machine_balance_at_32():
    """Fig. 4a: above 40 flop/byte from batch 32 on; Fig. 4b: so says the roofline."""
    figures = case_study(PAPER, STUDY[0])
    curve = of_kind(figures["4a"], "curve")[0]
    dots = figures["4b"].marks

    assert [x for x, y in curve.places if y > 40] == BATCH[5:]
    assert [dot.ink for dot in dots] == ["memory"] * 5 + ["compute"] * 8
    assert dots[-1].at == pytest.approx((2048, 4.2e12))


def test_summing_takes_longer_than_computing_up_to_256():
    """Fig. 4c, as far as it is true: the text says 512, which is wrong by 9.7 %."""
    own, exchange = case_study(PAPER, STUDY[0])["4c"].lines
    slower = [x for (x, y), (_, z) in zip(exchange.places, own.places, strict=True) if y > z]

    assert slower == BATCH[:9]


def test_the_compute_network_roofline_holds_the_case_study():
    """Its knee is at 350; batch 256 has 192 flop/byte and 2304 Gflop/s."""
    chart = case_study(PAPER, STUDY[0])["network"]

    assert chart.lines[0].places[1] == pytest.approx((350, 4.2e12))
    assert chart.marks[8].at == pytest.approx((192, 2304e9))


def test_the_surfaces_have_three_flat_faces():
    """Every corner of a face is attained there, by the smallest of three products."""
    for name, figure in surfaces(PAPER).items():
        assert {face.region for face in figure.faces} == {"compute", "memory", "network"}
        for face in figure.faces:
            for x, y, z in face.corners:
                i_a, i_n = (x, y) if name == "1" else (y, x * y)
                assert z == pytest.approx(min(4.2e12, 105e9 * i_a, 12e9 * i_n))


def test_the_third_figure_has_a_roofline_of_each_kind():
    """Both lie on the surface, with a knee."""
    red, blue = surfaces(PAPER)["3"].cuts

    assert red.places[1][1:] == pytest.approx((40, 4.2e12))
    assert blue.places[1][0] * blue.places[1][1] == pytest.approx(350)
    assert blue.places[1][2] == pytest.approx(4.2e12)


# --- drawn --------------------------------------------------------------------------------------


def texts(svg):
    """Return the texts of an SVG."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg.read_text())


def test_the_picture_names_regions_ridge_lines_and_points(tmp_path):
    """All of them; nothing is left out for want of room."""
    save(ridgeline_page(PAPER, LARGE), tmp_path / "r.svg")
    found = texts(tmp_path / "r.svg")

    for text in ("compute-bound", "memory-bound", "network-bound", "ridge: x y = 350 flop/byte",
                 "100 Gflop/s", "I_M* = 8.75", "256", "4096", "Projected time",
                 "Memory intensity I_M [byte of memory / byte of network]"):  # fmt: skip
        assert text in found
    assert not [text for text in found if "want of room" in text]


@pytest.mark.parametrize("name", ["2a", "2b", "2c", "2d", "2e", "4a", "4b", "4c", "network"])
def test_no_label_of_a_figure_of_the_paper_is_lost(name, tmp_path):
    """They are few, and there is room."""
    figures = explained(PAPER) | case_study(PAPER, STUDY[0])
    save(figures[name], tmp_path / "f.svg")

    assert not [text for text in texts(tmp_path / "f.svg") if "want of room" in text]


def test_points_at_infinity_and_odd_names_can_be_drawn(tmp_path):
    """Of every overlap, with names that are no mathematics and no markup."""
    odd = point_trajectory(PAPER, {"a<b>&$x$": (1e300, 1e-300, 1.0), "日本": (1e-9, 1e9, 0.0)})
    for overlap in ("full", "none", 3.0):
        ridgeline = Ridgeline(machines=PAPER.machines, work="fp32", overlap=overlap)
        save(ridgeline_page(ridgeline, [EDGES, odd]), tmp_path / "o.svg")

    assert "a&lt;b&gt;&amp;$x$" in (tmp_path / "o.svg").read_text()


def test_a_title_of_many_machines_stays_inside_a_surface():
    """Its second row moves the first one down, not out of the picture."""
    names = ("a100", "h200", "mi300x")
    machines = tuple(with_network(load(name), 50e9) for name in names)
    figure = drawn(surfaces(Ridgeline(machines=machines, work="fp32"))["1"])
    figure.canvas.draw()
    rows = [text for axes in figure.axes if "head" in axes.get_label() for text in axes.texts]

    assert len(rows) > 2
    assert all(text.get_window_extent().y1 <= figure.bbox.y1 for text in rows)


def test_a_folder_gets_every_figure_and_the_same_bytes_again(tmp_path):
    """1, 2a to 2e, 3, 4a to 4c, 6 and its halves, the plane over I_N, compute-network."""
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        save_all(PAPER, STUDY, (), folder)
    names = [
        *("1", "2a", "2b", "2c", "2d", "2e", "3", "4a", "4b", "4c", "6", "6a", "6b"),
        *("I_N", "network"),
    ]

    assert sorted(path.stem for path in folders[0].iterdir()) == names
    for name in names:
        assert (folders[0] / f"{name}.svg").read_bytes() == (
            folders[1] / f"{name}.svg"
        ).read_bytes()
    assert "256" in texts(folders[0] / "6a.svg")
    assert "128" not in texts(folders[0] / "6a.svg")


def test_a_figure_that_cannot_be_written_says_so(tmp_path):
    """Flat ones and surfaces."""
    for write in (
        lambda path: save(ridgeline_page(PAPER, LARGE), path),
        lambda path: save_surface(surfaces(PAPER)["1"], path),
    ):
        with pytest.raises(RidgepointError, match="cannot write the figure"):
            write(tmp_path / "no" / "f.svg")


# --- tables and helpers -------------------------------------------------------------------------


def printed(renderable):
    """Return a table as text."""
    from rich.console import Console

    console = Console(width=100, no_color=True)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


def test_the_table_fits_80_columns_and_names_the_nearest_to_the_ridge():
    """Batch 512, by 9.7 %."""
    text = printed(ridgeline_table(PAPER, STUDY))
    longest = max(len(line.rstrip()) for line in text.splitlines())

    assert longest <= 80
    assert "batch 512, whose compute takes 9.7 % longer than its network" in text


def test_several_machines_are_named_point_by_point():
    """The one that bounds."""
    nodes = (
        machine_of(ceiling("fp32", 1e9), ceiling("dram", 1e9), ceiling("network", 1e9), name="old"),
        machine_of(ceiling("fp32", 9e9), ceiling("dram", 1e9), ceiling("network", 1e8), name="far"),
    )
    ridgeline = Ridgeline(machines=nodes, work="fp32")
    own = point_trajectory(ridgeline, {"dense": (1e9, 1.0, 1.0), "chatty": (1.0, 1.0, 1e9)})
    rows = {line.split()[0]: line.split()[-1] for line in printed(
        ridgeline_table(ridgeline, [own])).splitlines() if line.strip()}  # fmt: skip

    assert (rows["dense"], rows["chatty"]) == ("old", "far")


def test_an_unknown_ratio_reads_as_such_in_the_table():
    """Infinite, and nothing over nothing."""
    text = printed(ridgeline_table(PAPER, [EDGES]))

    assert re.search(r"stencil .* inf +inf\n", text)
    assert re.search(r"flop alone .* inf +0/0 +inf\n", text)


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1.0, 10.0], (1, 10)), ([1e-3], (1e-3, 1e-2)), ([0.2, 30.0], (0.1, 100))],
)
def test_decades_hold_their_values(values, expected):
    """And no more, where a value is a decade itself."""
    assert decades(values) == pytest.approx(expected)


def test_ticks_are_thinned_over_many_decades():
    """At most nine over 24 decades."""
    assert len(decade_ticks((1e-12, 1e12), str)) <= 9


def test_a_square_is_cut_along_its_diagonal():
    """Where x + y >= 1 of the square of one decade: a triangle."""
    corners = clipped([(1, 1), (10, 1), (10, 10), (1, 10)], [lambda x, y: x + y - 1])

    assert sorted(corners) == [pytest.approx(c) for c in ((1, 10), (10, 1), (10, 10))]


def test_values_beyond_all_prefixes_have_an_exponent():
    """A hundred digits are no number to read."""
    assert si_text(2e40, "s") == "2e+40 s"
    assert si_text(1e-20, "s") == "1e-20 s"
    assert si_text(0.0, "s") == "0 s"
