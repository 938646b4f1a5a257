"""Two networks of well-known sizes, from code and with random weights: ResNet-50 and GPT-2 small.

    python benchmarks/programs/networks.py resnet50|gpt2 [BATCH] [--train]

As a script it runs the network once, or one step of training.
"""

from __future__ import annotations

import sys

import torch
from torch import nn
from torch.nn import functional

RESNET50_PARAMETERS = 25_557_032  # torchvision.models.resnet50
GPT2_PARAMETERS = 124_439_808  # openai-community/gpt2, whose output layer is its table


class Bottleneck(nn.Module):
    """Three convolutions with a way around them (He et al., CVPR 2016, figure 5)."""

    def __init__(self, width_in: int, width: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width_in, width, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, 4 * width, 1, bias=False),
            nn.BatchNorm2d(4 * width),
        )
        self.around: nn.Module = nn.Identity()
        if stride != 1 or width_in != 4 * width:
            self.around = nn.Sequential(
                nn.Conv2d(width_in, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the block's result, of shape (batch, 4 width, rows, columns)."""
        return functional.relu(self.body(x) + self.around(x), inplace=True)


def resnet50(classes: int = 1000) -> nn.Module:
    """Return a ResNet-50 for images of 224 x 224 pixels."""
    layers: list[nn.Module] = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
    ]
    width_in = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            layers.append(Bottleneck(width_in, width, stride if block == 0 else 1))
            width_in = 4 * width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width_in, classes)]
    return nn.Sequential(*layers)


class Block(nn.Module):
    """A layer of GPT-2: attention and two linear layers, each after a normalisation."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the layer's result, of shape (batch, tokens, width)."""
        batch, tokens, width = x.shape
        parts = self.qkv(self.norm1(x)).view(batch, tokens, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(functional.gelu(self.up(self.norm2(x)), approximate="tanh"))


class GPT2(nn.Module):
    """GPT-2 in its smallest size; its output layer is its table of tokens.

    Parameters
    ----------
    layers, heads, width, vocabulary, longest : int
    """

    def __init__(
        self,
        layers: int = 12,
        heads: int = 12,
        width: int = 768,
        vocabulary: int = 50257,
        longest: int = 1024,
    ) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(longest, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        nn.init.normal_(self.tokens.weight, std=0.02)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the logits, of shape (batch, tokens, vocabulary)."""
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return functional.linear(self.norm(x), self.tokens.weight)


def images(batch: int = 1) -> torch.Tensor:
    """Return random images for `resnet50`."""
    return torch.randn(batch, 3, 224, 224)


def texts(batch: int = 1, length: int = 128) -> torch.Tensor:
    """Return random tokens for `GPT2`."""
    return torch.randint(0, 50257, (batch, length))


def main() -> None:
    """Run one of them."""
    arguments = [one for one in sys.argv[1:] if one != "--train"]
    batch = int(arguments[1]) if len(arguments) > 1 else 1
    model, data = (
        (resnet50(), images(batch)) if arguments[0] == "resnet50" else (GPT2(), texts(batch))
    )
    if "--train" in sys.argv:
        model(data).mean().backward()
        torch.optim.SGD(model.parameters(), lr=1e-3).step()
        return
    with torch.no_grad():
        model.eval()(data)


if __name__ == "__main__":
    main()
