"""The demand of a transformer against what torch counts of one that it runs."""

from __future__ import annotations

import importlib.util
from functools import reduce
from pathlib import Path

import pytest

import ridgepoint
from ridgepoint.core.demand import Demand
from ridgepoint.demands.transformer import Transformer
from ridgepoint.demands.transformer.passes import Inference
from ridgepoint.demands.transformer.training import TransformerStep

torch = pytest.importorskip("torch")
fake = pytest.importorskip("torch._subclasses.fake_tensor")
pytestmark = pytest.mark.slow

MODEL = Transformer(
    layers=2, width=32, heads=4, kv_heads=2, feed_forward=48, vocabulary=70, attention="full"
)


class Layer(torch.nn.Module):
    """A layer with grouped-query attention, written as products, and a gated network."""

    def __init__(self, of: Transformer) -> None:
        super().__init__()
        self.of = of
        linear = torch.nn.Linear
        self.query = linear(of.width, of.query_width, bias=False)
        self.kv = linear(of.width, of.kv_width, bias=False)
        self.out = linear(of.query_width, of.width, bias=False)
        self.up = linear(of.width, of.up_width, bias=False)
        self.down = linear(of.feed_forward, of.width, bias=False)
        self.norms = torch.nn.ModuleList(torch.nn.RMSNorm(of.width) for _ in range(2))

    def forward(self, x, cache=None):
        """Return the layer's output, and its keys and values."""
        batch, tokens, _ = x.shape
        normed = self.norms[0](x)
        size, kv_heads = self.of.head_size, self.of.kv_head_count
        query = self.query(normed).view(batch, tokens, self.of.heads, size).transpose(1, 2)
        kv = self.kv(normed).view(batch, tokens, 2 * kv_heads, size).transpose(1, 2)
        if cache is not None:
            kv = torch.cat([cache, kv], dim=2)
        key, value = (
            part.repeat_interleave(self.of.heads // kv_heads, dim=1) for part in kv.chunk(2, dim=1)
        )
        seen = torch.softmax(query @ key.transpose(2, 3) / size**0.5, dim=-1) @ value
        x = x + self.out(seen.transpose(1, 2).reshape(batch, tokens, -1))
        gate, up = self.up(self.norms[1](x)).chunk(2, dim=-1)
        return x + self.down(torch.nn.functional.silu(gate) * up), kv


class Model(torch.nn.Module):
    """Layers between an embedding and an output, which may be of the last token only."""

    def __init__(self, of: Transformer) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(of.vocabulary, of.width)
        self.layers = torch.nn.ModuleList(Layer(of) for _ in range(of.layers))
        self.norm = torch.nn.RMSNorm(of.width)
        self.head = torch.nn.Linear(of.width, of.vocabulary, bias=False)

    def forward(self, tokens, caches=None, *, last=True):
        """Return the output, and keys and values of each layer."""
        x, kept = self.table(tokens), []
        for at, layer in enumerate(self.layers):
            x, kv = layer(x, None if caches is None else caches[at])
            kept.append(kv)
        return self.head(self.norm(x[:, -1:] if last else x)), kept


def counted(call):
    """Return the flop that torch counts of a call."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        call()
    return counter.get_total_flops()


def test_weights_are_those_of_the_model():
    """Both have as many parameters."""
    assert sum(p.numel() for p in Model(MODEL).parameters()) == MODEL.weights


def test_prefill_is_what_torch_counts():
    """A prompt's products are those that torch sees; it computes the masked half, too."""
    model, tokens = Model(MODEL), torch.randint(0, 70, (3, 11))

    assert (
        counted(lambda: model(tokens))
        == (Inference(model=MODEL, precision="fp32").prefill(prompt=11, batch=3).amounts["fp32"])
    )


def test_decode_is_what_torch_counts():
    """So are those of one more token."""
    model, tokens = Model(MODEL), torch.randint(0, 70, (3, 11))
    _, caches = model(tokens)

    assert (
        counted(lambda: model(tokens[:, :1], caches))
        == (Inference(model=MODEL, precision="fp32").decode(context=11, batch=3).amounts["fp32"])
    )


def test_training_is_what_torch_counts():
    """Forward and backward with the output of every token."""
    model, tokens = Model(MODEL), torch.randint(0, 70, (3, 11))
    step = TransformerStep(model=MODEL, sequence=11, precision="fp32")

    assert (
        counted(lambda: model(tokens, last=False)[0].sum().backward())
        == (step.demand(batch=3, nodes=1).amounts["fp32"])
    )


@pytest.fixture(scope="module")
def benchmark():
    """Return benchmarks/transformer.py, whose model is as fast as PyTorch makes it."""
    path = Path(__file__).parents[2] / "benchmarks" / "transformer.py"
    spec = importlib.util.spec_from_file_location("transformer_benchmark", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("batch", "tokens", "context", "most"), [(1, 512, 0, 1.3), (4, 1, 512, 1.02)]
)
def test_operators_that_torch_calls_ask_for_the_same(benchmark, batch, tokens, context, most):
    """Every operator by its own rule: a hair more work, and bytes of few more operators."""
    of = benchmark.MODELS["small"]
    with fake.FakeTensorMode(), torch.inference_mode():  # calls as on a CPU, without data
        model = benchmark.Model(of).eval()
        caches = [
            torch.empty(batch, 2 * of.kv_head_count, tokens + context, of.head_size)
            for _ in range(of.layers)
        ]
        profile = ridgepoint.operators(
            lambda given: model(given, caches, context),
            torch.zeros(batch, tokens, dtype=torch.long),
        )
    inference = Inference(model=of, precision="fp32", activations="operators")
    parts = inference.parts(*inference.stages, tokens=tokens, context=context, batch=batch)
    asked = reduce(Demand.__add__, parts.values())

    assert profile.demand is not None
    work, moved = (profile.demand.amount(path) / asked.amount(path) for path in ("compute", "dram"))
    assert 1 < work < 1.01
    assert 1 < moved < most
