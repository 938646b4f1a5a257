"""Demands of training steps: golden numbers of the paper's case study, all-reduces by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.demands.training import CONVENTIONS, TrainingStep, all_reduce_bytes
from ridgepoint.published.perceptrons import perceptron, perceptrons

PAPER = TrainingStep(layers=(4096, 4096))
W = 4096 * 4096


# --- algorithms, message by message -------------------------------------------------------------


def rounds_of_a_ring(nodes):
    """Reduce-scatter, then all-gather: p - 1 rounds each, a p-th of the data to the next node."""
    return [{(node, (node + 1) % nodes): 1 / nodes for node in range(nodes)}] * (2 * (nodes - 1))


def rounds_of_a_tree(nodes):
    """Binomial: in round r, nodes with bit r as lowest set one send down; then the way back."""
    reduce, distance = [], 1
    while distance < nodes:
        senders = range(distance, nodes, 2 * distance)
        reduce.append({(node, node - distance): 1.0 for node in senders})
        distance *= 2
    return reduce + [{(b, a): size for (a, b), size in each.items()} for each in reversed(reduce)]


def rounds_of_recursive_doubling(nodes):
    """Fold what is beyond a power of two, exchange with partners at distances 1, 2, 4, unfold."""
    power = 1
    while power * 2 <= nodes:
        power *= 2
    fold = [{(node, node - power): 1.0 for node in range(power, nodes)}] if nodes > power else []
    exchanges, distance = [], 1
    while distance < power:
        exchanges.append({(node, node ^ distance): 1.0 for node in range(power)})
        distance *= 2
    return fold + exchanges + [{(b, a): size for (a, b), size in each.items()} for each in fold]


def carried(rounds):
    """Return what the busiest link carries, round after round."""
    return sum(max(messages.values()) for messages in rounds)


@pytest.mark.parametrize("nodes", [*range(1, 20), 31, 32, 33, 1000, 1024])
@pytest.mark.parametrize(
    ("algorithm", "rounds"),
    [
        ("ring", rounds_of_a_ring),
        ("tree", rounds_of_a_tree),
        ("recursive-doubling", rounds_of_recursive_doubling),
    ],
)
def test_an_all_reduce_carries_what_its_messages_add_up_to(algorithm, rounds, nodes):
    """Every message of every round, written out."""
    assert all_reduce_bytes(1.0, nodes=nodes, algorithm=algorithm) == pytest.approx(
        carried(rounds(nodes)), rel=1e-12
    )


@pytest.mark.parametrize(
    "rounds", [rounds_of_a_ring, rounds_of_a_tree, rounds_of_recursive_doubling]
)
@pytest.mark.parametrize("nodes", [2, 3, 5, 8, 13])
def test_no_node_takes_two_messages_at_once(rounds, nodes):
    """Otherwise its link would carry more than the round's largest message."""
    for messages in rounds(nodes):
        assert len({sender for sender, _ in messages}) == len(messages)
        assert len({receiver for _, receiver in messages}) == len(messages)


def test_the_payload_crosses_once_unless_there_is_one_node():
    """What a switch that sums would need."""
    assert all_reduce_bytes(5.0, nodes=[1, 2, 7], algorithm="payload").tolist() == [0, 5, 5]


def test_a_ring_of_very_many_nodes_moves_everything_twice():
    """The limit that the paper's numbers have."""
    assert all_reduce_bytes(3.0, nodes=None) == 6.0
    assert all_reduce_bytes(3.0, nodes=10**9) == pytest.approx(6.0, rel=1e-8)


@pytest.mark.parametrize("algorithm", ["tree", "recursive-doubling"])
def test_an_all_reduce_that_grows_without_limit_needs_the_nodes(algorithm):
    """No number can stand for infinity."""
    with pytest.raises(ValueError, match="nodes must be given"):
        all_reduce_bytes(1.0, nodes=None, algorithm=algorithm)


@pytest.mark.parametrize("nodes", [0, -1, 1.5, float("nan"), float("inf")])
def test_nodes_are_whole_and_positive(nodes):
    """Half a node sends nothing."""
    with pytest.raises(ValueError, match="nodes must be whole numbers > 0"):
        all_reduce_bytes(1.0, nodes=nodes)


def test_an_unknown_algorithm_is_refused_with_those_known():
    """The message lists them."""
    with pytest.raises(ValueError, match="ring, tree, recursive-doubling, payload, got 'star'"):
        all_reduce_bytes(1.0, nodes=2, algorithm="star")


# --- the paper's layer --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("batch", "flop", "memory_bytes"),
    [
        (1, 1.006633e8, 6.714163e7),
        (2, 2.013266e8, 6.717440e7),
        (16, 1.610613e9, 6.763315e7),
        (32, 3.221225e9, 6.815744e7),
        (512, 5.153961e10, 8.388608e7),
        (4096, 4.123169e11, 2.013266e8),
    ],
)
def test_the_paper_s_layer_asks_for_the_audited_amounts(batch, flop, memory_bytes):
    """Computed by hand from 6 B W, 4 (W + 2 B n) and 8 W."""
    amounts = PAPER.demand(batch=batch).amounts

    assert amounts["fp32"] == pytest.approx(flop, rel=1e-6)
    assert amounts["dram"] == pytest.approx(memory_bytes, rel=1e-6)
    assert amounts["network"] == 8 * W


@pytest.mark.parametrize(
    ("nodes", "algorithm", "times_w"),
    [(None, "ring", 8), (8, "ring", 7), (8, "recursive-doubling", 12), (None, "payload", 4)],
)
def test_the_network_bytes_scanned_in_the_audit(nodes, algorithm, times_w):
    """Ring of many and of 8 nodes, recursive doubling of 8, the payload alone: in units of W."""
    step = TrainingStep(layers=(4096, 4096), algorithm=algorithm)

    assert step.demand(batch=1, nodes=nodes).amounts["network"] == times_w * W


@pytest.mark.parametrize(
    ("convention", "flop_per_bw", "w_bytes", "bn_bytes"),
    [
        ("footprint", 6, 4, 8),
        ("three-gemms", 6, 12, 24),
        ("forward", 2, 4, 8),
        ("backward", 4, 4, 8),
        ("weights-and-gradients", 6, 8, 8),
        ("no-input-gradient", 4, 4, 8),
    ],
)
def test_every_convention_counts_as_the_audit_says(convention, flop_per_bw, w_bytes, bn_bytes):
    """Of one layer: multiples of B W, of W and of B n."""
    batch, step = 64, TrainingStep(layers=(4096, 4096), convention=convention)
    amounts = step.demand(batch=batch).amounts

    assert amounts["fp32"] == flop_per_bw * batch * W
    assert amounts["dram"] == w_bytes * W + bn_bytes * batch * 4096


@pytest.mark.parametrize(("layers", "factor"), [(2, 5.0), (3, 6 - 2 / 3), (4, 5.5), (16, 5.875)])
def test_without_the_gradient_of_the_input_work_is_6_minus_2_over_l(layers, factor):
    """L layers of one size: the first leaves out 2 of 6."""
    step = TrainingStep(layers=(4096,) * (layers + 1), convention="no-input-gradient")

    assert step.demand(batch=10).amounts["fp32"] == pytest.approx(factor * 10 * layers * W)


def test_layers_of_different_sizes_add_up():
    """3-5-2 with a batch of 7 in fp64, by hand: W = 15 + 10, inputs and outputs 8 + 7."""
    step = TrainingStep(layers=(3, 5, 2), precision="fp64")
    amounts = step.demand(batch=7, nodes=2).amounts

    assert dict(amounts) == {"fp64": 6 * 7 * 25, "dram": 8 * (25 + 7 * 15), "network": 8 * 25}


@pytest.mark.parametrize(
    ("precision", "size"), [("fp64", 8), ("fp32", 4), ("fp16", 2), ("bf16", 2)]
)
def test_bytes_follow_the_precision(precision, size):
    """Of weights, activations and gradients alike."""
    amounts = TrainingStep(layers=(10, 10), precision=precision).demand(batch=1).amounts

    assert (amounts["dram"], amounts["network"]) == (size * 120, size * 200)


# --- scaling ------------------------------------------------------------------------------------


def test_strong_scaling_divides_the_batch_and_the_fullest_node_counts():
    """10 samples over 1, 2, 3, 4 and 16 nodes: 10, 5, 4, 3 and 1 on the fullest."""
    demand = TrainingStep(layers=(2, 1)).demand(batch=10, nodes=[1, 2, 3, 4, 16], strong=True)

    assert (demand.amounts["fp32"] / 12).tolist() == [10, 5, 4, 3, 1]


def test_weak_scaling_keeps_the_batch_of_each_node():
    """Only the network sees the nodes."""
    demand = PAPER.demand(batch=64, nodes=[1, 2, 4])

    assert demand.amounts["fp32"] == 6 * 64 * W
    assert (demand.amounts["network"] / W).tolist() == [0, 4, 6]


def test_a_batch_is_not_divided_over_unknown_nodes():
    """There is no share of infinity."""
    with pytest.raises(ValueError, match="nodes must be given"):
        PAPER.demand(batch=64, strong=True)


@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=6),
    st.lists(st.integers(1, 4096), min_size=1, max_size=6),
    st.booleans(),
)
def test_arrays_are_their_steps_one_by_one(batch, nodes, strong):
    """Broadcast over both, element by element."""
    grid = TrainingStep(layers=(5, 3, 2)).demand(
        batch=np.array(batch), nodes=np.array(nodes)[:, None], strong=strong
    )
    flop, network = (
        np.broadcast_to(grid.amounts[name], (len(nodes), len(batch)))
        for name in ("fp32", "network")
    )

    for row, count in enumerate(nodes):
        for column, samples in enumerate(batch):
            own = -(-samples // count) if strong else samples
            assert flop[row, column] == 6 * own * 21
            assert network[row, column] == pytest.approx(2 * (count - 1) / count * 84)


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize("layers", [(), (5,), (5, 0), (5, -1), (5, 2.5)])
def test_layers_are_two_or_more_whole_sizes(layers):
    """Anything else is no perceptron."""
    with pytest.raises(ValueError, match="layers must be two or more whole numbers"):
        TrainingStep(layers=layers)


@pytest.mark.parametrize("batch", [0, -4, 0.5, float("nan"), float("inf")])
def test_a_batch_is_whole_and_positive(batch):
    """Unknown sizes have no step."""
    with pytest.raises(ValueError, match="batch must be whole numbers > 0"):
        PAPER.demand(batch=batch)


@pytest.mark.parametrize(
    "wrong", [{"precision": "fp8"}, {"algorithm": "star"}, {"convention": "mine"}]
)
def test_unknown_names_are_refused(wrong):
    """The message names what is asked and what is known."""
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be one of"):
        TrainingStep(layers=(2, 2), **wrong)


# --- published perceptrons ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "layers", "gradient_mb"),
    [
        ("dlrm-mlperf-top", (479, 1024, 1024, 512, 256, 1), 8.79),
        ("dlrm-large-bottom", (2048,) * 8, 117.5),
        ("dlrm-large-top", (*(4096,) * 16, 1), 1007),
    ],
)
def test_dlrm_s_perceptrons_have_the_published_gradients(name, layers, gradient_mb):
    """4 sum(f_i f_o + f_o) bytes, biases included, in MB."""
    assert perceptron(name).layers == layers
    step = TrainingStep(layers=perceptron(name).layers)
    biases = 4 * sum(layers[1:])
    assert (step.gradient_bytes + biases) / 1e6 == pytest.approx(gradient_mb, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("dlrm-kaggle-bottom", "13-512-256-64-16"),
        ("dlrm-kaggle-top", "512-256-1"),
        ("dlrm-terabyte-bottom", "13-512-256-64"),
        ("dlrm-terabyte-top", "512-512-256-1"),
        ("dlrm-mlperf-bottom", "13-512-256-128"),
        ("dlrm-mlperf-top", "1024-1024-512-256-1"),
    ],
)
def test_dlrm_s_perceptrons_are_those_of_its_scripts(name, arguments):
    """As --arch-mlp-bot and --arch-mlp-top; a top's input is 351 pairs and the bottom's output."""
    expected = tuple(map(int, arguments.split("-")))
    if name.endswith("top"):
        bottom = perceptron(name.replace("top", "bottom")).layers
        expected = (27 * 26 // 2 + bottom[-1], *expected)

    assert perceptron(name).layers == expected


def test_every_published_perceptron_can_be_trained():
    """And says where it comes from."""
    for one in perceptrons().values():
        assert one.source
        assert TrainingStep(layers=one.layers).weights > 0


def test_every_convention_says_what_it_counts():
    """For the help and the docs."""
    assert all(one.summary for one in CONVENTIONS.values())
