"""The scaling model against the slides' numbers, its other forms, and the laws it contains."""

import numpy as np
import pytest
from core_inputs import ceiling, machine_of
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.core.rates import Rates, ideal_machine
from ridgepoint.models.scaling import Problem, Scaling
from ridgepoint.models.scaling.case_studies import matrix_product_1d
from ridgepoint.models.scaling.speed_up_laws import (
    amdahl,
    gustafson,
    most_cores,
    needed_intensity,
    serial_share,
    usl,
    usl_scaling,
)
from ridgepoint.published.machines import load

SLIDE_CORES = [1, 2, 4, 8, 16, 20, 32, 64, 128]


def one_node(x, **options):
    """Return cores of 0.5 GFLOP/s with a memory of 0.5 GB/s, and a problem of intensity x."""
    return Scaling(
        problem=Problem(name=f"x = {x}", operations=x * 1e9, dram_bytes=1e9),
        machine=ideal_machine(core_rate=5e8, memory_bytes_per_s=5e8, cores=128),
        **options,
    )


# --- published values ---------------------------------------------------------------------------


def test_performance_of_cores_without_overlap_is_that_of_the_slides():
    """Kredel et al., 3PGCIC 2015, Eq. (2) with Hockney's s, for l_c = 0.5 GFLOP/s and x = 20."""
    found = one_node(20).at(cores=SLIDE_CORES, nodes=1)

    assert found.performance / 1e9 == pytest.approx(
        [0.476190, 0.909091, 1.666667, 2.857143, 4.444444, 5, 6.153846, 7.619048, 8.648649],
        abs=5e-7,
    )


def test_performance_of_cores_with_overlap_is_the_roofline():
    """Eq. (2) with s = min(1, z): linear up to x cores, then bound by memory."""
    found = one_node(20, overlap="full").at(cores=SLIDE_CORES, nodes=1)

    assert found.performance / 1e9 == pytest.approx([0.5, 1, 2, 4, 8, 10, 10, 10, 10], rel=1e-12)


def test_both_efficiencies_of_cores_are_those_of_the_slides():
    """The first slide divides by what all cores could compute, the last by one core's reach."""
    found = one_node(20).at(cores=SLIDE_CORES, nodes=1)

    assert found.parallel_efficiency == pytest.approx(
        [1, 0.954545, 0.875, 0.75, 0.583333, 0.525, 0.403846, 0.25, 0.141892], abs=5e-7
    )
    assert found.peak_efficiency == pytest.approx(
        [0.952381, 0.909091, 0.833333, 0.714286, 0.555556, 0.5, 0.384615, 0.238095, 0.135135],
        abs=5e-7,
    )


@pytest.mark.parametrize(
    ("x", "efficiencies"),
    [
        (1, [1, 0.6667, 0.4, 0.2222, 0.1176, 0.0606]),
        (5, [1, 0.8571, 0.6667, 0.4615, 0.2857, 0.1622]),
        (100, [1, 0.9902, 0.9712, 0.9352, 0.8707, 0.7652]),
    ],
)
def test_efficiency_over_intensity_is_that_of_the_last_slide(x, efficiencies):
    """(1 + x)/(q + x) for 1 to 32 cores."""
    found = one_node(x).at(cores=[1, 2, 4, 8, 16, 32], nodes=1)

    assert found.parallel_efficiency == pytest.approx(efficiencies, abs=5e-5)


def test_the_intensity_is_that_of_the_problem_over_that_of_the_machine():
    """20 flop/byte where one core's balance is 1 flop/byte."""
    assert one_node(20).intensity == pytest.approx(20, rel=1e-12)
    assert Scaling(problem=Problem(name="", operations=1), machine=load("xw")).intensity is None


def test_memory_feeds_as_many_operations_as_it_has_bytes_for():
    """0.5 GB/s at 20 op/byte: 10 Gop/s; unknown without memory traffic."""
    assert one_node(20).memory_limit == pytest.approx(10e9, rel=1e-12)
    assert Scaling(problem=Problem(name="", operations=1), machine=load("xw")).memory_limit is None


def test_a_run_has_the_speed_up_of_its_time():
    """20e9 operations in 4 s are 5 Gop/s, ten times what a core computes."""
    assert one_node(20).performance_in(4.0) == pytest.approx(5e9)
    assert one_node(20).speed_up_in([4.0, 40.0]) == pytest.approx([10, 1])


def test_ideal_cores_compute_alike_and_those_that_share_power_do_not():
    """Two cores that together compute 1.5 times as fast as one."""
    problem = Problem(name="", operations=1)
    shared = machine_of(ceiling("fp64", 1e9), ceiling("fp64", 1.5e9, threads=2), cores=2)

    assert one_node(20).cores_compute_alike
    assert not Scaling(problem=problem, machine=shared).cores_compute_alike


# --- the laws -----------------------------------------------------------------------------------


def test_cores_of_a_node_are_amdahl_with_the_share_in_memory_as_serial():
    """With f = 1/(1 + x): 64 cores at x = 20 are 16 times as fast as one, both ways."""
    found = one_node(20).at(cores=SLIDE_CORES, nodes=1)

    assert found.relative_speed_up[7] == pytest.approx(16, rel=1e-12)
    assert found.relative_speed_up == pytest.approx(
        [1 / (1 / 21 + (20 / 21) / q) for q in SLIDE_CORES], rel=1e-12
    )
    assert amdahl(SLIDE_CORES, serial=serial_share(20)) == pytest.approx(
        found.relative_speed_up, rel=1e-12
    )


def test_lines_of_one_efficiency_are_gustafsons_direction():
    """For an efficiency of 0.8, x = 3, 11, 27, 59, 123 keep 2 to 32 cores busy."""
    x = needed_intensity([2, 4, 8, 16, 32], efficiency=0.8)

    assert x == pytest.approx([3, 11, 27, 59, 123], rel=1e-12)
    assert [
        one_node(a).at(cores=q, nodes=1).parallel_efficiency
        for a, q in zip(x, [2, 4, 8, 16, 32], strict=True)
    ] == pytest.approx([0.8] * 5)
    assert most_cores(20, efficiency=0.8) == pytest.approx(6.25)


def test_gustafson_is_amdahl_of_the_problem_that_grew():
    """2.5 of 4 at f = 0.5: 1 s serial and 4 s of parallel work take 5 s on one, 2 s on four."""
    assert gustafson(4, serial=0.5) == pytest.approx(2.5)
    assert amdahl(4, serial=1 / 5) == pytest.approx(2.5)


def test_a_matrix_product_by_rows_over_one_link_is_gunthers_law_without_contention():
    """K = X1 / (b_cl A) = 0.4 s / 31.4 s = 0.0127389."""
    node = ideal_machine(core_rate=8e9, memory_bytes_per_s=16e9, link_bytes_per_s=2e9, cores=8)
    found = Scaling(problem=matrix_product_1d(1e4), machine=node).at(cores=8, nodes=[1, 4, 9, 64])
    p = np.array([1, 4, 9, 64])

    assert found.speed_up / found.speed_up[0] == pytest.approx(
        p / (1 + 0.4 / 31.4 * p * (p - 1)), rel=1e-12
    )
    assert usl(p, contention=0, coherence=0.4 / 31.4) == pytest.approx(
        p / (1 + 0.4 / 31.4 * p * (p - 1)), rel=1e-12
    )


@given(st.floats(1, 1e5), st.floats(0, 1), st.floats(0, 1), st.floats(1e-3, 1e3))
def test_every_law_of_gunther_is_a_scaling(n, contention, coherence, alone_s):
    """N/(1 + sigma (N - 1) + kappa N (N - 1)), written out."""
    found = usl_scaling(contention=contention, coherence=coherence, alone_s=alone_s)
    speed_up = n / (1 + contention * (n - 1) + coherence * n * (n - 1))

    assert found.at(cores=1, nodes=n).relative_speed_up == pytest.approx(speed_up, rel=1e-9)
    assert found.at(cores=1, nodes=n).time_s == pytest.approx(alone_s / speed_up, rel=1e-9)


# --- other forms, and order ---------------------------------------------------------------------

rates = st.floats(1e6, 1e12)
counts = st.integers(1, 512)


@st.composite
def situations(draw):
    """Return a problem with a fixed exchange, a node and numbers of cores and nodes."""
    operations, moved, exchanged = (draw(st.floats(1e6, 1e15)) for _ in range(3))
    core, memory, link = (draw(rates) for _ in range(3))
    return operations, moved, exchanged, core, memory, link, draw(counts), draw(counts)


def scaling_of(operations, moved, exchanged, core, memory, link, **options):
    """Return the scaling of a problem that exchanges the same on any number of nodes."""
    return Scaling(
        problem=Problem(
            name="drawn",
            operations=operations,
            dram_bytes=moved,
            exchanged_bytes=lambda p: exchanged + 0 * p,
        ),
        machine=ideal_machine(
            core_rate=core, memory_bytes_per_s=memory, link_bytes_per_s=link, cores=512
        ),
        **options,
    )


@given(situations(), st.sampled_from(["shared", "parallel"]))
def test_the_nested_form_is_the_flat_one(situation, network):
    """A cluster of p l_m(q) s(z), nodes of l_m = q l_c s(x/q), both with s(z) = z/(1 + z)."""
    operations, moved, exchanged, core, memory, link, q, p = situation
    x = (operations / moved) / (core / memory)
    node = q * core * (x / q) / (1 + x / q)
    kappa = 1 if network == "shared" else 1 / p
    z = link * operations / (kappa * p * exchanged) / node

    found = scaling_of(*situation[:6], network=network).at(cores=q, nodes=p)

    assert found.performance == pytest.approx(p * node * z / (1 + z), rel=1e-9)


@given(situations(), st.sampled_from(["shared", "parallel"]))
def test_with_full_overlap_the_least_of_three_limits_counts(situation, network):
    """min(p q l_c, p b_m a, b_cl c/kappa)."""
    operations, moved, exchanged, core, memory, link, q, p = situation
    links = 1 if network == "shared" else p
    limits = [
        p * q * core,
        p * memory * operations / moved,
        links * link * operations / exchanged,
    ]

    found = scaling_of(*situation[:6], network=network, overlap="full").at(cores=q, nodes=p)

    assert found.performance == pytest.approx(min(limits), rel=1e-9)


@given(situations(), st.floats(1, 50))
def test_partial_overlap_lies_between_none_and_full(situation, k):
    """None is at most three times as slow as full: three parts."""
    q, p = situation[6:]
    none, partial, full = (
        scaling_of(*situation[:6], overlap=overlap).at(cores=q, nodes=p).time_s
        for overlap in ("none", k, "full")
    )

    assert full * (1 - 1e-9) <= partial <= none * (1 + 1e-9)
    assert none <= 3 * full * (1 + 1e-9)


@given(situations())
def test_more_cores_never_cost_time_nor_gain_efficiency(situation):
    """Over cores alone, time falls and the efficiencies do."""
    q, p = situation[6:]
    found = scaling_of(*situation[:6]).at(cores=[q, min(q + 1, 512)], nodes=p)

    assert found.time_s[1] <= found.time_s[0] * (1 + 1e-12)
    assert found.peak_efficiency[1] <= found.peak_efficiency[0] * (1 + 1e-12)


@given(situations())
def test_efficiencies_are_at_most_one_and_own_links_no_slower_than_one_for_all(situation):
    """Nothing computes faster than its cores; p links carry p times as much."""
    q, p = situation[6:]
    shared = scaling_of(*situation[:6]).at(cores=q, nodes=p)
    parallel = scaling_of(*situation[:6], network="parallel").at(cores=q, nodes=p)

    assert 0 < shared.peak_efficiency <= 1 + 1e-12
    assert parallel.time_s <= shared.time_s * (1 + 1e-12)


# --- clusters -----------------------------------------------------------------------------------


def test_a_cluster_has_as_much_of_all_as_its_nodes_and_one_link_or_as_many():
    """Of the Cascade Lake machine of a paper: 4.2 TFLOP/s, 105 GB/s, 12 GB/s a node."""
    node = load("cascade-lake")
    shared = Rates(machine=node, nodes=3)
    parallel = Rates(machine=node, nodes=3, network="parallel")

    assert shared.rate("fp32") == pytest.approx(12.6e12)
    assert shared.rate("dram") == pytest.approx(315e9)
    assert (shared.rate("network"), parallel.rate("network")) == pytest.approx((12e9, 36e9))
    assert shared.knows("network")
    assert not shared.knows("l2")


def test_a_link_is_no_faster_for_the_cores_behind_it():
    """A network measured with one thread is not that of eight, times eight."""
    node = ideal_machine(core_rate=1e9, cores=8, link_bytes_per_s=2e9)

    assert Rates(machine=node, nodes=[2, 4]).rate("network", cores=8) == 2e9


def test_a_link_that_is_given_replaces_the_machines():
    """As for a machine that was measured without its network."""
    cluster = Rates(machine=load("e5645"), nodes=2, link_bytes_per_s=1e9)

    assert cluster.knows("network")
    assert cluster.rate("network") == 1e9


def test_a_machine_without_a_network_says_so():
    """What is missing, and what to do."""
    with pytest.raises(UnknownCeiling, match="no ceiling of its network; give the rate of a link"):
        Rates(machine=load("e5645"), nodes=2).rate("network")


def test_one_node_needs_no_network():
    """What nobody asks for needs no ceiling."""
    node = ideal_machine(core_rate=8e9, memory_bytes_per_s=16e9, cores=8)
    scaling = Scaling(problem=matrix_product_1d(1e4), machine=node)

    assert scaling.at(cores=8, nodes=1).speed_up == pytest.approx(7.9618, abs=5e-5)
    with pytest.raises(UnknownCeiling):
        scaling.at(cores=8, nodes=2)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: ideal_machine(core_rate=0, cores=1),
        lambda: ideal_machine(core_rate=float("nan"), cores=1),
        lambda: ideal_machine(core_rate=1, cores=0),
        lambda: ideal_machine(core_rate=1, cores=1, memory_bytes_per_s=-1),
        lambda: Rates(machine=load("xw"), nodes=0),
        lambda: Rates(machine=load("xw"), nodes=float("nan")),
        lambda: Rates(machine=load("xw"), network="star"),
        lambda: Rates(machine=load("xw"), link_bytes_per_s=float("inf")),
        lambda: Problem(name="", operations=0),
        lambda: Problem(name="", operations=1, dram_bytes=-1),
        lambda: Problem(name="", operations=1, work="dram"),
        lambda: one_node(20).at(cores=129, nodes=1),
        lambda: one_node(20, overlap=0.5).at(cores=1, nodes=1),
        lambda: amdahl(4, serial=1.5),
        lambda: usl(4, contention=0.1, coherence=-1),
        lambda: usl(0, contention=0.1, coherence=0),
        lambda: needed_intensity(4, efficiency=1),
    ],
)
def test_what_is_impossible_is_refused(wrong):
    """Sizes, rates and shares that there cannot be."""
    with pytest.raises(ValueError, match="must be"):
        wrong()
