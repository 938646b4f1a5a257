"""Charts of cores and nodes: what they show, and that they are drawn."""

import pytest

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.rates import ideal_machine
from ridgepoint.core.runs import Run
from ridgepoint.models.scaling import Problem, Scaling
from ridgepoint.models.scaling.case_studies import fft, matrix_product_1d
from ridgepoint.models.scaling.fits import fit_rates
from ridgepoint.models.scaling.law_fits import fit_law
from ridgepoint.models.scaling.speed_up_laws import usl
from ridgepoint.models.scaling.study import listed, scaling_study
from ridgepoint.show.charts.scaling import (
    efficiency_over_cores,
    efficiency_over_intensity,
    performance_over_cores,
    scaling_chart,
    scaling_charts,
    speed_up_over_nodes,
)
from ridgepoint.show.draw_mpl import save

NODE = ideal_machine(core_rate=8e9, memory_bytes_per_s=16e9, link_bytes_per_s=2e9, cores=8)
PRODUCT = scaling_study(
    Scaling(problem=matrix_product_1d(1e4), machine=NODE),
    cores=[8],
    nodes=range(1, 65),
    size=1e4,
    efficiency=0.8,
)
SLIDES = scaling_study(
    Scaling(
        problem=Problem(name="x = 20", operations=20e9, dram_bytes=1e9),
        machine=ideal_machine(core_rate=5e8, memory_bytes_per_s=5e8, cores=128),
    ),
    cores=range(1, 129),
    nodes=[1],
)


def fitted():
    """Return a study of an FFT whose rates come from runs."""
    scaling = Scaling(problem=fft(2.0**20), machine=NODE, network="parallel")
    runs = [
        Run(cores=q, nodes=p, time_s=Estimate(
            [scaling.bound_at(q, p).time_s * share for share in (0.97, 1.0, 1.03)]
        ))
        for q in (2, 8) for p in (1, 2, 4)
    ]  # fmt: skip
    fit = fit_rates(runs, fft, size=2.0**20, network="parallel")
    return scaling_study(fit.scaling(2.0**20), cores=[8], nodes=range(1, 9), size=2.0**20, fit=fit)


def law():
    """Return a study of a law, with its optimum at 30 processors."""
    runs = [
        Run(cores=1, nodes=n, time_s=Estimate([10 / usl(n, contention=0.1, coherence=0.001)]))
        for n in (1, 2, 4, 8, 16)
    ]
    fit = fit_law(runs, "usl")
    return scaling_study(fit.scaling(1.0), cores=[1], nodes=range(1, 65), fit=fit)


def test_the_optimum_and_what_keeps_the_efficiency_are_marked():
    """9 nodes with a speed-up of 37.3754; 4 nodes with one of 27.6243."""
    marks = speed_up_over_nodes(PRODUCT).marks

    assert [mark.label.text for mark in marks] == ["optimum: 9", "efficiency 0.8: 4"]
    assert [mark.at[0] for mark in marks] == [9, 4]
    assert [mark.at[1] for mark in marks] == pytest.approx([37.3754, 27.6243], abs=5e-5)


def test_speed_up_is_shown_for_both_networks_and_below_all_cores():
    """Its curve begins and ends as the table does."""
    shared, parallel, ideal = speed_up_over_nodes(PRODUCT).lines

    assert shared.places[0] == pytest.approx((1, 7.9618), abs=5e-5)
    assert shared.places[-1] == pytest.approx((64, 9.7312), abs=5e-5)
    assert (parallel.kind, parallel.places[-1][1]) == ("level", pytest.approx(282.6855, abs=5e-5))
    assert (ideal.kind, ideal.places[-1][1]) == ("limit", pytest.approx(512))


def test_performance_of_the_slides_meets_its_limits_at_q_equal_x():
    """The roofline's knee at 20 cores and 10 GFLOP/s."""
    chart = performance_over_cores(SLIDES)

    assert [mark.at for mark in chart.marks] == [pytest.approx((20, 10e9))]
    assert [line.name for line in chart.lines] == [
        "no overlap", "full overlap", "all cores compute", "memory, x = 20"
    ]  # fmt: skip
    assert chart.lines[0].places[-1][1] == pytest.approx(8.648649e9, rel=1e-6)
    assert chart.lines[1].places[-1][1] == pytest.approx(10e9)


def test_efficiency_is_shown_for_several_intensities_and_the_problems_own():
    """(1 + x)/(q + x) at 128 cores."""
    lines = efficiency_over_cores(SLIDES).lines

    assert [line.label.text for line in lines] == ["x = 1", "x = 5", "x = 20", "x = 100"]
    assert [line.kind for line in lines] == ["level", "level", "curve", "level"]
    assert [line.places[-1][1] for line in lines] == pytest.approx(
        [2 / 129, 6 / 133, 21 / 148, 101 / 228]
    )


def test_lines_of_one_efficiency_lie_where_the_formula_has_it():
    """(1 + x)/(q + x) everywhere along a line; the problem is on the plane."""
    chart = efficiency_over_intensity(SLIDES)

    assert (chart.x.limits[1], *chart.y.limits) == pytest.approx((128, 1, 100))
    for line in chart.lines:
        share = float(line.name.removeprefix("efficiency "))
        assert [(1 + x) / (q + x) for q, x in line.places] == pytest.approx(
            [share] * len(line.places)
        )
    assert [mark.at for mark in chart.marks] == [pytest.approx((128, 20))]


def test_a_fit_is_shown_with_its_runs_and_its_interval():
    """Runs on as many cores as are drawn: three of them, with their quartiles."""
    chart = speed_up_over_nodes(fitted())
    curve = chart.lines[0]
    runs = [mark for mark in chart.marks if mark.y_interval]

    assert [run.at[0] for run in runs] == [1, 2, 4]
    assert all(run.y_interval[0] < run.at[1] < run.y_interval[1] for run in runs)
    assert all(
        low <= y <= high
        for low, (_, y), high in zip(curve.low, curve.places, curve.high, strict=True)
    )
    assert [entry.text for entry in chart.key] == [
        "a link for each node, 95 % interval of the fit", "measured: median, quartiles"
    ]  # fmt: skip


def test_a_law_is_shown_over_processors():
    """Its optimum is at sqrt(0.9/0.001) = 30."""
    chart = scaling_chart(law(), law=True)

    assert [mark.label.text for mark in chart.marks if mark.label] == ["optimum: 30"]
    assert chart.x.label == "Processors"
    assert [mark.at[0] for mark in chart.marks if mark.y_interval] == [1, 2, 4, 8, 16]


@pytest.mark.parametrize(
    ("study", "is_law", "names"),
    [
        (PRODUCT, False, {"performance_over_cores", "efficiency_over_cores", "efficiency_surface",
                          "speed_up_over_nodes", "efficiency_over_nodes"}),
        (SLIDES, False, {"performance_over_cores", "efficiency_over_cores", "efficiency_surface"}),
        (law(), True, {"speed_up_over_nodes", "efficiency_over_nodes"}),
    ],
)  # fmt: skip
def test_every_figure_is_drawn_and_again_with_the_same_bytes(tmp_path, study, is_law, names):
    """Of a problem on nodes, of one on cores, of a law."""
    charts = scaling_charts(study, law=is_law)

    assert set(charts) == names
    for name, chart in charts.items():
        save(chart, tmp_path / f"{name}.svg")
        save(chart, tmp_path / "again.svg")
        drawn = (tmp_path / f"{name}.svg").read_bytes()
        assert chart.title.encode() in drawn
        assert (tmp_path / "again.svg").read_bytes() == drawn


def test_few_numbers_are_listed_all_and_many_by_powers_of_two():
    """The ends are always there."""
    assert listed([3, 5, 7]) == [3, 5, 7]
    assert listed(range(3, 40)) == [3, 4, 8, 16, 32, 39]


def test_what_is_far_beyond_the_runs_is_doubted():
    """32 cores were measured; 512 are predicted."""
    study = fitted()
    far = scaling_study(study.scaling, cores=[8], nodes=[1, 64], fit=study.fit)

    assert "extrapolated" not in [caution.code for caution in study.cautions]
    assert "extrapolated" in [caution.code for caution in far.cautions]
