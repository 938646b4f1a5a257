"""A pipeline's figures with intervals, what gains it most, where its stages run, what to do."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from core_inputs import COUNTS, ceiling, machine_of, measured
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.counts import FlopCount, Traffic
from ridgepoint.core.demand import Demand
from ridgepoint.core.estimate import Estimate
from ridgepoint.models.pipeline import Pipeline, Stage
from ridgepoint.models.pipeline.advice import KINDS, pipeline_advice
from ridgepoint.models.pipeline.assessment import assess
from ridgepoint.models.pipeline.devices import assign
from ridgepoint.models.pipeline.observation import Observation, Share, rounded_up
from ridgepoint.models.pipeline.sensitivity import sensitivity
from ridgepoint.models.pipeline.uncertainty import draw

GPU = machine_of(ceiling("fp32", 4000e9), ceiling("dram", 250e9), name="memo")
LOAD = 415105.57e9
NAMES = ("grid", "ifft", "deconvolve", "fft", "degrid")
WORK = np.array([6400, 156.25, 225, 156.25, 4800]) * 1e9
INTENSITY = np.array([20, 1.25, 0.5, 1.25, 20])
TIMES = (4.0, 1.0, 3.0, 1.0, 4.0)


def stage(name, work, moved, **more):
    """Return a stage in single precision."""
    return Stage(name=name, demand=Demand({"fp32": work, "dram": moved}), **more)


def memo(times=None, **more):
    """Return the memo's pipeline with the audited figures."""
    known = times or [Estimate([t]) for t in TIMES]
    rows = zip(NAMES, WORK, WORK / INTENSITY, known, strict=True)
    stages = tuple(stage(n, w, q, time_s=t) for n, w, q, t in rows)
    return Pipeline(name="cip", stages=stages, **more)


# --- figures ------------------------------------------------------------------------------------


def test_the_memo_s_chain_from_eq_5_to_eq_11():
    """460 devices by Eq. (8) and by the exact bound; 13 s and a host time of 2 s are 15 s."""
    found = assess(memo(host_time_s=Estimate([2.0])), GPU, load_per_s=LOAD)
    capped, exact = found.composite("capped"), found.composite("exact")

    assert capped.devices.median == pytest.approx(459.755, abs=5e-4)
    assert exact.devices.median == pytest.approx(459.755, abs=5e-4)
    assert rounded_up(found.devices.median) == 460
    assert found.total_s.median == 15
    assert (found.time_s.median, found.bound_s) == (13, pytest.approx(5.6))
    assert capped.programming_efficiency.median == pytest.approx(0.355682, abs=5e-7)
    assert exact.programming_efficiency.median == pytest.approx(5.6 / 13)


def test_the_devices_move_with_the_composite():
    """N = L / (pi RE PE): RE of Eq. (5) is 9.315476 / 16, of Eq. (7) .788462."""
    found = assess(memo(), GPU, load_per_s=LOAD)

    assert found.composite("by bytes").devices.median == pytest.approx(
        LOAD / 4000e9 / (9.315476 / 16) / 0.355682, rel=1e-5
    )
    assert found.composite("by time").devices.median == pytest.approx(
        LOAD / 4000e9 / 0.788462 / 0.355682, rel=1e-5
    )
    assert found.composite("exact").devices_at_roof == pytest.approx(LOAD * 5.6 / 11737.5e9)
    assert found.mixed_s == pytest.approx(11737.5 / 4000 / (9.315476 / 16), rel=1e-6)


def test_it_says_by_how_much_a_composite_is_off_and_why():
    """Eq. (8) is 21 % above the series: deconvolution is 3/13 of the time, 1.8/5.6 at the roofs."""
    found = assess(memo(), GPU)
    capped, by_time = found.composite("capped"), found.composite("by time")

    assert capped.difference == pytest.approx(0.634615 * 5.6 * 4000 / 11737.5 - 1, abs=1e-5)
    assert "measured times: deconvolve takes 23 %, and 32 % at the roofs" in capped.why
    assert "beyond the ridge" in by_time.why
    assert "(grid, degrid)" in by_time.why
    assert found.composite("exact").difference == 0


def test_eq_8_agrees_where_all_roofs_are_equally_high():
    """Two stages far beyond the ridge: one reaches a tenth of the peak, the other a hundredth."""
    stages = tuple(
        stage(name, 4e12, 1e9, time_s=Estimate([time_s]))
        for name, time_s in (("a", 10), ("b", 100))
    )
    capped = assess(Pipeline(name="p", stages=stages), GPU).composite("capped")
    assert capped.difference == pytest.approx(0)
    assert "roofs of all stages are equally high" in capped.why
    near = assess(
        Pipeline(name="p", stages=(stage("a", 1e12, 1e12, time_s=Estimate([8.0])),
                                   stage("b", 4e12, 1e9, time_s=Estimate([2.0])))), GPU
    ).composite("capped")  # fmt: skip
    assert "reach the same share" in near.why


def test_eq_7_is_clipped_and_said_so():
    """A stage far beyond the ridge pulls the average past it."""
    found = assess(Pipeline(name="p", stages=(stage("s", 100e9, 1e9),)), GPU)

    assert found.composite("by time").is_clipped
    assert found.composite("by time").roofline_efficiency.median == 1
    assert "clipped" in {one.code for one in found.cautions}


def test_without_a_load_no_devices_are_counted():
    """Unknown is None."""
    found = assess(memo(), GPU)

    assert found.devices is None
    assert found.composite("capped").devices_at_roof is None
    assert found.total_s is None


def test_what_is_faster_than_its_roof_is_doubted():
    """225 Gflop at 0.5 flop/byte take at least 1.8 s."""
    one = stage("deconvolve", 225e9, 450e9, time_s=Estimate([0.9]))
    found = assess(Pipeline(name="p", stages=(one,)), GPU)

    assert [c.seen for c in found.cautions if c.code == "above-roof"] == [
        "deconvolve is 2.00 times as fast as its roof allows"
    ]


# --- uncertainty --------------------------------------------------------------------------------


def test_without_any_uncertainty_there_is_no_interval():
    """Single values: nothing is known of how uncertain they are, which is said."""
    found = assess(memo(), GPU, load_per_s=LOAD)

    assert found.devices.low is None
    assert found.uncertain == ()
    assert "single-values" in {one.code for one in found.cautions}


def test_one_uncertain_time_is_carried_to_the_devices():
    """One stage alone: N is in proportion to its time, so 95 % of N is 95 % of T."""
    one = stage("fft", 1e12, 1e12, time_s=Estimate([10.0], interval=(8.0, 13.0)))
    found = assess(Pipeline(name="p", stages=(one,)), GPU, load_per_s=1e12)

    assert found.devices.median == pytest.approx(10)
    assert found.devices.low == pytest.approx(8, rel=0.03)
    assert found.devices.high == pytest.approx(13, rel=0.03)


def test_independent_times_partly_cancel():
    """Four stages of 10 % each: the sum has 10 % / sqrt(4), to a few per cent of that."""
    times = [Estimate([1.0], interval=(0.9, 1.1)) for _ in range(4)]
    stages = tuple(stage(str(i), 1e12, 1e12, time_s=t) for i, t in enumerate(times))
    found = assess(Pipeline(name="p", stages=stages), GPU)

    assert (found.time_s.high - found.time_s.low) / 2 == pytest.approx(0.1 * 2, rel=0.06)


def test_measured_times_do_not_depend_on_the_ceilings_but_efficiencies_do():
    """N = L sum T / sum CL holds for any peak; with efficiencies the roof sets the time."""
    rates = Estimate([4000e9], interval=(3600e9, 4400e9))
    machine = machine_of(ceiling("fp32", 4000e9), ceiling("dram", 250e9))
    peak, memory = machine.ceilings
    machine = machine_of(type(peak)(resource="fp32", name="p", threads=1, unit="flop/s",
                                    rate=rates), memory)  # fmt: skip
    timed = stage("t", 1e12, 1e9, time_s=Estimate([1.0]))
    reached = stage("e", 1e12, 1e9, efficiency=Estimate([0.25]))

    by_time = assess(Pipeline(name="p", stages=(timed,)), machine, load_per_s=1e12).devices
    by_share = assess(Pipeline(name="p", stages=(reached,)), machine, load_per_s=1e12).devices
    assert (by_time.low, by_time.high) == (pytest.approx(1), pytest.approx(1))
    assert by_share.low == pytest.approx(4000 / 4400, rel=0.02)
    assert by_share.high == pytest.approx(4000 / 3600, rel=0.02)


def test_the_same_seed_gives_the_same_interval():
    """Nothing is left to chance."""
    times = [Estimate([t], interval=(0.8 * t, 1.3 * t)) for t in TIMES]

    found = [assess(memo(times), GPU, load_per_s=LOAD).devices for _ in range(2)]
    assert found[0].low < found[0].median < found[0].high
    assert found[0] == found[1]
    other = draw(memo(times), GPU, seed=1).times.time_s
    assert not np.array_equal(other, draw(memo(times), GPU, seed=2).times.time_s)


# --- sensitivity --------------------------------------------------------------------------------


def test_the_stage_with_most_time_gains_most():
    """A tenth of 4 s off 13 s; a tenth fewer bytes gain nothing under the flat roof."""
    found = sensitivity(memo(), GPU)
    grid, deconvolve = found.stages[0], found.stages[2]

    assert [one.name for one in found.stages] == ["grid", "degrid", "deconvolve", "ifft", "fft"]
    assert grid.time == pytest.approx(13 / 12.6)
    assert grid.moved_bytes == pytest.approx(1)
    assert grid.flop == pytest.approx(13 / 12.6)
    assert deconvolve.moved_bytes == pytest.approx(13 / 12.7)
    assert deconvolve.flop == 1


def test_the_figure_of_the_machine_that_buys_most():
    """10 % more compute: the ridge moves to 17.6, 8 s become 8/1.1; bandwidth: 5 s become 5/1.1."""
    found = sensitivity(memo(), GPU).device

    assert found.compute == pytest.approx(13 / (8 / 1.1 + 5))
    assert found.bandwidth == pytest.approx(13 / (8 + 5 / 1.1))
    assert found.both == pytest.approx(1.1)


def test_host_time_is_not_improved():
    """13 s of stages and 13 s of host: half of the gain."""
    found = sensitivity(memo(host_time_s=Estimate([13.0])), GPU)

    assert found.device.both == pytest.approx(26 / (13 + 13 / 1.1))
    with pytest.raises(ValueError, match="step"):
        sensitivity(memo(), GPU, step=1.5)


# --- machines that differ -----------------------------------------------------------------------

FAST_MEMORY = machine_of(ceiling("fp32", 1000e9), ceiling("dram", 1000e9), name="wide")


def test_stages_run_where_they_run_best():
    """Compute-bound stages stay; others move, where transforms are bound by compute: 0.3125 s."""
    found = assign(memo(), [GPU, FAST_MEMORY])

    assert [one.machine for one in found.stages] == ["memo", "wide", "wide", "wide", "memo"]
    assert found.time_s == pytest.approx(4 + 0.3125 + 0.75 + 0.3125 + 4)
    assert found.alone[0].time_s == pytest.approx(13)
    assert dict(found.shares) == {"memo": pytest.approx(8), "wide": pytest.approx(1.375)}


@given(
    st.lists(
        st.tuples(st.floats(1, 1e4), st.floats(1, 1e4), st.floats(0, 1e3)), min_size=1, max_size=4
    ),
    st.lists(st.tuples(st.floats(1, 1e3), st.floats(1, 1e3)), min_size=1, max_size=3),
    st.floats(0.1, 1e3),
)
def test_no_other_assignment_is_faster(rows, rates, link):
    """Against all of them, one by one."""
    stages = tuple(stage(str(i), w, q, output_bytes=o) for i, (w, q, o) in enumerate(rows))
    machines = [
        machine_of(ceiling("fp32", peak), ceiling("dram", memory), name=str(i))
        for i, (peak, memory) in enumerate(rates)
    ]

    def seconds(chosen):
        total = 0.0
        for i, m in enumerate(chosen):
            total += max(rows[i][0] / rates[m][0], rows[i][1] / rates[m][1])
            total += rows[i - 1][2] / link if i and chosen[i - 1] != m else 0.0
        return total

    every = itertools.product(range(len(machines)), repeat=len(rows))
    best = min(seconds(chosen) for chosen in every)
    found = assign(Pipeline(name="p", stages=stages), machines, link_bytes_per_s=link)
    assert found.time_s == pytest.approx(best)


def test_a_machine_that_cannot_run_a_stage_is_not_chosen_for_it():
    """It has no ceiling for that precision; a stage that nothing can run is refused."""
    half = machine_of(ceiling("fp16", 1e15), ceiling("dram", 1e15), name="half")
    found = assign(memo(), [GPU, half])

    assert {one.machine for one in found.stages} == {"memo"}
    assert found.alone[1].time_s is None
    with pytest.raises(ValueError, match="bytes 'grid'"):
        assign(memo(), [GPU, FAST_MEMORY], link_bytes_per_s=1e9)
    with pytest.raises(ValueError, match="machines must"):
        assign(memo(), [GPU, GPU])


# --- several pipelines --------------------------------------------------------------------------


def test_the_weighted_time_and_the_legroom():
    """Eq. (12): 0.75 x 13 + 0.25 x 15 = 13.5 s, which is 90 % of a period of 15 s exactly."""
    one = assess(memo(), GPU, load_per_s=LOAD)
    other = assess(memo(host_time_s=Estimate([2.0])), GPU, load_per_s=2 * LOAD)
    found = Observation(
        shares=(Share(assessment=one, weight=0.75), Share(assessment=other, weight=0.25)),
        period_s=15.0,
    )

    assert found.time_s.median == pytest.approx(13.5)
    assert found.load_per_s == pytest.approx(1.25 * LOAD)
    assert found.devices.median == pytest.approx(1.25 * 459.755, abs=1e-3)
    assert found.most_devices.median == pytest.approx(2 * 459.755, abs=1e-3)
    assert found.devices_to_fit(0.9).median == pytest.approx(1)
    assert found.devices_to_fit(0.8).median == pytest.approx(9 / 8)
    second = replace(found, is_of_a_second=True)
    assert second.time_s.median == pytest.approx(13.5 * 15)
    assert second.devices_to_fit(0.9).median == pytest.approx(15)
    assert replace(second, period_s=None).devices_to_fit(0.9).median == pytest.approx(15)


def test_intervals_of_independent_pipelines_add_up_in_squares():
    """Halves of 0.3 and 0.4 of a second, to either side: 0.5 x 0.5."""
    shares = []
    for width in (0.3, 0.4):
        timed = Estimate([1.0], interval=(1 - width, 1 + width))
        one = assess(Pipeline(name="p", stages=(stage("s", 1e9, 1e9, time_s=timed),)), GPU)
        exact = replace(one, time_s=timed)
        shares.append(Share(assessment=exact, weight=0.5))
    found = Observation(shares=tuple(shares)).time_s

    assert (found.low, found.high) == (pytest.approx(0.75), pytest.approx(1.25))


def test_weights_that_do_not_add_up_are_refused():
    """Nor is one that is none."""
    one = assess(memo(), GPU)
    half = Share(assessment=one, weight=0.5)

    with pytest.raises(ValueError, match=r"add up to 1, got 0\.5"):
        Observation(shares=(half,))
    with pytest.raises(ValueError, match="a weight must be"):
        Observation(shares=(Share(assessment=one, weight=math.nan),))
    assert Observation(shares=(half, half)).devices is None
    assert Observation(shares=(half, half)).devices_to_fit(0.8) is None


def test_devices_are_whole():
    """What rounding puts above a whole number does not count as one more."""
    assert [rounded_up(n) for n in (459.755, 460.0, 460.0000000001, 460.01)] == [460, 460, 460, 461]


# --- advice -------------------------------------------------------------------------------------


def test_every_kind_of_action_goes_where_the_stage_is():
    """Left of the ridge: fewer bytes, prefetch, a neighbour's work; under the flat roof: climb."""
    found = {(one.stage, one.kind): one for one in pipeline_advice(assess(memo(), GPU))}
    grid = found["grid", "parallelism"]

    assert grid.gain == pytest.approx(2.5)
    assert grid.pipeline_gain == pytest.approx(13 / (13 - 4 + 1.6))
    assert found["grid", "multiply-add"].gain == 2
    fewer = found["deconvolve", "fewer-bytes"]
    # 225 Gflop at 4000 Gflop/s and a PE of 0.6: 0.09375 s in place of 3.
    assert fewer.gain == pytest.approx(3 / 0.09375)
    assert fewer.pipeline_gain == pytest.approx(13 / (10 + 0.09375))
    assert found["deconvolve", "prefetch"].pipeline_gain == pytest.approx(13 / (10 + 1.8))
    assert ("grid", "fewer-bytes") not in found
    assert ("deconvolve", "multiply-add") not in found
    assert {kind for _, kind in found} == set(KINDS) - {"affinity"}


def test_work_of_a_neighbour_raises_intensity_and_gains_their_overlap():
    """An ifft (1 s of memory) inside grid (4 s of compute): at most what is hidden."""
    found = {(one.stage, one.kind): one for one in pipeline_advice(assess(memo(), GPU))}
    merged = found["ifft", "more-work-per-byte"]
    compute = 4 + 156.25 / 4000 / 0.5
    memory = 1 + 320 / 250 / 0.4

    assert merged.pipeline_gain == pytest.approx(13 / (13 - (5 - max(compute, memory))))
    assert "grid" in merged.seen


def test_nothing_is_said_of_a_pipeline_at_its_roof():
    """A compute-bound stage that reaches its roof has nothing to gain."""
    assert not pipeline_advice(assess(Pipeline(name="p", stages=(stage("s", 1e12, 1e9),)), GPU))


def test_what_was_counted_tells_the_kinds_apart():
    """Scalar additions where vectors of 256 bit are eight times as fast: vectors, nothing else."""
    scalar = FlopCount(
        precision="fp64",
        width_bits=0,
        fma=False,
        flop=1_000_000_000,
        instructions=1_000_000_000,
        operation="add",
    )
    moved = Traffic(level="dram", read_bytes=1_000_000, write_bytes=0)
    program = measured(traffic=(moved,), wall_s=(0.25,), counts=replace(COUNTS, flop=(scalar,)))
    one = Stage(
        name="run",
        demand=Demand({"fp64": 1e9, "dram": 1e6}),
        time_s=program.timed.runtime_s,
        measurement=program,
    )
    machine = machine_of(
        ceiling("fp64", 5e9, name="add scalar"),
        ceiling("fp64", 20e9, name="add 256-bit"),
        ceiling("fp64", 40e9, name="fma 256-bit"),
        ceiling("dram", 5e9),
    )
    found = pipeline_advice(assess(Pipeline(name="p", stages=(one,)), machine))

    assert [(each.kind, each.is_measured) for each in found] == [("parallelism", True)]
    assert found[0].gain == found[0].pipeline_gain
    assert 1 < found[0].gain <= 8


def test_memory_affinity_is_said_of_machines_with_several_nodes():
    """Only where a ceiling was measured of a part."""
    part = replace(ceiling("dram", 100e9), name="load", part="NUMA node 0")
    machine = machine_of(ceiling("fp32", 4000e9), ceiling("dram", 250e9), part)
    kinds = {one.kind for one in pipeline_advice(assess(memo(), machine)) if one.stage == "fft"}

    assert {"affinity", "prefetch", "fewer-bytes"} <= kinds
