"""Case studies against counts and speed-ups that were worked out by hand."""

import numpy as np
import pytest

from ridgepoint.core.rates import ideal_machine
from ridgepoint.models.scaling import Problem, Scaling
from ridgepoint.models.scaling.allocation import (
    allocations,
    best_allocation,
    largest_allocation,
    optimal_nodes,
)
from ridgepoint.models.scaling.case_studies import (
    CASE_STUDIES,
    conjugate_gradient,
    fft,
    linpack,
    matrix_product_1d,
    matrix_product_2d,
    scalar_product,
)
from ridgepoint.models.scaling.speed_up_laws import usl_scaling

NODE = ideal_machine(core_rate=8e9, memory_bytes_per_s=16e9, link_bytes_per_s=2e9, cores=8)
SIZES = {
    "scalar-product": 1e9,
    "matrix-product-1d": 1e4,
    "matrix-product-2d": 1e4,
    "linpack": 2e4,
    "fft": 2**28,
}


def case(name, network="shared", **options):
    """Return a case study of the usual size on nodes of 8 cores of 8 GFLOP/s, 16 and 2 GB/s."""
    problem = CASE_STUDIES[name].make(SIZES[name])
    return Scaling(problem=problem, machine=NODE, network=network, **options)


@pytest.mark.parametrize(
    ("problem", "operations", "dram_bytes", "on_16_nodes"),
    [
        (scalar_product(1e9), 2e9 - 1, 16e9, 120),
        (matrix_product_1d(1e4), 2e12, 2.4e9, 12e9),
        (matrix_product_2d(1e4), 2e12, 2.4e9, 4.8e9),
        (linpack(2e4), 5.3341333e12, 3.2e9, 25.6e9),
        (fft(2**28), 37580963840, 17179869184, 12079595520),
        (conjugate_gradient(1000), 19e6, 152e6, 96480),
        (conjugate_gradient(1000, iterations=10), 190e6, 1520e6, 964800),
    ],
)
def test_counts_are_those_worked_out_by_hand(problem, operations, dram_bytes, on_16_nodes):
    """Flop, memory traffic, and bytes exchanged by 16 nodes."""
    found = problem.demand(16).amounts

    assert found["fp64"] == pytest.approx(operations, rel=1e-7)
    assert found["dram"] == pytest.approx(dram_bytes, rel=1e-12)
    assert found["network"] == pytest.approx(on_16_nodes, rel=1e-12)


@pytest.mark.parametrize("name", CASE_STUDIES)
def test_one_node_exchanges_nothing(name):
    """Nor does it need a network."""
    assert "network" not in CASE_STUDIES[name].make(1000).demand(1).amounts


@pytest.mark.parametrize(
    ("name", "intensity", "x"),
    [
        ("scalar-product", 0.125, 0.25),
        ("matrix-product-1d", 833.33, 1666.67),
        ("matrix-product-2d", 833.33, 1666.67),
        ("linpack", 1666.9, 3333.83),
        ("fft", 2.1875, 4.375),
    ],
)
def test_intensities(name, intensity, x):
    """Of the problem, a = #op/#b, and over the machine's, x = a/a* with a* = 0.5."""
    problem = case(name).problem

    assert problem.operations / problem.dram_bytes == pytest.approx(intensity, rel=1e-5)
    assert case(name).intensity == pytest.approx(x, rel=1e-5)


@pytest.mark.parametrize(
    ("name", "network", "speed_ups"),
    [
        ("scalar-product", "shared", [0.2424, 0.9697, 3.8788, 15.5149]),
        ("scalar-product", "parallel", [0.2424, 0.9697, 3.8788, 15.5151]),
        ("matrix-product-1d", "shared", [7.9618, 27.6243, 31.3972, 9.7312]),
        ("matrix-product-1d", "parallel", [7.9618, 30.6748, 106.9519, 282.6855]),
        ("matrix-product-2d", "shared", [7.9618, 28.9017, 57.3066, 41.0467]),
        ("matrix-product-2d", "parallel", [7.9618, 31.0559, 118.3432, 432.4324]),
        ("linpack", "shared", [7.9808, 24.4358, 36.9982, 24.7819]),
        ("linpack", "parallel", [7.9808, 29.6519, 110.7289, 390.9729]),
        ("fft", "shared", [2.8283, 0.8953, 0.7646, 0.7377]),
        ("fft", "parallel", [2.8283, 2.8941, 9.7603, 37.5681]),
    ],
)
def test_speed_ups_on_1_to_64_nodes(name, network, speed_ups):
    """S = l/l_c of 8 cores a node without overlap."""
    found = case(name, network).at(cores=8, nodes=[1, 4, 16, 64])

    assert found.speed_up == pytest.approx(speed_ups, abs=5.1e-5)


def test_performance_with_full_overlap():
    """Of the matrix product by rows over one link, GFLOP/s."""
    found = case("matrix-product-1d", overlap="full").at(cores=8, nodes=[1, 4, 16, 64])

    assert found.performance / 1e9 == pytest.approx([64, 256, 333.3333, 79.3651], abs=5e-5)
    assert found.bound.limiter.tolist() == ["compute", "compute", "network", "network"]


@pytest.mark.parametrize(
    ("name", "nodes", "whole", "speed_up"),
    [
        ("matrix-product-1d", 8.8600, 9, 37.3754),
        ("matrix-product-2d", 18.3335, 18, 57.6228),
        ("linpack", 13.97, 14, 37.1647),
    ],
)
def test_the_best_number_of_nodes_over_one_link(name, nodes, whole, speed_up):
    """Where more nodes exchange more than they compute."""
    found = optimal_nodes(case(name), cores=8)

    assert found.nodes == pytest.approx(nodes, rel=5e-5)
    assert found.best.nodes == whole
    assert found.best.speed_up == pytest.approx(speed_up, abs=5e-5)


def test_far_optima_follow_the_closed_form():
    """Where the exchange grows by X1 a node, p* = sqrt(A b_cl/X1)."""
    computing = (2e9 - 1) / 64e9 + 16e9 / 16e9

    found = optimal_nodes(case("scalar-product"), cores=8)

    assert found.nodes == pytest.approx((computing * 2e9 / 8) ** 0.5, rel=1e-6)
    assert found.nodes == pytest.approx(16056.5, abs=0.1)


def test_optima_of_other_exchanges_follow_their_closed_forms():
    """(2 A b_cl/X1)^(2/3) for X1 (sqrt(p) - 1), A b_cl ln 2/X1 for X1 log2 p."""
    machine = ideal_machine(core_rate=1e9, link_bytes_per_s=1e9, cores=1)
    roots, logarithms = (
        Scaling(
            problem=Problem(name="", operations=1e12, exchanged_bytes=exchange), machine=machine
        )
        for exchange in (lambda p: 1e9 * (np.sqrt(p) - 1), lambda p: 5e9 * np.log2(p))
    )

    assert optimal_nodes(roots, cores=1).nodes == pytest.approx(2000 ** (2 / 3), rel=1e-6)
    assert optimal_nodes(logarithms, cores=1).nodes == pytest.approx(200 * np.log(2), rel=1e-6)


def test_gunthers_optimum():
    """sqrt((1 - sigma)/kappa) = 30 processors."""
    found = optimal_nodes(usl_scaling(contention=0.1, coherence=0.001), cores=1)

    assert found.nodes == pytest.approx(30, rel=1e-6)
    assert found.best.nodes == 30


@pytest.mark.parametrize("name", ["scalar-product", "matrix-product-1d", "linpack", "fft"])
def test_with_a_link_for_each_node_more_nodes_are_always_faster(name):
    """There is no best number of nodes."""
    assert optimal_nodes(case(name, "parallel"), cores=8) is None


def test_a_problem_that_the_network_slows_at_once_is_best_on_one_node():
    """The FFT over one link."""
    found = optimal_nodes(case("fft"), cores=8)

    assert (found.nodes, found.best.nodes) == (1, 1)


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("network", ["shared", "parallel"])
@pytest.mark.parametrize("overlap", ["none", "full", 2.0])
def test_best_and_largest_allocations_are_those_of_a_look_at_all(name, network, overlap):
    """Every number of cores and nodes is tried."""
    scaling = case(name, network, overlap=overlap)
    every = allocations(scaling, cores=range(1, 9), nodes=range(1, 41))
    fastest = max(one.performance for one in every)
    kept = [one for one in every if one.parallel_efficiency >= 0.7]

    best = best_allocation(scaling, cores=range(1, 9), nodes=range(1, 41))
    largest = largest_allocation(scaling, cores=range(1, 9), nodes=range(1, 41), efficiency=0.7)

    assert best.performance == pytest.approx(fastest, rel=1e-8)
    assert best.cores * best.nodes == min(
        one.cores * one.nodes for one in every if one.performance >= fastest * (1 - 1e-9)
    )
    assert largest.parallel_efficiency >= 0.7
    assert largest.cores * largest.nodes == max(one.cores * one.nodes for one in kept)


def test_no_allocation_keeps_an_efficiency_that_one_core_has_not():
    """A core that waits for memory reaches 0.2 of its peak: none where more is asked."""
    scaling = case("scalar-product")

    assert (
        largest_allocation(scaling, cores=[1, 8], nodes=[1, 2], efficiency=0.5, against="peak")
        is None
    )
    assert largest_allocation(scaling, cores=[1, 8], nodes=[1], efficiency=1).cores == 1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: fft(0),
        lambda: scalar_product(float("nan")),
        lambda: conjugate_gradient(10, iterations=0),
        lambda: best_allocation(case("fft"), cores=[], nodes=[1]),
        lambda: best_allocation(case("fft"), cores=[1], nodes=[]),
        lambda: best_allocation(case("fft"), cores=[1], nodes=[1.5]),
        lambda: largest_allocation(case("fft"), cores=[1], nodes=[1], efficiency=0),
        lambda: largest_allocation(case("fft"), cores=[1], nodes=[1], efficiency=1.1),
    ],
)
def test_what_is_impossible_is_refused(wrong):
    """Sizes, numbers and efficiencies that there cannot be."""
    with pytest.raises(ValueError, match="must"):
        wrong()
