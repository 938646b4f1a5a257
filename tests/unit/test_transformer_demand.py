"""Transformers by their dimensions: weights as published, work by brute force, bytes by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.demands.transformer import Transformer
from ridgepoint.demands.transformer.passes import Inference
from ridgepoint.demands.transformer.shares import Stage
from ridgepoint.demands.transformer.training import TransformerStep

GPT2 = Transformer(
    layers=12, width=768, heads=12, feed_forward=3072, vocabulary=50257, gated=False,
    biases="all", positions=1024, tied=True,
)  # fmt: skip
TINY = Transformer(layers=3, width=8, heads=4, kv_heads=2, feed_forward=20, vocabulary=50)


def work_by_loops(model: Transformer, *, tokens: int, context: int, batch: int) -> int:
    """Return the flop of a pass, one product of a matrix and a vector after the other."""
    flop = 0
    for _sequence in range(batch):
        for token in range(tokens):
            for _layer in range(model.layers):
                for columns in (model.query_width, model.kv_width):
                    flop += 2 * model.width * columns
                for seen in range(context + tokens):
                    is_before = seen <= context + token
                    is_near = model.window is None or context + token - seen < model.window
                    if is_before and is_near:
                        for _head in range(model.heads):
                            flop += 2 * model.head_size + 2 * model.head_size
                flop += 2 * model.query_width * model.width
                if model.experts > 1:
                    flop += 2 * model.width * model.experts
                for _expert in range(model.active_experts):
                    for _matrix in range(3 if model.gated else 2):
                        flop += 2 * model.width * model.feed_forward
        flop += 2 * model.width * model.vocabulary
    return flop


@pytest.mark.parametrize(
    ("model", "weights"),
    [
        (GPT2, 124_439_808),  # openai-community/gpt2, as transformers counts its parameters
        (
            Transformer(layers=32, width=4096, heads=32, feed_forward=11008, vocabulary=32000),
            6_738_415_616,  # meta-llama/Llama-2-7b
        ),
        (
            Transformer(
                layers=80, width=8192, heads=64, kv_heads=8, feed_forward=28672, vocabulary=32000
            ),
            68_976_648_192,  # meta-llama/Llama-2-70b
        ),
        (
            Transformer(
                layers=32, width=4096, heads=32, kv_heads=8, feed_forward=14336,
                vocabulary=32000, experts=8, active_experts=2,
            ),
            46_702_792_704,  # mistralai/Mixtral-8x7B
        ),
    ],
)  # fmt: skip
def test_weights_are_those_that_are_published(model, weights):
    """Every weight, bias and normalisation of known models is counted."""
    assert model.weights == weights


def test_a_token_uses_only_its_experts():
    """Mixtral 8x7B uses 12.9 of its 46.7 billion weights for a token, as its paper says."""
    mixtral = Transformer(
        layers=32, width=4096, heads=32, kv_heads=8, feed_forward=14336, vocabulary=32000,
        experts=8, active_experts=2,
    )  # fmt: skip

    assert mixtral.active_weights == pytest.approx(12.9e9, rel=5e-3)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"gated": False},
        {"window": 3},
        {"window": 1},
        {"experts": 4, "active_experts": 2},
        {"head_width": 5},
    ],
)
@pytest.mark.parametrize(("tokens", "context"), [(1, 0), (1, 6), (5, 0), (4, 3)])
def test_work_is_that_of_loops(changed, tokens, context):
    """The flop of a pass are those of its products, counted one by one."""
    model = replace(TINY, **changed)

    demand = Inference(model=model).parts(Stage(layers=3), tokens=tokens, context=context, batch=2)

    work = sum(part.amount("compute") for part in demand.values())
    assert work == work_by_loops(model, tokens=tokens, context=context, batch=2)


def test_bytes_of_decoding_are_weights_and_cache():
    """One token reads all weights but the other tokens' embeddings, and the cache of its own."""
    model = Inference(model=TINY, precision="fp32", weights="int8", cache="fp16")

    demand = model.decode(context=10, batch=3)

    weights = TINY.weights - (50 - 3) * 8
    cache_of_a_token = 3 * 2 * 2 * 2 * 2  # layers, keys and values, heads, width, byte
    assert demand.amounts["dram_read"] == weights + 3 * 10 * cache_of_a_token
    assert demand.amounts["dram_write"] == 3 * cache_of_a_token


def test_a_tied_embedding_is_stored_once_and_read_as_output():
    """GPT-2's embedding is its output; one token reads one more vector of it, and a position."""
    model = Inference(model=GPT2, precision="fp32")

    demand = model.decode(context=0)

    assert demand.amounts["dram_read"] == 4 * (GPT2.weights - 1024 * 768 + 2 * 768)
    assert model.held_weights(Stage(layers=12)) == 4 * 124_439_808


def test_cache_of_a_token_is_as_published():
    """A token of Llama 2 70B needs 320 KiB of keys and values in fp16, of Llama 2 7B 512 KiB."""
    large = Transformer(
        layers=80, width=8192, heads=64, kv_heads=8, feed_forward=28672, vocabulary=32000
    )
    small = Transformer(layers=32, width=4096, heads=32, feed_forward=11008, vocabulary=32000)

    for model, kibibytes in ((large, 320), (small, 512)):
        held = Inference(model=model, precision="fp16").held_cache(
            Stage(layers=model.layers), tokens=1
        )
        assert held == kibibytes * 1024


def test_experts_read_are_those_drawn():
    """The expected number of experts agrees with tokens that draw theirs at random."""
    model = replace(TINY, experts=8, active_experts=2, layers=1)
    random = np.random.default_rng(1)
    drawn = [
        len({e for _ in range(5) for e in random.choice(8, size=2, replace=False)})
        for _ in range(4000)
    ]

    even, least = (
        Inference(model=model, precision="fp32", routing=routing)
        .parts(Stage(layers=1), tokens=1, batch=5)["feed-forward"]
        .amounts["dram_read"]
        for routing in ("even", "least")
    )

    beside = 4 * (8 * 8 + 8)  # router, normalisation
    assert (even - beside) / (4 * model.expert_weights) == pytest.approx(np.mean(drawn), rel=0.01)
    assert (least - beside) / (4 * model.expert_weights) == 2


def test_two_all_reduces_a_layer_sum_the_tokens_of_a_batch():
    """Over four devices a ring sends 1.5 times the vectors, after attention and feed-forward."""
    model = Inference(model=TINY, tensor=4)

    assert model.decode(context=9, batch=6).amounts["network"] == 2 * 3 * 1.5 * (6 * 8 * 2)


def test_devices_share_weights_and_hand_on_vectors():
    """Stages have a share of the layers each; all but the last send each token's vector on."""
    model = Inference(model=TINY, pipeline=2)

    assert [stage.layers for stage in model.stages] == [2, 1]
    assert model.decode(context=9, batch=6).amounts["network"] == 6 * 8 * 2
    assert sum(model.held_weights(stage) for stage in model.stages) == 2 * TINY.weights


@given(
    tensor=st.sampled_from([1, 2, 4]),
    batch=st.integers(1, 64),
    context=st.integers(0, 500),
    tokens=st.integers(1, 64),
)
def test_devices_together_do_the_work_of_one(tensor, batch, context, tokens):
    """Tensor parallelism divides work and cache; where heads run out, it repeats some."""

    def work(devices: int) -> float:
        parts = Inference(model=TINY, tensor=devices).parts(
            Stage(layers=3), tokens=tokens, context=context, batch=batch
        )
        return sum(part.amount("compute") for part in parts.values())

    assert work(tensor) * tensor >= work(1) * (1 - 1e-12)
    assert work(tensor) <= work(1)


def test_operators_move_more_than_resident_activations():
    """With every operator's inputs and outputs in memory, a layer's bytes are those of a list."""
    few = replace(TINY, layers=1)
    resident, operators = (
        Inference(model=few, precision="fp32", activations=way).prefill(prompt=7)
        for way in ("resident", "operators")
    )

    width, query, kv, inner = 8, 8, 8, 20
    reads = (
        width  # normalisation
        + width + (query + kv) + query  # projections, attention, projection
        + 2 * width  # sum
        + width + width + 2 * inner + inner + 2 * width  # feed-forward
    )  # fmt: skip
    assert operators.amounts["dram_read"] - resident.amounts["dram_read"] == 4 * (
        7 * reads + 2 * width
    )


def test_a_training_step_is_six_flop_for_each_weight_and_token():
    """Forward and backward need 6 flop for each weight of a product, beside attention."""
    step = TransformerStep(model=GPT2, sequence=1024)
    attention = 12 * 12 * 64 * 4 * (1024 * 1025 // 2)

    work = step.demand(batch=2, nodes=1).amounts["bf16"]

    products = 12 * (4 * 768**2 + 2 * 768 * 3072) + 50257 * 768
    assert work == 2 * (6 * products * 1024 + 3 * attention)


def test_training_sums_all_gradients_over_many_copies():
    """The all-reduce of many copies sends twice the gradients of a device."""
    step = TransformerStep(model=TINY, sequence=16)

    assert step.demand(batch=4).amounts["network"] == 2 * 2 * TINY.weights


def test_adam_keeps_twelve_bytes_of_each_weight():
    """Adam reads and writes them, reads the gradients and writes the weights."""
    without, adam = (
        TransformerStep(model=TINY, sequence=16, optimizer=name).demand(batch=1, nodes=1)
        for name in ("none", "adam")
    )

    for way in ("dram_read", "dram_write"):
        assert adam.amounts[way] - without.amounts[way] == 14 * TINY.weights


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"layers": 0}, "layers must be a whole number >= 1, got 0"),
        ({"heads": 3, "kv_heads": None}, "heads must divide the width 8"),
        ({"kv_heads": 3}, "kv_heads must divide the 4 heads, got 3"),
        ({"active_experts": 2}, "active_experts must be at most the 1 experts"),
        ({"biases": "some"}, "biases must be one of none, qkv, all"),
        ({"width": 8.0}, "width must be a whole number"),
        ({"window": 0}, "window must be a whole number >= 1, got 0"),
    ],
)
def test_dimensions_that_do_not_fit_are_refused(changed, message):
    """The message names the dimension and what it must be."""
    with pytest.raises(ValueError, match=message):
        replace(TINY, **changed)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tensor": 5}, "tensor must be a whole number from 1 to the 4 heads, got 5"),
        ({"pipeline": 4}, "pipeline must be a whole number from 1 to the 3 layers, got 4"),
        ({"precision": "fp8"}, "precision must be one of"),
        ({"cache": "int3"}, "cache must be one of"),
    ],
)
def test_divisions_that_do_not_fit_are_refused(changed, message):
    """The message names what there is."""
    with pytest.raises(ValueError, match=message):
        Inference(model=TINY, **changed)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_passes_without_tokens_are_refused(value):
    """No demand follows from such numbers."""
    with pytest.raises(ValueError, match="tokens must be finite and >= 1"):
        Inference(model=TINY).prefill(prompt=value)
