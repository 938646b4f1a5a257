"""Rules of PyTorch's pooling and interpolation, and of their gradients."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ridgepoint.core.operators import Asked, Call, Tensor
from ridgepoint.demands.operators.asking import array, ask, given
from ridgepoint.demands.operators.forms import pooled, taps
from ridgepoint.demands.operators.rule import NoRule, Rule

KIND = "pooling"
INTERPOLATION = "interpolation"


def _greatest(call: Call) -> Asked:
    return ask(call, KIND, rule="comparisons")


def _scattered(call: Call) -> Asked:
    # Each element of the gradient is added to one of the result, which begins as zeros.
    grad = array(given(call, "grad").grad, "grad_output")
    shapes = [one for one in call.inputs[1:] if one.dtype == "int64"]
    return ask(call, KIND, flop=grad.size, read=[grad, *shapes], rule="n")


def _each(value: object, dimensions: int, otherwise: Sequence[int]) -> list[int]:
    numbers = [value] if isinstance(value, int) else value
    if not isinstance(numbers, list | tuple):
        raise NoRule(f"its window is {value!r}")
    if not numbers:
        return list(otherwise)
    return [int(n) for n in numbers] * (dimensions if len(numbers) == 1 else 1)


def _window_elements(source: Tensor, result: Tensor, args: Any, rank: int) -> float:
    """Return the elements of all windows that lie within the input, in all images."""
    sizes = _each(args.kernel, rank, ())
    strides, paddings = _each(args.stride, rank, sizes), _each(args.padding, rank, ())
    images = math.prod(result.shape[:-rank])
    along = (
        taps(inputs, outputs, size, stride=step, padding=pad, dilation=1)
        for inputs, outputs, size, step, pad in zip(
            source.shape[-rank:], result.shape[-rank:], sizes, strides, paddings, strict=True
        )
    )
    return float(images * math.prod(along))


def _average(rank: int) -> Rule:
    """Return the rule of means over windows: the sum of each, and a division."""

    def rule(call: Call) -> Asked:
        args = given(call, "self", "kernel", stride=(), padding=0)
        source = array(args.self, "self")
        work = _window_elements(source, call.outputs[0], args, rank)
        return ask(call, KIND, flop=work, rule="1 for each element of a window")

    return rule


def _average_backward(rank: int) -> Rule:
    """Return the rule of gradients: divided, and added to each element of the window."""

    def rule(call: Call) -> Asked:
        args = given(call, "grad", "self", "kernel", stride=(), padding=0)
        grad, source = array(args.grad, "grad_output"), array(args.self, "self")
        work = _window_elements(source, grad, args, rank)
        return ask(
            call, KIND, flop=work + grad.size, read=[grad], rule="1 for each element of a window"
        )

    return rule


def _adaptive(rank: int) -> Rule:
    def rule(call: Call) -> Asked:
        source = array(given(call, "self").self, "self")
        work = _adaptive_elements(source, call.outputs[0], rank)
        return ask(call, KIND, flop=work, rule="1 for each element of a window")

    return rule


def _adaptive_backward(rank: int) -> Rule:
    def rule(call: Call) -> Asked:
        args = given(call, "grad", "self")
        grad, source = array(args.grad, "grad_output"), array(args.self, "self")
        work = _adaptive_elements(source, grad, rank) + grad.size
        return ask(call, KIND, flop=work, read=[grad], rule="1 for each element of a window")

    return rule


def _adaptive_elements(source: Tensor, result: Tensor, rank: int) -> float:
    along = zip(source.shape[-rank:], result.shape[-rank:], strict=True)
    return float(
        math.prod(result.shape[:-rank])
        * math.prod(pooled(inputs, outputs) for inputs, outputs in along)
    )


def _interpolated(neighbours: int) -> Rule:
    """Return the rule of sums of weighted neighbours: a product each, and additions."""

    def rule(call: Call) -> Asked:
        results = sum(one.size for one in call.outputs)
        each = 2 * neighbours - 1
        return ask(call, INTERPOLATION, flop=each * results, rule=f"{each} n")

    return rule


def _interpolated_backward(neighbours: int) -> Rule:
    """Return the rule of gradients, weighted and added to each neighbour."""

    def rule(call: Call) -> Asked:
        grad = array(given(call, "grad").grad, "grad_output")
        each = 2 * neighbours if neighbours > 1 else 1
        return ask(call, INTERPOLATION, flop=each * grad.size, read=[grad], rule=f"{each} n")

    return rule


def _antialiased(reach: int) -> Rule:
    """Return the rule of a filter as wide as the scale asks for, along one side, then the other.

    `reach` is half its width at full size.
    """

    def rule(call: Call) -> Asked:
        backward = call.name.endswith("backward")
        source = array(given(call, "self").self, "self")
        result = call.outputs[0]
        small, large = (source, result) if backward else (result, source)
        images = math.prod(source.shape[:2])
        (high, wide), (rows, columns) = large.shape[2:], small.shape[2:]
        along = high * _filtered(wide, columns, reach) + columns * _filtered(high, rows, reach)
        read = [source] if backward else None
        return ask(call, INTERPOLATION, flop=2.0 * images * along, read=read, rule="2 for each tap")

    return rule


def _filtered(inputs: int, outputs: int, reach: int) -> int:
    """Return the elements under the filters of all results along one side."""
    scale = inputs / outputs
    half = reach * max(scale, 1.0)
    total = 0
    for at in range(outputs):
        centre = scale * (at + 0.5)
        total += min(int(centre + half + 0.5), inputs) - max(int(centre - half + 0.5), 0)
    return total


def _sampled(rank: int) -> Rule:
    """Return the rule of images read at given places, by the nearest neighbours' weights.

    Per place: 3 for each coordinate, and the weights of the neighbours; per channel and place
    the weighted sum.
    """

    def rule(call: Call) -> Asked:
        args = given(call, "input", "grid", mode=0)
        grid, result = array(args.grid, "grid"), call.outputs[0]
        neighbours = {0: 2**rank, 1: 1, 2: 4**rank}.get(args.mode, 1)
        places = grid.size / rank
        weights = rank + neighbours if neighbours > 1 else 0
        work = places * (3 * rank + weights) + result.size * (2 * neighbours - 2 + (neighbours > 1))
        return ask(call, INTERPOLATION, flop=work, rule="weighted sums of neighbours")

    return rule


def _sampled_backward(call: Call) -> Asked:
    raise NoRule("how the gradients of places are computed is up to the library")


def _affine_grid(call: Call) -> Asked:
    theta = array(given(call, "theta").theta, "theta")
    results = sum(one.size for one in call.outputs)
    return ask(
        call, INTERPOLATION, products=2.0 * results * theta.shape[-1], rule="2 for each product"
    )


_LINEAR = {"upsample_linear1d": 2, "upsample_bilinear2d": 4, "upsample_trilinear3d": 8,
           "upsample_bicubic2d": 16}  # fmt: skip
_NEAREST = [f"{name}{rank}d" for name in ("upsample_nearest", "_upsample_nearest_exact")
            for rank in (1, 2, 3)]  # fmt: skip

RULES: Mapping[str, Rule] = {
    **dict.fromkeys(
        ("max_pool1d", "max_pool2d", "max_pool3d", "max_pool1d_with_indices",
         "max_pool2d_with_indices", "max_pool3d_with_indices", "mkldnn_max_pool2d",
         "mkldnn_max_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d",
         "fractional_max_pool2d", "fractional_max_pool3d", "max_unpool2d", "max_unpool3d"),
        _greatest,
    ),
    **dict.fromkeys(
        ("max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward",
         "adaptive_max_pool2d_backward", "adaptive_max_pool3d_backward",
         "fractional_max_pool2d_backward", "fractional_max_pool3d_backward", "col2im",
         "unfold_backward", "reflection_pad1d_backward", "reflection_pad2d_backward",
         "reflection_pad3d_backward", "replication_pad1d_backward", "replication_pad2d_backward",
         "replication_pad3d_backward"),
        _scattered,
    ),
    **{f"avg_pool{rank}d": _average(rank) for rank in (1, 2, 3)},
    **{f"avg_pool{rank}d_backward": _average_backward(rank) for rank in (2, 3)},
    **{f"adaptive_avg_pool{rank}d": _adaptive(rank) for rank in (1, 2, 3)},
    **{f"_adaptive_avg_pool{rank}d": _adaptive(rank) for rank in (2, 3)},
    **{f"_adaptive_avg_pool{rank}d_backward": _adaptive_backward(rank) for rank in (2, 3)},
    "mkldnn_adaptive_avg_pool2d": _adaptive(2),
    **{name: _interpolated(neighbours) for name, neighbours in _LINEAR.items()},
    **{f"{name}_backward": _interpolated_backward(n) for name, n in _LINEAR.items()},
    **{f"{name}_backward": _interpolated_backward(1) for name in _NEAREST},
    **dict.fromkeys(
        ("_upsample_bilinear2d_aa", "_upsample_bilinear2d_aa_backward"), _antialiased(1)
    ),
    **dict.fromkeys(
        ("_upsample_bicubic2d_aa", "_upsample_bicubic2d_aa_backward"), _antialiased(2)
    ),
    "grid_sampler_2d": _sampled(2),
    "grid_sampler_3d": _sampled(3),
    **dict.fromkeys(("grid_sampler_2d_backward", "grid_sampler_3d_backward"), _sampled_backward),
    "affine_grid_generator": _affine_grid,
}  # fmt: skip
