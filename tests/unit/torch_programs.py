"""Programs of PyTorch in the style of its model zoo, small, for tests of what they call."""

import torch
from torch import nn
from torch.nn import functional

A = torch.rand(6, 6, generator=torch.Generator().manual_seed(1)) + 0.1
POSITIVE = A @ A.T + torch.eye(6)
PLACES = torch.randint(0, 6, (3, 4), generator=torch.Generator().manual_seed(1))


class _First(nn.Module):
    """A recurrent layer or cell that gives its first result alone."""

    def __init__(self, layer: nn.Module):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        """Return the first result."""
        result = self.layer(x)
        return result[0] if isinstance(result, tuple) else result


class _Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, x):
        """Return what x makes of itself."""
        return self.layer(x, x, x)[0]


MODELS = {
    "residual network": (
        nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3, groups=8),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(8, 4),
        ),
        (2, 3, 16, 16),
    ),
    "volumes": (
        nn.Sequential(nn.Conv3d(1, 4, 3, stride=2), nn.InstanceNorm3d(4), nn.AvgPool3d(2)),
        (2, 1, 12, 12, 12),
    ),
    "decoder of images": (
        nn.Sequential(
            nn.ConvTranspose2d(3, 6, 3, stride=2, output_padding=1),
            nn.GroupNorm(2, 6),
            nn.SiLU(),
            nn.Upsample(scale_factor=2, mode="bilinear"),
            nn.Conv2d(6, 4, 1),
            nn.PixelShuffle(2),
            nn.Upsample(scale_factor=2),
            nn.AvgPool2d(2),
            nn.ReflectionPad2d(1),
            nn.ZeroPad2d(1),
        ),
        (2, 3, 8, 8),
    ),
    "encoder": (
        nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2),
        (2, 7, 32),
    ),
    "attention": (_Attention(), (2, 5, 16)),
    "LSTM": (_First(nn.LSTM(8, 16, 2, bidirectional=True)), (5, 2, 8)),
    "GRU": (_First(nn.GRU(8, 16, 2)), (5, 2, 8)),
    "RNN": (_First(nn.RNN(8, 16, 2, nonlinearity="relu")), (5, 2, 8)),
    "cells": (
        nn.Sequential(_First(nn.LSTMCell(8, 16)), nn.GRUCell(16, 8), nn.RNNCell(8, 8)),
        (2, 8),
    ),
    "activations": (
        nn.Sequential(
            nn.GELU(),
            nn.GELU("tanh"),
            nn.ELU(),
            nn.CELU(),
            nn.SELU(),
            nn.Hardswish(),
            nn.Hardsigmoid(),
            nn.Hardtanh(),
            nn.LeakyReLU(),
            nn.LogSigmoid(),
            nn.Mish(),
            nn.PReLU(),
            nn.ReLU6(),
            nn.RReLU(),
            nn.Sigmoid(),
            nn.Softplus(),
            nn.Softshrink(),
            nn.Hardshrink(),
            nn.Softsign(),
            nn.Tanh(),
            nn.Tanhshrink(),
            nn.GLU(),
            nn.Softmin(1),
            nn.Softmax(1),
            nn.LogSoftmax(1),
        ),
        (2, 8),
    ),
    "norms": (
        nn.Sequential(
            nn.LayerNorm(8),
            nn.RMSNorm(8),
            nn.BatchNorm1d(4),
            nn.LocalResponseNorm(2),
            nn.Dropout(0.1),
            nn.AlphaDropout(0.1),
            nn.Dropout1d(),
        ),
        (2, 4, 8),
    ),
    "pooling of signals": (
        nn.Sequential(nn.MaxPool1d(2), nn.AvgPool1d(2), nn.AdaptiveMaxPool1d(4), nn.LPPool1d(2, 2)),
        (2, 4, 32),
    ),
    "pooling of images": (
        nn.Sequential(
            nn.FractionalMaxPool2d(2, output_size=9),
            nn.AdaptiveMaxPool2d(5),
            nn.AdaptiveAvgPool2d(3),
        ),
        (2, 4, 20, 20),
    ),
    "windows": (
        nn.Sequential(
            nn.Upsample(scale_factor=2, mode="bicubic"), nn.Unfold(2), nn.Fold((8, 8), 2)
        ),
        (1, 2, 4, 4),
    ),
    "weight norm": (nn.utils.parametrizations.weight_norm(nn.Linear(8, 4)), (2, 8)),
    "spectral norm": (nn.utils.parametrizations.spectral_norm(nn.Linear(8, 4)), (2, 8)),
}
"""Models, and the shapes of their inputs."""

X = torch.randn(4, 10, generator=torch.Generator().manual_seed(1))
Y = torch.rand(4, 10, generator=torch.Generator().manual_seed(2))
CLASSES = torch.tensor([1, 4, 7, 9])

LOSSES = {
    "cross entropy": lambda x: functional.cross_entropy(x, CLASSES),
    "smoothed labels": lambda x: functional.cross_entropy(x, CLASSES, label_smoothing=0.1),
    "squares": lambda x: functional.mse_loss(x, Y),
    "absolute": lambda x: functional.l1_loss(x, Y),
    "smooth absolute": lambda x: functional.smooth_l1_loss(x, Y),
    "Huber's": lambda x: functional.huber_loss(x, Y),
    "binary": lambda x: functional.binary_cross_entropy(x.sigmoid(), Y),
    "binary of logits": lambda x: functional.binary_cross_entropy_with_logits(x, Y),
    "divergence": lambda x: functional.kl_div(x.log_softmax(1), Y, reduction="sum"),
    "margin": lambda x: functional.multi_margin_loss(x, CLASSES),
    "soft margin": lambda x: functional.soft_margin_loss(x, Y),
    "triplets": lambda x: functional.triplet_margin_loss(x, Y, Y + 1),
    "Poisson": lambda x: functional.poisson_nll_loss(x, Y),
    "Gauss": lambda x: functional.gaussian_nll_loss(x, Y, Y + 0.1),
}

FUNCTIONS = {
    "Fourier transforms": lambda a: (
        torch.fft.ifft2(torch.fft.fft2(a)).abs() + torch.fft.irfft(torch.fft.rfft(a))
    ),
    "factorisations": lambda a: (
        torch.linalg.cholesky(POSITIVE + 0 * a),
        torch.linalg.qr(a),
        torch.linalg.inv(a),
        torch.linalg.solve(a, a),
        torch.linalg.slogdet(a),
        torch.linalg.lu(a),
        torch.linalg.solve_triangular(a, a, upper=True),
        torch.cholesky_solve(a, a),
    ),
    "products": lambda a: (
        torch.einsum("ij,jk,kl->il", a, a, a),
        torch.linalg.multi_dot([a, a, a]),
        torch.outer(a[0], a[1]),
        torch.cdist(a, a),
        torch.addbmm(a, a[None], a[None]),
        torch.kron(a, a),
        a @ a[0],
        a[0] @ a[1],
        torch.linalg.cross(a[:, :3], a[:, 3:]),
        functional.bilinear(a, a, a.expand(2, 6, 6)),
    ),
    "look-ups": lambda a: (
        a[[0, 1]],
        a.gather(1, PLACES[:, :2]),
        a.index_select(0, PLACES[0]),
        a[a > 0.5],
        a.take(PLACES),
        a.masked_fill(a > 0, 0.0),
        functional.embedding(PLACES, a),
        a.clone().index_add_(0, PLACES[0], a[:4]),
        a.clone().scatter_add_(1, PLACES, a[:3, :4]),
        a.clone().index_put_((PLACES[0],), a[0]),
        a.topk(2)[0],
        a.sort()[0],
        functional.one_hot(PLACES),
        functional.embedding_bag(PLACES, a),
    ),
    "reductions": lambda a: (
        a.sum(),
        a.mean(0),
        a.var(1),
        a.std(),
        a.norm(),
        a.prod(),
        a.max(0)[0],
        a.amax(1),
        a.logsumexp(0),
        a.cumsum(0),
        a.cumprod(1),
        a.argmax(),
        a.trace(),
        functional.normalize(a),
        a.median(),
        functional.cosine_similarity(a, a),
    ),
    "shapes": lambda a: (
        a.T.contiguous(),
        a.repeat(2, 2),
        a.flip(0),
        a.roll(1),
        a.tril(),
        torch.cat([a, a]),
        torch.stack([a, a]),
        a.unfold(0, 2, 1),
        functional.pad(a, (1, 1)),
        a.expand(3, 6, 6).clone(),
        a.diagonal() * 2,
        a[1:3] * 2,
        a.split(2)[0] * 3,
        torch.where(a > 0.5, a, -a),
        a.bfloat16().float(),
        a.view(36).reshape(4, 9),
    ),
    "interpolation": lambda a: [
        functional.interpolate(a[None, None], size=5, mode=mode)
        for mode in ("nearest", "bilinear", "bicubic", "area")
    ],
    "elements": lambda a: (
        a.exp().log().sin().cos().tanh().sigmoid() + a.pow(3) / a.sqrt() - a.rsqrt(),
        torch.atan2(a, a),
        a.lerp(a, 0.5),
        torch.addcmul(a, a, a),
        torch.hypot(a, a),
        a.clamp(0, 1),
        a.abs().erf(),
        a % 0.3,
        torch.complex(a, a) * torch.complex(a, a),
        a.floor(),
        torch.maximum(a, a * 2),
        a.logit(0.1),
    ),
    "random numbers": lambda a: (
        torch.rand(3),
        torch.randn(3) + a[0, :3],
        torch.bernoulli(a / 9),
        a.clone().uniform_(),
        torch.randperm(4),
        torch.arange(6.0) * a,
        torch.zeros(6) + a,
        torch.eye(6) @ a,
    ),
}

OPTIMIZERS = ("SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Adadelta", "Adamax", "NAdam", "RAdam",
              "ASGD", "Rprop", "Adafactor")  # fmt: skip
