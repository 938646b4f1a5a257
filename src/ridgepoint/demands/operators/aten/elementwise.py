"""Rules of PyTorch's operators that work on each element alone."""

from __future__ import annotations

from collections.abc import Mapping

from ridgepoint.core.operators import Asked, Call
from ridgepoint.demands.operators.asking import array, ask, given, written_by
from ridgepoint.demands.operators.forms import ADD, ELEMENTWISE, Cost, power
from ridgepoint.demands.operators.rule import Rule

KIND = "elementwise"
LISTS = "_foreach_"


def elementwise(call: Call, cost: Cost) -> Asked:
    """Return what a call asks for that does the same with each element of its result."""
    results = written_by(call)
    # Of two results, such as gradients of two shapes, the first has the elements worked on; lists
    # are worked on array by array.
    elements = sum(one.size for one in results[: None if LISTS in call.name else 1])
    return ask(
        call,
        KIND,
        flop=cost.flop * elements,
        complex_flop=None if cost.complex_flop is None else cost.complex_flop * elements,
        functions=cost.functions * elements,
        rule=f"{cost.flop:g} n" + (f": {cost.formula}" if cost.formula else ""),
    )


def _rule(cost: Cost) -> Rule:
    def rule(call: Call) -> Asked:
        return elementwise(call, cost)

    return rule


def _sum(call: Call) -> Asked:
    # Sums and differences, with a factor where there is one.
    args = given(call, "self", "other", alpha=1)
    alpha = call.options.get("alpha", args.alpha)
    return elementwise(call, ADD if alpha == 1 else Cost(2, complex_flop=4, formula="x + a y"))


def _quotient(call: Call) -> Asked:
    return elementwise(call, ELEMENTWISE["div"])


def _power(call: Call) -> Asked:
    return elementwise(call, power(given(call, "self", "exponent").exponent))


def _with_value(three: Cost, two: Cost) -> Rule:
    """Return the rule of self + value x y, by whether the value is one."""

    def rule(call: Call) -> Asked:
        value = given(call, "self", "first", "second", value=1).value
        return elementwise(call, two if value == 1 else three)

    return rule


def _gelu(call: Call) -> Asked:
    approximate = call.options.get("approximate", "none")
    return elementwise(call, ELEMENTWISE["gelu tanh" if approximate == "tanh" else "gelu"])


def _gelu_backward(call: Call) -> Asked:
    """From g (P + x p), P the distribution and p its density; by tanh as its derivative."""
    if call.options.get("approximate", "none") == "tanh":
        return elementwise(call, Cost(17, 1, formula="g ((1 + t) / 2 + x (1 - t t) u' / 2)"))
    return elementwise(call, Cost(9, 2, formula="g (P(x) + x p(x))"))


def _gated(call: Call) -> Asked:
    # a / (1 + exp(-b)) of both halves; backward g s and g s a (1 - s).
    if call.name.endswith("backward"):
        elements = given(call, "grad").grad.size
        return ask(
            call, KIND, flop=6 * elements, functions=elements, rule="6 n: g s, g s a (1 - s)"
        )
    return elementwise(call, Cost(2, 1, formula="a / (1 + exp(-b))"))


def _quantised(call: Call) -> Asked:
    # round(x / s + z), and back (q - z) s, where q - z is a difference of integers.
    source = array(call.arguments[0] if call.arguments else None, "self")
    if source.dtype.startswith("q"):
        return ask(call, KIND, dtype="fp32", flop=source.size, rule="n: (q - z) s")
    return ask(call, KIND, dtype=source.dtype, flop=2 * source.size, rule="2 n: x / s + z")


_IN_LISTS = (
    "abs", "acos", "add", "addcdiv", "addcmul", "asin", "atan", "ceil", "clamp_max", "clamp_min",
    "cos", "cosh", "div", "erf", "erfc", "exp", "expm1", "floor", "frac", "lerp", "lgamma", "log",
    "log10", "log1p", "log2", "maximum", "minimum", "mul", "neg", "pow", "reciprocal", "round",
    "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "sub", "tan", "tanh", "trunc",
)  # fmt: skip
"""Operators that there are for lists of arrays, too."""

_NO_OPERATOR = ("gelu tanh", "convert", "rint", "cbrt", "i1")

_COSTS: Mapping[str, Cost] = {
    **{name: cost for name, cost in ELEMENTWISE.items() if name not in _NO_OPERATOR},
    **dict.fromkeys(
        (
            "absolute", "negative", "sgn", "signbit", "fix", "clamp_min", "clamp_max", "clip",
            "fmax", "fmin", "relu6", "hardtanh", "threshold", "equal", "not_equal", "less",
            "less_equal", "greater", "greater_equal", "isinf", "isfinite", "isposinf", "isneginf",
            "isclose", "isin", "logical_and", "logical_or", "logical_not", "logical_xor",
            "bitwise_and", "bitwise_or", "bitwise_not", "bitwise_xor", "bitwise_left_shift",
            "bitwise_right_shift", "__and__", "__or__", "__xor__", "__lshift__", "__rshift__",
            "__iand__", "__ior__", "__ixor__", "heaviside", "hardshrink", "conj_physical",
            "_conj_physical", "resolve_conj", "resolve_neg", "masked_fill",
            "gcd", "lcm", "threshold_backward", "hardtanh_backward", "hardshrink_backward",
            "softshrink_backward", "frexp", "nextafter",
        ),
        ELEMENTWISE["abs"],
    ),
    **dict.fromkeys(
        (
            "arcsin", "arccos", "arctan", "arctan2", "arcsinh", "arccosh", "arctanh", "special_erf",
            "special_i0e", "special_i1", "special_i1e", "special_ndtri", "special_log_ndtr",
            "special_entr", "special_erfcx", "special_xlog1py", "special_zeta", "polygamma",
            "mvlgamma", "igamma", "igammac", "special_gammaln", "special_expit", "angle",
        ),
        ELEMENTWISE["exp"],
    ),
    **{name: ELEMENTWISE["sub"] for name in ("frac", "softshrink")},
    **{name: ELEMENTWISE["mul"] for name in ("multiply", "deg2rad", "rad2deg", "leaky_relu",
                                             "leaky_relu_backward", "_prelu_kernel")},
    "lerp": Cost(3, formula="x + w (y - x)"),
    "polar": Cost(2, 2, complex_flop=2),
    "complex": Cost(0, complex_flop=0),
    "elu": Cost(2, 1, formula="a (exp(x) - 1)"),
    "celu": Cost(3, 1, formula="a (exp(x / a) - 1)"),
    "selu": Cost(3, 1, formula="s a (exp(x) - 1)"),
    "hardswish": Cost(3, formula="x min(max(x + 3, 0), 6) / 6"),
    "hardsigmoid": Cost(2, formula="min(max(x + 3, 0), 6) / 6"),
    "log_sigmoid_forward": ELEMENTWISE["log_sigmoid"],
    "sigmoid_backward": Cost(3, complex_flop=14, formula="g y (1 - y)"),
    "tanh_backward": Cost(3, complex_flop=14, formula="g (1 - y y)"),
    "silu_backward": Cost(7, 1, formula="g s (1 + x (1 - s))"),
    "elu_backward": Cost(2, 1, formula="g a exp(x)"),
    "_amp_foreach_non_finite_check_and_unscale": ELEMENTWISE["mul"],
    "_amp_update_scale": ELEMENTWISE["mul"],
    "rrelu": ELEMENTWISE["mul"],
    "prelu": ELEMENTWISE["mul"],
    "rrelu_with_noise": Cost(1, 1, formula="a x with a drawn"),
    "rrelu_with_noise_backward": ELEMENTWISE["mul"],
    "linalg_cross": Cost(3, complex_flop=14, formula="a b - c d"),
    "cross": Cost(3, complex_flop=14, formula="a b - c d"),
    "fake_quantize_per_tensor_affine_cachemask": Cost(4, formula="(round(x / s + z) - z) s"),
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams": Cost(4),
    "fake_quantize_per_channel_affine_cachemask": Cost(4),
    "hardswish_backward": Cost(3, formula="g (x / 3 + 1 / 2)"),
    "hardsigmoid_backward": Cost(1, formula="g / 6"),
    "softplus_backward": Cost(3, 1, formula="g z / (z + 1), z = exp(b x)"),
    "mish_backward": Cost(8, 4, formula="g (t + x s (1 - t t))"),
    "log_sigmoid_backward": Cost(4, 1, formula="g (1 - z / (1 + z))"),
    "logit_backward": Cost(3, formula="g / (x (1 - x))"),
    "_prelu_kernel_backward": Cost(2, formula="g w, g x"),
    "native_dropout_backward": Cost(2, formula="g m s"),
}  # fmt: skip

_SINGLE: Mapping[str, Rule] = {
    **{name: _rule(cost) for name, cost in _COSTS.items()},
    **dict.fromkeys(("add", "sub", "subtract", "rsub", "_add_relu"), _sum),
    **dict.fromkeys(("div", "divide", "true_divide", "floor_divide"), _quotient),
    **dict.fromkeys(("pow", "float_power"), _power),
    "addcmul": _with_value(Cost(3, complex_flop=14), Cost(2, complex_flop=8)),
    "addcdiv": _with_value(Cost(3), Cost(2, complex_flop=13)),
    "gelu": _gelu,
    "gelu_backward": _gelu_backward,
    **dict.fromkeys(("quantize_per_tensor", "quantize_per_channel", "dequantize"), _quantised),
    **dict.fromkeys(("glu", "glu_backward"), _gated),
}

RULES: Mapping[str, Rule] = {
    **_SINGLE,
    **{f"{LISTS}{name}": _SINGLE[name] for name in _IN_LISTS},
}
