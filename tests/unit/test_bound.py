import numpy as np
import pytest
from core_inputs import ceiling, machine_of
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.bound import bound, bound_known, combined, ridge, series, slowest
from ridgepoint.core.demand import Demand
from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.published.machines import load

amounts = st.floats(1e-3, 1e15)
resources = st.sampled_from(["fp64", "fp32", "dram_read", "dram_write", "l2", "network"])
demands = st.dictionaries(resources, amounts, min_size=1).map(Demand)
BENCH = machine_of(
    ceiling("fp64", 4e9),
    ceiling("fp32", 8e9),
    ceiling("dram", 3e9),
    ceiling("dram_read", 2.5e9),
    ceiling("dram_write", 1.5e9),
    ceiling("l2", 2e10),
    ceiling("network", 1e9),
)


# --- published values ---------------------------------------------------------------------------


def ridgeline_step(batch):
    """One layer of 4096 x 4096, forward and backward, and its ring all-reduce, in FP32."""
    n = 4096.0
    return Demand(
        {
            "fp32": 6 * batch * n * n,
            "dram": 4 * (n * n + 2 * batch * n),
            "network": 8 * n * n + 0 * batch,
        }
    )


def test_the_ridgeline_of_a_data_parallel_layer():
    """Checconi et al., arXiv:2209.01368, case study: limiters and times over the batch."""
    batch = np.array([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096])
    step = bound(ridgeline_step(batch), load("cascade-lake"))

    assert step.limiter.tolist() == ["network"] * 9 + ["compute"] * 4
    assert step.times_s["network"] * 1e3 == pytest.approx([11.1848] * 13, rel=1e-5)
    assert step.times_s["compute"][[0, 4, 9, 12]] * 1e3 == pytest.approx(
        [0.0240, 0.3835, 12.2713, 98.1707], rel=2e-3
    )
    assert step.times_s["dram"][[0, 4, 9, 12]] * 1e3 == pytest.approx(
        [0.6394, 0.6441, 0.7989, 1.9174], rel=1e-4
    )
    gflop_per_s = ridgeline_step(batch).amounts["fp32"] / step.time_s / 1e9
    assert gflop_per_s == pytest.approx(
        [9, 18, 36, 72, 144, 288, 576, 1152, 2304, 4200, 4200, 4200, 4200], rel=1e-3
    )


def test_one_node_of_it_is_memory_bound_up_to_a_batch_of_27():
    """The same layer without its network: the roofline turns between 27.02 and 28."""
    batch = np.array([1, 16, 27, 28, 32, 64])
    layer = ridgeline_step(batch).amounts
    alone = Demand({"fp32": layer["fp32"], "dram": layer["dram"]})

    limiters = bound(alone, load("cascade-lake")).limiter

    assert limiters.tolist() == ["dram", "dram", "dram", "compute", "compute", "compute"]


@pytest.mark.parametrize(
    ("overlap", "gflop_per_s"),
    [
        (
            "none",
            [
                0.476190,
                0.909091,
                1.666667,
                2.857143,
                4.444444,
                5,
                6.153846,
                7.619048,
                8.648649,
            ],
        ),
        ("full", [0.5, 1, 2, 4, 8, 10, 10, 10, 10]),
    ],
)
def test_a_multicore_node_with_and_without_overlap(overlap, gflop_per_s):
    """Kredel, Kruse, Richling, 3PGCIC 2015: l_c = 0.5 Gflop/s, x = 20, over q cores."""
    node = machine_of(
        ceiling("fp64", 0.5e9),
        ceiling("fp64", 64e9, threads=128),
        ceiling("dram", 1e9),
        ceiling("dram", 1e9, threads=128),
        cores=128,
    )
    # x = 20 = a / a*, with a* = l_c / b_m = 0.5 flop/byte, is 10 flop per byte.
    problem = Demand({"fp64": 10e9, "dram": 1e9})
    cores = [1, 2, 4, 8, 16, 20, 32, 64, 128]

    time_s = bound(problem, node, overlap=overlap, cores=cores).time_s

    assert 10 / time_s == pytest.approx(gflop_per_s, abs=1e-6)


@pytest.mark.parametrize(
    ("nodes", "speed_up"), [(1, 7.9618), (4, 27.6243), (16, 31.3972), (64, 9.7312)]
)
def test_a_matrix_product_on_a_cluster_with_one_shared_link(nodes, speed_up):
    """The same model's cluster part, sum form: 8 cores of 8 Gflop/s, 16 GB/s, one 2 GB/s link."""
    cluster = machine_of(
        ceiling("fp64", nodes * 64e9), ceiling("dram", nodes * 16e9), ceiling("network", 2e9)
    )
    n = 1e4
    product = Demand({"fp64": 2 * n**3, "dram": 24 * n**2, "network": 8 * n**2 * (nodes - 1)})

    assert 2 * n**3 / bound(product, cluster, overlap="none").time_s / 8e9 == pytest.approx(
        speed_up, rel=1e-5
    )


def test_a_pipeline_of_stages():
    """SDP Memo 54: roofline efficiency of five stages, weighted by their times."""
    device = machine_of(ceiling("fp64", 4000e9), ceiling("dram", 250e9))
    intensity = np.array([20, 1.25, 0.5, 1.25, 20])
    time_s = np.array([4.0, 1, 3, 1, 4])

    attainable = intensity / bound(Demand({"fp64": intensity, "dram": 1.0}), device).time_s
    efficiency = (time_s * attainable).sum() / time_s.sum() / 4000e9

    assert efficiency == pytest.approx(0.634615, rel=1e-6)
    assert efficiency * 16 == pytest.approx(10.153846, rel=1e-6)


def test_the_data_centre_workloads_on_the_e5645():
    """Wang et al., arXiv:1801.09212, Table 12: min(86.4, 13.2 OI) and its bottleneck."""
    oi = np.array([11.7, 1.2, 3.2, 51, 25, 9.57])
    workloads = bound(Demand({"bop": oi, "dram": 1.0}), load("e5645"))

    assert oi / workloads.time_s / 1e9 == pytest.approx([86.4, 15.84, 42.24, 86.4, 86.4, 86.4])
    assert workloads.limiter.tolist() == ["compute", "dram", "dram", *["compute"] * 3]


def test_reads_alone_hold_a_matrix_vector_product_back():
    """Ofenbeck et al., Fig. 2: on one CSB core dgemv is bound by reads, daxpy by both together."""
    csb, n = load("csb"), 1000.0
    dgemv = {"fp64": 2 * n**2 + 2 * n, "dram_read": 8 * n**2 + 16 * n, "dram_write": 8 * n}
    daxpy = {"fp64": 2 * n, "dram_read": 16 * n, "dram_write": 8 * n}

    assert bound(Demand(dgemv), csb, cores=1).binding == "dram_read"
    assert bound(Demand(dgemv), csb, cores=1).limiter == "dram"
    assert bound(Demand(daxpy), csb, cores=1).binding == "dram"


# --- rules --------------------------------------------------------------------------------------


def test_precisions_share_the_compute_units():
    """4 Gflop of fp64 at 4 Gflop/s and 8 of fp32 at 8 take two seconds, not one."""
    both = bound(Demand({"fp64": 4e9, "fp32": 8e9}), BENCH)

    assert both.times_s == {"compute": 2.0}
    assert both.time_s == 2.0


def test_directions_share_a_bus_and_have_limits_of_their_own():
    """3 GB/s together, 2.5 to read, 1.5 to write: by hand."""
    mixed = bound(Demand({"dram_read": 2e9, "dram_write": 1e9}), BENCH)
    reads = bound(Demand({"dram_read": 5e9}), BENCH)
    writes = bound(Demand({"dram_read": 1e9, "dram_write": 3e9}), BENCH)

    assert (mixed.time_s, mixed.binding) == (1.0, "dram")
    assert (reads.time_s, reads.binding) == (2.0, "dram_read")
    assert (writes.time_s, writes.binding) == (2.0, "dram_write")
    assert {mixed.limiter, reads.limiter, writes.limiter} == {"dram"}


def test_of_two_equal_times_the_first_path_limits():
    """At the ridge point the program is compute-bound, as the field says."""
    assert bound(Demand({"dram": 3e9, "fp64": 4e9}), BENCH).limiter == "compute"


def test_what_needs_equally_long_binds_together_one_limit_of_each_path():
    """98.5 s of computing, 100 s of reading, of which the bus needs 99: one limit of the memory."""
    machine = machine_of(
        ceiling("fp64", 1.0), ceiling("dram", 2.0), ceiling("dram_read", 1.0), ceiling("network", 1)
    )
    demand = Demand({"fp64": 98.5, "dram_read": 100, "dram_write": 98, "network": 97})

    assert bound(demand, machine).bind_equally(within=1.02) == ("dram_read", "compute")
    assert bound(demand, machine).bind_equally(within=1.0) == ("dram_read",)
    assert bound(Demand({"fp64": 0.0}), machine).bind_equally(within=1.0) == ("compute",)
    with pytest.raises(ValueError, match="one design"):
        bound(demand * [1, 2], machine).bind_equally(within=1.02)


def test_a_demand_for_nothing_takes_no_time():
    """An amount of 0 is known, and needs 0 s in every combination."""
    nothing = Demand({"fp64": 0.0, "dram": 0.0})

    assert [bound(nothing, BENCH, overlap=k).time_s for k in ("full", "none", 3)] == [0, 0, 0]


@given(demands, st.floats(0.01, 100.0), st.sampled_from(["full", "none", 2.5]))
def test_the_bound_is_homogeneous(demand, factor, overlap):
    """Twice the work takes twice the time."""
    once = bound(demand, BENCH, overlap=overlap).time_s

    assert bound(demand * factor, BENCH, overlap=overlap).time_s == pytest.approx(
        factor * once, rel=1e-9
    )


@given(demands, demands, st.sampled_from(["full", "none", 4]))
def test_more_work_never_takes_less_time(demand, more, overlap):
    """The bound is monotone, and work done together needs no more than one after the other."""
    alone = bound(demand, BENCH, overlap=overlap).time_s
    after = bound(more, BENCH, overlap=overlap).time_s
    together = bound(demand + more, BENCH, overlap=overlap).time_s

    assert together >= alone * (1 - 1e-12)
    assert together <= (alone + after) * (1 + 1e-9)


@given(demands, st.floats(1.0, 1e3))
def test_a_partial_overlap_lies_between_full_and_none(demand, k):
    """The maximum of t <= (sum t^k)^(1/k) <= the sum of t."""
    full, part, none = (bound(demand, BENCH, overlap=o).time_s for o in ("full", k, "none"))

    assert full * (1 - 1e-12) <= part <= none * (1 + 1e-12)


@given(demands)
def test_a_large_exponent_approaches_full_overlap(demand):
    """With six paths at most, (sum t^k)^(1/k) exceeds the maximum by no more than 6^(1/k)."""
    full = bound(demand, BENCH).time_s

    assert bound(demand, BENCH, overlap=1e6).time_s == pytest.approx(full, rel=1e-5)
    assert bound(demand, BENCH, overlap=float("inf")).time_s == full
    assert bound(demand, BENCH, overlap=1).time_s == pytest.approx(
        bound(demand, BENCH, overlap="none").time_s, rel=1e-12
    )


@given(
    st.lists(st.tuples(amounts, amounts, amounts), min_size=1, max_size=8),
    st.sampled_from(["full", "none", 3]),
)
def test_a_sweep_is_its_designs_one_by_one(designs, overlap):
    """Arrays give element by element what scalars give."""
    fp64, read, network = np.array(designs).T
    names = ("fp64", "dram_read", "network")
    sweep = bound(
        Demand(dict(zip(names, (fp64, read, network), strict=True))), BENCH, overlap=overlap
    )
    single = [
        bound(Demand(dict(zip(names, design, strict=True))), BENCH, overlap=overlap)
        for design in designs
    ]

    assert sweep.time_s.tolist() == pytest.approx([one.time_s for one in single], rel=1e-14)
    assert sweep.limiter.tolist() == [one.limiter for one in single]
    assert sweep.binding.tolist() == [one.binding for one in single]


@pytest.mark.parametrize("overlap", ["some", 0.5, 0, -1, float("nan")])
def test_an_overlap_that_means_nothing_is_refused(overlap):
    """Below 1 the combination exceeds even the sum."""
    with pytest.raises(ValueError, match="overlap must be"):
        bound(Demand({"fp64": 1.0}), BENCH, overlap=overlap)


def test_work_is_not_counted_in_two_metrics_at_once():
    """BOPs and flop count the same work."""
    with pytest.raises(ValueError, match="one metric of work at a time"):
        bound(Demand({"fp64": 1.0, "bop": 1.0}), load("e5645"))


def test_an_empty_demand_is_refused():
    """There is nothing to bound."""
    with pytest.raises(ValueError, match="at least one resource"):
        bound(Demand({}), BENCH)


def test_a_machine_without_the_ceiling_is_refused():
    """The D510's bandwidth was never published: no bound is invented."""
    with pytest.raises(UnknownCeiling, match=r"by 'dram' on d510: .*known: fp64, bop"):
        bound(Demand({"bop": 1.0, "dram_read": 1.0}), load("d510"))


# --- what a bound answers -----------------------------------------------------------------------


def test_a_bound_answers_for_the_work_that_it_is_of():
    """6 Gflop on 2 GB read and 1 GB written, at 4 Gflop/s and 3 GB/s: by hand."""
    least = bound(Demand({"fp64": 6e9, "dram_read": 2e9, "dram_write": 1e9}), BENCH)

    assert (least.work, least.time_s, least.attainable) == (6e9, 1.5, 4e9)
    assert (least.intensity(), least.intensity("dram_read")) == (2.0, 3.0)
    assert (least.performance(3.0), least.efficiency(3.0)) == (2e9, 0.5)


def test_the_intensity_of_what_moves_nothing_is_infinite():
    """And that of a copy is 0."""
    assert bound(Demand({"fp64": 1.0}), BENCH).intensity() == float("inf")
    assert bound(Demand({"dram": 1.0}), BENCH).intensity() == 0.0
    assert bound(Demand({"dram": 1.0}), BENCH).attainable == 0.0


@given(amounts, amounts)
def test_attainable_is_the_roofline(flop, moved):
    """min(pi, beta I), as Williams et al. write it."""
    least = bound(Demand({"fp64": flop, "dram": moved}), BENCH)

    assert least.attainable == pytest.approx(min(4e9, 3e9 * flop / moved), rel=1e-12)


def test_at_the_ridge_point_computing_takes_as_long_as_moving():
    """Of the Ridgeline's machine: 4.2 Tflop/s over 105 GB/s is 40 flop/byte."""
    node = load("cascade-lake")
    least = bound(Demand({"fp32": ridge(node, "fp32") * 1e6, "dram": 1e6}), node)

    assert ridge(node, "fp32") == pytest.approx(40)
    assert ridge(node, "fp32", "network") == pytest.approx(350)
    assert least.times_s["compute"] == pytest.approx(least.times_s["dram"], rel=1e-12)


@given(demands)
def test_what_has_no_ceiling_is_left_out_of_the_bound_and_named(demand):
    """A machine that knows memory alone bounds the traffic; the work stays known."""
    memory = machine_of(ceiling("dram", 3e9))
    least = bound_known(demand, memory)
    moved = {name: a for name, a in demand.amounts.items() if name.startswith("dram")}

    if not moved:
        assert least is None
        return
    assert least.time_s == bound(Demand(moved), memory).time_s
    assert set(least.left_out) == set(demand.amounts) - set(moved)
    assert set(least.known.amounts) == set(moved)
    assert least.work == demand.amounts.get("fp64", 0.0) + demand.amounts.get("fp32", 0.0)


# --- several bounds -----------------------------------------------------------------------------


@given(demands)
def test_a_series_of_one_part_is_that_part(demand):
    """Nothing is added."""
    alone = bound(demand, BENCH)

    assert series([alone]).time_s == alone.time_s
    assert series([alone]).times_s == alone.times_s
    assert series([alone]).demand.amounts == alone.demand.amounts


@given(st.lists(demands, min_size=1, max_size=5))
def test_a_series_takes_the_sum_and_what_overlaps_no_more(parts):
    """Parts in series take their sum; mixed well, the demand of all is bounded by less."""
    bounds = [bound(part, BENCH) for part in parts]
    whole, mixed = series(bounds), sum(parts[1:], parts[0])

    assert whole.time_s == pytest.approx(sum(part.time_s for part in bounds), rel=1e-12)
    assert whole.work == pytest.approx(sum(part.work for part in bounds), rel=1e-12)
    assert bound(mixed, BENCH).time_s <= combined(whole.times_s.values()) * (1 + 1e-12)
    assert combined(whole.times_s.values()) <= whole.time_s * (1 + 1e-12)


def test_of_equal_times_in_a_series_compute_limits():
    """1 s of moving, then 1 s of computing: at the ridge point of the whole."""
    parts = [bound(Demand({"dram": 3e9}), BENCH), bound(Demand({"fp64": 4e9}), BENCH)]

    assert series(parts).limiter == "compute"
    assert series(parts).time_s == 2.0


@given(demands, st.lists(st.floats(0.1, 10.0), min_size=1, max_size=4))
def test_the_slowest_of_several_machines_bounds(demand, speeds):
    """Machines that differ by a factor alone: the bound is that of the least one."""
    bounds = [
        bound(demand, machine_of(*(ceiling(n, 1e9 * speed) for n in demand.amounts)))
        for speed in speeds
    ]

    assert slowest(bounds).time_s == max(one.time_s for one in bounds)
    assert slowest(bounds).binding == bounds[speeds.index(min(speeds))].binding
    assert slowest(bounds[:1]).times_s == bounds[0].times_s
