"""Pipelines: the audited numbers of the memo's equations, and what must hold of any pipeline."""

import numpy as np
import pytest
from core_inputs import ceiling, machine_of
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.demand import Demand
from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.core.estimate import Estimate
from ridgepoint.models.pipeline import Pipeline, Stage
from ridgepoint.models.pipeline.times import devices, stage_times

GPU = machine_of(ceiling("fp32", 4000e9), ceiling("dram", 250e9), name="memo")
NAMES = ("grid", "ifft", "deconvolve", "fft", "degrid")
WORK = np.array([6400, 156.25, 225, 156.25, 4800]) * 1e9
INTENSITY = np.array([20, 1.25, 0.5, 1.25, 20])
TIMES = (4.0, 1.0, 3.0, 1.0, 4.0)


def stage(name, work, moved, **more):
    """Return a stage in single precision."""
    return Stage(name=name, demand=Demand({"fp32": work, "dram": moved}), **more)


def memo(**more):
    """Return the memo's pipeline with the audited figures."""
    rows = zip(NAMES, WORK, WORK / INTENSITY, TIMES, strict=True)
    return Pipeline(
        name="cip",
        stages=tuple(stage(n, w, q, time_s=Estimate([t])) for n, w, q, t in rows),
        **more,
    )


# --- the audited numbers ------------------------------------------------------------------------


def test_the_composites_are_the_audited_ones():
    """Eqs. (5), (7), (8) and (9) at 4000 Gflop/s and 250 GB/s."""
    found = stage_times(memo(), GPU)

    assert found.ridge == 16
    assert found.composite("by bytes")[0] == pytest.approx(9.315476, abs=5e-7)
    intensity, efficiency = found.composite("by time")
    assert intensity == pytest.approx(12.615385, abs=5e-7)
    assert efficiency == pytest.approx(0.788462, abs=5e-7)
    intensity, efficiency = found.composite("capped")
    assert intensity == pytest.approx(10.153846, abs=5e-7)
    assert efficiency == pytest.approx(0.634615, abs=5e-7)


def test_the_efficiencies_are_the_audited_ones():
    """CE, PE, every stage's PE, and the devices of Eq. (10)."""
    found = stage_times(memo(), GPU)
    efficiency = found.composite("capped")[1]
    needed = devices(415105.57e9, peak=found.peak, compute_efficiency=found.compute_efficiency)

    assert found.compute_efficiency == pytest.approx(0.225721, abs=5e-7)
    assert found.compute_efficiency / efficiency == pytest.approx(0.355682, abs=5e-7)
    assert found.programming_efficiency == pytest.approx([0.4, 0.5, 0.6, 0.5, 0.3])
    assert needed == pytest.approx(459.755, abs=5e-4)


def test_efficiencies_in_place_of_times_give_the_same():
    """T_i = t_i / PE_i."""
    rows = zip(NAMES, WORK, WORK / INTENSITY, (0.4, 0.5, 0.6, 0.5, 0.3), strict=True)
    stages = tuple(stage(n, w, q, efficiency=Estimate([e])) for n, w, q, e in rows)

    assert stage_times(Pipeline(name="cip", stages=stages), GPU).time_s == pytest.approx(TIMES)


def test_with_perfect_programming_the_capped_composite_is_the_exact_one():
    """CL = 100, 20, 30, 20, 100 at their roofs: RE = CE = .161483 either way."""
    work = np.array([100, 20, 30, 20, 100]) * 1e9
    rows = zip(NAMES, work, work / INTENSITY, strict=True)
    found = stage_times(Pipeline(name="cip", stages=tuple(stage(*row) for row in rows)), GPU)

    assert found.composite("capped")[1] == pytest.approx(0.161483, abs=5e-7)
    assert found.composite("exact")[1] == pytest.approx(0.161483, abs=5e-7)
    assert found.compute_efficiency == pytest.approx(0.161483, abs=5e-7)


def test_the_exact_bound_is_the_sum_of_the_stages():
    """1.6 + 0.5 + 1.8 + 0.5 + 1.2 = 5.6 s by hand, so RE = 11737.5 / 4000 / 5.6."""
    found = stage_times(memo(), GPU)

    assert found.bound_s == pytest.approx([1.6, 0.5, 1.8, 0.5, 1.2])
    assert found.composite("exact")[1] == pytest.approx(11737.5 / 4000 / 5.6)
    assert found.limiters == ("compute", "dram", "dram", "dram", "compute")


def test_repeats_count_as_often_as_they_run():
    """Eight executions of a stage are eight times its work, bytes and time."""
    one = stage("grid", 1e9, 1e9, time_s=Estimate([2.0]), repeat=8)
    found = stage_times(Pipeline(name="p", stages=(one,)), GPU)

    assert (found.work[0], found.moved_bytes[0], found.time_s[0]) == (8e9, 8e9, 16.0)


# --- what holds of any pipeline -----------------------------------------------------------------

amounts = st.floats(1e3, 1e15)
pipelines = st.lists(st.tuples(amounts, amounts, st.floats(0.01, 1.0)), min_size=1, max_size=6).map(
    lambda rows: Pipeline(
        name="p",
        stages=tuple(
            stage(str(index), work, moved, efficiency=Estimate([efficiency]))
            for index, (work, moved, efficiency) in enumerate(rows)
        ),
    )
)
machines = st.tuples(amounts, amounts).map(
    lambda rates: machine_of(ceiling("fp32", rates[0]), ceiling("dram", rates[1]))
)


@given(pipelines, machines)
def test_the_capped_composite_is_the_time_weighted_roof_over_the_bandwidth(pipeline, machine):
    """Sum W_i min(OI_i, OI_r) and sum W_i min(pi, beta OI_i) / beta, written out."""
    found = stage_times(pipeline, machine)
    peak, bandwidth = machine.rate("fp32"), machine.rate("dram")
    share = found.time_s / found.time_s.sum()
    intensity = np.array([one.work / one.bytes for one in pipeline.stages])
    roofs = np.minimum(peak, bandwidth * intensity)

    capped, efficiency = found.composite("capped")
    assert capped == pytest.approx((share * np.minimum(intensity, peak / bandwidth)).sum())
    assert capped == pytest.approx((share * roofs).sum() / bandwidth)
    assert efficiency == pytest.approx((share * roofs).sum() / peak)


@given(pipelines, machines)
def test_programming_times_roofline_efficiency_is_compute_efficiency(pipeline, machine):
    """PE = sum W_i P_i / sum W_i R_i, and RE of Eq. (8)."""
    found = stage_times(pipeline, machine)
    share = found.time_s / found.time_s.sum()
    reached, roofs = (share * found.work / seconds for seconds in (found.time_s, found.bound_s))
    efficiency = found.composite("capped")[1]

    assert reached.sum() / roofs.sum() * efficiency == pytest.approx(found.compute_efficiency)
    assert found.bound_s.sum() / found.time_s.sum() * found.composite("exact")[1] == pytest.approx(
        found.compute_efficiency
    )


@given(pipelines, machines)
def test_composites_are_in_order(pipeline, machine):
    """Mixed stages are never slower than stages in series; Eq. (7) never below Eq. (8)."""
    found = stage_times(pipeline, machine)
    by_bytes, by_time, capped, exact = (
        found.composite(rule)[1] for rule in ("by bytes", "by time", "capped", "exact")
    )

    assert exact <= by_bytes * (1 + 1e-12)
    assert capped <= by_time * (1 + 1e-12)
    assert max(capped, by_bytes, exact) <= 1 + 1e-12


@given(st.lists(st.tuples(amounts, amounts), min_size=1, max_size=6), machines, st.floats(0.01, 1))
def test_where_every_stage_reaches_the_same_share_both_rules_agree(rows, machine, share):
    """Eq. (8) weights by measured time: with one PE for all, that is the time at the roofs."""
    stages = tuple(
        stage(str(index), *row, efficiency=Estimate([share])) for index, row in enumerate(rows)
    )
    found = stage_times(Pipeline(name="p", stages=stages), machine)

    assert found.composite("capped")[1] == pytest.approx(found.composite("exact")[1])


# --- extremes -----------------------------------------------------------------------------------


def test_a_pure_copy_and_a_pure_loop_have_their_places():
    """Intensities 0 and infinite; Eq. (7) is infinite then, Eq. (8) is not."""
    copy = Stage(name="copy", demand=Demand({"dram": 250e9}))
    loop = Stage(name="loop", demand=Demand({"fp32": 4000e9}))
    found = stage_times(Pipeline(name="p", stages=(copy, loop)), GPU)

    assert list(found.intensity) == [0.0, np.inf]
    assert found.composite("by time")[0] == np.inf
    assert found.composite("capped") == (8.0, 0.5)
    assert found.composite("by bytes") == (16.0, 1.0)
    assert found.composite("exact") == (8.0, 0.5)


def test_a_mix_of_precisions_adds_up_on_the_same_pipes():
    """1 s of fp32 and 1 s of fp64 are 2 s; the peak is that of the mix."""
    machine = machine_of(ceiling("fp32", 4e9), ceiling("fp64", 2e9), ceiling("dram", 1e9))
    both = Stage(name="both", demand=Demand({"fp32": 4e9, "fp64": 2e9, "dram": 1e9}))
    found = stage_times(Pipeline(name="p", stages=(both,)), machine)

    assert found.peak == 3e9
    assert found.composite("capped")[1] == 1.0


def test_a_machine_without_the_precision_is_refused():
    """It says what it lacks."""
    with pytest.raises(UnknownCeiling, match="fp32"):
        stage_times(memo(), machine_of(ceiling("fp64", 1e9), ceiling("dram", 1e9)))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: stage("s", 0, 0), "work or traffic"),
        (lambda: stage("s", 1, 1, time_s=Estimate([0])), "time_s must be > 0"),
        (lambda: stage("s", 1, 1, efficiency=Estimate([1.5])), "efficiency must be in"),
        (
            lambda: stage("s", 1, 1, time_s=Estimate([1]), efficiency=Estimate([1])),
            "not both",
        ),
        (lambda: stage("s", 1, 1, repeat=0), "repeat must be"),
        (lambda: Stage(name="s", demand=Demand({"l1": 1})), "got 'l1'"),
        (lambda: Pipeline(name="p", stages=()), "at least one"),
        (lambda: Pipeline(name="p", stages=(stage("s", 1, 1),) * 2), "two stages are called 's'"),
        (lambda: Pipeline(name="p", stages=(stage("s", 0, 1),)), "copies alone"),
        (lambda: devices(float("nan"), peak=1, compute_efficiency=1), "load_per_s must be"),
    ],
)
def test_what_is_impossible_is_refused(make, said):
    """Each with the reason."""
    with pytest.raises(ValueError, match=said):
        make()
