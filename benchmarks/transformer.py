"""A small transformer that PyTorch runs here, against the bound of its dimensions.

``python benchmarks/transformer.py MACHINE`` builds a model with random weights, reads a prompt and
generates tokens with a cache of keys and values, and prints measured times beside least times on
MACHINE (a number, name or file of this machine's ceilings). It needs PyTorch.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable

import torch

from ridgepoint.demands.transformer import Transformer
from ridgepoint.demands.transformer.passes import Inference
from ridgepoint.kept.lookup import machine_of
from ridgepoint.models.transformer import Serving

MODELS = {
    "small": Transformer(
        layers=12, width=768, heads=12, kv_heads=4, feed_forward=2048, vocabulary=32000
    ),
    "medium": Transformer(
        layers=16, width=1536, heads=12, kv_heads=4, feed_forward=4096, vocabulary=32000
    ),
}
CASES = ((1, 128), (1, 512), (4, 128), (16, 128))
"""Batch, and tokens of the prompts."""
_STEPS, _REPEATS = 8, 7


class Layer(torch.nn.Module):
    """Grouped-query attention and a gated feed-forward network, normalised before each."""

    def __init__(self, of: Transformer) -> None:
        super().__init__()
        self.of, linear = of, torch.nn.Linear
        self.joined = linear(of.width, of.query_width + of.kv_width, bias=False)
        self.out = linear(of.query_width, of.width, bias=False)
        self.up = linear(of.width, of.up_width, bias=False)
        self.down = linear(of.feed_forward, of.width, bias=False)
        self.norms = torch.nn.ModuleList(torch.nn.RMSNorm(of.width) for _ in range(2))

    def forward(self, x: torch.Tensor, cache: torch.Tensor, at: int) -> torch.Tensor:
        """Return the layer's output; keys and values are put into the cache from `at` on."""
        of, (batch, tokens, _) = self.of, x.shape
        joined = self.joined(self.norms[0](x))
        query, kv = joined.split([of.query_width, of.kv_width], dim=2)
        query = query.view(batch, tokens, of.heads, of.head_size).transpose(1, 2)
        kv = kv.view(batch, tokens, 2 * of.kv_head_count, of.head_size).transpose(1, 2)
        cache[:, :, at : at + tokens] = kv
        key, value = cache[:, :, : at + tokens].chunk(2, dim=1)
        seen = torch.nn.functional.scaled_dot_product_attention(
            query, key, value, is_causal=tokens > 1, enable_gqa=True
        )
        x = x + self.out(seen.transpose(1, 2).reshape(batch, tokens, -1))
        gate, up = self.up(self.norms[1](x)).chunk(2, dim=2)
        return x + self.down(torch.nn.functional.silu(gate) * up)


class Model(torch.nn.Module):
    """Layers between an embedding and the output of the last token."""

    def __init__(self, of: Transformer) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(of.vocabulary, of.width)
        self.layers = torch.nn.ModuleList(Layer(of) for _ in range(of.layers))
        self.norm = torch.nn.RMSNorm(of.width)
        self.head = torch.nn.Linear(of.width, of.vocabulary, bias=False)

    def forward(self, tokens: torch.Tensor, caches: list[torch.Tensor], at: int) -> torch.Tensor:
        """Return the scores of the next token of each sequence."""
        x = self.table(tokens)
        for layer, cache in zip(self.layers, caches, strict=True):
            x = layer(x, cache, at)
        return self.head(self.norm(x[:, -1]))


def times_of(call: Callable[[], None], clock: Callable[[], float]) -> list[float]:
    """Return the seconds of some calls, after one that is not counted."""
    call()
    taken = []
    for _ in range(_REPEATS):
        begin = clock()
        call()
        taken.append(clock() - begin)
    return taken


def measured(
    model: Model, of: Transformer, batch: int, prompt: int, clock: Callable[[], float]
) -> tuple[float, float]:
    """Return the median seconds of reading prompts, and of one more token of each."""
    caches = [
        torch.empty(batch, 2 * of.kv_head_count, prompt + _STEPS, of.head_size)
        for _ in range(of.layers)
    ]
    tokens = torch.randint(0, of.vocabulary, (batch, prompt))

    def read() -> None:
        model(tokens, caches, 0)

    def generate() -> None:
        for step in range(_STEPS):
            model(tokens[:, :1], caches, prompt + step)

    reading, generating = times_of(read, clock), times_of(generate, clock)
    return statistics.median(reading), statistics.median(generating) / _STEPS


def main(arguments: list[str]) -> int:
    """Measure every case, and print it beside its bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("machine", help="this machine's ceilings")
    parser.add_argument("--model", choices=[*MODELS], default="small")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument(
        "--cpu-time", action="store_true", help="with one thread, for a machine that is not idle"
    )
    options = parser.parse_args(arguments)
    clock = time.process_time if options.cpu_time else time.perf_counter
    torch.set_num_threads(options.threads)
    of, machine = MODELS[options.model], machine_of(options.machine)
    torch.manual_seed(1)
    model = Model(of).eval()
    print(f"{sum(p.numel() for p in model.parameters()):,} weights in fp32; {machine.name}")
    print("batch  prompt  first token  least  share  each token  least  share")
    with torch.inference_mode():
        for batch, prompt in CASES:
            first_s, token_s = measured(model, of, batch, prompt, clock)
            serving = Serving(
                inference=Inference(model=of, precision="fp32"), machine=machine, prompt=prompt,
                generated=_STEPS + 1, cores=min(options.threads, machine.cores),
            )  # fmt: skip
            least = float(serving.prefill(batch).time_s[0]), float(serving.decode(batch).time_s[0])
            print(
                f"{batch:5} {prompt:7} {first_s * 1e3:9.1f} ms {least[0] * 1e3:6.1f} "
                f"{least[0] / first_s:6.2f} {token_s * 1e3:8.2f} ms {least[1] * 1e3:6.2f} "
                f"{least[1] / token_s:6.2f}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
