"""Rules of PyTorch's normalisations, and of their gradients.

By their definition: a mean, deviations from it, the mean of their squares, and deviations over
its root are 5 flop for each element; a weight and a bias of each element one more each, where
they do not go into the scale of a whole channel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ridgepoint.core.operators import Asked, Call, Tensor
from ridgepoint.demands.operators.asking import array, arrays, ask, given
from ridgepoint.demands.operators.rule import Rule

KIND = "normalisation"


def _normalised(call: Call, elements: float, rows: float, affine: float, rule: str) -> Asked:
    """Return the work of a forward pass: of each row, a root and a division besides."""
    return ask(call, KIND, flop=(5 + affine) * elements + 3 * rows, rule=rule)


def _layer_norm(call: Call) -> Asked:
    args = given(call, "input", "normalized_shape", weight=None, bias=None)
    source = array(args.input, "input")
    length = math.prod(args.normalized_shape)
    affine = len(arrays(args.weight)) + len(arrays(args.bias))
    rule = f"{5 + affine} n + 3 for each mean"
    return _normalised(call, source.size, source.size / max(length, 1), affine, rule)


def _layer_norm_backward(call: Call) -> Asked:
    # Sums of g w and of g w x over a row, 1 + 1 + 2, and a g w + b x + c, 4; without a weight one
    # less. The weight's is the sum over rows of g (x s + t), 4; the bias's that of g, 1.
    args = given(
        call, "grad", "input", "normalized_shape", "mean", "rstd", "weight", "bias",
        mask=(True, True, True),
    )  # fmt: skip
    source = array(args.input, "input")
    weighted = 1 if arrays(args.weight) else 0
    mask = [bool(one) for one in args.mask]
    each = mask[0] * (7 + weighted) + mask[1] * 4 + mask[2] * 1
    return ask(call, KIND, flop=each * source.size, read=_read(call, args.bias), rule=f"{each} n")


def _read(call: Call, unread: object) -> list[Tensor]:
    """Return a call's inputs without one that gives no more than its shape."""
    skipped = arrays(unread)
    return [one for one in call.inputs if not any(one is other for other in skipped)]


def _rms_norm(call: Call) -> Asked:
    args = given(call, "input", "normalized_shape", weight=None)
    source = array(args.input, "input")
    rows = source.size / max(math.prod(args.normalized_shape), 1)
    each = 4 if arrays(args.weight) else 3
    return ask(call, KIND, flop=each * source.size + 3 * rows, rule=f"{each} n")


def _rms_norm_backward(call: Call) -> Asked:
    args = given(call, "grad", "input", "normalized_shape", "rstd", "weight", mask=(True, True))
    source = array(args.input, "input")
    weighted = 1 if arrays(args.weight) else 0
    mask = [bool(one) for one in args.mask]
    # The sum of g w x, 1 + 2, and a g w + b x, 3; the weight's is the sum of g x s, 3.
    each = mask[0] * (5 + weighted) + mask[1] * 3
    return ask(call, KIND, flop=each * source.size, rule=f"{each} n")


def _group_norm(call: Call) -> Asked:
    args = given(call, "input", weight=None, bias=None, batch=None, channels=None, hw=None,
                 groups=1)  # fmt: skip
    source = array(args.input, "input")
    return _in_groups(call, args, source, int(args.groups))


def _composed_group_norm(call: Call) -> Asked:
    args = given(call, "input", "groups", weight=None, bias=None)
    return _in_groups(call, args, array(args.input, "input"), int(args.groups))


def _in_groups(call: Call, args: Any, source: Tensor, groups: int) -> Asked:
    # A weight goes into the scale of a channel; a bias is one more for each element.
    biased = len(arrays(args.bias))
    channels = math.prod(source.shape[:2]) * len(arrays(args.weight))
    return ask(
        call,
        KIND,
        flop=(5 + biased) * source.size + 3 * source.shape[0] * groups + channels,
        rule=f"{5 + biased} n",
    )


def _group_norm_backward(call: Call) -> Asked:
    args = given(
        call, "grad", "input", "mean", "rstd", "weight", "batch", "channels", "hw", "groups",
        mask=(True, True, True),
    )  # fmt: skip
    return _channels_backward(call, array(args.input, "input"), args.mask, stored=True)


def _channels_backward(call: Call, source: Tensor, mask: object, *, stored: bool) -> Asked:
    """Gradients of a norm whose scale is that of a channel.

    Sums over a channel of g and of g x, 1 + 2; from both the gradient of the input, a g + b x + c,
    4, or a g, 1, where mean and variance do not depend on the input.
    """
    wanted = list(mask) if isinstance(mask, list | tuple) else [True, True, True]
    source_wanted, sums_wanted = bool(wanted[0]), any(wanted[1:])
    each = 0
    if sums_wanted or (source_wanted and stored):
        each += 3
    if source_wanted:
        each += 4 if stored else 1
    return ask(call, KIND, flop=each * source.size, rule=f"{each} n")


def _batch_norm(names: str) -> Rule:
    """Return the rule of a batch norm whose arguments have these names, in their order."""

    def rule(call: Call) -> Asked:
        args = given(call, *names.split())
        source = array(args.input, "input")
        channels = source.shape[1] if len(source.shape) > 1 else 1
        statistics = arrays([getattr(args, "mean", None), getattr(args, "variance", None)])
        biased = len(arrays(args.bias))
        if not getattr(args, "training", True):
            return _stored_batch_norm(call)
        written = (*call.outputs, *statistics)
        return ask(
            call,
            KIND,
            flop=(5 + biased) * source.size + 4 * channels + 3.5 * channels * len(statistics),
            written=written,
            rule=f"{5 + biased} n",
        )

    return rule


def _stored_batch_norm(call: Call) -> Asked:
    """Batch norm with a stored mean and variance: x scale + shift."""
    source = array(given(call, "input").input, "input")
    channels = source.shape[1] if len(source.shape) > 1 else 1
    return ask(call, KIND, flop=2 * source.size + 6 * channels, rule="2 n")


def _batch_norm_backward(names: str) -> Rule:
    def rule(call: Call) -> Asked:
        args = given(call, *names.split())
        trained = bool(getattr(args, "training", True))
        mask = getattr(args, "mask", None)
        return _channels_backward(call, array(args.input, "input"), mask, stored=trained)

    return rule


def _weight_norm(call: Call) -> Asked:
    # A vector times its length over its norm: squares and sums 2, and the product 1.
    args = given(call, "v", "g")
    source, lengths = array(args.v, "v"), array(args.g, "g")
    return ask(call, KIND, flop=3 * source.size + lengths.size, rule="3 n")


def _weight_norm_backward(call: Call) -> Asked:
    """Gradient times vector summed 2; gradient less the vector's share, scaled, 3."""
    args = given(call, "grad", "v", "g")
    source, lengths = array(args.v, "v"), array(args.g, "g")
    return ask(call, KIND, flop=5 * source.size + 4 * lengths.size, rule="5 n")


_TRAINED = "input weight bias mean variance training"

RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("native_layer_norm", "layer_norm"), _layer_norm),
    "native_layer_norm_backward": _layer_norm_backward,
    **dict.fromkeys(("_fused_rms_norm", "rms_norm"), _rms_norm),
    "_fused_rms_norm_backward": _rms_norm_backward,
    "native_group_norm": _group_norm,
    "group_norm": _composed_group_norm,
    "native_group_norm_backward": _group_norm_backward,
    **dict.fromkeys(
        ("native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm", "batch_norm",
         "_batch_norm_impl_index", "_native_batch_norm_legit", "instance_norm"),
        _batch_norm(_TRAINED),
    ),
    "_native_batch_norm_legit_no_training": _stored_batch_norm,
    "_batch_norm_with_update": _batch_norm("input weight bias mean variance"),
    "native_batch_norm_backward": _batch_norm_backward(
        "grad input weight mean variance saved_mean saved_root training eps mask"
    ),
    "batch_norm_backward": _batch_norm_backward(
        "grad input weight mean variance saved_mean saved_root training eps mask"
    ),
    **dict.fromkeys(
        ("cudnn_batch_norm_backward", "miopen_batch_norm_backward"),
        _batch_norm_backward("input grad weight mean variance"),
    ),
    **dict.fromkeys(("_weight_norm_interface", "_weight_norm"), _weight_norm),
    "_weight_norm_interface_backward": _weight_norm_backward,
}  # fmt: skip
