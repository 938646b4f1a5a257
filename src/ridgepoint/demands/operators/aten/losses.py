"""Rules of PyTorch's losses, and of their gradients."""

from __future__ import annotations

from collections.abc import Mapping

from ridgepoint.core.operators import Asked, Call
from ridgepoint.demands.operators.arrays import distinct_bytes
from ridgepoint.demands.operators.asking import array, arrays, ask, given
from ridgepoint.demands.operators.forms import ELEMENTWISE, Cost
from ridgepoint.demands.operators.rule import Rule

KIND = "loss"
NONE = 0
"""The reduction that leaves a loss for each element; 1 is their mean, 2 their sum."""


def _loss(cost: Cost) -> Rule:
    """Return the rule of a loss of each element, and of their sum."""

    def rule(call: Call) -> Asked:
        source = array(call.arguments[0] if call.arguments else None, "self")
        reduced = not call.outputs or call.outputs[0].size < source.size
        flop = (cost.flop + reduced) * source.size
        return ask(
            call,
            KIND,
            flop=flop,
            functions=cost.functions * source.size,
            rule=f"{cost.flop + reduced:g} n: {cost.formula}",
        )

    return rule


def _loss_backward(cost: Cost) -> Rule:
    """Return the rule of a gradient, the factors that all elements share made one before."""

    def rule(call: Call) -> Asked:
        args = given(call, "grad", "self", "target")
        source = array(args.self, "self")
        return ask(
            call,
            KIND,
            flop=cost.flop * source.size,
            functions=cost.functions * source.size,
            rule=f"{cost.flop:g} n: {cost.formula}",
        )

    return rule


def _likelihood(call: Call) -> Asked:
    """Return what choosing the target's number of each sample, and their sum, ask for."""
    args = given(call, "self", "target", weight=None, reduction=1)
    source, target = array(args.self, "self"), array(args.target, "target")
    weights = arrays(args.weight)
    chosen = target.size * source.nbytes / max(source.size, 1)
    each = (3 if weights else 1) if args.reduction != NONE else (1 if weights else 0)
    return ask(
        call,
        KIND,
        flop=each * target.size,
        read=distinct_bytes([target, *weights]) + min(chosen, source.nbytes),
        rule=f"{each} for each sample",
    )


def _cross_entropy(call: Call) -> Asked:
    """Return what the logarithm of a softmax and its choice ask for, called as one."""
    args = given(call, "self", "target")
    source, target = array(args.self, "self"), array(args.target, "target")
    classes = source.shape[1] if len(source.shape) > 1 else source.size
    rows = source.size / max(classes, 1)
    chosen = source.size if target.dtype == source.dtype else target.size
    return ask(
        call,
        KIND,
        flop=3 * source.size - rows + chosen,
        functions=source.size + rows,
        rule="3 n, and 1 for each sample",
    )


def _likelihood_backward(call: Call) -> Asked:
    """Return what a gradient that is zero but at each sample's target asks for."""
    args = given(call, "grad", "self", "target", weight=None)
    target, weights = array(args.target, "target"), arrays(args.weight)
    return ask(
        call,
        KIND,
        flop=target.size if weights else 1,
        read=[array(args.grad, "grad_output"), target, *weights],
        rule="1 for each sample with a weight of its own",
    )


_BINARY = Cost(4, 2, formula="(1 - t) log(1 - x) + t log(x)")
_LOGITS = Cost(4, 2, formula="(1 - t) x + max(-x, 0) + log1p(exp(-|x|))")

RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("nll_loss_forward", "nll_loss2d_forward", "nll_loss", "nll_loss2d",
                     "nll_loss_nd"), _likelihood),
    **dict.fromkeys(("nll_loss_backward", "nll_loss2d_backward"), _likelihood_backward),
    "cross_entropy_loss": _cross_entropy,
    "mse_loss": _loss(Cost(2, formula="(x - t)^2")),
    "mse_loss_backward": _loss_backward(Cost(2, formula="g (x - t)")),
    "l1_loss": _loss(Cost(1, formula="|x - t|")),
    "smooth_l1_loss": _loss(Cost(4, formula="(x - t)^2 / (2 b) near 0")),
    "smooth_l1_loss_backward": _loss_backward(Cost(2, formula="g (x - t)")),
    "huber_loss": _loss(Cost(3, formula="(x - t)^2 / 2 near 0")),
    "huber_loss_backward": _loss_backward(Cost(2, formula="g (x - t)")),
    "binary_cross_entropy": _loss(_BINARY),
    "binary_cross_entropy_backward": _loss_backward(
        Cost(5, formula="g (x - t) / ((1 - x) x)")
    ),
    "binary_cross_entropy_with_logits": _loss(_LOGITS),
    "soft_margin_loss": _loss(Cost(1, 2, formula="log1p(exp(-t x))")),
    "soft_margin_loss_backward": _loss_backward(
        Cost(5, 1, formula="-g t z / (1 + z), z = exp(-t x)")
    ),
    "multi_margin_loss": _loss(Cost(1, formula="max(m - x_t + x, 0)")),
    "multi_margin_loss_backward": _loss_backward(Cost(3, formula="g where m - x_t + x > 0")),
    "kl_div": _loss(Cost(ELEMENTWISE["sub"].flop + 1, 1, formula="t (log(t) - x)")),
}  # fmt: skip
