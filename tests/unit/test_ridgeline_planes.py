"""Planes of the Ridgeline: regions by the bound itself, lines by their performance, more links."""

import math

import numpy as np
import pytest
from core_inputs import ceiling, machine_of
from hypothesis import assume, given
from hypothesis import strategies as st

from ridgepoint.core.bound import bound
from ridgepoint.core.demand import Demand
from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.demands.training import TrainingStep
from ridgepoint.models.derived import nodes_together, with_link
from ridgepoint.models.ridgeline import Ridgeline
from ridgepoint.models.ridgeline.plane import PLANES, planes_of
from ridgepoint.models.ridgeline.trajectories import (
    Amounts,
    point_trajectory,
    training_trajectories,
)
from ridgepoint.published.machines import load
from ridgepoint.show.charts.ridgeline import ridgeline_page, times_chart
from ridgepoint.show.charts.ridgeline_paper import save_all
from ridgepoint.show.charts.ridgeline_plane import edges, region_corners, ridgeline_chart

CLX = load("cascade-lake")
TIERED = with_link(with_link(CLX, "remote", 50e9), "storage", 2e9)
PAPER = Ridgeline(machines=(CLX,), work="fp32")
FIVE = Ridgeline(machines=(TIERED,), work="fp32")
POINTS = {
    "dense": Amounts(2e12, 12e9, 80e6),
    "tiered": Amounts(1e12, 6e9, 1e9, remote_bytes=40e9),
    "read": Amounts(2e12, 12e9, 1e9, storage_bytes=30e9),
}

planes = st.sampled_from(list(PLANES.values()))
logs = st.floats(-3, 3)
overlaps = st.sampled_from(["full", "none", 2.5])
rates = st.floats(1e6, 1e15)


# --- the planes -----------------------------------------------------------------------------------


def test_the_plane_over_network_intensity_has_the_paper_s_ridge_point():
    """I_N* is 350, I_A* 40; the borders meet there."""
    plane = PLANES["I_N"]

    assert plane.ridge(PAPER) == (350.0, 40.0)
    assert PLANES["I_M"].ridge(PAPER) == (8.75, 40.0)
    assert all((350.0, 40.0) in line.places for line in edges(PAPER, ((1, 1e4), (1, 1e4)), plane))


def test_the_ridges_of_remote_memory_and_storage():
    """4.2 Tflop/s over 50 GB/s and over 2 GB/s."""
    assert PLANES["I_R"].ridge(FIVE) == (84.0, 40.0)
    assert PLANES["I_S"].ridge(FIVE) == (2100.0, 40.0)
    assert [plane.name for plane in planes_of(FIVE)] == ["I_M", "I_N", "I_R", "I_S"]
    assert [plane.name for plane in planes_of(PAPER)] == ["I_M", "I_N"]


@given(planes, logs, logs)
def test_each_place_lies_in_the_region_of_what_bounds_it(plane, right, up):
    """By dividing the amounts of a flop there by the rates."""
    x, y = (centre * 10**log for centre, log in zip(plane.ridge(FIVE), (right, up), strict=True))
    link = {"network": 12e9, "remote memory": 50e9, "storage": 2e9}[plane.link]
    link_bytes = 1 / x if plane.is_of_work else 1 / (x * y)
    times = {"compute": 1 / 4.2e12, "memory": 1 / y / 105e9, plane.link: link_bytes / link}
    first, second, _ = sorted(times.values(), reverse=True)
    assume(first > second * (1 + 1e-9))

    ridge = [math.log10(value) for value in plane.ridge(FIVE)]
    inside = [
        region
        for region, keeps in plane.inequalities(*ridge).items()
        if all(keep(math.log10(x), math.log10(y)) >= 0 for keep in keeps)
    ]
    assert inside == [max(times, key=times.get)]
    assert plane.attainable(FIVE, x, y) == pytest.approx(1 / first)


@given(planes, st.floats(0.01, 0.99), overlaps)
def test_along_a_line_performance_is_what_it_says(plane, share, overlap):
    """Place by place, by the bound of a flop."""
    own = Ridgeline(machines=(TIERED,), work="fp32", overlap=overlap)
    x, y = plane.line_of(own, share * own.peak, (1e-3, 1e6), 50)

    assert np.asarray(plane.attainable(own, x, y)) == pytest.approx(share * own.peak, rel=1e-9)


@pytest.mark.parametrize("name", PLANES)
def test_regions_fill_a_plane_and_do_not_overlap(name):
    """On logarithmic axes their areas add up to the frame's."""
    limits = ((1e-2, 1e5), (1e-1, 1e4))
    areas = [
        abs(
            sum(
                math.log10(a[0]) * math.log10(b[1]) - math.log10(b[0]) * math.log10(a[1])
                for a, b in zip(own, (*own[1:], own[0]), strict=True)
            )
        )
        / 2
        for own in region_corners(FIVE, limits, PLANES[name]).values()
    ]

    assert len(areas) == 3
    assert sum(areas) == pytest.approx(7 * 5)


def test_both_planes_show_the_paper_s_steps_in_the_same_regions():
    """Moved sideways by their arithmetic intensity."""
    study = training_trajectories(PAPER, TrainingStep(layers=(4096, 4096)), batch=[16, 512, 1024])
    first, second = (ridgeline_chart(PAPER, study, plane=PLANES[n])[0] for n in ("I_M", "I_N"))

    assert [mark.ink for mark in second.marks] == ["network", "compute", "compute"]
    assert [mark.ink for mark in first.marks] == [mark.ink for mark in second.marks]
    for one, other in zip(first.marks, second.marks, strict=True):
        assert other.at == pytest.approx((one.at[0] * one.at[1], one.at[1]))
    assert [mark.at[0] for mark in second.marks] == pytest.approx([12, 384, 768])


# --- more resources -------------------------------------------------------------------------------


@given(st.lists(st.one_of(st.just(0.0), st.floats(1, 1e12)), min_size=5, max_size=5), overlaps)
def test_five_resources_are_bounded_by_the_core(amounts, overlap):
    """Each by its own rate."""
    assume(sum(amounts))
    names = ("fp32", "dram", "network", "remote", "storage")
    own = Ridgeline(machines=(TIERED,), work="fp32", overlap=overlap)
    placed = point_trajectory(own, {"a": Amounts(*amounts)}).placed
    expected = bound(Demand(dict(zip(names, amounts, strict=True))), TIERED, overlap=overlap)

    assert placed.time_s[0] == pytest.approx(expected.time_s)
    divided = [a / r for a, r in zip(amounts, (4.2e12, 105e9, 12e9, 50e9, 2e9), strict=True)]
    assert [float(each[0]) for each in placed.times_s.values()] == pytest.approx(divided)


def test_a_point_is_limited_by_what_the_plane_does_not_show():
    """30 GB of storage at 2 GB/s take 15 s; its mark says so on the plane of the network."""
    placed = point_trajectory(FIVE, POINTS)
    chart, _ = ridgeline_chart(FIVE, [placed])

    assert placed.placed.limiters == [("compute",), ("remote memory",), ("storage",)]
    assert [mark.ink for mark in chart.marks] == ["compute", "remote memory", "storage"]
    assert [entry.text for entry in chart.key] == [
        "remote-memory-bound, which has no region on this plane",
        "storage-bound, which has no region on this plane",
    ]
    own, _ = ridgeline_chart(FIVE, [placed], plane=PLANES["I_S"])
    assert [entry.text for entry in own.key] == [
        "remote-memory-bound, which has no region on this plane"
    ]
    assert {line.name for line in times_chart(FIVE, placed).lines} == {
        "compute", "memory", "network", "remote memory", "storage",
    }  # fmt: skip


def test_what_a_machine_lacks_is_not_guessed():
    """Storage is asked for, and there is no ceiling."""
    with pytest.raises(UnknownCeiling, match="storage"):
        point_trajectory(PAPER, {"read": POINTS["read"]})
    assert point_trajectory(PAPER, {"dense": POINTS["dense"]}).placed.regions == PAPER.regions
    with pytest.raises(ValueError, match="must be one of"):
        with_link(CLX, "dram", 1e9)
    with pytest.raises(ValueError, match="link must be"):
        PAPER.attainable(1.0, 1.0, link="memory")


@given(rates, st.integers(1, 8))
def test_links_of_nodes_together_add_up_and_are_no_faster_for_more_cores(rate, nodes):
    """Each node has its own, which one core can use up."""
    node = machine_of(ceiling("fp64", 1e9), ceiling("fp64", 4e9, threads=4), cores=4)
    both = nodes_together(with_link(with_link(node, "storage", rate), "remote", 2 * rate), nodes)

    assert both.rate("storage", cores=1) == pytest.approx(nodes * rate)
    assert both.rate("remote", cores=4 * nodes) == pytest.approx(2 * nodes * rate)


def test_the_folder_of_figures_has_every_plane(tmp_path):
    """The paper's and one for each other link."""
    save_all(FIVE, [point_trajectory(FIVE, POINTS)], (), tmp_path)

    assert {"I_N.svg", "I_R.svg", "I_S.svg", "6.svg"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("name", PLANES)
def test_every_plane_can_be_drawn(name, tmp_path):
    """With all resources and points beyond its edges."""
    from ridgepoint.show.draw_mpl import save

    page = ridgeline_page(FIVE, [point_trajectory(FIVE, POINTS)], plane=name)
    save(page, tmp_path / "plane.svg")

    text = (tmp_path / "plane.svg").read_text()
    assert "compute-bound" in text
    assert f"{PLANES[name].link.replace(' ', '-')}-bound" in text


def test_an_unknown_plane_is_refused():
    """With those there are."""
    with pytest.raises(ValueError, match="I_M, I_N, I_R, I_S"):
        ridgeline_page(FIVE, [point_trajectory(FIVE, POINTS)], plane="I_X")
