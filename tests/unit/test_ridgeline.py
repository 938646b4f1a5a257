"""The Ridgeline: the paper's case study, its regions by brute force, its lines by bisection."""

import math

import numpy as np
import pytest
from core_inputs import ceiling, machine_of
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.bound import bound
from ridgepoint.core.demand import Demand
from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.demands.training import TrainingStep
from ridgepoint.models.derived import with_network
from ridgepoint.models.ridgeline import Ridgeline
from ridgepoint.models.ridgeline.trajectories import (
    NearestRidge,
    point_trajectory,
    training_trajectories,
)
from ridgepoint.published.machines import load

CLX = load("cascade-lake")
PAPER = Ridgeline(machines=(CLX,), work="fp32")
LAYER = TrainingStep(layers=(4096, 4096))
BATCH = 2 ** np.arange(13)

rates = st.floats(1e3, 1e15)
amounts = st.one_of(st.just(0.0), st.floats(1e-3, 1e15))
overlaps = st.sampled_from(["full", "none", 2.5])


def node(fp32, dram, network, name="node"):
    """Return a machine of three rates."""
    return machine_of(
        ceiling("fp32", fp32), ceiling("dram", dram), ceiling("network", network), name=name
    )


# --- the paper ----------------------------------------------------------------------------------


def test_the_ridge_point_of_cascade_lake():
    """4.2 Tflop/s, 105 GB/s and 12 GB/s: 40, 8.75, and 40 x 8.75 = 350."""
    ridge = PAPER.ridge

    assert ridge.arithmetic_intensity == 40
    assert ridge.memory_intensity == 8.75
    assert ridge.network_intensity == 350


def test_the_case_study_over_the_batch():
    """Every number of the audited table."""
    placed = PAPER.place_demand(LAYER.demand(batch=BATCH))

    def near(values):
        return pytest.approx(values, rel=2e-4)

    assert placed.arithmetic_intensity == near(
        [1.4993, 2.9971, 5.9883, 11.9533, 23.8140, 47.2615, 93.0909, 180.7059, 341.3333, 614.4,
         1024, 1536, 2048]
    )  # fmt: skip
    assert placed.memory_intensity == near(
        [0.50024, 0.50049, 0.50098, 0.50195, 0.50391, 0.50781, 0.51562, 0.53125, 0.56250, 0.625,
         0.75, 1, 1.5]
    )  # fmt: skip
    assert placed.network_intensity == near(0.75 * BATCH)
    assert placed.times_s["compute"] * 1e3 == pytest.approx(
        [0.0240, 0.0479, 0.0959, 0.1917, 0.3835, 0.7670, 1.5339, 3.0678, 6.1357, 12.2713, 24.5427,
         49.0853, 98.1707], abs=5e-5
    )  # fmt: skip
    assert placed.times_s["memory"] * 1e3 == near(
        [0.6394, 0.6398, 0.6404, 0.6416, 0.6441, 0.6491, 0.6591, 0.6791, 0.7190, 0.7989, 0.9587,
         1.2783, 1.9174]
    )  # fmt: skip
    assert placed.times_s["network"] * 1e3 == near([11.1848] * 13)
    assert placed.roofline_limiter.tolist() == ["memory"] * 5 + ["compute"] * 8
    assert placed.limiter.tolist() == ["network"] * 9 + ["compute"] * 4
    assert placed.performance / 1e9 == near(
        [9, 18, 36, 72, 144, 288, 576, 1152, 2304, 4200, 4200, 4200, 4200]
    )


def test_at_batch_512_compute_takes_a_tenth_longer_than_the_network():
    """I_N(512) / 350 = 1.0971: on the ridge, near enough."""
    placed = PAPER.place_demand(LAYER.demand(batch=512))

    assert placed.times_s["compute"] / placed.times_s["network"] == pytest.approx(1.0971, abs=5e-5)


@pytest.mark.parametrize(
    ("nodes", "threshold"),
    [(None, 466.67), (2, 233.3), (4, 350), (8, 408.3), (16, 437.5), (32, 452.1), (64, 459.4),
     (128, 463.0)],
)  # fmt: skip
def test_the_batch_from_which_on_compute_bounds(nodes, threshold):
    """I_N reaches 350 there: below it the network bounds, above it compute does."""
    below, above = math.floor(threshold - 0.1), math.ceil(threshold + 0.1)
    placed = PAPER.place_demand(LAYER.demand(batch=[below, above], nodes=nodes))

    assert placed.limiter.tolist() == ["network", "compute"]


def test_the_roofline_alone_turns_at_a_batch_of_27():
    """I_A = 40 at 27.02."""
    placed = PAPER.place_demand(LAYER.demand(batch=[27, 28]))

    assert placed.roofline_limiter.tolist() == ["memory", "compute"]


@pytest.mark.parametrize(
    ("convention", "first"),
    [("footprint", 32), ("three-gemms", 128), ("forward", 128), ("backward", 64),
     ("weights-and-gradients", 64)],
)  # fmt: skip
def test_which_conventions_fit_the_paper_s_batch_of_32(convention, first):
    """The first power of two that the roofline calls compute-bound, by the audit's scan."""
    step = TrainingStep(layers=(4096, 4096), convention=convention)
    placed = PAPER.place_demand(step.demand(batch=BATCH))

    assert BATCH[list(placed.roofline_limiter).index("compute")] == first


@pytest.mark.parametrize(
    ("convention", "algorithm", "nodes", "of_ridge"),
    [("footprint", "ring", None, 1.0971), ("footprint", "ring", 8, 1.2539),
     ("footprint", "recursive-doubling", 8, 0.7314), ("footprint", "payload", None, 2.1943),
     ("forward", "payload", None, 0.7314), ("backward", "ring", None, 0.7314)],
)  # fmt: skip
def test_how_near_to_the_ridge_each_convention_puts_batch_512(
    convention, algorithm, nodes, of_ridge
):
    """I_N(512) over 350, by the audit's scan."""
    step = TrainingStep(layers=(4096, 4096), convention=convention, algorithm=algorithm)
    placed = PAPER.place_demand(step.demand(batch=512, nodes=nodes))

    assert placed.network_intensity / 350 == pytest.approx(of_ridge, abs=5e-5)


@pytest.mark.parametrize(("layers", "of_ridge"), [(3, 0.9752), (4, 1.0057), (16, 1.0743)])
def test_without_the_first_gradient_batch_512_of_three_layers_is_network_bound(layers, of_ridge):
    """The variant under which each sentence of the paper holds."""
    step = TrainingStep(layers=(4096,) * (layers + 1), convention="no-input-gradient")

    assert PAPER.place_demand(step.demand(batch=512)).network_intensity / 350 == pytest.approx(
        of_ridge, abs=5e-5
    )


def test_a_fast_network_makes_memory_the_limit():
    """On the machine with 1 TB/s of network a batch of 16 (I_A = 23.8) is memory-bound."""
    fast = Ridgeline(machines=(with_network(CLX, 1e12),), work="fp32")
    placed = fast.place_demand(LAYER.demand(batch=[16, 64]))

    assert placed.limiter.tolist() == ["memory", "compute"]


# --- regions, by brute force --------------------------------------------------------------------


@given(rates, rates, rates, amounts, amounts, st.floats(1e-3, 1e15))
def test_the_limiter_is_the_longest_of_three_divisions(pi, beta, link, work, memory, network):
    """By hand: F/pi, B_M/beta, B_N/b_n; of equals the first."""
    placed = Ridgeline(machines=(node(pi, beta, link),), work="fp32").place(
        work=work, memory_bytes=memory, network_bytes=network
    )
    times = {"compute": work / pi, "memory": memory / beta, "network": network / link}

    assert placed.limiter == max(times, key=times.__getitem__)
    assert placed.time_s == max(times.values())


@given(
    st.floats(1e-4, 1e4).filter(lambda r: abs(r - 1) > 1e-6),
    st.floats(1e-4, 1e4).filter(lambda r: abs(r - 1) > 1e-6),
)
def test_the_plane_falls_into_the_regions_of_fig_2e(right, up):
    """By the coordinates alone, in units of the ridge point: quadrants, and x y = k."""
    ridge = PAPER.ridge
    x, y = right * ridge.memory_intensity, up * ridge.arithmetic_intensity
    placed = PAPER.place(work=x * y, memory_bytes=x, network_bytes=1.0)
    if up < 1:
        expected = "network" if right < 1 else "memory"
    elif right > 1:
        expected = "compute"
    else:
        expected = "compute" if right * up > 1 else "network"

    assert placed.limiter == expected or abs(right * up - 1) < 1e-9


@given(
    st.lists(st.tuples(rates, rates, rates), min_size=1, max_size=4),
    overlaps,
    st.lists(st.tuples(amounts, amounts, st.floats(1e-3, 1e15)), min_size=1, max_size=5),
)
def test_of_nodes_that_differ_the_slowest_bounds(machines, overlap, designs):
    """Node by node and design by design, by the core alone."""
    nodes = tuple(node(*each) for each in machines)
    work, memory, network = np.array(designs).T
    placed = Ridgeline(machines=nodes, work="fp32", overlap=overlap).place(
        work=work, memory_bytes=memory, network_bytes=network
    )

    for index, (f, m, n) in enumerate(designs):
        each = [
            bound(Demand({"fp32": f, "dram": m, "network": n}), one, overlap=overlap)
            for one in nodes
        ]
        slowest = max(one.time_s for one in each)  # powers of arrays may differ in the last bit
        assert placed.time_s[index] == pytest.approx(slowest, rel=1e-14)
        assert each[placed.slowest[index][0]].time_s == pytest.approx(slowest, rel=1e-14)
        most = {path: max(one.times_s[path] for one in each) for path in each[0].times_s}
        limiter = max(most, key=lambda path: most[path])  # of equals the first
        assert placed.limiter[index] == limiter.replace("dram", "memory")


def test_the_ridge_of_nodes_that_differ_is_that_of_the_least_rates():
    """One computes slowly, the other's memory and network are slow."""
    mixed = Ridgeline(machines=(node(1e12, 1e11, 1e10), node(8e12, 5e10, 2e9)), work="fp32")

    assert (mixed.peak, mixed.rate("dram"), mixed.rate("network")) == (1e12, 5e10, 2e9)
    assert mixed.ridge.network_intensity == 500


@given(
    st.lists(st.tuples(rates, rates, rates), min_size=1, max_size=4),
    overlaps,
    st.lists(st.tuples(amounts, amounts, st.floats(1e-3, 1e15)), min_size=1, max_size=5),
)
def test_points_of_nodes_that_differ_are_limited_as_the_region_that_they_lie_in(
    machines, overlap, designs
):
    """The regions are those of the least rates, whatever overlaps."""
    nodes = tuple(node(*each) for each in machines)
    least = node(*(min(rate) for rate in zip(*machines, strict=True)))
    work, memory, network = np.array(designs).T
    several, one = (
        Ridgeline(machines=each, work="fp32", overlap=overlap).place(
            work=work, memory_bytes=memory, network_bytes=network
        )
        for each in (nodes, (least,))
    )

    assert several.limiter.tolist() == one.limiter.tolist()
    assert several.roofline_limiter.tolist() == one.roofline_limiter.tolist()
    assert np.all(several.time_s <= one.time_s * (1 + 1e-14))


def test_machines_that_tie_bound_together_in_any_order():
    """67 and 19.5 Tflop/s behind links of 50 GB/s: the link binds both, and computing the slower.

    At a batch of 514, 51.74 Gflop need 2.653 ms of the slower machine, and 2 x 67.1 MB need
    2.684 ms of either link; at 1024 the slower machine alone computes longest.
    """
    machines = tuple(with_network(load(name), 50e9) for name in ("h200", "a100"))
    demand = LAYER.demand(batch=[256, 514, 1024])
    for several in (machines, machines[::-1]):
        placed = Ridgeline(machines=several, work="fp32").place_demand(demand)
        names = [{several[index].name for index in each} for each in placed.slowest]

        assert names == [{"h200", "a100"}, {"h200", "a100"}, {"a100"}]
        assert placed.limiters == [("network",), ("network", "compute"), ("compute",)]
        assert placed.times_s["compute"][1] == pytest.approx(2.6535e-3, rel=1e-4)
        assert placed.time_s.tolist() == pytest.approx(
            [2.68435e-3, 2.68435e-3, 5.2863e-3], rel=1e-4
        )


@given(
    st.lists(st.tuples(rates, rates, rates), min_size=1, max_size=4),
    st.randoms(),
    st.tuples(amounts, amounts, st.floats(1e-3, 1e15)),
)
def test_the_order_of_machines_changes_nothing(machines, random, design):
    """Names, limiters and times, by brute force over one order and another."""
    nodes = [node(*each, name=str(index)) for index, each in enumerate(machines)]
    shuffled = random.sample(nodes, len(nodes))
    work, memory, network = design
    seen = []
    for several in (nodes, shuffled):
        placed = Ridgeline(machines=tuple(several), work="fp32").place(
            work=work, memory_bytes=memory, network_bytes=network
        )
        (slowest,), (limiters,) = placed.slowest, placed.limiters
        seen.append(({several[i].name for i in slowest}, limiters, placed.time_s))

    assert seen[0] == seen[1]
    own = [max(work / fp32, memory / dram, network / link) for fp32, dram, link in machines]
    assert seen[0][0] == {str(i) for i, t in enumerate(own) if t >= max(own) / 1.02}


def test_resources_within_two_percent_of_the_longest_are_named_with_it():
    """100, 98.1 and 97.9 s: the last is more than a factor of 1.02 below."""
    placed = Ridgeline(machines=(node(1, 1, 1),), work="fp32").place(
        work=[98.1, 0], memory_bytes=[97.9, 0], network_bytes=[100, 1]
    )

    assert placed.limiters == [("network", "compute"), ("network",)]
    assert placed.roofline_limiters == [("compute", "memory"), ()]


# --- work of every kind -------------------------------------------------------------------------


def test_basic_operations_are_work_too():
    """86.4 GBOP/s, 13.2 GB/s and 1 GB/s: 10 GBOP take 116 ms, 2 GB 152 ms, 0.2 GB 200 ms."""
    e5645 = Ridgeline(machines=(with_network(load("e5645"), 1e9),), work="bop")
    placed = e5645.place(work=10e9, memory_bytes=2e9, network_bytes=0.2e9)

    assert placed.limiter == "network"
    assert placed.time_s == pytest.approx(0.2)
    assert placed.performance == pytest.approx(50e9)
    assert e5645.unit == "BOP"


def test_precisions_and_directions_of_traffic_add_up_on_the_plane():
    """A demand of the core goes as it is: 2 + 3 flop, 4 + 1 byte of memory, 10 over the network."""
    machine = machine_of(
        ceiling("fp64", 1.0), ceiling("fp32", 3.0), ceiling("dram", 5.0), ceiling("network", 2.0)
    )
    placed = Ridgeline(machines=(machine,)).place_demand(
        Demand({"fp64": 2.0, "fp32": 3.0, "dram_read": 4.0, "dram_write": 1.0, "network": 10.0})
    )

    assert (placed.arithmetic_intensity, placed.memory_intensity) == (1.0, 0.5)
    assert placed.times_s == {"compute": 3.0, "memory": 1.0, "network": 5.0}


def test_the_caches_have_no_place_on_the_plane():
    """Its memory is DRAM."""
    with pytest.raises(ValueError, match="got 'l2'"):
        PAPER.place_demand(Demand({"fp32": 1.0, "l2": 1.0}))


@pytest.mark.parametrize(("overlap", "time_s"), [("full", 4.0), ("none", 9.0), (2, 29**0.5)])
def test_overlap_passes_through(overlap, time_s):
    """2, 3 and 4 seconds: the largest, their sum, the root of the sum of squares."""
    placed = Ridgeline(machines=(node(1.0, 1.0, 1.0),), work="fp32", overlap=overlap).place(
        work=2.0, memory_bytes=3.0, network_bytes=4.0
    )

    assert placed.time_s == pytest.approx(time_s)
    assert placed.performance == pytest.approx(2.0 / time_s)


# --- points at infinity -------------------------------------------------------------------------


def test_without_network_bytes_the_memory_intensity_is_infinite():
    """And the roofline is right: 1 flop per byte is memory-bound."""
    placed = PAPER.place(work=1.0, memory_bytes=1.0, network_bytes=0.0)

    assert placed.memory_intensity == math.inf
    assert placed.network_intensity == math.inf
    assert (placed.limiter, placed.roofline_limiter) == ("memory", "memory")


def test_without_memory_bytes_the_product_of_the_coordinates_is_still_known():
    """X = 0, y = inf, and I_N = F / B_N = 3."""
    placed = PAPER.place(work=3.0, memory_bytes=0.0, network_bytes=1.0)

    assert (placed.memory_intensity, placed.arithmetic_intensity) == (0.0, math.inf)
    assert placed.network_intensity == 3.0
    assert placed.limiter == "network"


def test_work_alone_has_a_memory_intensity_of_nothing_over_nothing():
    """0/0 is no number, and says so."""
    placed = PAPER.place(work=4.2e12, memory_bytes=0.0, network_bytes=0.0)

    assert math.isnan(placed.memory_intensity)
    assert (placed.limiter, placed.time_s) == ("compute", 1.0)


def test_a_pure_exchange_is_on_the_plane_with_no_performance():
    """No flop: I_A = 0, and the network bounds."""
    placed = PAPER.place(work=0.0, memory_bytes=1.0, network_bytes=12e9)

    assert (placed.arithmetic_intensity, placed.performance) == (0.0, 0.0)
    assert (placed.limiter, placed.time_s) == ("network", 1.0)


def test_nothing_at_all_has_no_place():
    """Not even one among others."""
    with pytest.raises(ValueError, match="must not all be 0"):
        PAPER.place(work=[1.0, 0.0], memory_bytes=0.0, network_bytes=0.0)


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["work", "memory_bytes", "network_bytes"])
def test_amounts_are_finite_and_not_negative(name, wrong):
    """What is unknown has no place here."""
    given_amounts = {"work": 1.0, "memory_bytes": 1.0, "network_bytes": 1.0, name: wrong}

    with pytest.raises(ValueError, match="must be finite and >= 0"):
        PAPER.place(**given_amounts)


def test_a_machine_without_a_network_is_refused():
    """The E5645's network was never published."""
    with pytest.raises(UnknownCeiling, match="by 'network' on e5645"):
        _ = Ridgeline(machines=(load("e5645"),)).ridge


@pytest.mark.parametrize("work", ["dram", "network", "apples"])
def test_work_is_of_the_compute_path(work):
    """Bytes are no work."""
    with pytest.raises(ValueError, match="work must be one of fp64"):
        Ridgeline(machines=(CLX,), work=work)


def test_a_ridgeline_needs_a_machine():
    """Of none there is no slowest."""
    with pytest.raises(ValueError, match="machines must name at least one"):
        Ridgeline(machines=())


# --- lines of the plane -------------------------------------------------------------------------


@given(st.floats(1e-3, 1e3), st.floats(1e-3, 0.999), overlaps)
def test_on_an_iso_performance_line_performance_is_what_it_says(x, share, overlap):
    """The line is found by algebra; the core says what is attained there."""
    ridgeline = Ridgeline(machines=(CLX,), work="fp32", overlap=overlap)
    rate = share * ridgeline.peak
    y = ridgeline.iso_performance(rate, x)

    assert ridgeline.attainable(x, y) == pytest.approx(rate, rel=1e-6)


def test_the_line_of_nodes_that_differ_is_that_of_the_slowest():
    """At every x the higher of both lines; performance there is the lower of both."""
    nodes = (node(1e12, 1e11, 1e10), node(8e12, 5e10, 2e9))
    for overlap in ("full", "none"):
        ridgeline = Ridgeline(machines=nodes, work="fp32", overlap=overlap)
        x = np.logspace(-2, 3, 20)
        y = ridgeline.iso_performance(3e11, x)
        assert ridgeline.attainable(x, y) == pytest.approx([3e11] * 20)


def test_the_line_of_the_peak_is_the_edge_of_the_compute_region():
    """X y = 350 left of the ridge point, I_A = 40 right of it."""
    assert PAPER.iso_performance(4.2e12, [1, 3.5, 8.75, 100]) == pytest.approx([350, 100, 40, 40])


def test_without_overlap_the_peak_is_out_of_reach():
    """Bytes always take some of the time."""
    ridgeline = Ridgeline(machines=(CLX,), work="fp32", overlap="none")

    assert ridgeline.iso_performance(4.2e12, 1.0) == math.inf


@pytest.mark.parametrize("rate", [0.0, -1.0, 4.3e12, float("nan")])
def test_a_line_beyond_the_peak_is_refused(rate):
    """There is no such place."""
    with pytest.raises(ValueError, match="rate must be > 0 and at most the peak"):
        PAPER.iso_performance(rate, 1.0)


def test_the_compute_network_roofline():
    """min(4.2 Tflop/s, 12 GB/s x I_N): its ridge is 350."""
    assert PAPER.attainable_by_network([1, 350, 1000]) == pytest.approx([12e9, 4.2e12, 4.2e12])


# --- trajectories -------------------------------------------------------------------------------


def test_over_the_batch_there_is_a_trajectory_for_every_number_of_nodes():
    """Named by it; what belongs to which point is kept."""
    one, other = training_trajectories(PAPER, LAYER, batch=[256, 512], nodes=[1, 8])

    assert (one.name, one.variable, one.labels) == ("1 node", "batch", ("256", "512"))
    assert (other.batch, other.nodes) == ((256, 512), (8, 8))
    assert other.placed.limiter.tolist() == ["network", "compute"]


def test_with_one_batch_the_trajectory_goes_over_the_nodes():
    """Strong scaling of 2048 samples: the fullest node's 2048 / p against 350 x 8 (p-1)/p / 6."""
    (only,) = training_trajectories(PAPER, LAYER, batch=[2048], nodes=[1, 2, 4, 8], strong=True)

    assert (only.variable, only.labels) == ("nodes", ("1", "2", "4", "8"))
    assert only.placed.limiter.tolist() == ["compute", "compute", "compute", "network"]


def test_own_points_keep_their_names_and_order():
    """Each is a unit of work of its own."""
    own = point_trajectory(PAPER, {"b": (1.0, 2.0, 4.0), "a": (8.0, 4.0, 1.0)})

    assert own.labels == ("b", "a")
    assert own.placed.memory_intensity.tolist() == [0.5, 4.0]


def test_no_point_is_no_trajectory():
    """There is nothing to draw."""
    with pytest.raises(ValueError, match="points must name at least one"):
        point_trajectory(PAPER, {})


def test_nearest_to_a_ridge_is_the_unit_whose_two_longest_times_are_most_alike():
    """1 s and 4 s, 3 s and 2 s, 5 s and 1 s of computing and moving: the second, by 1.5."""
    bench = machine_of(ceiling("fp64", 1.0), ceiling("dram", 1.0), ceiling("network", 1.0))
    row = point_trajectory(
        Ridgeline(machines=(bench,)), {"a": (1, 4, 1), "b": (3, 2, 1), "c": (5, 1, 0)}
    )
    alone = point_trajectory(Ridgeline(machines=(bench,)), {"a": (1, 0, 0), "b": (0, 0, 2)})

    assert row.nearest_ridge == NearestRidge(index=1, longest="compute", second="memory", ratio=1.5)
    assert alone.nearest_ridge is None
