"""Work that rules state, against the same computed with numbers that count."""

import itertools
import math

import pytest
from counted_numbers import Number, counting, exp, numbers, total
from operator_calls import call, tensor

from ridgepoint.core.operators import Tensor
from ridgepoint.demands.operators import asked_of
from ridgepoint.demands.operators.forms import contraction, fourier, pooled, taps


def _work(asked):
    return sum(asked.work.values()), asked.functions


def _centred(row):
    mean = total(row) / len(row)
    apart = [x - mean for x in row]
    variance = total([d * d for d in apart]) / len(row)
    return mean, apart, 1 / (variance + 1e-5).sqrt()


@pytest.mark.parametrize(("weighted", "biased"), [(False, False), (True, False), (True, True)])
def test_layer_norm(weighted, biased):
    """Three rows of five."""

    def rows():
        for at in range(3):
            _, apart, scale = _centred(numbers(5, at))
            row = [d * scale for d in apart]
            row = [x * 1.5 for x in row] if weighted else row
            [x + 0.5 for x in row] if biased else row

    x = tensor(3, 5)
    asked = asked_of(
        call("aten.native_layer_norm", x, (5,), tensor(5) if weighted else None,
             tensor(5) if biased else None, 1e-5, out=(x, tensor(3), tensor(3)))
    )  # fmt: skip

    assert _work(asked) == counting(rows)


def test_layer_norm_backward():
    """The gradients of input, weight and bias of three rows of fifty."""
    n, rows = 50, 3

    def gradients():
        by_weight, by_bias = numbers(n), numbers(n)
        for at in range(rows):
            grad, x, mean, scale = numbers(n, at), numbers(n, 2), Number(0.3), Number(1.1)
            weighted = [g * 1.5 for g in grad]
            sum_g = total(weighted)
            sum_gx = total([g * one for g, one in zip(weighted, x, strict=True)])
            b = (sum_g * mean - sum_gx) * scale * scale * scale / n
            c = -b * mean - sum_g * scale / n
            [g * scale + one * b + c for g, one in zip(weighted, x, strict=True)]
            shift = -mean * scale
            by_weight = [
                w + g * (one * scale + shift) for w, g, one in zip(by_weight, grad, x, strict=True)
            ]
            by_bias = [w + g for w, g in zip(by_bias, grad, strict=True)]

    x, w = tensor(rows, n), tensor(n)
    asked = asked_of(
        call("aten.native_layer_norm_backward", x, x, (n,), tensor(rows), tensor(rows), w, w,
             (True, True, True), out=(x, w, w))
    )  # fmt: skip

    assert _work(asked)[0] == pytest.approx(counting(gradients)[0], abs=12 * rows)


def test_a_norm_of_channels_backward():
    """Sums of g and g x over a channel of a hundred, and a g + b x + c."""

    def gradients():
        grad, x = numbers(100), numbers(100, 3)
        total(grad)
        total([g * one for g, one in zip(grad, x, strict=True)])
        [g * 0.3 + one * 0.2 + 0.1 for g, one in zip(grad, x, strict=True)]

    x, c = tensor(4, 1, 25), tensor(1)
    batch = call("aten.native_batch_norm_backward", x, x, c, c, c, c, c, True, 1e-5,
                 (True, True, True), out=(x, c, c))  # fmt: skip
    groups = call("aten.native_group_norm_backward", x, x, c, c, c, 1, 1, 100, 1,
                  (True, True, True), out=(x, c, c))  # fmt: skip

    assert _work(asked_of(batch))[0] == pytest.approx(counting(gradients)[0], abs=4)
    assert _work(asked_of(groups))[0] == pytest.approx(counting(gradients)[0], abs=4)


def test_rms_norm():
    """Three rows of five, with weights."""

    def rows():
        for at in range(3):
            row = numbers(5, at)
            scale = 1 / (total([x * x for x in row]) / 5 + 1e-5).sqrt()
            [x * scale * 1.5 for x in row]

    asked = asked_of(call("aten._fused_rms_norm", tensor(3, 5), (5,), tensor(5), out=tensor(3, 5)))

    assert _work(asked) == counting(rows)


def test_batch_norm_of_stored_statistics_is_a_scale_and_a_shift():
    """Two channels of twelve: x scale + shift."""

    def channels():
        for _ in range(2):
            scale = Number(1.5) / (Number(0.3) + 1e-5).sqrt()
            shift = Number(0.2) - Number(0.1) * scale
            [x * scale + shift for x in numbers(12)]

    x = tensor(3, 2, 4)
    asked = asked_of(call("aten.native_batch_norm", x, *[tensor(2)] * 4, False, 0.1, 1e-5, out=x))

    assert _work(asked)[0] == pytest.approx(counting(channels)[0], abs=2)


def test_batch_norm_in_training():
    """Two channels of twelve, with weight, bias and stored statistics brought up to date."""

    def channels():
        for _ in range(2):
            mean, apart, root = _centred(numbers(12))
            scale = Number(1.5) * root
            [d * scale + 0.5 for d in apart]
            0.9 * Number(0.2) + 0.1 * mean
            0.9 * Number(0.2) + 0.1 * (mean * (12 / 11))

    x = tensor(3, 2, 4)
    asked = asked_of(call("aten.native_batch_norm", x, *[tensor(2)] * 4, True, 0.1, 1e-5, out=x))

    assert _work(asked)[0] == counting(channels)[0]


def test_softmax_and_its_logarithm():
    """Three rows of five."""

    def softmax():
        for at in range(3):
            row = numbers(5, at)
            powers = [exp(x - max(row)) for x in row]
            summed = total(powers)
            [x / summed for x in powers]

    def logarithm():
        for at in range(3):
            row = numbers(5, at)
            apart = [x - max(row) for x in row]
            summed = total([exp(x) for x in apart]).function(math.log)
            [x - summed for x in apart]

    x = tensor(3, 5)

    assert _work(asked_of(call("aten._softmax", x, -1, False, out=x))) == counting(softmax)
    assert _work(asked_of(call("aten._log_softmax", x, 1, False, out=x))) == counting(logarithm)


def test_softmax_backward():
    """Gradients of three rows of five, of the softmax and its logarithm."""

    def softmax():
        for at in range(3):
            y, grad = numbers(5, at), numbers(5, 3)
            summed = total([a * b for a, b in zip(y, grad, strict=True)])
            [a * (b - summed) for a, b in zip(y, grad, strict=True)]

    def logarithm():
        for at in range(3):
            y, grad = numbers(5, at), numbers(5, 3)
            summed = total(grad)
            [b - exp(a) * summed for a, b in zip(y, grad, strict=True)]

    x = tensor(3, 5)
    both = [asked_of(call(f"aten._{name}_backward_data", x, x, 1, "fp32", out=x))
            for name in ("softmax", "log_softmax")]  # fmt: skip

    assert _work(both[0]) == counting(softmax)
    assert _work(both[1]) == counting(logarithm)


def test_an_lstm_cell():
    """A batch of 2, 3 inputs and 4 hidden numbers, both biases."""

    def sigmoid(x):
        return 1 / (1 + exp(-x))

    def tanh(x):
        return x.function(math.tanh)

    def step():
        for _ in range(2):
            x, h, c = numbers(3), numbers(4), numbers(4)
            for unit in range(4):
                gates = []
                for gate in range(4):
                    summed = Number(0.0)
                    for value in (*x, *h):
                        summed = summed + value * (0.1 * gate + 0.2)
                    gates.append(summed + 0.1 + 0.2)
                i, f, o = (sigmoid(gates[at]) for at in (0, 1, 3))
                cell = f * c[unit] + i * tanh(gates[2])
                o * tanh(cell)

    asked = asked_of(
        call("aten.lstm_cell", tensor(2, 3), (tensor(2, 4), tensor(2, 4)), tensor(16, 3),
             tensor(16, 4), tensor(16), tensor(16), out=(tensor(2, 4), tensor(2, 4)))
    )  # fmt: skip

    assert _work(asked) == counting(step)


def test_a_gru_cell():
    """A batch of 2, 3 inputs and 4 hidden numbers, no biases; r times the hidden products."""

    def step():
        for _ in range(2):
            x, h = numbers(3), numbers(4)
            for unit in range(4):
                from_x = [total([v * 0.3 for v in x] + [Number(0)]) for _ in range(3)]
                from_h = [total([v * 0.3 for v in h] + [Number(0)]) for _ in range(2)]
                r, z = (1 / (1 + exp(-one)) for one in from_h)
                hidden = total([v * 0.3 for v in h] + [Number(0)])
                new = (from_x[2] + r * hidden).function(math.tanh)
                new + z * (h[unit] - new)

    asked = asked_of(
        call("aten.gru_cell", tensor(2, 3), tensor(2, 4), tensor(12, 3), tensor(12, 4),
             out=tensor(2, 4))
    )  # fmt: skip

    assert _work(asked) == counting(step)


@pytest.mark.parametrize("name", ["_fused_adam_", "_fused_adamw_"])
def test_a_step_of_adam(name):
    """Six weights, with their decay: in the gradient, or apart."""

    def step():
        for weight, gradient, mean, square in zip(
            *(numbers(6, at) for at in range(4)), strict=True
        ):
            apart = name == "_fused_adamw_"
            p = weight * 0.99 if apart else weight
            g = gradient if apart else gradient + 0.01 * weight
            m = mean + 0.1 * (g - mean)
            v = 0.999 * square + 0.001 * g * g
            p - 0.1 * m / (v.sqrt() / 0.9 + 1e-8)

    lists = [[tensor(2), tensor(4)] for _ in range(4)]
    asked = asked_of(call(f"aten.{name}", *lists, (), (), weight_decay=0.01, lr=0.1))

    assert _work(asked) == counting(step)
    assert (asked.read_bytes, asked.write_bytes) == (4 * 24, 3 * 24)


def test_a_step_by_lists_is_that_of_each_array():
    """P + value x / y of 2 and 4 numbers; a root of as many."""
    lists = [[tensor(2), tensor(4)] for _ in range(3)]
    asked = asked_of(call("aten._foreach_addcdiv_", *lists, -0.1))

    assert asked.work == {"fp32": 18}
    assert (asked.read_bytes, asked.write_bytes) == (72, 24)
    assert asked_of(call("aten._foreach_sqrt", lists[0], out=tuple(lists[1]))).work == {"fp32": 6}


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("sigmoid", lambda x: 1 / (1 + exp(-x))),
        ("silu", lambda x: x / (1 + exp(-x))),
        ("gelu", lambda x: 0.5 * x * (1 + (x * 0.7).function(math.erf))),
        ("hardswish", lambda x: x * min(max(x + 3, Number(0)), Number(6)) / 6),
        ("rsqrt", lambda x: 1 / x.sqrt()),
        ("square", lambda x: x * x),
        ("erf", lambda x: x.function(math.erf)),
        ("mish", lambda x: x * exp(x).function(math.log1p).function(math.tanh)),
        ("abs", abs),
    ],
)
def test_functions_of_each_element(name, formula):
    """The formula of each, twelve times."""
    x = tensor(3, 4)

    asked = asked_of(call(f"aten.{name}", x, out=x))

    assert _work(asked) == counting(lambda: [formula(one) for one in numbers(12)])


def _silu_backward(g, x):
    s = 1 / (1 + exp(-x))
    return g * s * (1 + x * (1 - s))


def _gelu_backward(g, x):
    below = 0.5 * (1 + (x * 0.7).function(math.erf))
    density = exp(x * x * -0.5) * 0.4
    return g * (below + x * density)


@pytest.mark.parametrize(
    ("name", "arguments", "formula"),
    [
        ("silu_backward", 2, _silu_backward),
        ("sigmoid_backward", 2, lambda g, y: g * (1 - y) * y),
        ("tanh_backward", 2, lambda g, y: g * (1 - y * y)),
        ("gelu_backward", 2, _gelu_backward),
        ("addcmul", 3, lambda x, y, z: x + y * z),
        ("lerp", 3, lambda x, y, w: x + w * (y - x)),
        ("hypot", 2, lambda x, y: (x * x + y * y).sqrt()),
    ],
)
def test_functions_of_several_arrays(name, arguments, formula):
    """Gradients of activations, and combinations of arrays."""
    given = [numbers(12, at) for at in range(arguments)]
    x = tensor(3, 4)

    asked = asked_of(call(f"aten.{name}", *[x] * arguments, out=x))

    assert _work(asked) == counting(lambda: [formula(*one) for one in zip(*given, strict=True)])


def test_powers_by_the_fewest_operations():
    """x^3 is two products, a root one operation, and x^2.5 a function."""
    x = tensor(10)
    costs = {power: asked_of(call("aten.pow", x, power, out=x)) for power in (2, 3, 0.5, -1, 2.5)}

    assert [sum(one.work.values()) for one in costs.values()] == [10, 20, 10, 10, 0]
    assert costs[2.5].functions == 10


def test_sums_and_means():
    """Twelve numbers to three: nine additions, and three divisions."""
    x, y = tensor(4, 3), tensor(3)

    assert asked_of(call("aten.sum", x, (0,), out=y)).work == {"fp32": 9}
    assert asked_of(call("aten.mean", x, (0,), out=y)).work == {"fp32": 12}
    assert asked_of(call("aten.amax", x, (0,), out=y)).work == {}
    assert asked_of(call("aten.cumsum", x, 0, out=x)).work == {"fp32": 9}
    assert asked_of(call("aten.linalg_vector_norm", x, out=tensor())).work == {"fp32": 24}


@pytest.mark.parametrize(("inputs", "outputs"), [(7, 3), (8, 4), (3, 7), (1, 1), (224, 6)])
def test_adaptive_windows_are_those_of_the_documentation(inputs, outputs):
    """From floor(o n / m) to ceil((o + 1) n / m)."""
    windows = [
        math.ceil((at + 1) * inputs / outputs) - math.floor(at * inputs / outputs)
        for at in range(outputs)
    ]

    assert pooled(inputs, outputs) == sum(windows)


def test_a_mean_over_windows_adds_and_divides():
    """Windows of 2 by 2 on 4 by 6: six, each 3 additions and a division, in both channels."""
    x, y = tensor(1, 2, 4, 6), tensor(1, 2, 2, 3)

    assert asked_of(call("aten.avg_pool2d", x, (2, 2), out=y)).work == {"fp32": 48}
    assert asked_of(call("aten._adaptive_avg_pool2d", x, (2, 3), out=y)).work == {"fp32": 48}
    assert asked_of(call("aten.max_pool2d_with_indices", x, (2, 2), out=y)).work == {}


def test_taps_without_padding_are_all():
    """Five places of a window of three, and one less at each end with padding."""
    assert taps(7, 5, 3, stride=1, padding=0, dilation=1) == 15
    assert taps(7, 7, 3, stride=1, padding=1, dilation=1) == 19


def test_a_factorisation_by_cholesky():
    """Column by column, n = 6."""

    def factor():
        n = 6
        a = [[Number(1 + (i == j) * 9) for j in range(n)] for i in range(n)]
        for j in range(n):
            for k in range(j):
                for i in range(j, n):
                    a[i][j] = a[i][j] - a[i][k] * a[j][k]
            a[j][j] = a[j][j].sqrt()
            for i in range(j + 1, n):
                a[i][j] = a[i][j] / a[j][j]

    a = tensor(6, 6)
    asked = asked_of(call("aten.linalg_cholesky_ex", a, out=(a, tensor())))

    assert _work(asked)[0] == pytest.approx(counting(factor)[0], abs=1e-9)


@pytest.mark.parametrize(("m", "n"), [(6, 6), (8, 5), (5, 8)])
def test_a_factorisation_by_gauss(m, n):
    """Row operations, with divisions by the pivot."""

    def factor():
        a = [[Number(1 + (i == j) * 9) for j in range(n)] for i in range(m)]
        for k in range(min(m, n)):
            for i in range(k + 1, m):
                a[i][k] = a[i][k] / a[k][k]
                for j in range(k + 1, n):
                    a[i][j] = a[i][j] - a[i][k] * a[k][j]

    a = tensor(2, m, n)
    asked = asked_of(call("aten.linalg_lu_factor_ex", a, out=(a, tensor(2, n), tensor(2))))

    assert _work(asked)[0] == pytest.approx(2 * counting(factor)[0], abs=1e-9)


def test_triangular_equations():
    """Four unknowns, three right sides, by substitution."""

    def solve():
        for _ in range(3):
            b = numbers(4)
            for i in range(4):
                for j in range(i):
                    b[i] = b[i] - b[j] * 0.5
                b[i] = b[i] / 2.0

    a, b = tensor(4, 4), tensor(4, 3)
    asked = asked_of(call("aten.linalg_solve_triangular", a, b, upper=False, out=b))

    assert _work(asked)[0] == counting(solve)[0]


def test_the_fourier_transform_is_the_split_radix_one():
    """The published numbers of operations: 4, 16, 56, 168 and 456."""
    assert [fourier(n) for n in (2, 4, 8, 16, 32)] == [4, 16, 56, 168, 456]

    x = tensor(3, 16, dtype="complex64")
    asked = asked_of(call("aten._fft_c2c", x, (1,), 0, True, out=x))

    assert asked.work == {"fp32": 3 * 168}


def test_a_chain_of_products_is_joined_in_the_best_order():
    """The textbook's chain of six matrices takes 15125 products (Cormen et al., 15.2)."""
    sides = [30, 35, 15, 5, 10, 20, 25]
    chain = [{str(at): sides[at], str(at + 1): sides[at + 1]} for at in range(6)]

    assert contraction(chain, ("0", "6")) == (2 * 15125, 0)

    matrices = [tensor(a, b) for a, b in itertools.pairwise(sides)]
    asked = asked_of(call("aten.linalg_multi_dot", matrices, out=tensor(30, 25)))

    assert asked.work == {"fp32": 2 * 15125}


def test_einsum_multiplies_and_sums():
    """A batch of products of matrices, an outer product, a trace."""
    a, b = tensor(4, 2, 3), tensor(4, 3, 5)

    product = asked_of(call("aten.einsum", "bij,bjk->bik", (a, b), out=tensor(4, 2, 5)))
    outer = asked_of(call("aten.einsum", "i,j->ij", (tensor(2), tensor(3)), out=tensor(2, 3)))
    trace = asked_of(call("aten.einsum", "ii->", (tensor(5, 5),), out=tensor()))

    assert product.work == {"fp32": 2 * 4 * 2 * 3 * 5}
    assert outer.work == {"fp32": 6}
    assert trace.work == {"fp32": 4}


def test_an_embedding_reads_a_row_at_least():
    """Six of ten rows of eight: the indices and one row; all six are written."""
    table, indices = tensor(10, 8), tensor(2, 3, dtype="int64")
    asked = asked_of(call("aten.embedding", table, indices, out=tensor(2, 3, 8)))

    assert (asked.read_bytes, asked.write_bytes) == (48 + 32, 192)
    assert "32 to 192 bytes" in asked.rule


def test_writing_in_place_touches_what_is_indexed():
    """Of a cache of 1000 rows only what an index chooses is written."""
    cache, row = tensor(1000, 8), tensor(1, 8)
    index = tensor(1, dtype="int64")

    changed = asked_of(call("aten.index_put_", cache, (index,), row, out=cache))
    copied = asked_of(call("aten.index_put", cache, (index,), row, out=tensor(1000, 8)))

    assert changed.moved_bytes < 200
    assert copied.write_bytes == 32000


def test_a_mask_as_an_index_chooses_each_element_once():
    """Of 100 numbers 30 by a mask: the mask and 30 numbers are read, and 30 are written."""
    x, mask, chosen = tensor(100), tensor(100, dtype="bool"), tensor(30)

    assert asked_of(call("aten.index", x, (mask,), out=chosen)).moved_bytes == 100 + 240
    assert asked_of(call("aten.index_put_", x, (mask,), chosen, out=x)).moved_bytes == 100 + 240


def test_indices_are_broadcast():
    """Three rows by five columns choose fifteen numbers."""
    rows, columns = tensor(3, 1, dtype="int64"), tensor(5, dtype="int64")
    asked = asked_of(call("aten.index", tensor(9, 9), (rows, columns), out=tensor(3, 5)))

    assert (asked.read_bytes, asked.write_bytes) == (64 + 4, 60)
    assert "4 to 60 bytes" in asked.rule


@pytest.mark.parametrize(("reduce", "flop"), [("sum", 6), ("prod", 6), ("amax", 0)])
def test_scattering_adds_what_it_is_told_to(reduce, flop):
    """Six elements into ten: added, multiplied, or compared."""
    x, index, source = tensor(10), tensor(6, dtype="int64"), tensor(8)
    asked = asked_of(call("aten.scatter_reduce_", x, 0, index, source, reduce, out=x))

    assert sum(asked.work.values()) == flop


def test_a_loss_of_classes_reads_one_number_of_each_sample():
    """Eight samples of a hundred classes."""
    x, target = tensor(8, 100), tensor(8, dtype="int64")
    asked = asked_of(
        call("aten.nll_loss_forward", x, target, None, 1, -100, out=(tensor(), tensor()))
    )

    assert (asked.read_bytes, asked.write_bytes) == (64 + 32, 8)


def test_sparse_arrays_are_unknown_because_of_their_data():
    """The number of elements that one stores is not in its shape."""
    sparse = Tensor(shape=(6, 6), dtype="fp32", nbytes=100, layout="sparse_csr")
    asked = asked_of(call("aten.mm", sparse, tensor(6, 6), out=tensor(6, 6)))

    assert asked.work is None
    assert "sparse_csr" in asked.unknown


def test_what_iterates_is_unknown_and_its_bytes_are_not():
    """Singular values."""
    a = tensor(6, 6)
    asked = asked_of(call("aten._linalg_svd", a, out=(a, tensor(6), a)))

    assert asked.work is None
    assert asked.moved_bytes == 144 + 144 + 24 + 144
    assert "iterates" in asked.unknown
