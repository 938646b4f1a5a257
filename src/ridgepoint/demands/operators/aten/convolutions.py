"""Rules of PyTorch's convolutions, and of their gradients.

The work is that of the direct algorithm, and products with padding are none: they are known to
be zero. Algorithms by FFT or Winograd's do less.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ridgepoint.core.operators import Asked, Call, Tensor
from ridgepoint.demands.operators.asking import array, arrays, ask, given
from ridgepoint.demands.operators.forms import taps
from ridgepoint.demands.operators.rule import NoRule, Rule

KIND = "convolution"
RULE = "2 n k c / g times the elements of windows that lie within the input"


@dataclass(frozen=True, slots=True)
class _Windows:
    """How a window moves over an image: one number for each dimension."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    transposed: bool
    groups: int

    def multiply_adds(self, image: Tensor, weight: Tensor, result: Tensor) -> float:
        """Return multiply-adds between an image, weights and the result.

        The gradients for image and weights have the same: each element of a window joins one
        element of the image, one weight and one element of the result.
        """
        small, large = (image, result) if self.transposed else (result, image)
        along = (
            taps(large.shape[2 + at], small.shape[2 + at], size,
                 stride=self.stride[at], padding=self.padding[at], dilation=self.dilation[at])
            for at, size in enumerate(weight.shape[2:])
        )  # fmt: skip
        # Weights are (out, in / groups, ...) or, transposed, (in, out / groups, ...).
        return float(image.shape[0] * weight.shape[0] * weight.shape[1] * math.prod(along))


def _windows(args: Any, weight: Tensor, *, transposed: bool) -> _Windows:
    dimensions = len(weight.shape) - 2

    def each(value: object) -> tuple[int, ...]:
        numbers = (value,) if isinstance(value, int) else value
        if not isinstance(numbers, list | tuple) or not all(isinstance(n, int) for n in numbers):
            raise NoRule(f"the convolution's stride, padding or dilation is {value!r}")
        return tuple(numbers) * dimensions if len(numbers) == 1 else tuple(numbers)

    dilation = each(args.dilation)
    padding = args.padding
    if padding == "valid":
        padding = 0
    elif padding == "same":
        sizes = zip(weight.shape[2:], dilation, strict=True)
        padding = tuple((size - 1) * apart // 2 for size, apart in sizes)
    return _Windows(each(args.stride), each(padding), dilation, transposed, int(args.groups))


def _forward(call: Call, args: Any, *, transposed: bool) -> Asked:
    image, weight = array(args.input, "input"), array(args.weight, "weight")
    if not call.outputs:
        raise NoRule("the shape of its result is not known")
    image, result = _batched(image, weight), _batched(call.outputs[0], weight)
    if len(image.shape) != len(weight.shape):
        raise NoRule("its weights were reordered")
    windows = _windows(args, weight, transposed=transposed)
    biases = float(result.size) if arrays(args.bias) else 0.0
    return ask(
        call,
        KIND,
        dtype=image.dtype,
        products=2 * windows.multiply_adds(image, weight, result),
        flop=biases,
        complex_flop=2 * biases,
        workspace_bytes=None,
        rule=RULE,
    )


def _batched(image: Tensor, weight: Tensor) -> Tensor:
    """Return an image as a batch of one, if it has no dimension for a batch."""
    if len(image.shape) != len(weight.shape) - 1:
        return image
    return Tensor(shape=(1, *image.shape), dtype=image.dtype, nbytes=image.nbytes)


def _convolution(call: Call) -> Asked:
    args = given(
        call, "input", "weight", bias=None, stride=1, padding=0, dilation=1, transposed=False,
        output_padding=0, groups=1,
    )  # fmt: skip
    return _forward(call, args, transposed=bool(args.transposed))


def _one_way(call: Call) -> Asked:
    args = given(
        call, "input", "weight", bias=None, stride=1, padding=0, dilation=1, groups=1
    )  # fmt: skip
    return _forward(call, args, transposed=False)


def _other_way(call: Call) -> Asked:
    args = given(
        call, "input", "weight", bias=None, stride=1, padding=0, output_padding=0, groups=1,
        dilation=1,
    )  # fmt: skip
    return _forward(call, args, transposed=True)


def _oned_nn(call: Call) -> Asked:
    args = given(
        call, "input", "weight", bias=None, padding=0, stride=1, dilation=1, groups=1
    )  # fmt: skip
    return _forward(call, args, transposed=False)


def _cudnn(call: Call) -> Asked:
    args = given(
        call, "input", "weight", padding=0, stride=1, dilation=1, groups=1, bias=None
    )  # fmt: skip
    return _forward(call, args, transposed=False)


def _cudnn_transposed(call: Call) -> Asked:
    args = given(
        call, "input", "weight", padding=0, output_padding=0, stride=1, dilation=1, groups=1,
        bias=None,
    )  # fmt: skip
    return _forward(call, args, transposed=True)


def _by_kernel_size(call: Call) -> Asked:
    args = given(
        call, "input", "weight", "kernel_size", bias=None, stride=1, padding=0, dilation=1,
        groups=1,
    )  # fmt: skip
    return _forward(call, args, transposed=False)


def _depthwise(call: Call) -> Asked:
    args = given(
        call, "input", "weight", "kernel_size", "bias", "stride", "padding", "dilation", groups=1
    )
    return _forward(call, args, transposed=False)


def _backward(call: Call) -> Asked:
    """Gradients: of the input and of the weights each as many products as forward."""
    args = given(
        call, "grad", "input", "weight", bias_sizes=None, stride=1, padding=0, dilation=1,
        transposed=False, output_padding=0, groups=1, output_mask=(True, True, True),
    )  # fmt: skip
    grad, image = array(args.grad, "grad_output"), array(args.input, "input")
    weight = array(args.weight, "weight")
    wanted = _mask(args.output_mask)
    windows = _windows(args, weight, transposed=bool(args.transposed))
    each = windows.multiply_adds(_batched(image, weight), weight, _batched(grad, weight))
    channels = weight.shape[1] * windows.groups if windows.transposed else weight.shape[0]
    biases = float(max(grad.size - channels, 0)) if wanted[2] else 0.0
    return ask(
        call,
        KIND,
        dtype=grad.dtype,
        products=2 * each * sum(wanted[:2]),
        flop=biases,
        complex_flop=2 * biases,
        read=(grad, *([weight] if wanted[0] else []), *([image] if wanted[1] else [])),
        workspace_bytes=None,
        rule=f"{RULE}, for each gradient",
    )


def _mask(value: object) -> Sequence[bool]:
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise NoRule("it is not known which gradients are wanted")
    return [bool(one) for one in value]


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("convolution", "_convolution", "convolution_overrideable"), _convolution),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), _one_way),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), _other_way),
    "mkldnn_convolution": _oned_nn,
    **dict.fromkeys(("cudnn_convolution", "miopen_convolution"), _cudnn),
    **dict.fromkeys(
        ("cudnn_convolution_transpose", "miopen_convolution_transpose"), _cudnn_transposed
    ),
    **dict.fromkeys(
        ("thnn_conv2d", "_slow_conv2d_forward", "slow_conv3d", "slow_conv3d_forward",
         "slow_conv_dilated2d", "slow_conv_dilated3d"),
        _by_kernel_size,
    ),
    **dict.fromkeys(("_conv_depthwise2d", "conv_depthwise3d"), _depthwise),
    **dict.fromkeys(("convolution_backward", "convolution_backward_overrideable"), _backward),
}  # fmt: skip
