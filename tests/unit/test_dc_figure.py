"""The DC-Roofline as a figure: placed by hand-derived numbers, drawn without a label lost."""

import re
from dataclasses import replace

import pytest

from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling
from ridgepoint.published.machines import load
from ridgepoint.show.charts.dc_plane import WorkloadPoint
from ridgepoint.show.charts.dc_roofline import dc_figure, dc_panel, published_points
from ridgepoint.show.charts.dc_roofline_mpl import save

E5645 = load("e5645-prefetch")
OF_BOP, OF_FLOP = published_points()
PUBLISHED = dc_figure(E5645, OF_BOP, flop_points=OF_FLOP)


def point(name="Sort", form="original", bop=8e9, flop=0.0, dram_bytes=1e9, seconds=(2.0,)):
    """Return a workload of one run."""
    return WorkloadPoint(
        name=name, form=form, bop=bop, flop=flop, dram_bytes=dram_bytes, runtime_s=Estimate(seconds)
    )


def of(panel, name):
    """Return a workload of a panel."""
    return next(workload for workload in panel.workloads if workload.name == name)


def measured(*ceilings):
    """Return a measured machine of two cores."""
    units = {"bop": "BOP/s", "fp64": "flop/s", "dram": "byte/s"}
    return replace(
        E5645,
        source=None,
        host=replace(E5645.host, cores=2),
        ceilings=tuple(
            Ceiling(
                resource=resource, name=name, threads=2, unit=units[resource],
                rate=Estimate([rate]), read_share=read, write_share=None if read is None else 0.0,
            )
            for resource, name, rate, read in ceilings
        ),
    )  # fmt: skip


MEASURED = measured(
    ("bop", "mixed 512-bit", 300e9, None),
    ("bop", "mixed scalar", 64e9, None),
    ("bop", "add scalar", 38e9, None),
    ("bop", "dependent scalar", 7.5e9, None),
    ("fp64", "fma+add 512-bit", 280e9, None),
    ("fp64", "fma scalar", 28e9, None),
    ("dram", "load", 60e9, 1.0),
    ("dram", "gather", 6e9, 5.0),
)


def test_published_workloads_stand_where_the_paper_puts_them():
    """Sort at 11.7 BOP/byte and 8.8 GBOP/s, then at 14.6 and 13.2; in flop it stays."""
    before, after = of(PUBLISHED.bop, "Sort").marks

    assert before.at == pytest.approx((11.7, 8.8e9), rel=1e-12)
    assert after.at == pytest.approx((14.6, 13.2e9), rel=1e-12)
    assert (before.form, after.form) == ("original", "optimised")
    assert [mark.at for mark in of(PUBLISHED.flop, "Sort").marks] == [
        pytest.approx((0.01, 1e7), rel=1e-12)
    ] * 2


def test_the_bottleneck_changes_with_the_work_that_is_counted():
    """Four of six are bound by calculation in BOPs, and all by memory in flop, as in the paper."""
    in_bop = {w.name: w.summary.rpartition(", ")[2] for w in PUBLISHED.bop.workloads}
    in_flop = {w.summary.rpartition(", ")[2] for w in PUBLISHED.flop.workloads}

    assert {name for name, word in in_bop.items() if word == "memory access"} == {
        "Grep",
        "WordCount",
    }
    assert set(in_bop.values()) == {"calculation", "memory access"}
    assert in_flop == {"memory access"}


def test_published_roofs_have_the_paper_s_values():
    """Peak, SIMD and ILP ceilings, the bandwidth with and without prefetching; the ridge 6.26."""
    labels = [roof.label for roof in PUBLISHED.bop.roofs]
    (ridge,) = PUBLISHED.bop.ridges

    assert labels == [
        "peak 86.4 GBOP/s",
        "DRAM prefetching 13.8 GB/s",
        "with SIMD 43.2 GBOP/s",
        "with ILP, no SIMD 21.6 GBOP/s",
        "DRAM no prefetching 13.2 GB/s",
    ]
    assert ridge.at == pytest.approx((86.4 / 13.8, 86.4e9), rel=1e-12)


def test_lower_roofs_meet_the_outer_ones():
    """21.6 GBOP/s begins at 21.6 / 13.8; 13.2 GB/s ends at 86.4 / 13.2 BOP/byte."""
    ilp, without = PUBLISHED.bop.roofs[3:]

    assert ilp.start == pytest.approx((21.6 / 13.8, 21.6e9), rel=1e-12)
    assert without.end == pytest.approx((86.4 / 13.2, 86.4e9), rel=1e-12)


def test_everything_lies_within_the_frame():
    """Points, ridges and ceilings, in both panels."""
    for panel in (PUBLISHED.bop, PUBLISHED.flop):
        places = [mark.at for workload in panel.workloads for mark in workload.marks]
        places += [end for roof in panel.roofs for end in (roof.start, roof.end)]

        assert all(panel.x_limits[0] <= x <= panel.x_limits[1] for x, _ in places)
        assert all(panel.y_limits[0] <= y <= panel.y_limits[1] for _, y in places)
        assert all(panel.x_limits[0] <= tick <= panel.x_limits[1] for tick, _ in panel.x_ticks)


def test_measured_ceilings_are_called_by_what_the_code_lacks():
    """Gather moves five bytes for each that it counts: 30 GB/s without prefetching."""
    figure = dc_figure(MEASURED, [point()])

    assert [roof.label for roof in figure.bop.roofs] == [
        "peak 300 GBOP/s",
        "DRAM prefetching 60 GB/s",
        "no SIMD 64 GBOP/s",
        "no SIMD, no ILP 7.5 GBOP/s",
        "DRAM no prefetching 30 GB/s",
    ]
    assert (
        "no SIMD: BOP mixed scalar, fp64 fma scalar; no SIMD, no ILP: BOP dependent scalar; "
        "no prefetching: DRAM gather"
    ) in figure.notes


def test_fewer_busy_cores_have_lower_roofs():
    """Those that one core reached: 150 GBOP/s, 40 GB/s, and 32 GBOP/s without SIMD."""
    rates = {"mixed 512-bit": 150e9, "mixed scalar": 32e9, "load": 40e9}
    alone = tuple(
        replace(ceiling, threads=1, rate=Estimate([rates[ceiling.name]]))
        for ceiling in MEASURED.ceilings
        if ceiling.name in rates
    )
    machine = replace(MEASURED, ceilings=(*MEASURED.ceilings, *alone))
    panel = dc_panel(machine, [point()], work="bop", cores=1)

    assert [roof.rate for roof in panel.roofs[:3]] == [150e9, 40e9, 32e9]
    assert panel.subtitle.endswith("1 core")


def test_performance_has_quartiles_and_a_share_of_what_is_attainable():
    """8e9 BOPs in 1, 2 and 4 s: 4e9 BOP/s of 8 BOP/byte x 60 GB/s or 300e9."""
    (workload,) = dc_panel(MEASURED, [point(seconds=(1.0, 2.0, 4.0))], work="bop").workloads
    (mark,) = workload.marks

    assert mark.at == (8.0, 4e9)
    assert mark.low < 4e9 < mark.high
    assert workload.summary == "4 GBOP/s (1.3 % of attainable), calculation"


def test_work_that_is_not_done_has_no_point():
    """A program without flop is in one panel alone, and the key says so."""
    figure = dc_figure(MEASURED, [point(flop=0.0)])

    assert of(figure.flop, "Sort").marks == ()
    assert of(figure.flop, "Sort").summary == "none"


def test_without_traffic_a_workload_stands_at_the_right_edge():
    """Its intensity is infinite: calculation bounds it, and a note says why it stands there."""
    figure = dc_figure(MEASURED, [point(dram_bytes=0.0)])
    (mark,) = of(figure.bop, "Sort").marks

    assert mark.is_beyond
    assert mark.at == (figure.bop.x_limits[1], 4e9)
    assert of(figure.bop, "Sort").summary.endswith("calculation")
    assert "at the right edge, no DRAM traffic: Sort" in figure.notes


def test_a_form_given_twice_is_refused():
    """Which of both would be drawn is anyone's guess."""
    with pytest.raises(ValueError, match=re.escape("('Sort', 'original')")):
        dc_figure(MEASURED, [point(), point()])


def test_a_machine_without_bandwidth_cannot_be_drawn():
    """The D510's is not published."""
    with pytest.raises(UnknownCeiling, match="dram"):
        dc_panel(load("d510"), [point()], work="bop")


@pytest.mark.parametrize("width_in", [3.5, 8.0])
def test_the_picture_names_every_workload_and_roof(tmp_path, width_in):
    """At a column's width and at a slide's, nothing is left out for want of room."""
    save(PUBLISHED, tmp_path / "dc.svg", width_in=width_in)
    text = (tmp_path / "dc.svg").read_text()

    assert all(text.count(f">{w.name}<") == 2 for w in PUBLISHED.bop.workloads)
    assert all(f">{roof.label}<" in text for roof in PUBLISHED.bop.roofs)
    assert "for want of room" not in text
    assert "hollow: original, filled: optimised" in text


def test_the_same_figure_makes_the_same_bytes(tmp_path):
    """A picture under version control changes when it changes."""
    for name in ("a.svg", "b.svg"):
        save(PUBLISHED, tmp_path / name)

    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
