"""What operators of PyTorch ask for: by hand, and by doing them one operation at a time."""

import itertools
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_calls import call, tensor

from ridgepoint.core.operators import Call, Tensor
from ridgepoint.demands.operators import asked_of
from ridgepoint.demands.operators.arrays import distinct_bytes
from ridgepoint.demands.operators.aten.rules import RULES
from ridgepoint.demands.operators.forms import attended_pairs


def test_a_product_of_matrices_has_two_flop_for_each_multiply_add():
    """A 2 by 3 matrix times a 3 by 5 one: 30 multiply-adds; 6 + 15 numbers in, 10 out."""
    asked = asked_of(call("aten.mm", tensor(2, 3), tensor(3, 5), out=tensor(2, 5)))

    assert asked.kind == "matrix product"
    assert asked.work == {"fp32": 60}
    assert (asked.read_bytes, asked.write_bytes) == (84, 40)


def test_a_bias_is_one_addition_for_each_result():
    """Addmm with a bias of 5: 60 + 10 flop; a factor of the product is 10 more."""
    arguments = (tensor(5), tensor(2, 3), tensor(3, 5))

    plain = asked_of(call("aten.addmm", *arguments, out=tensor(2, 5)))
    scaled = asked_of(call("aten.addmm", *arguments, out=tensor(2, 5), alpha=0.5))
    unread = asked_of(call("aten.addmm", *arguments, out=tensor(2, 5), beta=0))

    assert plain.work == {"fp32": 70}
    assert scaled.work == {"fp32": 80}
    assert unread.work == {"fp32": 60}
    assert unread.read_bytes == plain.read_bytes - 20


@pytest.mark.parametrize(
    ("dtype", "work"),
    [
        ("fp64", {"fp64": 60}),
        ("bf16", {"bf16": 60}),
        ("complex64", {"fp32": 240}),
        ("uint8", {"int8": 60}),
        ("int64", {"int64": 60}),
        ("fp8_e4m3fn", None),
        ("int16", None),
    ],
)
def test_a_product_is_worked_in_the_type_of_its_factors(dtype, work):
    """Complex products are 8 flop for each multiply-add; types without a ceiling are unknown."""
    a, b, out = (tensor(*shape, dtype=dtype) for shape in ((2, 3), (3, 5), (2, 5)))
    asked = asked_of(call("aten.mm", a, b, out=out))

    assert asked.work == work
    assert bool(asked.unknown) == (work is None)
    assert asked.read_bytes == a.nbytes + b.nbytes


def test_half_precision_sums_in_single():
    """Elements of fp16 and bf16 are added in fp32, and integers are no work."""
    for dtype, work in (("fp16", {"fp32": 6}), ("bf16", {"fp32": 6}), ("int32", {})):
        x = tensor(6, dtype=dtype)

        assert asked_of(call("aten.add", x, x, out=x)).work == work


def _convolution_by_hand(image, weight, result, stride, padding, dilation):
    """Return the multiply-adds of a convolution whose factors lie in the image, one by one."""
    groups = image[1] // weight[1]
    done = 0
    for _ in itertools.product(range(result[0]), range(result[1]), range(image[1] // groups)):
        for at in itertools.product(*(range(n) for n in result[2:])):
            for tap in itertools.product(*(range(n) for n in weight[2:])):
                places = [
                    o * s - p + t * d
                    for o, s, p, t, d in zip(at, stride, padding, tap, dilation, strict=True)
                ]
                done += all(0 <= x < n for x, n in zip(places, image[2:], strict=True))
    return done


_SMALL = st.tuples(st.integers(1, 3), st.integers(1, 3))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 2),
    st.sampled_from([(1, 1, 1), (2, 3, 1), (4, 2, 2), (3, 3, 3)]),
    st.tuples(st.integers(3, 7), st.integers(3, 7)),
    _SMALL,
    _SMALL,
    st.tuples(st.integers(0, 2), st.integers(0, 2)),
    _SMALL,
)
def test_a_convolution_is_counted_tap_by_tap(batch, channels, size, kernel, stride, pad, apart):
    """Forward, each gradient, and transposed: the multiply-adds that padding does not spare."""
    inputs, outputs, groups = channels
    sizes = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, p, d, k, s in zip(size, pad, apart, kernel, stride, strict=True)
    ]
    if min(sizes) < 1:
        return
    image, weight = (batch, inputs, *size), (outputs, inputs // groups, *kernel)
    result = (batch, outputs, *sizes)
    flop = 2 * _convolution_by_hand(image, weight, result, stride, pad, apart)
    x, w, y = tensor(*image), tensor(*weight), tensor(*result)
    how = (list(stride), list(pad), list(apart))

    forward = asked_of(call("aten.convolution", x, w, None, *how, False, [0], groups, out=y))
    both = asked_of(
        call("aten.convolution_backward", y, x, w, None, *how, False, [0], groups,
             (True, True, False), out=(x, w))
    )  # fmt: skip
    transposed = asked_of(call("aten.convolution", y, w, None, *how, True, [0], groups, out=x))

    assert sum(forward.work.values()) == flop
    assert sum(both.work.values()) == 2 * flop
    assert sum(transposed.work.values()) == flop


def test_a_convolution_reads_for_a_gradient_only_what_it_needs():
    """The gradient of weights needs no weights, that of the input no input."""
    x, w, y = tensor(1, 2, 5), tensor(3, 2, 3), tensor(1, 3, 3)
    how = (None, [1], [0], [1], False, [0], 1)

    weights = asked_of(
        call("aten.convolution_backward", y, x, w, *how, (False, True, True), out=(w, tensor(3)))
    )
    inputs = asked_of(call("aten.convolution_backward", y, x, w, *how, (True, False, False), out=x))

    assert weights.read_bytes == y.nbytes + x.nbytes
    # 18 weights with 3 products each, and three sums of 3 for the bias.
    assert weights.work == {"fp32": 2 * 18 * 3 + 3 * 2}
    assert inputs.read_bytes == y.nbytes + w.nbytes
    assert inputs.work == {"fp32": 2 * 18 * 3}


def _attention_by_hand(queries, keys, width, value_width, causal):
    """Return flop and evaluations of exp for one head, one query after the other."""
    flop = functions = 0
    for query in range(queries):
        seen = [key for key in range(keys) if not causal or key <= query]
        flop += len(seen) * (2 * width + 1)  # scores, each scaled
        flop += len(seen)  # less the greatest
        functions += len(seen)
        flop += len(seen) - 1  # the sum
        flop += len(seen)  # divided
        flop += len(seen) * 2 * value_width
    return flop, functions


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("queries", "keys"), [(4, 4), (3, 5), (5, 3), (1, 6)])
def test_attention_is_counted_pair_by_pair(queries, keys, causal):
    """A causal mask leaves each query the keys up to its own."""
    q, k, v = tensor(2, 3, queries, 8), tensor(2, 3, keys, 8), tensor(2, 3, keys, 4)
    out = (tensor(2, 3, queries, 4), tensor(2, 3, queries))
    name = "aten._scaled_dot_product_flash_attention_for_cpu"
    asked = asked_of(call(name, q, k, v, 0.0, causal, out=out))
    flop, functions = _attention_by_hand(queries, keys, 8, 4, causal)

    assert asked.work == {"fp32": 6 * flop}
    assert asked.functions == 6 * functions
    assert asked.read_bytes == q.nbytes + k.nbytes + v.nbytes


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 8),
    st.integers(1, 8),
    st.booleans(),
    st.booleans(),
    st.none() | st.integers(0, 9),
    st.none() | st.integers(0, 9),
)
def test_pairs_of_attention_are_those_that_a_mask_leaves(q, k, causal, from_end, before, after):
    """Counted one by one: causal, in a window, aligned at the beginning or the end."""
    seen = 0
    for query, key in itertools.product(range(q), range(k)):
        apart = key - query - (k - q if from_end else 0)
        seen += (
            (not causal or apart <= 0)
            and (before is None or apart >= -before)
            and (causal or after is None or apart <= after)
        )

    pairs = attended_pairs(q, k, causal=causal, from_end=from_end, window=(before, after))

    assert pairs == seen


def test_attention_of_packed_sequences_is_unknown_but_for_its_bytes():
    """Their lengths are data."""
    x, ends = tensor(256, 4, 8), tensor(3, dtype="int32")
    asked = asked_of(
        call(
            "aten._flash_attention_forward", x, x, x, ends, ends, 128, 128, 0.0, True, False, out=x
        )
    )

    assert asked.work is None
    assert asked.read_bytes == 3 * x.nbytes + 2 * ends.nbytes


def test_attention_in_half_precision_multiplies_in_it_and_normalises_in_single():
    """16 pairs of width 8: 512 flop in bf16, and 60 of the softmax in fp32."""
    x = tensor(1, 1, 4, 8, dtype="bf16")
    asked = asked_of(call("aten.scaled_dot_product_attention", x, x, x, out=x))

    assert asked.work == {"bf16": 512, "fp32": 60}


def _memory(size, views):
    """Return arrays in one memory and the number of distinct bytes that they touch."""
    memory = np.arange(size, dtype=np.int64)
    touched, arrays = set(), []
    for start, shape, strides in views:
        view = np.lib.stride_tricks.as_strided(
            memory[start:], shape, [8 * stride for stride in strides]
        )
        touched |= set(view.ravel().tolist())
        arrays.append(
            Tensor(
                shape=shape,
                dtype="int64",
                nbytes=8 * len(set(view.ravel().tolist())),
                key=1,
                strides=strides,
                start=8 * start,
            )
        )
    return arrays, 8 * len(touched)


_VIEW = st.integers(1, 3).flatmap(
    lambda rank: st.tuples(
        st.integers(0, 30),
        st.tuples(*[st.integers(1, 4)] * rank),
        st.tuples(*[st.integers(0, 12)] * rank),
    )
)


@settings(max_examples=300, deadline=None)
@given(st.lists(_VIEW, min_size=1, max_size=3))
def test_distinct_bytes_are_never_more_than_there_are(views):
    """Views of one memory: at least the largest, at most all bytes that they touch."""
    arrays, touched = _memory(200, views)

    least = distinct_bytes(arrays)

    assert max(array.nbytes for array in arrays) <= least <= touched


@pytest.mark.parametrize("split", [0, 1, 2])
def test_parts_of_one_array_are_all_read(split):
    """Queries, keys and values that lie in one array share nothing, along any dimension."""
    shape = [2, 3, 4]
    strides = [0, 0, 0]
    whole = list(shape)
    whole[split] *= 3
    strides = (whole[1] * whole[2], whole[2], 1)
    views = [(at * shape[split] * strides[split], tuple(shape), strides) for at in range(3)]
    arrays, touched = _memory(72, views)

    assert distinct_bytes(arrays) == touched == 3 * 24 * 8


def test_an_array_given_twice_is_read_once():
    """The square as a product reads its factor once; of another array the same bytes again."""
    x, other = tensor(100, key=1), tensor(100, key=2)

    assert asked_of(call("aten.mul", x, x, out=tensor(100, key=3))).read_bytes == 400
    assert asked_of(call("aten.mul", x, other, out=tensor(100, key=3))).read_bytes == 800


def test_in_place_reads_and_writes_and_an_array_for_results_is_not_read():
    """add_ moves three arrays, as does add with out=, which is not read."""
    x, y, z = tensor(100, key=1), tensor(100, key=2), tensor(100, key=3)
    changed = asked_of(call("aten.add_", x, y, out=x))
    given_out = asked_of(call("aten.add", x, y, out=z, overload="out", **{"out_": None}))

    assert (changed.read_bytes, changed.write_bytes) == (800, 400)
    assert (given_out.read_bytes, given_out.write_bytes) == (800, 400)
    assert asked_of(
        Call(name="aten.add", arguments=(x, y), options={"out": z}, outputs=(z,), overload="out")
    ).read_bytes == 800  # fmt: skip


def test_a_view_asks_for_nothing_and_a_copy_for_bytes():
    """A transposition moves nothing; reshaping does where it must copy."""
    x, same, other = tensor(4, 6, key=1), tensor(6, 4, key=1), tensor(6, 4, key=2)

    assert asked_of(call("aten.t", x, out=same)).moved_bytes == 0
    assert asked_of(call("aten.reshape", x, (6, 4), out=same)).moved_bytes == 0
    assert asked_of(call("aten.reshape", x, (6, 4), out=other)).moved_bytes == 192
    assert asked_of(call("aten.copy_", x, other, out=x)).moved_bytes == 192


def test_distances_by_products_are_counted_by_hand():
    """2 rows and 3 rows of 4: 6 sums of 4 + 2 products; squares 16 - 2, 24 - 3; twice 8; 6 roots.

    A row's sum of n squares is n products and n - 1 additions; the rule says n of each.
    """
    x, y = tensor(2, 4), tensor(3, 4)
    asked = asked_of(call("aten._euclidean_dist", x, y, out=tensor(2, 3)))
    by_hand = 2 * 6 * (4 + 2) + (2 * 8 - 2) + (2 * 12 - 3) + 8 + 6
    assert by_hand <= asked.work["fp32"] <= by_hand + 2 + 3
    assert (asked.read_bytes, asked.write_bytes) == (80, 24)


def test_numbers_back_from_integers_are_one_product_each():
    """What is quantised is an integer, and so is its difference from zero's."""
    small, wide = tensor(8, 8, dtype="qint8"), tensor(8, 8)
    back = asked_of(call("aten.dequantize", small, out=wide))
    there = asked_of(call("aten.quantize_per_tensor", wide, 0.1, 0, "qint8", out=small))
    assert (back.work, there.work) == ({"fp32": 64}, {"fp32": 128})


def test_how_much_a_sparse_array_holds_is_said_to_be_in_the_data():
    """Which is a better reason than that there is no rule."""
    sparse = replace(tensor(8, 8), layout="sparse_csr")
    asked = asked_of(call("aten._to_sparse_csr", tensor(8, 8), out=sparse))
    assert (asked.work, "is in its data" in asked.unknown) == (None, True)


def test_an_operator_without_a_rule_is_unknown_and_never_nothing():
    """The reason names the operator."""
    asked = asked_of(call("mine.attention", tensor(3), out=tensor(3)))

    assert (asked.work, asked.moved_bytes) == (None, None)
    assert asked.unknown == "no rule says what mine.attention asks for"


@pytest.mark.parametrize("name", ["mm", "convolution", "sum", "native_layer_norm", "embedding"])
@pytest.mark.parametrize("arguments", [(), (None,), ("a", 1), (tensor(), tensor(2)), (3, [4])])
def test_arguments_that_a_rule_does_not_expect_are_unknown(name, arguments):
    """A program that is profiled goes on, whatever it calls."""
    asked = asked_of(call(f"aten.{name}", *arguments))

    assert asked.work is None or min(asked.work.values(), default=0) >= 0
    assert asked.unknown or name in ("mm", "sum", "embedding")


def test_an_empty_batch_asks_for_nothing():
    """Formulas such as n - m are no reason for negative work."""
    empty = tensor(0, 3)

    for name in ("sum", "_softmax", "linalg_vector_norm"):
        assert sum(asked_of(call(f"aten.{name}", empty, 1, False, out=tensor())).work.values()) == 0


def test_the_page_names_operators_that_there_are_rules_for():
    """Every name in the table of work, in docs/operator_rules.md."""
    page = (Path(__file__).parents[2] / "docs" / "operator_rules.md").read_text()
    table = page.split("| operators | flop |")[1].split("## Bytes")[0]
    rows = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| ")]
    names = {name for row in rows for name in re.findall(r"`(\w+)`", row)}

    assert len(names) > 40
    assert {name for name in names if f"aten.{name}" not in RULES} == set()
