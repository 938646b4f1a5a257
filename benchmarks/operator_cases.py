"""Operators of PyTorch to check, each as a program would call it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

_SEED = 20261123
_ELEMENTS = 1 << 18


@dataclass(frozen=True, slots=True)
class Case:
    """An expression, and the tensors that it is made of.

    Parameters
    ----------
    name : str
        In the table.
    function : callable
        Of the tensors.
    inputs : tuple of Tensor
    backward : bool
        Whether the operators of a backward pass are checked too.
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[Any, ...]
    backward: bool = False


def inputs_of(case: Case) -> list[Any]:
    """Return the inputs of a case, with gradients where a backward pass wants them."""
    return [
        one.detach().requires_grad_(case.backward and one.is_floating_point())
        if isinstance(one, Tensor)
        else one
        for one in case.inputs
    ]


def _normal(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape).to(dtype)


def _positive(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return (torch.rand(*shape) + 0.1).to(dtype)


def cases() -> Iterator[Case]:
    """Yield all cases, with the same data every time."""
    torch.manual_seed(_SEED)
    yield from _products()
    yield from _convolutions()
    yield from _attention()
    yield from _normalisations()
    yield from _losses_and_tables()
    yield from _pooling()
    yield from _arithmetic()
    yield from _functions()
    yield from _gradients_of_functions()
    yield from _reductions()
    yield from _moving()
    yield from _others()


def functions() -> Iterator[Case]:
    """Yield elementwise functions whose work depends on the library, in three precisions."""
    torch.manual_seed(_SEED)
    for name in (
        *("exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "tan", "tanh", "atan"),
        *("sinh", "erf", "erfinv", "sigmoid", "lgamma"),
    ):
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            x = _positive(_ELEMENTS // 4, dtype=dtype) * 0.8
            yield Case(name, getattr(torch, name), (x,))


def _products() -> Iterator[Case]:
    m = _normal(256, 256)
    yield Case(
        "linear with bias",
        F.linear,
        (_normal(128, 512), m.new_ones(384, 512) * _normal(384, 512), _normal(384)),
        True,
    )
    yield Case("product, right factor transposed", lambda a, b: a @ b.T, (m, _normal(256, 256)))
    yield Case("product in fp64", torch.mm, (m.double(), _normal(256, 256).double()))
    yield Case("product in bf16", torch.mm, (m.bfloat16(), _normal(256, 256).bfloat16()))
    yield Case("product, sizes not of vectors", torch.mm, (_normal(131, 77), _normal(77, 203)))
    yield Case("batch of products", torch.bmm, (_normal(16, 64, 96), _normal(16, 96, 64)), True)
    yield Case(
        "batch of products and a sum",
        torch.baddbmm,
        (_normal(16, 64, 64), _normal(16, 64, 96), _normal(16, 96, 64)),
    )
    yield Case("matrix and vector", torch.mv, (_normal(512, 512), _normal(512)))
    yield Case("dot product", torch.dot, (_normal(_ELEMENTS), _normal(_ELEMENTS)))
    yield Case(
        "product of complex numbers",
        torch.mm,
        (
            torch.randn(128, 128, dtype=torch.complex64),
            torch.randn(128, 128, dtype=torch.complex64),
        ),
    )


def _convolutions() -> Iterator[Case]:
    image = _normal(1, 32, 56, 56)
    yield Case(
        "convolution 3x3",
        lambda x, w: F.conv2d(x, w, padding=1),
        (image, _normal(32, 32, 3, 3)),
        True,
    )
    yield Case(
        "convolution 7x7, stride 2",
        lambda x, w: F.conv2d(x, w, stride=2, padding=3),
        (_normal(1, 3, 112, 112), _normal(32, 3, 7, 7)),
    )
    yield Case("convolution 1x1", F.conv2d, (image, _normal(64, 32, 1, 1)))
    yield Case(
        "depthwise convolution 3x3",
        lambda x, w: F.conv2d(x, w, padding=1, groups=32),
        (image, _normal(32, 1, 3, 3)),
        True,
    )
    yield Case(
        "convolution in 4 groups",
        lambda x, w: F.conv2d(x, w, padding=1, groups=4),
        (image, _normal(32, 8, 3, 3)),
    )
    yield Case(
        "dilated convolution",
        lambda x, w: F.conv2d(x, w, padding=2, dilation=2),
        (image, _normal(32, 32, 3, 3)),
    )
    yield Case(
        "convolution, channels last",
        lambda x, w: F.conv2d(x, w, padding=1),
        (image.to(memory_format=torch.channels_last), _normal(32, 32, 3, 3)),
    )
    yield Case(
        "convolution in bf16",
        lambda x, w: F.conv2d(x, w, padding=1),
        (image.bfloat16(), _normal(32, 32, 3, 3).bfloat16()),
    )
    yield Case(
        "convolution in fp64",
        lambda x, w: F.conv2d(x, w, padding=1),
        (image.double(), _normal(32, 32, 3, 3).double()),
    )
    yield Case(
        "convolution 1-D",
        lambda x, w: F.conv1d(x, w, padding=4),
        (_normal(4, 64, 1024), _normal(64, 64, 9)),
    )
    yield Case(
        "convolution 3-D",
        lambda x, w: F.conv3d(x, w, padding=1),
        (_normal(1, 8, 16, 32, 32), _normal(16, 8, 3, 3, 3)),
    )
    yield Case(
        "transposed convolution",
        lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1),
        (_normal(1, 32, 28, 28), _normal(32, 32, 4, 4)),
    )


def _attention() -> Iterator[Case]:
    def heads() -> tuple[Tensor, ...]:
        return tuple(_normal(1, 8, 256, 64) for _ in range(3))

    sdpa = F.scaled_dot_product_attention
    yield Case("attention", sdpa, heads(), True)
    yield Case("causal attention", lambda q, k, v: sdpa(q, k, v, is_causal=True), heads(), True)
    yield Case(
        "attention with a mask",
        lambda q, k, v, mask: sdpa(q, k, v, attn_mask=mask),
        (*heads(), _normal(256, 256)),
    )
    yield Case("attention in bf16", sdpa, tuple(part.bfloat16() for part in heads()))
    yield Case("attention of one new token", sdpa, (_normal(1, 8, 1, 64), *heads()[1:]))


def _normalisations() -> Iterator[Case]:
    x, image = _normal(512, 512), _normal(4, 32, 48, 48)
    yield Case(
        "layer norm",
        lambda x, w, b: F.layer_norm(x, (512,), w, b),
        (x, _normal(512), _normal(512)),
        True,
    )
    yield Case("RMS norm", lambda x, w: F.rms_norm(x, (512,), w), (x, _normal(512)))
    yield Case(
        "batch norm in training",
        lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
        (image, _normal(32), _normal(32)),
        True,
    )
    yield Case(
        "batch norm in inference",
        F.batch_norm,
        (image, _normal(32), _positive(32), _normal(32), _normal(32)),
    )
    yield Case(
        "group norm",
        lambda x, w, b: F.group_norm(x, 8, w, b),
        (image, _normal(32), _normal(32)),
        True,
    )


def _losses_and_tables() -> Iterator[Case]:
    x = _normal(512, 512)
    classes = torch.randint(0, 512, (512,))
    yield Case("softmax", lambda x: torch.softmax(x, -1), (x,), True)
    yield Case("softmax over the first dimension", lambda x: torch.softmax(x, 0), (x,))
    yield Case("cross entropy", lambda x: F.cross_entropy(x, classes), (x,), True)
    yield Case("mean squared error", F.mse_loss, (x, _normal(512, 512)), True)
    yield Case(
        "embedding",
        lambda table, at: F.embedding(at, table),
        (_normal(2000, 256), torch.randint(0, 2000, (1024,))),
        True,
    )


def _pooling() -> Iterator[Case]:
    image = _normal(4, 32, 48, 48)
    yield Case("largest of 3x3, stride 2", lambda x: F.max_pool2d(x, 3, 2, 1), (image,), True)
    yield Case("average of 2x2", lambda x: F.avg_pool2d(x, 2), (image,), True)
    yield Case("average of all", lambda x: F.adaptive_avg_pool2d(x, 1), (image,))
    yield Case("average to 7x7", lambda x: F.adaptive_avg_pool2d(x, 7), (image,))
    yield Case(
        "bilinear, twice as large",
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
        (_normal(1, 16, 64, 64),),
    )
    yield Case(
        "nearest, twice as large",
        lambda x: F.interpolate(x, scale_factor=2),
        (_normal(1, 16, 64, 64),),
    )


def _arithmetic() -> Iterator[Case]:
    x, y = _normal(512, 512), _normal(512, 512)
    yield Case("a + b", torch.add, (x, y))
    yield Case("a + b of a row", torch.add, (x, _normal(512)))
    yield Case("a + b, a transposed", lambda x, y: x.T + y, (x, y))
    yield Case(
        "a + b, every second column",
        lambda x, y: x[:, ::2] + y[:, ::2],
        (_normal(512, 1024), _normal(512, 1024)),
    )
    yield Case("a + b in bf16", torch.add, (x.bfloat16(), y.bfloat16()))
    yield Case("a + b in fp64", torch.add, (x.double(), y.double()))
    yield Case("a += b", lambda x, y: x.add_(y), (x.clone(), y))
    yield Case("a - b", torch.sub, (x, y))
    yield Case("a * b", torch.mul, (x, y))
    yield Case("a * 2", lambda x: x * 2.0, (x,))
    yield Case(
        "a * b of complex numbers",
        torch.mul,
        (
            torch.randn(256, 256, dtype=torch.complex64),
            torch.randn(256, 256, dtype=torch.complex64),
        ),
    )
    yield Case("a / b", torch.div, (x, _positive(512, 512)))
    yield Case("a b + c", torch.addcmul, (x, y, _normal(512, 512)))
    yield Case("between limits", lambda x: x.clamp(-1.0, 1.0), (x,))
    yield Case("larger of a and b", torch.maximum, (x, y))
    yield Case("a > b", torch.gt, (x, y))
    yield Case("a or b by a mask", torch.where, (x > 0, x, y))
    yield Case(
        "a + b of int64",
        torch.add,
        (torch.randint(0, 99, (512, 512)), torch.randint(0, 99, (512, 512))),
    )


def _functions() -> Iterator[Case]:
    x = _positive(512, 512)
    for name in ("relu", "sqrt", "rsqrt", "exp", "log", "sin", "tanh", "erf", "sigmoid"):
        yield Case(name, getattr(torch, name), (x,))
    yield Case("silu", F.silu, (x,))
    yield Case("gelu", F.gelu, (x,))
    yield Case("gelu by tanh", lambda x: F.gelu(x, approximate="tanh"), (x,))
    yield Case("gelu in bf16", F.gelu, (x.bfloat16(),))
    yield Case("exp in fp64", torch.exp, (x.double(),))
    yield Case("square", torch.square, (x,))
    yield Case("power 2.5", lambda x: x**2.5, (x,))


def _gradients_of_functions() -> Iterator[Case]:
    x = _positive(512, 512)
    for name, function in (
        ("relu", F.relu),
        ("tanh", torch.tanh),
        ("sigmoid", torch.sigmoid),
        ("silu", F.silu),
        ("gelu", F.gelu),
    ):
        yield Case(name, function, (x,), True)


def _reductions() -> Iterator[Case]:
    x = _normal(512, 512)
    yield Case("sum of all", torch.sum, (x,))
    yield Case("sum of rows", lambda x: x.sum(1), (x,))
    yield Case("sum of columns", lambda x: x.sum(0), (x,))
    yield Case("mean of all", torch.mean, (x,))
    yield Case("variance of rows", lambda x: x.var(1), (x,))
    yield Case("largest of all", torch.max, (x,))
    yield Case("place of the largest of rows", lambda x: x.argmax(1), (x,))
    yield Case("norm of all", torch.linalg.vector_norm, (x,))
    yield Case("logarithm of a sum of exp", lambda x: torch.logsumexp(x, 1), (x,))
    yield Case("running sum of rows", lambda x: x.cumsum(1), (x,))
    yield Case("product of rows", lambda x: x.prod(1), (x,))


def _moving() -> Iterator[Case]:
    x = _normal(512, 512)
    rows = torch.randint(0, 512, (256,))
    yield Case("copy", torch.clone, (x,))
    yield Case("copy of a transposed matrix", lambda x: x.T.contiguous(), (x,))
    yield Case("fp32 to bf16", lambda x: x.to(torch.bfloat16), (x,))
    yield Case("side by side", lambda x, y: torch.cat((x, y), 1), (x, _normal(512, 256)))
    yield Case("selected rows", lambda x, at: torch.index_select(x, 0, at), (x, rows))
    yield Case("by an array of indices", lambda x, at: x[at], (x, rows))
    yield Case(
        "gather along rows",
        lambda x, at: torch.gather(x, 1, at),
        (x, torch.randint(0, 512, (512, 256))),
    )
    yield Case(
        "scattered sum",
        lambda x, at, y: x.scatter_add(1, at, y),
        (x, torch.randint(0, 512, (512, 256)), _normal(512, 256)),
    )
    yield Case("sorted rows", lambda x: x.sort(1), (x,))
    yield Case("10 largest of rows", lambda x: x.topk(10, 1), (x,))
    yield Case("filled", lambda x: x.fill_(3.0), (x.clone(),))


def _others() -> Iterator[Case]:
    x = _normal(512, 512)
    yield Case("dropout", lambda x: F.dropout(x, 0.1, training=True), (x,))
    yield Case("random normal numbers", torch.randn_like, (x,))
    yield Case("FFT of rows", torch.fft.fft, (torch.randn(256, 512, dtype=torch.complex64),))
    yield Case("FFT of real rows", torch.fft.rfft, (x,))
    yield Case(
        "Cholesky factors", torch.linalg.cholesky, (_normal(128, 128) * 0.1 + 20 * torch.eye(128),)
    )
    yield Case("LSTM", torch.nn.LSTM(128, 128), (_normal(16, 8, 128),))
    yield Case(
        "step of SGD with momentum",
        lambda w, g, m: _step(torch.optim.SGD, w, g, lr=0.1, momentum=0.9),
        (x.clone(), x, x),
    )
    yield Case(
        "step of Adam", lambda w, g: _step(torch.optim.Adam, w, g, foreach=True), (x.clone(), x)
    )
    yield Case(
        "step of AdamW, fused",
        lambda w, g: _step(torch.optim.AdamW, w, g, fused=True),
        (x.clone(), x),
    )


def _step(optimizer: Any, weight: Tensor, gradient: Tensor, **options: Any) -> None:
    weight = weight.detach().clone().requires_grad_()
    weight.grad = gradient
    stepped = optimizer([weight], **options)
    stepped.step()
    stepped.step()
