"""Latency in the scaling model: the optimum by hand, the counts of the case studies, fits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measured_cluster import Exchange, MeasuredCluster, Node
from ridgepoint.core.rates import ideal_machine
from ridgepoint.core.runs import Run
from ridgepoint.models.scaling import Problem, Scaling
from ridgepoint.models.scaling.allocation import allocation, optimal_nodes
from ridgepoint.models.scaling.case_studies import (
    conjugate_gradient,
    fft,
    linpack,
    matrix_product_1d,
    matrix_product_2d,
    scalar_product,
)
from ridgepoint.models.scaling.fits import fit_rates
from ridgepoint.published.machines import load

NODE = ideal_machine(core_rate=8e9, memory_bytes_per_s=16e9, link_bytes_per_s=2e9, cores=8)
ALPHA = 0.1


def scaling_of(problem, latency_s=ALPHA, **options):
    """Return the problem on nodes of 8 cores of 8 Gflop/s, 16 GB/s, and links of 2 GB/s."""
    return Scaling(problem=problem, machine=NODE, latency_s=latency_s, **options)


@pytest.mark.parametrize(
    ("problem", "options", "p_star"),
    [
        # t = A/p + (X/b + alpha)(p - 1): A = 31.4 s, X/b = 0.4 s, alpha = 0.1 s.
        (matrix_product_1d(1e4), {}, math.sqrt(31.4 / 0.5)),
        # t = A/p + (X/b + 2 alpha)(sqrt p - 1): X/b = 0.8 s.
        (matrix_product_2d(1e4), {}, (2 * 31.4 / 1.0) ** (2 / 3)),
        # One link for each node: t = A/p + X/b (p - 1)/p + alpha (p - 1).
        (matrix_product_1d(1e4), {"network": "parallel"}, math.sqrt((31.4 - 0.4) / 0.1)),
        # t = A/p + X/b (p - 1) + alpha log2 p: a square equation. A = 2e9/64e9 + 1 s.
        (
            scalar_product(1e9),
            {},
            (math.sqrt((ALPHA / math.log(2)) ** 2 + 4 * (1.03125 - 1 / 64e9) * 4e-9)
             - ALPHA / math.log(2)) / (2 * 4e-9),
        ),
        # t = A/p + X/b (p - 1)/p + 3 alpha (p - 1): A > X/b. n = 2^10: latency of 1 ns.
        (
            Problem(name="", operations=64e9, exchanged_bytes=lambda p: 1e9 * (p - 1) / p,
                    messages=lambda p: 3 * (p - 1)),
            {"latency_s": 1e-3},
            math.sqrt((1 - 0.5) / 3e-3),
        ),
    ],
)  # fmt: skip
def test_the_optimum_with_latency_is_that_of_the_formula(problem, options, p_star):
    """Where the derivative of the time is 0, by hand."""
    found = optimal_nodes(scaling_of(problem, **options), cores=8)

    assert found.nodes == pytest.approx(p_star, rel=1e-6)


@pytest.mark.parametrize(
    ("problem", "counts"),
    [
        (scalar_product(10), {1: 0, 2: 1, 8: 3, 64: 6}),
        (matrix_product_1d(10), {1: 0, 2: 1, 8: 7}),
        (matrix_product_2d(10), {1: 0, 4: 2, 16: 6}),
        (linpack(1000), {1: 0, 4: 1000, 16: 2000}),
        (fft(1024), {1: 0, 2: 3, 8: 21}),
        (conjugate_gradient(100), {1: 0, 4: 2 + 8, 9: 4 + 4 * math.log2(9), 16: 4 + 16}),
        (conjugate_gradient(100, iterations=10), {16: 200}),
    ],
)
def test_messages_of_the_case_studies_are_counted_by_hand(problem, counts):
    """Trees, rings, transposes, and neighbours on a square of nodes."""
    found = problem.messages(np.array(list(counts), dtype=np.float64))

    assert found == pytest.approx(list(counts.values()))


def test_a_ring_takes_as_many_steps_as_nodes_that_wait_for_blocks():
    """Played: each node passes on the block it got last, until all have all."""
    for nodes in (1, 2, 5, 8):
        held = [{rank} for rank in range(nodes)]
        last = list(range(nodes))
        steps = 0
        while any(len(blocks) < nodes for blocks in held):
            last = [last[rank - 1] for rank in range(nodes)]
            for rank, block in enumerate(last):
                held[rank].add(block)
            steps += 1

        assert matrix_product_1d(8).messages(np.array([float(nodes)])) == [steps]


def test_latency_lengthens_the_networks_time_under_any_overlap():
    """2 nodes: compute 15.625 s, memory 0.075 s, network 0.4 + 0.1 s; full overlap hides it."""
    alone = {"compute": 15.625, "dram": 0.075, "network": 0.5}
    by_overlap = {
        "none": 16.2,
        "full": 15.625,
        2.0: math.sqrt(15.625**2 + 0.075**2 + 0.5**2),
    }
    for overlap, time_s in by_overlap.items():
        found = allocation(scaling_of(matrix_product_1d(1e4), overlap=overlap), cores=8, nodes=2)

        assert found.parts_s == pytest.approx(alone)
        assert found.time_s == pytest.approx(time_s)
        assert found.latency_s == pytest.approx(0.1)


@given(st.floats(1e-9, 1e3), st.integers(2, 1000))
def test_latency_never_helps(latency_s, nodes):
    """Nor changes anything on one node."""
    problem = matrix_product_2d(1e4)
    without, with_it = scaling_of(problem, None), scaling_of(problem, latency_s)

    assert with_it.bound_at(8, nodes).time_s > without.bound_at(8, nodes).time_s
    assert with_it.bound_at(8, 1).time_s == without.bound_at(8, 1).time_s


def test_the_latency_limits_where_it_is_most_of_the_networks_time():
    """4 messages of 1 s against 1 ms of bytes; 0.1 ms of latency against it."""
    problem = Problem(
        name="", operations=64e6, exchanged_bytes=lambda p: 2e6 * (p > 1), messages=lambda p: p - 1
    )

    assert allocation(scaling_of(problem, 1.0), cores=8, nodes=5).limiter == "latency"
    assert allocation(scaling_of(problem, 2e-4), cores=8, nodes=5).limiter == "network"
    assert allocation(scaling_of(problem, None), cores=8, nodes=5).latency_s is None


def test_a_fit_with_a_given_latency_finds_the_rates():
    """Of runs made of them: without the latency the link would seem slower."""
    truth = scaling_of(matrix_product_1d(1e3), 1e-3)
    runs = [
        Run(cores=q, nodes=p, time_s=Estimate([float(truth.bound_at(q, p).time_s)]))
        for q in (1, 8)
        for p in (1, 2, 4, 8)
    ]
    right = fit_rates(runs, matrix_product_1d, size=1e3, latency_s=1e-3)
    wrong = fit_rates(runs, matrix_product_1d, size=1e3)

    assert right.parameter("link bandwidth").value == pytest.approx(2e9, rel=1e-6)
    assert right.scaling(1e3).latency_s == 1e-3
    assert wrong.parameter("link bandwidth").value < 1.7e9


def exchange(pattern, size_bytes, time_s, nodes=2):
    """Return an exchange of two ranks."""
    return Exchange(
        pattern=pattern, ranks=2, nodes=nodes, size_bytes=size_bytes, time_s=Estimate([time_s])
    )


def test_the_latency_of_a_cluster_is_that_of_its_smallest_messages_between_nodes():
    """Not of those within a node, which are faster."""
    found = MeasuredCluster(
        name="two", nodes=(Node(host="a", ranks=2, machine=None),), slowest_node=load("xw"),
        standings=(), links=None, mpi="",
        network=(
            exchange("ping-pong", 8, 13e-6), exchange("ping-pong", 0, 12e-6),
            exchange("ping-pong", 0, 1e-6, nodes=1), exchange("stream", 8, 9e-6),
        ),
    )  # fmt: skip

    assert found.latency().median == 12e-6
    assert found.latency("stream").median == 9e-6


def test_a_latency_that_is_none_is_refused():
    """Zero, negative, nan."""
    for wrong in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="latency_s"):
            scaling_of(matrix_product_1d(10), wrong)
