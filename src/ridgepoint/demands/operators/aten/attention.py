"""Rules of PyTorch's scaled dot-product attention in its variants, and of their gradients."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ridgepoint.core.operators import Asked, Call, Tensor
from ridgepoint.demands.operators.asking import array, arrays, ask, given, read_by
from ridgepoint.demands.operators.forms import attended_pairs
from ridgepoint.demands.operators.rule import NoRule, Rule

KIND = "attention"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attention:
    """Sizes of an attention over all batches and heads of queries.

    Parameters
    ----------
    pairs : float
        Pairs of query and key.
    queries : float
    width, value_width : int
        Length of a query or key, and of a value.
    """

    pairs: float
    queries: float
    width: int
    value_width: int


def _sizes(query: Tensor, key: Tensor, value: Tensor, pairs: int) -> _Attention:
    """Return the sizes for arrays of shape (..., heads, positions, width)."""
    batches = math.prod(query.shape[:-2])
    return _Attention(
        pairs=float(batches * pairs),
        queries=float(batches * query.shape[-2]),
        width=query.shape[-1],
        value_width=value.shape[-1],
    )


def _forward(call: Call, args: Any, sizes: _Attention, *, dtype: str) -> Asked:
    """Scores, softmax, and sums of values.

    Per pair: one score is scaled, the greatest is subtracted, its exp is added and divided by the
    sum; a mask that is added is one more, dropout one more.
    """
    per_pair = 4.0 + _is_added(args.mask) + (1.0 if args.dropout else 0.0)
    seen = "pairs of a causal mask" if args.causal else "pairs of query and key"
    return ask(
        call,
        KIND,
        dtype=dtype,
        products=2 * sizes.pairs * (sizes.width + sizes.value_width),
        flop=per_pair * sizes.pairs - sizes.queries,
        functions=sizes.pairs,
        rule=f"2 (e + v) + {per_pair:g} for each of the {seen}",
    )


def _is_added(mask: object) -> float:
    """Return 1 for a mask that is added to the scores, 0 for none or one that only chooses."""
    return float(any(one.dtype != "bool" for one in arrays(mask)))


def _backward(call: Call, args: Any, sizes: _Attention, *, dtype: str) -> Asked:
    """Gradients, with scores and probabilities computed again as they were not kept.

    Five products: the scores, the gradients of values, of probabilities, of queries and of keys.
    Per pair: the score is scaled, its log of the sum subtracted, its exp taken; the gradient of
    the probability less the sum over its row, times the probability, scaled. The sum over a row
    is that of the result times its gradient.
    """
    per_pair = 5.0 + _is_added(args.mask) + (2.0 if args.dropout else 0.0)
    return ask(
        call,
        KIND,
        dtype=dtype,
        products=2 * sizes.pairs * (3 * sizes.width + 2 * sizes.value_width),
        flop=per_pair * sizes.pairs + sizes.queries * (2 * sizes.value_width - 1),
        functions=sizes.pairs,
        rule=f"2 (3 e + 2 v) + {per_pair:g} for each pair, with scores computed again",
    )


def _arguments(call: Call, names: str) -> Any:
    """Return arguments, of which ``name=`` may be missing."""
    parts = names.split()
    must = [name for name in parts if not name.endswith("=")]
    may = {name.rstrip("="): None for name in parts if name.endswith("=")}
    found = given(call, *must, **may)
    for name in ("mask", "dropout", "causal"):
        if not hasattr(found, name):
            setattr(found, name, None)
    renamed = {"attn_mask": "mask", "attn_bias": "mask", "is_causal": "causal",
               "dropout_p": "dropout"}  # fmt: skip
    for name, ours in renamed.items():
        if call.options.get(name) is not None:
            setattr(found, ours, call.options[name])
    return found


def _dense(names: str, *, backward: bool = False) -> Rule:
    """Return the rule on arrays of shape (batch, heads, positions, width)."""

    def rule(call: Call) -> Asked:
        args = _arguments(call, names)
        query, key, value = _arrays(args)
        if min(len(one.shape) for one in (query, key, value)) < 2:
            raise NoRule("its arrays have fewer than two dimensions")
        pairs = attended_pairs(query.shape[-2], key.shape[-2], causal=bool(args.causal))
        form = _backward if backward else _forward
        return form(call, args, _sizes(query, key, value, pairs), dtype=query.dtype)

    return rule


def _arrays(args: Any) -> tuple[Tensor, Tensor, Tensor]:
    return array(args.query, "query"), array(args.key, "key"), array(args.value, "value")


def _packed(names: str, *, backward: bool) -> Rule:
    """Return the rule on arrays of shape (batch, positions, heads, width)."""

    def rule(call: Call) -> Asked:
        args = _arguments(call, names)
        lengths = arrays([getattr(args, name, None) for name in ("lengths", "key_lengths")])
        given_arrays = _arrays(args)
        if lengths or any(len(one.shape) != 4 for one in given_arrays):
            why = "its sequences have lengths that are in its data"
            return ask(call, KIND, unknown=why)
        query, key, value = (_heads_first(one) for one in given_arrays)
        # Flash attention aligns a causal mask at the end; efficient attention as the number says:
        # 0 no mask, 1 from the beginning, 2 from the end.
        from_end = args.causal == 2 if "efficient" in call.name else True
        window = [call.options.get(f"window_size_{side}") for side in ("left", "right")]
        seen = tuple(n if isinstance(n, int) and n >= 0 else None for n in window)
        pairs = attended_pairs(
            query.shape[-2], key.shape[-2], causal=bool(args.causal), from_end=from_end,
            window=(seen[0], seen[1]),
        )  # fmt: skip
        form = _backward if backward else _forward
        return form(call, args, _sizes(query, key, value, pairs), dtype=query.dtype)

    return rule


def _heads_first(one: Tensor) -> Tensor:
    batch, positions, heads, width = one.shape
    return Tensor(shape=(batch, heads, positions, width), dtype=one.dtype, nbytes=one.nbytes)


def _multi_head(call: Call) -> Asked:
    # A whole layer of attention: projections of queries, keys and values, and of the result.
    args = given(
        call, "query", "key", "value", "embed_dim", "num_head", "qkv_weight", "qkv_bias",
        "proj_weight", "proj_bias", mask=None, need_weights=True,
    )  # fmt: skip
    query, key = array(args.query, "query"), array(args.key, "key")
    if len(query.shape) != 3:
        raise NoRule("its input is not a batch of sequences of equal length")
    layer = _layer(query, key, int(args.num_head), args.mask)
    return ask(
        call,
        KIND,
        dtype=query.dtype,
        products=layer.products,
        flop=layer.flop,
        functions=layer.pairs,
        rule="projections, and 2 (e + v) for each pair of query and key",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """Work of a layer of attention, each pair of which is one evaluation of exp."""

    products: float
    flop: float
    pairs: float


def _layer(query: Tensor, key: Tensor, heads: int, mask: object) -> _Layer:
    """Return the work of a layer of attention on arrays of shape (batch, positions, width)."""
    batch, queries, width = query.shape
    keys = key.shape[1]
    pairs = float(batch * heads * queries * keys)
    rows = batch * (2 * queries + 2 * keys)
    return _Layer(
        products=2.0 * rows * width * width + 4.0 * pairs * (width // heads),
        flop=rows * width + (4.0 + _is_added(mask)) * pairs - batch * heads * queries,
        pairs=pairs,
    )


def _encoder_layer(call: Call) -> Asked:
    # A whole layer of an encoder, in inference: attention, two norms, and a perceptron.
    args = given(
        call, "src", "embed_dim", "num_heads", "qkv_weight", "qkv_bias", "proj_weight",
        "proj_bias", "use_gelu", "norm_first", "eps", "w1", "b1", "w2", "b2", "ffn1", "ffn_b1",
        "ffn2", "ffn_b2", mask=None,
    )  # fmt: skip
    source, inner = array(args.src, "src"), array(args.ffn1, "ffn_weight_1").shape[0]
    if len(source.shape) != 3:
        raise NoRule("its input is not a batch of sequences of equal length")
    layer = _layer(source, source, int(args.num_heads), args.mask)
    rows, width = source.shape[0] * source.shape[1], source.shape[2]
    gelu = 4 * rows * inner if args.use_gelu else 0
    # Each norm 7 per element; both residuals; biases of the perceptron.
    others = rows * (2 * 7 * width + 2 * width + inner + width) + gelu
    return ask(
        call,
        KIND,
        dtype=source.dtype,
        products=layer.products + 4.0 * rows * width * inner,
        flop=layer.flop + others,
        functions=layer.pairs + (rows * inner if args.use_gelu else 0),
        read=read_by(call),
        rule="projections, pairs of query and key, norms, and the perceptron",
    )


_SAVED = "cum_q cum_k max_q max_k"

RULES: Mapping[str, Rule] = {
    "scaled_dot_product_attention": _dense("query key value mask= dropout= causal="),
    "_scaled_dot_product_attention_math": _dense("query key value mask= dropout= causal="),
    "_scaled_dot_product_flash_attention_for_cpu": _dense("query key value dropout= causal="),
    "_scaled_dot_product_flash_attention": _dense("query key value dropout= causal="),
    "_scaled_dot_product_efficient_attention": _dense("query key value mask lse dropout= causal="),
    "_scaled_dot_product_cudnn_attention": _dense("query key value mask lse dropout= causal="),
    "_scaled_dot_product_fused_attention_overrideable": _dense(
        "query key value mask= dropout= causal="
    ),
    "_scaled_dot_product_flash_attention_for_cpu_backward": _dense(
        "grad query key value out lse dropout causal", backward=True
    ),
    "_scaled_dot_product_flash_attention_backward": _dense(
        f"grad query key value out lse {_SAVED} dropout causal", backward=True
    ),
    "_scaled_dot_product_efficient_attention_backward": _dense(
        "grad query key value mask out lse seed offset dropout outputs causal=", backward=True
    ),
    "_scaled_dot_product_cudnn_attention_backward": _dense(
        f"grad query key value out lse seed offset mask {_SAVED} dropout causal", backward=True
    ),
    "_scaled_dot_product_fused_attention_overrideable_backward": _dense(
        f"grad query key value mask outputs out lse {_SAVED} dropout causal", backward=True
    ),
    "_flash_attention_forward": _packed(
        "query key value lengths key_lengths max_q max_k dropout causal", backward=False
    ),
    "_flash_attention_backward": _packed(
        "grad query key value out lse lengths key_lengths max_q max_k dropout causal",
        backward=True,
    ),
    "_efficient_attention_forward": _packed(
        "query key value mask lengths key_lengths max_q max_k dropout causal", backward=False
    ),
    "_efficient_attention_backward": _packed(
        "grad query key value mask out lengths key_lengths max_q max_k lse dropout seed offset "
        "causal",
        backward=True,
    ),
    "_native_multi_head_attention": _multi_head,
    "_transformer_encoder_layer_fwd": _encoder_layer,
}
