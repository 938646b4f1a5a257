"""Kernels of many sizes on the roofline plane: their points, roofs and pictures."""

import math
from dataclasses import replace

import matplotlib as mpl
import pytest
from figure_inputs import MACHINE
from suite_inputs import failed, result

from ridgepoint.show.charts.paths import path_summary, paths_chart, shown_size
from ridgepoint.show.draw_mpl import draw, save
from ridgepoint.suites.kernels.paths import machine_of_direction, measured_paths, roofs_along


def chart_of(*results, machine=MACHINE, **options):
    """Return the chart of some results."""
    return paths_chart(machine, results, title="2a", **options)


def paths_of(*results, machine=MACHINE, **options):
    """Return the paths of some results."""
    return measured_paths(machine, results, **options)[0]


def points_of(*results, **options):
    """Return the intensities and performances of all points by path."""
    return {
        path.name: [(point.intensity, point.performance.median) for point in path.points]
        for path in paths_of(*results, **options)
    }


def roofs_of(*cores):
    """Return the roofs of numbers of cores, over all bytes."""
    return roofs_along(machine_of_direction(MACHINE, "total"), "total", cores=cores)


def marks_of(chart, name="daxpy.blas"):
    """Return the marks of a path."""
    return [mark for mark in chart.marks if mark.name == name]


def slope(chart):
    """Return the outer bandwidth of a chart, GB/s, with its label."""
    (roof,) = (
        line
        for line in chart.lines
        if line.kind == "roof" and line.places[0][1] != line.places[1][1]
    )
    x, y = roof.places[0]
    return y / x / 1e9, roof.label.text


SMALL = result(n=1000, work=2000, moved=(16_000, 8_000, 0), runtime_s=1e-6)
LARGE = result()
CACHED = result(n=100, work=200, moved=(0, 0, 0), runtime_s=1e-8)
DGEMM = result("dgemm.blas", 300, work=54_000_000, moved=(2_160_000, 720_000, 0))


# Points. 2 Mflop over 16 MB read and 8 MB written in 1 ms.


@pytest.mark.parametrize(
    ("direction", "intensity"), [("total", 1 / 12), ("read", 1 / 8), ("write", 1 / 4)]
)
def test_a_point_is_work_over_the_bytes_of_the_axis_and_work_over_time(direction, intensity):
    """2 Mflop per ms are 2 Gflop/s; 2/24, 2/16 and 2/8 flop/byte."""
    assert points_of(LARGE, direction=direction)["daxpy.blas"] == [pytest.approx((intensity, 2e9))]


def test_pseudo_flop_are_work_where_asked():
    """5 x 1024 x 10 pseudo flop, and 40 000 real ones, in 10 us over 51 200 byte."""
    fft = result(
        "fft.ducc0", 1024, work=40_000, moved=(34_200, 17_000, 0), runtime_s=1e-5,
        pseudo_flop=51_200.0,
    )  # fmt: skip
    pseudo = chart_of(fft, work="pseudo")

    assert points_of(fft)["fft.ducc0"] == [pytest.approx((0.78125, 4e9))]
    assert points_of(fft, work="pseudo")["fft.ducc0"] == [pytest.approx((1.0, 5.12e9))]
    assert pseudo.x.label == "Operational intensity W/Q [pseudo flop/byte]"
    assert [entry.text for entry in pseudo.key] == ["fft.ducc0, n = 2¹⁰, 5.12 pseudo Gflop/s"]


def test_error_bars_are_quartiles_of_performance():
    """Of 15 runtimes, 0.4 % below and 0.35 % above the median."""
    (mark,) = marks_of(chart_of(LARGE))

    assert mark.y_interval == pytest.approx((2e9 / 1.0035, 2e9 / 0.9965), rel=1e-3)
    assert mark.x_interval is None


@pytest.mark.parametrize(("runtime_s", "is_above"), [(0.001, False), (0.0003, True)])
def test_points_above_their_roof_are_said_to_be_doubtful(runtime_s, is_above):
    """24 MB at 24 GB/s, and at 80; two cores give 68."""
    notes = chart_of(result(runtime_s=runtime_s, threads=2)).notes

    assert ("above 100 %: the simulated traffic, or the ceiling, is wrong" in notes) == is_above


def test_sizes_are_joined_in_the_order_of_n():
    """Whatever the order of the results."""
    (path,) = paths_of(LARGE, SMALL)

    assert [point.n for point in path.points] == [1000, 1_000_000]


def test_threads_and_states_are_paths_of_their_own_and_named_where_they_differ():
    """The same kernel on one thread and on two; cold and warm."""
    warm = result(state="warm")

    names = [
        [path.name for path in paths_of(*results)]
        for results in ([LARGE], [LARGE, result(threads=2)], [LARGE, warm])
    ]

    assert names == [
        ["daxpy.blas"],
        ["daxpy.blas, 1 thread", "daxpy.blas, 2 threads"],
        ["daxpy.blas, cold", "daxpy.blas, warm"],
    ]


@pytest.mark.parametrize(
    ("direction", "what"), [("total", "traffic"), ("read", "reads"), ("write", "writes")]
)
def test_a_kernel_in_cache_is_drawn_at_the_right_edge(direction, what):
    """No byte moved: infinite intensity."""
    figure = chart_of(CACHED, LARGE, direction=direction)
    first, second = marks_of(figure)

    assert (first.edge, first.at[0]) == ("right", figure.x.limits[1])
    assert paths_of(CACHED, direction=direction)[0].points[0].intensity == math.inf
    assert second.edge is None
    assert f"at the right edge: no DRAM {what} (daxpy.blas n = 100)" in figure.notes


def test_hardly_any_traffic_does_not_widen_the_plane_without_end():
    """2 Mflop over 2 byte are 1e6 flop/byte; the frame of this machine ends at 100."""
    figure = chart_of(result(n=2000, moved=(1, 1, 0)), LARGE)

    assert figure.x.limits == (0.01, 100.0)
    assert marks_of(figure)[0].at[0] == 100.0
    assert "at the right edge: hardly any DRAM traffic (daxpy.blas n = 2000)" in figure.notes


@pytest.mark.parametrize(
    ("one", "note"),
    [
        (failed(), "no point for daxpy.blas n = 1000000, cold, 1 thread: no memory"),
        (
            result("stream.copy", work=0),
            "no point for stream.copy n = 1000000, cold, 1 thread: no floating-point work",
        ),
        (
            result(runtime_s=None),
            "no point for daxpy.blas n = 1000000, cold, 1 thread: its time is unknown",
        ),
        (
            result(moved=None),
            "no point for daxpy.blas n = 1000000, cold, 1 thread: its DRAM traffic is unknown",
        ),
        (
            result(moved=(16, None, None)),
            "no point for daxpy.blas n = 1000000, cold, 1 thread: its DRAM traffic is unknown",
        ),
    ],
)
def test_what_has_no_point_says_why(one, note):
    """And is not drawn at zero."""
    figure = chart_of(one, DGEMM)

    assert note in figure.notes
    assert list(points_of(one, DGEMM)) == ["dgemm.blas"]


def test_unknown_writes_leave_the_reads_known():
    """2 Mflop over 16 MB."""
    points = points_of(result(moved=(16_000_000, None, None)), direction="read")

    assert points["daxpy.blas"] == [pytest.approx((0.125, 2e9))]


def test_the_key_tells_sizes_best_performance_and_best_share():
    """At 1/12 flop/byte 53 GB/s allow 4.417 Gflop/s: 2 of them are 45 %."""
    (path,) = paths_of(SMALL, LARGE)

    assert path_summary(path, "flop") == "n = 1000–1M, 2 Gflop/s, 45\N{NO-BREAK SPACE}%"


def test_a_kernel_in_cache_is_compared_with_the_peak():
    """20 of 58.8 Gflop/s."""
    (path,) = paths_of(CACHED)

    assert path_summary(path, "flop") == "n = 100, 20 Gflop/s, 34\N{NO-BREAK SPACE}%"


def test_sizes_that_all_are_powers_of_two_are_written_so():
    """2^5 to 2^20; but 100 and 1024."""
    powers, mixed = (
        paths_of(*(result(n=n) for n in sizes))[0]
        for sizes in ((32, 1 << 20), (100, 1024, 490_000))
    )

    assert [shown_size(powers, n) for n in (32, 1 << 20)] == ["2⁵", "2²⁰"]
    assert [shown_size(mixed, n) for n in (100, 1024, 490_000)] == ["100", "1024", "490k"]


# Roofs. By hand from the streams of one core: a store moves 26.5 GB/s each way, a load 32 GB/s
# one way; a copy reads 30 GB/s and writes half as much.


@pytest.mark.parametrize(
    ("direction", "rate", "label"),
    [
        ("total", 53.0, "DRAM store 53 GB/s"),
        ("read", 32.0, "DRAM read load 32 GB/s"),
        ("write", 26.5, "DRAM write store 26.5 GB/s"),
    ],
)
def test_the_bandwidth_is_that_of_the_bytes_of_the_axis(direction, rate, label):
    """The best pattern of each direction."""
    assert slope(chart_of(LARGE, direction=direction)) == (pytest.approx(rate), label)


@pytest.mark.parametrize(
    ("direction", "ridge"), [("total", 58.8 / 53), ("read", 58.8 / 32), ("write", 58.8 / 26.5)]
)
def test_the_ridge_point_is_the_peak_over_that_bandwidth(direction, ridge):
    """58.8 Gflop/s of one core."""
    (mark,) = (mark for mark in chart_of(LARGE, direction=direction).marks if "ridge" in mark.name)

    assert mark.at == pytest.approx((ridge, 58.8e9))


def test_roofs_are_of_as_many_cores_as_threads_with_one_core_beside():
    """Two cores: 117.6 Gflop/s and 68 GB/s."""
    roofs = {
        (roof.role, roof.resource): roof.rate / 1e9
        for roof in roofs_of(2.0)
        if roof.role != "lower"
    }

    assert roofs == pytest.approx(
        {
            ("outer", "fp64"): 117.6,
            ("outer", "dram"): 68.0,
            ("beside", "fp64"): 58.8,
            ("beside", "dram"): 53.0,
        }
    )


def test_bandwidths_that_cannot_be_told_apart_are_drawn_once_and_it_is_said():
    """68 GB/s of two cores, 66 of one."""
    fast = tuple(
        replace(ceiling, rate=ceiling.rate.map(lambda rate: rate * 66 / 53))
        if ceiling.key == ("dram", "store", 1, None)
        else ceiling
        for ceiling in MACHINE.ceilings
    )
    figure = chart_of(result(threads=2), machine=replace(MACHINE, ceilings=fast))

    (beside,) = (line for line in figure.lines if line.kind == "beside")
    assert beside.name.startswith("fp64")
    assert "fewer cores reach nearly the same bandwidth, which is drawn once" in figure.notes


def test_lower_ceilings_are_a_factor_of_two_apart_and_the_lowest_stays():
    """Of 58.8, 29.4, 14.7 and 7.3 Gflop/s all are."""
    roofs = roofs_of(1.0)
    lower = [roof.rate / 1e9 for roof in roofs if roof.role == "lower"]

    assert lower == pytest.approx([29.4, 14.7, 7.3])


def test_caches_have_no_roofs_here():
    """The intensity is that of DRAM."""
    machine = machine_of_direction(MACHINE, "total")

    assert {roof.resource for roof in roofs_along(machine, "total", cores=[1.0])} == {
        "fp64",
        "dram",
    }


def test_a_machine_without_a_bandwidth_says_so():
    """Peaks alone."""
    peaks = tuple(c for c in MACHINE.ceilings if c.unit == "flop/s")
    figure = chart_of(LARGE, direction="read", machine=replace(MACHINE, ceilings=peaks))

    assert "no read bandwidth of this machine is known" in figure.notes
    assert [entry.text for entry in figure.key] == ["daxpy.blas, n = 1M, 2 Gflop/s"]


# The plane. DRAM's ridge points, flop/byte: 58.8 / 68 = 0.86 is the lowest and 235.2 / 53 = 4.4
# the highest that the frame must hold, since a roof of one core may stand in it.


def test_the_frame_is_whole_decades_of_the_machine_alone():
    """Whatever the kernels' sizes."""
    frames = {(f.x.limits, f.y.limits) for f in (chart_of(DGEMM), chart_of(CACHED))}

    assert len(frames) == 1
    assert all(math.log10(limit).is_integer() for pair in frames.pop() for limit in pair)


def test_a_point_outside_widens_the_frame_by_whole_decades():
    """1/4000 flop/byte and 0.5 Mflop/s."""
    figure = chart_of(result(work=6000, runtime_s=0.012))

    assert (figure.x.limits[0], figure.y.limits[0]) == (1e-4, 1e5)


def test_the_second_axis_is_performance_over_the_clock():
    """At 4 GHz one flop/cycle is 4 Gflop/s; every decade within the frame has a tick."""
    figure = chart_of(LARGE, clock_hz=4e9)
    ticks = {text: value for value, text in figure.right.ticks}

    assert ticks["1"] == pytest.approx(4e9)
    assert ticks["10"] == pytest.approx(40e9)
    assert all(figure.y.limits[0] <= value <= figure.y.limits[1] for value in ticks.values())
    assert figure.right.label == "Performance [flop/cycle]"


def test_without_a_clock_there_is_no_second_axis():
    """It would be a guess."""
    assert chart_of(LARGE).right is None


# Pictures.

CROWD = (
    SMALL, LARGE, CACHED, DGEMM,
    *(result("fft.ducc0", 1 << k, work=50 << k, moved=(48 << k, 16 << k, 0),
             runtime_s=(50 << k) / 3e9) for k in (5, 10, 20)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("ending", "width_in", "clock_hz"),
    [(".svg", 3.5, None), (".svg", 8.0, 3.7e9), (".png", 3.5, 3.7e9), (".pdf", 8.0, None)],
)
def test_the_same_figure_makes_the_same_bytes(ending, width_in, clock_hz, tmp_path):
    """In every format, as wide as a column and as a slide, without a second axis and with it."""
    figure = chart_of(*CROWD, clock_hz=clock_hz)
    for name in ("first", "second"):
        save(figure, tmp_path / f"{name}{ending}", width_in=width_in)
    first, second = ((tmp_path / f"{name}{ending}").read_bytes() for name in ("first", "second"))

    assert first == second


def test_every_name_and_roof_is_text_in_the_picture(tmp_path):
    """Kernels, first and last sizes, roofs with their values, notes."""
    save(chart_of(*CROWD), tmp_path / "paths.svg", width_in=8.0)
    drawn = (tmp_path / "paths.svg").read_text()
    wanted = ("daxpy.blas", "dgemm.blas", "fft.ducc0", "2⁵", "2²⁰", "DRAM store 53 GB/s",
              "fp64 FMA 512-bit 58.8 Gflop/s", "ridge points [flop/byte]: DRAM 1.1")  # fmt: skip

    assert [text for text in wanted if text not in drawn] == []


def test_no_text_on_the_plane_lies_on_another(tmp_path):
    """Measured by what matplotlib draws, at the width of a column."""
    axes = draw(chart_of(*CROWD), width_in=3.5)
    axes.figure.canvas.draw()
    inside = [text for text in axes.texts if 0 <= text.get_position()[1] <= 1]
    boxes = [t.get_window_extent() for t in inside if not t.get_rotation() % 90]

    assert len(boxes) > 8
    assert not [
        (a, b)
        for index, a in enumerate(boxes)
        for b in boxes[index + 1 :]
        if a.shrunk(0.9, 0.8).overlaps(b.shrunk(0.9, 0.8))
    ]


def test_a_line_to_the_right_edge_is_dotted_and_the_point_an_arrow():
    """Of what lies at infinity only the direction is known."""
    chart = chart_of(CACHED, LARGE)
    own = [line for line in chart.lines if line.name == "daxpy.blas"]

    assert [line.kind for line in own] == ["stem"]
    assert [mark.edge for mark in marks_of(chart)] == ["right", None]


def test_drawing_leaves_global_style_alone(tmp_path):
    """The user's settings are neither used nor changed."""
    before = dict(mpl.rcParams)
    save(chart_of(*CROWD), tmp_path / "paths.png")

    assert dict(mpl.rcParams) == before


def test_a_figure_without_any_point_is_drawn(tmp_path):
    """Its notes say why there is none."""
    save(chart_of(failed()), tmp_path / "none.svg")

    assert "no memory" in (tmp_path / "none.svg").read_text()
