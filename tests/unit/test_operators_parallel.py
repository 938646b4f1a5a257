"""Programs on many devices: cuts by brute force, pipelines by their schedules, links by hand."""

import itertools

import pytest
from core_inputs import ceiling, machine_of
from hypothesis import given
from hypothesis import strategies as st
from placed_operators import UNKNOWN, asked, operator, profile_of

from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.demands.operators.division import Division
from ridgepoint.models.operators.cuts import cut
from ridgepoint.models.operators.devices import ParallelStep, StageTime
from ridgepoint.models.operators.parallel import parallel_plans, parallel_step

DEVICE = machine_of(ceiling("fp32", 1.0), ceiling("dram", 1.0), ceiling("network", 2.0))
"""One flop, one byte of memory, and two bytes over its link each second."""


@given(lengths=st.lists(st.integers(0, 9), min_size=1, max_size=7), parts=st.integers(1, 7))
def test_no_other_cut_has_a_shorter_longest_part(lengths, parts):
    """Against every cut that there is."""
    parts = min(parts, len(lengths))
    found = cut(lengths, parts)

    cuts = itertools.combinations(range(1, len(lengths)), parts - 1)
    best = min(
        max(sum(lengths[a:b]) for a, b in itertools.pairwise([0, *borders, len(lengths)]))
        for borders in cuts
    )
    assert [at for part in found for at in part] == list(range(len(lengths)))
    assert len(found) == parts
    assert all(found)
    assert max(sum(lengths[at] for at in part) for part in found) == best


def of_stages(times, micro_batches, *, is_training):
    """Return a step of stages that need these times for a micro-batch."""
    return ParallelStep(
        stages=tuple(StageTime(units=(), pass_s=float(t), sent_s={}) for t in times),
        micro_batches=micro_batches,
        **dict.fromkeys(("data", "tensor"), 1),
        **dict.fromkeys(("gradients_s", "alone_s", "optimizer_s", "optimizer_alone_s"), 0.0),
        overlap="full",
        is_training=is_training,
        unknown_calls=0,
    )


def flow(times, micro_batches, free):
    """Return when the last of some jobs has passed machines in this order, free from `free` on."""
    for _ in range(micro_batches):
        done = 0.0
        for at, time in enumerate(times):
            free[at] = done = max(done, free[at]) + time
    return free


@given(times=st.lists(st.integers(1, 9), min_size=1, max_size=5), m=st.integers(1, 6))
def test_inference_takes_as_long_as_its_schedule(times, m):
    """Micro-batches one after the other, each on to the next stage when this one is free."""
    assert (
        of_stages(times, m, is_training=False).pipeline_s == flow(times, m, [0.0] * len(times))[-1]
    )


@given(times=st.lists(st.integers(1, 9), min_size=1, max_size=5), m=st.integers(1, 6))
def test_no_schedule_of_training_is_faster(times, m):
    """All forward passes, then all backward ones, which take twice as long (GPipe)."""
    forward, backward = [t / 3 for t in times], [2 * t / 3 for t in times]
    free = flow(forward, m, [0.0] * len(times))
    last = max(flow(backward[::-1], m, [free[-1]] * len(times)))
    step = of_stages(times, m, is_training=True)

    assert step.pipeline_s <= last * (1 + 1e-9)
    if len(set(times)) == 1:
        assert step.pipeline_s == pytest.approx(last)
        bubble = (len(times) - 1) / (m + len(times) - 1)
        assert step.waiting == pytest.approx(bubble)


LAYERS = [operator(asked(6.0), module=f"layers.{at}") for at in range(4)]
BACKWARD = [operator(asked(12.0), module=f"layers.{at}", phase="backward") for at in range(4)]


def test_stages_share_the_layers_and_links_carry_what_they_hand_on():
    """Two stages of two layers, each 36 s; 4 byte forward and 4 back take 2 s in full."""
    step = parallel_step(
        profile_of(*LAYERS, *BACKWARD, gradient_bytes=80.0), DEVICE,
        stages=2, micro_batches=3, data=2,
    )  # fmt: skip

    assert [stage.units for stage in step.stages] == [
        ("layers.0", "layers.1"), ("layers.2", "layers.3"),
    ]  # fmt: skip
    assert [stage.pass_s for stage in step.stages] == [36.0, 36.0]
    assert [stage.sent_s["pipeline"] for stage in step.stages] == [2.0, 2.0]
    assert step.pipeline_s == 4 * 36.0
    assert step.gradients_s == 40 / 2.0  # half of 80 byte, once around a ring of two
    assert (step.devices, step.time_s, step.limiter) == (4, 144.0, "operators")
    assert step.speed_up == pytest.approx(2 * 3 * 72 / 144)


def test_links_take_time_of_their_own_without_overlap():
    """38 s for a micro-batch, and the gradients afterwards."""
    step = parallel_step(
        profile_of(*LAYERS, *BACKWARD, gradient_bytes=80.0), DEVICE,
        stages=2, micro_batches=3, data=2, overlap="none",
    )  # fmt: skip

    assert step.time_s == 4 * 38.0 + 20.0


def test_divided_layers_take_less_and_add_up_partial_sums():
    """Two devices: 9 s instead of 18 s of each layer; 4 byte twice, once around a ring of two."""
    step = parallel_step(
        profile_of(*LAYERS, *BACKWARD), DEVICE,
        division=Division(devices=2, modules=("layers.*",), summed=("layers.*",)),
        tensor_link_bytes_per_s=8.0,
    )  # fmt: skip

    assert step.stages[0].pass_s == 4 * 9.0
    assert step.stages[0].sent_s["tensor"] == 4 * 2 * 4 / 8.0
    assert step.limiter == "operators"
    assert step.efficiency == 1.0


def test_slow_links_limit():
    """72 s of operators, but 80 byte of gradients need 80 s at a byte a second."""
    slow = machine_of(ceiling("fp32", 1.0), ceiling("dram", 1.0), ceiling("network", 1.0))
    step = parallel_step(profile_of(*LAYERS, *BACKWARD, gradient_bytes=80.0), slow, data=2)

    assert (step.time_s, step.limiter) == (80.0, "gradients")


def test_the_optimizer_runs_once_in_a_step_on_every_device():
    """It is shared by all devices of a copy, and is no part of a micro-batch."""
    update = operator(asked(40.0), phase="optimizer")
    step = parallel_step(profile_of(*LAYERS, update), DEVICE, stages=2, micro_batches=5)

    assert step.optimizer_s == 20.0
    assert step.time_s == 12 * 5 + 12 + 20


def test_unknown_operators_are_counted():
    """They take no time, and the reader hears of them."""
    assert parallel_step(profile_of(*LAYERS, operator(UNKNOWN, calls=3)), DEVICE).unknown_calls == 3


def test_every_way_to_share_a_step_is_tried_and_the_fastest_is_first():
    """Four devices and eight micro-batches: six ways, the same as one by one."""
    profile = profile_of(*LAYERS, *BACKWARD, gradient_bytes=80.0)
    division = Division(modules=("layers.*",), summed=("layers.*",))
    plans = parallel_plans(profile, DEVICE, devices=4, micro_batches=8, division=division)

    ways = {(plan.data, plan.tensor, len(plan.stages), plan.micro_batches) for plan in plans}
    assert ways == {
        (4, 1, 1, 2),
        (2, 1, 2, 4),
        (1, 1, 4, 8),
        (2, 2, 1, 4),
        (1, 2, 2, 8),
        (1, 4, 1, 8),
    }
    assert [plan.time_s for plan in plans] == sorted(plan.time_s for plan in plans)
    for plan in plans:
        alone = parallel_step(
            profile,
            DEVICE,
            data=plan.data,
            stages=len(plan.stages),
            micro_batches=plan.micro_batches,
            division=Division(devices=plan.tensor, modules=("layers.*",), summed=("layers.*",)),
        )
        assert alone == plan


def test_without_partial_sums_nothing_is_divided_and_copies_need_equal_shares():
    """Three micro-batches have no even share among two copies."""
    profile = profile_of(*LAYERS, *BACKWARD, gradient_bytes=80.0)
    plans = parallel_plans(profile, DEVICE, devices=2, micro_batches=3)

    assert [(plan.data, plan.tensor, len(plan.stages)) for plan in plans] == [(1, 1, 2)]
    with pytest.raises(ValueError, match="no way to share 3 micro-batches of net evenly"):
        parallel_plans(profile, DEVICE, devices=32, micro_batches=3)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"data": 0}, "data must be a whole number > 0, got 0"),
        ({"stages": 2.5}, "stages must be a whole number > 0, got 2.5"),
        ({"stages": 9}, "net has 4 modules at this depth: 9 stages are too many"),
        ({"overlap": "half"}, "overlap must be 'full' or 'none'"),
        ({"data": 2}, "size of the gradients of net is not known"),
        ({"tensor_link_bytes_per_s": float("nan")}, "must be > 0, got nan"),
        ({"division": Division(devices=2, summed=("mlp",))}, "in a module 'mlp'"),
    ],
)
def test_bad_arguments_are_named(how, message):
    """Each in one sentence."""
    with pytest.raises(ValueError, match=message):
        parallel_step(profile_of(*LAYERS), DEVICE, **how)


def test_a_device_without_a_link_says_what_it_lacks():
    """Only where a link is needed."""
    alone = machine_of(ceiling("fp32", 1.0), ceiling("dram", 1.0))

    assert parallel_step(profile_of(*LAYERS), alone).time_s == 24.0
    with pytest.raises(UnknownCeiling, match="network"):
        parallel_step(profile_of(*LAYERS), alone, stages=2)
