"""Sweeps: every design by hand in loops, the front by comparing all with all."""

import itertools
import tracemalloc

import numpy as np
import pytest
from core_inputs import ceiling, machine_of
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.demands.training import TrainingStep
from ridgepoint.models.derived import with_network
from ridgepoint.models.ridgeline.sweep import pareto, sweep
from ridgepoint.published.machines import load

CLX = load("cascade-lake")
LAYERS = (64, 32, 8)


def machine(index, rates):
    """Return a machine of three rates."""
    return machine_of(
        ceiling("fp32", rates[0]), ceiling("dram", rates[1]), ceiling("network", rates[2]),
        name=f"machine {index}",
    )  # fmt: skip


def by_hand(rates, algorithm, nodes, batch, *, strong, overlap):
    """Return the step's time and its samples, without any of the code that is tested."""
    weights, ends = 64 * 32 + 32 * 8, 64 + 32 + 32 + 8
    own = -(-batch // nodes) if strong else batch
    times_sent = {"ring": 2 * (nodes - 1) / nodes, "payload": 0 if nodes == 1 else 1}[algorithm]
    times = (
        6 * own * weights / rates[0],
        4 * (weights + own * ends) / rates[1],
        4 * weights * times_sent / rates[2],
    )
    seconds = {
        "full": max(times),
        "none": sum(times),
        3.0: max(times) * sum((t / max(times)) ** 3 for t in times) ** (1 / 3),
    }[overlap]
    return seconds, batch if strong else batch * nodes


rates = st.tuples(st.floats(1e6, 1e12), st.floats(1e6, 1e12), st.floats(1e6, 1e12))
numbers = st.lists(st.integers(1, 60), min_size=1, max_size=5, unique=True)


@given(
    st.lists(rates, min_size=1, max_size=3),
    st.lists(st.sampled_from(["ring", "payload"]), min_size=1, max_size=2, unique=True),
    numbers,
    numbers,
    st.booleans(),
    st.sampled_from(["full", "none", 3.0]),
    st.integers(1, 40),
)
def test_the_front_is_that_of_all_designs_one_by_one(
    machines, algorithms, nodes, batch, strong, overlap, block
):
    """Loops over everything, by hand, whatever the size of a block."""
    front = sweep(
        [machine(index, each) for index, each in enumerate(machines)],
        [TrainingStep(layers=LAYERS, algorithm=name) for name in algorithms],
        nodes=nodes, batch=batch, strong=strong, overlap=overlap, block=block,
    )  # fmt: skip
    designs = {}
    for m, a, p, b in itertools.product(range(len(machines)), range(len(algorithms)), nodes, batch):
        seconds, samples = by_hand(machines[m], algorithms[a], p, b, strong=strong, overlap=overlap)
        designs[m, a, p, b] = seconds / samples

    assert front.designs == len(designs)
    for index, (p, seconds) in enumerate(zip(front.nodes, front.time_per_sample_s, strict=True)):
        # As fast as any with so many nodes, and its fields name a design that is.
        fastest = min(value for (_, _, nodes_of, _), value in designs.items() if nodes_of == p)
        assert seconds == pytest.approx(fastest, rel=1e-12)
        own = designs[front.machine[index], front.step[index], p, front.batch[index]]
        assert own == pytest.approx(seconds, rel=1e-12)
    for (_, _, p, _), value in designs.items():
        # Nothing beats the front; a rounding's worth apart, either may be on it.
        reached = [s for q, s in zip(front.nodes, front.time_per_sample_s, strict=True) if q <= p]
        assert min(reached) <= value * (1 + 1e-12)
    assert (np.diff(front.nodes) > 0).all()
    assert (np.diff(front.time_per_sample_s) < 0).all()


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=0, max_size=20))
def test_a_front_holds_what_no_other_design_beats(designs):
    """All with all: nothing else costs no more and is as fast, or costs less and is no slower."""
    costs, times = [c for c, _ in designs], [float(t) for _, t in designs]
    expected = [
        index
        for index, (c, t) in enumerate(designs)
        if not any(
            oc <= c and ot <= t and ((oc, ot) != (c, t) or other < index)
            for other, (oc, ot) in enumerate(designs)
            if other != index
        )
    ]

    assert sorted(pareto(costs, times).tolist()) == expected
    assert sorted(costs[index] for index in expected) == [costs[i] for i in pareto(costs, times)]


def test_the_paper_s_layer_pays_off_up_to_nine_nodes():
    """2048 samples over a ring: at 4 nodes compute takes 12.3 ms, from there on the network bounds.

    At 5 nodes both take 9.8 and 8.9 ms, at 6 it is 8.2 against 9.3; the ring only grows from then.
    """
    step = TrainingStep(layers=(4096, 4096))
    front = sweep([CLX], [step], nodes=range(1, 65), batch=[2048], strong=True)

    assert front.nodes.tolist() == [1, 2, 3, 4, 5, 6]
    assert front.limiter.tolist() == [*["compute"] * 5, "network"]
    assert front.step_s[-1] == pytest.approx(8 * 4096**2 * 5 / 6 / 12e9)


@pytest.mark.parametrize("order", [("h200", "a100"), ("a100", "h200")])
def test_machines_that_are_as_fast_are_all_named(order):
    """Behind links of 50 GB/s the slower machine is as fast wherever the link bounds both.

    Of 1024 samples a node of 8 has 128: 0.66 ms on the slower machine, against 2.35 ms of the
    link. Two nodes have 512 each: 2.64 and 0.77 ms, against 1.34 ms.
    """
    machines, step = (
        [with_network(load(name), 50e9) for name in order],
        TrainingStep(layers=(4096, 4096)),
    )
    few, many = (
        sweep(machines, [step], nodes=[nodes], batch=[1024], strong=True) for nodes in (2, 8)
    )

    assert [order[index] for index in few.machines[0]] == ["h200"]
    assert [order[index] for index in many.machines[0]] == list(order)
    assert few.limiters == many.limiters == (("network",),)


def test_of_equally_fast_designs_the_first_is_kept():
    """One node computes a sample in the same time whatever the batch: rounding does not choose."""
    batch = range(512, 4096)
    front = sweep([CLX, CLX], [TrainingStep(layers=(4096, 4096))] * 2, nodes=[1, 2], batch=batch)

    assert front.batch.tolist() == [512, 512]
    assert front.machine.tolist() == front.step.tolist() == [0, 0]


def test_machines_are_alternatives_and_the_better_one_is_named():
    """The second has the faster network, which only counts from 2 nodes on."""
    slow, fast = (machine(i, (1e9, 1e9, link)) for i, link in enumerate((1e3, 1e9)))
    front = sweep(
        [slow, fast], [TrainingStep(layers=LAYERS)], nodes=[1, 2], batch=[64], strong=True
    )

    assert front.machine.tolist() == [0, 1]


def test_memory_does_not_grow_with_the_designs():
    """Sixteen times the designs, and no more than 2 MB beside the input."""
    step = TrainingStep(layers=LAYERS)
    peaks = []
    for count in (256, 4096):
        batch = np.arange(1, count + 1)
        tracemalloc.start()
        sweep([CLX], [step], nodes=np.arange(1, 513), batch=batch, block=4096)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[1] < peaks[0] + 2e6


@pytest.mark.parametrize("name", ["nodes", "batch"])
@pytest.mark.parametrize("wrong", [[], [0], [1.5], [float("nan")], [[1]], [-3]])
def test_numbers_of_a_sweep_are_whole_and_positive(name, wrong):
    """And in a row."""
    values = {"nodes": [1], "batch": [1], name: wrong}

    with pytest.raises(ValueError, match=f"{name} must be whole numbers > 0"):
        sweep([CLX], [TrainingStep(layers=LAYERS)], **values)


def test_a_sweep_over_nothing_is_refused():
    """No machine, or no step."""
    for machines, steps in (([], [TrainingStep(layers=LAYERS)]), ([CLX], [])):
        with pytest.raises(ValueError, match="machines and steps"):
            sweep(machines, steps, nodes=[1], batch=[1])


def test_steps_of_different_precisions_are_refused():
    """Their work is not the same."""
    steps = [TrainingStep(layers=LAYERS, precision=name) for name in ("fp32", "fp16")]
    with pytest.raises(ValueError, match="one precision"):
        sweep([CLX], steps, nodes=[1], batch=[1])


def test_a_block_holds_something():
    """Zero designs at a time come to no end."""
    with pytest.raises(ValueError, match="block must be > 0"):
        sweep([CLX], [TrainingStep(layers=LAYERS)], nodes=[1], batch=[1], block=0)


def test_a_machine_without_a_ceiling_cannot_be_swept():
    """It says which."""
    with pytest.raises(UnknownCeiling, match="'fp32' on e5645"):
        sweep([load("e5645")], [TrainingStep(layers=LAYERS)], nodes=[1], batch=[1])
