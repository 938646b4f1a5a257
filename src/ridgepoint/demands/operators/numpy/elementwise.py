"""Rules of universal functions, and of their methods reduce, accumulate, outer, reduceat, at."""

from __future__ import annotations

from collections.abc import Mapping

from ridgepoint.core.operators import Asked, Call
from ridgepoint.demands.operators.asking import array, ask, given
from ridgepoint.demands.operators.forms import ELEMENTWISE, FUNCTION, Cost, power
from ridgepoint.demands.operators.rule import NoRule, Rule, names

_SAME = names(
    "abs add asin acos atan atan2 asinh acosh atanh cbrt ceil copysign cos cosh equal exp exp2 "
    "expm1 floor fmod greater hypot isnan log log10 log1p log2 logaddexp logaddexp2 maximum "
    "minimum nan_to_num positive reciprocal remainder rint sign sin sinc sinh sqrt square tan "
    "tanh trunc where erf erfc erfinv i0 i1 logit softplus xlogy"
)
_OTHERS = {
    "absolute": "abs",
    "fabs": "abs",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "negative": "neg",
    "conjugate": "conj",
    "conj": "conj",
    "floor_divide": "fmod",
    "mod": "fmod",
    "divmod": "fmod",
    "fmax": "maximum",
    "fmin": "minimum",
    "clip": "clamp",
    "deg2rad": "mul",
    "radians": "mul",
    "rad2deg": "mul",
    "degrees": "mul",
    "heaviside": "where",
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "arctan2": "atan2",
    "expit": "sigmoid",
    "log_expit": "log_sigmoid",
    "gammaln": "lgamma",
    "psi": "digamma",
}
SPECIAL = names(
    "airy bdtr bei ber besselpoly beta betainc betaincc betaincinv betaln binom boxcox boxcox1p "
    "chdtr chdtrc cosdg cosm1 cotdg dawsn ellipe ellipeinc ellipj ellipk ellipkinc ellipkm1 "
    "elliprc elliprd elliprf elliprg elliprj entr erfcinv erfcx erfi exp1 exp10 expi expn exprel "
    "fdtr fdtrc fresnel gamma gammainc gammaincc gammainccinv gammaincinv gammasgn gdtr hankel1 "
    "hankel2 huber hyp0f1 hyp1f1 hyp2f1 hyperu i0e i1e inv_boxcox inv_boxcox1p iv ive j0 j1 jv "
    "jve k0 k0e k1 k1e kei ker kl_div kn kolmogorov kv kve log_ndtr loggamma lpmv modstruve nbdtr "
    "ndtr ndtri ndtri_exp nrdtrimn owens_t pdtr pdtrc poch powm1 pseudo_huber rel_entr rgamma "
    "shichi sici sindg smirnov spence stdtr stdtrit struve tandg voigt_profile wofz wright_bessel "
    "wrightomega xlog1py y0 y1 yn yv yve"
)
"""Universal functions of `scipy.special`, one evaluation of a function each."""

_WITHOUT_FLOP = names(
    "bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or "
    "bitwise_right_shift bitwise_xor equal frexp gcd greater greater_equal invert isclose "
    "isfinite isinf isnat lcm left_shift less less_equal logical_and logical_not logical_or "
    "logical_xor modf nextafter not_equal real imag right_shift signbit spacing"
)

COSTS: Mapping[str, Cost] = {
    **dict.fromkeys(_WITHOUT_FLOP, ELEMENTWISE["where"]),
    **{name: ELEMENTWISE[name] for name in _SAME if name in ELEMENTWISE},
    **{name: ELEMENTWISE[ours] for name, ours in _OTHERS.items()},
    **dict.fromkeys(SPECIAL, FUNCTION),
}
"""Costs of one element, by NumPy's names."""


POWERS = ("power", "pow", "float_power")
"""Functions whose work depends on the value of their second argument."""


def _asked(call: Call, cost: Cost, times: float, *, kind: str = "elementwise") -> Asked:
    if not isinstance(call.options.get("where", True), bool):
        raise NoRule("how many elements its mask selects depends on data")
    return ask(
        call,
        kind,
        dtype=_worked_on(call),
        flop=cost.flop * times,
        complex_flop=None if cost.complex_flop is None else cost.complex_flop * times,
        functions=cost.functions * times,
        rule=f"{cost.flop:g} n" + (f": {cost.formula}" if cost.formula else ""),
    )


def _worked_on(call: Call) -> str:
    """Return the type of the work: of the results, or for truth values and indices of the inputs.

    The absolute value of complex numbers is real, and its work is that of complex numbers.
    """
    result = call.outputs[0].dtype if call.outputs else "bool"
    inputs = [one.dtype for one in call.inputs]
    if result in ("bool", "int64") or any(one.startswith("complex") for one in inputs):
        return next((one for one in inputs if one.startswith("complex")), [*inputs, result][0])
    return result


def _results(call: Call) -> float:
    return float(call.outputs[0].size if call.outputs else 0)


def _elementwise(cost: Cost) -> Rule:
    def rule(call: Call) -> Asked:
        return _asked(call, cost, _results(call))

    return rule


def _power(call: Call) -> Asked:
    args = given(call, "x1", "x2")
    exponent = call.options.get("exponent", args.x2)
    cost = power(exponent) if isinstance(exponent, int | float) else power(None)
    return _asked(call, cost, _results(call))


def _round(call: Call) -> Asked:
    # Other than to whole numbers: scaled, rounded, and scaled back.
    args = given(call, "a", decimals=0)
    cost = Cost(2 if args.decimals else 0, formula="scaled there and back")
    return _asked(call, cost, _results(call))


def _reduce(cost: Cost) -> Rule:
    def rule(call: Call) -> Asked:
        n = array(call.arguments[0], "array").size
        return _asked(call, cost, max(n - _results(call), 0), kind="reduction")

    return rule


def running(call: Call) -> float:
    """Return the steps of running sums along an axis: all elements but the first of each row."""
    args = given(call, "a", axis=0 if call.name.endswith("accumulate") else None)
    source = array(args.a, "a")
    if args.axis is None or not source.shape:
        return max(source.size - 1, 0)
    length = int(source.shape[args.axis])
    return source.size - source.size / max(length, 1)


def _accumulate(cost: Cost) -> Rule:
    def rule(call: Call) -> Asked:
        return _asked(call, cost, running(call), kind="reduction")

    return rule


def _at(cost: Cost) -> Rule:
    # In place, at indices: elements that are named are read and written.
    def rule(call: Call) -> Asked:
        elements = call.options.get("elements")
        if not isinstance(elements, int):
            raise NoRule("how many elements its indices name is not known")
        target = array(call.arguments[0], "a")
        touched = min(elements, target.size) * target.nbytes / max(target.size, 1)
        others = sum(one.nbytes for one in call.inputs[1:])
        return ask(
            call,
            "scatter",
            dtype=target.dtype,
            flop=cost.flop * elements,
            complex_flop=cost.complex_flop and cost.complex_flop * elements,
            functions=cost.functions * elements,
            read=touched + others,
            written=touched,
            rule="one per index",
        )

    return rule


RULES: Mapping[str, Rule] = {
    **{name: _elementwise(cost) for name, cost in COSTS.items()},
    **{f"{name}.outer": _elementwise(cost) for name, cost in COSTS.items()},
    **{f"{name}.reduce": _reduce(cost) for name, cost in COSTS.items()},
    **{f"{name}.reduceat": _reduce(cost) for name, cost in COSTS.items()},
    **{f"{name}.accumulate": _accumulate(cost) for name, cost in COSTS.items()},
    **{f"{name}.at": _at(cost) for name, cost in COSTS.items()},
    **dict.fromkeys(POWERS, _power),
    **dict.fromkeys(("round", "around", "round_"), _round),
}
