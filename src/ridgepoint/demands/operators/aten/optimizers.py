"""Rules of PyTorch's fused optimizers: one pass over weights, gradients and states."""

from __future__ import annotations

from collections.abc import Mapping

from ridgepoint.core.operators import Asked, Call
from ridgepoint.demands.operators.asking import arrays, ask, given
from ridgepoint.demands.operators.rule import Rule

KIND = "optimizer"


def _adam(*, decoupled: bool) -> Rule:
    """Return the rule of Adam, with its decay of weights apart (AdamW) or in the gradient.

    m + (1 - b1) (g - m): 3; b2 v + (1 - b2) g g: 4; sqrt(v) / c + e: 3; p - s m / that: 3.
    """

    def rule(call: Call) -> Asked:
        args = given(call, "weights", "grads", "means", "squares", "greatest", "steps",
                     weight_decay=0.0)  # fmt: skip
        decay = (1 if decoupled else 2) if args.weight_decay else 0
        each = 13 + decay
        written = arrays([args.weights, args.means, args.squares, args.greatest])
        return _stepped(call, each, args.weights, written)

    return rule


def _sgd(call: Call) -> Asked:
    # p - s g: 2; with decay 2 more; momentum b + g 2, or 3 with dampening, Nesterov's 2 more.
    args = given(call, "weights", "grads", "momenta", weight_decay=0.0, momentum=0.0,
                 dampening=0.0, nesterov=False, is_first_step=False)  # fmt: skip
    each = 2 + (2 if args.weight_decay else 0)
    if args.momentum:
        if not args.is_first_step:
            each += 3 if args.dampening else 2
        each += 2 if args.nesterov else 0
    return _stepped(call, each, args.weights, arrays([args.weights, args.momenta]))


def _adagrad(call: Call) -> Asked:
    # s + g g: 2; p - r g / (sqrt(s) + e): 5.
    args = given(call, "weights", "grads", "sums", weight_decay=0.0)
    each = 7 + (2 if args.weight_decay else 0)
    return _stepped(call, each, args.weights, arrays([args.weights, args.sums]))


def _stepped(call: Call, each: float, weights: object, written: object) -> Asked:
    elements = sum(one.size for one in arrays(weights))
    return ask(
        call,
        KIND,
        dtype=next((one.dtype for one in arrays(weights)), "fp32"),
        flop=each * elements,
        written=arrays(written),
        rule=f"{each:g} for each weight",
    )


def _norms(call: Call) -> Asked:
    # Squares and their sum, and a root for each array.
    sources = arrays(given(call, "self").self)
    order = given(call, "self", order=2).order
    elements = sum(one.size for one in sources)
    each = {2: 2, 1: 1, 0: 1, float("inf"): 0}.get(order)
    if each is None:
        return ask(call, "reduction", flop=elements, functions=elements, rule="n")
    return ask(call, "reduction", flop=each * elements, rule=f"{each} n")


RULES: Mapping[str, Rule] = {
    "_fused_adam": _adam(decoupled=False),
    "_fused_adamw": _adam(decoupled=True),
    "_fused_sgd": _sgd,
    "_fused_adagrad": _adagrad,
    "_foreach_norm": _norms,
}
