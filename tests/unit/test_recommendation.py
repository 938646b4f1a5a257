"""Steps of recommendation models: amounts by hand, exchanges by simulating every node."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.errors import RidgepointError
from ridgepoint.demands.recommendation import RecommendationModel, RecommendationStep
from ridgepoint.demands.training import CONVENTIONS, TrainingStep
from ridgepoint.kept.recommendation_file import read_recommendation
from ridgepoint.models.derived import with_link
from ridgepoint.models.ridgeline import Ridgeline
from ridgepoint.models.ridgeline.sweep import sweep
from ridgepoint.models.ridgeline.trajectories import training_trajectories
from ridgepoint.published.machines import load
from ridgepoint.published.perceptrons import (
    model_named,
    perceptron,
    recommendation_model,
    recommendation_models,
)

CLX = load("cascade-lake")
MLPERF = RecommendationStep(model=recommendation_model("dlrm-mlperf"))


def model_of(tables, columns=4, lookups=1):
    """Return a small model."""
    outputs = (tables + 1) * tables // 2 + columns
    return RecommendationModel(
        bottom=(3, columns), top=(outputs, 1), tables=tables, columns=columns, lookups=lookups
    )


def divided(amount, nodes):
    """Return equal shares, the first nodes with one more."""
    share, more = divmod(amount, nodes)
    return [share + (node < more) for node in range(nodes)]


def simulated(tables, samples, nodes):
    """Return the vectors over the busiest link in one exchange, message by message.

    Every node owns whole tables and samples; each vector of a table and a sample goes from the
    node of the table to that of the sample. A link carries both directions at once.
    """
    of_table = np.repeat(np.arange(nodes), divided(tables, nodes))
    of_sample = np.repeat(np.arange(nodes), divided(samples, nodes))
    sent, got = [0] * nodes, [0] * nodes
    for source, target in itertools.product(of_table.tolist(), of_sample.tolist()):
        if source != target:
            sent[source] += 1
            got[target] += 1
    return max(*sent, *got)


# --- by hand --------------------------------------------------------------------------------------


def test_the_parts_of_mlperf_s_step_on_eight_nodes():
    """2048 samples, 26 tables of 128 columns, 1 lookup; 7/8 of the vectors go to other nodes.

    Rows and sums are 26 x 2048 x 512 byte each, indices 26 x 2048 x 8; the interaction multiplies
    27 x 27 pairs of 128 numbers, three times, and has 27 x 128 inputs and 479 outputs.
    """
    parts = MLPERF.parts(batch=2048, nodes=8)
    vectors = 26 * 2048

    assert {name: dict(part.amounts) for name, part in parts.items()} == {
        "bottom": dict(
            TrainingStep(layers=(13, 512, 256, 128)).demand(batch=2048, nodes=8).amounts
        ),
        "embeddings": {
            "fp32": 0.0,
            "dram": vectors * (512 + 512 + 8),
            "network": 2 * 7 / 8 * vectors * 512,
        },
        "interaction": {
            "fp32": 6 * 27 * 27 * 128 * 2048,
            "dram": 4 * (27 * 128 + 479) * 2048,
            "network": 0.0,
        },
        "top": dict(
            TrainingStep(layers=(479, 1024, 1024, 512, 256, 1)).demand(batch=2048, nodes=8).amounts
        ),
    }


def test_a_step_is_the_sum_of_its_parts():
    """In flop, memory and network."""
    parts = MLPERF.parts(batch=[64, 2048], nodes=[2, 8]).values()
    whole = MLPERF.demand(batch=[64, 2048], nodes=[2, 8])

    for name in ("fp32", "dram", "network"):
        assert whole.amount(name) == pytest.approx(sum(part.amount(name) for part in parts))


def test_pooling_adds_rows_in_the_forward_pass_alone():
    """99 sums of 64 numbers for each of 8 tables; backward, each row gets the same gradient."""
    model = recommendation_model("dlrm-benchmark")
    flop = {
        name: RecommendationStep(model=model, convention=name)
        .parts(batch=10)["embeddings"]
        .amount("fp32")
        for name in CONVENTIONS
    }

    assert flop == {name: 0 if name == "backward" else 99 * 64 * 8 * 10 for name in CONVENTIONS}


@pytest.mark.parametrize(
    ("convention", "rows", "sums", "exchanges"),
    [("footprint", 1, 1, 2), ("no-input-gradient", 1, 1, 2), ("weights-and-gradients", 2, 1, 2),
     ("three-gemms", 3, 3, 2), ("forward", 1, 1, 1), ("backward", 1, 1, 1)],
)  # fmt: skip
def test_rows_count_as_weights_and_sums_as_activations(convention, rows, sums, exchanges):
    """With 5 lookups in each of 3 tables, 10 samples, 4 numbers of 4 byte; many nodes."""
    step = RecommendationStep(model=model_of(3, lookups=5), convention=convention)
    found = step.parts(batch=10)["embeddings"]

    assert found.amount("dram") == 30 * (rows * 5 * 16 + sums * 16 + 5 * 8)
    assert found.amount("network") == exchanges * 30 * 16


def test_the_input_gradient_of_the_top_is_always_needed():
    """The embeddings learn from it; that of the bottom's input nothing uses."""
    all_of_it = MLPERF.parts(batch=1)
    without = RecommendationStep(model=MLPERF.model, convention="no-input-gradient").parts(batch=1)

    assert without["top"].amount("fp32") == all_of_it["top"].amount("fp32")
    assert all_of_it["bottom"].amount("fp32") - without["bottom"].amount("fp32") == 2 * 13 * 512


def test_rows_in_remote_memory_are_read_there():
    """The rest stays where it is."""
    near, far = (
        RecommendationStep(model=model_of(3, lookups=5), rows_in=where).demand(batch=10)
        for where in ("dram", "remote")
    )

    assert far.amount("remote") == 30 * 5 * 16
    assert far.amount("dram") + far.amount("remote") == near.amount("dram")
    assert RecommendationStep(model=model_of(3), rows_in="remote").resources == (
        "fp32", "dram", "network", "remote",
    )  # fmt: skip


# --- exchanges ------------------------------------------------------------------------------------


@given(st.integers(1, 9), st.integers(1, 30), st.data())
def test_whole_tables_exchange_what_the_busiest_link_carries(tables, samples, data):
    """By sending every vector; with a batch for all nodes, or of each."""
    nodes = data.draw(st.integers(1, tables))
    step = RecommendationStep(model=model_of(tables), placement="tables")
    strong = step.parts(batch=samples, nodes=nodes, strong=True)["embeddings"]
    weak = step.parts(batch=samples, nodes=nodes)["embeddings"]

    assert strong.amount("network") == 2 * 16 * simulated(tables, samples, nodes)
    assert weak.amount("network") == 2 * 16 * simulated(tables, samples * nodes, nodes)
    most = divided(tables, nodes)[0]
    assert strong.amount("dram") == most * samples * (16 + 16 + 8)


@given(st.integers(1, 5), st.integers(1, 30), st.sampled_from([1, 2, 4]))
def test_divided_columns_exchange_a_share_of_every_vector(tables, samples, nodes):
    """Of 4 columns each node has as many; simulated as so many tables of fewer columns."""
    step = RecommendationStep(model=model_of(tables), placement="even")
    found = step.parts(batch=samples, nodes=nodes, strong=True)["embeddings"]
    pieces = simulated(tables * nodes, samples, nodes)

    assert found.amount("network") == pytest.approx(2 * 16 * pieces / nodes)
    assert found.amount("dram") == pytest.approx(tables * samples / nodes * (16 + 16 + 8))


def test_one_node_exchanges_nothing_and_many_all():
    """(p - 1) / p of the vectors there and back; in the limit all of them."""
    shares = [
        float(MLPERF.parts(batch=1, nodes=nodes)["embeddings"].amount("network")) / (2 * 26 * 512)
        for nodes in (1, 2, 1024, None)
    ]

    assert shares == [0, 0.5, 1023 / 1024, 1]


@given(
    st.lists(st.integers(1, 500), min_size=1, max_size=4),
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from(["even", "tables"]),
)
def test_arrays_are_their_steps_one_by_one(batch, nodes, strong, placement):
    """As for perceptrons."""
    step = RecommendationStep(model=model_of(6), placement=placement)
    many = step.demand(batch=np.array(batch)[:, None], nodes=np.array(nodes), strong=strong)
    for (row, b), (column, p) in itertools.product(enumerate(batch), enumerate(nodes)):
        one = step.demand(batch=b, nodes=p, strong=strong)
        for name, amount in many.amounts.items():
            shape = (len(batch), len(nodes))
            each = np.broadcast_to(amount, shape)[row, column]
            assert each == pytest.approx(one.amount(name))


# --- models ---------------------------------------------------------------------------------------


def test_published_models_fit_their_perceptrons():
    """The top's input is every pair once, and the bottom's output."""
    for name, found in recommendation_models().items():
        model = recommendation_model(name)
        assert found.source
        assert model.bottom == perceptron(found.bottom).layers
        assert model.top[0] == (model.tables + 1) * model.tables / 2 + model.bottom[-1]
        assert model_named(name.upper()) == model
    assert model_named("dlrm-large-top")[0] == 4096
    with pytest.raises(RidgepointError, match="did you mean 'dlrm-mlperf'"):
        model_named("dlrm-mlper")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"tables": 0}, "tables must be a whole number > 0"),
        ({"lookups": 1.5}, "lookups must be"),
        ({"columns": 5}, "bottom must end with the 5 columns"),
        ({"top": (5, 1)}, "top must begin with the 7 outputs"),
        ({"interaction": "sum"}, "interaction must be one of dot, cat"),
        ({"bottom": (4,)}, "bottom must be two or more"),
        ({"top": (7,)}, "top must be two or more"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(wrong, words):
    """With what would."""
    sizes = {"bottom": (3, 4), "top": (7, 1), "tables": 2, "columns": 4}
    with pytest.raises(ValueError, match=words):
        RecommendationModel(**{**sizes, **wrong})


@pytest.mark.parametrize(
    ("options", "asked", "words"),
    [
        ({"placement": "rows"}, {}, "placement must be one of even, tables"),
        ({"rows_in": "l3"}, {}, "rows_in must be one of dram, remote"),
        ({"precision": "fp8"}, {}, "precision must be one of"),
        ({"placement": "tables"}, {"batch": 1}, "nodes must be given"),
        ({"placement": "tables"}, {"batch": 1, "nodes": [2, 7]}, "at most the 6 tables"),
        ({}, {"batch": 0}, "batch must be whole numbers > 0"),
        ({}, {"batch": 4, "strong": True}, "nodes must be given"),
    ],
)
def test_steps_that_make_no_sense_are_refused(options, asked, words):
    """In a message that names what is wrong."""
    with pytest.raises(ValueError, match=words):
        RecommendationStep(model=model_of(6), **options).demand(**asked)


def test_concatenated_vectors_are_not_multiplied():
    """Outputs are as long as inputs."""
    model = RecommendationModel(
        bottom=(3, 8), top=(8 + 2 * 4, 1), tables=2, columns=4, interaction="cat"
    )
    found = RecommendationStep(model=model).parts(batch=10)["interaction"]

    assert (found.amount("fp32"), found.amount("dram")) == (0, 10 * 4 * (16 + 16))


def test_a_file_of_a_model_is_that_model(tmp_path):
    """The top's input follows."""
    file = tmp_path / "m.toml"
    file.write_text(
        "bottom = [13, 512, 128]\ntop = [1024, 1]\ntables = 26\ncolumns = 128\nlookups = 3\n"
        'interaction = "dot"\n'
    )

    assert read_recommendation(file) == RecommendationModel(
        bottom=(13, 512, 128), top=(479, 1024, 1), tables=26, columns=128, lookups=3
    )


# --- on the Ridgeline -----------------------------------------------------------------------------


def test_small_batches_wait_for_the_network_and_large_ones_compute():
    """On eight Cascade Lake sockets: all-reduce and all-to-all, against the perceptrons' work."""
    ridgeline = Ridgeline(machines=(CLX,), work="fp32")
    (over,) = training_trajectories(ridgeline, MLPERF, batch=[64, 2048], nodes=[8])

    assert over.placed.limiters == [("network",), ("compute",)]
    assert list(over.parts) == ["bottom", "embeddings", "interaction", "top"]
    assert over.parts["embeddings"].limiters == [("network",), ("network",)]
    total = sum(part.bound.work for part in over.parts.values())
    assert over.placed.bound.work == pytest.approx(total)


def test_gathers_from_remote_memory_can_bound():
    """100 rows of each of 8 tables: 205 kB of each sample at 10 GB/s."""
    step = RecommendationStep(model=recommendation_model("dlrm-benchmark"), rows_in="remote")
    ridgeline = Ridgeline(machines=(with_link(CLX, "remote", 10e9),), work="fp32")
    (over,) = training_trajectories(ridgeline, step, batch=[2048])

    assert over.placed.limiters == [("remote memory",)]
    assert over.placed.time_s[0] == pytest.approx(8 * 100 * 256 * 2048 / 10e9)


def test_a_sweep_takes_whole_models():
    """On 64 nodes the network has 45.4 MB to carry in 3.79 ms, against 3.6 ms of computing.

    All-reduce 2 x 63/64 x 9.46 MB, all-to-all 2 x 63/64 x 26 x 1024 x 512 byte.
    """
    front = sweep([CLX], [MLPERF], nodes=[1, 8, 64], batch=[65536], strong=True)

    assert front.nodes.tolist() == [1, 8, 64]
    assert front.limiter.tolist() == ["compute", "compute", "network"]
