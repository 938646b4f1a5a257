"""Fits to runs that were made up from known rates, so that the truth is known."""

import numpy as np
import pytest

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.rates import ideal_machine
from ridgepoint.core.runs import Run
from ridgepoint.models.scaling import Problem, Scaling
from ridgepoint.models.scaling.case_studies import fft, matrix_product_1d, scalar_product
from ridgepoint.models.scaling.fits import fit_rates
from ridgepoint.models.scaling.fitting import CannotFit
from ridgepoint.models.scaling.law_fits import fit_law
from ridgepoint.models.scaling.speed_up_laws import usl

RATES = {"core rate": 8e9, "memory bandwidth": 16e9, "link bandwidth": 2e9}
NODE = ideal_machine(core_rate=8e9, memory_bytes_per_s=16e9, link_bytes_per_s=2e9, cores=8)
N = 2.0**24
GRID = [(q, p) for q in (1, 2, 4, 8) for p in (1, 2, 4, 8)]


def made_up(seed, *, noise=0.01, repeats=5, settings=GRID, problem=fft, size=N, **options):
    """Return runs of an ideal machine's times, with noise of a share of them."""
    random = np.random.default_rng(seed)
    scaling = Scaling(problem=problem(size), machine=NODE, network="parallel", **options)
    return [
        Run(
            cores=q,
            nodes=p,
            time_s=Estimate(
                scaling.bound_at(q, p).time_s * (1 + noise * random.standard_normal(repeats))
            ),
        )
        for q, p in settings
    ]


def by_law(
    seed,
    *,
    contention,
    coherence,
    noise=0.01,
    repeats=4,
    processors=(1, 2, 4, 8, 12, 16, 24, 32, 48),
):
    """Return runs of a problem of 10 s by Gunther's law."""
    random = np.random.default_rng(seed)
    return [
        Run(
            cores=1,
            nodes=n,
            time_s=Estimate(
                10 / usl(n, contention=contention, coherence=coherence)
                * (1 + noise * random.standard_normal(repeats))
            ),
        )
        for n in processors
    ]  # fmt: skip


def codes(fit):
    """Return what is doubted."""
    return [caution.code for caution in fit.cautions]


# --- rates --------------------------------------------------------------------------------------


@pytest.mark.parametrize("overlap", ["none", "full", 3.0])
def test_exact_runs_give_the_rates_that_made_them(overlap):
    """8 GFLOP/s, 16 GB/s and 2 GB/s, whatever overlaps."""
    runs = made_up(0, noise=0, repeats=1, overlap=overlap)
    fit = fit_rates(runs, fft, size=N, network="parallel", overlap=overlap)

    assert {one.name: one.value for one in fit.parameters} == pytest.approx(RATES, rel=1e-6)
    assert codes(fit) == ["no-repeats"]


def test_without_overlap_the_fit_is_linear_least_squares():
    """NumPy's solution of the normal equations, and its covariance."""
    runs = made_up(1, repeats=1)
    times = np.array([run.time_s.median for run in runs])
    q, p = np.array(GRID).T
    network = 48 * N * (p - 1) / p / p
    columns = np.stack([5 * N * 24 / (q * p), 64 * N / p, network], axis=1) / times[:, None]
    seconds, squares, _, _ = np.linalg.lstsq(columns, np.ones(16), rcond=None)
    errors = np.sqrt(np.diag(np.linalg.inv(columns.T @ columns)) * squares[0] / 13)

    fit = fit_rates(runs, fft, size=N, network="parallel")

    assert [one.value for one in fit.parameters] == pytest.approx(1 / seconds, rel=1e-6)
    assert [one.standard_error for one in fit.parameters] == pytest.approx(
        errors / seconds**2, rel=1e-4
    )
    # 2.1604: Student's t for 13 degrees of freedom and 95 %.
    assert [one.low for one in fit.parameters] == pytest.approx(
        1 / (seconds + 2.1604 * errors), rel=1e-5
    )
    assert [one.high for one in fit.parameters] == pytest.approx(
        1 / (seconds - 2.1604 * errors), rel=1e-5
    )


@pytest.fixture(scope="module")
def fits():
    """Give 100 fits of the right model to runs with noise."""
    return [fit_rates(made_up(seed), fft, size=N, network="parallel") for seed in range(100)]


def test_95_of_100_intervals_hold_the_truth(fits):
    """Of 3 rates in 100 fits; by chance 285 of 300, and hardly ever fewer than 270."""
    held = sum(one.low <= RATES[one.name] <= one.high for fit in fits for one in fit.parameters)

    assert 270 <= held <= 299


def test_where_the_model_holds_chi_square_is_about_one_and_nothing_is_doubted(fits):
    """Of 100 fits, each doubt may be raised about once."""
    assert np.mean([fit.solution.chi_square for fit in fits]) == pytest.approx(1, abs=0.15)
    assert sum(bool(fit.cautions) for fit in fits) <= 6


def test_one_disturbed_repeat_hides_no_wrong_model():
    """The noise of repeats is that of most of them, 1 %, though one took three times as long."""
    runs = made_up(8, overlap="full")
    slow = Run(cores=1, nodes=1, time_s=Estimate([*runs[0].time_s.samples[:4],
                                                  3 * runs[0].time_s.samples[4]]))  # fmt: skip
    right = fit_rates([slow, *runs[1:]], fft, size=N, network="parallel", overlap="full")
    wrong = fit_rates([slow, *runs[1:]], fft, size=N, network="parallel")

    assert right.solution.noise == pytest.approx(0.01, rel=0.3)
    assert codes(right) == []
    assert "model-does-not-hold" in codes(wrong)


@pytest.mark.parametrize(("made_with", "fitted_with"), [("full", "none"), ("none", "full")])
def test_the_wrong_overlap_is_seen(made_with, fitted_with):
    """Residuals are far beyond the noise of repeats, and chi-square says so."""
    runs = made_up(2, overlap=made_with)
    fit = fit_rates(runs, fft, size=N, network="parallel", overlap=fitted_with)

    assert "model-does-not-hold" in codes(fit)
    assert fit.solution.chi_square > 100


def test_rates_that_are_given_are_held():
    """The link alone is fitted, and found."""
    fit = fit_rates(
        made_up(3), fft, size=N, core_rate=8e9, memory_bytes_per_s=16e9, network="parallel"
    )

    assert [one.name for one in fit.parameters] == ["link bandwidth"]
    assert fit.parameters[0].low < 2e9 < fit.parameters[0].high


def test_the_link_of_a_machine_that_was_measured_is_fitted_alone():
    """The machine knows its cores and its memory."""
    fit = fit_rates(made_up(4), fft, size=N, machine=NODE, network="parallel")

    assert [one.name for one in fit.parameters] == ["link bandwidth"]
    assert fit.parameters[0].value == pytest.approx(2e9, rel=0.01)


def test_runs_of_several_sizes_tell_rates_apart():
    """A product of small matrices waits for the network, of large ones for the cores."""
    runs = [
        Run(cores=8, nodes=p, size=n, time_s=Estimate([found.bound_at(8, p).time_s]))
        for n in (100.0, 1000.0, 10000.0)
        for p in (1, 4, 16)
        for found in [Scaling(problem=matrix_product_1d(n), machine=NODE)]
    ]
    fit = fit_rates(runs, matrix_product_1d)

    assert {one.name: one.value for one in fit.parameters} == pytest.approx(RATES, rel=1e-6)


def test_a_rate_that_limits_no_run_has_no_upper_end():
    """With full overlap a matrix product never waits for memory: any fast enough would do."""
    runs = made_up(5, problem=matrix_product_1d, size=4000.0, overlap="full")
    fit = fit_rates(runs, matrix_product_1d, size=4000.0, network="parallel", overlap="full")
    memory, link = fit.parameter("memory bandwidth"), fit.parameter("link bandwidth")

    assert memory.high is None
    assert memory.low <= 16e9
    assert link.high is None
    assert link.low <= 2e9
    assert codes(fit).count("undetermined") == 2


def test_a_resource_that_takes_no_time_is_at_its_limit():
    """Runs without any time in memory: its bandwidth is at least something."""
    fast = ideal_machine(core_rate=8e9, memory_bytes_per_s=1e18, cores=8)
    random = np.random.default_rng(6)
    scaling = Scaling(problem=scalar_product(1e9), machine=fast)
    runs = [
        Run(
            cores=q,
            nodes=1,
            time_s=Estimate(scaling.bound_at(q, 1).time_s * (1 + 0.01 * random.standard_normal(5))),
        )
        for q in (1, 2, 3, 4, 6, 8)
    ]
    fit = fit_rates(runs, scalar_product, size=1e9, link_bytes_per_s=1e9)

    assert fit.parameter("memory bandwidth").high is None
    assert fit.parameter("memory bandwidth").low > 1e11
    assert "undetermined" in codes(fit)


def test_a_prediction_has_an_interval_that_grows_beyond_the_runs():
    """It holds the truth, at 8 nodes as at 512."""
    fit = fit_rates(made_up(7), fft, size=N, network="parallel")
    truth = Scaling(problem=fft(N), machine=NODE, network="parallel").bound_at(8, [8, 512]).time_s
    found = fit.solution.predict(8, [8, 512], N)

    assert (found.low_s < truth).all()
    assert (truth < found.high_s).all()
    assert fit.scaling(N).bound_at(8, [8, 512]).time_s == pytest.approx(found.time_s, rel=1e-12)


# --- what cannot be fitted ----------------------------------------------------------------------


def test_too_few_runs_are_refused():
    """Three rates need four settings; repeats are no settings."""
    with pytest.raises(CannotFit, match="3 different settings, and at least 4 are needed"):
        fit_rates(made_up(0, settings=GRID[:3]), fft, size=N)
    with pytest.raises(CannotFit, match="measure more"):
        fit_rates(made_up(0, settings=GRID[:2] * 4), fft, size=N)


def test_cores_and_memory_cannot_be_told_apart_on_one_number_of_cores():
    """Both shrink with the nodes alike."""
    runs = made_up(0, settings=[(8, p) for p in (1, 2, 4, 8, 16)])

    with pytest.raises(CannotFit, match=r"core rate and memory bandwidth together: .*--memory"):
        fit_rates(runs, fft, size=N)


def test_the_network_cannot_be_fitted_on_one_node():
    """Nothing is exchanged: give its rate, or measure more nodes."""
    runs = made_up(0, settings=[(q, 1) for q in (1, 2, 4, 6, 8)])

    with pytest.raises(CannotFit, match="link bandwidth: "):
        fit_rates(runs, fft, size=N)


def test_runs_on_more_cores_than_the_machine_has_are_refused():
    """They ran elsewhere."""
    node = ideal_machine(core_rate=8e9, memory_bytes_per_s=16e9, cores=4)

    with pytest.raises(CannotFit, match="up to 8 cores of a node, and ideal has 4"):
        fit_rates(made_up(0), fft, size=N, machine=node)


def test_nothing_is_left_to_fit_where_all_is_given():
    """The message names what may be left out."""
    with pytest.raises(CannotFit, match="leave out --core-rate or --memory or --link"):
        fit_rates(
            made_up(0), fft, size=N, core_rate=1.0, memory_bytes_per_s=1.0, link_bytes_per_s=1.0
        )


# --- laws ---------------------------------------------------------------------------------------


def test_gunthers_law_is_found():
    """10 s alone, contention 0.05, coherence 0.001, each within its interval."""
    fit = fit_law(by_law(0, contention=0.05, coherence=0.001), "usl")
    truth = {"time of one processor": 10, "contention": 0.05, "coherence": 0.001}

    assert all(one.low < truth[one.name] < one.high for one in fit.parameters)
    assert codes(fit) == []


def test_amdahls_law_is_found():
    """A twentieth of the time is serial; cores and nodes count alike."""
    runs = [
        Run(cores=2, nodes=run.nodes, time_s=run.time_s)
        for run in by_law(1, contention=0.05, coherence=0, processors=range(2, 40, 4))
    ]
    halved = [Run(cores=2, nodes=run.nodes // 2, time_s=run.time_s) for run in runs]
    fit = fit_law(halved, "amdahl")

    assert fit.parameter("serial share").low < 0.05 < fit.parameter("serial share").high
    assert fit.scaling(1.0).at(cores=1, nodes=[1, 10]).time_s == pytest.approx(
        [10, 10 * (0.05 + 0.095)], rel=0.02
    )


def test_amdahls_law_is_doubted_where_gunthers_holds():
    """With repeats by chi-square; without any by neighbours that deviate alike."""
    repeated = fit_law(by_law(2, contention=0.05, coherence=0.001), "amdahl")
    once = fit_law(by_law(2, contention=0.05, coherence=0.001, repeats=1), "amdahl")

    assert "model-does-not-hold" in codes(repeated)
    assert "systematic-residuals" in codes(once)
    assert "no-repeats" in codes(once)


def test_coherence_that_is_not_there_is_undetermined():
    """Its interval reaches 0."""
    fit = fit_law(by_law(3, contention=0.05, coherence=0), "usl")

    assert fit.parameter("coherence").low == 0
    assert fit.parameter("contention").low < 0.05 < fit.parameter("contention").high
    assert "undetermined" in codes(fit)


def test_a_law_needs_different_numbers_of_processors_and_one_size():
    """2 x 4 and 4 x 2 cores are one number."""
    alike = [Run(cores=q, nodes=8 // q, time_s=Estimate([1.0])) for q in (1, 2, 4, 8)]
    sizes = [Run(cores=1, nodes=p, size=p, time_s=Estimate([1.0])) for p in (1.0, 2.0, 3.0, 4.0)]

    with pytest.raises(CannotFit, match="1 different settings"):
        fit_law(alike, "amdahl")
    with pytest.raises(CannotFit, match="several sizes"):
        fit_law(sizes, "usl")


def test_a_problem_without_memory_or_network_needs_no_rate_of_them():
    """Only the cores' rate is fitted."""
    runs = [Run(cores=q, nodes=1, time_s=Estimate([10 / q])) for q in (1, 2, 5)]
    fit = fit_rates(runs, lambda n: Problem(name="", operations=10e9 + 0 * n))

    assert [(one.name, one.value) for one in fit.parameters] == [
        ("core rate", pytest.approx(1e9, rel=1e-6))
    ]
