"""Record the operators of a training step of a small transformer, and keep them by their batch.

Usage: ``python training_step.py BATCH [FILE]``. The record is called ``step-BATCH``; with a file,
its document is written there instead.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

import ridgepoint
from ridgepoint.core.documents import encode

LAYERS, WIDTH, HEADS, WORDS, LENGTH = 2, 256, 4, 1000, 64


class Block(nn.Module):
    """Attention and a feed-forward network, each after a normalisation and beside a shortcut."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = nn.ModuleDict(
            {"join": nn.Linear(WIDTH, 3 * WIDTH), "out": nn.Linear(WIDTH, WIDTH)}
        )
        self.mlp = nn.ModuleDict(
            {"up": nn.Linear(WIDTH, 4 * WIDTH), "down": nn.Linear(4 * WIDTH, WIDTH)}
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return an array of the same shape: sequences, words, numbers of a word."""
        batch, length, width = x.shape
        joined = self.attention["join"](self.before(x))
        q, k, v = joined.view(batch, length, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.attention["out"](mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp["down"](functional.gelu(self.mlp["up"](self.between(x))))


class Transformer(nn.Module):
    """A decoder with random weights."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        self.layers = nn.ModuleList(Block() for _ in range(LAYERS))
        self.last = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        """Return a score of each word after each word."""
        x = self.words(words) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.head(self.last(x))


def recorded(batch: int) -> ridgepoint.OperatorProfile:
    """Return the operators of a step with so many sequences."""
    torch.manual_seed(1)
    words = torch.randint(0, WORDS, (batch, LENGTH))
    return ridgepoint.operators(
        Transformer(), words, backward="sum", name="small transformer", repetitions=7
    )


def main() -> None:
    """Record, and keep or write."""
    batch = int(sys.argv[1])
    profile = recorded(batch)
    print(profile.headline)
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_bytes(encode(profile))
    else:
        print("kept as", ridgepoint.keep(profile, label=f"step-{batch}"))


if __name__ == "__main__":
    main()
