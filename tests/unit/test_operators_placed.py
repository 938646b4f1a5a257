"""Operators under roofs, by hand and by a cache simulated byte by byte."""

from dataclasses import replace

import pytest
from core_inputs import ceiling, machine_of
from hypothesis import given
from hypothesis import strategies as st
from placed_operators import MACHINE, UNKNOWN, asked, cached, operator, profile_of

from ridgepoint.core.demand import Demand
from ridgepoint.models.operators import analyse_operators, least_demand
from ridgepoint.models.operators.least import least_time

# --- least demand ---------------------------------------------------------------------------------


def amounts(asks, machine):
    """Return what a call asks of a machine, by resource."""
    return dict(least_demand(asks, machine).amounts)


def test_without_known_caches_all_bytes_cross_dram():
    """Nothing is known to hold them."""
    assert amounts(asked(8.0, read=100.0, write=50.0), MACHINE) == {
        "fp32": 8.0, "dram_read": 100.0, "dram_write": 50.0,
    }  # fmt: skip


def test_each_direction_crosses_a_level_as_far_as_the_caches_before_cannot_hold_it():
    """Inputs may be there before the call, and results may stay there after it."""
    machine = cached(machine_of(ceiling("dram", 1.0)), 10, 30)

    assert amounts(asked(read=100.0, write=35.0), machine) == {
        "l1_read": 100.0, "l1_write": 35.0,
        "l2_read": 90.0, "l2_write": 25.0,
        "dram_read": 60.0,
    }  # fmt: skip


def test_all_caches_of_a_level_hold_bytes_together():
    """Three CPUs share caches in pairs: there are two of them."""
    machine = cached(machine_of(ceiling("dram", 1.0), cores=3), 10, cores=2)

    assert amounts(asked(read=100.0), machine)["dram_read"] == 80.0


def test_an_unknown_demand_stays_unknown():
    """Neither work nor bytes become 0."""
    assert least_demand(UNKNOWN, MACHINE) is None
    assert least_demand(replace(asked(1.0), write_bytes=None), MACHINE) is None


def test_a_view_needs_no_time():
    """Its bound is 0 s, not unknown, and it has no efficiency."""
    placed = analyse_operators(profile_of(operator(asked(), time_s=1e-6)), MACHINE).operators[0]

    assert placed.bound.time_s == 0
    assert (placed.explained_by, placed.limiter, placed.efficiency) == ("nothing", None, None)


def traffic_by_simulation(read, write, size, before):
    """Count units moved behind a cache that evicts the best unit: it knows the future.

    Units 0..read-1 are read, then as many others written, in any order that moves least. The cache
    holds `before` when it starts. Written units may remain there.
    """
    held = set(list(before)[:size])
    reads = 0
    for unit in range(read):
        if unit not in held:
            reads += 1
        held.discard(unit)  # never needed again
    writes = max(write - size, 0)  # what does not fit is written back
    return reads, writes


@given(read=st.integers(0, 40), write=st.integers(0, 40), size=st.integers(1, 20))
def test_no_cache_moves_less_than_the_least(read, write, size):
    """The best cache, which holds what will be read and keeps what was written, moves just that."""
    machine = cached(machine_of(ceiling("dram", 1.0)), size)
    found = amounts(asked(read=float(read), write=float(write)), machine)

    best = traffic_by_simulation(read, write, size, before=range(size))
    assert (found.get("dram_read", 0.0), found.get("dram_write", 0.0)) == best


def test_flop_and_op_may_work_at_once():
    """1 s of flop and 2 s of op beside them: 2 s, and not an error, nor 3 s."""
    machine = machine_of(ceiling("fp32", 1.0), ceiling("int8", 1.0), ceiling("dram", 1.0))
    both = Demand({"fp32": 1.0, "int8": 2.0, "dram": 0.5})

    bound = least_time(both, machine)
    assert (bound.time_s, bound.limiter, bound.demand) == (2.0, "compute", both)


def test_integers_without_a_ceiling_are_left_out_and_named():
    """The bound is that of what the machine has ceilings for."""
    bound = least_time(Demand({"fp32": 1.0, "int64": 2.0}), machine_of(ceiling("fp32", 1.0)))

    assert (bound.time_s, bound.left_out) == (1.0, ("int64",))


# --- what explains the time -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asks", "time_s", "explained"),
    [
        (asked(400e6), 1.5e-3, "compute"),  # 1 ms at 400 Gflop/s
        (asked(400e6), 0.9e-3, "above-roof"),
        (asked(read=10e6), 1.9e-3, "dram"),  # 1 ms at 10 GB/s
        (asked(read=10e6), 2.1e-3, "unexplained"),
        (asked(read=1.0), 3e-6, "calls"),  # a view takes 2 us
        (UNKNOWN, 1e-3, "unknown"),
        (asked({"fp16": 1.0}), 1e-3, "dram"),
        (asked(400e6), None, "not-timed"),
    ],
)
def test_what_explains_the_time_of_an_operator(asks, time_s, explained):
    """Half of the time or more is the roof's, the call's, or nobody's."""
    if asks.work and "fp16" in asks.work:
        asks = replace(asks, read_bytes=10e6)
    view = operator(asked(kind="view"), name="aten.view", time_s=8e-6, calls=4)
    analysis = analyse_operators(profile_of(operator(asks, time_s=time_s), view), MACHINE)

    found = {placed.operator.name: placed.explained_by for placed in analysis.operators}
    assert analysis.call_s == 2e-6
    assert found == {"aten.op": explained, "aten.view": "nothing"}


def test_a_machine_without_any_ceiling_for_it_says_so():
    """It has no bound, though its demand is known."""
    placed = analyse_operators(
        profile_of(operator(asked({"fp64": 1.0}), time_s=1.0)), machine_of(ceiling("fp32", 1.0))
    ).operators[0]

    assert (placed.bound, placed.explained_by) == (None, "no-ceiling")


def test_roofs_are_those_of_its_threads_where_it_was_timed_and_of_all_cores_elsewhere():
    """On another machine a library would use all cores."""
    one_thread = profile_of(operator(asked(400e6), time_s=8e-3), threads=1)
    other = replace(MACHINE, host=replace(MACHINE.host, cpu="another"))

    here, there = (analyse_operators(one_thread, machine) for machine in (MACHINE, other))
    assert here.whole.bound.time_s == 4e-3  # 100 Gflop/s of one core
    assert here.whole.efficiency == 0.5
    assert there.whole.bound.time_s == 1e-3
    assert (there.whole.efficiency, there.operators[0].efficiency) == (None, None)


def test_how_much_faster_another_machine_is_leaves_out_what_was_not_timed():
    """2 ms here, 1 ms there; the other operator needs 1 ms there, too, and has no time here."""
    profile = profile_of(operator(asked(400e6), time_s=2e-3), operator(asked(400e6)))
    there = replace(MACHINE, name="there", host=replace(MACHINE.host, cpu="another"))

    assert analyse_operators(profile, there).verdict == (
        "on there the operators need at least 2 ms, limited by compute",
        "the same operators took 2 ms on none: by its roofs there is at most 2 times as fast",
    )


@pytest.mark.parametrize(
    ("ran_on", "roofs_of", "is_elsewhere"),
    [
        ("NVIDIA H200", "NVIDIA H200 SXM", False),
        ("NVIDIA A100-SXM4-80GB", "NVIDIA A100", False),
        ("NVIDIA A100-SXM4-80GB", "NVIDIA H200 SXM", True),
        ("", "NVIDIA H200 SXM", True),
    ],
)
def test_a_gpu_is_known_by_any_of_its_names(ran_on, roofs_of, is_elsewhere):
    """Data sheets name the form factor, drivers do not always."""
    machine = replace(MACHINE, host=replace(MACHINE.host, cpu=roofs_of))
    profile = profile_of(operator(asked(1.0), time_s=1.0), device="cuda:0", processor=ran_on)

    assert analyse_operators(profile, machine).is_elsewhere is is_elsewhere


# --- groups ---------------------------------------------------------------------------------------


def test_modules_hold_what_is_inside_them_and_shares_are_of_all_operators():
    """The outermost module is the whole."""
    profile = profile_of(
        operator(asked(400e6), module="a.b", time_s=2e-3),
        operator(asked(400e6), module="a", time_s=1e-3),
        operator(asked(400e6), module="c", time_s=1e-3),
    )
    modules = analyse_operators(profile, MACHINE).modules

    assert [(m.name, m.share, m.efficiency) for m in modules] == [
        ("", 1.0, 0.75), ("a", 0.75, 2 / 3), ("a.b", 0.5, 0.5), ("c", 0.25, 1.0),
    ]  # fmt: skip


def test_times_add_by_their_medians_so_that_shares_are_those_of_the_times():
    """However many runs each was timed in, and however the runs differ."""
    profile = profile_of(
        operator(asked(), module="a", time_s=[1.0, 2.0, 9.0]),
        operator(asked(), module="b", time_s=[7.0, 6.0]),
        operator(asked(), module="b", time_s=[9.0, 1.0, 1.5]),
    )
    whole, *parts = analyse_operators(profile, MACHINE).modules

    assert whole.time_s.median == 10.0
    assert [part.time_s.median for part in parts] == [2.0, 8.0]
    assert [part.share for part in parts] == [0.2, 0.8]


def test_equal_calls_of_all_layers_are_together():
    """Only another shape sets a call apart."""
    layers = [
        operator(asked(4.0), name="aten.mm", module=f"layers.{at}", time_s=1.0, shape=(2,))
        for at in range(3)
    ]
    other = operator(asked(4.0), name="aten.mm", module="head", time_s=2.0, shape=(3,))
    alike = analyse_operators(profile_of(*layers, other), MACHINE).alike

    assert [(group.name, group.calls, round(group.share, 9)) for group in alike] == [
        ("aten.mm", 3, 0.6), ("aten.mm", 1, 0.4),
    ]  # fmt: skip


def test_fused_all_work_is_done_once_and_only_what_was_there_before_is_read():
    """2 ms of fp32 and 2 ms of bytes, apart 3 ms: at most 1.5 times as fast."""
    profile = profile_of(
        operator(asked(400e6, read=10e6)),
        operator(asked(400e6)),
        operator(asked(read=10e6)),
        outer_bytes=20e6,
    )
    analysis = analyse_operators(profile, MACHINE)

    assert (analysis.fused.time_s, analysis.fusion_gain) == (2e-3, 1.5)
    assert analyse_operators(replace(profile, outer_bytes=None), MACHINE).fused is None


_OPERATORS = st.lists(
    st.builds(
        operator,
        st.one_of(
            st.just(UNKNOWN),
            st.builds(
                asked,
                st.floats(0, 1e12),
                read=st.floats(0, 1e9),
                write=st.floats(0, 1e9),
                functions=st.sampled_from([0.0, 5.0]),
            ),
        ),
        module=st.sampled_from(["", "a", "a.b", "c"]),
        calls=st.integers(1, 5),
        time_s=st.one_of(st.none(), st.just(0.0), st.floats(1e-9, 10)),
    ),
    max_size=6,
)


@given(_OPERATORS, st.one_of(st.none(), st.floats(1e-9, 20)), st.booleans(), st.booleans())
def test_shares_add_up_and_everything_can_be_said(operators, run_s, elsewhere, is_cached):
    """Whatever was recorded: shares sum to 1, least times add, and no sentence fails."""
    machine = cached(MACHINE, 1000, 50_000) if is_cached else MACHINE
    if elsewhere:
        machine = replace(machine, host=replace(machine.host, cpu="another"))
    analysis = analyse_operators(profile_of(*operators, run_s=run_s), machine)

    for shares in (analysis.explained, analysis.whole.limiters):
        assert not shares or sum(shares.values()) == pytest.approx(1)
    for groups in (analysis.phases, analysis.kinds, analysis.alike):
        if analysis.whole.share:
            assert sum(group.share or 0.0 for group in groups) == pytest.approx(1)
    for group in analysis.modules:
        if analysis.whole.share and group.time_s is not None:
            share = group.time_s.median / analysis.whole.time_s.median
            assert group.share == pytest.approx(share)
    known = [one.bound.time_s for one in analysis.operators if one.bound is not None]
    if known:
        assert analysis.whole.bound.time_s == pytest.approx(sum(known))
    assert all(analysis.verdict)
    assert all(str(caution) for caution in analysis.doubts)
    assert all(step.gain is None or step.gain >= 1.2 for step in analysis.advice)


def test_loops_of_compiled_programs_do_not_tell_what_a_call_takes():
    """They ask for nothing, and take as long as they run."""
    loop = operator(asked(kind="control"), name="hlo.while", time_s=1.0)
    short = operator(asked(400e3), name="hlo.fusion", time_s=1e-3)
    analysis = analyse_operators(profile_of(loop, short, library="JAX 0.10"), MACHINE)

    assert analysis.call_s is None
    assert [one.explained_by for one in analysis.operators] == ["nothing", "unexplained"]
    assert not any("views" in sentence for sentence in analysis.verdict)


SLOW = operator(asked(400e6), time_s=4e-3)
MOVING = operator(asked(read=40e6), name="aten.add", time_s=4e-3)
COMPUTING = operator(asked(1600e6), name="aten.mm", time_s=4e-3)


@pytest.mark.parametrize(
    ("library", "expected"),
    [
        (
            "PyTorch 2.13.0",
            {"fewer-calls": "torch.compile", "fuse": "torch.compile", "slow-operator": "layout",
             "lower-precision": "in bf16 (autocast)"},
        ),
        (
            "JAX 0.10.2",
            {"fewer-calls": "jax.lax.scan", "fuse": "Pallas", "slow-operator": "call.options",
             "lower-precision": "in bf16 (arrays of jax.numpy.bfloat16)"},
        ),
        (
            "NumPy 2.4",
            {"fewer-calls": "whole arrays", "fuse": "out=", "slow-operator": "contiguous"},
        ),
    ],
)  # fmt: skip
def test_advice_is_what_the_library_offers(library, expected):
    """A jitted program need not be compiled, and NumPy has no bf16 to compute in."""
    profile = profile_of(SLOW, MOVING, COMPUTING, run_s=16e-3, library=library)
    advice = {one.code: one for one in analyse_operators(profile, MACHINE).advice}

    assert set(advice) == set(expected)
    assert all(words in advice[code].what for code, words in expected.items())
    # Of 16 ms, 4 are outside, 4 those of the bytes, and 3 of 4 beyond a roof; a quarter of 4
    # would be left by bf16.
    assert advice["fewer-calls"].gain == pytest.approx(16 / 12)
    assert advice["fuse"].gain == pytest.approx(16 / 12)
    assert advice["slow-operator"].gain == pytest.approx(16 / 13)


def test_kernels_of_xla_are_advised_on_by_what_they_fuse():
    """All of them have the name of a fusion."""
    kernels = [
        replace(SLOW, call=replace(SLOW.call, name="hlo.fusion", options={"fuses": fuses}))
        for fuses in ("dot 1, add 1", "add 2")
    ]
    profile = profile_of(*kernels, run_s=8e-3, library="JAX 0.10.2")
    about = [one.about for one in analyse_operators(profile, MACHINE).advice]

    assert about == ["hlo.fusion (dot 1, add 1)", "hlo.fusion (add 2)"]


def test_advice_on_random_numbers_is_to_draw_fewer():
    """Another layout makes no generator faster."""
    asks = asked(read=0.0, write=1e6, kind="random", functions=250e3)
    drawn = operator(asks, name="aten.normal_", time_s=1.0)
    slow = analyse_operators(profile_of(drawn, run_s=1.0), MACHINE)
    (advice,) = [step for step in slow.advice if step.code == "slow-operator"]
    assert "draw fewer numbers" in advice.what
    assert advice.seen.endswith("without 250 k random numbers")


def test_what_is_outside_is_of_the_shorter_runs():
    """Start and operators were timed in the recorded ones; the plain ones met a busy machine."""
    runs = {"run_s": 10.0, "attached_s": 7.5, "startup_s": 6.0}
    script = profile_of(operator(asked(1.0), time_s=1.0), **runs)
    assert analyse_operators(script, MACHINE).outside_s == pytest.approx(0.5)
