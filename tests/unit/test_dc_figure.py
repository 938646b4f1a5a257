"""The DC-Roofline as a figure: placed by hand-derived numbers, drawn without a label lost."""

import re
from dataclasses import replace

import pytest
from chart_reading import marks_of, rate_of

from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling
from ridgepoint.published.machines import load
from ridgepoint.show.charts.dc_roofline import dc_chart, dc_page
from ridgepoint.show.draw_mpl import save
from ridgepoint.suites.datacenter.points import WorkloadPoint, published_points

E5645 = load("e5645-prefetch")
OF_BOP, OF_FLOP = published_points()
PUBLISHED = dc_page(E5645, OF_BOP, flop_points=OF_FLOP)
IN_BOP, IN_FLOP = PUBLISHED.charts
NAMES = list(dict.fromkeys(point.name for point in OF_BOP))


def point(name="Sort", form="original", bop=8e9, flop=0.0, dram_bytes=1e9, seconds=(2.0,)):
    """Return a workload of one run."""
    return WorkloadPoint(
        name=name, form=form, bop=bop, flop=flop, dram_bytes=dram_bytes, runtime_s=Estimate(seconds)
    )


def roofs_of(chart):
    """Return the roofs of a chart."""
    return [line for line in chart.lines if line.kind in ("roof", "lower")]


def summaries(page):
    """Return what the key says of each workload, in BOP and in flop."""
    named = (entry.text.partition(": ") for entry in page.key)
    return {name: tuple(text.split("; in flop: ")) for name, _, text in named}


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
    before, after = marks_of(IN_BOP, "Sort")

    assert before.at == pytest.approx((11.7, 8.8e9), rel=1e-12)
    assert after.at == pytest.approx((14.6, 13.2e9), rel=1e-12)
    assert (before.face, after.face) == ("hollow", "full")
    assert [mark.at for mark in marks_of(IN_FLOP, "Sort")] == [
        pytest.approx((0.01, 1e7), rel=1e-12)
    ] * 2


def test_the_bottleneck_changes_with_the_work_that_is_counted():
    """Four of six are bound by calculation in BOPs, and all by memory in flop, as in the paper."""
    said = {
        name: [text.rpartition(", ")[2] for text in texts]
        for name, texts in summaries(PUBLISHED).items()
    }
    in_bop = {name: word for name, (word, _) in said.items()}
    in_flop = {word for _, word in said.values()}

    assert {name for name, word in in_bop.items() if word == "memory access"} == {
        "Grep",
        "WordCount",
    }
    assert set(in_bop.values()) == {"calculation", "memory access"}
    assert in_flop == {"memory access"}


def test_published_roofs_have_the_paper_s_values():
    """Peak, SIMD and ILP ceilings, the bandwidth with and without prefetching; the ridge 6.26."""
    labels = [roof.label.text for roof in roofs_of(IN_BOP)]
    (ridge,) = (mark for mark in IN_BOP.marks if "ridge" in mark.name)

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
    ilp, without = roofs_of(IN_BOP)[3:]

    assert ilp.places[0] == pytest.approx((21.6 / 13.8, 21.6e9), rel=1e-12)
    assert without.places[1] == pytest.approx((86.4 / 13.2, 86.4e9), rel=1e-12)


def test_everything_lies_within_the_frame():
    """Points, ridges and ceilings, in both panels."""
    for chart in PUBLISHED.charts:
        places = [mark.at for mark in chart.marks]
        places += [place for line in chart.lines for place in line.places]
        (left, right), (bottom, top) = chart.x.limits, chart.y.limits

        assert all(left <= x <= right for x, _ in places)
        assert all(bottom <= y <= top for _, y in places)
        assert all(left <= tick <= right for tick, _ in chart.x.ticks)


def test_measured_ceilings_are_called_by_what_the_code_lacks():
    """Gather moves five bytes for each that it counts: 30 GB/s without prefetching."""
    page = dc_page(MEASURED, [point()])

    assert [roof.label.text for roof in roofs_of(page.charts[0])] == [
        "peak 300 GBOP/s",
        "DRAM prefetching 60 GB/s",
        "no SIMD 64 GBOP/s",
        "no SIMD, no ILP 7.5 GBOP/s",
        "DRAM no prefetching 30 GB/s",
    ]
    assert (
        "no SIMD: BOP mixed scalar, fp64 fma scalar; no SIMD, no ILP: BOP dependent scalar; "
        "no prefetching: DRAM gather"
    ) in page.notes


def test_fewer_busy_cores_have_lower_roofs():
    """Those that one core reached: 150 GBOP/s, 40 GB/s, and 32 GBOP/s without SIMD."""
    rates = {"mixed 512-bit": 150e9, "mixed scalar": 32e9, "load": 40e9}
    alone = tuple(
        replace(ceiling, threads=1, rate=Estimate([rates[ceiling.name]]))
        for ceiling in MEASURED.ceilings
        if ceiling.name in rates
    )
    machine = replace(MEASURED, ceilings=(*MEASURED.ceilings, *alone))
    chart = dc_chart(machine, [point()], work="bop", cores=1)

    rates = [rate_of(roof) for roof in roofs_of(chart)[:3]]
    assert rates == pytest.approx([150e9, 40e9, 32e9])
    assert chart.subtitle.endswith("1 core")


def test_performance_has_quartiles_and_a_share_of_what_is_attainable():
    """8e9 BOPs in 1, 2 and 4 s: 4e9 BOP/s of 8 BOP/byte x 60 GB/s or 300e9."""
    page = dc_page(MEASURED, [point(seconds=(1.0, 2.0, 4.0))])
    (mark,) = marks_of(page.charts[0], "Sort")

    assert mark.at == (8.0, 4e9)
    assert mark.y_interval[0] < 4e9 < mark.y_interval[1]
    assert summaries(page)["Sort"][0] == "4 GBOP/s (1.3 % of attainable), calculation"


def test_every_step_has_a_mark_and_a_line_from_the_step_before():
    """Prefetches and vectors both go on from what the compiler made."""
    rates = {"original": 8.0, "ILP": 4.0, "prefetch": 3.0, "SIMD": 1.0}
    chart = dc_page(MEASURED, [point(form=form, seconds=(t,)) for form, t in rates.items()]).charts[
        0
    ]
    marks = {mark.summary: mark for mark in marks_of(chart, "Sort")}
    changes = [line.places for line in chart.lines if line.kind == "change"]

    assert {form: mark.face for form, mark in marks.items()} == {
        "original": "hollow", "ILP": "pale", "prefetch": "hatched", "SIMD": "full",
    }  # fmt: skip
    assert changes == [
        (marks["original"].at, marks["ILP"].at),
        (marks["ILP"].at, marks["prefetch"].at),
        (marks["ILP"].at, marks["SIMD"].at),
    ]
    assert [line.label is not None for line in chart.lines if line.kind == "change"] == [
        True, False, False,
    ]  # fmt: skip


def test_work_that_is_not_done_has_no_point():
    """A program without flop is in one panel alone, and the key says so."""
    page = dc_page(MEASURED, [point(flop=0.0)])

    assert marks_of(page.charts[1], "Sort") == []
    assert summaries(page)["Sort"][1] == "none"


def test_without_traffic_a_workload_stands_at_the_right_edge():
    """Its intensity is infinite: calculation bounds it, and a note says why it stands there."""
    page = dc_page(MEASURED, [point(dram_bytes=0.0)])
    (mark,) = marks_of(page.charts[0], "Sort")

    assert mark.edge == "right"
    assert mark.at == (page.charts[0].x.limits[1], 4e9)
    assert summaries(page)["Sort"][0].endswith("calculation")
    assert "at the right edge, no DRAM traffic: Sort" in page.notes


def test_a_form_given_twice_is_refused():
    """Which of both would be drawn is anyone's guess."""
    with pytest.raises(ValueError, match=re.escape("('Sort', 'original')")):
        dc_page(MEASURED, [point(), point()])


def test_a_machine_without_bandwidth_cannot_be_drawn():
    """The D510's is not published."""
    with pytest.raises(UnknownCeiling, match="dram"):
        dc_chart(load("d510"), [point()], work="bop")


@pytest.mark.parametrize("width_in", [3.5, 8.0])
def test_the_picture_names_every_workload_and_roof(tmp_path, width_in):
    """At a column's width and at a slide's, nothing is left out for want of room."""
    save(PUBLISHED, tmp_path / "dc.svg", width_in=width_in)
    text = (tmp_path / "dc.svg").read_text()

    assert all(text.count(f">{name}<") == 2 for name in NAMES)
    assert all(f">{roof.label.text}<" in text for roof in roofs_of(IN_BOP))
    assert "for want of room" not in text
    assert "original (hollow), optimised (full)" in text


def test_the_same_figure_makes_the_same_bytes(tmp_path):
    """A picture under version control changes when it changes."""
    for name in ("a.svg", "b.svg"):
        save(PUBLISHED, tmp_path / name)

    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
