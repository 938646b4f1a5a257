"""Rules of PyTorch's products of matrices and vectors."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from ridgepoint.core.operators import Asked, Call, Tensor
from ridgepoint.demands.operators.asking import array, arrays, ask, given, read_by
from ridgepoint.demands.operators.forms import contraction
from ridgepoint.demands.operators.rule import NoRule, Rule

KIND = "matrix product"
MOST_JOINED = 8


def product(call: Call, first: Tensor, results: float, summed: float) -> Asked:
    """Return what a product asks for: for each result, products with `summed` terms."""
    return ask(
        call,
        KIND,
        dtype=first.dtype,
        products=2.0 * results * summed,
        workspace_bytes=None,
        rule="2 m n k",
    )


def _matmul(call: Call) -> Asked:
    """Products of any two arrays whose last and second to last dimensions are summed."""
    args = given(call, "first", "second")
    first = array(args.first, "first")
    array(args.second, "second")
    return product(call, first, _results(call), first.shape[-1] if first.shape else 1)


def _outer(call: Call) -> Asked:
    # A product without a sum: one multiplication for each result.
    return ask(call, KIND, flop=_results(call), complex_flop=6 * _results(call), rule="m n")


def _added(summed: str) -> Rule:
    """Return the rule of beta C + alpha A B; `summed` names the dimensions that are summed."""

    def rule(call: Call) -> Asked:
        args = given(call, "bias", "first", "second", beta=1, alpha=1)
        bias, first = array(args.bias, "self"), array(args.first, "first")
        results = _results(call)
        terms = {"last": math.prod(first.shape[-1:]), "batch": first.shape[0] * first.shape[-1]}
        reads = read_by(call)
        extra = results if args.beta else 0.0
        if args.beta not in (0, 1):
            extra += bias.size
        if args.alpha != 1:
            extra += results
        if not args.beta:
            reads = tuple(one for one in reads if one is not bias)
        return ask(
            call,
            KIND,
            dtype=first.dtype,
            products=2.0 * results * terms[summed],
            flop=extra,
            complex_flop=2 * extra,
            read=reads,
            workspace_bytes=None,
            rule="2 m n k + m n",
        )

    return rule


def _added_outer(call: Call) -> Asked:
    # A vector by a vector, added: a multiply-add for each result.
    return ask(call, KIND, flop=2 * _results(call), complex_flop=8 * _results(call), rule="2 m n")


def _linear(call: Call) -> Asked:
    args = given(call, "input", "weight", bias=None)
    first, weight = array(args.input, "input"), array(args.weight, "weight")
    results = math.prod(first.shape[:-1]) * (weight.shape[0] if len(weight.shape) > 1 else 1)
    biases = results if arrays(args.bias) else 0
    return ask(
        call,
        KIND,
        dtype=first.dtype,
        products=2.0 * results * first.shape[-1],
        flop=biases,
        complex_flop=2 * biases,
        workspace_bytes=None,
        rule="2 m n k + m n" if biases else "2 m n k",
    )


def _linear_backward(call: Call) -> Asked:
    """Gradients of `linear`: one product for the input, one for the weights, sums for the bias."""
    args = given(call, "input", "grad", "weight", mask=(True, True, True))
    first, grad = array(args.input, "self"), array(args.grad, "grad_output")
    mask = [bool(one) for one in args.mask]
    rows = grad.size / max(grad.shape[-1], 1)
    return ask(
        call,
        KIND,
        dtype=grad.dtype,
        products=2.0 * rows * grad.shape[-1] * first.shape[-1] * sum(mask[:2]),
        flop=(rows - 1) * grad.shape[-1] if mask[2] else 0.0,
        workspace_bytes=None,
        rule="2 m n k for each gradient",
    )


def _einsum(call: Call) -> Asked:
    args = given(call, "equation", "operands")
    operands = arrays(args.operands)
    if not isinstance(args.equation, str) or "." in args.equation:
        raise NoRule("its equation does not name every dimension")
    left, _, right = args.equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise NoRule("its equation does not fit its arrays")
    named = [
        dict(zip(term, operand.shape, strict=False))
        for term, operand in zip(terms, operands, strict=True)
    ]
    kept = right if "->" in args.equation else [one for one in left if left.count(one) == 1]
    return _contracted(call, named, kept)


def _contracted(call: Call, operands: list[dict[str, int]], kept: Collection[str]) -> Asked:
    if len(operands) > MOST_JOINED:
        raise NoRule(f"the best order to join more than {MOST_JOINED} arrays was not sought")
    if len(operands) == 1:
        summed = math.prod(operands[0].values()) - _results(call)
        return ask(call, "reduction", flop=summed, complex_flop=2 * summed, rule="n - m")
    products, multiplications = contraction(operands, kept)
    return ask(
        call,
        KIND,
        products=products,
        flop=multiplications,
        complex_flop=6 * multiplications,
        workspace_bytes=None,
        rule="2 m n k, joined in the order of least work",
    )


def _chain(call: Call) -> Asked:
    matrices = arrays(call.arguments)
    named = [
        {str(at + index): size for index, size in enumerate(one.shape)}
        if at or len(one.shape) > 1
        else {"1": one.shape[0]}
        for at, one in enumerate(matrices)
    ]
    ends = [side for side in ("0", str(len(matrices))) if any(side in one for one in named)]
    return _contracted(call, named, ends)


def _bilinear(call: Call) -> Asked:
    # Every row of both inputs with every matrix of the weights.
    args = given(call, "first", "second", "weight", bias=None)
    weight = array(args.weight, "weight")
    outputs, width, height = weight.shape
    rows = _results(call) / max(outputs, 1)
    products = 2 * rows * outputs * min(width * (height + 1), height * (width + 1))
    biases = _results(call) if arrays(args.bias) else 0.0
    return ask(call, KIND, products=products, flop=biases, workspace_bytes=None)


def _trilinear(call: Call) -> Asked:
    args = given(call, "i1", "i2", "i3", "expand1", "expand2", "expand3", "summed")
    named = []
    for one, expanded in ((args.i1, args.expand1), (args.i2, args.expand2),
                          (args.i3, args.expand3)):  # fmt: skip
        source = array(one, "i1")
        every = range(len(source.shape) + len(expanded))
        places = [at for at in every if at not in expanded]
        named.append({str(at): n for at, n in zip(places, source.shape, strict=True) if n > 1})
    kept = {name for one in named for name in one} - {str(at) for at in args.summed}
    return _contracted(call, named, kept)


def _grouped(call: Call) -> Asked:
    """Products of groups of rows, each with a matrix of its own: every row is in one at most."""
    args = given(call, "first", "second", offsets=None)
    first, second = array(args.first, "self"), array(args.second, "mat2")
    if len(first.shape) != 2 or len(second.shape) != 3:
        return _matmul(call)
    return product(call, first, first.shape[0] * second.shape[-1], first.shape[-1])


def _scaled(call: Call) -> Asked:
    # Products with matrices of few bits, scaled; in the type of the rows.
    args = given(call, "first", "second")
    first = array(args.first, "self")
    return product(call, first, _results(call), first.shape[-1])


def _distances(call: Call) -> Asked:
    """Distances of all pairs of rows."""
    names = ["first"] if call.name.endswith("_pdist_forward") else ["first", "second"]
    args = given(call, *names, p=2.0)
    first = array(args.first, "x1")
    results, length = _results(call), first.shape[-1]
    flop = {1: 2.0 * length - 1, 2: 3.0 * length, 0: length - 1.0, math.inf: float(length)}
    if args.p not in flop:
        return ask(
            call, KIND, flop=results * (2.0 * length - 1), functions=results * (length + 1.0)
        )
    return ask(call, KIND, flop=results * flop[args.p], rule="3 m n k" if args.p == 2 else "")


def _distances_by_products(call: Call) -> Asked:
    """Euclid's distances as roots of |x|^2 - 2 x y + |y|^2: one product of k + 2 terms."""
    args = given(call, "first", "second")
    first, second = array(args.first, "x1"), array(args.second, "x2")
    results, length = _results(call), first.shape[-1]
    return ask(
        call,
        KIND,
        dtype=first.dtype,
        products=2.0 * results * (length + 2),
        flop=results + 3.0 * first.size + 2.0 * second.size,
        workspace_bytes=None,
        rule="2 m n (k + 2) + m n + 3 m k + 2 n k",
    )


def _distances_backward(call: Call) -> Asked:
    # The sum over all pairs of g (x - y) / distance.
    args = given(call, "grad", "first", "second", "p")
    grad, first = array(args.grad, "grad"), array(args.first, "x1")
    if args.p != 2:
        raise NoRule("gradients of distances have a rule for Euclid's alone")
    return ask(call, KIND, flop=grad.size * (3.0 * first.shape[-1] + 1), rule="3 m n k + m n")


def _results(call: Call) -> float:
    return float(sum(one.size for one in call.outputs))


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(
        ("mm", "bmm", "mv", "dot", "vdot", "inner", "matmul",  "_int_mm",
         "linalg_matmul", "linalg_vecdot"),
        _matmul,
    ),
    **dict.fromkeys(("addmm", "baddbmm", "addmv", "_addmm_activation"), _added("last")),
    "addbmm": _added("batch"),
    "addr": _added_outer,
    **dict.fromkeys(("outer", "ger", "kron"), _outer),
    **dict.fromkeys(("linear", "mkldnn_linear"), _linear),
    "linear_backward": _linear_backward,
    "einsum": _einsum,
    **dict.fromkeys(("_grouped_mm", "_scaled_grouped_mm"), _grouped),
    **dict.fromkeys(("_scaled_mm", "_weight_int8pack_mm", "_weight_int4pack_mm",
         "_weight_int4pack_mm_for_cpu"), _scaled),
    "bilinear": _bilinear,
    "_trilinear": _trilinear,
    **dict.fromkeys(("chain_matmul", "linalg_multi_dot"), _chain),
    "_cdist_forward": _distances,
    "_euclidean_dist": _distances_by_products,
    "_cdist_backward": _distances_backward,
    **dict.fromkeys(("cdist", "_pdist_forward", "pdist"), _distances),
}  # fmt: skip
